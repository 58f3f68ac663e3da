"""Sums over groups of people: which may be printed, so that nothing follows about few people.

Knows columns and numbers of people, and no outcome.
"""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.linalg import lapack, solve_triangular
from scipy.sparse import csr_array

from skdisc._stats._packed_masks import WHOLE, PackedMasks
from skdisc._utils._frequency import numbered_in_order, numbered_within

MOST = 0.5  # of the variation of a small set; 1 is what follows by adding and subtracting
_DEEP = 5  # columns up to which small sets have up to three conditions, beyond it two
_ROUNDING = 1e-7
_DEPENDENT = 1e-6, 1e-9  # what a sum adds, in people, and by its people; more is not rounding
_SKETCH, _AT_ONCE = 128, 32  # random vectors that tell roughly what all sums would explain
_ROUGH = 0.4  # of what is explained, found to be less by them once in 1e9 sets
_EXACT = 10**7  # numbers up to which no sketch is made
_FEW_VALUES = 12  # of a column whose pairs with others are counted all at once
_BLOCK, _CHUNK = 2048, 10**7  # values that are counted at once, and numbers of 0 or 1 for these


class PrintedSums:
    """The sums over groups printed so far, and whether another group may join them.

    The sum over a small set of people may follow from printed sums by adding and subtracting (Chin
    and Özsoyoglu 1982, *Auditing and inference control in statistical databases*), or nearly. If
    outcomes were independent and equally variable, a regression on the printed sums would explain a
    share of the variance of the sum over the set: 1 if it follows from them, 0 if none has any
    person of the set. This share may exceed `most` for no small set.

    Parameters
    ----------
    columns : sequence of ndarray of shape (n_rows,)
        All columns that can describe a small set.
    min_cell : int
        Small sets have fewer people. They are: sets of up to three conditions (two, if there are
        more than five columns), or of conditions on all columns; contexts without one of their
        values; and the small values of a context together.
    base : ndarray of bool or int, shape (n_rows,), default=None
        How many people of each row a rate is about; None: one.
    is_all_known : bool, default=True
        Whether the sum of all people is printed.
    most_rows : int, default=1
        The most rows that are one person: small sets have fewer rows than `min_cell` times as many.

    Attributes
    ----------
    cells : ndarray of int, shape (n_cells, n_columns)
        The combinations of values that occur. People with equal values are in equal groups.
    people : ndarray of float, shape (n_cells,)
        Those whom the rate is about.
    small : sparse array of 0 and 1, shape (n_sets, n_cells)
        The small sets.
    first : ndarray of int, shape (n_cells,)
        A row of each cell.
    """

    def __init__(
        self,
        columns: Sequence[np.ndarray],
        min_cell: int,
        base: np.ndarray | None = None,
        most: float = MOST,
        is_all_known: bool = True,
        most_rows: int = 1,
    ) -> None:
        self._few = min_cell * most_rows
        self.base, self._is_all_known = base, is_all_known
        codes = [_codes(np.asarray(c)).astype(np.int32) for c in columns]
        self.min_cell, self.most = min_cell, most
        self._cell = np.zeros(len(codes[0]), dtype=np.int64)
        for code in codes:
            self._cell = numbered_in_order(self._cell * (int(code.max(initial=0)) + 1) + code)
        self.first = np.unique(self._cell, return_index=True)[1]
        self._numbers = {}
        self.cells = np.array([code[self.first] for code in codes]).T
        self.people = np.bincount(self._cell, base, len(self.first)).astype(float)
        self.small = self._small_sets()
        size = self.small @ self.people
        people = self.people[self.small.indices]
        by_root_size = people / np.sqrt(np.repeat(size, np.diff(self.small.indptr)))
        self._people_of_set = _of_same_places(self.small, by_root_size)
        self.start_again()

    def start_again(self) -> None:
        """Count nothing as printed but the sum of all people, if it is known."""
        n = int(self._is_all_known)
        self._printed = PackedMasks.of(np.ones((n, len(self.first)), dtype=bool))
        self._factor = np.full((n, n), np.sqrt(max(self.people.sum(), 1.0)))

    def add(self, groups: np.ndarray) -> None:
        """Count groups as printed, whatever follows; `groups` are masks of cells, one a row."""
        masks = self._printed.joined(PackedMasks.of(groups))
        common = common_people(masks, self.people)
        added = independent(common)[0]
        self._printed = masks[added]
        self._factor = np.linalg.cholesky(common[np.ix_(added, added)])

    def in_cells(self, values: np.ndarray) -> np.ndarray:
        """Return the sum of a value of each row, such as 1 for an outcome, in each cell."""
        return np.bincount(self._cell, values, len(self.first)).astype(float)

    def choose(
        self, masks: np.ndarray | PackedMasks, limits: np.ndarray | None = None
    ) -> np.ndarray:
        """Decide which rows of a table may be printed, and count their groups as printed.

        `masks`, of shape (n_rows, n_sides, n_cells): the cells of the groups of each row. `limits`:
        the share that may be explained after each row, at least `most`. None: `most`.
        """
        return choose([self], masks, limits)

    def follow(self, groups: np.ndarray) -> np.ndarray:
        """Return which sums follow from printed ones; `groups` are masks of cells, one a row."""
        if not len(groups) or not len(self._printed):
            return np.zeros(len(groups), dtype=bool)
        size = groups @ self.people
        common = (self._printed.unpacked() * self.people) @ groups.T.astype(float)
        projected = solve_triangular(self._factor, common, lower=True)
        return size - (projected**2).sum(axis=0) <= tolerance(size)

    def _small_sets(self):
        """Return the small sets, a sparse matrix of 0 and 1: one row each, one column per cell."""
        width = self.cells.shape[1]
        deep = 3 if width <= _DEEP else 2
        rows, cells, n = [], [], 0
        for depth in {*range(1, min(deep, width) + 1), width}:
            several = combinations(range(width), depth)
            for columns in self._pairs_at_risk() if depth == 2 else several:
                for of_set, member in self._small_of(columns):
                    number = numbered_in_order(of_set)
                    rows.append((number + n).astype(np.int32))  # half the memory, of many millions
                    cells.append(member.astype(np.int32))
                    n += number.max(initial=-1) + 1
        rows, cells = np.concatenate(rows), np.concatenate(cells)
        draw = np.random.default_rng(0).integers(0, 2**63, len(self.cells), dtype=np.uint64)
        key = np.zeros(n, dtype=np.uint64)  # of equal sets, one is kept
        np.add.at(key, rows, draw[cells])
        _, first = np.unique(key, return_index=True)
        sets = csr_array((np.ones(len(rows)), (rows, cells)), shape=(n, len(self.cells)))
        return sets[np.sort(first)]

    def _small_of(self, columns) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield small sets of people with the same values of some columns: numbers and cells."""
        group = self._number(columns)
        size = np.bincount(group, self.people)
        is_small = (size > 0) & (size < self._few)
        small_cells = np.flatnonzero(is_small[group])
        yield group[small_cells], small_cells
        for context in self._without_each(columns):
            if context.max(initial=0) == group.max(initial=0):
                continue  # each context is one group, and has no set of its own
            whole = np.bincount(context, self.people)
            # the small values of a context together
            together = np.bincount(context[small_cells], self.people[small_cells], len(whole))
            cells = small_cells[(together < self._few)[context[small_cells]]]
            yield context[cells], cells
            # a context without one of its values: "in t5, but not a woman" need not be one group
            home = np.zeros(len(size), dtype=int)
            home[group] = context
            rest = whole[home] - size
            large = np.flatnonzero((rest > 0) & (rest < self._few))
            if not len(large):
                continue
            order = np.argsort(context, kind="stable")
            n_cells = np.bincount(context)
            first = np.cumsum(n_cells) - n_cells
            times = n_cells[home[large]]  # each group is paired with the cells of its context
            g = np.repeat(large, times)
            member = order[np.repeat(first[home[large]], times) + numbered_within(times)]
            is_other_value = group[member] != g
            yield g[is_other_value], member[is_other_value]

    def _pairs_at_risk(self):
        """Return the pairs of columns that may have small sets.

        Tables of 200 columns have 20,000 pairs. Most have many people at each two values and in
        each value without one of the other column; a product of matrices counts them all at once.
        """
        width, n_values = self.cells.shape[1], self.cells.max(axis=0, initial=0) + 1
        at_risk = np.ones((width, width), dtype=bool)
        narrow_columns = np.flatnonzero(n_values <= _FEW_VALUES)
        n_blocks = -(-int(n_values[narrow_columns].sum()) // _BLOCK)
        blocks = np.array_split(narrow_columns, n_blocks) if len(narrow_columns) else []
        wholes = {c: np.bincount(self.cells[:, c], self.people) for c in narrow_columns}
        for i, first in enumerate(blocks):
            for second in blocks[i:]:
                people_of_pairs = self._people_of_pairs(first, second)
                rests = (
                    np.concatenate([wholes[c] for c in first])[:, None] - people_of_pairs,
                    np.concatenate([wholes[c] for c in second]) - people_of_pairs,
                )
                small = [(n > 0) & (n < self._few) for n in (people_of_pairs, *rests)]
                small = np.logical_or.reduce(small)
                for axis, columns in enumerate((first, second)):
                    starts = np.cumsum(n_values[columns]) - n_values[columns]
                    small = np.logical_or.reduceat(small, starts, axis=axis)
                at_risk[np.ix_(first, second)] = small
                at_risk[np.ix_(second, first)] = small.T
        return [(a, b) for a, b in combinations(range(width), 2) if at_risk[a, b]]

    def _people_of_pairs(self, first, second):
        """Return how many people have each value of some columns and each of others."""
        kind = np.float32 if self.people.sum() < WHOLE else np.float64
        n_values = self.cells.max(axis=0, initial=0) + 1
        n_first, n_second = int(n_values[first].sum()), int(n_values[second].sum())
        people_of_pairs = np.zeros((n_first, n_second))
        step = max(_CHUNK // max(n_first, n_second), 1)
        for start in range(0, len(self.cells), step):
            cells = self.cells[start : start + step]
            people = self.people[start : start + step].astype(kind)
            sides = [np.zeros((n, len(cells)), dtype=kind) for n in (n_first, n_second)]
            for side, columns in zip(sides, (first, second), strict=True):
                starts = np.cumsum(n_values[columns]) - n_values[columns]
                side[cells[:, columns] + starts, np.arange(len(cells))[:, None]] = 1
            people_of_pairs += (sides[0] * people) @ sides[1].T
        return people_of_pairs

    def _without_each(self, columns) -> Iterator[np.ndarray]:
        """Yield the number of the combination of all columns but one in each cell."""
        if len(columns) <= _DEEP:
            for out in columns:
                yield self._number([c for c in columns if c != out])
            return
        after = [np.zeros(len(self.cells), dtype=np.int32)]
        for c in columns[:0:-1]:  # combinations of the columns after each one
            code = self.cells[:, c].astype(np.int64)
            combined = code * (int(after[-1].max(initial=0)) + 1) + after[-1]
            after.append(numbered_in_order(combined).astype(np.int32))
        before = np.zeros(len(self.cells), dtype=np.int64)
        for c, code_of_others in zip(columns, after[::-1], strict=True):
            n_values = int(code_of_others.max(initial=0)) + 1
            yield numbered_in_order(before * n_values + code_of_others)
            n_values = int(self.cells[:, c].max()) + 1
            before = numbered_in_order(before * n_values + self.cells[:, c])

    def _number(self, columns):
        """Return the number of the combination of some columns in each cell."""
        columns = tuple(columns)
        if columns in self._numbers:
            return self._numbers[columns]
        number = np.zeros(len(self.cells), dtype=np.int64)
        for c in columns:
            number = numbered_in_order(number * (self.cells[:, c].max() + 1) + self.cells[:, c])
        if self.cells.shape[1] <= _DEEP or len(columns) == 1:  # else pairs are asked for once
            self._numbers[columns] = number
        return number


def choose(
    several: Sequence[PrintedSums],
    masks: np.ndarray | PackedMasks,
    limits: np.ndarray | None = None,
) -> np.ndarray:
    """Decide which rows of a table may be printed, and count their groups as printed.

    A row is printed if each of its groups has at least `min_cell` people, and if no small set comes
    to be explained by more than the limit; sets beyond it that the row does not explain further do
    not matter. Rows are taken in their order, so that a row is left out for the sake of earlier
    ones, never the other way round.

    `several`: all of them must allow a row, such as the sums of all people and of the qualified.
    `masks`, of shape (n_rows, n_sides, n_cells): the cells of the groups of each row. `limits`: the
    share that may be explained after each row, at least `most` of the sums. None: `most`.
    """
    people = np.array([sums.people for sums in several]).T
    least, masks = [sums.min_cell for sums in several], PackedMasks.of(masks)
    sizes = (masks[i].unpacked() @ people for i in range(len(masks)))
    chosen = np.array([(size >= least).all() for size in sizes], dtype=bool)
    growing = [_GrowingSums(sums, masks, np.flatnonzero(chosen)) for sums in several]
    if any(sums.at_risk for sums in growing):
        for i, row in enumerate(np.flatnonzero(chosen)):
            limit = None if limits is None else limits[row]
            chosen[row] = all(sums.may_add(i, limit) for sums in growing)
            for sums in growing if chosen[row] else ():
                sums.add()
    else:  # whatever is printed, it explains too much of no set
        for sums in growing:
            sums.add_all()
    for sums in growing:
        sums.keep()
    return chosen


class _GrowingSums:
    """The printed sums of a table while further ones are added, one row of groups at a time.

    Let the rows of S be the sums, 0 and 1 for each cell, and D the people of the cells. With the
    Cholesky factor L of S D S', the share of the variation of a set s that they explain is the
    squared length of L^-1 S D s over the people of s. A further sum adds a row to L^-1. Only sets
    of which all that is asked for would explain too much are looked at.

    `at_risk`: whether printing all would explain too much of some set. Shapes: `masks` (n_rows,
    n_sides, n_cells); `rows`, those that may be added.
    """

    def __init__(self, sums, masks, rows):
        self._sums, n_printed, n_sides = sums, len(sums._printed), masks.bits.shape[1]
        every = [*sums._printed.bits, *(side for row in rows for side in masks.bits[row])]
        keys, number_of_key = [blake2b(bits).digest() for bits in every], {}
        number = np.array([number_of_key.setdefault(key, len(number_of_key)) for key in keys], int)
        first = np.unique(number, return_index=True)[1]
        bits = np.array([every[i] for i in first]).reshape(len(first), masks.bits.shape[2])
        self._masks = PackedMasks(bits, masks.n_cells)
        self._sides = number[n_printed:].reshape(-1, n_sides)
        self._gram = common_people(self._masks, sums.people)
        self._limit = sums.most + _ROUNDING
        self._independent, self._factor = independent(self._gram)
        self._common = self._risky()  # people of each sum in each set at risk, by its root size
        self.at_risk = self._common.shape[1] > 0
        n = len(self._masks) if self.at_risk else 0
        self._inverse, self._projected = np.zeros((n, n)), np.zeros((n, self._common.shape[1]))
        self._explained, self._printed_sums = np.zeros(self._common.shape[1]), []
        self._trial_sums = self._printed_sums, self._explained
        if self.at_risk:
            for i in dict.fromkeys(number[:n_printed].tolist()):
                self._try([i])
                self.add()

    def may_add(self, row, most=None):
        """Return whether a row may be printed, too: no set must come to be explained by more."""
        sides = dict.fromkeys(self._sides[row].tolist())
        self._try([i for i in sides if i not in self._printed_sums])
        explained, most = self._trial_sums[1], self._sums.most if most is None else most
        grown = explained > self._explained + _ROUNDING
        return not (grown & (explained > most + _ROUNDING)).any()

    def add(self):
        """Count what was tried last as printed."""
        self._printed_sums, self._explained = self._trial_sums

    def add_all(self):
        """Count everything as printed."""
        self._printed_sums = self._independent.tolist()

    def keep(self):
        """Tell the printed sums what was added."""
        added = self._printed_sums
        if added:
            self._sums._printed = self._masks[added]
            self._sums._factor = np.linalg.cholesky(self._gram[np.ix_(added, added)])

    def _try(self, several):
        """Add sums to the factor for the time being, after those that were added for good."""
        added, explained = list(self._printed_sums), self._explained
        for i in several:
            n = len(added)
            inverse, projected = self._inverse[:n, :n], self._projected[:n]
            row = inverse @ self._gram[added, i]  # of the Cholesky factor, without its diagonal
            remainder = self._gram[i, i] - row @ row
            if remainder <= tolerance(self._gram[i, i]):
                continue  # the sum follows from others
            diagonal = np.sqrt(remainder)
            self._inverse[n, :n], self._inverse[n, n] = -(row @ inverse) / diagonal, 1 / diagonal
            self._projected[n] = (self._common[i] - row @ projected) / diagonal
            explained, added = explained + self._projected[n] ** 2, [*added, i]
        self._trial_sums = added, explained

    def _risky(self):
        """Return the common people of sums and of the sets of which all sums explain too much."""
        masks, sets = self._masks[self._independent], self._sums._people_of_set
        place = np.arange(sets.shape[0])
        if len(masks) * sets.shape[0] > _EXACT:
            draw = np.random.default_rng(0).normal(size=(len(masks), _SKETCH))
            turned = solve_triangular(self._factor, draw, lower=True, trans="T")
            rough = np.zeros(sets.shape[0])
            sets_in_single = _of_same_places(sets, sets.data.astype(np.float32))
            for vectors in np.split(turned.astype(np.float32), _SKETCH // _AT_ONCE, axis=1):
                sketch = np.empty((masks.n_cells, _AT_ONCE), dtype=np.float32)
                for cells, inside in masks.blocks():
                    np.matmul(inside.T.astype(np.float32), vectors, out=sketch[cells])
                rough += ((sets_in_single @ sketch) ** 2).sum(axis=1) / _SKETCH
            place = np.flatnonzero(rough > _ROUGH * self._sums.most)
        sets = sets[place].tocsc()
        common = np.zeros((len(self._masks), sets.shape[0]))
        in_sets = np.flatnonzero(np.diff(sets.indptr))
        for cells in np.array_split(in_sets, len(self._masks) * len(in_sets) // _CHUNK + 1):
            common += (sets[:, cells] @ self._masks.at(cells).T.astype(float)).T
        projected = solve_triangular(self._factor, common[self._independent], lower=True)
        return common[:, (projected**2).sum(axis=0) > self._limit]


def _of_same_places(sparse, values):
    """Return other values at the same places, which are not copied: they may be many millions."""
    return csr_array((values, sparse.indices, sparse.indptr), shape=sparse.shape)


def tolerance(people):
    """Return how many people of a sum rounding may leave after others that it follows from.

    Without it, a sum that follows from others would count as a new one because of rounding.
    """
    return _DEPENDENT[0] + _DEPENDENT[1] * people


def _codes(values):
    """Return the values of a column as the numbers 0, 1, ..., in order."""
    if values.dtype.kind in "iu":
        return numbered_in_order(values)
    return pd.factorize(values, sort=True)[0]


def common_people(masks: PackedMasks, people: np.ndarray) -> np.ndarray:
    """Return how many people each two masks of cells have in common, shape (n_masks, n_masks).

    The numbers of people are split into powers of two, because products of zeros and ones take half
    the time of others.
    """
    common = np.zeros((len(masks), len(masks)))
    for cells, inside in masks.blocks():
        n, zeros_and_ones = people[cells].astype(np.int64), inside.astype(np.float32)
        for power in range(int(n.max(initial=0)).bit_length()):
            has_power = (n >> power) & 1 == 1
            columns = zeros_and_ones if has_power.all() else zeros_and_ones[:, has_power]
            common += 2.0**power * (columns @ columns.T)
    return common


def independent(gram):
    """Return positions of independent sums that all others follow from, and their factor."""
    # LAPACK's pivoted Cholesky factorization takes the sum of which most remains, given those
    # taken before, and stops where nothing but rounding remains of any.
    tol = tolerance(gram.diagonal().max(initial=0.0))
    factor, pivot, rank, _ = lapack.dpstrf(gram, lower=1, tol=tol)
    return pivot[:rank] - 1, np.tril(factor[:rank, :rank])
