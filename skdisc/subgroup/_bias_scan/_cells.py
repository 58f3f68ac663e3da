"""What a scan works on: rows gathered into cells, and the rules for subsets."""

from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skdisc._space._subgroup import Predicate, Subgroup
from skdisc._utils._frequency import count
from skdisc.subgroup._bias_scan._joined import joined
from skdisc.subgroup._bias_scan._weighted_outcome import weighed_null

_MOST_BINS = 64


@dataclass(frozen=True)
class ScanAttribute:
    """One attribute of the scan.

    Attributes
    ----------
    size : int
        Number of its values.
    ranges : ndarray of bool, shape (n_sets, size), or None
        The sets of values to choose from; None: any set.
    """

    size: int
    ranges: np.ndarray | None = None

    def cost(self, sets, penalty):
        """Return the penalty of sets of values, a bool array of shape (..., size)."""
        full = sets.all(axis=-1)
        n = 1 if self.ranges is not None else sets.sum(axis=-1)
        return np.where(full, 0.0, penalty * n)


@dataclass(frozen=True)
class Cells:
    """Cells of rows that agree in all values and in the bin of their expectation.

    Attributes
    ----------
    codes : sequence of ndarray of intp, shape (n_cells,)
        Per attribute.
    attributes : list of ScanAttribute
    n : ndarray of float, shape (n_cells,)
        Number of rows, or sum of their weights.
    apart : tuple of int
        Attributes that `moved` replaces.
    """

    codes: list
    attributes: list
    n: np.ndarray
    apart: tuple = ()

    @cached_property
    def joined(self):
        """Per attribute, the `CountedTogether` that it is one of, and its number there."""
        return joined(self.codes, [x.size for x in self.attributes], self.apart)

    def moved(self, codes):
        """Return the cells with other codes of the attributes that are `apart`.

        What is joined of the others is shared.
        """
        cells = Cells(codes, self.attributes, self.n, self.apart)
        anew = joined(codes, [x.size for x in self.attributes], self.apart)
        pairs = enumerate(zip(self.joined, anew, strict=True))
        shared = [new if j in self.apart else old for j, (old, new) in pairs]
        vars(cells)["joined"] = shared
        return cells


@dataclass(frozen=True)
class ScanRules:
    """Rules that a subset must obey.

    Attributes
    ----------
    penalty : float
        Penalty of each value of a condition.
    min_rows : float
    max_conditions : int
    required : tuple of int
        Attributes of which at least one must have a condition; empty: no such rule.
    """

    penalty: float
    min_rows: float
    max_conditions: int
    required: tuple


