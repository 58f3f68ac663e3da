"""The conventions behind the published tables of counterfactual situation testing.

They are not stated in the paper, and partly contradict it: each world is standardized separately;
the sum of distances is divided by three; ties, many of which depend on rounding errors, are broken
by the largest row index; and the person is removed from their own nearest neighbors only if found
among them, so that enough people at the same place displace them.

The rounding errors are those of a program that standardizes its frame in place before every run,
so that every run but the first standardizes standardized columns again, and that sums numbers in
blocks. With both, every cell of every published file is reproduced.
"""

import numpy as np
import pandas as pd
from scipy import special

from skdisc.individual._situation_testing._neighborhoods import Neighborhoods

_ROWS = 400
_BLOCK = 8192  # numbers summed at once
_TINY = 1e-150  # the squares of smaller numbers are 0
_RUNS = 8  # further runs do not change the order of the rows
_N_ATTRIBUTES = 3  # the divisor, for any number of columns
Z = 1.645  # of the intervals: 95 % one-sided


class World:
    """Rows of one world, with the coordinates of the authors' code.

    Parameters
    ----------
    frame : DataFrame
    unfavorable : array-like of float, shape (n,)
        1 for an unfavorable decision, 0 for another.
    """

    def __init__(self, frame, unfavorable):
        self.unfavorable = np.asarray(unfavorable, dtype=float)
        is_number = [pd.api.types.is_numeric_dtype(d) for d in frame.dtypes]
        numbers = frame.loc[:, is_number].to_numpy(dtype=float)
        named = frame.loc[:, ~np.array(is_number)]
        self.codes = [pd.factorize(named[c], sort=True)[0] for c in named]
        self.numbers = [_standardized(np.ascontiguousarray(x)) for x in numbers.T]

    def order(self, rows, pool, pool_world, width):
        """Return distance and position in the pool of the nearest rows, ties by the largest index.

        Parameters
        ----------
        rows : ndarray of int
            Rows of this world.
        pool : ndarray of int
            Rows of `pool_world`, in descending order.
        width : int
        """
        distances, order = [], []
        for start in range(0, max(len(rows), 1), _ROWS):  # of no rows, no neighbors
            block = rows[start : start + _ROWS, None]
            d = sum(
                1.0 * (a[block] != b[pool])
                for a, b in zip(self.codes, pool_world.codes, strict=True)
            )
            for a, b in zip(self.numbers, pool_world.numbers, strict=True):
                d = d + np.abs(a[block] - b[pool])
            d = d / _N_ATTRIBUTES
            nearest = np.argsort(d, axis=1, kind="stable")[:, :width]
            distances.append(np.take_along_axis(d, nearest, axis=1))
            order.append(nearest)
        return np.vstack(distances), np.vstack(order)

    def places(self, rows):
        """Return one row for each distinct point among the rows, and the point of each row."""
        points = np.column_stack([c[rows] for c in self.codes + self.numbers])
        _, first, place_of_row = np.unique(points, axis=0, return_index=True, return_inverse=True)
        return rows[first], place_of_row.ravel()


def _standardized(x):
    peak = np.abs(x).max(initial=0)
    if 0 < peak < _TINY:
        x = x / peak
    for _ in range(_RUNS):
        x = x - _mean(x)
        x = x / np.sqrt(_mean(x * x))
    return x


def _mean(x):
    parts = [part.sum() for part in np.split(x, range(_BLOCK, len(x), _BLOCK))]
    return np.cumsum(parts)[-1] / len(x)


def neighborhoods(part, task, rows, ks, centers):
    """Return the `Neighborhoods` of complainants among the people of fit.

    Parameters
    ----------
    part : Judged
    task : Task
    rows : ndarray of int
        Rows of the complainants.
    ks : list of int
    centers : bool
        Whether the person and their counterfactual are counted.

    Raises
    ------
    ValueError
        If the task audits other rows than those of fit.
    """
    factual, world, pools = _searched(part, task)
    x_c, n_c, x_t, n_t = count(factual, world, rows, pools, np.array(ks), centers)
    return Neighborhoods(x_c[..., None], n_c, x_t[..., None], n_t)


def refuse_new_people(is_new):
    """Raise ValueError if people are not those of fit, whose worlds are standardized together."""
    if is_new:
        raise ValueError('metric="alvarez2023" judges the people of fit only.')


def _searched(part, task):
    """Return the factual and the counterfactual world (or None), and the pools of neighbors."""
    refuse_new_people(task.is_audit)
    names, bad = part.pools.columns, part.pools.values[:, 0]
    factual, world = World(task.X[names], bad), None
    if part.counterparts is not task.X:
        unfavorable = bad if part.decided is None else 1.0 - part.decided
        world = World(part.counterparts[names], unfavorable)
    return factual, world, (np.flatnonzero(part.comparison.control(task.X)), part.pools.test)


