"""What it takes to get from one condition on a column to another: allowed or not, and the cost."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from skdisc._utils import _validation as check
from skdisc._utils._validation import plain


@dataclass(frozen=True)
class MoveRules:
    """What people may change, as the user declares it, checked against the columns.

    Attributes
    ----------
    immutable : tuple
        Columns that no action changes.
    monotone : dict
        By column: 1 may only rise, -1 may only fall.
    max_step : dict
        By column: most places that an action moves.
    weights : dict
        By column: factor of the cost.
    cost : callable or None
        ``cost(column, before, after)``, instead of the costs by kind of column.
    """

    immutable: tuple
    monotone: dict
    max_step: dict
    weights: dict
    cost: object = None

    @classmethod
    def checked(cls, space, protected, immutable, monotone, max_step, weights, cost):
        """Return the rules, refusing unknown columns, and an order where there is none."""
        names = list(space.names)
        fixed = [] if immutable is None else check.check_protected(immutable, names, "immutable")
        given = {"monotone": monotone, "max_step": max_step, "weights": weights}
        for what, rule in given.items():
            if rule is not None and not isinstance(rule, Mapping):
                raise TypeError(f"{what} must be a dict by column, got {rule!r}.")
            given[what] = {}
            for name, value in (rule or {}).items():
                (column,) = check.check_protected([name], names, what)
                given[what][column] = _checked(what, column, value, space[column].kind)
        return cls(tuple(dict.fromkeys([*fixed, *protected])), **given, cost=cost)


def _checked(what, name, value, kind):
    if what != "weights" and kind == "nominal":
        raise ValueError(
            f"{what} names {name!r}, whose values have no order. Make it an ordered category "
            "(pd.CategoricalDtype(values, ordered=True)), or leave it out."
        )
    wrong = {
        "monotone": value not in (1, -1),
        "max_step": not value >= 0,
        "weights": not 0 <= value < np.inf,
    }[what]
    if wrong:
        allowed = {"monotone": "1 or -1", "max_step": "at least 0", "weights": "finite, at least 0"}
        raise ValueError(f"{what}[{name!r}] must be {allowed[what]}, got {value!r}.")
    return value


class Scale:
    """The values of one column: which one stands for a condition, and where it lies.

    Parameters
    ----------
    series : Series
        The people's values.
    column : Column
    predicates : sequence of Predicate
        The items that actions are made of; for numbers, their upper ends are the places.
    """

    def __init__(self, series, column, predicates):
        self.kind, self.dtype, self._values = column.kind, series.dtype, column.values
        if self.kind != "numeric":
            return
        known = series.dropna()
        self.known = pd.DataFrame({column.name: known})
        self.low, self.high = plain(known.min()), plain(known.max())
        bins = [p for p in predicates if p.values != (None,)]
        self.upper = np.array([p.high if p.values is None else p.values[0] for p in bins], float)
        self.middle = np.array([self.typical(p) for p in bins])

    def typical(self, predicate):
        """Return the value that stands for a condition: its own, or the (lower) median inside."""
        values = predicate.values
        if self.kind == "numeric" and (values is None or len(values) > 1):
            inside = np.sort(self.known[predicate.mask(self.known)].to_numpy().ravel())
            return plain(inside[(len(inside) - 1) // 2]) if len(inside) else None
        known = [v for v in values if v is not None]
        if self.kind != "numeric":
            unknown = [v for v in known if v not in self._values]
            if unknown:
                raise ValueError(
                    f"'{predicate}' asks for {unknown[0]!r}, which never occurs in "
                    f"{predicate.column!r}. Its values: {list(self._values)!r}."
                )
            known.sort(key=self._values.index)
        return known[(len(known) - 1) // 2] if known else None

    def places(self, values):
        """Return where values lie: numbers, positions of ordered categories; NaN where unknown."""
        if self.kind == "numeric":
            return np.array([np.nan if v is None else v for v in values], dtype=float)
        if self.kind == "nominal":
            return np.full(len(values), np.nan)
        return np.array([np.nan if v is None else self._values.index(v) for v in values], float)

    def steps(self, values):
        """Return the place in the order: number of the bin, or position of the category."""
        places = self.places(values)
        if self.kind != "numeric":
            return places
        return np.where(np.isnan(places), np.nan, np.searchsorted(self.upper, places))

    def series(self, values):
        """Return values as a Series of the column's dtype."""
        return pd.Series(values, dtype=self.dtype)


