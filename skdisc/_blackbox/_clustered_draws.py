"""ClusteredDraws: draws for rows in clusters, as alike as the values of a column are there."""

import numpy as np
from scipy import special

_GRID, _TIMES = np.linspace(0, 1, 21), 4  # correlations tried, and draws by each


class ClusteredDraws:
    r"""Draws of classes and donors for rows in clusters.

    Each row draws by the uniform number :math:`\Phi(\sqrt{r} z + \sqrt{1 - r} e)`, z a normal
    number of its cluster and e its own (a Gaussian copula), so each has the probabilities given.
    The correlation r is that by which classes within clusters agree, beyond what the probabilities
    say, as much as those of the rows themselves; 0 if they agree less. If a cluster has one class,
    r is 1, and its rows draw from the mean of their probabilities.

    Parameters
    ----------
    cluster : ndarray of int, shape (n_rows,)
        Numbers 0, 1, ...
    classes : ndarray of int, shape (n_rows,)
        The class of each row, in a column of ...
    codes : ndarray of int, shape (n_rows,)
        ... these values.
    of_class : ndarray of float, shape (n_rows, n_classes)
        Probabilities of the classes.
    """

    def __init__(self, cluster, classes, codes, of_class):
        self._cluster, self._n = cluster, cluster.max(initial=-1) + 1
        first = np.unique(cluster, return_index=True)[1]
        self.is_shared = bool((codes == codes[first][cluster]).all())
        self.correlation = 1.0 if self.is_shared else self._like(classes, of_class)

    def donors(self, of_class, members, rng):
        """Draw a row for each row: one of the members of the class that it draws.

        `members`: the rows of each class. Shapes: `of_class` (n_rows, n_classes).
        """
        if self.is_shared:
            of_class = (self._sums(of_class) / np.bincount(self._cluster)[:, None])[self._cluster]
        u, v = (self._uniform(*self._normals(rng), self.correlation) for _ in range(2))
        row_class, last_member = drawn(of_class, u), np.array([len(m) - 1 for m in members])
        last = last_member[row_class]
        member = np.minimum((v * (last + 1)).astype(np.intp), last)
        first = (np.cumsum(last_member + 1) - last_member - 1)[row_class]
        return np.concatenate(members)[first + member]

    def permuted(self, classes, rng):
        """Return classes, one for each cluster, that were permuted over the clusters."""
        first = np.unique(self._cluster, return_index=True)[1]
        return rng.permutation(classes[first])[self._cluster]

    def _normals(self, rng):
        return rng.normal(size=self._n), rng.normal(size=len(self._cluster))

    def _uniform(self, shared, individual, correlation):
        z = np.sqrt(correlation) * shared[self._cluster] + np.sqrt(1 - correlation) * individual
        return special.ndtr(z)

    def _sums(self, of_class):
        return np.stack([np.bincount(self._cluster, p, self._n) for p in of_class.T], axis=1)

    def _like(self, classes, of_class):
        """Return the correlation by which draws agree within clusters as some classes do."""
        rng, expected = np.random.default_rng(0), []
        normals = [self._normals(rng) for _ in range(_TIMES)]
        for r in _GRID:
            draws = [drawn(of_class, self._uniform(*pair, r)) for pair in normals]
            expected.append(np.mean([self._agreement(d, of_class) for d in draws]))
        agreement = self._agreement(classes, of_class)
        return float(np.interp(agreement, np.maximum.accumulate(expected), _GRID))

    def _agreement(self, classes, of_class):
        """Return the sum of products of residuals over the pairs of rows within clusters."""
        residual = -of_class
        residual[np.arange(len(classes)), classes] += 1
        return (self._sums(residual) ** 2).sum() - (residual**2).sum()


def drawn(of_class, uniform):
    """Return the class of each row by uniform numbers, given its probabilities."""
    upper = of_class.cumsum(axis=1)
    return (upper < uniform[:, None] * upper[:, -1:]).sum(axis=1)
