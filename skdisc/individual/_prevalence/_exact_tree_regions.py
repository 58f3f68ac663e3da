"""The exact set of inputs that trees, or a margin of one part per column, decide unequally."""

import math
from dataclasses import dataclass

import numpy as np

_SLOTS = 2**17
_CELLS = 2**16
_WORD = 64


@dataclass
class Regions:
    """Disjoint products of sets of codes, one set per column; protected columns are free.

    Attributes
    ----------
    allowed : list of ndarray of bool, one of shape (n_regions, n_codes) per column
    sizes : ndarray of float, shape (n_regions,)
        Inputs in each region.
    """

    allowed: list
    sizes: np.ndarray

    def middles(self, space):
        """Return one input of each region, as codes: the middle one of what is allowed."""
        rows = np.zeros((len(self.sizes), len(space)), dtype=np.int64)
        for j in space.np_index:
            count = np.cumsum(self.allowed[j], axis=1)
            rows[:, j] = (count > (count[:, -1:] - 1) // 2).argmax(axis=1)
        return _with_missing(space, rows)

    def contain(self, space, codes):
        """Say which rows of codes lie in a region."""
        within = np.ones((len(self.sizes), len(codes)), dtype=bool)
        for j in space.np_index:
            within &= self.allowed[j][:, codes[:, j]]
        return within.any(axis=0)


def _with_missing(space, rows):
    """Turn the last code of columns that can be missing into that of a missing value."""
    sizes = np.array([c.size for c in space.columns])
    return np.where(rows == sizes, -1, rows)


class _Splits:
    """The inner nodes of some trees, as sets of classes of codes that go left and right.

    Codes of a column that no node tells apart are one class. Sets are packed bits; each column
    begins with a word of its own.
    """

    def __init__(self, trees, inputs, combos, space):
        offsets = np.cumsum([0, *(t.node_count for t in trees)])
        self.roots = offsets[:-1]
        shift = np.repeat(offsets[:-1], [t.node_count for t in trees])
        left = np.concatenate([t.children_left for t in trees])
        right = np.concatenate([t.children_right for t in trees])
        self.is_inner = left >= 0
        self.left = np.where(self.is_inner, left + shift, -1)
        self.right = np.where(self.is_inner, right + shift, -1)
        self.feature = np.where(self.is_inner, np.concatenate([t.feature for t in trees]), 0)
        self.threshold = np.concatenate([t.threshold for t in trees])
        shares = np.concatenate([t.value[:, 0, :] for t in trees])
        self.shares = shares / shares.sum(axis=1, keepdims=True)
        self._find_classes(inputs, space)
        self._pack(inputs, combos, space)

    def _find_classes(self, inputs, space):
        """Number the classes of codes of each column; `some` has one code of each class."""
        self.of_code, self.some = [], []
        for j, values in enumerate(inputs.values):
            cells = [np.zeros(len(values), np.int64)]
            for k in np.flatnonzero(inputs.column == j):
                cuts = np.unique(self.threshold[self.is_inner & (self.feature == k)])
                cells.append(np.searchsorted(cuts, values[:, k].astype(np.float32), side="left"))
            _, some, of_code = np.unique(
                np.column_stack(cells), axis=0, return_index=True, return_inverse=True
            )
            self.of_code.append(of_code.ravel())
            self.some.append(some)
        self.words = np.cumsum([0, *(-(-len(some) // _WORD) for some in self.some)])
        self.starts = self.words[:-1] * _WORD

    def _pack(self, inputs, combos, space):
        n = self.words[-1] * _WORD
        goes_left = np.zeros((len(self.feature), n), dtype=bool)
        goes_right = goes_left.copy()
        fixed = np.full((len(self.feature), len(combos)), 0, dtype=np.int8)  # 1 left, 2 right
        self.column = np.full(len(self.feature), -1)
        slot = {int(j): p for p, j in enumerate(space.p_index)}
        for node in np.flatnonzero(self.is_inner):
            k, cut = self.feature[node], self.threshold[node]
            j = inputs.column[k]
            if j < 0 or j in slot:
                values = inputs.values[max(j, 0)][:, k].astype(np.float32)
                codes = combos[:, slot[j]] if j >= 0 else np.zeros(len(combos), np.int64)
                fixed[node] = np.where(values[codes] <= cut, 1, 2)
                continue
            self.column[node] = j
            here = slice(self.starts[j], self.starts[j] + len(self.some[j]))
            left = inputs.values[j][self.some[j], k].astype(np.float32) <= cut
            goes_left[node, here], goes_right[node, here] = left, ~left
        everything = np.zeros((1, n), dtype=bool)
        for start, some in zip(self.starts, self.some, strict=True):
            everything[0, start : start + len(some)] = True
        self.fixed = fixed
        self.goes_left, self.goes_right, self.everything = map(
            _bits, (goes_left, goes_right, everything)
        )

    def ways(self, part, rows, at, combo):
        """Say for parts, by number, at nodes whether any input of theirs goes left, and right."""
        fixed = self.fixed[at, combo]
        left, right = fixed == 1, fixed == 2
        column = self.column[at]
        for j in np.unique(column[column >= 0]):
            here, words = np.flatnonzero(column == j), slice(*self.words[j : j + 2])
            inputs, node = part[rows[here], words], at[here]
            left[here] = (inputs & self.goes_left[node, words]).any(axis=1)
            right[here] = (inputs & self.goes_right[node, words]).any(axis=1)
        return left, right


def _bits(flags):
    return np.packbits(flags, axis=1).view(np.uint64)


def tree_regions(trees, favourable, inputs, combos, space, max_regions, in_time):
    """Return the `Regions` that trees decide unequally, or None if they are too many.

    All trees are walked at once, for all protected combinations. A part of the space that some
    node divides is cut in two there; what is left whole has one decision per combination.

    Parameters
    ----------
    trees : list of sklearn.tree._tree.Tree
    favourable : ndarray of bool, shape (n_classes,)
    inputs : Inputs
    combos : ndarray of int, shape (n_combos, n_protected)
    space : FeatureSpace
    max_regions : int
        Of parts in all, whatever they are decided.
    in_time : callable
        Asked between batches; None is returned when it says no.
    """
    s = _Splits(trees, inputs, combos, space)
    every = np.tile(np.arange(len(combos)), len(trees))
    roots = np.repeat(s.roots, len(combos)).astype(np.int32)[None, :]
    stack = [(s.everything, _walk(s, s.everything, roots, every, s.is_inner[roots]))]
    parts, n_done = [], 0
    at_once = max(1, _SLOTS // len(every))
    while stack:
        part, at = stack.pop()
        if len(part) > at_once:
            stack.append((part[at_once:], at[at_once:]))
            part, at = part[:at_once], at[:at_once]
        inner = s.is_inner[at]
        open_ = inner.any(axis=1)
        parts.append(part[~open_][_unequal(s.shares[at[~open_]], favourable, len(combos))])
        n_done += int((~open_).sum())
        if n_done + sum(len(p) for p, _ in stack) > max_regions or not in_time():
            return None
        if open_.any():
            stack.append(_halves(s, part[open_], at[open_], inner[open_], every))
    return _unpacked(s, np.concatenate(parts), space)


def _halves(s, part, at, inner, every):
    """Cut each part in two at its first undecided node, and walk on in both."""
    node = at[np.arange(len(at)), inner.argmax(axis=1)]
    halves = np.concatenate([part & ~s.goes_right[node], part & ~s.goes_left[node]])
    at = np.concatenate([at, at])
    column = np.tile(s.column[node], 2)
    return halves, _walk(s, halves, at, every, s.column[at] == column[:, None])


def _walk(s, part, at, every, may_move):
    """Walk down every tree as far as the whole of each part goes one way."""
    rows, slots = np.nonzero(may_move)
    while len(rows):
        node = at[rows, slots]
        left, right = s.ways(part, rows, node, every[slots])
        moves = left != right
        rows, slots, node = rows[moves], slots[moves], node[moves]
        node = np.where(left[moves], s.left[node], s.right[node])
        at[rows, slots] = node
        inner = s.is_inner[node]
        rows, slots = rows[inner], slots[inner]
    return at


def _unequal(shares, favourable, n_combos):
    """Say which parts have two decisions; the trees' class shares are summed as a forest does."""
    n, slots, n_classes = shares.shape
    total = shares.reshape(n, slots // n_combos, n_combos, n_classes).sum(axis=1)
    decided = favourable[total.argmax(axis=2)]
    return decided.any(axis=1) & ~decided.all(axis=1)


def _unpacked(s, parts, space):
    flags = np.unpackbits(parts.view(np.uint8), axis=1).astype(bool)
    allowed, sizes = [], np.ones(len(flags))
    for j in range(len(space)):
        classes = flags[:, s.starts[j] : s.starts[j] + len(s.some[j])]
        allowed.append(classes[:, s.of_code[j]])
        if j in space.np_index:
            sizes *= allowed[j].sum(axis=1)
    return Regions(allowed, sizes)


def slab_share(constant, parts, space):
    """Return bounds on the share of inputs whose margin changes sign, and the slab itself.

    The sum of the parts of all unprotected columns is convolved, column by column; where it takes
    too many values they are moved to a grid, and how far is counted.

    Returns
    -------
    low, high : float
        Equal, but for rounding, where nothing was moved.
    ends : tuple of two floats
        Inputs whose sum of parts lies in (ends[0], ends[1]] are decided unequally.
    """
    given = [parts[j] for j in space.p_index]
    codes = space.combos()
    protected = sum(p[codes[:, i]] for i, p in enumerate(given)) + constant
    ends = -protected.max(), -protected.min()
    sums, shares, moved = np.zeros(1), np.ones(1), 0.0
    for j in space.np_index:
        sums = np.add.outer(sums, parts[j]).ravel()
        shares = np.repeat(shares / len(parts[j]), len(parts[j]))
        if len(sums) > _CELLS:
            low, width = sums.min(), math.ulp(1.0) + np.ptp(sums) / _CELLS
            cell = np.rint((sums - low) / width).astype(np.int64)
            shares = np.bincount(cell, shares)
            sums, moved = low + width * np.arange(len(shares)), moved + width / 2
    surely = (sums > ends[0] + moved) & (sums <= ends[1] - moved)
    maybe = (sums > ends[0] - moved) & (sums <= ends[1] + moved)
    return float(shares[surely].sum()), min(float(shares[maybe].sum()), 1.0), ends


def in_slab(parts, ends, codes, space):
    """Say which rows of codes lie in the slab of `slab_share`."""
    total = sum(parts[j][codes[:, j]] for j in space.np_index)
    return (total > ends[0]) & (total <= ends[1])
