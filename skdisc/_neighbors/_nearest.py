"""The nearest rows of a pool: the search and the rule for ties that both kinds of answers share."""

import math

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from skdisc._neighbors._block_search import BlockSearch, similar_order
from skdisc._utils._run_clock import go_on

_ALGORITHMS = ("auto", "cells", "tree", "blocks", "brute")
TREE_COLUMNS = 20  # with more coordinates a tree visits nearly all of its leaves
_FEW = 500  # rows that are compared one by one
_ENTRIES = 100_000  # entries of a matrix of neighbors
_DISTANCES = 2**23  # entries of a matrix of all distances
CELLS = 64  # with more combinations of categories these become coordinates of one tree
_CELL_ROWS = 12  # and twice as many with each number: then few other cells have near rows
_PIECE = 10_000  # rows
_POINTS = 500  # searched for between two looks at the clock; 12 numbers of 60,000 rows take 1 s
_TOLERANCE = 1e-9  # absolute and relative: distances that differ by less are equal


def slack(bound):
    """Return how far distances may lie from `bound` to be equal to it; finite also if it is not."""
    return _TOLERANCE * (1 + np.where(np.isinf(bound), 0.0, bound))


def shares(distance, k):
    """Return the share of one of k places that each row of a pool has.

    Rows nearer than the k-th have a place each; rows as far away as the k-th share the places that
    are left, so that shares do not depend on the order of the rows.

    `distance`, of shape (..., n): infinity for rows that are not candidates. Returns `share`, of
    shape (..., n): between 0 and 1; the sum is k, or the number of finite distances if that is
    less.
    """
    k = min(k, distance.shape[-1])
    return shares_up_to(np.partition(distance, k - 1, axis=-1)[..., k - 1 : k], distance, k)


def shares_up_to(bound, distance, k, counts=1.0):
    """Return the `shares` of rows whose k-th distance is `bound`; `counts` rows lie at each."""
    inside = distance < bound - slack(bound)
    bound = np.minimum(bound, np.finfo(float).max)  # infinite distances share nothing
    tied = np.abs(distance - bound) <= slack(bound)
    places_left = k - (counts * inside).sum(axis=-1, keepdims=True)
    n_tied = np.maximum((counts * tied).sum(axis=-1, keepdims=True), 1.0)
    return np.where(inside, 1.0, np.where(tied, np.minimum(1.0, places_left / n_tied), 0.0))


def between(points, pool, metric):
    """Return the distances of points from the rows of a pool, shape (n_points, n_pool)."""
    if callable(metric):
        return np.array(metric(points, pool), dtype=float)
    return cdist(points, pool, metric)


def compares_pairs(metric, sizes, n_numbers):
    """Return whether a search among rows of a table has to compare most pairs of rows.

    `metric`: as in `Distances`. `sizes`: number of values of each category. `n_numbers`: number of
    numeric columns.
    """
    if metric == "propensity":
        return False
    if callable(metric) or metric == "gower":
        return True
    if metric == "hvdm":
        return n_numbers + len(sizes) > TREE_COLUMNS
    has_cells = metric == "manhattan" and n_numbers and sizes and math.prod(sizes) <= CELLS
    return n_numbers + sum(sizes) > TREE_COLUMNS and not has_cells


