"""Exact nearest neighbours in mixed columns, ties shared."""

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from skdisc._utils._scalars import of_numbers

_TREE_COLUMNS = 20  # beyond, a tree looks at nearly everything
_CHUNK = 1000


class MixedSpace:
    r"""Columns as coordinates whose Manhattan distance is that of situation testing.

    .. math:: d(u, v) = \sum_j w_j d_j(u_j, v_j)

    with :math:`d_j = |u_j - v_j| / scale_j` for numbers and 1 or 0, whether they differ, for
    categories: indicators over 2, since a difference moves two of them by ½.

    Parameters
    ----------
    X : DataFrame or array-like of shape (n, n_columns)
        Where ranges, deviations and categories are learned.
    scale : {"range", "std"}, default="range"
        Unit of numbers. A constant column contributes 0.

    Examples
    --------
    >>> space = MixedSpace(pd.DataFrame({"age": [20, 60], "job": ["a", "b"]}))
    >>> space.encode(pd.DataFrame({"age": [30], "job": ["b"]}))
    array([[0.75, 0.  , 0.5 ]])
    """

    def __init__(self, X, scale="range"):
        if scale not in ("range", "std"):
            raise ValueError(f'scale must be "range" or "std", got {scale!r}')
        frame = _frame(X)
        self.columns = []
        for j in range(frame.shape[1]):
            column = frame.iloc[:, j]
            if not of_numbers(column.dtype):
                self.columns.append(pd.unique(column))
                continue
            values = column.to_numpy(dtype=float)
            unit = np.ptp(values) if scale == "range" else values.std()
            self.columns.append(float(unit) if unit > 0 else np.inf)

    @property
    def nominal(self):
        """Which coordinates are indicators of categories, a bool array."""
        sizes = [1 if isinstance(c, float) else len(c) for c in self.columns]
        kinds = [not isinstance(c, float) for c in self.columns]
        return np.repeat(np.array(kinds, dtype=bool), sizes)

    def encode(self, X):
        """Return coordinates, shape (n, n_coordinates)."""
        frame, parts = _frame(X), []
        for j, known in enumerate(self.columns):
            column = frame.iloc[:, j]
            if isinstance(known, float):
                parts.append(column.to_numpy(dtype=float)[:, None] / known)
            else:
                parts.append((column.to_numpy()[:, None] == np.asarray(known)[None, :]) / 2)
        return np.hstack(parts).astype(float)


class Neighbors:
    """The k nearest of a pool, exactly, whatever the order of its rows.

    Rows equally far away as the k-th share what is left of the k places, so that the answer does
    not depend on the order of the rows.

    Parameters
    ----------
    pool : ndarray of shape (n, n_coordinates)

    Examples
    --------
    >>> index, weight = Neighbors(np.array([[0.0], [1.0], [3.0], [3.0]])).query([[0.0]], 3)
    >>> sorted(index[0].tolist()), weight.tolist()
    ([0, 1, 2, 3], [[1.0, 1.0, 0.5, 0.5]])
    """

    def __init__(self, pool):
        self.pool = np.asarray(pool, dtype=float)
        self.tree = cKDTree(self.pool) if self.pool.shape[1] <= _TREE_COLUMNS else None

    def query(self, points, k, *, own=None):
        """Return neighbours and the share of a place that each has, both of shape (m, width).

        Parameters
        ----------
        points : array-like of shape (m, n_coordinates)
        k : int
        own : array-like of int, shape (m,), default=None
            Row of the pool that each point is itself, and that is no neighbour of it.
        """
        points = np.asarray(points, dtype=float)
        n = len(self.pool)
        if not 1 <= k <= n - (own is not None):
            raise ValueError(f"n_neighbors must lie between 1 and {n - (own is not None)}, got {k}")
        own = np.full(len(points), -1) if own is None else np.asarray(own)
        parts = [
            self._some(points[i : i + _CHUNK], k, own[i : i + _CHUNK])
            for i in range(0, len(points), _CHUNK)
        ]
        width = max((index.shape[1] for index, _ in parts), default=k)
        padded = (
            [np.pad(p, ((0, 0), (0, width - p.shape[1]))) for p in q]
            for q in zip(*parts, strict=True)
        )
        return tuple(np.vstack(part) for part in padded)

    def _some(self, points, k, own):
        """Widen the search until no row as near as the k-th can be left out."""
        n, width = len(self.pool), min(len(self.pool), k + 8)
        while True:
            distance, index = self._nearest(points, width)
            distance = np.where(index == own[:, None], np.inf, distance)
            order = np.argsort(distance, axis=1, kind="stable")
            distance, index = (np.take_along_axis(a, order, axis=1) for a in (distance, index))
            bound = distance[:, k - 1 : k]
            slack = 1e-9 * (1 + bound)
            last = np.where(np.isinf(distance), -np.inf, distance).max(axis=1)
            if width == n or np.all(last > bound[:, 0] + slack[:, 0]):
                break
            width = min(n, 2 * width)
        inside, tied = distance < bound - slack, np.abs(distance - bound) <= slack
        left = (k - inside.sum(axis=1)) / np.maximum(tied.sum(axis=1), 1)
        weight = np.where(inside, 1.0, np.where(tied, left[:, None], 0.0))
        used = max(k, int((weight > 0).sum(axis=1).max(initial=0)))
        return index[:, :used], weight[:, :used]

    def _nearest(self, points, width):
        if self.tree is not None:
            distance, index = self.tree.query(points, k=width, p=1)
            return distance.reshape(len(points), width), index.reshape(len(points), width)
        distance = cdist(points, self.pool, "cityblock")
        index = np.argpartition(distance, width - 1, axis=1)[:, :width]
        return np.take_along_axis(distance, index, axis=1), index


def _frame(X):
    frame = pd.DataFrame(X).infer_objects()
    gone = frame.isna().any()
    if gone.any():
        raise ValueError(
            f"columns {list(gone.index[gone])!r} of X have missing values (NaN), which have no "
            "distance; fill them in first"
        )
    return frame
