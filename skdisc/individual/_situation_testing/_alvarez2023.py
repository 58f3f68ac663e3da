"""The conventions behind the published tables of counterfactual situation testing.

They are not stated in the paper, and partly contradict it: each world is standardised on its own,
a sum of distances is divided by three, ties, of which rounding errors decide many, are broken by
the largest row index, and the person is left out by being among the nearest, so that enough
people at the same place crowd them out.

The rounding errors are those of a program that standardises its frame in place before every run,
so that all runs but the first standardise what is standardised already, and that adds numbers up
in blocks. With both, every cell of every published file is reached.
"""

import numpy as np
import pandas as pd

_ROWS = 400
_BLOCK = 8192  # numbers added up at once
_RUNS = 8  # after which standardising again changes no order
_N_ATTRIBUTES = 3  # whatever their number is
Z = 1.645  # of the intervals: 95 % one-sided


class World:
    """Rows of one world, as the authors' code sees them."""

    def __init__(self, frame, unfavourable):
        self.unfavourable = np.asarray(unfavourable, dtype=float)
        is_number = [pd.api.types.is_numeric_dtype(d) for d in frame.dtypes]
        numbers = frame.loc[:, is_number].to_numpy(dtype=float)
        named = frame.loc[:, ~np.array(is_number)]
        self.codes = [pd.factorize(named[c], sort=True)[0] for c in named]
        self.numbers = [_standardised(np.ascontiguousarray(x)) for x in numbers.T]

    def order(self, rows, pool, other, width):
        """Return distance and position in the pool of the nearest, the largest index first.

        Parameters
        ----------
        rows : ndarray of int
            Of this world.
        pool : ndarray of int
            Rows of the world `other`, in descending order.
        width : int
        """
        distances, order = [], []
        for start in range(0, len(rows), _ROWS):
            some = rows[start : start + _ROWS, None]
            d = sum(
                1.0 * (a[some] != b[pool]) for a, b in zip(self.codes, other.codes, strict=True)
            )
            for a, b in zip(self.numbers, other.numbers, strict=True):
                d = d + np.abs(a[some] - b[pool])
            d = d / _N_ATTRIBUTES
            at = np.argsort(d, axis=1, kind="stable")[:, :width]
            distances.append(np.take_along_axis(d, at, axis=1))
            order.append(at)
        return np.vstack(distances), np.vstack(order)

    def places(self, rows):
        """Return a row for every distinct place among the rows, and the place of each row."""
        points = np.column_stack([c[rows] for c in self.codes + self.numbers])
        _, first, at = np.unique(points, axis=0, return_index=True, return_inverse=True)
        return rows[first], at.ravel()


def _standardised(x):
    for _ in range(_RUNS):
        x = x - _mean(x)
        x = x / np.sqrt(_mean(x * x))
    return x


def _mean(x):
    parts = [part.sum() for part in np.split(x, range(_BLOCK, len(x), _BLOCK))]
    return np.cumsum(parts)[-1] / len(x)


def count(factual, world, rows, test, ks, centres=False):
    """Count unfavourable decisions in the control and the test group of everybody who complains.

    Parameters
    ----------
    factual : World
    world : World or None
        The counterfactual one; None: situation testing.
    rows, test : ndarray of int
        Rows of those who may complain, and of the reference.
    ks : ndarray of int
    centres : bool
        Whether the person, and their counterfactual self, are counted.

    Returns
    -------
    x_c, n_c, x_t, n_t : ndarrays of shape (n, n_k)
    """
    ks, width = np.asarray(ks), int(np.max(ks)) + 1
    x_c, n_c = _control(factual, rows, ks, width, centres)
    searched = factual if world is None else world
    pool = np.sort(test)[::-1]
    places, at = searched.places(rows)
    distance, order = searched.order(places, pool, factual, width)
    total = np.cumsum(searched.unfavourable[pool[order]], axis=1)[at]
    if not centres:
        return x_c, n_c, total[:, ks - 1], np.broadcast_to(ks, n_c.shape)
    before = ((distance == 0)[at] & (pool[order][at] > rows[:, None])).sum(axis=1)
    inside = before[:, None] <= ks
    own = total[:, ks - 1] + searched.unfavourable[rows][:, None]
    return x_c, n_c, np.where(inside, own, total[:, ks]), np.broadcast_to(ks + 1, n_c.shape)


def _control(world, rows, ks, width, centres):
    pool = np.sort(rows)[::-1]
    places, at = world.places(rows)
    _, order = world.order(places, pool, world, width)
    nearest = pool[order]
    total = np.cumsum(world.unfavourable[nearest], axis=1)[at][:, ks]
    if centres:
        return total, np.broadcast_to(ks + 1, total.shape)
    mine = nearest[at] == rows[:, None]
    rank = np.where(mine.any(axis=1), mine.argmax(axis=1), width)
    inside = rank[:, None] <= ks
    return total - inside * world.unfavourable[rows][:, None], ks + 1 - inside


def interval(p_c, p_t, n_c, n_t):
    """Return the difference and its interval, rounded as published."""
    half = Z * np.sqrt(p_c * (1 - p_c) / n_c + p_t * (1 - p_t) / n_t)
    return p_c - p_t, np.round(p_c - p_t - half, 3), np.round(p_c - p_t + half, 3)
