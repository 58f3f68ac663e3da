"""The value of a measure for a pair of groups, with its interval and its test."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from skdisc import _stats
from skdisc._stats._means import Welch, too_skewed
from skdisc._stats._proportions import FISHER_TEST, SMALL_COUNT, names_of_tests
from skdisc.measures._formula._pairs import Rates

WELCH, RANKS, CMH = "Welch t-test", "Mann-Whitney test", "Cochran-Mantel-Haenszel test"
MEANS = "Welch t-test with Hall's correction for skewness"
CHI2 = "chi-squared test"
SKEWED_AT = 0.05  # level at which the name of a test says that there is none


@dataclass(frozen=True)
class Contrast:
    """The value of a measure for one or several comparisons, with its interval and test.

    Attributes
    ----------
    value : ndarray of float
    interval : callable, significance -> (low, high); None: a bootstrap interval
    p_value : callable, () -> (p_value, name of the test); None: no test but by permutation
    note : ndarray of str, the rows left out; None: there are none
    curve : tuple of ndarray, values and the difference of the distribution functions at each
        The value is the area of this step function; None: it is not.
    defined : ndarray of float, the largest of those parts of a maximum that are defined
        NaN if none is; None: the value is not a maximum of parts.
    """

    value: np.ndarray
    interval: Callable | None = None
    p_value: Callable | None = None
    note: np.ndarray | None = None
    curve: tuple | None = None
    defined: np.ndarray | None = None


def without_interval(value, p_value):
    """Return the contrast of a test statistic, which has no interval."""
    undefined = np.full(np.shape(value), np.nan)
    return Contrast(value, lambda significance: (undefined, undefined), p_value)


def difference(part):
    """Return reference minus group: Newcombe's interval for rates, Welch and Hall's for means."""
    if isinstance(part, Rates):
        effective = part.effective
        return Contrast(
            part.reference - part.protected,
            lambda s: _stats.newcombe(effective.x0, effective.n0, effective.x1, effective.n1, s),
            lambda: proportions(part),
        )
    return mean_gap(part.reference, part.group)


def mean_gap(first, second):
    """Return a difference of means, first minus second, with the interval and test of `Welch`."""
    scale = np.abs(first[0]) + np.abs(second[0])
    welch = Welch.of(first, second).with_exact_p(first[2], second[2], scale)

    def p_value():
        reason = too_skewed(first, second, SKEWED_AT)
        return welch.p_value(), np.where(reason == "", MEANS, reason).reshape(np.shape(welch.gap))

    return Contrast(welch.gap, welch.interval, p_value)


def ratio(part, transform=lambda r: r):
    """Return the ratio of the rates of group and reference, or an increasing function of it.

    The interval of `_stats.ratio_interval` exists even if a rate is 0.
    """
    effective = part.effective

    def interval(significance):
        ends = _stats.ratio_interval(
            effective.x1, effective.n1, effective.x0, effective.n0, significance
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            return tuple(map(transform, ends))

    return Contrast(transform(part.protected / part.reference), interval, lambda: proportions(part))


def over_everyone(r, q):
    """Return the ratios of the rates of groups over the rate of everyone, from those over the rest.

    `q`: shares of the groups.
    """
    return np.where(np.isinf(r), 1 / q, r / (q * r + 1 - q))


def odds(part, haldane):
    """Return the odds ratio, reference over group; Woolf's interval, ½ added if a cell is 0."""
    cells, effective_cells = _cells(part), _cells(part.effective)
    # Woolf's error adds up 1 / n of the cells: with an empty one it exists only after adding ½.
    added = effective_cells + 0.5 * ((effective_cells <= 0).any(axis=0) | haldane)
    used = cells + 0.5 if haldane else cells
    value = used[0] * used[1] / (used[2] * used[3])

    def interval(significance):
        center = np.log(added[0] * added[1] / (added[2] * added[3]))
        half = -special.ndtri(significance / 2) * np.sqrt((1 / added).sum(axis=0))
        is_undefined = np.isnan(value)
        with np.errstate(over="ignore"):  # of an interval without an upper end
            low, high = (np.where(is_undefined, np.nan, np.exp(center + h)) for h in (-half, half))
        low = np.where(value == 0, 0.0, low)
        return low, np.where(np.isinf(value), np.inf, high)

    return Contrast(value, interval, lambda: proportions(part))


