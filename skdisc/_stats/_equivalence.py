"""Equivalence: the level of tests that a difference is not relevant, and the people they need."""

import numpy as np
import numpy.typing as npt
from scipy import special

from skdisc._stats._proportions import _counts

_POWER = 0.9  # of excluding a relevant difference from a much larger group with an equal rate


def level_of_two_tests(significance: npt.ArrayLike) -> np.ndarray:
    """One minus the level of the interval that stands for two one-sided tests: twice theirs.

    Both tests at level a reject exactly where the interval of level 1 - 2a lies inside the relevant
    gap (Schuirmann 1987, :doi:`10.1007/BF01068419`). The result is at most 1, where the interval is
    the estimate alone.

    >>> print(level_of_two_tests([0.05, 0.9]))
    [0.1 1. ]

    Parameters
    ----------
    significance : array-like of float, of each test

    Returns
    -------
    ndarray of float
    """
    return np.minimum(2 * np.asarray(significance, dtype=float), 1.0)


def power_quantile(significance: npt.ArrayLike) -> np.ndarray:
    r"""Size, in standard errors, of a difference that is excluded with probability .9 if it is 0.

    An estimate d excludes a difference of :math:`\delta` in one direction if :math:`d +
    z_{1-\alpha} s < \delta`. Without a difference, :math:`d < z_{.9} s` with probability .9; hence
    :math:`\delta / s = z_{1-\alpha} + z_{.9}`.

    >>> print(power_quantile(0.05).round(4))
    2.9264

    Parameters
    ----------
    significance : array-like of float, of each of two one-sided tests

    Returns
    -------
    ndarray of float, > 0
    """
    # Half of that level is the significance, but at most 1/2: beyond it the interval is the
    # estimate alone, and no quantile is subtracted.
    return special.ndtri(_POWER) - special.ndtri(level_of_two_tests(significance) / 2)


def people_needed(
    rate: npt.ArrayLike,
    relevant_gap: float,
    relevant_ratio: float = 0.8,
    significance: float = 0.05,
) -> np.ndarray:
    r"""Smallest group for which "no relevant difference" can be expected where there is none.

    :math:`(z_{1-\alpha}+z_{.9})^2 \max(p(1-p)/\delta^2, (1-p)/(p \log^2 \rho))`: a group of this
    size, with the same rate as a much larger one, excludes a gap of :math:`\delta` in either
    direction with probability .9 each, and so a ratio of :math:`\rho` (`power_quantile`). The
    variances are :math:`p(1-p)/n` of the rate, and by the delta method :math:`(1-p)/(pn)` of its
    logarithm.

    >>> print(people_needed(0.3, relevant_gap=0.05).round())
    719.0

    Parameters
    ----------
    rate : array-like of float, rate p of the outcome that ratios are about, the rarer of the two
    relevant_gap : float, > 0
    relevant_ratio : float, in [0, 1), default=0.8; 0: any ratio passes
    significance : float, default=0.05

    Returns
    -------
    n : ndarray of float, not rounded; infinite where the rate is 0, unless any ratio passes; NaN
        where it is
    """
    p, _ = _counts(rate, 1)
    with np.errstate(divide="ignore", over="ignore"):  # the square of a huge gap is infinite
        by_ratio = (1 - p) / p / np.log(relevant_ratio) ** 2 if relevant_ratio else 0.0
        by_gap = p * (1 - p) / np.float64(relevant_gap) ** 2
    return (power_quantile(significance) ** 2 * np.maximum(by_gap, by_ratio))[()]


def compared_size(n1: npt.ArrayLike, n0: npt.ArrayLike) -> np.ndarray:
    """Size of a group whose difference from a much larger one would have the same variance.

    With equal rates, the variance of the difference of groups of sizes n1 and n0 is p (1 - p)
    (1/n1 + 1/n0): as much as the rate of a single group of n1 n0 / (n1 + n0) people varies.
    `people_needed` is about such groups.

    >>> print(compared_size(500, [500, 10**9]).round())
    [250. 500.]

    Parameters
    ----------
    n1, n0 : array-like of float, sizes of the two groups, >= 0

    Returns
    -------
    n : ndarray of float, 0 where a group is empty
    """
    n1, n0 = np.asarray(n1, dtype=float), np.asarray(n0, dtype=float)
    return n1 * n0 / np.maximum(n1 + n0, np.finfo(float).tiny)
