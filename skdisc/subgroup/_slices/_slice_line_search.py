"""Search for the k slices of largest score: by level, pruned by size, parents and a bound."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from skdisc._space._codes import PAD
from skdisc._space._items import value_name
from skdisc._utils._frequency import numbered_within
from skdisc._utils._hashing import multipliers
from skdisc.subgroup._lattice import _kernels
from skdisc.subgroup._lattice._lattice import Lattice, few_cells

_PAIRS = 2**18  # candidates evaluated together
_COVER_BYTES = 16 * 2**20
POSITIVE = 1e-12  # a score of 0 may come out a little larger
_SLACK = 1e-9  # a bound this much below the k-th score may still be a tie


def _begins_prefix(patterns):
    """Return which of sorted patterns differ from the one before in more than the last item."""
    return np.append(True, np.any(patterns[1:, :-1] != patterns[:-1, :-1], axis=1))


@dataclass(frozen=True)
class SliceProblem:
    """The rows, items and rules of a search for slices.

    Attributes
    ----------
    alpha : float
        Weight of the error against the size.
    least : int
        Smallest size of a slice.
    max_len : int
        Most items of a slice.
    frequent : ndarray of int, shape (n_frequent,)
        Numbers of the items of at least this size; slices are conjunctions of these.
    first : ndarray of bool, shape (n_frequent,)
        Items with which slices may begin (those of protected features, which come first).
    masks : ndarray of bool, shape (n_frequent, n_rows)
    """

    rows: object
    items: object
    alpha: float
    least: int
    max_len: int
    frequent: np.ndarray
    first: np.ndarray
    masks: np.ndarray

    @classmethod
    def of(cls, rows, items, alpha, least, max_len, first):
        """Return the problem; `first` is by item, frequent or not."""
        frequent = np.flatnonzero(rows.sizes(items) >= least)
        masks = items.masks(frequent)
        return cls(rows, items, alpha, least, max_len, frequent, first[frequent], masks)

    @property
    def feature(self):
        """Number of the feature of each frequent item."""
        return self.items.feature[self.frequent]

    @property
    def n_possible(self):
        """Number of slices that a search could return, whatever the errors; at least 1."""
        return max(1, self._joins(self.feature) - self._joins(self.feature[~self.first]))

    def _joins(self, features):
        """Return the number of conjunctions of items of these features, the empty one included."""
        ways = [1] + [0] * self.max_len  # by length
        for n in np.unique(features, return_counts=True)[1].tolist():
            ways = [w + n * (ways[i - 1] if i else 0) for i, w in enumerate(ways)]
        return sum(ways)

    def search(self, error, k, spend, floor=None):
        """Search for the k slices of largest score, given the error of each row.

        `spend` and `floor`: see `TopSlices`. Returns a TopSlices: without slices if no row has an
        error.
        """
        weights = self.rows.mass
        score = SliceScore.of(self.alpha, weights, error, self.least)
        slices = Slices(self.masks, self.feature, error, weights)
        floor = POSITIVE if floor is None else floor
        search = TopSlices(slices, score, k, self.max_len, self.first, spend, floor)
        return search.run() if score.mean > 0 else search

    def measure(self, j, search, significance):
        """Return the first k slices of a search with their statistics, from the rows themselves."""
        best = search.patterns[search.first_k()]
        groups = [self.items.subgroup(self.frequent[row[row != PAD]]) for row in best]
        inside = [np.logical_and.reduce(self.masks[row[row != PAD]]) for row in best]
        table = self.rows.compare(j, inside, significance)
        return groups, table.assign(**search.score.columns(self.rows, j, inside))

    def by_value(self, measured, found_groups):
        """Count, per protected item, the slices measured and found that contain it."""
        counts = dict(zip(self.frequent.tolist(), measured.tolist(), strict=True))
        hits, items = Counter(p for g in found_groups for p in g.predicates), self.items
        numbers = np.flatnonzero(items.protected).tolist()
        return {
            value_name(p): (counts.get(i, 0), hits[p])
            for i, p in zip(numbers, items.protected_predicates, strict=True)
        }


@dataclass(frozen=True)
class SliceScore:
    """The score of a slice, and an upper bound on its score and the scores of all slices inside it.

    Attributes
    ----------
    alpha : float
        Weight of the error against the size.
    total, mean : float
        Size of the whole table, and its mean error.
    least : float
        Smallest size of a slice.
    """

    alpha: float
    total: float
    mean: float
    least: float

    @classmethod
    def of(cls, alpha, weight, error, least):
        """Return the score of slices of rows with these weights and errors."""
        total = weight.sum()
        return cls(alpha, total, float(weight @ error / total) if total else 0.0, least)

    def __call__(self, size, error):
        """Return the score of slices of this size and sum of errors."""
        with np.errstate(divide="ignore", invalid="ignore"):
            worse = error / size / self.mean - 1
            return self.alpha * worse - (1 - self.alpha) * (self.total / size - 1)

    def columns(self, rows, j, masks):
        """Return sum, maximum and score of the errors of slices: a dict of arrays by column."""
        weight, error = rows.mass, rows.values[j]
        parts = [(weight[members], error[members]) for members in map(np.flatnonzero, masks)]
        size = np.array([w.sum() for w, _ in parts], dtype=float)
        total = np.array([(w * e).sum() for w, e in parts], dtype=float)
        worst = np.array([e.max() for _, e in parts], dtype=float)
        score = self(size, total)
        return {"sum_slice_error": total, "max_slice_error": worst, "slice_score": score}

    def bound(self, size, error, worst):
        """Return the largest score with at most this size, sum and maximum of errors.

        A slice of size s has an error of at most min(s * worst, error). As a function of s the
        score is monotone on either side of error / worst, so three sizes suffice.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            turn = np.clip(np.where(worst > 0, error / worst, size), self.least, size)
        sizes = np.stack([np.full_like(size, self.least), turn, size])
        best = self(sizes, np.minimum(sizes * worst, error)).max(axis=0)
        return np.where(size < self.least, -np.inf, best)


