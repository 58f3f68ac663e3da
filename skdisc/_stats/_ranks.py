"""Weighted midranks and quantiles, and the Mann-Whitney statistic."""

import numpy as np


def midranks(y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the midrank of each value; a weight counts as that many rows.

    If s rows are not above a value and t of these are equal to it, the t rows share the ranks from
    s - t + 1 to s, whose mean is s - t / 2 + 1 / 2: so the order of tied rows does not matter
    (Hollander and Wolfe 1999, *Nonparametric Statistical Methods*, chapter 4).

    Parameters
    ----------
    y, weight : ndarray of float, shape (n,)

    Returns
    -------
    rank : ndarray of float, shape (n,)

    Examples
    --------
    >>> midranks(np.array([3.0, 1.0, 3.0]), np.ones(3))
    array([2.5, 1. , 2.5])
    """
    index = np.unique(y, return_inverse=True)[1]
    size = np.bincount(index, weights=weight)
    return (np.cumsum(size) - size / 2 + 0.5)[index]


def rank_statistic(w1: np.ndarray, w0: np.ndarray) -> tuple[np.ndarray, ...]:
    r"""Compare two groups by ranks.

    The area is the Mann-Whitney statistic over :math:`n_1 n_0`. Its standard error is by DeLong,
    DeLong and Clarke-Pearson (1988, :doi:`10.2307/2531595`), from the variances, in each group, of
    the share of the other group that is beyond a value. If the groups are equal, the variance is
    :math:`(n + 1 - \sum (t^3 - t) / (n (n - 1))) / (12 n_1 n_0)`, with t rows at each value
    (Hollander and Wolfe 1999, *Nonparametric Statistical Methods*, chapter 4), which gives z.

    Parameters
    ----------
    w1, w0 : ndarray of float, shape (..., n_values)
        Weight of each distinct value, in ascending order, in group 1 and in group 0.

    Returns
    -------
    area : ndarray of float, shape (...)
        Probability that a value of group 0 exceeds one of group 1, ties counting half.
    error : ndarray of float, shape (...)
        DeLong's standard error of the area.
    z : ndarray of float, shape (...)
        Tie-corrected Mann-Whitney statistic without continuity correction.

    Examples
    --------
    Two people with the lower value and one with the higher, against one and two:

    >>> area, error, z = rank_statistic(np.array([2.0, 1.0]), np.array([1.0, 2.0]))
    >>> round(float(area), 3)
    0.667
    """
    n1, n0 = w1.sum(-1, keepdims=True), w0.sum(-1, keepdims=True)
    below1 = (np.cumsum(w1, axis=-1) - w1 / 2) / n1  # share of group 1 below each value
    above0 = 1 - (np.cumsum(w0, axis=-1) - w0 / 2) / n0
    area = (w0 * below1).sum(-1, keepdims=True) / n0
    v0 = (w0 * (below1 - area) ** 2).sum(-1, keepdims=True) / (n0 - 1)
    v1 = (w1 * (above0 - area) ** 2).sum(-1, keepdims=True) / (n1 - 1)
    n, tied = n1 + n0, w1 + w0
    ties = (tied**3 - tied).sum(-1, keepdims=True) / (n * (n - 1))
    spread = n1 * n0 / 12 * (n + 1 - ties)
    z = (area - 0.5) * n1 * n0 / np.sqrt(spread)
    return tuple(part[..., 0] for part in (area, np.sqrt(v0 / n0 + v1 / n1), z))


def inner_quantiles(values, n):
    """Return the distinct cuts between n quantile bins."""
    return np.unique(np.quantile(values, np.arange(1, n) / n))


def weighted_quantile(value, weight, q):
    """Return the weighted quantile of values: the middle of all that have a share q below.

    Where no value divides the weights exactly, it is the smallest one with at least the share q at
    or below it: definition 2 of Hyndman and Fan (1996, *Sample quantiles in statistical packages*).
    A weight counts as that many rows, and only the ratios of weights matter.

    Parameters
    ----------
    value : ndarray of float, shape (n_values,), in ascending order
    weight : ndarray of float, shape (n_values,); not all 0
    q : float, between 0 and 1

    Returns
    -------
    quantile : float
    """
    return sum(_ends(value, weight, q, q)) / 2


def weighted_quantile_limits(value, weight, q, size, z):
    r"""Return limits of a quantile: the values at the shares :math:`q \pm z \sqrt{q (1 - q) / n}`.

    Woodruff (1952), :doi:`10.1080/01621459.1952.10483443`, with the variance that the share below
    has at the true quantile. Where the share is not between 0 and 1 there is no limit: -inf or inf.

    Parameters
    ----------
    value, weight, q : as in `weighted_quantile`
    size : float, effective number of rows
    z : float, normal quantile of the level

    Returns
    -------
    low, high : float
    """
    half = z * np.sqrt(q * (1 - q) / size)
    low, high = _ends(value, weight, q - half, q + half)
    return (low if q - half > 0 else -np.inf), (high if q + half < 1 else np.inf)


def _ends(value, weight, low, high):
    """Return the least value with the share `low` at or below, the greatest with `high` below."""
    share = np.cumsum(weight) / weight.sum()
    first = np.searchsorted(share, low - 1e-12)
    last = np.searchsorted(share, high + 1e-12, side="right")
    return value[min(first, len(value) - 1)], value[min(last, np.flatnonzero(weight)[-1])]