class NearestSearch:
    """Exact search for the nearest rows of a pool.

    Parameters
    ----------
    pool : ndarray of float, shape (n, n_coordinates)
    nominal : ndarray of bool, shape (n_coordinates,), default=None
        The coordinates that are indicators of categories: 0, or one other value. With "cells" each
        combination of them has a tree of its own, which is searched only if it can hold one of the
        nearest rows; with "blocks" they are compared as bits.
    metric : str or callable, default="cityblock"
        "cityblock", "euclidean", any other name known to `scipy.spatial.distance.cdist`, or a
        callable from two arrays of coordinates to the matrix of distances.
    algorithm : {"auto", "cells", "tree", "blocks", "brute"}, default="auto"
        All are exact; "cells" needs "cityblock", "tree" and "blocks" "cityblock" or "euclidean".
    leafsize : int, default=32
        Rows per leaf of a tree. The order of equally near rows depends on it, nothing else does.
    n_jobs : int, default=None
        Threads of the trees and of the blocks.

    Attributes
    ----------
    algorithm : {"cells", "tree", "blocks", "brute"}
        The one in use.

    Raises
    ------
    ValueError
        If `algorithm` is unknown.
    """

    def __init__(
        self, pool, nominal=None, metric="cityblock", algorithm="auto", leafsize=32, n_jobs=None
    ):
        if algorithm not in _ALGORITHMS:
            raise ValueError(f"algorithm must be one of {_ALGORITHMS}, got {algorithm!r}")
        self.pool, self.metric, self._workers = pool, metric, n_jobs or 1
        none = np.zeros(pool.shape[1], dtype=bool)
        nominal = none if nominal is None else nominal
        self._cells = _cells(pool, nominal) if algorithm in ("auto", "cells") else []
        self.algorithm = self._choose(nominal) if algorithm == "auto" else algorithm
        self._nominal, self._split = nominal, nominal if self.algorithm == "cells" else none
        if self.algorithm != "cells":
            self._cells = _cells(pool, none)
        self._trees = []
        if self.algorithm == "blocks":
            self._blocks = BlockSearch(pool, nominal, 1 + (metric == "euclidean"), n_jobs)
        elif self.algorithm != "brute":
            parts = (pool[rows][:, ~self._split] for _, rows in self._cells)
            self._trees = [cKDTree(part, leafsize=leafsize) for part in parts]

    def _choose(self, nominal):
        """Return the fastest algorithm for the pool and the metric."""
        if self.metric not in ("cityblock", "euclidean"):
            return "brute"
        is_narrow, n_numbers = self.pool.shape[1] <= TREE_COLUMNS, int((~nominal).sum())
        if self.metric == "cityblock" and 0 < n_numbers < len(nominal):
            n_cells = len(self._cells)
            is_full = len(self.pool) >= _CELL_ROWS * 2**n_numbers * n_cells
            if n_cells <= CELLS and (is_narrow or is_full):
                return "cells"
        if is_narrow:
            return "tree"
        return "blocks" if len(self.pool) > _FEW else "brute"

    def order(self, points):
        """Return an order of points in which those that visit the same rows are adjacent."""
        if self.algorithm == "blocks":
            return similar_order(points, self._nominal)
        return cKDTree(points, leafsize=64).indices

    def batch(self, width):
        """Return how many points are searched at once, so that their neighbors fit in memory."""
        if self._compares_all(width):
            return max(1, _DISTANCES // max(1, len(self.pool)))
        return max(1, _ENTRIES // width)

    def _compares_all(self, width):
        return self.algorithm == "brute" or (
            self.algorithm == "blocks" and 4 * width > len(self.pool)
        )

    def nearest(self, points, width, limit=np.inf):
        """Return the distances, ascending, and the positions of the `width` nearest rows.

        The distances of rows beyond the limit may be infinite.

        Parameters
        ----------
        points : ndarray of float, shape (m, n_coordinates)
        width : int, at most the size of the pool
        limit : float, default=infinity

        Returns
        -------
        distance, index : ndarray, shape (m, width)
        """
        step = max(_POINTS, 4 * self._blocks.size if self.algorithm == "blocks" else 0)
        has_cells = self._split.any() and not self._compares_all(width)
        cell, *by_distance = self._cells_by_distance(points) if has_cells else (None,)
        parts = []
        for start in range(0, max(len(points), 1), step):  # of no points, one empty part
            go_on("looking for neighbors")
            part = slice(start, start + step)
            parts.append(
                self._in_cells(points[part], width, cell[part], *by_distance)
                if has_cells
                else self._nearest(points[part], width, limit)
            )
        return parts[0] if len(parts) == 1 else tuple(map(np.concatenate, zip(*parts, strict=True)))

    def _nearest(self, points, width, limit):
        """Search for a part of the points."""
        if self._compares_all(width):
            return self._brute(points, width)
        if self.algorithm == "blocks":
            return self._blocks.nearest(points, width, limit)
        return self._search(0, points, width)

    def _cells_by_distance(self, points):
        """Return the cell of each point, the distances of these cells from all, and their order."""
        cell, first = places(points[:, self._split])
        of_pool = np.array([coordinates for coordinates, _ in self._cells])
        distances = between(points[first][:, self._split], of_pool, "cityblock")
        return cell, distances, np.argsort(distances, axis=1, kind="stable")

    def _in_cells(self, points, width, cell_of_point, cell_distances, orders):
        """Search for a part of the points in the trees of cells, the nearest cells first."""
        distance = np.full((len(points), width), np.inf)
        index = np.zeros((len(points), width), dtype=np.intp)
        for number in np.flatnonzero(np.bincount(cell_of_point)):
            rows, cell_distance = np.flatnonzero(cell_of_point == number), cell_distances[number]
            # Bounds only shrink and cells come by distance: once a cell is too far for all points,
            # so are those after it.
            for cell in orders[number]:
                bound = distance[rows, -1]
                near = rows[cell_distance[cell] <= bound + slack(bound)]
                if not len(near):
                    break
                members = self._cells[cell][1]
                d, i = self._search(cell, points[near][:, ~self._split], min(width, len(members)))
                _merge(distance, index, near, d + cell_distance[cell], members[i])
        return distance, index

    def _search(self, cell, points, width):
        """Search the tree of one cell."""
        p = 1 if self.metric == "cityblock" else 2
        nearest = self._trees[cell].query(points, k=width, p=p, workers=self._workers)
        return tuple(part.reshape(len(points), width) for part in nearest)

    def _brute(self, points, width):
        """Sort the nearest rows out of all distances."""
        distance = between(points, self.pool, self.metric)
        near = np.argpartition(distance, width - 1, axis=1)[:, :width]
        distance = np.take_along_axis(distance, near, axis=1)
        order = np.argsort(distance, axis=1, kind="stable")
        return tuple(np.take_along_axis(part, order, axis=1) for part in (distance, near))


def _merge(distance, index, rows, new_distance, new_index):
    """Keep the nearest of the rows found so far and of those found in another cell."""
    width = distance.shape[1]
    if np.isinf(distance[rows, 0]).all() and new_distance.shape[1] == width:
        distance[rows], index[rows] = new_distance, new_index
        return
    distances, indices = (
        np.hstack([distance[rows], new_distance]),
        np.hstack([index[rows], new_index]),
    )
    order = np.argsort(distances, axis=1, kind="stable")[:, :width]
    distance[rows] = np.take_along_axis(distances, order, axis=1)
    index[rows] = np.take_along_axis(indices, order, axis=1)


def _cells(points, nominal):
    """Return each combination of nominal coordinates and the rows with it, a list of pairs."""
    if not len(points):
        return []
    place, first = places(points[:, nominal])
    order = np.argsort(place, kind="stable")
    parts = np.split(order, np.searchsorted(place[order], np.arange(1, len(first))))
    return [(points[f, nominal], part) for f, part in zip(first, parts, strict=True)]


def places(points):
    """Number the distinct points.

    Returns `place`: the number of each point; `first`: the position of one point of each number.
    Shapes: `points` (n, n_coordinates).
    """
    if len(points) < 2 or points.shape[1] == 0:
        return np.zeros(len(points), dtype=np.intp), np.arange(min(1, len(points)))
    apart = np.arange(len(points))
    projected = _projected(points)
    place, values = pd.factorize(projected)
    if len(values) == len(points):  # all points are distinct
        return apart, apart
    first = np.unique(place, return_index=True)[1]
    pieces = [slice(i, i + _PIECE) for i in range(0, len(points), _PIECE)]
    if all((points[piece] == points[first[place[piece]]]).all() for piece in pieces):
        return place, first
    place = pd.DataFrame(points).groupby(list(range(points.shape[1])), sort=False).ngroup()
    place = place.to_numpy()
    return place, np.unique(place, return_index=True)[1]


def _projected(points):
    """Return a weighted sum of the coordinates of each point, which seldom is that of another."""
    weight = np.sqrt(2.0 + np.arange(points.shape[1]))
    pieces = range(0, len(points), _PIECE)
    return np.concatenate([(points[i : i + _PIECE] * weight).sum(axis=1) for i in pieces])