class Slices:
    """Items of rows with errors, which are added up over conjunctions.

    Shapes: `masks` (n_items, n_rows).
    """

    def __init__(self, masks, feature, error, weight):
        columns = np.stack([weight, weight * error, error])
        cell, self.table = few_cells(columns)
        if self.table is None:
            order = np.argsort(-error, kind="stable")
            masks, self.descending = masks[:, order], error[order]
            self.lattice = Lattice(masks, feature, values=columns[:2, order])
        else:
            self.lattice = Lattice(masks, feature, cell, len(self.table))

    def measure(self, patterns):
        """Return size, sum and maximum of errors of patterns, which are sorted by prefix."""
        bits = self.lattice.bits
        new = _begins_prefix(patterns)
        parents, prefixes = np.cumsum(new) - 1, patterns[new, :-1]
        covers = np.full((len(prefixes), bits.shape[1]), ~np.uint64(0))
        for column in prefixes.T:
            covers &= bits[column]
        if self.table is None:
            return self._add_up(_kernels.join(covers, parents, bits, patterns[:, -1]))
        counts = _kernels.count(covers, parents, bits, patterns[:, -1], self.lattice.edges)
        size, error = (counts @ self.table[:, :2]).T
        return np.stack([size, error, np.where(counts > 0, self.table[:, 2], 0).max(axis=1)])

    def _add_up(self, covers):
        """Return size, sum and maximum of errors of covers, whose first rows have the maximum."""
        size, error = _kernels.sums(covers, self.lattice.values).T
        word = np.argmax(covers != 0, axis=1)
        first = covers[np.arange(len(covers)), word]
        bits = np.unpackbits(first[:, None].view(np.uint8), axis=1)
        worst = self.descending[
            np.minimum(64 * word + bits.argmax(axis=1), len(self.descending) - 1)
        ]
        return np.stack([size, error, np.where(first != 0, worst, 0)])