class Table:
    """Rows of an outcome, gathered into cells of equal values and equal (bins of) expectations.

    Nothing depends on the order of rows and columns, or on the names of values: columns are sorted
    by name, and values by their counts and outcomes.

    Parameters
    ----------
    items : Items
        One per value or range of each feature.
    outcome : Outcome

    Attributes
    ----------
    cells : Cells
    p : list of ndarray of float
        Per target, the expected share of each bin.
    bins : list of ndarray of int, shape (n_cells,)
        Per target, the bin of each cell.
    a, h : ndarray of float, shape (n_targets, n_cells)
        Sums of the terms of the score.
    """

    def __init__(self, items, outcome):
        self._predicates, self._outcome, self._fixed = items.predicates, outcome, None
        self._rows = None
        self._items, columns, attributes = [], [], []
        mass = outcome.mass
        y = outcome.y[0] * mass if len(outcome.y) else np.zeros(items.codes.shape[1])
        for j in _by_name(items):
            numbers = np.flatnonzero(items.feature == j)
            local = items.codes[j] - numbers[0]
            ranges = self._ranges(numbers)
            if ranges is None:
                n = np.bincount(local, mass, minlength=len(numbers))
                order = np.lexsort((np.bincount(local, y, minlength=len(numbers)), n))
                numbers, local = numbers[order], np.argsort(order)[local]
            self._items.append(numbers)
            columns.append(local.astype(np.intp, copy=False))
            attributes.append(ScanAttribute(len(numbers), ranges))
        self.protected = tuple(
            i for i, item_numbers in enumerate(self._items) if items.protected[item_numbers[0]]
        )
        binned = [_binned(mu, outcome.frequency) for mu in outcome.mu]
        row_bins, self.p = zip(*binned, strict=True)
        if not outcome.is_share:  # sums are sufficient
            row_bins = tuple(np.zeros_like(b) for b in row_bins)
        self._attributes, self._columns, self._row_bins = attributes, columns, row_bins
        self._parts, self._mass = outcome.parts(), mass
        self._means = self.p
        if outcome.kind != "odds":
            self.p = [np.ones(1)] * len(self.p)
        self._fill(*_gather([*columns, *row_bins]))

    def _fill(self, cell, first, order=None):
        """Add up the rows of each cell, in some order; `first` has one row of each."""
        outcome, parts = self._outcome, self._parts
        exact = outcome.kind == "odds" and outcome.weight is None  # sums of whole numbers
        if order is None:  # sums do not depend on the order of rows
            order = slice(None) if exact else np.lexsort((*parts[1], *parts[0], cell))
        self._cell, self._order = cell[order], order
        codes = [c[first] for c in self._columns]
        self.cells = Cells(codes, self._attributes, np.bincount(cell, self._mass))
        self.bins = self._bins_of([b[first] for b in self._row_bins])
        self._first = first
        self.a, self.h = (
            np.array([np.bincount(cell[order], w, minlength=len(first)) for w in part[:, order]])
            for part in parts
        )

    def redrawn(self, drawn):
        """Return the table of people whose protected columns were drawn anew.

        Returns
        -------
        Table
            Its rows are sorted, so that its sums may depend on their order.
        """
        table = copy(self)
        names = [self._predicates[item_numbers[0]].column for item_numbers in self._items]
        pairs, row = list(zip(names, self._columns, strict=True)), drawn.row
        if self._fixed is None:
            fixed = [c for name, c in pairs if name not in drawn.donors]
            self._fixed = _gather([*fixed, *self._row_bins])[0]
        fixed = self._fixed
        if drawn.people is None and 2 * fixed.max(initial=0) > len(fixed):
            return self._moved([c[drawn.donors[n]] if n in drawn.donors else c for n, c in pairs])
        columns = [c[drawn.donors.get(name, row)] for name, c in pairs]
        table._columns = columns
        if drawn.people is not None:
            fixed, table._row_bins = fixed[row], tuple(b[row] for b in self._row_bins)
            table._mass = drawn.people.astype(float)
            table._parts = [x[:, row] * table._mass for x in self._outcome.terms()]
        moved = [c for name, c in zip(names, columns, strict=True) if name in drawn.donors]
        cell = first = np.arange(len(fixed))
        if 2 * fixed.max(initial=0) <= len(fixed):  # else nearly all rows are distinct
            cell, first = _gather([fixed, *moved])
        table._fill(cell, first, slice(None))
        return table

    def _moved(self, columns):
        """Return the table of rows that are a cell each, with these codes."""
        if self._rows is None:
            self._rows = copy(self)
            self._rows.cells = Cells(self._columns, self._attributes, self._mass, self.protected)
            self._rows.bins, (self._rows.a, self._rows.h) = (
                self._bins_of(self._row_bins),
                self._parts,
            )
        table = copy(self._rows)
        table.cells = self._rows.cells.moved(columns)
        return table

    def _bins_of(self, bins):
        """Return the bins of the score, which only that of odds has."""
        return [b if self._outcome.kind == "odds" else np.zeros_like(b) for b in bins]

    def _ranges(self, numbers):
        """Return the sets that are one range or the missing values; None: any set is allowed."""
        range_items = [i for i in numbers if self._predicates[i].values is None]
        if not range_items:
            return None
        size, n = len(numbers), len(range_items)
        positions = np.arange(size)
        ranges = [(positions >= i) & (positions <= j) for i in range(n) for j in range(i, n)]
        sets = [*ranges, *(positions == i for i in range(n, size))]
        return np.array([s for s in sets if not s.all()])

    def subgroup(self, sets):
        """Return the `Subgroup` of one set of values per attribute."""
        pairs = zip(self._items, sets, strict=True)
        return Subgroup(
            [self._predicate(numbers[chosen]) for numbers, chosen in pairs if not chosen.all()]
        )

    def _predicate(self, numbers):
        chosen = [self._predicates[i] for i in numbers]
        first, last = chosen[0], chosen[-1]
        if first.values is None:
            return Predicate.between(first.column, first.low, last.high)
        return Predicate.isin(first.column, [v for p in chosen for v in p.values])

    def null(self, n, rng):
        """Draw data in which the expectations hold.

        Outcomes are drawn from the expectations of a model; if the mean is expected, outcomes are
        permuted over the rows, which keeps their mean.

        Returns
        -------
        ndarray of float, shape (n_targets, n, n_cells)
        """
        outcome, rows = self._outcome, self.cells.n.astype(np.int64)
        if outcome.weight is not None:
            return weighed_null(outcome, self._cell, self._order, len(rows), n, rng)
        if outcome.is_mean and outcome.is_share:
            return np.moveaxis([deal(rows, self.a, rng) for _ in range(n)], 0, 1).astype(float)
        if outcome.is_mean:
            dealt, values = np.empty((len(self.a), n, len(rows))), self._parts[0][:, self._order]
            for i in range(n):
                permutation = rng.permutation(len(self._cell))
                dealt[:, i] = [np.bincount(self._cell, w[permutation], len(rows)) for w in values]
            return dealt
        if outcome.is_share:
            pairs = zip(self._means, self._row_bins, strict=True)
            shares = np.array([p[b[self._first]] for p, b in pairs])
            if len(shares) == 1:
                return rng.binomial(rows, shares[0], size=(1, n, len(rows))).astype(float)
            shares = shares.T / shares.sum(axis=0)[:, None]
            drawn = rng.multinomial(rows, shares, size=(n, len(rows)))
            return np.moveaxis(drawn, -1, 0).astype(float)
        if outcome.kind == "rate":
            return rng.poisson(self.h[:, None], size=(len(self.h), n, len(rows))).astype(float)
        return rng.normal(0, np.sqrt(self.h)[:, None], size=(len(self.h), n, len(rows)))


