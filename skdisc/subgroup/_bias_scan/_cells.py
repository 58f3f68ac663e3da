"""What a scan works on: rows gathered into cells, the rules for subsets, and the starts."""

from dataclasses import dataclass

import numpy as np

from skdisc._space._codes import UNBOUND
from skdisc._space._subgroup import Predicate, Subgroup
from skdisc.subgroup._bias_scan._weighted_outcome import weighed_null

_MOST_BINS = 64
_ORDERS = 20
_FEW = 10  # a random start keeps at least this many rows, or a fifth of them if that is fewer


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
    codes : ndarray of intp, shape (n_attributes, n_cells)
    attributes : list of ScanAttribute
    n : ndarray of float, shape (n_cells,)
        Number of rows, or sum of their weights.
    """

    codes: np.ndarray
    attributes: list
    n: np.ndarray


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


@dataclass(frozen=True)
class Starts:
    """The subsets that ascents start from, and the order in which attributes are visited.

    Attributes
    ----------
    sets : list of ndarray of bool, shape (n_starts, size)
        Per attribute.
    turns : ndarray of int
        The attributes in the order in which all ascents visit them, over and over.
    bound : ndarray of int, shape (n_starts,)
        The attribute that must keep a condition, or UNBOUND.
    """

    sets: list
    turns: np.ndarray
    bound: np.ndarray

    @classmethod
    def draw(cls, cells, rules, n_starts, rng):
        """Start once (once per required attribute) from all rows, else from random subsets."""
        m = len(cells.attributes)
        sets = [np.ones((n_starts, a.size), dtype=bool) for a in cells.attributes]
        turns = np.concatenate([rng.permutation(m) for _ in range(_ORDERS)])
        bound = np.full(n_starts, UNBOUND)
        least = max(min(_FEW, cells.n.sum() / 5), rules.min_rows)
        for i in range(n_starts):
            if rules.required:
                bound[i] = rules.required[i % len(rules.required)]
            keep, inside, used = (
                rng.random(),
                np.ones(len(cells.n), dtype=bool),
                bound[i] != UNBOUND,
            )
            order = rng.permutation(m) if i >= max(1, len(rules.required)) else ()
            for j in order:
                attribute = cells.attributes[j]
                chosen = rng.random(attribute.size) < keep
                if attribute.ranges is not None:
                    chosen = attribute.ranges[rng.integers(len(attribute.ranges))]
                narrower = inside & chosen[cells.codes[j]]
                full = chosen.all() or j == bound[i] or used >= rules.max_conditions
                if not full and narrower @ cells.n >= least:
                    sets[j][i], inside, used = chosen, narrower, used + 1
        return cls(sets, turns, bound)


class Table:
    """Rows of an outcome, gathered into cells of equal values and equal (bins of) expectations.

    Nothing depends on the order of the rows or on the names of values: values are sorted by their
    counts and outcomes.

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
        self._predicates, self._outcome = items.predicates, outcome
        self._items, columns, attributes = [], [], []
        y = outcome.y[0] * outcome.weights if len(outcome.y) else np.zeros(items.codes.shape[1])
        for j in range(len(items.codes)):
            numbers = np.flatnonzero(items.feature == j)
            if len(numbers) < 2:
                continue
            local = items.codes[j] - numbers[0]
            ranges = self._ranges(numbers)
            if ranges is None:
                n = np.bincount(local, outcome.weight, minlength=len(numbers))
                order = np.lexsort((np.bincount(local, y, minlength=len(numbers)), n))
                numbers, local = numbers[order], np.argsort(order)[local]
            self._items.append(numbers)
            columns.append(local)
            attributes.append(ScanAttribute(len(numbers), ranges))
        self.protected = tuple(i for i, at in enumerate(self._items) if items.protected[at[0]])
        row_bins, self.p = zip(*map(_binned, outcome.mu), strict=True)
        if not outcome.is_share:  # sums are sufficient
            row_bins = tuple(np.zeros_like(b) for b in row_bins)
        cell, first = _gather([*columns, *row_bins])
        codes = np.array([c[first] for c in columns], dtype=np.intp).reshape(-1, len(first))
        self.cells = Cells(codes, attributes, np.bincount(cell, outcome.weight).astype(float))
        self._shares = np.array([p[b[first]] for p, b in zip(self.p, row_bins, strict=True)])
        self.bins = [b[first] for b in row_bins]
        if outcome.kind != "odds":
            self.p = [np.ones(1)] * len(self.p)
            self.bins = [np.zeros_like(b) for b in self.bins]
        rows, weights = outcome.parts()
        order = np.lexsort((*weights, *rows, cell))  # sums do not depend on the order of rows
        self._cell, self._rows, self._order = cell[order], rows[:, order], order
        self.a, self.h = (
            np.array([np.bincount(self._cell, w, minlength=len(first)) for w in part])
            for part in (self._rows, weights[:, order])
        )

    def _ranges(self, numbers):
        """Return the sets that are one range or the missing values; None: any set is allowed."""
        known = [i for i in numbers if self._predicates[i].values is None]
        if not known:
            return None
        size, n = len(numbers), len(known)
        at = np.arange(size)
        ranges = [(at >= i) & (at <= j) for i in range(n) for j in range(i, n)]
        sets = [*ranges, *(at == i for i in range(n, size))]
        return np.array([s for s in sets if not s.all()])

    def subgroup(self, sets):
        """Return the `Subgroup` of one set of values per attribute."""
        pairs = zip(self._items, sets, strict=True)
        return Subgroup([self._predicate(at[chosen]) for at, chosen in pairs if not chosen.all()])

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
        if outcome.is_mean:
            dealt = np.empty((len(self._rows), n, len(rows)))
            for i in range(n):
                deal = rng.permutation(len(self._cell))
                dealt[:, i] = [np.bincount(self._cell, w[deal], len(rows)) for w in self._rows]
            return dealt
        if outcome.is_share and len(self._shares) == 1:
            return rng.binomial(rows, self._shares[0], size=(1, n, len(rows))).astype(float)
        if outcome.is_share:
            shares = self._shares.T / self._shares.sum(axis=0)[:, None]
            drawn = rng.multinomial(rows, shares, size=(n, len(rows)))
            return np.moveaxis(drawn, -1, 0).astype(float)
        if outcome.kind == "rate":
            return rng.poisson(self.h[:, None], size=(len(self.h), n, len(rows))).astype(float)
        return rng.normal(0, np.sqrt(self.h)[:, None], size=(len(self.h), n, len(rows)))


def _binned(p):
    """Return the bin of each expectation, and the mean of each bin: a value, or log-odds in 64."""
    values, bins = np.unique(p, return_inverse=True)
    if len(values) <= _MOST_BINS:
        return bins, values
    if values[0] <= 0 or values[-1] >= 1:  # not shares: their sums suffice
        return np.zeros(len(p), dtype=np.intp), np.array([p.mean()])
    logit = np.log(p) - np.log1p(-p)
    width = np.ptp(logit) / _MOST_BINS
    bins = np.minimum((logit - logit.min()) / width, _MOST_BINS - 1).astype(np.intp)
    _, bins = np.unique(bins, return_inverse=True)
    order = np.argsort(p)
    return bins, np.bincount(bins[order], p[order]) / np.bincount(bins)


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
        if size * n >= 2**62:
            key = np.unique(key, return_inverse=True)[1]
            size = int(key.max(initial=0)) + 1
        key, size = key * n + codes, size * n
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    return number, first
