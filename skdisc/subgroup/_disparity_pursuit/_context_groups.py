"""Groups under test: protected parts in contexts of legitimate conditions."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from skdisc._space._codes import PAD
from skdisc._space._items import Items
from skdisc._space._subgroup import Subgroup
from skdisc.subgroup._estimation._contrasts import context_of
from skdisc.subgroup._lattice._lattice import Lattice

_SEED = 5  # of the random numbers by which equal sets of rows are recognized


class CellRows(NamedTuple):
    """Some rows, the cell of each, and for each part its groups and the cells of their contexts."""

    at: np.ndarray
    cell: np.ndarray
    of_part: list


@dataclass(frozen=True)
class ContextGroups:
    """Groups under test: a protected part within a context.

    Sums over contexts are those of a sparse matrix of contexts by *cells*: a cell holds the rows
    that belong to the same contexts.

    Attributes
    ----------
    groups : list of Subgroup
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

    @classmethod
    def mined(
        cls,
        items: Items,
        least: float,
        max_predicates: int | None,
        spend: Callable,
        frequency: np.ndarray | None = None,
    ) -> "ContextGroups":
        """Pair all frequent protected parts with all frequent contexts.

        Of two sides of a context the smaller is kept; of equal sets of rows in a context, one.

        Parameters
        ----------
        items : Items
        least : float
            Smallest number of people of a group, and of the rest of its context.
        max_predicates : int or None
            Most conditions of a group.
        spend : callable
            ``spend(n)`` returns how many of n candidates may be tested.
        frequency : ndarray of int64, shape (n_rows,), default=None
            Number of people of each row; None: 1.

        Returns
        -------
        ContextGroups
        """
        most = len(items.codes) if max_predicates is None else max_predicates
        parts, masks = _conjunctions(items, items.protected, least, most, frequency)
        parts, masks = parts[1:], masks[1:]  # the first is everyone
        contexts, at = _conjunctions(items, ~items.protected, least, most - 1, frequency)
        of_cell, first = _cells(at[(contexts != PAD).sum(axis=1) == 1])
        cells = _by_cell(of_cell, len(first))
        members = sparse.csr_matrix(at[:, first].astype(float))
        people = np.ones(masks.shape[1]) if frequency is None else frequency.astype(float)
        inside = members @ (cells @ (masks * people).T)
        total = members @ (cells @ people)
        length = (contexts != PAD).sum(axis=1)[:, None] + (parts != PAD).sum(axis=1)
        ok = (length <= most) & (inside >= least) & (total[:, None] - inside >= least)
        context, part = np.nonzero(ok)
        order = np.lexsort((inside[ok], length[ok]))
        context, part = context[order], part[order]
        keep, mirror = _distinct(members, cells, masks, context, part)
        keep = keep[: spend(len(keep))]
        context, part, mirror = context[keep], part[keep], mirror[: len(keep)]
        both = (_ItemGroups(items, parts, contexts, p, context) for p in (part, mirror))
        sums = inside[context, part], total[context]
        return cls(*both, part, context, masks, members, cells, *sums)

    @classmethod
    def given(
        cls,
        groups: Sequence[Subgroup],
        protected: Sequence[Hashable],
        X: pd.DataFrame,
        frequency: np.ndarray | None = None,
    ) -> "ContextGroups":
        """Return given groups as candidates on the rows of X."""
        parts = [Subgroup([p for p in g.predicates if p.column in protected]) for g in groups]
        contexts = [context_of(g, protected) for g in groups]
        different = [list(dict.fromkeys(several)) for several in (parts, [Subgroup(), *contexts])]
        masks = [
            np.array([g.mask(X) for g in several]).reshape(len(several), len(X))
            for several in different
        ]
        part, context = (
            np.array([d.index(g) for g in several], dtype=int)
            for d, several in zip(different, (parts, contexts), strict=True)
        )
        members = sparse.csr_matrix(masks[1].astype(float))
        cells = sparse.eye_array(len(X), format="csr")
        people = np.ones(len(X)) if frequency is None else frequency.astype(float)
        inside = (members @ (masks[0] * people).T)[context, part]
        total = (members @ people)[context]
        sides = [None] * len(groups)
        return cls(groups, sides, part, context, masks[0], members, cells, inside, total)

    def __len__(self) -> int:
        return len(self.part)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.cells.shape[1]

    def over_contexts(self, planes: np.ndarray) -> np.ndarray:
        """Sum rows of numbers, shape (n, n_rows), over each context: shape (n_contexts, n)."""
        return self.members @ (self.cells @ np.asarray(planes).T)

    def over_groups(
        self, plane_of: Callable, values: np.ndarray, rows: CellRows | None = None
    ) -> np.ndarray:
        """Sum values times numbers of parts over the context of each group, shape (n, n_groups).

        Parameters
        ----------
        plane_of : callable
            ``plane_of(part)`` returns the numbers of these rows for groups with this part.
        values : ndarray of float, shape (n, n_some_rows)
        rows : CellRows or None
            Rows to sum over; None: all.
        """
        rows = self._everyone if rows is None else rows
        found = np.zeros((len(values), len(self)))
        for part, own, members in rows.of_part:
            for total, plane in zip(found, plane_of(part) * values, strict=True):
                total[own] = members @ np.bincount(rows.cell, plane, members.shape[1])
        return found

    def products(self, planes: np.ndarray, rows: CellRows, factors: np.ndarray) -> np.ndarray:
        """Sum planes times factors over the context of each group.

        Parameters
        ----------
        planes : ndarray of float32, shape (n_parts, n_some_rows)
        rows : CellRows
            From `rows_at`.
        factors : ndarray of float32, shape (n_some_rows, n_factors)

        Returns
        -------
        ndarray of float32, shape (n_groups, n_factors)
        """
        found = np.zeros((len(self), factors.shape[1]), dtype=np.float32)
        ends = np.arange(len(rows.at) + 1)
        for part, own, members in rows.of_part:
            shape = members.shape[1], len(rows.at)
            found[own] = members @ (
                sparse.csc_matrix((planes[part], rows.cell, ends), shape) @ factors
            )
        return found

    def rows_at(self, at: np.ndarray) -> CellRows:
        """Return some rows, to sum products over in single precision."""
        of_part = [(p, own, m.astype(np.float32)) for p, own, m in self._everyone.of_part]
        return CellRows(at, self.cell[at], of_part)

    def rows_of(self, group: int) -> CellRows:
        """Return the rows in the context of a group."""
        context = int(self.context[group])
        if context not in self._rows:
            self._rows[context] = self._some(self.members[[context]].indices)
        return self._rows[context]

    def context_mask(self, group: int) -> np.ndarray:
        """Return a bool mask of the rows in the context of a group."""
        inside = np.zeros(self.members.shape[1], dtype=bool)
        inside[self.members[[int(self.context[group])]].indices] = True
        return inside[self.cell]

    def _some(self, cells):
        """Return the rows of some cells."""
        new = np.full(self.members.shape[1], -1)
        new[cells] = np.arange(len(cells))
        at = np.flatnonzero(new[self.cell] >= 0)
        of_part = [(p, own, members[:, cells]) for p, own, members in self._everyone.of_part]
        return CellRows(at, new[self.cell[at]], of_part)

    @cached_property
    def cell(self) -> np.ndarray:
        """The cell of each row."""
        return self.cells.T.tocsr().indices

    @cached_property
    def _everyone(self):
        """All rows."""
        own = {int(p): np.flatnonzero(self.part == p) for p in np.unique(self.part)}
        of_part = [(p, at, self.members[self.context[at]]) for p, at in own.items()]
        return CellRows(np.arange(self.n_rows), self.cell, of_part)

    @cached_property
    def _rows(self):
        return {}


