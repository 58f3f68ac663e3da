"""Groups under test: protected parts in contexts of legitimate conditions."""

import itertools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from skdisc._space._codes import PAD
from skdisc._space._items import Items
from skdisc._space._subgroup import Subgroup
from skdisc._utils._frequency import numbered_within
from skdisc._utils._run_clock import go_on
from skdisc.subgroup._estimation._contrasts import context_of, protected_part
from skdisc.subgroup._lattice._sets_of_cells import random_keys, sets_of_cells

_BLOCK = 2**14  # rows at a time, which fit the cache
_AT_ONCE = 2**22  # numbers of cells that are summed at once
_CELLS = 2**12  # cells at a time, whose numbers fit the cache
_CONTEXTS = 512  # that are hashed at once


class CellMoments:
    """Sums of products of two planes, and of further numbers, over the rows of each cell.

    Within a cell, the regressor of every group is the plane of its part, or 0. So these sums need
    one pass over the rows, and the sums of products of any two regressors follow from them.

    Shapes: `cells` (n_cells, n_rows), `planes` (n, n_rows).
    """

    def __init__(self, cells: sparse.csr_matrix, planes: Sequence[np.ndarray]) -> None:
        self.row, self.ends = cells.indices, cells.indptr
        self.planes = np.empty((cells.shape[1], sum(map(len, planes))))
        for column, plane in zip(self.planes.T, itertools.chain(*planes), strict=True):
            column[:] = plane[self.row]

    def over_cells(self, values: np.ndarray, plane_numbers: Sequence[int]) -> np.ndarray:
        """Return sums of squared planes, and of planes times each of some planes, all times values.

        The result has shape (1 + n_numbers, n_cells, n_planes).
        """
        values, n_cells = values[self.row], len(self.ends) - 1
        sums = np.empty((1 + len(plane_numbers), n_cells, self.planes.shape[1]))
        steps = np.searchsorted(self.ends, np.arange(0, len(values), _BLOCK))
        for first, last in itertools.pairwise(np.unique([0, *steps, n_cells])):
            ends = self.ends[first : last + 1]
            planes, block_values = self.planes[ends[0] : ends[-1]], values[ends[0] : ends[-1]]
            positions, ends = np.arange(len(block_values)), ends - ends[0]
            shape = last - first, len(block_values)
            sums[0, first:last] = (
                sparse.csr_matrix((block_values, positions, ends), shape) @ planes**2
            )
            for total, k in zip(sums[1:], plane_numbers, strict=True):
                scaled = sparse.csr_matrix((block_values * planes[:, k], positions, ends), shape)
                total[first:last] = scaled @ planes
        return sums


