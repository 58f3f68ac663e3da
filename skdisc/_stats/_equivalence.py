"""Equivalence: whether the data exclude a relevant difference of two groups."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from skdisc._stats._proportions import _counts, newcombe
from skdisc._stats._score_intervals import ratio_interval

_POWER = 0.9  # of excluding a relevant difference from a much larger group with an equal rate


@dataclass(frozen=True)
class Equivalence:
    r"""Two one-sided tests (Schuirmann 1987, :doi:`10.1007/BF01068419`), one per comparison.

    The intervals have the level :math:`1 - 2\alpha`. If all of several groups must pass, no
    correction for their number is needed (Berger 1982, :doi:`10.1080/00401706.1982.10487790`).

    Attributes
    ----------
    gap_low, gap_high : ndarray of float
        Interval of p1 - p0, or of the difference of two means; NaN where undefined.
    gap_inside : ndarray of bool
        Whether it lies inside ± the relevant gap.
    ratio_low, ratio_high : ndarray of float
        Interval of the ratio of the rarer of the two outcomes; NaN for means.
    ratio_inside : ndarray of bool
        Whether it lies inside [relevant ratio, 1 / relevant ratio]; True for means.
    """

    gap_low: np.ndarray
    gap_high: np.ndarray
    gap_inside: np.ndarray
    ratio_low: np.ndarray
    ratio_high: np.ndarray
    ratio_inside: np.ndarray


def equivalence(
    x1: npt.ArrayLike,
    n1: npt.ArrayLike,
    x0: npt.ArrayLike,
    n0: npt.ArrayLike,
    relevant_gap: float,
    relevant_ratio: float = 0.8,
    significance: float = 0.05,
    rarer: npt.ArrayLike | None = None,
) -> Equivalence:
    """Test whether two proportions are equal up to a relevant gap, and up to a relevant ratio.

    >>> e = equivalence(300, 1000, 3000, 10_000, relevant_gap=0.05)
    >>> print(e.gap_low.round(3), e.gap_high.round(3), e.gap_inside, e.ratio_inside)
    -0.024 0.025 True True

    Parameters
    ----------
    x1, n1, x0, n0 : array-like of float, counts of the two groups; fractions are allowed
    relevant_gap : float, > 0
    relevant_ratio : float, in [0, 1), default=0.8; 0: any ratio passes
    significance : float, default=0.05
    rarer : array-like of bool, default=None; whether ratios are those of the events, and not of the
        non-events; None: of whichever is rarer in both groups together

    Returns
    -------
    Equivalence
        Not inside where a group is empty, nor the ratio where no group has the rarer outcome.

    Raises
    ------
    ValueError
        If counts violate 0 <= x <= n.
    """
    x1, n1, x0, n0 = np.broadcast_arrays(x1, n1, x0, n0)
    if rarer is None:
        rarer = 2 * (x1 + x0) <= n1 + n0
    level = level_of_two_tests(significance)
    low, high = newcombe(x1, n1, x0, n0, level)
    events = (np.where(rarer, x, n - x) for x, n in ((x1, n1), (x0, n0)))
    r_low, r_high = ratio_interval(next(events), n1, next(events), n0, level)
    inside = (low > -relevant_gap) & (high < relevant_gap)
    if relevant_ratio == 0:
        return Equivalence(low, high, inside, r_low, r_high, np.ones_like(inside))
    r_inside = (r_low > relevant_ratio) & (r_high < 1 / relevant_ratio)
    return Equivalence(low, high, inside, r_low, r_high, r_inside)


def ratio_inside(
    gap: npt.ArrayLike,
    low: npt.ArrayLike,
    high: npt.ArrayLike,
    rate: npt.ArrayLike,
    relevant_ratio: float,
) -> np.ndarray:
    r"""Whether an interval of a difference of two rates excludes a relevant ratio.

    Ratios are those of the outcome that is rarer in both groups together. The ratio of rates p and
    q is at most :math:`\rho` if p - q is at most :math:`-(1-\rho) q`. The interval of p - q is
    compared with the estimate of that, which errs on the safe side: of independent groups,
    p - q has a larger variance than :math:`p-\rho q`.

    >>> print(ratio_inside([-0.01, -0.01], -0.03, 0.01, [0.29, 0.05], relevant_ratio=0.8))
    [ True False]

    Parameters
    ----------
    gap, low, high : array-like of float, the difference and its interval; NaN: not inside
    rate : array-like of float, of the first group; that of the other is less by the gap
    relevant_ratio : float, in [0, 1); 0: any ratio passes

    Returns
    -------
    ndarray of bool
    """
    gap, low, high, rate = np.broadcast_arrays(*np.atleast_1d(gap, low, high, rate))
    if relevant_ratio == 0:
        return np.ones(gap.shape, dtype=bool)
    p, q = np.clip(rate, 0, 1), np.clip(rate - gap, 0, 1)
    rarer = p + q <= 1
    p, q = np.where(rarer, p, 1 - p), np.where(rarer, q, 1 - q)
    low, high = np.where(rarer, low, -high), np.where(rarer, high, -low)
    return (low > -(1 - relevant_ratio) * q) & (high < (1 - relevant_ratio) * p)


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
    (1/n1 + 1/n0), that of the rate of a single group of n1 n0 / (n1 + n0) people. `people_needed`
    is about such groups.

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
