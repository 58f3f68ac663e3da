"""Score test and score interval of a difference of proportions, and an interval of their ratio."""

import numpy as np
import numpy.typing as npt
from scipy import special

from skdisc._stats._bisection import bisected
from skdisc._stats._proportions import _counts, wilson

_HALVINGS = 48  # of a bracket, after which ends of intervals are known to 1e-14


def score_z(
    x1: npt.ArrayLike,
    n1: npt.ArrayLike,
    x0: npt.ArrayLike,
    n0: npt.ArrayLike,
    gap: npt.ArrayLike = 0.0,
) -> np.ndarray:
    r"""Score statistic of the hypothesis p1 - p0 = gap (Miettinen and Nurminen 1985).

    :math:`z = (\hat p_1-\hat p_0-g) / \sqrt{\tilde p_1(1-\tilde p_1)/n_1 +
    \tilde p_0(1-\tilde p_0)/n_0}` with the maximum likelihood estimates :math:`\tilde p_1 =
    \tilde p_0 + g` (:doi:`10.1002/sim.4780040211`), without their factor N / (N - 1): with a gap of
    0 it is the z of `score_test`.

    >>> print(score_z(56, 70, 48, 80, [0.0, 0.1]).round(4))
    [2.6502 1.3477]

    Parameters
    ----------
    x1, n1, x0, n0 : array-like of float, counts of the two groups; fractions are allowed
    gap : array-like of float, in [-1, 1], default=0

    Returns
    -------
    z : ndarray of float; infinite where the gap is impossible given the counts; NaN where a group
        is empty

    Raises
    ------
    ValueError
        If counts violate 0 <= x <= n.
    """
    (x1, n1), (x0, n0) = _counts(x1, n1), _counts(x0, n0)
    return _z_of_gap(x1, n1, x0, n0, np.asarray(gap, dtype=float))[()]