class TopSlices:
    """One search for the k slices of largest positive score.

    Parameters
    ----------
    max_len : int
        Most items of a slice.
    first : ndarray of bool, shape (n_items,)
        Items with which slices may begin (those of protected features, which come first).
    spend : callable
        ``spend(n)`` gets the number of candidates that come next, and returns how many of them
        may be measured; fewer ends the search.
    floor : float
        Slices that score less than this are left out; by default 0, up to rounding.

    Attributes
    ----------
    patterns : ndarray of int, shape (n, max_len)
        The slices that may be among the first k, padded by PAD; ties with the k-th are kept.
    n_measured : int
        Slices measured.
    measured : ndarray of int, shape (n_items,)
        Number of them that contain each item.
    """

    def __init__(self, slices, score, k, max_len, first, spend, floor):
        self.slices, self.score, self.k, self.max_len = slices, score, k, max_len
        self.first, self.spend, self.floor, self.stopped = first, spend, floor, False
        self.patterns = np.empty((0, max_len), dtype=np.int32)
        self.scores = self.sizes = np.empty(0)
        self.n_measured, self.measured = 0, np.zeros(len(first), dtype=np.int64)
        self._keys = multipliers(max(1, len(first)))

    @property
    def threshold(self):
        """Slices with a lower score are not among the first k."""
        if len(self.scores) < self.k:
            return self.floor
        return max(self.floor, np.partition(self.scores, -self.k)[-self.k])

    def first_k(self):
        """Return the positions of the first k: by score, size, fewer items, and the items."""
        length = (self.patterns != PAD).sum(axis=1)
        keys = *self.patterns.T[::-1], length, -self.sizes, -np.round(self.scores, 12)
        return np.lexsort(keys)[: self.k]

    def run(self):
        """Search, level by level; return self."""
        items = np.arange(len(self.first), dtype=np.int32)[:, None]
        level = self._measured(items)
        for _ in range(1, self.max_len):
            if self.stopped or not len(level[0]):
                break
            chunks = [self._measured(c) for c in self._candidates(*level)]
            if not chunks:
                break
            patterns, numbers = zip(*chunks, strict=True)
            level = np.concatenate(patterns), np.concatenate(numbers, axis=1)
        return self

    def _measured(self, patterns):
        """Measure patterns, record the best, and return those that may contain better slices."""
        measured, numbers = [patterns[:0]], [np.empty((3, 0))]
        size = max(1, _COVER_BYTES // (8 * self.slices.lattice.bits.shape[1]))
        for start in range(0, len(patterns), size):
            part = patterns[start : start + size]
            allowed = self.spend(len(part))
            self.stopped |= allowed < len(part)
            part = part[:allowed]
            if len(part):
                part_numbers = self.slices.measure(part)
                measured.append(part)
                numbers.append(part_numbers)
                self._note(part, part_numbers)
            if self.stopped:
                break
        measured, numbers = np.concatenate(measured), np.concatenate(numbers, axis=1)
        good = self._promising(*numbers)
        return measured[good], numbers[:, good]

    def _note(self, patterns, numbers):
        """Count the slices measured, and keep those that may be among the first k."""
        eligible = self.first[patterns[:, 0]] & (numbers[0] >= self.score.least)
        patterns, (size, error, _) = patterns[eligible], numbers[:, eligible]
        self.n_measured += len(patterns)
        self.measured += np.bincount(patterns.ravel(), minlength=len(self.measured))
        scores = self.score(size, error)
        good = scores >= self.floor
        width = self.max_len - patterns.shape[1]
        patterns = np.pad(patterns[good], ((0, 0), (0, width)), constant_values=PAD)
        self.patterns = np.concatenate([self.patterns, patterns])
        self.scores = np.concatenate([self.scores, scores[good]])
        self.sizes = np.concatenate([self.sizes, size[good]])
        keep = self.scores >= self.threshold - _SLACK
        self.patterns, self.scores, self.sizes = (
            a[keep] for a in (self.patterns, self.scores, self.sizes)
        )

    def _promising(self, size, error, worst):
        """Return where a slice inside may be among the first k, a bool array."""
        # Without errors the score of every slice inside is below 0.
        return (self.score.bound(size, error, worst) >= self.threshold - _SLACK) & (error > 0)

    def _candidates(self, patterns, numbers):
        """Yield patterns with an item more, whose parents were all promising."""
        feature, last = self.slices.lattice.feature, patterns[:, -1]
        keys = self._keys[patterns].sum(axis=1, dtype=np.uint64)
        order = np.argsort(keys)
        level_table = keys[order], numbers[:, order]
        new = _begins_prefix(patterns)
        group = np.cumsum(new) - 1
        rank = group * (int(feature.max(initial=0)) + 1) + feature[last]
        start = np.searchsorted(rank, rank, side="right")
        n_each = np.searchsorted(group, group, side="right") - start
        n_each = np.where(self.first[patterns[:, 0]], n_each, 0)
        ends = np.cumsum(n_each)
        cuts = np.searchsorted(ends, np.arange(_PAIRS, ends[-1], _PAIRS), side="right")
        for a, b in zip([0, *cuts], [*cuts, len(patterns)], strict=True):
            n = n_each[a:b]
            index = np.repeat(np.arange(a, b), n)
            sibling = start[index] + numbered_within(n)
            children = np.column_stack([patterns[index], last[sibling]])
            limits = np.minimum(numbers[:, index], numbers[:, sibling])
            good, limits = self._with_parents(children, keys[index], limits, level_table)
            good &= self._promising(*limits)
            if good.any() and not self.stopped:
                yield children[good]

    def _with_parents(self, children, key, limits, level_table):
        """Return where all parents were promising, and the smallest of their numbers."""
        # A slice lies inside each of its parents, so one that was pruned rules it out, and each of
        # their sizes and errors bounds its own.
        good = np.ones(len(children), dtype=bool)
        with np.errstate(over="ignore"):
            key = key + self._keys[children[:, -1]]
            for j in range(children.shape[1] - 2):  # the last two parents are present
                parent_key = key - self._keys[children[:, j]]
                place = np.minimum(
                    np.searchsorted(level_table[0], parent_key), len(level_table[0]) - 1
                )
                is_present = level_table[0][place] == parent_key
                is_needed = self.first[children[:, 1]] | (j > 0)
                good &= is_present | ~is_needed
                limits = np.where(is_present, np.minimum(limits, level_table[1][:, place]), limits)
        return good, limits
