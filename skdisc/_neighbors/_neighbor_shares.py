"""The nearest rows of a pool, listed with the share that each has of the k places."""

import numpy as np

from skdisc._neighbors._nearest import NearestSearch, shares, slack
from skdisc._space._codes import NOBODY

_CHUNK = 1000  # points searched at once


class NeighborShares:
    """Lists the k nearest rows of a pool, exactly, with ties shared.

    Rows as far away as the k-th share the places that are left, so that the answer does not depend
    on the order of the pool.

    Shapes: `pool` (n, n_coordinates).

    Examples
    --------
    >>> pool = NeighborShares(np.array([[0.0], [1.0], [3.0], [3.0]]))
    >>> index, share = pool.query([[0.0]], 3)
    >>> sorted(index[0].tolist()), share.tolist()
    ([0, 1, 2, 3], [[1.0, 1.0, 0.5, 0.5]])
    """

    def __init__(self, pool):
        self.pool = np.asarray(pool, dtype=float)
        # FlipTest takes the first of several nearest rows, whose order depends on the leaf size.
        self._search = NearestSearch(self.pool, leafsize=16)

    def query(self, points, k, *, row_of_point=None):
        """Return the neighbors of points, and the share of a place that each has.

        Parameters
        ----------
        points : array-like of shape (m, n_coordinates)
        row_of_point : array-like of int, shape (m,), default=None
            Row of the pool that is the point itself, and therefore not its neighbor.

        Returns
        -------
        index : ndarray of int, shape (m, width)
            Rows of the pool in order of distance.
        share : ndarray of float, shape (m, width)
            0 for rows that only fill the array.

        Raises
        ------
        ValueError
            If the pool has fewer than k rows, or k is less than 1.
        """
        points = np.asarray(points, dtype=float)
        n = len(self.pool)
        if not 1 <= k <= n - (row_of_point is not None):
            raise ValueError(
                f"n_neighbors must lie between 1 and {n - (row_of_point is not None)}, got {k}"
            )
        row_of_point = (
            np.full(len(points), NOBODY) if row_of_point is None else np.asarray(row_of_point)
        )
        parts = [
            self._some(points[i : i + _CHUNK], k, row_of_point[i : i + _CHUNK])
            for i in range(0, len(points), _CHUNK)
        ]
        width = max((index.shape[1] for index, _ in parts), default=k)
        padded = (
            [np.pad(p, ((0, 0), (0, width - p.shape[1]))) for p in q]
            for q in zip(*parts, strict=True)
        )
        return tuple(np.vstack(part) for part in padded)

    def _some(self, points, k, row_of_point):
        """Widen the search until it includes every row as near as the k-th."""
        n, width = len(self.pool), min(len(self.pool), k + 8)
        while True:
            distance, index = self._search.nearest(points, width)
            distance = np.where(index == row_of_point[:, None], np.inf, distance)
            order = np.argsort(distance, axis=1, kind="stable")
            distance, index = (np.take_along_axis(a, order, axis=1) for a in (distance, index))
            bound = distance[:, k - 1]
            last = np.where(np.isinf(distance), -np.inf, distance).max(axis=1)
            if width == n or np.all(last > bound + slack(bound)):
                break
            width = min(n, 2 * width)
        share = shares(distance, k)
        used = max(k, int((share > 0).sum(axis=1).max(initial=0)))
        return index[:, :used], share[:, :used]
