"""Paths of inputs through a decision tree, as arrays, and what negating their conditions gives."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Paths:
    """The conditions that inputs meet on their way to a leaf, from the top; shape (n, depth).

    Attributes
    ----------
    column : ndarray of int
        The column of the space; -1 beyond the end of a path.
    cut : ndarray of int
        Codes up to this one go left.
    is_left : ndarray of bool
        Which way the input went.
    confidence : ndarray of float
        Share of the samples at the node that go this way.
    is_free : ndarray of bool
        Whether the column may be changed.
    """

    column: np.ndarray
    cut: np.ndarray
    is_left: np.ndarray
    confidence: np.ndarray
    is_free: np.ndarray

    @property
    def others(self):
        """For each condition all others on the path, shape (n, depth, depth)."""
        depth = self.column.shape[1]
        return (self.column >= 0)[:, None, :] & ~np.eye(depth, dtype=bool)

    @property
    def above(self):
        """For each condition those above it on which something depends, shape (n, depth, depth)."""
        depth = self.column.shape[1]
        return (self.column >= 0)[:, None, :] & np.tri(depth, k=-1, dtype=bool)

    @property
    def value(self):
        """The code nearest to the input's own with which each condition does not hold."""
        return np.where(self.is_left, self.cut + 1, self.cut)

    def can_be_negated(self, kept):
        """Say which conditions can be negated while those in `kept` still hold."""
        value = self.value[:, :, None]
        cut, left = self.cut[:, None, :], self.is_left[:, None, :]
        holds = np.where(left, value <= cut, value > cut)
        same = self.column[:, :, None] == self.column[:, None, :]
        return (self.column >= 0) & self.is_free & (holds | ~same | ~kept).all(axis=2)

    def down_to(self, least):
        """Say which conditions have none above them, nor themselves, below this confidence."""
        return np.cumprod((self.confidence >= least) | ~self.is_free, axis=1).astype(bool)

    def confidence_among(self, kept):
        """Return the mean confidence of the conditions kept and of the one negated."""
        total = (self.confidence[:, None, :] * kept).sum(axis=2) + 1 - self.confidence
        return total / (kept.sum(axis=2) + 1)

    def keys(self, kept):
        """Return a 64-bit key of each set of conditions: those kept, and one negated."""
        with np.errstate(over="ignore"):
            base = (self.column * 2).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
            base ^= (self.cut.astype(np.uint64) + np.uint64(7)) * np.uint64(0xBF58476D1CE4E5B9)
            way = [_mixed(base + np.uint64(side)) for side in (0, 1)]
            own = np.where(self.is_left, way[0], way[1])
            opposite = np.where(self.is_left, way[1], way[0])
            return (own[:, None, :] * kept).sum(axis=2, dtype=np.uint64) + opposite

    def negated(self, rows):
        """Return the inputs with each condition negated, shape (n, depth, n_columns)."""
        made = np.repeat(rows[:, None, :], self.column.shape[1], axis=1)
        at = np.maximum(self.column, 0)[:, :, None]
        np.put_along_axis(made, at, self.value[:, :, None], axis=2)
        return made


def _mixed(z):
    for shift, factor in ((30, 0x94D049BB133111EB), (27, 0xBF58476D1CE4E5B9)):
        z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    return z ^ (z >> np.uint64(31))


def paths(tree, rows, columns, free):
    """Walk rows of codes down a tree.

    Parameters
    ----------
    tree : sklearn.tree._tree.Tree
        Grown on `columns` of the codes.
    rows : ndarray of int, shape (n, n_columns)
    columns, free : ndarray of int
        Columns of the space that are its features; those that may be changed.

    Returns
    -------
    Paths
    """
    n, depth = len(rows), max(tree.max_depth, 1)
    made = Paths(
        np.full((n, depth), -1),
        np.zeros((n, depth), np.int64),
        np.zeros((n, depth), bool),
        np.ones((n, depth)),
        np.zeros((n, depth), bool),
    )
    node, here = np.zeros(n, np.intp), np.arange(n)
    for level in range(depth):
        inner = tree.children_left[node] >= 0
        column = np.where(inner, columns[np.maximum(tree.feature[node], 0)], -1)
        cut = np.floor(tree.threshold[node]).astype(np.int64)
        left = rows[here, np.maximum(column, 0)] <= cut
        child = np.where(left, tree.children_left[node], tree.children_right[node])
        share = tree.n_node_samples[child] / tree.n_node_samples[node]
        made.column[:, level], made.cut[:, level] = column, np.where(inner, cut, 0)
        made.is_left[:, level] = left & inner
        made.confidence[:, level] = np.where(inner, share, 1.0)
        made.is_free[:, level] = np.isin(column, free)
        node = np.where(inner, child, node)
    return made
