"""A value with its interval and its test: what a measure returns for a pair of groups."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from skdisc import _stats
from skdisc.measures._formula._pairs import Rates

SCORE, EXACT = "two-proportion score test", "mid-p exact test"
WELCH, RANKS, CMH = "Welch t-test", "Mann-Whitney test", "Cochran-Mantel-Haenszel test"
CHI2 = "chi-squared test"


@dataclass(frozen=True)
class Contrast:
    """What a measure says of one comparison, or of many.

    Attributes
    ----------
    value : ndarray of float
    interval : callable, significance -> (low, high); None: by bootstrap
    p_value : callable, () -> (p_value, name of the test); None: by permutation or not at all
    note : ndarray of str, what was left out; None: nothing
    """

    value: np.ndarray
    interval: Callable | None = None
    p_value: Callable | None = None
    note: np.ndarray | None = None


def without_interval(value, p_value):
    """Contrast of a test statistic, which has no interval."""
    nothing = np.full(np.shape(value), np.nan)
    return Contrast(value, lambda significance: (nothing, nothing), p_value)


def difference(part):
    """Reference minus group: Newcombe's interval for rates, Welch's for means."""
    if isinstance(part, Rates):
        return Contrast(
            part.general - part.protected,
            lambda s: _stats.newcombe(part.x0, part.n0, part.x1, part.n1, s),
            lambda: proportions(part),
        )
    return mean_gap(part)


def mean_gap(part, sign=1):
    """Difference of means, reference minus group, with Welch's interval and test."""
    gap = part.m0 - part.m1
    error, df = welch(part)

    def interval(significance):
        half = stats.t.ppf(1 - significance / 2, df) * error
        return sign * gap - half, sign * gap + half

    return Contrast(sign * gap, interval, lambda: (2 * stats.t.sf(np.abs(gap) / error, df), WELCH))


def welch(part):
    """Return the standard error of a difference of means and its degrees of freedom."""
    e1, e0 = part.v1 / part.n1, part.v0 / part.n0
    return np.sqrt(e1 + e0), (e1 + e0) ** 2 / (e1**2 / (part.n1 - 1) + e0**2 / (part.n0 - 1))


def ratio(part, transform=lambda r: r):
    r"""Rate of the group over the reference's, b / a, or an increasing function of it.

    The interval combines Wilson's limits of both rates (Donner and Zou 2012, MOVER-R,
    :doi:`10.1177/0962280210383171`), so that it exists where a rate is 0.
    """
    a, b = part.general, part.protected

    def interval(significance):
        l1, u1 = _stats.wilson(part.x1, part.n1, significance)
        l0, u0 = _stats.wilson(part.x0, part.n0, significance)
        low = a * b - np.sqrt((a * b) ** 2 - l1 * u0 * (2 * b - l1) * (2 * a - u0))
        high = a * b + np.sqrt((a * b) ** 2 - u1 * l0 * (2 * b - u1) * (2 * a - l0))
        with np.errstate(divide="ignore", invalid="ignore"):
            low = np.where(b == 0, 0.0, low / (u0 * (2 * a - u0)))
            high = np.where(l0 == 0, np.inf, high / (l0 * (2 * a - l0)))
            low, high = transform(low), transform(high)
        defined = ~np.isnan(a / b) | ~np.isnan(b / a)
        return np.where(defined, low, np.nan), np.where(defined, high, np.nan)

    return Contrast(transform(b / a), interval, lambda: proportions(part))


def odds(part, haldane):
    """Odds of the reference over the group's, with Woolf's interval, ½ added where a cell is 0."""
    cells = np.stack(
        np.broadcast_arrays(part.x0, part.n1 - part.x1, part.x1, part.n0 - part.x0)
    ).astype(float)
    added = cells + 0.5 * ((cells <= 0).any(axis=0) | haldane)
    used = cells + 0.5 if haldane else cells
    value = used[0] * used[1] / (used[2] * used[3])

    def interval(significance):
        centre = np.log(added[0] * added[1] / (added[2] * added[3]))
        half = -special.ndtri(significance / 2) * np.sqrt((1 / added).sum(axis=0))
        gone = np.isnan(value)
        low, high = (np.where(gone, np.nan, np.exp(centre + h)) for h in (-half, half))
        low = np.where(value == 0, 0.0, low)
        return low, np.where(np.isinf(value), np.inf, high)

    return Contrast(value, interval, lambda: proportions(part))


def proportions(part):
    """Test equal rates: the score test, or mid-p where an expected count is below 5."""
    counts = np.broadcast_arrays(part.x1, part.n1, part.x0, part.n0)
    p_value = np.array(_stats.score_test(*counts)[1], dtype=float)
    with np.errstate(invalid="ignore"):
        rate = np.minimum(part.pooled, 1 - part.pooled)
        small = (np.minimum(part.n1, part.n0) * rate < 5) & ~np.isnan(p_value)
    small &= np.all([c % 1 == 0 for c in counts], axis=0)
    if small.any():
        p_value[small] = _stats.fisher(*(c[small] for c in counts), mid=True)
    return p_value, np.where(small, EXACT, SCORE).astype(object)


def mantel_haenszel(strata):
    """Return z of the Cochran-Mantel-Haenszel test, positive where the group gets less."""
    n = strata.n1 + strata.n0
    x = strata.x1 + strata.x0
    used = (strata.n1 > 0) & (strata.n0 > 0) & (n > 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = np.where(used, x * strata.n1 / n - strata.x1, 0).sum(axis=-2)
        spread = strata.n1 * strata.n0 * x * (n - x) / (n**2 * (n - 1))
        return gap / np.sqrt(np.where(used, spread, 0).sum(axis=-2))


def normal_p(z, test):
    """Return the two-sided p-value of a normal statistic, with the name of its test."""
    return lambda: (2 * special.ndtr(-np.abs(z)), test)
