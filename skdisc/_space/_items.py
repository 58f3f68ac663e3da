"""Items: values and ranges of single columns, of which groups are conjunctions."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress, pairwise
from typing import Any

import numpy as np
import pandas as pd

from skdisc._space._bins import Bins, cuts_of, joined
from skdisc._space._codes import MISSING, NO_ITEM, PAD
from skdisc._space._conjunction_texts import ConjunctionTexts
from skdisc._space._subgroup import Group, Predicate, Subgroup
from skdisc._utils._frequency import count
from skdisc._utils._hashing import distinct
from skdisc._utils._types import ArrayLike
from skdisc._utils._validation import plain

_ANY = 2**62  # bins: each number is an item


@dataclass(frozen=True)
class Items:
    """The items of a table; those of protected features come first.

    Attributes
    ----------
    predicates : tuple of Predicate
    feature : ndarray of int, shape (n_items,)
        Number of the feature of each item; items of a feature are adjacent.
    protected : ndarray of bool, shape (n_items,)
        Whether the feature is protected.
    codes : ndarray of int32, shape (n_features, n_rows)
        Number of the item that each row satisfies in each feature, or NO_ITEM.
    numeric : ndarray of bool, shape (n_items,), or None
        Whether the feature is numeric.
    joined : dict
        Maps the number of a merged item (never stored in `codes`) to the numbers of the items it
        merges.
    """

    predicates: tuple
    feature: np.ndarray
    protected: np.ndarray
    codes: np.ndarray
    numeric: np.ndarray | None = None
    joined: dict = field(default_factory=dict)

    @property
    def protected_predicates(self) -> list[Predicate]:
        """The predicates of the protected items."""
        return list(compress(self.predicates, self.protected))

    def masks(self, numbers: ArrayLike) -> np.ndarray:
        """Return a boolean mask of the rows of each item, an array of shape (n, n_rows)."""
        numbers = np.asarray(numbers, dtype=self.codes.dtype)
        out = np.empty((len(numbers), self.codes.shape[1]), dtype=bool)
        for row, i in zip(out, numbers, strict=True):
            item_of_row = self.codes[self.feature[i]]
            row[:] = np.isin(item_of_row, self.joined[i]) if i in self.joined else item_of_row == i
        return out

    def distinct(self, numbers: np.ndarray) -> np.ndarray:
        """Return the items that some row does not satisfy, one for each set of rows."""
        return np.sort(self.walk(numbers, True)[1])

    def walk(self, numbers: np.ndarray, distinct: bool) -> tuple[np.ndarray, np.ndarray]:
        """Put items in an order that does not depend on the order of the columns.

        A search that a limit cuts off then tests the same groups for each order of the columns.

        Parameters
        ----------
        numbers : ndarray of int
        distinct : bool
            Whether items of all rows are left out, and items with equal rows are one.

        Returns
        -------
        search_order : ndarray of int
            Protected items first, then by the names of their columns.
        first_equal_item : ndarray of int
            For each of them, the first item with its rows in the order of the columns.
        """

        def place(i):
            return not self.protected[i], str(self.predicates[i].column), self.feature[i], i

        search_order = np.array(sorted(numbers, key=place), dtype=np.int64)
        if not distinct:
            return search_order, search_order
        equal = {}
        masks = self.masks(search_order)
        for i, packed in zip(search_order, np.packbits(masks, axis=1), strict=True):
            equal.setdefault(packed.tobytes(), []).append(i)
        equal.pop(np.packbits(np.ones(masks.shape[1], dtype=bool)).tobytes(), None)
        pairs = [(equal_items[0], min(equal_items)) for equal_items in equal.values()]
        return tuple(np.array(pairs, dtype=np.int64).reshape(-1, 2).T)

    def counts(
        self, cell: np.ndarray, n_cells: int, frequency: np.ndarray | None = None
    ) -> np.ndarray:
        """Count the people of each item by `cell`, an int array of shape (n_items, n_cells)."""
        size = (len(self.predicates) + 1) * n_cells
        out = np.zeros(size, dtype=np.int64)
        for codes in self.codes:
            out += count((codes + 1) * n_cells + cell, size, frequency)
        return self._with_joined(out.reshape(-1, n_cells)[1:])

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Sum the rows of `values` over the rows of each item, shape (n_items, n_values)."""
        size, out = len(self.predicates) + 1, []
        for value in values:
            totals = np.zeros(size)
            for codes in self.codes:
                totals += np.bincount(codes + 1, weights=value, minlength=size)
            out.append(totals[1:])
        return self._with_joined(np.array(out).T.reshape(-1, len(values)))

    def _with_joined(self, sums):
        """Return sums with those of merged items filled in."""
        for i, parts in self.joined.items():
            sums[i] = sums[parts].sum(axis=0)
        return sums

    def bare(self) -> "Items":
        """Return the items without rows, so that a fitted detector does not keep the data."""
        return replace(self, codes=self.codes[:, :0])

    def on(self, X: pd.DataFrame) -> "Items":
        """Return the same items with the codes of other rows."""
        codes = np.full((len(self.codes), len(X)), NO_ITEM, dtype=np.int32)
        for i, (feature, predicate) in enumerate(zip(self.feature, self.predicates, strict=True)):
            if i not in self.joined:
                codes[feature, predicate.mask(X)] = i
        return replace(self, codes=codes)

    def only(self, keep: np.ndarray) -> "Items":
        """Return a selection of items that are not merged, with their features renumbered."""
        positions = np.flatnonzero(keep)
        number = np.full(len(keep) + 1, NO_ITEM, dtype=np.int32)
        number[positions] = np.arange(len(positions))
        features, feature = np.unique(self.feature[positions], return_inverse=True)
        predicates = tuple(self.predicates[i] for i in positions)
        codes, numeric = number[self.codes[features]], self.numeric[positions]
        return Items(predicates, feature, self.protected[positions], codes, numeric)

    def unjoined(self) -> "Items":
        """Return the items that are not merged."""
        return self.only(~np.isin(np.arange(len(self.predicates)), list(self.joined)))

    def subgroup(self, numbers: Iterable[int]) -> Subgroup:
        """Return the conjunction of the items with these numbers (PAD is skipped)."""
        return Subgroup([self.predicates[i] for i in numbers if i >= 0])

    def name_of(self, numbers: Iterable[int]) -> str:
        """Return the text of `subgroup`, whose object is not needed for it."""
        return self.names_of(np.array([[*numbers, PAD]]))[0]

    def names_of(self, conjunctions: np.ndarray) -> np.ndarray:
        """Return the text of each `subgroup`, an object array, without a loop over groups.

        Shapes: `conjunctions` (n, max_len), numbers of items, padded by PAD anywhere.
        """
        return self._texts.of(conjunctions)

    @cached_property
    def _texts(self):
        return ConjunctionTexts(self.predicates)

    def rows_of(self, group: Group, X: pd.DataFrame) -> np.ndarray:
        """Return the mask of a group in X, the rows that `codes` are of."""
        numbers = self.numbers_of(group)
        return group.mask(X) if numbers is None else self.masks(numbers).all(axis=0)

    def numbers_of(self, group: Group) -> list[int] | None:
        """Return the items that a group is the conjunction of; None if it is of no items."""
        if not isinstance(group, Subgroup) or not set(group.predicates) <= self._number.keys():
            return None
        return [self._number[p] for p in group.predicates]

    @cached_property
    def _number(self):
        """The number of each predicate."""
        return {p: i for i, p in enumerate(self.predicates)}


