"""Weighted midranks and the Mann-Whitney statistic."""

import numpy as np


def midranks(y, weight):
    """Return the midrank of each value; a weight counts as that many rows.

    Parameters
    ----------
    y, weight : ndarray of float, shape (n,)

    Returns
    -------
    rank : ndarray of float, shape (n,)
    """
    index = np.unique(y, return_inverse=True)[1]
    size = np.bincount(index, weights=weight)
    return (np.cumsum(size) - size / 2 + 0.5)[index]


def rank_statistic(w1, w0):
    """Compare two groups by ranks.

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
