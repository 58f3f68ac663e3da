"""Correction of p-values for the number of tests."""

import numpy as np
import numpy.typing as npt
from scipy import special

CORRECTIONS = ("bh", "by", "holm", "bonferroni", "none")


def adjust(p_value: npt.ArrayLike, method: str = "bh", n_tests: int | None = None) -> np.ndarray:
    """Adjust p-values for the number m of hypotheses tested.

    In ascending order, at most 1: "bh" min of p_j m / j over j >= i, "by" the same times 1 + 1/2 +
    ... + 1/m (false discovery rate, :doi:`10.1111/j.2517-6161.1995.tb02031.x`; under any
    dependence, :doi:`10.1214/aos/1013699998`); "holm" max of p_j (m - j + 1) over j <= i,
    "bonferroni" p_i m (family-wise error; Holm 1979, *A simple sequentially rejective multiple test
    procedure*). NaN (not tested) stays NaN and is not counted.

    >>> print(adjust([0.01, 0.04, float("nan"), 0.03]))
    [0.03 0.04  nan 0.04]

    Parameters
    ----------
    p_value : array-like of float, one family of any shape
    method : {"bh", "by", "holm", "bonferroni", "none"}, default="bh"
    n_tests : int, default=None; m, if larger than the number of p-values given; the others count
        as p = 1

    Returns
    -------
    p_adjusted : ndarray of float, of the shape of `p_value`

    Raises
    ------
    ValueError
        If `method` is unknown, `n_tests` is less than the number of p-values, or a p-value lies
        outside [0, 1].
    """
    if method not in CORRECTIONS:
        raise ValueError(f"method must be one of {CORRECTIONS}, got {method!r}")
    adjusted = np.array(p_value, dtype=float)
    tested = ~np.isnan(adjusted)
    p, m = adjusted[tested], int(tested.sum()) if n_tests is None else n_tests
    if m < p.size:
        raise ValueError(f"n_tests must be at least the {p.size} p-values given, got {n_tests}")
    if np.any((p < 0) | (p > 1)):
        raise ValueError(f"p-values must lie in [0, 1], got {p.min()} to {p.max()}")
    if p.size and method != "none":
        adjusted[tested] = np.minimum(_adjust(p, method, m), 1.0)
    return adjusted[()]


def false_coverage_level(n_shown: int, n_tests: int, significance: float = 0.05) -> float:
    r"""Return the significance of intervals of parameters that were chosen by their data.

    :math:`\alpha R / m`: of the R intervals shown of m parameters, at most a share of
    :math:`\alpha` is expected to miss (Benjamini and Yekutieli 2005,
    :doi:`10.1198/016214504000001907`).

    >>> round(false_coverage_level(5, 200), 5)
    0.00125

    Parameters
    ----------
    n_shown, n_tests : int, numbers R of intervals shown and m of parameters they were chosen from
    significance : float, default=0.05

    Returns
    -------
    level : float, one minus the confidence level of each interval; at most `significance`
    """
    return significance * min(1.0, max(n_shown, 1) / max(n_tests, 1))


def _adjust(p, method, m):
    """Return adjusted p-values before clipping at 1."""
    if method == "bonferroni":
        return p * m
    if method == "holm":
        order = np.argsort(p)
        return np.maximum.accumulate(p[order] * (m - np.arange(p.size)))[np.argsort(order)]
    order = np.argsort(p)  # tied p-values get the same value in any order
    if method == "by":
        m *= special.digamma(m + 1) + np.euler_gamma
    adjusted = np.empty(p.size)
    steps = p[order] * (m / np.arange(1, p.size + 1))
    adjusted[order] = np.minimum.accumulate(steps[::-1])[::-1]
    return adjusted
