"""Statistics of two groups of neighbors: difference, interval, p-value."""

from typing import NamedTuple

import numpy as np

from skdisc import _stats
from skdisc._stats._bisection import bisected
from skdisc._stats._means import Welch

SIGNS = {"lower": 1.0, "higher": -1.0, "both": 0.0}
_ALTERNATIVES = {"lower": "greater", "higher": "less", "both": "two-sided"}
_SLACK = 1e-9


class GapStatistics(NamedTuple):
    """The outcomes of two groups of neighbors, arrays of one shape.

    Attributes
    ----------
    p_c, p_t : ndarray of float
        Shares of unfavorable decisions, or means, of the control and the test group.
    delta, ci_low, ci_high : ndarray of float
        Their difference and its interval.
    p_value : ndarray of float
    """

    p_c: np.ndarray
    p_t: np.ndarray
    delta: np.ndarray
    ci_low: np.ndarray
    ci_high: np.ndarray
    p_value: np.ndarray

    def only_where(self, judged):
        """Return the statistics with NaN for those who are not judged."""
        return GapStatistics(*(np.where(judged, values, np.nan) for values in self))


def of_shares(x_c, n_c, x_t, n_t, *, threshold, direction, significance):
    """Return the `GapStatistics` of shares of unfavorable decisions.

    Parameters
    ----------
    x_c, n_c, x_t, n_t : ndarrays
        Unfavorable decisions and people, control and test; shared ties make fractions.
    threshold : float
    direction : {"lower", "higher", "both"}
    significance : float
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        p_c, p_t = x_c / n_c, x_t / n_t
    low, high = _stats.newcombe(x_c, n_c, x_t, n_t, significance)
    if threshold > 0:
        p_value = _beyond(x_c, n_c, x_t, n_t, threshold, direction)
    else:
        p_value = _exact(x_c, n_c, x_t, n_t, direction)
    return GapStatistics(p_c, p_t, p_c - p_t, low, high, p_value)


def _exact(x_c, n_c, x_t, n_t, direction):
    """Return p-values of Fisher's test; fractions are rounded towards no difference."""

    def one_sided(a, m, b, n):
        # Fisher's test needs whole counts. Rounded towards no difference, its level still holds.
        m, n = np.floor(m + _SLACK), np.floor(n + _SLACK)
        a, b = np.floor(a + _SLACK), np.minimum(np.ceil(b - _SLACK), n)
        unique, table_of_entry = _distinct(np.minimum(a, m), m, b, n)
        return _stats.fisher(*unique, "greater")[table_of_entry].reshape(a.shape)

    greater = one_sided(x_c, n_c, x_t, n_t) if direction != "higher" else None
    less = one_sided(x_t, n_t, x_c, n_c) if direction != "lower" else None
    if direction == "both":
        return np.minimum(1.0, 2 * np.minimum(greater, less))
    return greater if less is None else less


def _distinct(*counts):
    """Return the distinct tables, one array per count, and the table of each entry."""
    size = int(max(c.max(initial=0) for c in counts)) + 1
    if size >= 2**15:
        unique, table_of_entry = np.unique(
            np.stack([c.ravel() for c in counts]), axis=1, return_inverse=True
        )
        return unique, table_of_entry.ravel()
    code = np.zeros(counts[0].size, dtype=np.int64)
    for c in counts:
        code = code * size + c.ravel().astype(np.int64)
    _, first, table_of_entry = np.unique(code, return_index=True, return_inverse=True)
    return [c.ravel()[first] for c in counts], table_of_entry


def _beyond(x_c, n_c, x_t, n_t, threshold, direction):
    """Return the level at which Newcombe's interval begins to contain the threshold."""
    excess = np.where(n_c * n_t > 0, x_c * n_t - x_t * n_c, 0.0)
    turn = excess < 0 if direction == "both" else np.full(np.shape(excess), direction == "higher")
    pairs = (x_t, x_c), (n_t, n_c), (x_c, x_t), (n_c, n_t)
    a, m, b, n = (np.where(turn, *pair) for pair in pairs)
    ends = (np.full(np.shape(excess), end) for end in (1e-12, 1.0 - 1e-12))
    _, high = bisected(lambda level: _stats.newcombe(a, m, b, n, level)[0] <= threshold, *ends, 40)
    with np.errstate(invalid="ignore", divide="ignore"):
        p_value = np.where(a / m - b / n > threshold, high / 2, 1.0)
    return np.where(n_c * n_t > 0, p_value * (1 + (direction == "both")), np.nan).clip(max=1.0)


def of_means(sums_c, n_c, sums_t, n_t, *, threshold, direction, significance):
    """Return the `GapStatistics` of means, test minus control, by Welch's test.

    `sums_c` and `sums_t` hold sums and sums of squares on the last axis. If the outcomes of both
    neighborhoods are constant, interval and p-value are NaN: a few equal neighbors do not prove
    anything, unlike constant groups of rows (`Means`).
    """
    control, test = _moments(sums_c, n_c), _moments(sums_t, n_t)
    welch = Welch.of(test, control)
    p_value = welch.p_value(_ALTERNATIVES[direction], threshold)
    interval = welch.interval(significance)
    return GapStatistics(control[0], test[0], welch.gap, *interval, p_value)


def _moments(sums, n):
    """Return mean, sample variance and size."""
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = sums[..., 0] / n
        spread = sums[..., 1] - n * mean**2
        spread = np.where(spread > 1e-12 * sums[..., 1], spread, 0.0)  # zero up to rounding
        return mean, spread / (n - 1), n


def exceeds(delta, threshold, direction):
    """Return a boolean mask of the differences beyond the threshold, in the given direction."""
    sign = SIGNS[direction]
    return (np.abs(delta) if sign == 0 else sign * delta) > threshold + _SLACK


def interval_exceeds(low, high, threshold, direction):
    """Return a boolean mask of the intervals that lie beyond the threshold."""
    above, below = low > threshold + _SLACK, high < -threshold - _SLACK
    return {"lower": above, "higher": below, "both": above | below}[direction]
