"""Naturalness: how much what was found looks like data, by its columns and pairs of columns."""

from itertools import combinations

import numpy as np

_BINS = 10


def naturalness(found, rows, nominal):
    """Compare found inputs with rows of data, as codes.

    A column scores 1 minus the Kolmogorov-Smirnov distance of its two distributions, a nominal one
    1 minus their total variation. A pair scores 1 minus half the difference of the correlations; if
    one is nominal, 1 minus the total variation of the joint distributions, numbers in ten bins.

    Parameters
    ----------
    found, rows : ndarray of int, shape (n, n_columns)
    nominal : ndarray of bool, shape (n_columns,)

    Returns
    -------
    columns, pairs : float
        Mean scores in [0, 1]; NaN where there is none.
    """
    low = np.minimum(found.min(axis=0), rows.min(axis=0))
    found, rows = found - low, rows - low
    width = 1 + np.maximum(found.max(axis=0), rows.max(axis=0))
    d = len(width)
    columns = []
    for j in range(d):
        change = _change(found[:, j], rows[:, j])
        total = np.abs(change).sum() / 2
        columns.append(1 - (total if nominal[j] else np.abs(np.cumsum(change)).max()))
    with np.errstate(invalid="ignore", divide="ignore"):  # a constant column has no correlation
        r, s = (_correlation(x) for x in (found, rows))
    bins = np.where(nominal, width, np.minimum(width, _BINS))
    binned = [x * bins // width for x in (found, rows)]
    pairs = []
    for a, b in combinations(range(d), 2):
        if nominal[a] or nominal[b]:
            cells = [x[:, a] * bins[b] + x[:, b] for x in binned]
            pairs.append(1 - np.abs(_change(*cells)).sum() / 2)
        else:
            pairs.append(1 - abs(r[a, b] - s[a, b]) / 2)
    return _mean(columns), _mean(pairs)


def _change(one, other):
    """Return by how much the share of each code differs."""
    n = 1 + max(one.max(), other.max())
    return np.bincount(one, minlength=n) / len(one) - np.bincount(other, minlength=n) / len(other)


def _correlation(x):
    centred = x - x.mean(axis=0)
    unit = centred / np.sqrt((centred**2).sum(axis=0))
    return unit.T @ unit


def _mean(scores):
    known = [s for s in scores if not np.isnan(s)]
    return float(np.mean(known)) if known else float("nan")