def neighbors(part, task, rows, k, centers):
    """Return the members of both groups of complainants, as `neighborhoods` counts them.

    Parameters
    ----------
    part, task, rows, centers
        As in `neighborhoods`.
    k : int

    Returns
    -------
    listed : list of lists of (role, row, share, distance)
        One list for each complainant. With `centers`, the complainant is one of the control group.
    counterpart_counts : ndarray of bool, shape (n,)
        Whether the counterfactual itself is counted in the test group.
    """
    factual, world, (control, test) = _searched(part, task)
    searched, width = (factual if world is None else world), k + 1
    listed = [[] for _ in rows]
    pool = np.sort(control)[::-1]
    distance, order = factual.order(rows, pool, factual, width)
    nearest = pool[order]
    counts = np.full(nearest.shape, True) if centers else nearest != rows[:, None]
    _list(listed, "control", nearest, distance, counts)
    pool = np.sort(test)[::-1]
    distance, order = searched.order(rows, pool, factual, width)
    nearest = pool[order]
    before = ((distance == 0) & (nearest > rows[:, None])).sum(axis=1)
    inside = (before <= k) & centers
    counts = np.arange(width) < np.where(centers & ~inside, width, k)[:, None]
    _list(listed, "test", nearest, distance, counts)
    return listed, inside


def _list(listed, role, nearest, distance, counts):
    """Add the neighbors that count to the list of each person."""
    for neighbors, rows, distances, is_in in zip(listed, nearest, distance, counts, strict=True):
        pairs = zip(rows[is_in].tolist(), distances[is_in].tolist(), strict=True)
        neighbors += [(role, row, 1.0, far) for row, far in pairs]


def count(factual, world, rows, pools, ks, centers=False):
    """Count the unfavorable decisions in the control and the test group of each complainant.

    Parameters
    ----------
    factual : World
    world : World or None
        The counterfactual world; None: situation testing.
    rows : ndarray of int
        Rows of the complainants.
    pools : pair of ndarrays of int
        Rows of the group of the complainants, and of the reference.
    ks : ndarray of int
    centers : bool
        Whether the person and their counterfactual are counted.

    Returns
    -------
    x_c, n_c, x_t, n_t : ndarrays of shape (n, n_k)
    """
    ks, width = np.asarray(ks), int(np.max(ks)) + 1
    control, test = pools
    x_c, n_c = _control(factual, rows, np.sort(control)[::-1], ks, width, centers)
    searched = factual if world is None else world
    pool = np.sort(test)[::-1]
    places, place_of_row = searched.places(rows)
    distance, order = searched.order(places, pool, factual, width)
    # The neighbors' own decisions, which are factual.
    total = np.cumsum(factual.unfavorable[pool[order]], axis=1)[place_of_row]
    if not centers:
        return x_c, n_c, total[:, ks - 1], np.broadcast_to(ks, n_c.shape)
    is_before = (distance == 0)[place_of_row] & (pool[order][place_of_row] > rows[:, None])
    inside = is_before.sum(axis=1)[:, None] <= ks
    total_with_center = total[:, ks - 1] + searched.unfavorable[rows][:, None]
    return (
        x_c,
        n_c,
        np.where(inside, total_with_center, total[:, ks]),
        np.broadcast_to(ks + 1, n_c.shape),
    )


def _control(world, rows, pool, ks, width, centers):
    places, place_of_row = world.places(rows)
    _, order = world.order(places, pool, world, width)
    nearest = pool[order]
    total = np.cumsum(world.unfavorable[nearest], axis=1)[place_of_row][:, ks]
    if centers:
        return total, np.broadcast_to(ks + 1, total.shape)
    is_self = nearest[place_of_row] == rows[:, None]
    rank = np.where(is_self.any(axis=1), is_self.argmax(axis=1), width)
    inside = rank[:, None] <= ks
    return total - inside * world.unfavorable[rows][:, None], ks + 1 - inside


def interval(p_c, p_t, n_c, n_t, significance=0.05):
    """Return the difference and its interval, one-sided at `significance`, rounded as published."""
    z = Z if significance == 0.05 else -special.ndtri(significance)
    half = z * np.sqrt(p_c * (1 - p_c) / n_c + p_t * (1 - p_t) / n_t)
    return p_c - p_t, np.round(p_c - p_t - half, 3), np.round(p_c - p_t + half, 3)