@dataclass(frozen=True)
class _ItemGroups:
    """Groups of items, each made when it is asked for; None where the part is -1."""

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


def _distinct(members, cells, is_part, context, part):
    """Return which pairs are kept, and the part that makes up the rest of the context, or -1."""
    key = _random_keys(is_part.shape[1])
    cells, members = cells.astype(np.uint64), members.astype(np.uint64)
    own = (members @ (cells @ (is_part * key).T))[context, part]
    rest = (members @ (cells @ key))[context] - own
    table = pd.DataFrame({"context": context, "low": np.minimum(own, rest)})
    table["high"] = np.maximum(own, rest)
    keep = np.flatnonzero(~table.duplicated())
    of = pd.DataFrame({"context": context, "own": own, "part": part})
    of = of.drop_duplicates(["context", "own"]).set_index(["context", "own"])["part"]
    wanted = pd.MultiIndex.from_arrays([context[keep], rest[keep]])
    return keep, of.reindex(wanted).fillna(-1).to_numpy().astype(np.int64)


def _cells(masks):
    """Return the cell of each row, by the conditions it satisfies, and the first row of each."""
    key = np.zeros(masks.shape[1], dtype=np.uint64)
    for mask, own in zip(masks, _random_keys(len(masks)), strict=True):
        key[mask] += own
    number = pd.factorize(key)[0]
    return number, np.unique(number, return_index=True)[1]


def _random_keys(n):
    """Return random numbers by whose sums sets are recognized."""
    return np.random.default_rng(_SEED).integers(2**62, size=n, dtype=np.uint64)


def _by_cell(of_cell, n_cells):
    """Return the matrix that sums rows by cell."""
    n = len(of_cell)
    return sparse.csr_matrix((np.ones(n), (of_cell, np.arange(n))), shape=(n_cells, n))


def _conjunctions(items, allowed, least, most, frequency):
    """Return conjunctions of allowed items with at least so many people, and masks of their rows.

    The first is that of no item. Of conjunctions with the same rows, the shortest is kept.
    """
    at = items.distinct(np.flatnonzero(allowed))
    masks = items.masks(at)
    everyone = np.ones((1, items.codes.shape[1]), dtype=bool)
    if not len(at) or most < 1:
        return np.full((1, 1), PAD), everyone
    found = Lattice(masks, items.feature[at], frequency=frequency).mine(least, most).items
    rows = [everyone, *(masks[p[p != PAD]].all(axis=0, keepdims=True) for p in found)]
    rows = np.concatenate(rows)
    keys = pd.Series([r.tobytes() for r in np.packbits(rows, axis=1)])
    keep = ~keys.duplicated().to_numpy()
    numbers = np.append(at, PAD)[np.vstack([np.full((1, found.shape[1]), PAD), found])]
    return numbers[keep], rows[keep]
