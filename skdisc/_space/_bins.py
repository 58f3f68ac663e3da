"""Bins: how columns are discretized into items, and which items are merged to larger ones."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from pandas.api.types import is_list_like

from skdisc._space._subgroup import Predicate
from skdisc._utils._frequency import lower_quantiles
from skdisc._utils._hashing import distinct

_NO_GAIN = 1e-12
_FEWEST_DIGITS, _MOST_DIGITS = 2, 15  # significant ones of cuts


@dataclass(frozen=True)
class Bins:
    """Discretization of columns into the conditions of groups, for the `n_bins` of detectors.

    A group has at most one condition per column, so an item and a larger one that contains it are
    never combined.

    Parameters
    ----------
    n : int, default=4
        Maximal number of bins of a numeric column. A column with at most `n` distinct values has
        one item per value.
    how : {"quantile", "width", "tree"}, default="quantile"
        Quantile bins, equal-width bins, or the leaves of a regression tree fitted to the outcome
        (the first metric or error), each with at least `min_support`. Because tree bins depend on
        the outcome, detectors require `confirm`, which tests on held-out rows.
    edges : dict, default=None
        Maps a numeric column to the increasing edges of its bins; an edge belongs to the bin below.
    nested : bool, default=False
        Whether wider ranges are also items: all nodes of a tree, or halves, quarters, … of the
        bins or of the values of an ordered column.
    taxonomy : dict, default=None
        Maps a column of categories to sets of its values, which are also items.
    unions : bool, default=False
        Whether all runs of neighboring bins, or of neighboring values of an ordered column, are
        also items: ages from 25 to 43 whatever the other bins are. A gap in a range that bins cut
        in two shows in one of them; the price is many more groups to judge.
    numbers : dict, default=None
        Maps a numeric column to its own maximal number of bins, in place of `n`.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    E. Pastor, E. Baralis, L. de Alfaro: A hierarchical approach to anomalous subgroup discovery.
    ICDE 2023.

    Examples
    --------
    >>> from skdisc.datasets import make_loan
    >>> from skdisc.subgroup import Bins, DivExplorer
    >>> X, y = make_loan(random_state=0, return_X_y=True)
    >>> bins = Bins(edges={"account_balance": [20_000, 30_000]}, nested=True)
    >>> detector = DivExplorer(protected="gender", n_bins=bins, max_predicates=2)
    >>> print(detector.fit(X, y).result_[5].subject)
    account_balance > 20000 and gender = 'female'
    """

    n: int = 4
    how: str = "quantile"
    edges: dict | None = None
    nested: bool = False
    taxonomy: dict | None = None
    unions: bool = False
    numbers: dict | None = None

    @classmethod
    def of(cls, n_bins: "int | Mapping | Bins", n: int = 4) -> "Bins":
        """Return what the setting `n_bins` of a detector means.

        >>> Bins.of({"age": [25, 60], "income": 3}).edges
        {'age': [25, 60]}

        Parameters
        ----------
        n_bins : int, dict or Bins
            A number of bins; or, by column, a number of bins or the edges of bins.
        n : int, default=4
            Number of bins of columns that a dict does not name.

        Raises
        ------
        ValueError
            If a number or an edge is not allowed.
        """
        if isinstance(n_bins, Bins):
            return n_bins
        if not isinstance(n_bins, Mapping):
            return cls(n_bins)
        if set(n_bins) == {"Bins"} and isinstance(n_bins["Bins"], Mapping):
            return cls(**n_bins["Bins"])  # as `to_dict` writes it
        edges = {c: list(v) for c, v in n_bins.items() if is_list_like(v)}
        numbers = {c: v for c, v in n_bins.items() if c not in edges}
        return cls(n, edges=edges or None, numbers=numbers or None)

    def most(self, name: Any) -> float:
        """Return the maximal number of bins of a column."""
        return (self.numbers or {}).get(name, self.n)

    @property
    def flat(self) -> "Bins":
        """The same bins for detectors whose groups do not overlap, and are fixed beforehand."""
        how = "quantile" if self.how == "tree" else self.how
        return replace(self, how=how, nested=False, unions=False, taxonomy=None)

    def to_dict(self) -> dict:
        """Return what is set, in JSON types; `of` is the inverse."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {"Bins": {name: value for name, value in values.items() if value is not None}}

    def __post_init__(self):
        if not isinstance(self.n, Integral) or self.n < 2:
            raise ValueError(f"n must be an integer of at least 2, got {self.n!r}.")
        if self.how not in ("quantile", "width", "tree"):
            raise ValueError(f"how must be 'quantile', 'width' or 'tree', got {self.how!r}.")
        names = ("edges", "taxonomy", "numbers")
        for what, setting in ((name, getattr(self, name)) for name in names):
            if not isinstance(setting, dict | None):
                raise ValueError(
                    f"{what} must be a dict with column names as keys, got {setting!r}."
                )
        for name, n in (self.numbers or {}).items():
            if not (n == np.inf or (isinstance(n, Integral) and n >= 2)):
                raise ValueError(
                    f"n_bins of {name!r} must be a whole number of at least 2, or a list of edges; "
                    f"got {n!r}."
                )
        for name, sets in (self.taxonomy or {}).items():
            if not is_list_like(sets) or not all(map(is_list_like, sets)):
                raise ValueError(f"taxonomy of {name!r} must be a list of sets, got {sets!r}.")
        for name, ends in (self.edges or {}).items():
            try:
                ends = np.asarray(ends, dtype=float)
            except (TypeError, ValueError):
                raise ValueError(f"edges of {name!r} must be numbers, got {ends!r}.") from None
            if ends.ndim != 1 or not len(ends) or not np.isfinite(ends).all():
                raise ValueError(
                    f"edges of {name!r} must be finite numbers, got {ends.tolist()!r}."
                )
            if (np.diff(ends) <= 0).any():
                raise ValueError(f"edges of {name!r} must increase, got {ends.tolist()!r}.")
        if self.edges is not None:  # lists, since arrays of edges could not be compared by ==
            object.__setattr__(self, "edges", {c: list(ends) for c, ends in self.edges.items()})

    def check(self, space: Any) -> None:
        """Check that the columns exist and have the right kind and values.

        Parameters
        ----------
        space : FeatureSpace

        Raises
        ------
        ValueError
            If a column does not exist, or is of another kind, or does not have a value.
        """
        kinds = {column.name: column.kind for column in space.columns}
        for what, setting, numeric in (
            ("edges", self.edges, True),
            ("n_bins", {k: n for k, n in (self.numbers or {}).items() if n != np.inf}, True),
            ("taxonomy", self.taxonomy, False),
        ):
            for name in setting or ():
                if (kinds.get(name) == "numeric") is not numeric or name not in kinds:
                    kind = "numeric columns" if numeric else "columns of categories"
                    fit = [n for n, k in kinds.items() if (k == "numeric") is numeric]
                    raise ValueError(
                        f"{what} may be given for {kind} only ({fit!r}); {name!r} is not one."
                    )
        for name, sets in (self.taxonomy or {}).items():
            unknown = sorted({v for s in sets for v in s} - set(space[name].values), key=str)
            if unknown:
                raise ValueError(
                    f"taxonomy: column {name!r} has no value {unknown[0]!r}; it has "
                    f"{list(space[name].values)!r}."
                )


