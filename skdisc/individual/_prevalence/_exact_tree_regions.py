"""The exact set of discriminatory inputs of a tree or a forest, as disjoint regions."""

import sys
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skdisc._space._codes import MISSING, NO_COLUMN
from skdisc.individual._prober import n_inputs

_SLOTS = 2**17  # pairs of a region and a tree walked down at once
_WORD = 64  # bits
_LEFT, _RIGHT = 1, 2


@dataclass
class Regions:
    """Disjoint products of sets of codes, one set per column; protected columns are free.

    Attributes
    ----------
    allowed : list of ndarray of bool, one of shape (n_regions, n_codes) per column
    sizes : ndarray of float, shape (n_regions,)
        Number of inputs in each region; NaN where all inputs are too many for a float.
    shares : ndarray of float, shape (n_regions,)
        Share of all inputs in each region.
    """

    allowed: list
    sizes: np.ndarray
    shares: np.ndarray

    def middles(self, space):
        """Return one input of each region as codes: the middle one of the allowed codes."""
        rows = np.zeros((len(self.sizes), len(space)), dtype=np.int64)
        for j in space.np_index:
            count = np.cumsum(self.allowed[j], axis=1)
            rows[:, j] = (count > (count[:, -1:] - 1) // 2).argmax(axis=1)
        sizes = np.array([c.size for c in space.columns])
        return np.where(rows == sizes, MISSING, rows)  # a missing value is the last one allowed

    def contain(self, space, codes):
        """Return a boolean mask of the rows of codes that lie in a region."""
        within = np.ones((len(self.sizes), len(codes)), dtype=bool)
        for j in space.np_index:
            within &= self.allowed[j][:, codes[:, j]]
        return within.any(axis=0)


class _ForestNodes:
    """The nodes of several trees as parallel arrays.

    Attributes
    ----------
    roots : ndarray of int, shape (n_trees,)
    left, right, feature : ndarray of int, shape (n_nodes,)
        Children and feature; only those of inner nodes matter.
    is_inner : ndarray of bool, shape (n_nodes,)
    threshold : ndarray of float, shape (n_nodes,)
    shares : ndarray of float, shape (n_nodes, n_classes)
        Share of each class.
    """

    def __init__(self, trees):
        counts = [t.node_count for t in trees]
        self.roots = np.cumsum([0, *counts[:-1]])
        shift = np.repeat(self.roots, counts)
        self.left = np.concatenate([t.children_left for t in trees]) + shift
        self.right = np.concatenate([t.children_right for t in trees]) + shift
        self.is_inner = np.concatenate([t.children_left for t in trees]) >= 0
        self.feature = np.concatenate([t.feature for t in trees])
        self.threshold = np.concatenate([t.threshold for t in trees])
        shares = np.concatenate([t.value[:, 0, :] for t in trees])
        self.shares = shares / shares.sum(axis=1, keepdims=True)


class _CodeClasses:
    """The codes of each column in classes that no node tells apart, and sets of classes as bits.

    Attributes
    ----------
    of_code, first : list of ndarray of int, one per column
        The class of each code, and one code of each class.
    words : ndarray of int, shape (n_columns + 1,)
        First 64-bit word of each column in a set.
    """

    def __init__(self, nodes, inputs):
        self.of_code, self.first = [], []
        for j, values in enumerate(inputs.values):
            cells = [np.zeros(len(values), np.int64)]
            for k in np.flatnonzero(inputs.column == j):
                cuts = np.unique(nodes.threshold[nodes.is_inner & (nodes.feature == k)])
                cells.append(np.searchsorted(cuts, values[:, k].astype(np.float32), side="left"))
            _, first, of_code = np.unique(
                np.column_stack(cells), axis=0, return_index=True, return_inverse=True
            )
            self.of_code.append(of_code.ravel())
            self.first.append(first)
        self.words = np.cumsum([0, *(-(-len(first) // _WORD) for first in self.first)])

    def bits(self, j):
        """Return the slice of the bits of column j in a set."""
        start = self.words[j] * _WORD
        return slice(start, start + len(self.first[j]))

    def packed(self, flags):
        """Return flags, one per bit, as sets."""
        return np.packbits(flags, axis=1).view(np.uint64)

    @cached_property
    def everything(self):
        """The set of all classes of all columns, shape (1, n_words)."""
        flags = np.zeros((1, self.words[-1] * _WORD), dtype=bool)
        for j in range(len(self.first)):
            flags[0, self.bits(j)] = True
        return self.packed(flags)

    def regions(self, sets, space):
        flags = np.unpackbits(sets.view(np.uint8), axis=1).astype(bool)
        allowed = [flags[:, self.bits(j)][:, self.of_code[j]] for j in range(len(space))]
        counts = {j: allowed[j].sum(axis=1) for j in space.np_index}
        total = n_inputs(space)
        if total <= sys.float_info.max:
            sizes = np.ones(len(flags))
            for n in counts.values():
                sizes *= n
            return Regions(allowed, sizes, sizes / float(total))
        shares = np.ones(len(flags))  # 200 numbers in 100 bins make 1e400 inputs
        for j, n in counts.items():
            shares *= n / allowed[j].shape[1]
        return Regions(allowed, np.full(len(flags), np.nan), shares)


class _Sides:
    """Which inputs go left and which go right at each inner node.

    Attributes
    ----------
    column : ndarray of int, shape (n_nodes,)
        The unprotected column that a node depends on, `NO_COLUMN` otherwise.
    left, right : ndarray of uint64, shape (n_nodes, n_words)
        The sets of classes of this column that go left and right.
    fixed : ndarray of int, shape (n_nodes, n_combos)
        Where the node depends on no unprotected column: the side of each protected combination.
    """

    def __init__(self, nodes, inputs, classes, combos, space):
        n = len(nodes.feature)
        left = np.zeros((n, classes.words[-1] * _WORD), dtype=bool)
        right = left.copy()
        self.column = np.full(n, NO_COLUMN)
        self.fixed = np.zeros((n, len(combos)), dtype=np.int8)
        place = {int(j): p for p, j in enumerate(space.p_index)}
        for k in np.unique(nodes.feature[nodes.is_inner]):
            splits = np.flatnonzero(nodes.is_inner & (nodes.feature == k))
            j, cuts = inputs.column[k], nodes.threshold[splits][:, None]
            # Trees of scikit-learn compare values in single precision: in double precision, values
            # close to a threshold would go to the other side.
            values = inputs.values[max(j, 0)][:, k].astype(np.float32)
            if j == NO_COLUMN or j in place:
                codes = np.zeros(len(combos), int) if j == NO_COLUMN else combos[:, place[j]]
                self.fixed[splits] = np.where(values[codes] <= cuts, _LEFT, _RIGHT)
                continue
            self.column[splits] = j
            goes_left = values[classes.first[j]] <= cuts
            left[splits, classes.bits(j)], right[splits, classes.bits(j)] = goes_left, ~goes_left
        self.left, self.right = classes.packed(left), classes.packed(right)


class _Walker:
    """Walks down all trees at once, for all protected combinations.

    A slot is a tree under one combination; slots of the same tree are neighbors.
    """

    def __init__(self, trees, inputs, combos, space):
        self.nodes = _ForestNodes(trees)
        self.classes = _CodeClasses(self.nodes, inputs)
        self.sides = _Sides(self.nodes, inputs, self.classes, combos, space)
        self.n_trees, self.n_combos = len(trees), len(combos)
        self.combo = np.tile(np.arange(len(combos)), len(trees))  # of each slot

    def start(self):
        """Return the set of all inputs, and the node that it reaches in each slot."""
        region = self.classes.everything
        reached_nodes = np.repeat(self.nodes.roots, self.n_combos).astype(np.int32)[None, :]
        return region, self.down(region, reached_nodes, self.nodes.is_inner[reached_nodes])

    def down(self, sets, reached_nodes, may_move):
        """Return the nodes after walking down as long as a whole set goes to one side.

        Parameters
        ----------
        sets : ndarray of uint64, shape (n_sets, n_words)
        reached_nodes : ndarray of int, shape (n_sets, n_slots)
            Changed in place.
        may_move : ndarray of bool, shape (n_sets, n_slots)
        """
        rows, slots = np.nonzero(may_move)
        while len(rows):
            node = reached_nodes[rows, slots]
            left, right = self._reaches(sets, rows, node, self.combo[slots])
            moves = left != right
            rows, slots, node = rows[moves], slots[moves], node[moves]
            node = np.where(left[moves], self.nodes.left[node], self.nodes.right[node])
            reached_nodes[rows, slots] = node
            inner = self.nodes.is_inner[node]
            rows, slots = rows[inner], slots[inner]
        return reached_nodes

    def _reaches(self, sets, rows, node, combo):
        """Return whether any input of these sets goes left, and whether any goes right."""
        fixed = self.sides.fixed[node, combo]
        left, right = fixed == _LEFT, fixed == _RIGHT
        column = self.sides.column[node]
        for j in np.unique(column[column != NO_COLUMN]):
            positions, words = np.flatnonzero(column == j), slice(*self.classes.words[j : j + 2])
            inputs, nodes = sets[rows[positions], words], node[positions]
            left[positions] = (inputs & self.sides.left[nodes, words]).any(axis=1)
            right[positions] = (inputs & self.sides.right[nodes, words]).any(axis=1)
        return left, right

    def halves(self, sets, reached_nodes, inner):
        """Cut each set in two at its first inner node, and walk on with both halves."""
        node = reached_nodes[np.arange(len(reached_nodes)), inner.argmax(axis=1)]
        halves = np.concatenate([sets & ~self.sides.right[node], sets & ~self.sides.left[node]])
        reached_nodes = np.concatenate([reached_nodes, reached_nodes])
        column = np.tile(self.sides.column[node], 2)
        return halves, self.down(
            halves, reached_nodes, self.sides.column[reached_nodes] == column[:, None]
        )

    def is_unequal(self, leaves, favorable):
        """Return a mask of the rows of leaves where decisions differ among the combinations.

        As in a forest, the class shares of the trees are added up.
        """
        shares = self.nodes.shares[leaves]
        shape = len(leaves), self.n_trees, self.n_combos, shares.shape[2]
        total = shares.reshape(shape).sum(axis=1)
        decided = favorable[total.argmax(axis=2)]
        return decided.any(axis=1) & ~decided.all(axis=1)


def tree_regions(trees, favorable, inputs, combos, space, max_regions, in_time):
    """Return the discriminatory inputs of trees as `Regions`, or None if there are too many.

    A set of inputs is cut in two at a node that it reaches as a whole and that sends its inputs to
    both sides. A set that reaches a leaf in each tree as a whole has one decision per combination.

    Parameters
    ----------
    trees : list of sklearn.tree._tree.Tree
    favorable : ndarray of bool, shape (n_classes,)
    inputs : Inputs
    combos : ndarray of int, shape (n_combos, n_protected)
    space : FeatureSpace
    max_regions : int
        Limit on all sets, discriminatory or not.
    in_time : callable
        Called between batches; if it returns False, the result is None.

    Returns
    -------
    Regions or None
    """
    walker = _Walker(trees, inputs, combos, space)
    stack, unequal_sets, n_done = [walker.start()], [], 0
    at_once = max(1, _SLOTS // len(walker.combo))
    while stack:
        sets, reached_nodes = stack.pop()
        if len(sets) > at_once:
            stack.append((sets[at_once:], reached_nodes[at_once:]))
            sets, reached_nodes = sets[:at_once], reached_nodes[:at_once]
        inner = walker.nodes.is_inner[reached_nodes]
        is_open = inner.any(axis=1)
        unequal_sets.append(sets[~is_open][walker.is_unequal(reached_nodes[~is_open], favorable)])
        n_done += int((~is_open).sum())
        if n_done + sum(len(sets) for sets, _ in stack) > max_regions or not in_time():
            return None
        if is_open.any():
            stack.append(walker.halves(sets[is_open], reached_nodes[is_open], inner[is_open]))
    return walker.classes.regions(np.concatenate(unequal_sets), space)