@dataclass(frozen=True)
class ActionMoves:
    """Every move from a source (condition of a subgroup) to a target (condition of an action).

    Attributes
    ----------
    features : tuple
        Names of the columns.
    sources, targets : tuple of Predicate
    source_feature, target_feature : ndarray of int
        Number of the column of each.
    scales : tuple of Scale
        By column.
    values : tuple
        What stands for each target.
    same, feasible : ndarray of bool, shape (n_sources, n_targets)
        Whether there is nothing to change; whether an action may go there.
    cost : ndarray of float, shape (n_sources, n_targets)
        0 where nothing changes, or may change.
    """

    features: tuple
    sources: tuple
    targets: tuple
    source_feature: np.ndarray
    target_feature: np.ndarray
    scales: tuple
    values: tuple
    same: np.ndarray
    feasible: np.ndarray
    cost: np.ndarray


def make_moves(X, space, sources, targets, items, rules):
    """Tabulate the moves between conditions, column by column.

    Parameters
    ----------
    X : DataFrame
    space : FeatureSpace
    sources, targets : sequence of Predicate
    items : Items
        All items that actions may be made of.
    rules : MoveRules

    Returns
    -------
    ActionMoves
    """
    features = tuple(c for c in X.columns if c in {p.column for p in (*sources, *targets)})
    number = {name: j for j, name in enumerate(features)}
    of_source, of_target = (
        np.array([number[p.column] for p in side], dtype=np.int64) for side in (sources, targets)
    )
    shape = len(sources), len(targets)
    same, feasible, cost = np.zeros(shape, bool), np.zeros(shape, bool), np.zeros(shape)
    scales, values = [], [None] * len(targets)
    for j, name in enumerate(features):
        own = [p for p in items.predicates if p.column == name]
        scale = Scale(X[name], space[name], own)
        at = np.flatnonzero(of_source == j), np.flatnonzero(of_target == j)
        before, after = (
            [scale.typical(side[i]) for i in where]
            for side, where in zip((sources, targets), at, strict=True)
        )
        block = np.ix_(*at)
        probe = pd.DataFrame({name: scale.series(after)})
        same[block] = np.reshape([sources[i].mask(probe) for i in at[0]], (len(before), len(after)))
        feasible[block] = same[block] | _allowed(name, scale, before, after, rules)
        needed = feasible[block] & ~same[block]
        cost[block] = np.where(needed, _costs(name, scale, before, after, rules, needed), 0)
        scales.append(scale)
        for i, value in zip(at[1], after, strict=True):
            values[i] = value
    ends = tuple(sources), tuple(targets)
    return ActionMoves(
        features, *ends, of_source, of_target, tuple(scales), tuple(values), same, feasible, cost
    )


def _allowed(name, scale, before, after, rules):
    """Say which moves the rules allow; none into a missing value."""
    allowed = np.tile(np.array([v is not None for v in after], dtype=bool), (len(before), 1))
    allowed &= name not in rules.immutable
    if name in rules.monotone:
        rise = scale.places(after) - scale.places(before)[:, None]
        allowed &= rules.monotone[name] * rise >= 0
    if name in rules.max_step:
        allowed &= np.abs(scale.steps(after) - scale.steps(before)[:, None]) <= rules.max_step[name]
    return allowed


def _costs(name, scale, before, after, rules, needed):
    """Return the cost of every move, weights included; 1 a move where there is no distance."""
    weight = rules.weights.get(name, 1)
    if rules.cost is not None:
        table = np.zeros(needed.shape)
        for b, a in np.argwhere(needed):
            table[b, a] = cost = rules.cost(name, before[b], after[a])
            if not 0 <= cost < np.inf:
                call = f"cost({name!r}, {before[b]!r}, {after[a]!r})"
                raise ValueError(f"{call} returned {cost}; it must be finite, and >= 0.")
        return weight * table
    distance = np.abs(scale.places(after) - scale.places(before)[:, None])
    if scale.kind == "numeric":
        distance /= max(scale.high - scale.low, np.finfo(float).tiny)
    return weight * np.where(np.isnan(distance), 1.0, distance)