def cuts_of(x, bins, name, n, weight, guide, frequency, least):
    """Return the cuts of a numeric column, and the ranges of bins that are nodes of its tree.

    Parameters
    ----------
    x : ndarray of float, shape (n_known,)
        The values that are not missing.
    n : int
        Maximal number of bins.
    guide : ndarray of float, shape (n_known,), or None
        The target of the tree; NaN for rows without an outcome.
    frequency : ndarray of int64, shape (n_known,), or None
        Number of equal people of each row.
    least : float
        Smallest size of a leaf.

    Returns
    -------
    cuts : ndarray of float
    ranges : list of (int, int) or None
        None if the cuts are not those of a tree.
    """
    if name in (bins.edges or {}):
        return np.asarray(bins.edges[name], dtype=float), None
    top = x.max(initial=-np.inf)
    if bins.how == "tree":
        has_outcome = ~np.isnan(guide)
        weight = frequency if weight is None else weight
        size = np.ones(has_outcome.sum()) if weight is None else weight[has_outcome]
        nodes = _grow(x[has_outcome], guide[has_outcome], size, n, least)
        cuts = np.unique([end for node in nodes for end in node if np.isfinite(end)])
        ends = np.array([-np.inf, *cuts, np.inf])
        ranges = [tuple(np.searchsorted(ends, node).tolist()) for node in nodes]
        return _of_few_digits(cuts, x), ranges
    share = np.arange(1, n) / n
    if bins.how == "width":
        cuts = x.min() + share * (top - x.min())
    elif frequency is not None:
        cuts = lower_quantiles(x, share, frequency)
    elif weight is None:
        cuts = np.quantile(x, share, method="lower")
    else:
        cuts = _weighted_quantile(x, weight, share)
    cuts = np.unique(cuts)
    return _of_few_digits(cuts[cuts < top], x), None


