"""Comparisons of all pairs of several groups, such as with the best of them."""

import numpy as np
import numpy.typing as npt
from scipy import special

_STEP = 0.02  # of the trapezoidal rule, which is exact to rounding for such smooth integrands
_REACH = 9.0  # standard deviations


def best_p_value(p_value: npt.ArrayLike, n_groups: int) -> np.ndarray:
    r"""Correct p-values of pairs of k groups, where the data may choose the pair.

    The corrected p-value of a pair with the statistic z is the probability that the range of k
    standard normal numbers exceeds :math:`\sqrt 2 |z|` (Tukey; for groups of unequal sizes Kramer
    1956, conservative by Hayter 1984, :doi:`10.1214/aos/1176346392`). If all groups are equal, the
    smallest corrected p-value of all pairs is at most :math:`\alpha` with probability
    :math:`\alpha`, and so is the p-value of any one pair, such as the worst group against the
    best. Hsu (1996, *Multiple Comparisons*) has narrower bounds for comparisons with the best,
    which do not say whether a group that seems worse may share the first place. With two groups
    there is one pair, and nothing to correct.

    >>> print(best_p_value([0.001, 0.05, 0.5], 5).round(4))
    [0.0089 0.2858 0.9619]

    Parameters
    ----------
    p_value : array-like of float, two-sided p-values of pairs, each by a test of two groups
    n_groups : int, number k of groups

    Returns
    -------
    p_value : ndarray of float, at least those given; NaN stays NaN
    """
    p = np.asarray(p_value, dtype=float)
    if n_groups <= 2:
        return p[()]
    distance = -np.sqrt(2) * special.ndtri(p / 2)
    tail = np.array([_range_tail(q, n_groups) for q in distance.ravel()]).reshape(p.shape)
    tail = np.where(np.isinf(distance), 0.0, tail)
    return np.where(np.isnan(p), np.nan, np.clip(tail, p, 1.0))[()]


def _range_tail(q, k):
    r"""Return the probability that the range of k standard normal numbers exceeds q.

    :math:`k \int \varphi(z) [\Phi(z)^{k-1} - (\Phi(z)-\Phi(z-q))^{k-1}] dz`, z the largest number.
    """
    if not np.isfinite(q):
        return q
    z = np.arange(-_REACH, _REACH + q, _STEP)
    log_below = special.log_ndtr(z)
    with np.errstate(divide="ignore"):
        outside = np.log1p(-np.exp(np.minimum(special.log_ndtr(z - q) - log_below, 0.0)))
    density = np.exp((k - 1) * log_below - z**2 / 2) / np.sqrt(2 * np.pi)
    return k * _STEP * np.sum(density * -np.expm1((k - 1) * outside))


SMALLEST_SHARE = 0.02  # of the people; New York's Local Law 144 lets smaller categories be left out


def may_be_best(sizes, least=0, usual=0):
    """Return a mask of the groups that are large enough to be a reference chosen by its outcome.

    Without a minimum, the group with the highest rate would often be the smallest one: 3 of 3 are
    no standard for others.

    `sizes`: sizes of all groups, which together have all people. `least`: smallest size of a
    reference. `usual`: a further smallest size, which does not count if no group has it. Returns an
    ndarray of bool: if no group has 2 % of the people and at least `least`, the largest groups.

    Examples
    --------
    >>> may_be_best([3, 400, 597]).tolist()
    [False, True, True]
    """
    sizes = np.asarray(sizes, dtype=float)
    floor = max(least, SMALLEST_SHARE * sizes.sum() * (1 - 1e-12))
    for bound in (max(floor, usual), floor):
        if np.any(sizes >= bound):
            return sizes >= bound
    return sizes == sizes.max(initial=0)
