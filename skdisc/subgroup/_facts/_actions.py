"""Actions: moves between conditions with their costs, and the rows after a change.

A move leads from a source, a condition of a subgroup, to a target, a condition of an action.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from skdisc._space._codes import FREE
from skdisc._space._column import categorical
from skdisc._utils._hashing import by_name, multipliers
from skdisc._utils._validation import plain


class Scale:
    """The values of one column: the value that represents a condition, and its position.

    `series`: the people's values. `predicates`: the items that actions are made of; for numbers,
    their upper ends are the positions.
    """

    def __init__(self, series, column, predicates):
        self.kind, self.dtype, self._values = column.kind, series.dtype, column.values
        if self.kind != "numeric":
            return
        observed_values = series.dropna()
        self.observed_values = pd.DataFrame({column.name: observed_values})
        self.low, self.high = plain(observed_values.min()), plain(observed_values.max())
        bins = [p for p in predicates if p.values != (None,)]
        self.upper = np.array([p.high if p.values is None else p.values[0] for p in bins], float)
        self.middle = np.array([self.typical(p) for p in bins])

    def typical(self, predicate):
        """Return the value that represents a condition: its own, or the (lower) median inside."""
        values = predicate.values
        if self.kind == "numeric" and (values is None or len(values) > 1):
            inside = np.sort(
                self.observed_values[predicate.mask(self.observed_values)].to_numpy().ravel()
            )
            return plain(inside[(len(inside) - 1) // 2]) if len(inside) else None
        non_missing = [v for v in values if v is not None]
        if self.kind != "numeric":
            unknown = [v for v in non_missing if v not in self._values]
            if unknown:
                raise ValueError(
                    f"'{predicate}' contains {unknown[0]!r}, which is not a value of "
                    f"{predicate.column!r}. Its values: {list(self._values)!r}."
                )
            non_missing.sort(key=self._values.index)
        return non_missing[(len(non_missing) - 1) // 2] if non_missing else None

    def places(self, values):
        """Return positions of values: numbers, or places of ordered categories; else NaN."""
        if self.kind == "numeric":
            return np.array([np.nan if v is None else v for v in values], dtype=float)
        if self.kind == "nominal":
            return np.full(len(values), np.nan)
        return np.array([np.nan if v is None else self._values.index(v) for v in values], float)

    def steps(self, values):
        """Return the number of the bin, or the place of the ordered category."""
        places = self.places(values)
        if self.kind != "numeric":
            return places
        return np.where(np.isnan(places), np.nan, np.searchsorted(self.upper, places))

    def series(self, values):
        """Return values as a Series of the column's dtype."""
        if self.kind == "numeric" and self.dtype.kind in "iu":  # ends of bins are floats
            most = np.iinfo(getattr(self.dtype, "numpy_dtype", self.dtype)).max
            values = [v if v is None else min(v, most) for v in values]
        if isinstance(self.dtype, pd.CategoricalDtype):
            return pd.Series(categorical(values, self.dtype))
        return pd.Series(values, dtype=self.dtype)


@dataclass(frozen=True)
class ActionMoves:
    """All moves from a source (condition of a subgroup) to a target (condition of an action).

    Attributes
    ----------
    features : tuple
        Names of the columns, in order.
    source_feature, target_feature : ndarray of int
        Number of the column of each.
    scales : tuple of Scale
        By column.
    values : tuple
        The value that represents each target.
    is_same, is_feasible : ndarray of bool, shape (n_sources, n_targets)
        Whether source and target are the same; whether the move is allowed.
    cost : ndarray of float, shape (n_sources, n_targets)
        0 for moves that are not necessary, or not allowed.
    """

    features: tuple
    sources: tuple
    targets: tuple
    source_feature: np.ndarray
    target_feature: np.ndarray
    scales: tuple
    values: tuple
    is_same: np.ndarray
    is_feasible: np.ndarray
    cost: np.ndarray

    @cached_property
    def place(self):
        """The number of each target among those of its column."""
        place = np.zeros(len(self.targets), dtype=np.int64)
        for j in range(len(self.features)):
            positions = np.flatnonzero(self.target_feature == j)
            place[positions] = np.arange(len(positions))
        return place


