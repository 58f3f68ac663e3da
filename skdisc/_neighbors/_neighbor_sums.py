"""Sums over the nearest rows of a pool: exact, fast, and independent of the order of the rows."""

from copy import copy

import numpy as np

from skdisc._neighbors._nearest import NearestSearch, between, places, slack


class NeighborSums:
    """Sums over the k nearest rows of a pool, for several k at once, with ties shared.

    Rows as far away as the k-th share the places that are left, as in `NeighborShares`. Rows at the
    same place are searched once and neighbors are not listed, so that a million queries fit.

    Parameters
    ----------
    pool : array-like of float, shape (n, n_coordinates)
    values : array-like of float, shape (n, n_values)
        What is summed.
    nominal, metric, algorithm, n_jobs
        As in `NearestSearch`.

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
        pool, self.values = np.asarray(pool, dtype=float), np.asarray(values, dtype=float)
        self.place, first = places(pool)
        self.pool = pool[first]
        exact = np.float32 if len(pool) < 2**24 else float
        self.counts = np.bincount(self.place).astype(exact)
        columns = [np.bincount(self.place, v) for v in self.values.T]
        self.sums = np.stack(columns, axis=1) if columns else np.empty((len(first), 0))
        self._reach = {}
        self.search = NearestSearch(self.pool, nominal, metric, algorithm, n_jobs=n_jobs)

    def query(self, points, ks, *, row_of_point=None, max_distance=np.inf):
        """Return the sums over the neighbors of points, and the number of neighbors.

        `row_of_point`: row of the pool that is the point itself, and therefore not its neighbor.
        `max_distance`: rows farther away are not neighbors, so that there may be fewer than k.
        Shapes: `points` (m, n_coordinates), `sums` (m, n_k, n_values), `weight` (m, n_k).
        """
        points, ks = np.asarray(points, dtype=float), np.asarray(ks)
        sums = np.empty((len(points), len(ks), self.values.shape[1]))
        weight = np.empty((len(points), len(ks)))
        size, order = self.search.batch(ks.max() + 8), np.arange(len(points))
        if len(points) > size:  # near points visit the same part of a tree
            order = self.search.order(points)
        for start in range(0, len(points), size):
            rows = order[start : start + size]
            self_of_batch = None if row_of_point is None else np.asarray(row_of_point)[rows]
            sums[rows], weight[rows], _ = self._some(points[rows], ks, self_of_batch, max_distance)
        return sums, weight

    def reach(self, k, rows=None):
        """Return the distance of rows of the pool to their k-th nearest other row.

        Parameters
        ----------
        k : int, at most the size of the pool - 1
        rows : ndarray of int, default=None
            None stands for all rows of the pool.

        Returns
        -------
        distance : ndarray of float, shape (n_rows,)
        """
        if rows is None:
            if k not in self._reach:
                self._reach[k] = self.reach(k, np.arange(len(self.values)))
            return self._reach[k]
        size, order = self.search.batch(k + 8), np.arange(len(rows))
        if len(rows) > size:
            order = self.search.order(self.points(rows))
        distance = np.empty(len(rows))
        for start in range(0, len(rows), size):
            part = order[start : start + size]
            pool_rows = rows[part]
            distance[part] = self._some(self.points(pool_rows), np.array([k]), pool_rows, np.inf)[2]
        return distance

    def _some(self, points, ks, row_of_point, limit):
        """Widen the search for the points whose k nearest rows are not yet complete."""
        sums = np.empty((len(points), len(ks), self.values.shape[1]))
        weight, n = np.empty((len(points), len(ks))), len(self.pool)
        reached = np.empty(len(points))
        typical = max(1.0, self.counts.mean() / 2)
        rows, width = np.arange(len(points)), min(n, int(ks.max() / typical) + 3)
        while len(rows):
            place, first = self._apart(points[rows])
            nearest = self.search.nearest(points[rows][first], width, limit)
            distance, index = (a[place] for a in nearest)
            self_of_rows = None if row_of_point is None else row_of_point[rows]
            counts, values = self._counted(index, self_of_rows)
            if limit < np.inf:
                near = distance <= limit
                counts, values = counts * near, values * near
            sums[rows], weight[rows], reach = _shared(distance, counts, values, ks)
            reached[rows] = reach
            is_open = distance[:, -1] <= np.minimum(reach, limit) if width < n else []
            rows, width = rows[np.flatnonzero(is_open)], min(n, 2 * width)
        return sums, weight, reached

    def using(self, metric):
        """Return the same sums with another metric, which takes the same coordinates."""
        if metric == self.search.metric:
            return self
        neighbors = copy(self)
        neighbors.search = copy(self.search)
        neighbors.search.metric = metric
        return neighbors

    def of(self, values):
        """Return the same neighbors with other values to sum, shape (n, n_values)."""
        neighbors = copy(self)
        neighbors.values = np.asarray(values, dtype=float)
        columns = [np.bincount(self.place, v) for v in neighbors.values.T]
        neighbors.sums = np.stack(columns, axis=1) if columns else np.empty((len(self.pool), 0))
        return neighbors

    def points(self, rows):
        """Return the coordinates of some rows of the pool, shape (n_rows, n_coordinates)."""
        return self.pool[self.place[rows]]

    def distances(self, points):
        """Return the distances to all rows of the pool, shape (m, n)."""
        points = np.asarray(points, dtype=float)
        distance = between(points, self.pool, self.search.metric)
        return distance[:, self.place] if len(self.pool) < len(self.values) else distance

    def _apart(self, points):
        """Number the distinct points, unless the pool has distinct rows only; see `places`."""
        if len(self.pool) < len(self.values):
            return places(points)
        return slice(None), slice(None)

    def _counted(self, index, row_of_point):
        """Return the rows at each place found, without the points themselves, and sums of values.

        Shapes (m, width) and (n_values, m, width).
        """
        counts, values = self.counts.take(index), self.sums.T.take(index, axis=1)
        if row_of_point is not None:
            row, column = np.nonzero(index == self.place[row_of_point][:, None])
            counts[row, column] -= 1
            values[:, row, column] -= self.values[row_of_point[row]].T
        return counts, values


def _shared(distance, counts, values, ks):
    """Sum over the k nearest, with ties shared: the rule of `shares` in cumulative form.

    Counts and values are overwritten.

    Returns `reach`: distance up to which each point had to be searched. Shapes: `sums` (m, n_k,
    n_values), `weight` (m, n_k).
    """
    for added in (counts, values):
        np.cumsum(added, axis=-1, out=added)
    sums, weight = [], []
    rows = np.arange(len(distance))
    for k in ks:
        enough = counts >= k - 1e-9
        kth = np.where(enough[:, -1], enough.argmax(axis=1), distance.shape[1] - 1)
        bound = distance[rows, kth]
        gap = slack(bound)
        inside, up_to = kth, kth + 1
        last = distance.shape[1] - 1
        tied = (kth > 0) & (distance[rows, np.maximum(kth - 1, 0)] >= bound - gap)
        tied |= (kth < last) & (distance[rows, np.minimum(kth + 1, last)] <= bound + gap)
        if tied.any():
            tied_distances, lower, upper = distance[tied], (bound - gap)[tied], (bound + gap)[tied]
            inside, up_to = inside.copy(), up_to.copy()
            inside[tied] = (tied_distances < lower[:, None]).sum(axis=1)
            up_to[tied] = (tied_distances <= upper[:, None]).sum(axis=1)
        lower, upper = (_before(counts, rows, i) for i in (inside, up_to))
        share = np.clip((k - lower) / np.where(upper > lower, upper - lower, 1.0), 0.0, 1.0)
        low, high = (_before(values, rows, i) for i in (inside, up_to))
        sums.append(low + share * (high - low))
        weight.append(lower + share * (upper - lower))
        reach = np.where(enough[:, -1], bound + gap, np.inf)
    return np.stack(sums).transpose(2, 0, 1), np.stack(weight, axis=1), reach


def _before(cumulative, rows, n):
    """Return the sum of the first n entries of each row, from cumulative sums."""
    return np.where(n > 0, cumulative[..., rows, np.maximum(n, 1) - 1], 0.0).astype(float)
