"""The table that is scanned: rows gathered into cells, and the way back to groups."""

import numpy as np

from skdisc._space._subgroup import Predicate, Subgroup
from skdisc.subgroup._bias_scan._starts import Cells, ScanAttribute
from skdisc.subgroup._bias_scan._weighted_outcome import weighed_null

_MOST_BINS = 64


class Table:
    """Rows of an outcome, gathered into cells of equal values and equal (bins of) expectations.

    Nothing depends on the order of the rows, or on how the values of a column are called: values
    are put in order of their counts and outcomes.

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
        Sums of what enters the score.
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
        if not outcome.is_share:  # sums say it all
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
        """Return the sets that make one range, or the missing; None: any set will do."""
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
        """Draw what would be observed if the expectations held.

        Expectations of a model: outcomes are drawn from them. Expectations that are the mean:
        outcomes are dealt out anew, so that their mean stays.

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
    """Return the bin of each expectation, and each bin's mean: every value, or 64 of log-odds."""
    values, bins = np.unique(p, return_inverse=True)
    if len(values) <= _MOST_BINS:
        return bins, values
    if values[0] <= 0 or values[-1] >= 1:  # no shares: their sums are all that is needed
        return np.zeros(len(p), dtype=np.intp), np.array([p.mean()])
    logit = np.log(p) - np.log1p(-p)
    width = np.ptp(logit) / _MOST_BINS
    bins = np.minimum((logit - logit.min()) / width, _MOST_BINS - 1).astype(np.intp)
    _, bins = np.unique(bins, return_inverse=True)
    order = np.argsort(p)
    return bins, np.bincount(bins[order], p[order]) / np.bincount(bins)


def _gather(columns):
    """Number the distinct rows of some columns of codes in their order.

    Returns
    -------
    number : ndarray of int, shape (n_rows,)
    first : ndarray of int, shape (n_distinct,)
        A row of each number.
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
