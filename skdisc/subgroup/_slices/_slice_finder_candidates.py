"""Candidates of SliceFinder: conjunctions of a lattice, nodes of a tree, boxes of clusters."""

from dataclasses import dataclass
from math import comb

import numpy as np

from skdisc._space._codes import EVERYONE
from skdisc._space._subgroup import Predicate, Subgroup

_NO_GAIN = 1e-12
_N_CLUSTERS = 10
_MEMBERS = 0.9  # share of a cluster's members that each side of its box must keep


@dataclass(frozen=True)
class SliceCandidates:
    """Slices with the sums that `Means` needs.

    Attributes
    ----------
    sums : ndarray of float, shape (n_sums, n)
    child, parent : ndarray of int
        Edges from a slice to one with one condition less.
    n_alternatives : ndarray of float, shape (n,)
        Number of slices that this one was chosen from by the errors; 1 if it was not chosen.
    patterns : ndarray of int or None
        Item numbers of each slice, padded by PAD.
    """

    approach: str
    groups: object
    length: np.ndarray
    sums: np.ndarray
    child: np.ndarray
    parent: np.ndarray
    n_alternatives: np.ndarray
    patterns: np.ndarray | None = None

    def __len__(self):
        return len(self.length)

    def at(self, which):
        """Return some of the slices, with the edges between them."""
        place = np.full(len(self), -1)  # -1: left out
        place[which] = np.arange(len(which))
        child, parent = place[self.child], place[self.parent]
        has_ends = (child >= 0) & (parent >= 0)
        return SliceCandidates(
            self.approach,
            [self.groups[i] for i in which],
            self.length[which],
            self.sums[:, which],
            child[has_ends],
            parent[has_ends],
            self.n_alternatives[which],
        )


@dataclass
class Lot:
    """The slices of one approach, with their tests by one error.

    Attributes
    ----------
    error : int
        Number of the error.
    slices : SliceCandidates
    phi, p_value : ndarray of float, shape (n,)
        Effect sizes; p-values corrected for the choice of each slice.
    problematic : ndarray of bool, shape (n,), or None
    p_adjusted : ndarray of float, shape (n,), or None
        From `decide`.
    """

    error: int
    slices: SliceCandidates
    phi: np.ndarray
    p_value: np.ndarray
    problematic: np.ndarray | None = None
    p_adjusted: np.ndarray | None = None


class _MinedGroups:
    """A sequence of groups that are made from item numbers on access."""

    def __init__(self, items, patterns):
        self.items, self.patterns = items, patterns

    def __getitem__(self, i):
        return self.items.subgroup(self.patterns[i])


def of_lattice(items, patterns, sums):
    """Return mined conjunctions of items with their sums, of shape (n_sums, n), as slices."""
    child, parent, _ = patterns.parents()
    has_parent = parent != EVERYONE
    return SliceCandidates(
        approach="lattice",
        groups=_MinedGroups(items, patterns.items),
        length=patterns.length,
        sums=sums,
        child=child[has_parent],
        parent=parent[has_parent],
        n_alternatives=np.ones(len(patterns)),
        patterns=patterns.items,
    )


@dataclass
class _Node:
    rows: np.ndarray
    group: Subgroup
    parent: int
    depth: int


def tree(items, columns, least, max_depth, spend):
    """Return the nodes of a regression tree of the errors.

    A node is split where the sum of squares decreases most: between one value and the others, at
    an edge of the bins of a numeric column, or between missing and known values.
    """
    splits = [s for j in range(len(items.codes)) for s in _splits(items, j)]
    sides = np.zeros((len(splits), 2, len(items.predicates)))
    for number, (_, pair, _) in enumerate(splits):
        for side in (0, 1):
            sides[number, side, pair[side]] = 1
    nodes = [_Node(np.arange(columns.shape[1]), Subgroup(), EVERYONE, 0)]
    for number, node in enumerate(nodes):  # which grow until no node is split
        if node.depth == max_depth:
            break
        for group, rows in _split(node, splits, sides, items, columns, least):
            if spend(1):
                nodes.append(_Node(rows, node.group & group, number, node.depth + 1))
    nodes = nodes[1:]
    parent = np.array([node.parent for node in nodes], dtype=np.int64) - 1
    sums = np.array([columns[:, node.rows].sum(axis=1) for node in nodes])
    child = np.flatnonzero(parent != EVERYONE)
    return SliceCandidates(
        approach="tree",
        groups=[node.group for node in nodes],
        length=np.array([node.depth for node in nodes], dtype=np.int64),
        sums=sums.reshape(-1, len(columns)).T,
        child=child,
        parent=parent[child],
        n_alternatives=np.array([comb(2 * len(splits), node.depth) for node in nodes], dtype=float),
    )