def _cells(part):
    """Return the four counts of the odds ratio, its numerator first."""
    return np.maximum(
        np.stack(
            np.broadcast_arrays(part.x0, part.n1 - part.x1, part.x1, part.n0 - part.x0)
        ).astype(float),
        0.0,
    )


def proportions(part):
    """Return the p-values of equal rates (`_stats.proportions_test`) and the names of the tests.

    Few effective events take Fisher's test: their number is itself an estimate, which the mid-p
    value would take as known.
    """
    if part.sizes is None:
        p_value, is_exact = _stats.proportions_test(part.x1, part.n1, part.x0, part.n0)
        return p_value, names_of_tests(is_exact)
    p_value, is_exact = _stats.proportions_test(*_effective_counts(part.effective), mid=False)
    return p_value, names_of_tests(is_exact, exact=FISHER_TEST)


def _effective_counts(rates):
    """Return effective counts, whole ones where they are small, so that the exact test applies."""
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.minimum(rates.n1, rates.n0) * np.minimum(rates.pooled, 1 - rates.pooled)
    counts = rates.x1, rates.n1, rates.x0, rates.n0
    return [np.where(least < SMALL_COUNT, np.round(c), c) for c in counts]


def stratified_newcombe(strata, share, value, significance):
    r"""Return the interval of a weighted mean of differences, reference minus group, over strata.

    With the rate p_0 of the reference and p_1 of the group in each stratum, Wilson's limits l and u
    of both, and weights w that add up to 1, the lower end is :math:`\sum w (p_0 - p_1) - \sqrt{\sum
    w^2 [(p_0 - l_0)^2 + (u_1 - p_1)^2]}`, the upper end alike with the other limits. This is
    Newcombe's interval for several strata (Yan and Su 2010, :doi:`10.1198/sbr.2009.0049`), by the
    rule for sums of Zou and Donner (2008, :doi:`10.1002/sim.3095`).

    `strata`: with arrays of shape (n_strata, n_comparisons). `share`, of shape (n_strata,
    n_comparisons): the weights. `value`: the weighted mean.
    """
    counts, p0, p1 = strata.effective, strata.reference, strata.protected
    l1, u1 = _stats.wilson(counts.x1, counts.n1, significance)
    l0, u0 = _stats.wilson(counts.x0, counts.n0, significance)
    squares_below = (p0 - l0) ** 2 + (u1 - p1) ** 2
    squares_above = (u0 - p0) ** 2 + (p1 - l1) ** 2
    # A stratum without weight may be empty, and its rates NaN.
    below, above = (
        np.sqrt(np.where(share > 0, share**2 * squares, 0).sum(-2))
        for squares in (squares_below, squares_above)
    )
    return value - below, value + above


def mantel_haenszel(strata):
    """Return z of the Cochran-Mantel-Haenszel test, positive if the group is favored less.

    The favorable decisions expected in the group, less those observed, over the root of the
    hypergeometric variance, both summed over strata (Mantel and Haenszel 1959).
    """
    strata = strata.effective
    n = strata.n1 + strata.n0
    x = strata.x1 + strata.x0
    used = (strata.n1 > 0) & (strata.n0 > 0) & (n > 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = np.where(used, x * strata.n1 / n - strata.x1, 0).sum(axis=-2)
        spread = strata.n1 * strata.n0 * x * (n - x) / (n**2 * (n - 1))
        return gap / np.sqrt(np.where(used, spread, 0).sum(axis=-2))


def distribution_gap(one, zero):
    """Return the difference of two distribution functions, from weights of the same values."""
    return np.cumsum(zero) / zero.sum() - np.cumsum(one) / one.sum()


def normal_p(z, test):
    """Return a function that gives the two-sided p-value of a normal statistic and its test."""
    return lambda: (2 * special.ndtr(-np.abs(z)), test)