def score_interval(
    x1: npt.ArrayLike,
    n1: npt.ArrayLike,
    x0: npt.ArrayLike,
    n0: npt.ArrayLike,
    significance: npt.ArrayLike = 0.05,
    p_value: npt.ArrayLike | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Interval of p1 - p0: the gaps that the score test does not reject (`score_z`).

    With another p-value of p1 = p0, such as the mid-p value, the critical value of z is changed so
    that the interval contains 0 exactly if that p-value is at least `significance`.

    >>> print(*np.round(score_interval(56, 70, 48, 80), 4))
    0.0533 0.3377

    Parameters
    ----------
    x1, n1, x0, n0 : array-like of float, counts of the two groups; fractions are allowed
    significance : array-like of float, default=0.05
    p_value : array-like of float, default=None; the two-sided p-value of p1 = p0, if it is not
        that of the score test

    Returns
    -------
    low, high : ndarray of float, differences of shares; NaN where a group is empty

    Raises
    ------
    ValueError
        If counts violate 0 <= x <= n.
    """
    (x1, n1), (x0, n0) = _counts(x1, n1), _counts(x0, n0)
    critical = -special.ndtri(np.asarray(significance, dtype=float) / 2)
    if p_value is not None:
        critical = critical_as(p_value, np.abs(_z_of_gap(x1, n1, x0, n0, 0.0)), critical)
    *counts, critical = np.broadcast_arrays(x1, n1, x0, n0, critical)
    gap = counts[0] / counts[1] - counts[2] / counts[3]
    ends, one = np.stack([critical, -critical]), np.ones_like(gap)
    brackets = np.stack([-one, gap]), np.stack([gap, one])
    low, high = sum(bisected(lambda g: _z_of_gap(*counts, g) > ends, *brackets, _HALVINGS)) / 2
    if p_value is not None:  # the ends are roots, known up to rounding
        holds = np.asarray(p_value) >= significance
        low, high = (
            np.where(holds, np.minimum(low, 0), low),
            np.where(holds, np.maximum(high, 0), high),
        )
    return low[()], high[()]


def ratio_interval(
    x1: npt.ArrayLike,
    n1: npt.ArrayLike,
    x0: npt.ArrayLike,
    n0: npt.ArrayLike,
    significance: npt.ArrayLike = 0.05,
) -> tuple[np.ndarray, np.ndarray]:
    """Interval of p1 / p0 from Wilson's limits of both (MOVER-R, Donner and Zou 2012).

    It exists even if a share is 0 (:doi:`10.1177/0962280210383171`).

    >>> print(*np.round(ratio_interval(36, 40, 16, 80), 3))
    2.903 7.113

    Parameters
    ----------
    x1, n1, x0, n0 : array-like of float, counts of the two groups; fractions are allowed
    significance : array-like of float, default=0.05

    Returns
    -------
    low, high : ndarray of float; infinite where the denominator may be 0; NaN where a group is
        empty or neither has an event

    Raises
    ------
    ValueError
        If counts violate 0 <= x <= n.
    """
    (l1, u1), (l0, u0) = wilson(x1, n1, significance), wilson(x0, n0, significance)
    b, a = np.divide(*_counts(x1, n1)), np.divide(*_counts(x0, n0))
    with np.errstate(divide="ignore", invalid="ignore"):
        below = (a * b) ** 2 - l1 * u0 * (2 * b - l1) * (2 * a - u0)
        above = (a * b) ** 2 - u1 * l0 * (2 * b - u1) * (2 * a - l0)
        low = (a * b - np.sqrt(np.maximum(below, 0))) / (u0 * (2 * a - u0))
        high = (a * b + np.sqrt(np.maximum(above, 0))) / (l0 * (2 * a - l0))
        low = np.where(b == 0, 0.0, np.minimum(low, b / a))  # rounding can exceed the estimate
        high = np.where(l0 == 0, np.inf, np.maximum(high, b / a))
        undefined = np.isnan(a / b) & np.isnan(b / a)
    return np.where(undefined, np.nan, low)[()], np.where(undefined, np.nan, high)[()]


def critical_as(p_value, z, critical):
    """Return critical values of |z| that reject a gap of 0 exactly where the p-value does.

    With z_p the normal quantile of the p-value, it rejects where z_p > critical. So |z| is compared
    with critical z / z_p, or with critical + z - z_p: both say the same. In the tail, z and z_p
    differ by a factor, so the first is taken; close to 0 they differ by a constant, and z_p may be
    0, so the second is taken.

    Parameters
    ----------
    p_value : array-like of float, two-sided
    z : array-like of float, |z| of the score test of a gap of 0
    critical : array-like of float, normal quantile of the level
    """
    z_of_p = -special.ndtri(np.asarray(p_value, dtype=float) / 2)
    # A p-value that underflows to 0 has no finite quantile, and z itself is compared.
    z_of_p = np.where(np.isinf(z_of_p), z, z_of_p)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(z_of_p > critical, critical * z / z_of_p, critical + z - z_of_p)


def _z_of_gap(x1, n1, x0, n0, gap):
    with np.errstate(divide="ignore", invalid="ignore"):
        possible = _within(gap, -1, 1)
        p0 = _constrained(x1, n1, x0, n0, possible)
        p1 = _within(p0 + possible, 0, 1)
        error = np.sqrt(p1 * (1 - p1) / n1 + p0 * (1 - p0) / n0)
        beyond = x1 / n1 - x0 / n0 - gap
        return np.where(beyond == 0, 0.0, beyond / error)


def _constrained(x1, n1, x0, n0, gap):
    """Return the estimate of p0 if p1 = p0 + gap: a root of a cubic, in closed form."""
    n, x = n1 + n0, x1 + x0
    a = ((n1 + 2 * n0) * gap - n - x) / (3 * n)
    b = ((n0 * gap - n - 2 * x0) * gap + x) / (3 * n)
    c = x0 * gap * (1 - gap) / (2 * n)
    square = a * a
    q = a * (square - 1.5 * b) + c
    p = np.copysign(np.sqrt(np.maximum(square - b, 0)), q)
    angle = (np.pi + np.arccos(_within(q / (p * p * p), -1, 1))) / 3
    root = np.where(p == 0, -a, 2 * p * np.cos(angle) - a)
    root = np.where(gap == 0, x / n, root)
    return _within(root, np.maximum(0, -gap), np.minimum(1, 1 - gap))


def _within(x, low, high):
    """Return x, or the end that it is beyond; for few numbers faster than NumPy's clip."""
    return np.minimum(np.maximum(x, low), high)