def make_items(
    X: pd.DataFrame,
    space: Any,
    features: Sequence[Hashable],
    protected: Sequence[Hashable],
    n_bins: int | Bins | dict,
    weight: np.ndarray | None = None,
    guide: np.ndarray | None = None,
    least: float = 1,
    frequency: np.ndarray | None = None,
) -> Items:
    """Make one item per category, and per bin of a numeric column.

    A numeric column with at most `n_bins` distinct values has one item per value. A missing value
    is a separate item. Bins are closed on the right; their edges have as few digits as divide the
    values so, and are whole numbers where these are values of X.

    Parameters
    ----------
    X : DataFrame of shape (n_rows, n_columns)
    space : FeatureSpace
    features : sequence of hashable
        Names of the columns to use.
    protected : sequence of hashable
        The columns whose items come first.
    n_bins : int, Bins or dict
        Number of bins of all columns, or by column a number or the edges of bins; infinity stands
        for one item per value.
    weight : ndarray of float, shape (n_rows,), optional
        Weights of the rows in quantiles.
    guide : ndarray of float, shape (n_rows,), optional
        The target of tree bins.
    least : float, default=1
        Smallest size of a tree bin.
    frequency : ndarray of int64, shape (n_rows,), optional
        Number of equal people of each row.

    Returns
    -------
    Items

    Raises
    ------
    ValueError
        If `n_bins` names columns that do not exist or are of another kind.

    Examples
    --------
    >>> from skdisc.extending import FeatureSpace
    >>> X = pd.DataFrame({"sex": ["F", "F", "M", "M"], "age": [20, 30, 40, 50]})
    >>> space = FeatureSpace.from_frame(X, protected="sex")
    >>> items = make_items(X, space, X.columns, ["sex"], n_bins=2)
    >>> [str(p) for p in items.predicates]
    ["sex = 'F'", "sex = 'M'", 'age <= 30', 'age > 30']
    >>> items.codes
    array([[0, 0, 1, 1],
           [2, 2, 3, 3]], dtype=int32)
    >>> str(items.subgroup([0, 3]))
    "age > 30 and sex = 'F'"
    """
    first = [f for f in features if f in protected]
    ordered = first + [f for f in features if f not in protected]
    if isinstance(n_bins, dict):  # one for each column; categories have no bins
        n_bins = {n: b for n, b in n_bins.items() if n in ordered and space[n].kind == "numeric"}
    bins = Bins(_ANY) if isinstance(n_bins, float) else Bins.of(n_bins)
    bins.check(space)
    predicates, number, larger = [], [], {}
    numbers = np.empty((len(ordered), len(X)), dtype=np.int32)
    for j, name in enumerate(ordered):
        column, ranges = space[name], None
        if column.kind == "numeric":
            of_rows = weight, guide, frequency
            column_items, codes, ranges = _numeric(X[name], bins, bins.most(name), of_rows, least)
        else:
            column_items, codes = _named(X[name], column)
        missing = [Predicate.is_missing(name)] if (codes == MISSING).any() else []
        start, stop = len(predicates), len(predicates) + len(column_items)
        unseen_and_missing = [
            NO_ITEM,
            stop if missing else NO_ITEM,
        ]  # codes -2 and -1 find them at the end
        numbers[j] = np.array([*range(start, stop), *unseen_and_missing])[codes]
        predicates += column_items + missing
        for predicate, parts in joined(bins, column, column_items, ranges):
            larger[len(predicates)] = start + np.asarray(parts)
            predicates.append(predicate)
        number += [j] * (len(predicates) - start)
    number = np.array(number, dtype=np.int64)
    numeric = np.array([space[name].kind == "numeric" for name in ordered], dtype=bool)[number]
    return Items(tuple(predicates), number, number < len(first), numbers, numeric, larger)