def make_moves(X, space, sources, targets, items, rules):
    """Return the moves between conditions, tabulated by column.

    `items`: all items that actions may be made of. `rules`: MoveRules.
    """
    features = tuple(c for c in by_name(X).columns if c in {p.column for p in (*sources, *targets)})
    number = {name: j for j, name in enumerate(features)}
    source_feature, target_feature = (
        np.array([number[p.column] for p in side], dtype=np.int64) for side in (sources, targets)
    )
    shape = len(sources), len(targets)
    is_same, is_feasible, cost = np.zeros(shape, bool), np.zeros(shape, bool), np.zeros(shape)
    scales, values = [], [None] * len(targets)
    for j, name in enumerate(features):
        column_items = [p for p in items.predicates if p.column == name]
        scale = Scale(X[name], space[name], column_items)
        positions = np.flatnonzero(source_feature == j), np.flatnonzero(target_feature == j)
        before, after = (
            [scale.typical(side[i]) for i in indices]
            for side, indices in zip((sources, targets), positions, strict=True)
        )
        block = np.ix_(*positions)
        probe = pd.DataFrame({name: scale.series(after)})
        is_same[block] = np.reshape(
            [sources[i].mask(probe) for i in positions[0]], (len(before), len(after))
        )
        is_feasible[block] = is_same[block] | _allowed(name, scale, before, after, rules)
        is_needed = is_feasible[block] & ~is_same[block]
        cost[block] = np.where(is_needed, _costs(name, scale, before, after, rules, is_needed), 0)
        scales.append(scale)
        for i, value in zip(positions[1], after, strict=True):
            values[i] = value
    return ActionMoves(
        features=features,
        sources=tuple(sources),
        targets=tuple(targets),
        source_feature=source_feature,
        target_feature=target_feature,
        scales=tuple(scales),
        values=tuple(values),
        is_same=is_same,
        is_feasible=is_feasible,
        cost=cost,
    )


def _allowed(name, scale, before, after, rules):
    """Return which moves the rules allow; no move leads to a missing value."""
    allowed = np.tile(np.array([v is not None for v in after], dtype=bool), (len(before), 1))
    allowed &= name not in rules.immutable
    if name in rules.monotone:
        rise = scale.places(after) - scale.places(before)[:, None]
        allowed &= rules.monotone[name] * rise >= 0
    if name in rules.max_step:
        allowed &= np.abs(scale.steps(after) - scale.steps(before)[:, None]) <= rules.max_step[name]
    return allowed


def _costs(name, scale, before, after, rules, is_needed):
    """Return the weighted cost of each move; 1 if there is no distance between the values."""
    weight = rules.weights.get(name, 1)
    if rules.cost is not None:
        table = np.zeros(is_needed.shape)
        for b, a in np.argwhere(is_needed):
            table[b, a] = cost = rules.cost(name, before[b], after[a])
            if not 0 <= cost < np.inf:
                call = f"cost({name!r}, {before[b]!r}, {after[a]!r})"
                raise ValueError(f"{call} returned {cost}; it must be finite, and >= 0.")
        return weight * table
    distance = np.abs(scale.places(after) - scale.places(before)[:, None])
    if scale.kind == "numeric":
        distance /= max(scale.high - scale.low, np.finfo(float).tiny)
    return weight * np.where(np.isnan(distance), 1.0, distance)


@dataclass(frozen=True)
class RowValues:
    """The rows of X as codes of the distinct values of each column.

    `codes`: by column. `distinct`: by column, in the order of their codes.
    """

    codes: list
    distinct: list

    @classmethod
    def of(cls, X):
        """Number the values of each column."""
        pairs = [pd.factorize(X[name], use_na_sentinel=False) for name in X.columns]
        distinct = [
            pd.Series(getattr(values, "array", values), dtype=X[name].dtype, name=name)
            for name, (_, values) in zip(X.columns, pairs, strict=True)
        ]
        return cls([_narrow(codes, len(uniques)) for codes, uniques in pairs], distinct)


def _narrow(codes, n):
    """Return codes below n in the smallest type that holds them."""
    return codes.astype(np.min_scalar_type(max(0, n - 1)))


def _type_of_both(distinct, new_values):
    """Return the type of a column that takes more values: their categories come last."""
    dtype = distinct.dtype
    if not isinstance(dtype, pd.CategoricalDtype):
        return dtype
    new_categories = [v for v in pd.unique(new_values.dropna()) if v not in dtype.categories]
    categories = (
        dtype.categories.append(pd.Index(new_categories)) if new_categories else dtype.categories
    )
    return pd.CategoricalDtype(categories, dtype.ordered)


