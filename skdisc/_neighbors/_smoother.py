"""The mean over the nearest rows as a linear map, for rows with ties."""

import numpy as np
from scipy import sparse

from skdisc._neighbors._nearest import NearestSearch, places, shares_up_to, slack


class NearestSmoother:
    r"""Means over the k nearest other rows, :math:`W v`, and their transpose :math:`W^T u`.

    Rows as far away as the k-th share the places that are left, as in `NeighborSums`; a row is not
    its own neighbor.

    Parameters
    ----------
    points : ndarray of float, shape (n, n_coordinates)
    k : int
        At most n - 1.
    limit : float, default=infinity
        Rows farther away are not neighbors.
    nominal, metric, n_jobs
        As in `NearestSearch`.

    Attributes
    ----------
    n_neighbors : ndarray of float, shape (n,)
        Number of neighbors of each row: k, or fewer inside the limit.

    Examples
    --------
    >>> near = NearestSmoother(np.array([[0.0], [1.0], [3.0], [3.0]]), 2)
    >>> near.means(np.array([[1.0], [0.0], [2.0], [4.0]])).ravel().tolist()
    [1.5, 2.0, 2.0, 1.0]
    """

    def __init__(self, points, k, *, limit=np.inf, nominal=None, metric="cityblock", n_jobs=None):
        self._place, first = places(points)
        self._counts = np.bincount(self._place).astype(float)
        search = NearestSearch(points[first], nominal, metric, n_jobs=n_jobs)
        parts, size, order = [], search.batch(k + 8), search.order(points[first])
        for start in range(0, len(first), size):
            rows = order[start : start + size]
            parts.append(self._shares(search, points[first[rows]], rows, k, limit))
        share = sparse.vstack(parts).tocsr()[np.argsort(order)]
        share_of_self = share.diagonal()
        total = share @ self._counts - share_of_self
        scale = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
        self._weights = (sparse.diags(scale) @ share).tocsr()
        self._weight_of_self = (share_of_self * scale)[self._place][:, None]
        self.n_neighbors = total[self._place]

    def means(self, values):
        """Return the mean of the neighbors of each row, shape (n, n_values); 0 without any."""
        return (self._weights @ self._summed(values))[self._place] - self._weight_of_self * values

    def spread(self, values):
        """Return, for each row, the sum of values times its weight in the means of the others."""
        return (self._weights.T @ self._summed(values))[self._place] - self._weight_of_self * values

    def means_outside(self, values, cluster):
        """Return the means of the neighbors of each row that are not of its own cluster.

        `cluster`: numbers 0, 1, ... Returns an ndarray of float: if all neighbors of a row are of
        its cluster, their mean.
        """
        size, inside = (len(self._counts), cluster.max(initial=-1) + 1), []
        for column in (values, np.ones(len(values))):
            sums = sparse.csr_matrix((column, (self._place, cluster)), shape=size)
            of_own = np.asarray((self._weights @ sums)[self._place, cluster]).ravel()
            inside.append(of_own - self._weight_of_self[:, 0] * column)
        means, outside = self.means(values[:, None])[:, 0], 1 - inside[1]
        has_neighbors = (outside > 1e-9) & (self.n_neighbors > 0)
        return np.where(
            has_neighbors, (means - inside[0]) / np.where(has_neighbors, outside, 1.0), means
        )

    def _summed(self, values):
        """Return the sums of the values at each place."""
        size = len(self._counts)
        return np.column_stack([np.bincount(self._place, v, minlength=size) for v in values.T])

    def _shares(self, search, points, rows, k, limit):
        """Return the share of one of k places of each row at each place, a sparse matrix."""
        n, width = len(self._counts), min(len(self._counts), k + 8)
        while True:
            distance, index = search.nearest(points, width, limit)
            counts = self._counts[index] - (index == rows[:, None])
            reached = counts.cumsum(axis=1) >= k
            kth = np.where(reached[:, -1], reached.argmax(axis=1), width - 1)
            bound = distance[np.arange(len(rows)), kth][:, None]
            last = distance[:, -1:]
            is_done = (reached[:, -1:] & (last > bound + slack(bound))) | (
                last - slack(last) > limit
            )
            if width == n or is_done.all():
                break
            width = min(n, 2 * width)
        share = shares_up_to(bound, distance, k, counts)
        share *= (distance - slack(distance) <= limit) & np.isfinite(distance)
        kth = np.repeat(np.arange(len(rows)), width), index.ravel()
        matrix = sparse.csr_matrix((share.ravel(), kth), shape=(len(rows), n))
        matrix.eliminate_zeros()
        return matrix