def deal(people, counts, rng):
    """Deal outcomes at random to the people of cells.

    Parameters
    ----------
    people : ndarray of int64, shape (n_cells,)
    counts : ndarray of float, shape (n_outcomes, n_cells)
        The sum of each row is kept.
    rng : Generator

    Returns
    -------
    ndarray of int64, shape (n_outcomes, n_cells)
    """
    dealt = np.empty(counts.shape, dtype=np.int64)
    for row, n in zip(dealt, counts.sum(axis=1).astype(np.int64), strict=True):
        # One draw per cell, not a permutation of the rows, whose cost would grow with people.
        row[:] = rng.multivariate_hypergeometric(people, n, method="marginals")
        people = people - row
    return dealt


def _by_name(items):
    """Return the features with at least two items, sorted by the names of their columns."""
    n_items = np.bincount(items.feature, minlength=len(items.codes))
    first = {j: int(np.argmax(items.feature == j)) for j in np.flatnonzero(n_items > 1)}
    return sorted(first, key=lambda j: str(items.predicates[first[j]].column))


def _binned(p, frequency):
    """Return the bin of each expectation, and the mean of each bin: a value, or log-odds in 64."""
    values, value_index = np.unique(p, return_inverse=True)
    if len(values) <= _MOST_BINS:
        return value_index, values
    if values[0] <= 0 or values[-1] >= 1:  # not shares: their sums suffice
        return np.zeros(len(p), dtype=np.intp), np.array([p.mean()])
    logit = np.log(values) - np.log1p(-values)
    width = np.ptp(logit) / _MOST_BINS
    bins = np.minimum((logit - logit.min()) / width, _MOST_BINS - 1).astype(np.intp)
    _, bins = np.unique(bins, return_inverse=True)
    people = count(value_index, len(values), frequency)
    return bins[value_index], np.bincount(bins, values * people) / np.bincount(bins, people)


def _gather(columns):
    """Number the distinct rows of some columns of codes, in sorted order.

    Returns
    -------
    number : ndarray of int, shape (n_rows,)
    first : ndarray of int, shape (n_distinct,)
        One row of each number.
    """
    key = np.zeros(len(columns[0]), dtype=np.int64)
    size = 1
    for codes in columns:
        n = int(codes.max(initial=0)) + 1
        if size * n >= 2**62:  # the key would overflow: number its values
            key = np.unique(key, return_inverse=True)[1]
            size = int(key.max(initial=0)) + 1
        key, size = key * n + codes, size * n
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    return number, first
