"""What the nearest of a pool add up to: exact, fast, and the same in any order of the rows."""

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

_TREE_COLUMNS = 20  # beyond, a tree looks at nearly everything
_CELLS = 64  # combinations of categories, beyond which they become coordinates of one tree
_ROWS = 1000  # of a matrix of distances
_ENTRIES = 100_000  # neighbours looked at in one go
_ALGORITHMS = ("auto", "cells", "tree", "brute")


class NeighborSums:
    """What the k nearest of a pool add up to, for several k at once, ties shared as above.

    People at the same place are searched once, and nobody is listed: a million questions fit.

    Parameters
    ----------
    pool : ndarray of shape (n, n_coordinates)
    values : ndarray of shape (n, n_values)
        What is added up.
    nominal : ndarray of bool, shape (n_coordinates,), default=None
        The coordinates that make cells: with "cells" each combination of them has a tree of its
        own, and a tree is searched only where it can hold a neighbour.
    metric : str or callable, default="cityblock"
        "cityblock", "euclidean", any other name that `scipy.spatial.distance.cdist` knows, or a
        callable from two arrays of coordinates to the matrix of distances.
    algorithm : {"auto", "cells", "tree", "brute"}, default="auto"
        All are exact; "cells" needs "cityblock", trees "cityblock" or "euclidean".
    n_jobs : int, default=None
        Threads of the trees.

    Examples
    --------
    >>> pool = NeighborSums(
    ...     np.array([[0.0], [1.0], [3.0], [3.0]]), np.array([[1.0], [0], [1], [0]])
    ... )
    >>> sums, weight = pool.query([[0.0]], [1, 3])
    >>> sums[0, :, 0].tolist(), weight.tolist()
    ([1.0, 1.5], [[1.0, 3.0]])
    """

    def __init__(
        self, pool, values, *, nominal=None, metric="cityblock", algorithm="auto", n_jobs=None
    ):
        if algorithm not in _ALGORITHMS:
            raise ValueError(f"algorithm must be one of {_ALGORITHMS}, got {algorithm!r}")
        pool, self.values = np.asarray(pool, dtype=float), np.asarray(values, dtype=float)
        self.metric, self.workers = metric, n_jobs or 1
        self.place, first = _places(pool)
        self.pool = pool[first]
        exact = np.float32 if len(pool) < 2**24 else float
        self.counts = np.bincount(self.place).astype(exact)
        columns = [np.bincount(self.place, v) for v in self.values.T]
        self.sums = np.stack(columns, axis=1) if columns else np.empty((len(first), 0))
        self.nominal = np.zeros(pool.shape[1], dtype=bool) if nominal is None else nominal
        self.algorithm = self._choose(algorithm)
        split = self.algorithm == "cells"
        self.cells = _cells(self.pool, self.nominal if split else self.nominal & False)
        if self.algorithm != "brute":
            self.trees = [
                cKDTree(self.pool[i][:, ~self._split], leafsize=32) for _, i in self.cells
            ]

    @property
    def _split(self):
        return self.nominal if self.algorithm == "cells" else self.nominal & False

    def _choose(self, algorithm):
        if algorithm != "auto":
            return algorithm
        if self.metric not in ("cityblock", "euclidean"):
            return "brute"
        mixed = self.metric == "cityblock" and 0 < self.nominal.sum() < len(self.nominal)
        if mixed and len(_cells(self.pool, self.nominal)) <= _CELLS:
            return "cells"
        return "tree" if self.pool.shape[1] <= _TREE_COLUMNS else "brute"

    def query(self, points, ks, *, own=None, max_distance=np.inf):
        """Return sums of shape (m, n_k, n_values) and the neighbours counted, (m, n_k).

        Parameters
        ----------
        points : array-like of shape (m, n_coordinates)
        ks : sequence of int, each at most the size of the pool
        own : ndarray of int, shape (m,), default=None
            Row of the pool that each point is itself, and that is no neighbour of it.
        max_distance : float, default=infinity
            Who is farther away is no neighbour, so that fewer than k may be counted.
        """
        points, ks = np.asarray(points, dtype=float), np.asarray(ks)
        sums = np.empty((len(points), len(ks), self.values.shape[1]))
        weight = np.empty((len(points), len(ks)))
        size = max(1, _ENTRIES // (ks.max() + 8)) if self.algorithm != "brute" else _ROWS
        order = np.arange(len(points))
        if len(points) > size:  # those who stand near each other look at the same part of a tree
            order = cKDTree(points, leafsize=64).indices
        for start in range(0, len(points), size):
            rows = order[start : start + size]
            mine = None if own is None else np.asarray(own)[rows]
            sums[rows], weight[rows] = self._some(points[rows], ks, mine, max_distance)
        return sums, weight

    def _some(self, points, ks, own, limit):
        """Widen the search, for those still open, until no one near enough is left out."""
        sums = np.empty((len(points), len(ks), self.values.shape[1]))
        weight, n = np.empty((len(points), len(ks))), len(self.pool)
        typical = max(1.0, self.counts.mean() / 2)
        rows, width = np.arange(len(points)), min(n, int(ks.max() / typical) + 3)
        while len(rows):
            place, first = self._apart(points[rows])
            distance, index = (a[place] for a in self._nearest(points[rows][first], width))
            mine = None if own is None else own[rows]
            counts, values = self._counted(index, mine)
            if limit < np.inf:
                near = distance <= limit
                counts, values = counts * near, values * near
            sums[rows], weight[rows], reach = _shared(distance, counts, values, ks)
            is_open = distance[:, -1] <= np.minimum(reach, limit) if width < n else []
            rows, width = rows[np.flatnonzero(is_open)], min(n, 2 * width)
        return sums, weight

    def distances(self, points):
        """Return the distances to everybody in the pool, shape (m, n)."""
        return between(np.asarray(points, dtype=float), self.pool, self.metric)[:, self.place]

    def _apart(self, points):
        """Return the place of each point, and a point of each; all apart where the pool is."""
        if len(self.pool) < len(self.values):
            return _places(points)
        return slice(None), slice(None)

    def _counted(self, index, own):
        """Return how many people stand at each place found and their values, without one's own.

        Of shapes (m, width) and (n_values, m, width).
        """
        counts, values = self.counts.take(index), self.sums.T.take(index, axis=1)
        if own is not None:
            row, column = np.nonzero(index == self.place[own][:, None])
            counts[row, column] -= 1
            values[:, row, column] -= self.values[own[row]].T
        return counts, values

    def _nearest(self, points, width):
        """Return distances in ascending order and places of the pool, both (m, width)."""
        if self.algorithm == "brute":
            return self._all(points, width)
        split, p = self._split, 1 if self.metric == "cityblock" else 2
        if not split.any():
            found = self.trees[0].query(points, k=width, p=p, workers=self.workers)
            return tuple(a.reshape(len(points), width) for a in found)
        distance = np.full((len(points), width), np.inf)
        index = np.zeros((len(points), width), dtype=np.intp)
        for here, rows in _cells(points, split):
            away = [np.abs(here - there).sum() for there, _ in self.cells]
            for cell in np.argsort(away, kind="stable"):
                bound = distance[rows, -1]
                near = rows[away[cell] <= bound + 1e-9 * (1 + bound)]
                if not len(near):
                    break
                members = self.cells[cell][1]
                k = min(width, len(members))
                d, i = self.trees[cell].query(points[near][:, ~split], k, p=p, workers=self.workers)
                d, i = d.reshape(len(near), k) + away[cell], members[i.reshape(len(near), k)]
                _merge(distance, index, near, d, i)
        return distance, index

    def _all(self, points, width):
        distance = between(points, self.pool, self.metric)
        near = np.argpartition(distance, width - 1, axis=1)[:, :width]
        distance = np.take_along_axis(distance, near, axis=1)
        order = np.argsort(distance, axis=1)
        return tuple(np.take_along_axis(a, order, axis=1) for a in (distance, near))


def between(points, pool, metric):
    """Return the matrix of distances."""
    if callable(metric):
        return np.array(metric(points, pool), dtype=float)
    return cdist(points, pool, metric)


def shares_of_places(distance, k):
    """Return the share of one of k places that each row of a pool has, given its distance."""
    bound = np.sort(distance)[min(k, len(distance)) - 1]
    slack = 1e-9 * (1 + bound) if np.isfinite(bound) else 0.0
    inside, tied = distance < bound - slack, np.abs(distance - min(bound, 1e300)) <= slack
    return inside + tied * min(1.0, (k - inside.sum()) / max(tied.sum(), 1))


def _shared(distance, counts, values, ks):
    """Add up the k nearest, those equally far as the k-th sharing what is left of the k places.

    Counts and values are written over.

    Returns
    -------
    sums, weight, reach
        Per row and k, and the distance up to which each row had to be searched.
    """
    for added in (counts, values):
        np.cumsum(added, axis=-1, out=added)
    sums, weight = [], []
    rows = np.arange(len(distance))
    for k in ks:
        enough = counts >= k - 1e-9
        at = np.where(enough[:, -1], enough.argmax(axis=1), distance.shape[1] - 1)
        bound = distance[rows, at]
        slack = 1e-9 * (1 + np.where(np.isinf(bound), 0.0, bound))
        inside, up_to = at, at + 1
        last = distance.shape[1] - 1
        tied = (at > 0) & (distance[rows, np.maximum(at - 1, 0)] >= bound - slack)
        tied |= (at < last) & (distance[rows, np.minimum(at + 1, last)] <= bound + slack)
        if tied.any():
            some, lower, upper = distance[tied], (bound - slack)[tied], (bound + slack)[tied]
            inside, up_to = inside.copy(), up_to.copy()
            inside[tied] = (some < lower[:, None]).sum(axis=1)
            up_to[tied] = (some <= upper[:, None]).sum(axis=1)
        lower, upper = (_before(counts, rows, i) for i in (inside, up_to))
        share = np.clip((k - lower) / np.where(upper > lower, upper - lower, 1.0), 0.0, 1.0)
        low, high = (_before(values, rows, i) for i in (inside, up_to))
        sums.append(low + share * (high - low))
        weight.append(lower + share * (upper - lower))
        reach = np.where(enough[:, -1], bound + slack, np.inf)
    return np.stack(sums).transpose(2, 0, 1), np.stack(weight, axis=1), reach


def _before(cumulative, rows, n):
    """Return the sum of the first n entries of each row."""
    return np.where(n > 0, cumulative[..., rows, np.maximum(n, 1) - 1], 0.0).astype(float)


def _merge(distance, index, rows, more, at):
    """Keep the nearest of those known and those found in another cell."""
    width = distance.shape[1]
    if np.isinf(distance[rows, 0]).all() and more.shape[1] == width:
        distance[rows], index[rows] = more, at
        return
    both, where = np.hstack([distance[rows], more]), np.hstack([index[rows], at])
    order = np.argsort(both, axis=1, kind="stable")[:, :width]
    distance[rows] = np.take_along_axis(both, order, axis=1)
    index[rows] = np.take_along_axis(where, order, axis=1)


def _places(points):
    """Return the place of each point, points at one place counting once, and a point of each."""
    if len(points) < 2 or points.shape[1] == 0:
        return np.zeros(len(points), dtype=np.intp), np.arange(min(1, len(points)))
    apart = np.arange(len(points))
    projected = (points * np.sqrt(2.0 + np.arange(points.shape[1]))).sum(axis=1)
    if len(np.unique(projected)) == len(points):  # then no two points are one
        return apart, apart
    place = pd.DataFrame(points).groupby(list(range(points.shape[1])), sort=False).ngroup()
    place = place.to_numpy()
    return place, np.unique(place, return_index=True)[1]


def _cells(points, nominal):
    """Return each combination of nominal coordinates and the rows that have it, a list of pairs."""
    place, first = _places(points[:, nominal])
    order = np.argsort(place, kind="stable")
    parts = np.split(order, np.searchsorted(place[order], np.arange(1, len(first))))
    return [(points[f, nominal], part) for f, part in zip(first, parts, strict=True)]