def _of_few_digits(cuts, x):
    """Return cuts that divide the values as before, written with as few digits as do so.

    Whole numbers stay, and two digits are always written: a cut can be read and typed.
    """
    if not (cuts % 1).any():
        return cuts
    values = distinct(x)
    above = np.searchsorted(values, cuts, side="right")
    rounded = np.array(
        [
            _shortest(cut, values[i - 1] if i else -np.inf, values[i])
            for cut, i in zip(cuts, above, strict=True)
        ]
    )
    # Two cuts between the same values, with nobody in between, may have become one.
    return rounded if len(np.unique(rounded)) == len(cuts) else cuts


def _shortest(cut, low, high):
    """Return the number of the fewest digits, at least two, that is low or more and below high."""
    if cut % 1 == 0:
        return cut
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS):
        place = digits - 1 - math.floor(math.log10(abs(cut)))
        near, unit = round(cut, place), 10.0**-place
        for number in (near, round(near + unit, place), round(near - unit, place)):
            if low <= number < high:
                return float(number)
    return cut


def joined(bins, column, items, ranges):
    """Return the merged items of a column.

    `items`: its items in order, without that of missing values. `ranges`: the ranges of the nodes
    of a tree. Returns a list of (Predicate, tuple of int): the merged items with the positions of
    the items they consist of, which are distinct.
    """
    n, out = len(items), {}
    wider = _halves(0, n) if ranges is None else ranges
    wider = [*wider] if bins.nested else []
    if bins.unions:
        wider += [(a, b) for a in range(n) for b in range(a + 1, n + 1)]
    for a, b in wider if column.kind != "nominal" else ():
        if 1 < b - a < n:
            out[tuple(range(a, b))] = _span(column, items, a, b)
    for values in (bins.taxonomy or {}).get(column.name, ()):
        positions = tuple(i for i, p in enumerate(items) if p.values[0] in values)
        if 1 < len(positions) < n:
            out[positions] = Predicate.isin(column.name, [items[i].values[0] for i in positions])
    return [(predicate, positions) for positions, predicate in out.items()]


def _span(column, items, a, b):
    """Return the condition that merges the items from a to b - 1."""
    if column.kind != "numeric":
        return Predicate.isin(column.name, [v for p in items[a:b] for v in p.values])

    def end(p):
        return p.high if p.values is None else p.values[0]

    low = end(items[a - 1]) if a else -np.inf
    return Predicate.between(column.name, low, end(items[b - 1]) if b < len(items) else np.inf)


def _halves(a, b):
    """Return the range from a to b - 1, its halves, and recursively their halves."""
    middle = (a + b) // 2
    return [(a, b), *_halves(a, middle), *_halves(middle, b)] if b - a > 1 else []


def _grow(x, value, weight, n_leaves, least):
    """Return the nodes, as intervals, of a regression tree that is grown best split first.

    Leaves have at least the size `least`.
    """
    order = np.lexsort((weight, value, x))  # so that sums do not depend on the order of the rows
    x, value, weight = x[order], value[order], weight[order]
    n, s = (np.concatenate([[0.0], np.cumsum(v)]) for v in (weight, weight * value))
    cut = np.flatnonzero(np.diff(x)) + 1

    def split(start, stop):
        """Return gain and position of the best split of these rows, and the rows."""
        cuts = cut[(cut > start) & (cut < stop)]
        left, right = n[cuts] - n[start], n[stop] - n[cuts]
        gap = (s[cuts] - s[start]) / left - (s[stop] - s[cuts]) / right
        gain = np.where(np.minimum(left, right) >= least, left * right / (left + right) * gap**2, 0)
        best = int(np.argmax(gain)) if len(cuts) else -1
        return (gain[best], cuts[best], start, stop) if len(cuts) else (0.0, 0, start, stop)

    leaves, nodes = [split(0, len(x))], [(0, len(x))]
    while len(leaves) < n_leaves:
        best = max(leaves, key=lambda leaf: leaf[0])
        if best[0] <= _NO_GAIN:
            break
        leaves.remove(best)
        halves = list(pairwise((best[2], best[1], best[3])))
        nodes += halves
        leaves += [split(*half) for half in halves]

    def edge(position):
        if position == 0:
            return -np.inf
        return np.inf if position == len(x) else float(x[position - 1])

    return [(edge(start), edge(stop)) for start, stop in nodes]


def _weighted_quantile(x, weight, share):
    """Return lower quantiles of weighted rows."""
    order = np.argsort(x, kind="stable")
    ends = np.cumsum(weight[order])
    positions = np.searchsorted(ends, np.floor(share * (ends[-1] - 1) + 1e-9), side="right")
    return x[order][np.minimum(positions, len(x) - 1)]