class Changed:
    """The rows of X after a change, as codes of their values; tables are made on demand.

    `shift`: whether a number is shifted by the distance between the medians of its bin and of the
    target bin; otherwise it becomes the median of the target bin. Numbers that are in the target
    bin do not change.
    """

    def __init__(self, values, moves, shift):
        self.moves, self.names = moves, [s.name for s in values.distinct]
        self.column = [self.names.index(f) for f in moves.features]
        self.codes, self.tables, self.parts, self.moved = [], [], [], {}
        weights = multipliers(len(self.names))
        for j, (code, distinct) in enumerate(zip(values.codes, values.distinct, strict=True)):
            if j not in self.column:
                table = pd.Index(distinct.array, dtype=distinct.dtype)
            else:
                f = self.column.index(j)
                destinations, is_kept = self._destinations(distinct, f, shift)
                all_values = pd.concat([distinct, destinations], ignore_index=True)
                all_values = all_values.astype(_type_of_both(distinct, destinations))
                number, table = pd.factorize(all_values, use_na_sentinel=False)
                old = number[: len(distinct), None]
                new = number[len(distinct) :].reshape(len(distinct), -1)
                self.moved[f] = np.where(is_kept, old, new)
                code = _narrow(number, len(table))[code]
            self.codes.append(code)
            self.tables.append(table)
            hashed = pd.util.hash_pandas_object(pd.Series(table), index=False, categorize=False)
            with np.errstate(over="ignore"):
                self.parts.append(hashed.to_numpy() * weights[j])

    def _destinations(self, distinct, f, shift):
        """Return the new value of each distinct value by each target, and where it stays."""
        moves, scale = self.moves, self.moves.scales[f]
        targets = np.flatnonzero(moves.target_feature == f)
        frame = distinct.to_frame(moves.features[f])
        stays = np.array([moves.targets[t].mask(frame) for t in targets], dtype=bool)
        stays = stays.reshape(len(targets), len(frame)).T
        values = [moves.values[t] for t in targets]
        if shift and scale.kind == "numeric":
            x = distinct.to_numpy(dtype=float, na_value=np.nan)[:, None]
            middle = scale.middle[np.searchsorted(scale.upper[:-1], x)]
            x = np.where(np.isnan(x), scale.places(values), x + scale.places(values) - middle)
            x = np.clip(x, scale.low, scale.high).ravel()
            whole = distinct.dtype.kind in "iu"
            return pd.Series(np.rint(x) if whole else x).astype(distinct.dtype), stays
        every = scale.series(values)
        return every.iloc[np.tile(np.arange(len(values)), len(distinct))], stays

    @cached_property
    def _unchanged(self):
        keys = np.zeros(len(self.codes[0]), dtype=np.uint64)
        with np.errstate(over="ignore"):
            for part, code in zip(self.parts, self.codes, strict=True):
                keys += part[code]
        return keys

    def keys(self, rows=slice(None), which=None, changes=()):
        """Return a 64-bit key of each row after a change.

        The key of a row is the sum, modulo 2^64, of a hash for each of its values. So a change of a
        few columns adds the hashes of the new values, and takes away the old ones.

        `rows`: positions of the rows; by default all. `which`: the number of the change of each
        row, ascending; None: no row is changed. `changes`: for each change, the target of each
        feature that actions may change, FREE: unchanged.
        """
        keys = self._unchanged[rows]
        with np.errstate(over="ignore"):
            for j, block, old, new in self._moves(rows, which, changes):
                keys[block] += self.parts[j][new] - self.parts[j][old]
        return keys

    def frame(self, rows, which, changes):
        """Return the rows after their changes as a DataFrame."""
        codes = [code[rows] for code in self.codes]
        for j, block, _, new in self._moves(rows, which, changes):
            codes[j][block] = new
        columns = {}
        for name, table, code in zip(self.names, self.tables, codes, strict=True):
            columns[name] = pd.Series(table.take(code))
        return pd.DataFrame(columns, copy=False)

    def _moves(self, rows, which, changes):
        """Yield column, positions, and codes before and after, for each change and its columns.

        `which` is ascending.
        """
        for i, change in enumerate(changes):
            block = slice(*np.searchsorted(which, [i, i + 1]))
            for f in np.flatnonzero(change != FREE) if block.stop > block.start else ():
                old = self.codes[self.column[f]][rows[block]]
                yield self.column[f], block, old, self.moved[f][old, self.moves.place[change[f]]]