@dataclass(frozen=True)
class ContextGroups:
    """Groups under test: a protected part within a context.

    Sums over contexts are products with a sparse matrix of contexts by *cells*: a cell holds the
    rows that belong to the same contexts.

    Attributes
    ----------
    sides : list of Subgroup or None
        The rest of the context of each group, where it is a group as well.
    part, context : ndarray of int, shape (n_groups,)
        What each group consists of.
    is_part : ndarray of bool, shape (n_parts, n_rows)
    members : sparse array of float, shape (n_contexts, n_cells)
        The first context is everyone.
    cells : sparse array of float, shape (n_cells, n_rows)
    support, support_context : ndarray of float, shape (n_groups,)
        Numbers of people.
    n_protected : ndarray of int, shape (n_groups,)
        Numbers of conditions on protected columns.
    single_parts : ndarray of int
        The parts of one protected column that are candidates.
    verdict_groups : ContextGroups or None
        The groups that verdicts are about, of the same parts and contexts: with a side of some
        size, and however few people to compare it with.
    """

    groups: Sequence
    sides: Sequence
    part: np.ndarray
    context: np.ndarray
    is_part: np.ndarray
    members: sparse.csr_matrix
    cells: sparse.csr_matrix
    support: np.ndarray
    support_context: np.ndarray
    n_protected: np.ndarray
    single_parts: np.ndarray
    verdict_groups: "ContextGroups | None" = None

    @classmethod
    def mined(
        cls,
        items: Items,
        least: float,
        max_predicates: int | None,
        spend: Callable,
        frequency: np.ndarray | None = None,
        relevant: tuple[float, np.ndarray] | None = None,
        depth: int | None = None,
    ) -> "ContextGroups":
        """Pair all frequent protected parts with all frequent contexts.

        If two groups are the two sides of a context, the smaller is kept; if several have equal
        rows in a context, one.

        Parameters
        ----------
        least : float
            Smallest number of people of a group, and of the rest of its context.
        max_predicates : int or None
            Most conditions of a group.
        spend : callable
            ``spend(n)`` returns how many of n candidates may be tested.
        frequency : ndarray of int64, shape (n_rows,), default=None
            Number of people of each row; None: 1.
        relevant : tuple of float and ndarray of float, shape (n_rows,), default=None
            The smallest size of a group that verdicts are about, and the size of the people of
            each row. None: there is no such question.
        depth : int, default=None
            Most conditions of the groups paired; protected parts may be of longer groups. None:
            `max_predicates`.
        """
        most = len(items.codes) if max_predicates is None else max_predicates
        fewest = least
        if relevant is not None:  # people of the smallest group that is judged, if all weigh most
            heaviest = relevant[1].max(initial=0.0) if frequency is None else 1.0
            fewest = max(1.0, min(least, relevant[0] / max(heaviest, 1.0)))
        parts, masks, cell_of_row = sets_of_cells(items, items.protected, fewest, most, frequency)
        parts, masks = parts[1:], masks[1:].toarray()[:, cell_of_row] > 0  # the first is everyone
        most = most if depth is None else min(depth, most)
        contexts, members, cell_of_row = sets_of_cells(
            items, allowed=~items.protected, least=fewest, most=most - 1, frequency=frequency
        )
        cells = _by_cell(cell_of_row, members.shape[1])
        people = np.ones(masks.shape[1]) if frequency is None else frequency.astype(float)
        inside = members @ (cells @ (masks * people).T)
        total = members @ (cells @ people)
        n_protected = (parts != PAD).sum(axis=1)
        is_single = (n_protected == 1) & (inside[0] >= least) & (total[0] - inside[0] >= least)
        length = (contexts != PAD).sum(axis=1)[:, None] + n_protected
        is_pair = (length <= most) & (inside >= least) & (total[:, None] - inside >= least)

        def paired(which, spend):
            context, part = np.nonzero(which)
            # Groups with few conditions come first: of several with equal rows the first is kept,
            # and a limit of tests cuts off the last.
            order = np.lexsort((inside[which], length[which]))
            context, part = context[order], part[order]
            keep, mirror = _distinct(members, cells, masks, context, part)
            keep = keep[: spend(len(keep))]
            context, part, mirror = context[keep], part[keep], mirror[: len(keep)]
            return cls(
                groups=_ItemGroups(items, parts, contexts, part, context),
                sides=_ItemGroups(items, parts, contexts, mirror, context),
                part=part,
                context=context,
                is_part=masks,
                members=members,
                cells=cells,
                support=inside[context, part],
                support_context=total[context],
                n_protected=n_protected[part],
                single_parts=np.flatnonzero(is_single),
            )

        frequent = paired(is_pair, spend)
        if relevant is None:
            return frequent
        size = members @ (cells @ (masks * relevant[1]).T)
        judged = (length <= most) & (size >= relevant[0])
        return replace(frequent, verdict_groups=paired(judged, lambda n: n))

    @classmethod
    def of_groups(
        cls,
        groups: Sequence[Subgroup],
        protected: Sequence[Hashable],
        X: pd.DataFrame,
        frequency: np.ndarray | None = None,
    ) -> "ContextGroups":
        """Return these groups as candidates on the rows of X."""
        parts = [protected_part(g, protected) for g in groups]
        is_part, part = _numbered_masks(parts, X)
        everyone_first = [Subgroup(), *(context_of(g, protected) for g in groups)]
        contexts, context = _numbered_masks(everyone_first, X)
        context = context[1:]
        members = sparse.csr_matrix(contexts.astype(float))
        people = np.ones(len(X)) if frequency is None else frequency.astype(float)
        n_protected = np.array([len(p.predicates) for p in parts], dtype=int)
        return cls(
            groups=groups,
            sides=[None] * len(groups),
            part=part,
            context=context,
            is_part=is_part,
            members=members,
            cells=sparse.eye_array(len(X), format="csr"),
            support=(members @ (is_part * people).T)[context, part],
            support_context=(members @ people)[context],
            n_protected=n_protected,
            single_parts=np.unique(part[n_protected == 1]),
        )

    def __len__(self) -> int:
        return len(self.part)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.cells.shape[1]

    def over_contexts(self, planes: np.ndarray) -> np.ndarray:
        """Sum rows of numbers, shape (n, n_rows), over each context: shape (n_contexts, n)."""
        return self.members @ (self.cells @ planes.T)

    def over_groups(
        self, planes: np.ndarray, factors: np.ndarray, rows: np.ndarray | None = None
    ) -> np.ndarray:
        """Sum, for each group, the plane of its part times the factors over its context.

        `rows`: the rows that planes and factors are of; None: all. The result has shape (n_groups,
        n_factors). Shapes: `planes` (n_parts, n_rows), `factors` (n_rows, n_factors).
        """
        cell = self.cell if rows is None else self.cell[rows]
        ends, shape = np.arange(len(cell) + 1), (self.members.shape[1], len(cell))

        def by_cell(part):
            plane = planes[part].astype(factors.dtype, copy=False)
            return (sparse.csc_matrix((plane, cell, ends), shape) @ factors).__getitem__

        return self.sums(by_cell, factors.shape[1], factors.dtype)

    def sums(self, columns_of: Callable, n_columns: int, dtype: Any = np.float64) -> np.ndarray:
        """Sum numbers of cells over the context of each group, shape (n_groups, n_columns).

        `columns_of`: ``columns_of(part)(cells)`` returns the numbers of a slice of the cells for
        groups with this part, of shape (n_some_cells, n_columns). `dtype`: that of these numbers.
        """
        group_sums = np.zeros((len(self), n_columns), dtype)
        for blocks, parts in self._of_parts:
            n_contexts, n_cells = blocks[0][1].shape[0], self.members.shape[1]
            size = max(1, _AT_ONCE // max(n_cells * n_columns, 1))
            for first in range(0, len(parts), size):
                go_on(f"adding up {len(self):,} groups")
                batch = parts[first : first + size]
                columns = [columns_of(part) for part, *_ in batch]
                total = np.zeros((n_contexts, len(batch) * n_columns), group_sums.dtype)
                for cells, block in blocks:
                    total += block @ np.hstack([numbers_of(cells) for numbers_of in columns])
                for i, (_, positions, contexts) in enumerate(batch):
                    group_sums[positions] = total[contexts, i * n_columns : (i + 1) * n_columns]
        return group_sums

    def sums_of(self, groups: Sequence[int], columns_of: Callable, n_columns: int) -> np.ndarray:
        """Sum numbers of cells over the contexts of some groups, as `sums`: (n, n_columns)."""
        index, group_sums = np.array(groups, dtype=int), np.zeros((len(groups), n_columns))
        for part in np.unique(self.part[index]):
            in_part = self.part[index] == part
            contexts = self.members[self.context[index[in_part]]]
            group_sums[in_part] = contexts @ columns_of(part)(slice(None))
        return group_sums

    @cached_property
    def _of_parts(self):
        """The contexts of the groups of each protected part, as matrices of contexts by cells.

        Parts whose contexts have at least half of all entries share one matrix of all contexts, as
        copies of it would take too much memory. The others have a matrix of their own contexts.

        Returns a list of (blocks, parts): `blocks`: the matrix, from `blocks_of_cells`. `parts`:
        for each part its number, the positions of its groups, and the rows of the matrix with their
        contexts.
        """
        sizes, shared, separate = np.diff(self.members.indptr), [], []
        for part in np.unique(self.part):
            positions = np.flatnonzero(self.part == part)
            contexts = self.context[positions]
            if 2 * sizes[contexts].sum() >= sizes.sum():
                shared.append((part, positions, contexts))
            else:
                blocks = blocks_of_cells(self.members[contexts])
                separate.append((blocks, [(part, positions, np.arange(len(positions)))]))
        return ([(blocks_of_cells(self.members), shared)] if shared else []) + separate

    def context_mask(self, group: int) -> np.ndarray:
        """Return a bool mask of the rows in the context of a group."""
        inside = np.zeros(self.members.shape[1], dtype=bool)
        inside[self._cells_of(group)] = True
        return inside[self.cell]

    def spread(self, groups: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return, for each cell, the sum of the values of the groups whose contexts contain it."""
        total = np.zeros(self.members.shape[1])
        for group, value in zip(groups, values, strict=True):
            total[self._cells_of(group)] += value
        return total

    def _cells_of(self, group):
        first, end = self.members.indptr[self.context[group] :][:2]
        return self.members.indices[first:end]

    @cached_property
    def cell(self) -> np.ndarray:
        """The cell of each row."""
        return self.cells.T.tocsr().indices


@dataclass(frozen=True)
class _ItemGroups:
    """Groups of items, made on access; None where the part is -1."""

    items: Items
    parts: np.ndarray
    contexts: np.ndarray
    part: np.ndarray
    context: np.ndarray

    def __getitem__(self, i):
        if self.part[i] < 0:
            return None
        numbers = [*self.parts[self.part[i]], *self.contexts[self.context[i]]]
        return self.items.subgroup([number for number in numbers if number != PAD])


def _numbered_masks(groups, X):
    """Return the rows of each distinct group, shape (n, n_rows), and the number of each group."""
    distinct = list(dict.fromkeys(groups))
    masks = np.array([g.mask(X) for g in distinct]).reshape(len(distinct), len(X))
    return masks, np.array([distinct.index(g) for g in groups], dtype=int)


def _distinct(members, cells, is_part, context, part):
    """Return which pairs are kept, and the part that makes up the rest of the context, or -1."""
    # Sets of rows are compared by the sums of random keys modulo 2**64: equal sets have equal sums,
    # and others practically never do.
    key = random_keys(is_part.shape[1])
    by_cell = cells.astype(np.uint64) @ np.vstack([is_part * key, key]).T
    blocks = (members[i : i + _CONTEXTS] for i in range(0, members.shape[0], _CONTEXTS))
    total = np.concatenate([block.astype(np.uint64) @ by_cell for block in blocks])
    inside = total[context, part]
    rest = total[context, -1] - inside
    table = pd.DataFrame({"context": context, "low": np.minimum(inside, rest)})
    table["high"] = np.maximum(inside, rest)
    keep = np.flatnonzero(~table.duplicated())
    part_of = pd.DataFrame({"context": context, "rows": inside, "part": part})
    part_of = part_of.drop_duplicates(["context", "rows"]).set_index(["context", "rows"])["part"]
    mirrors = pd.MultiIndex.from_arrays([context[keep], rest[keep]])
    return keep, part_of.reindex(mirrors).fillna(-1).to_numpy().astype(np.int64)


def _by_cell(row_cell, n_cells):
    """Return the matrix that sums rows by cell."""
    n = len(row_cell)
    return sparse.csr_matrix((np.ones(n), (row_cell, np.arange(n))), shape=(n_cells, n))


def blocks_of_cells(members: sparse.csr_matrix) -> list[tuple[slice, sparse.csr_matrix]]:
    """Return the columns of a matrix of ones in blocks, each after its slice; at least one.

    All blocks share their ones, in single precision: a product with numbers in double precision
    takes a copy of them, and is exact.
    """
    ends = np.arange(0, max(members.shape[1], 1) + _CELLS, _CELLS)
    rows = itertools.pairwise(members.indptr)
    bounds = [first + np.searchsorted(members.indices[first:end], ends) for first, end in rows]
    bounds = np.array(bounds, dtype=np.int64).reshape(members.shape[0], len(ends))
    sizes, blocks = np.diff(bounds), []
    ones = np.ones(sizes.sum(axis=0).max(), dtype=np.float32)
    for k, (first, size) in enumerate(zip(ends[:-1], sizes.T, strict=True)):
        starts = np.cumsum([0, *size])
        entries = np.repeat(bounds[:, k], size) + numbered_within(size)
        cells = slice(first, min(first + _CELLS, members.shape[1]))
        arrays = ones[: len(entries)], members.indices[entries] - first, starts
        blocks.append((cells, sparse.csr_matrix(arrays, (len(size), cells.stop - cells.start))))
    return blocks
