"""Items: the simplest groups, a value or a range of one column, from which others are joined."""

from dataclasses import dataclass

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
        Number of the feature of each item.
    protected : ndarray of bool, shape (n_items,)
        Whether the feature is protected.
    masks : ndarray of bool, shape (n_items, n_rows)
    """

    predicates: tuple
    feature: np.ndarray
    protected: np.ndarray
    masks: np.ndarray

    def subgroup(self, numbers):
        """Return the subgroup that joins the items of these numbers (-1 is padding)."""
        return Subgroup([self.predicates[i] for i in numbers if i >= 0])


def make_items(X, space, features, protected, n_bins):
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
    n_bins : int

    Returns
    -------
    Items
    """
    first = [f for f in features if f in protected]
    ordered = first + [f for f in features if f not in protected]
    predicates, number, masks = [], [], []
    for j, name in enumerate(ordered):
        column = space[name]
        own, codes = _numeric(X[name], n_bins) if column.kind == "numeric" else _named(X[name], column)
        for code, predicate in own:
            predicates.append(predicate)
            number.append(j)
            masks.append(codes == code)
    number = np.array(number, dtype=np.int64)
    matrix = np.array(masks, dtype=bool) if masks else np.empty((0, len(X)), dtype=bool)
    return Items(tuple(predicates), number, number < len(first), matrix)


def _named(series, column):
    codes = column.encode(series)
    items = [(code, Predicate.equals(column.name, value)) for code, value in enumerate(column.values)]
    missing = [(MISSING, Predicate.is_missing(column.name))] if (codes == MISSING).any() else []
    return items + missing, codes


def _numeric(series, n_bins):
    x = series.to_numpy(dtype=np.float64, na_value=np.nan)
    known = x[~np.isnan(x)]
    values = np.unique(known)
    if len(values) <= n_bins:
        codes = np.searchsorted(values, x)
        items = [(i, Predicate.equals(series.name, plain(_as(series, v)))) for i, v in enumerate(values)]
    else:
        edges = np.unique(np.quantile(known, np.arange(1, n_bins) / n_bins, method="lower"))
        edges = edges[edges < values[-1]]
        codes = np.searchsorted(edges, x)
        ends = [-np.inf, *edges, np.inf]
        items = [(i, Predicate.between(series.name, ends[i], ends[i + 1])) for i in range(len(ends) - 1)]
    if len(known) < len(x):
        codes = np.where(np.isnan(x), MISSING, codes)
        items.append((MISSING, Predicate.is_missing(series.name)))
    return items, codes


def _as(series, value):
    """Return a value as an int where the column holds whole numbers."""
    return int(value) if float(value).is_integer() else value


def value_name(predicate):
    """Return a predicate as a key of counts: ``sex=F``, or the interval."""
    if predicate.values is None or len(predicate.values) != 1:
        return str(predicate)
    value = predicate.values[0]
    return f"{predicate.column}={'missing' if value is None else value}"


def count_items(items, tested, found):
    """Count, per protected item, the patterns tested and found that contain it."""
    counts = {}
    for i in np.flatnonzero(items.protected):
        name = value_name(items.predicates[i])
        counts[name] = (int((tested == i).any(axis=1).sum()), int((found == i).any(axis=1).sum()))
    return counts


def count_values(tested, found, protected):
    """Count, per condition on a protected column, the groups tested and found that involve it.

    With no protected columns, conditions on all columns count.
    """
    predicates = sorted({p for g in tested for p in g.predicates if not protected or p.column in protected}, key=str)
    return {
        value_name(p): (sum(p in g.predicates for g in tested), sum(p in g.predicates for g in found))
        for p in predicates
    }
