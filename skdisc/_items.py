"""Items: the simplest groups, a value or a range of one column, from which others are joined."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from skdisc._column import MISSING, plain
from skdisc._subgroup import Predicate, Subgroup


@dataclass(frozen=True)
class Items:
    """Items of a table, those of protected features first.

    Attributes
    ----------
    predicates : tuple of Predicate
    feature : ndarray of int, shape (n_items,)
        Number of the feature of each item; items of a feature stand together.
    protected : ndarray of bool, shape (n_items,)
        Whether the feature is protected.
    codes : ndarray of int32, shape (n_features, n_rows)
        Number of the item that each row has in each feature; -1 for none.
    numeric : ndarray of bool, shape (n_items,), or None
        Whether the feature is a number, so that its values can be cut at an edge.
    """

    predicates: tuple
    feature: np.ndarray
    protected: np.ndarray
    codes: np.ndarray
    numeric: np.ndarray | None = None

    def masks(self, numbers):
        """Say which rows have which of these items, a bool array of shape (n, n_rows)."""
        numbers = np.asarray(numbers, dtype=self.codes.dtype)
        out = np.empty((len(numbers), self.codes.shape[1]), dtype=bool)
        for row, i in zip(out, numbers, strict=True):
            np.equal(self.codes[self.feature[i]], i, out=row)
        return out

    def counts(self, cell, n_cells):
        """Count the rows of every item by `cell`, an int array of shape (n_items, n_cells)."""
        size = (len(self.predicates) + 1) * n_cells
        out = np.zeros(size, dtype=np.int64)
        for codes in self.codes:
            out += np.bincount((codes + 1) * n_cells + cell, minlength=size)
        return out.reshape(-1, n_cells)[1:]

    def sums(self, values):
        """Add up the rows of `values` over every item, an array of shape (n_items, n_values)."""
        size, out = len(self.predicates) + 1, []
        for value in values:
            totals = np.zeros(size)
            for codes in self.codes:
                totals += np.bincount(codes + 1, weights=value, minlength=size)
            out.append(totals[1:])
        return np.array(out).T.reshape(-1, len(values))

    def subgroup(self, numbers):
        """Return the subgroup that joins the items of these numbers (-1 is padding)."""
        return Subgroup([self.predicates[i] for i in numbers if i >= 0])


def make_items(X, space, features, protected, n_bins, weight=None):
    """Make one item per category, and per quantile bin of a numeric column.

    A numeric column with at most `n_bins` distinct values gets one item per value. A missing
    value is an item of its own. Bins are closed on the right, and their edges are values of X.

    Parameters
    ----------
    X : DataFrame of shape (n_rows, n_columns)
    space : FeatureSpace
    features : sequence of hashable
        Names of the columns to use.
    protected : sequence of hashable
        Those whose items come first.
    n_bins : int or dict
        For all numeric columns, or by column; infinite: an item per value.
    weight : ndarray of float, shape (n_rows,), optional
        As how many rows each counts in the quantiles.

    Returns
    -------
    Items
    """
    first = [f for f in features if f in protected]
    ordered = first + [f for f in features if f not in protected]
    predicates, number = [], []
    numbers = np.empty((len(ordered), len(X)), dtype=np.int32)
    for j, name in enumerate(ordered):
        column = space[name]
        most = n_bins[name] if isinstance(n_bins, dict) else n_bins
        known, codes = (
            _numeric(X[name], most, weight) if column.kind == "numeric" else _named(X[name], column)
        )
        missing = [Predicate.is_missing(name)] if (codes == MISSING).any() else []
        start, stop = len(predicates), len(predicates) + len(known)
        unseen_and_missing = [-1, stop if missing else -1]  # codes -2 and -1 find them at the end
        numbers[j] = np.array([*range(start, stop), *unseen_and_missing])[codes]
        predicates += known + missing
        number += [j] * len(known + missing)
    number = np.array(number, dtype=np.int64)
    numeric = np.array([space[name].kind == "numeric" for name in ordered], dtype=bool)[number]
    return Items(tuple(predicates), number, number < len(first), numbers, numeric)


def _named(series, column):
    """Return a predicate for each value of the column, and the position of each row's value."""
    return [Predicate.equals(column.name, v) for v in column.values], column.encode(series)


def _numeric(series, n_bins, weight):
    """Return a predicate for each value or bin, and the position of each row's."""
    x = series.to_numpy(dtype=np.float64, na_value=np.nan)
    known = x[~np.isnan(x)]
    values = np.unique(known)
    if len(values) <= n_bins:
        cuts = values[1:]
        items = [Predicate.equals(series.name, _plain_number(v)) for v in values]
        codes = np.searchsorted(cuts, x, side="right")
    else:
        share = np.arange(1, n_bins) / n_bins
        if weight is None:
            cuts = np.unique(np.quantile(known, share, method="lower"))
        else:
            cuts = np.unique(_weighted_quantile(known, weight[~np.isnan(x)], share))
        cuts = cuts[cuts < values[-1]]
        ends = [-np.inf, *cuts, np.inf]
        items = [Predicate.between(series.name, *pair) for pair in pairwise(ends)]
        codes = np.searchsorted(cuts, x)
    return items, np.where(np.isnan(x), MISSING, codes)


def _weighted_quantile(x, weight, share):
    """Return quantiles, the lower of two values; each row stands for `weight` equal ones."""
    order = np.argsort(x, kind="stable")
    ends = np.cumsum(weight[order])
    at = np.searchsorted(ends, np.floor(share * (ends[-1] - 1) + 1e-9), side="right")
    return x[order][np.minimum(at, len(x) - 1)]


def _plain_number(value):
    """Return a whole number as an int."""
    return int(value) if float(value).is_integer() else plain(value)


def value_name(predicate):
    """Return a predicate as a key of counts: ``sex=F``, or the interval."""
    if predicate.values is None or len(predicate.values) != 1:
        return str(predicate)
    value = predicate.values[0]
    return f"{predicate.column}={'missing' if value is None else value}"


def count_items(items, tested, found):
    """Count, per protected item, the patterns tested and found that contain it."""
    n = len(items.predicates) + 1
    tested, found = (np.bincount(p.ravel() + 1, minlength=n)[1:].tolist() for p in (tested, found))
    return {
        value_name(items.predicates[i]): (tested[i], found[i])
        for i in np.flatnonzero(items.protected)
    }


def count_values(tested, found, protected):
    """Count, per condition on a protected column, the groups tested and found that involve it.

    With no protected columns, conditions on all columns count.
    """
    predicates = {p for g in tested for p in g.predicates if not protected or p.column in protected}
    return {
        value_name(p): (
            sum(p in g.predicates for g in tested),
            sum(p in g.predicates for g in found),
        )
        for p in sorted(predicates, key=str)
    }