def _named(series, column):
    """Return one predicate per value of the column, and the position of the value of each row."""
    return [Predicate.equals(column.name, v) for v in column.values], column.encode(series)


def _numeric(series, bins, most, of_rows, least):
    """Return one predicate per value or bin, the position for each row, and nodes of a tree."""
    x = series.to_numpy(dtype=np.float64, na_value=np.nan)
    has_value, ranges = ~np.isnan(x), None
    values = distinct(x[has_value])
    has_edges = series.name in (bins.edges or {})
    if len(values) <= most and not has_edges:
        cuts = values[1:]
        items = [Predicate.equals(series.name, _plain_number(v)) for v in values]
        codes = np.searchsorted(cuts, x, side="right")
    else:
        of_rows = (None if a is None else a[has_value] for a in of_rows)
        cuts, ranges = cuts_of(x[has_value], bins, series.name, most, *of_rows, least)
        ends = [-np.inf, *cuts, np.inf]
        items = [Predicate.between(series.name, *pair) for pair in pairwise(ends)]
        codes = np.searchsorted(cuts, x)
    return items, np.where(has_value, codes, MISSING), ranges


def _plain_number(value):
    """Return an integral number as an int."""
    return int(value) if float(value).is_integer() else plain(value)


def value_name(predicate):
    """Return a predicate as a key of counts: ``sex=F``, or an interval."""
    if predicate.values is None or len(predicate.values) != 1:
        return str(predicate)
    value = predicate.values[0]
    return f"{predicate.column}={'missing' if value is None else value}"


def count_items(items: Items, tested_patterns: np.ndarray, found_patterns: np.ndarray) -> dict:
    """Count the patterns tested and found that contain each protected item.

    Parameters
    ----------
    items : Items
    tested_patterns, found_patterns : ndarray of int
        Numbers of items, -1 for padding.

    Returns
    -------
    dict
        Maps ``"attr=value"`` to (tested, found).

    Examples
    --------
    >>> from skdisc.extending import FeatureSpace
    >>> X = pd.DataFrame({"sex": ["F", "F", "M", "M"], "age": [20, 30, 40, 50]})
    >>> space = FeatureSpace.from_frame(X, protected="sex")
    >>> items = make_items(X, space, X.columns, ["sex"], n_bins=2)
    >>> tested = np.array([[0, 2], [0, 3], [1, -1]])  # -1 fills up: the last has one item
    >>> count_items(items, tested, tested[:1])
    {'sex=F': (2, 1), 'sex=M': (1, 0)}
    """
    n = len(items.predicates) + 1
    n_tested, n_found = (
        np.bincount(p.ravel() + 1, minlength=n)[1:].tolist()
        for p in (tested_patterns, found_patterns)
    )
    return {
        value_name(items.predicates[i]): (n_tested[i], n_found[i])
        for i in np.flatnonzero(items.protected)
    }


def count_values(
    tested_groups: Iterable[Group], found_groups: Iterable[Group], protected: Sequence[Hashable]
) -> dict:
    """Count the groups tested and found that involve each condition on a protected column.

    Without protected columns, conditions on all columns count.

    Parameters
    ----------
    tested_groups, found_groups : collections of Group
    protected : sequence of column names

    Returns
    -------
    dict
        Maps ``"attr=value"`` to (tested, found).

    Examples
    --------
    >>> women, men = (Subgroup([Predicate.equals("sex", v)]) for v in "FM")
    >>> young = Subgroup([Predicate.equals("sex", "F"), Predicate.between("age", 18, 25)])
    >>> count_values([women, men, young], [young], protected=["sex"])
    {'sex=F': (2, 1), 'sex=M': (1, 0)}
    """
    predicates = {
        p for g in tested_groups for p in g.predicates if not protected or p.column in protected
    }
    return {
        value_name(p): (
            sum(p in g.predicates for g in tested_groups),
            sum(p in g.predicates for g in found_groups),
        )
        for p in sorted(predicates, key=str)
    }
