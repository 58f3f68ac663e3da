"""The paths to the leaves of a decision tree, and the changes that negate conditions on them."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Changes:
    """Changes of one column that negate one condition on the path to a leaf.

    Attributes
    ----------
    leaf : ndarray of int
        Which of the leaves; other attributes are parallel to it.
    column, value : ndarray of int
        The column of the condition, and the code with which it does not hold that is nearest to
        those at the leaf.
    confidence : ndarray of float
        Mean confidence of the conditions kept and of the one negated.
    """

    leaf: np.ndarray
    column: np.ndarray
    value: np.ndarray
    confidence: np.ndarray

    def at(self, which):
        """Return the changes that a mask, or positions, choose."""
        return Changes(*(a[which] for a in vars(self).values()))


class _Nodes:
    """The condition that leads to each node of a tree, from the node above; the root has none.

    It says that a column is at most `cut` (left), or above it. Its confidence is the share of the
    samples at the node above that meet it; `total` sums those from the root.
    """

    def __init__(self, tree, columns, free, least):
        n, inner = tree.node_count, np.flatnonzero(tree.children_left >= 0)
        self.above, self.is_left = np.zeros(n, np.intp), np.zeros(n, dtype=bool)
        for side in (tree.children_left, tree.children_right):
            self.above[side[inner]] = inner
        self.is_left[tree.children_left[inner]] = True
        self.column = columns[np.maximum(tree.feature, 0)][self.above]
        self.cut = np.floor(tree.threshold).astype(np.int64)[self.above]
        self.share = tree.n_node_samples / tree.n_node_samples[self.above]
        unsure = free[:, self.column].any(axis=0) & (self.share < least)
        self.depth, self.total = np.zeros(n, np.int64), np.zeros(n)
        self.is_sure = np.ones(n, dtype=bool)  # no condition so far that could be negated is unsure
        level = np.zeros(1, np.intp)
        while len(level := level[tree.children_left[level] >= 0]):
            for side in (tree.children_left, tree.children_right):
                below = side[level]
                self.depth[below] = self.depth[level] + 1
                self.total[below] = self.total[level] + self.share[below]
                self.is_sure[below] = self.is_sure[level] & ~unsure[below]
            level = np.concatenate([tree.children_left[level], tree.children_right[level]])


def changes(tree, leaves, columns, free, least):
    """Return the `Changes` of leaves: with all other conditions kept, and with those above.

    With all others kept, a condition can be negated if it is the tightest on its side of its
    column; with those above kept, if they and itself are confident.

    Parameters
    ----------
    tree : sklearn.tree._tree.Tree
        Grown on `columns` of the codes.
    leaves : ndarray of int
        Nodes of the tree.
    columns : ndarray of int
        Columns of the space that are its features.
    free : ndarray of bool, shape (2, n_columns of the space)
        Whether each column may go down, and up.
    least : float
        The least confidence.
    """
    nodes = _Nodes(tree, columns, free, least)
    leaf, node = np.arange(len(leaves)), leaves
    passed = np.zeros((2, len(leaves), free.shape[1]), dtype=bool)
    empty = Changes(leaf[:0], leaf[:0], leaf[:0], np.zeros(0))
    parts = [empty], [empty]
    while (node > 0).any():  # from the leaves upwards
        leaf, node = leaf[node > 0], node[node > 0]
        left, column, share = nodes.is_left[node].astype(int), nodes.column[node], nodes.share[node]
        can, value = free[left, column], nodes.cut[node] + left
        tightest, passed[left, leaf, column] = ~passed[left, leaf, column], True
        for part, end, able in zip(
            parts, (leaves[leaf], node), (tightest, nodes.is_sure[node]), strict=True
        ):
            of = np.flatnonzero(can & able)
            mean = (nodes.total[end[of]] + 1 - 2 * share[of]) / nodes.depth[end[of]]
            part.append(Changes(leaf[of], column[of], value[of], mean))
        node = nodes.above[node]
    return [_joined(part) for part in parts]


def _joined(parts):
    return Changes(
        *(np.concatenate(p) for p in zip(*(vars(c).values() for c in parts), strict=True))
    )