def _splits(items, j):
    """Yield the possible splits by a feature: feature, items of each side, their predicates."""
    numbers = np.flatnonzero(items.feature == j)
    predicates = [items.predicates[i] for i in numbers]
    if len(numbers) < 2:
        return
    is_missing = [p.values == (None,) for p in predicates]
    missing_items = [i for i, missing in zip(numbers, is_missing, strict=True) if missing]
    value_items = [i for i, missing in zip(numbers, is_missing, strict=True) if not missing]
    column = predicates[0].column
    if not value_items or not items.numeric[value_items[0]]:
        for i in numbers:  # with two values both splits are the same
            other_values = [v for k in numbers if k != i for v in items.predicates[k].values]
            sides = items.predicates[i], Predicate.isin(column, other_values)
            yield j, ([i], [k for k in numbers if k != i]), sides
        return
    for cut in range(1, len(value_items)):
        p = items.predicates[value_items[cut - 1]]
        edge = p.high if p.values is None else p.values[0]
        sides = Predicate.between(column, high=edge), Predicate.between(column, low=edge)
        yield j, (value_items[:cut], value_items[cut:]), sides
    if missing_items:
        sides = items.predicates[missing_items[0]], Predicate.between(column)
        yield j, (missing_items, value_items), sides


def _split(node, splits, sides, items, columns, least):
    """Return the sides of the best split of a node, as predicates with their rows."""
    node_columns = columns[:2, node.rows]
    size, codes = len(items.predicates) + 1, items.codes[:, node.rows]
    totals = np.zeros((2, size))
    for code in codes:
        totals += [np.bincount(code + 1, weights=w, minlength=size) for w in node_columns]
    n, s = np.moveaxis(sides @ totals[:, 1:].T, -1, 0)  # each of shape (n_splits, 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = n.prod(axis=1) / n.sum(axis=1) * np.subtract(*(s / n).T) ** 2
    gain = np.where(n.min(axis=1, initial=np.inf) >= least, np.nan_to_num(gain), 0)
    if gain.max(initial=0) <= _NO_GAIN:
        return []
    best = int(np.argmax(gain >= gain.max() * (1 - 1e-9)))
    j, pair, predicates = splits[best]
    return [
        (p, node.rows[np.isin(codes[j], side)]) for p, side in zip(predicates, pair, strict=True)
    ]


def clusters(items, X, columns, least, rng):
    """Return boxes around ten clusters of k-means in the plane of the first principal components.

    A box has, per feature, the most frequent values of the cluster's members that together cover
    nine tenths of them; features in which these are all values are left out.
    """
    from sklearn.cluster import KMeans
    from sklearn.decomposition import PCA

    hot = items.masks(np.arange(len(items.predicates))).T.astype(np.float32)
    seed = int(rng.integers(2**31))
    plane = PCA(min(2, hot.shape[1], len(hot)), svd_solver="covariance_eigh").fit_transform(hot)
    label = KMeans(min(_N_CLUSTERS, len(np.unique(plane, axis=0))), random_state=seed, n_init=3)
    label = label.fit_predict(plane)
    groups = []
    for c in range(label.max() + 1):
        box = [_side(items, j, label == c) for j in range(len(items.codes))]
        groups.append(Subgroup([p for p in box if p is not None]))
    groups = [g for g in dict.fromkeys(groups) if len(g)]
    inside = [g.mask(X) for g in groups]
    sums = np.array([columns[:, m].sum(axis=1) for m in inside]).reshape(-1, len(columns)).T
    none, length = np.empty(0, dtype=np.int64), np.array([len(g) for g in groups], dtype=np.int64)
    boxes = SliceCandidates("cluster", groups, length, sums, none, none, np.ones(len(groups)))
    return boxes.at(np.flatnonzero(sums[0] >= least))


def _side(items, j, members):
    """Return the condition on one feature that most members satisfy; None if all rows do."""
    numbers = np.flatnonzero(items.feature == j)
    counts = np.bincount(items.codes[j, members] + 1, minlength=len(items.predicates) + 1)[1:]
    order = numbers[np.argsort(-counts[numbers], kind="stable")]
    enough = int(np.searchsorted(np.cumsum(counts[order]), _MEMBERS * members.sum())) + 1
    box_items = np.sort(order[:enough])
    if len(box_items) == len(numbers):
        return None
    predicates = [items.predicates[i] for i in box_items]
    if all(p.values is not None for p in predicates):
        values = [v for p in predicates for v in p.values]
        return Predicate.isin(predicates[0].column, values)
    bins = [p for p in predicates if p.values is None]
    ends = {"low": min(p.low for p in bins), "high": max(p.high for p in bins)}
    wide = Predicate.between(bins[0].column, **ends)
    return None if np.isinf(wide.low) and np.isinf(wide.high) else wide
