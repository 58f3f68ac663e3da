"""The bitset lattice: counts of every frequent conjunction of items, by cell.

Items are rows of bits, one bit per row of the table; a conjunction is their ``&``, and a count is
a popcount. Rows are sorted by *cell* (for example the confusion cell), each cell padded to whole
64-bit words: one popcount pass counts all cells.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

from skdisc._space._codes import PAD
from skdisc._utils._frequency import numbered_within
from skdisc.subgroup._lattice import _kernels
from skdisc.subgroup._lattice._conjunctions import Patterns, in_order

_COVER_BYTES = 16 * 2**20
_FEW = 16


class Lattice:
    """All conjunctions of items with at most one item per feature.

    Parameters
    ----------
    items : ndarray of bool, shape (n_items, n_rows)
    feature : ndarray of int, shape (n_items,)
        Which feature each item belongs to; items of a feature stand together.
    cell : ndarray of int, shape (n_rows,), default=all zero
        Cell of each row, from 0.
    n_cells : int, default=1
    values : ndarray of float, shape (n_values, n_rows), default=None
        Numbers to add up over the rows of each conjunction. If there are few different columns
        of numbers, and no `cell`, the rows of each are counted instead, which is faster.
    frequency : ndarray of int64, shape (n_rows,), default=None
        Number of equal people of each row, which counts and sums are over; None: 1. A row is
        entered once for each bit of its frequency, in cells of their own.

    Examples
    --------
    >>> items = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]], dtype=bool)  # F, M, old
    >>> refused = np.array([1, 0, 0, 0])
    >>> lattice = Lattice(items, feature=[0, 0, 1], cell=refused, n_cells=2)
    >>> found = lattice.mine(keep=lambda counts: counts[:, 1] > 0)  # a bound: some are refused
    >>> found.items.tolist(), found.counts.tolist()
    ([[0, -1], [2, -1], [0, 2]], [[1, 1], [1, 1], [0, 1]])
    """

    def __init__(
        self,
        items: np.ndarray,
        feature: np.ndarray,
        cell: np.ndarray | None = None,
        n_cells: int = 1,
        values: np.ndarray | None = None,
        frequency: np.ndarray | None = None,
    ) -> None:
        self.table, values = None, None if values is None else np.asarray(values)
        if values is not None and cell is None:
            cell, self.table = few_cells(values)
            if self.table is not None:
                n_cells, values = len(self.table), None
        cell = np.zeros(items.shape[1], dtype=np.int64) if cell is None else np.asarray(cell)
        feature = np.asarray(feature)
        self.feature = np.cumsum(np.diff(feature, prepend=feature[:1]) != 0)  # from 0
        self.n_cells, self.scale = n_cells, None
        if frequency is not None and frequency.max(initial=1) > 1:
            # The people of a row as a sum of powers of two: then counting people stays counting
            # bits.
            row, bit, self.scale = _by_bits(frequency)
            items, cell = items[:, row], bit * n_cells + cell[row]
            values = None if values is None else values[:, row] * self.scale[bit]
            n_cells *= len(self.scale)
        n_rows = items.shape[1]
        order = np.argsort(cell, kind="stable")
        items = np.take(items, order, axis=1)
        ends = np.cumsum(np.bincount(cell, minlength=n_cells))
        blocks = [_pack(part) for part in np.split(items, ends[:-1], axis=1)]
        self.bits = np.concatenate(blocks, axis=1)
        self.edges = np.concatenate([[0], np.cumsum([b.shape[1] for b in blocks])])
        self.values = np.zeros((0 if values is None else len(values), 64 * self.bits.shape[1]))
        if values is not None:
            cell = cell[order]
            first = 64 * self.edges[:-1] - np.concatenate([[0], ends[:-1]])
            self.values[:, first[cell] + np.arange(n_rows)] = values[:, order]

    def mine(
        self,
        min_count: float = 1,
        max_len: int | None = None,
        *,
        roots: np.ndarray | None = None,
        keep: Callable | None = None,
        before_block: Callable | None = None,
        numbers: np.ndarray | None = None,
    ) -> Patterns:
        """Return the conjunctions that cover at least `min_count` rows.

        Parameters
        ----------
        min_count : int
        max_len : int or None
            Most items in a conjunction.
        roots : sequence of int or None
            Items that a conjunction must begin with: only conjunctions whose first item is among
            them are made. None: all.
        keep : callable or None
            ``keep(counts)`` gets an array of shape (n, n_cells) and returns a bool array; a
            conjunction that is not kept is neither returned nor extended.
        before_block : callable or None
            ``before_block(n)`` gets the number of candidates that come next, and returns how many
            of them may be evaluated; fewer ends the walk.
        numbers : ndarray of int, shape (n_items,), or None
            The numbers of the items in the patterns; None: from 0.

        Returns
        -------
        Patterns
        """
        max_len = len(np.unique(self.feature)) if max_len is None else max_len
        walk = _Walk(self, min_count, max_len, keep, before_block)
        everyone = _Block(
            np.empty((1, 0), np.int32), np.full((1, self.bits.shape[1]), ~np.uint64(0))
        )
        items = np.arange(len(self.bits))
        done, stack = [], []
        for block, *totals in walk.extend(everyone, np.zeros(len(items), np.intp), items):
            chosen = slice(None) if roots is None else np.isin(block.patterns[:, 0], roots)
            done.append((block.patterns[chosen], *(t[chosen] for t in totals)))
            stack.append((block, *block.extensions(self.feature, chosen)))
        while stack and not walk.stopped:
            block, parents, items = stack.pop()
            for child, *totals in walk.extend(block, parents, items):
                done.append((child.patterns, *totals))
                stack.append((child, *child.extensions(self.feature)))
        patterns = _collect(done, self.n_cells, len(self.values), numbers)
        if self.table is None:
            return patterns
        counts = patterns.counts
        return Patterns(patterns.items, counts.sum(axis=1)[:, None], counts @ self.table)

    def people(self, counts: np.ndarray) -> np.ndarray:
        """Return counts by cell, shape (n, n_cells), from the counts of the cells of each bit."""
        if self.scale is None:
            return counts
        by_bit = counts.reshape(len(counts), len(self.scale), self.n_cells)
        return np.einsum("nbc,b->nc", by_bit, self.scale)


class _Walk:
    """The settings of one walk, and the step from patterns to their frequent extensions."""

    def __init__(self, lattice, min_count, max_len, keep, before_block):
        self.lattice, self.min_count, self.max_len = lattice, min_count, max_len
        self.keep, self.before_block = keep, before_block
        self.stopped, self._memory = False, {}

    def covers_of(self, block, positions):
        """Return the covers of the patterns at these positions (in increasing order), each once.

        Returns `covers`, of shape (n_distinct, n_words); `which`: for each position, the row of
        `covers`; `distinct`: for each row of `covers`, the position.

        Blocks are extended depth first: when one is, nothing needs the covers of an earlier block
        with as many items any more. So those of each length have one memory.
        """
        distinct, which = np.unique(positions, return_inverse=True)
        if block.parent is None:
            return block.covers, which, distinct
        length, bits = block.patterns.shape[1], self.lattice.bits
        if len(self._memory.get(length, ())) < len(distinct):
            self._memory[length] = np.empty((len(distinct), bits.shape[1]), dtype=np.uint64)
        out = self._memory[length][: len(distinct)]
        _kernels.join(block.covers, block.parent[distinct], bits, block.patterns[distinct, -1], out)
        return out, which, distinct

    def extend(self, block, parents, items):
        """Yield the frequent ones of ``block.patterns[parents]`` + `items`, in bounded blocks."""
        if block.patterns.shape[1] >= self.max_len or not len(items):
            return
        covers, parents, origin = self.covers_of(block, parents)
        for part in _whole_groups(parents, max(1, _COVER_BYTES // (8 * covers.shape[1]))):
            n = part.stop - part.start
            allowed = self.before_block(n) if self.before_block else n
            self.stopped = allowed < n
            part = slice(part.start, part.start + allowed)
            counts = _kernels.count(
                covers, parents[part], self.lattice.bits, items[part], self.lattice.edges
            )
            counts = self.lattice.people(counts)
            good = counts.sum(axis=1) >= self.min_count
            if self.keep is not None:
                good[good] = self.keep(counts[good])
            p, i = parents[part][good], items[part][good].astype(np.int32)
            patterns = np.column_stack([block.patterns[origin[p]], i])
            yield _Block(patterns, covers, p), counts[good], self._sums(covers, p, i)
            if self.stopped:
                return

    def _sums(self, covers, parents, items):
        """Add up the values of the rows in ``covers[parents] & bits[items]``."""
        out = np.zeros((len(items), len(self.lattice.values)))
        size = max(1, _COVER_BYTES // (8 * covers.shape[1])) if out.size else len(items) + 1
        for start in range(0, len(items) if out.size else 0, size):
            part = slice(start, start + size)
            joined = _kernels.join(covers, parents[part], self.lattice.bits, items[part])
            out[part] = _kernels.sums(joined, self.lattice.values)
        return out


class _Block:
    """Patterns, grouped by parent, and the covers of the parents.

    The cover of pattern r is ``covers[parent[r]] & bits[last item of r]``; it is computed when the
    pattern is extended, so patterns without extensions have none.
    """

    def __init__(self, patterns, covers, parent=None):
        self.patterns, self.covers, self.parent = patterns, covers, parent

    def extensions(self, feature, chosen=slice(None)):
        """Pair each chosen pattern with its later siblings of another feature.

        Returns `positions` and `item`: position of the pattern, and the item to add.
        """
        item, group = self.patterns[:, -1], self.parent
        active = np.zeros(len(item), dtype=bool)
        active[chosen] = True
        # within a group items, and so features, increase: find the first sibling of another one
        rank = group.astype(np.int64) * (int(feature.max(initial=0)) + 1) + feature[item]
        start = np.searchsorted(rank, rank, side="right")
        n_each = np.where(active, np.searchsorted(group, group, side="right") - start, 0)
        positions = np.repeat(np.arange(len(item)), n_each)
        return positions, item[start[positions] + numbered_within(n_each)]


def _by_bits(frequency):
    """Return row and bit number of each set bit of frequencies, and the value of each bit."""
    bits = 1 << np.arange(int(frequency.max()).bit_length())
    rows_by_bit = {bit: np.flatnonzero(frequency & bit) for bit in bits.tolist()}
    rows_by_bit = {bit: rows for bit, rows in rows_by_bit.items() if len(rows)}
    rows, sizes = np.concatenate([*rows_by_bit.values()]), [*map(len, rows_by_bit.values())]
    return rows, np.repeat(np.arange(len(sizes)), sizes), np.array([*rows_by_bit])


def _whole_groups(parents, size):
    """Cut candidates into slices of about `size`, never between candidates of one parent."""
    start, n = 0, len(parents)
    while start < n:
        stop = min(start + size, n)
        if stop < n:
            stop = int(np.searchsorted(parents, parents[stop - 1], side="right"))
        yield slice(start, stop)
        start = stop


def _pack(items):
    """Pack bool rows into 64-bit words, the last one padded with zeros."""
    packed = np.packbits(items, axis=1)
    padded = np.zeros((len(items), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view(np.uint64)


def _collect(done, n_cells, n_values, numbers):
    """Return the patterns of all blocks in one table, sorted by length, then by items."""
    empty_block = (
        np.empty((0, 1), np.int32),
        np.empty((0, n_cells), np.int64),
        np.empty((0, n_values)),
    )
    done = [empty_block, *done]
    width = max(p.shape[1] for p, _, _ in done)
    items = np.concatenate(
        [np.pad(p, ((0, 0), (0, width - p.shape[1])), constant_values=PAD) for p, _, _ in done]
    )
    counts = np.concatenate([c for _, c, _ in done]).reshape(-1, n_cells)
    sums = np.concatenate([s for _, _, s in done])
    items = items if numbers is None else np.append(numbers, PAD)[items]
    return in_order(items, counts, sums)


def least_of(share: float, total: float | np.ndarray) -> np.ndarray:
    """Return the smallest size that is a share of a total, at least 1.

    Examples
    --------
    >>> print(least_of(0.02, 120))
    3.0
    """
    return np.maximum(1, np.ceil(share * np.asarray(total) - 1e-9))


def few_cells(columns):
    """Return cells of rows with equal columns, if there are few distinct ones.

    Returns `cell`: None if there are more than 16 cells; `table`, of shape (n_cells, n_columns):
    the columns of each cell. Shapes: `columns` (n_columns, n_rows).
    """
    if not columns.shape[1]:
        return None, None
    cell = np.zeros(columns.shape[1], dtype=np.int64)
    for i, column in enumerate(columns):
        if (column == column[0]).all() or (i and np.array_equal(column, columns[i - 1])):
            continue
        codes, values = pd.factorize(column)
        cell, distinct = pd.factorize(cell * len(values) + codes)
        if len(distinct) > _FEW:
            return None, None
    first = np.zeros(cell.max(initial=-1) + 1, dtype=np.int64)
    first[cell[::-1]] = np.arange(len(cell))[::-1]
    table = columns[:, first].T
    order = np.lexsort(table.T)
    return np.argsort(order)[cell], table[order]
