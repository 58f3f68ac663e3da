"""The settings of FACTS, checked against the columns."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from pandas.api.types import is_list_like

from skdisc._space._bins import Bins
from skdisc._space._named_groups import as_subgroups
from skdisc._utils import _validation as check
from skdisc.subgroup._facts._notions import Notion

_BINS = 5  # of columns that a dict of bins does not name
_ALL = "For all affected people as one group see recourse_[...].population()."


@dataclass(frozen=True)
class MoveRules:
    """The user's rules for changes, checked against the columns.

    Attributes
    ----------
    immutable : tuple
        Columns that no action changes.
    monotone : dict
        By column: 1 if values may only increase, -1 if they may only decrease.
    max_step : dict
        By column: largest number of positions that an action moves.
    weights : dict
        Factor of the cost by column.
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
        """Return the rules; raise for unknown columns, and for an order of nominal ones."""
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
            f"{what} names {name!r}, whose values are not ordered. Make it an ordered category "
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


@dataclass(frozen=True)
class Settings:
    """The checked parameters of the detector, by their names."""

    features: list
    rules: object
    min_support: float
    action_support: float
    max_predicates: int | None
    n_bins: dict | Bins
    action_bins: dict | Bins
    contained: bool
    shift: bool
    subgroups: list | None
    actions: list | None
    min_effectiveness: float
    max_cost: float
    minimal_change: bool
    phis: tuple
    budgets: tuple | None
    c_inf: float | None
    compare: str


def checked_settings(d, space):
    """Check the parameters of a detector against the columns.

    Parameters
    ----------
    d : FACTS
        With ``protected_``.
    space : FeatureSpace

    Returns
    -------
    Settings

    Raises
    ------
    ValueError
        If a setting is not allowed.
    """
    names = list(space.names)
    features = names if d.features is None else check.check_protected(d.features, names, "features")
    phis = _levels("phi", d.phi, 1)
    budgets = None if d.budget is None else _levels("budget", d.budget, np.inf)
    Notion.checked(d.notion, d.viewpoint, phis[0], 0)
    n_bins = _bins("n_bins", d.n_bins, names)
    given = (d.immutable, d.monotone, d.max_step, d.weights, d.cost)
    subgroups, actions = (
        None if v is None else as_subgroups(v, what, features, _ALL)
        for what, v in (("subgroups", d.subgroups), ("actions", d.actions))
    )
    same_bins = isinstance(d.action_bins, str)
    return Settings(
        features=features,
        rules=MoveRules.checked(space, d.protected_, *given),
        min_support=d.min_support,
        action_support=d.min_support if d.action_support is None else d.action_support,
        max_predicates=d.max_predicates,
        n_bins=n_bins,
        action_bins=n_bins if same_bins else _bins("action_bins", d.action_bins, names),
        contained=d.action_features == "subset",
        shift=d.numeric_action == "shift",
        subgroups=subgroups,
        actions=actions,
        min_effectiveness=d.min_effectiveness,
        max_cost=np.inf if d.max_cost is None else d.max_cost,
        minimal_change=d.minimal_change,
        phis=phis,
        budgets=budgets,
        c_inf=d.c_inf,
        compare=d.compare,
    )


def _levels(what, given, largest):
    """Return one level or several as a tuple of floats."""
    try:
        levels = tuple(float(v) for v in np.atleast_1d(np.asarray(given, dtype=float)))
    except (TypeError, ValueError):  # not numbers
        levels = ()
    if not levels or not all(0 <= v <= largest for v in levels) or (what == "phi" and 0 in levels):
        allowed = "above 0 and at most 1" if what == "phi" else "at least 0"
        raise ValueError(f"{what} must be one number {allowed}, or several; got {given!r}.")
    return levels


def _bins(what, given, names):
    """Return `Bins`, or the number of bins of each column; infinite: each value is a bin."""
    if isinstance(given, Bins):
        if given.how == "tree" or given.nested or given.unions or given.taxonomy:
            raise ValueError(
                f"{what}: an action sets a column to one bin or value, so Bins(how='tree'), "
                "nested=True, unions=True and taxonomy= are not supported. Use edges=, "
                "how='width' or 'quantile'."
            )
        return given
    by_name = given if isinstance(given, Mapping) else dict.fromkeys(names, given)
    check.check_names(what, by_name, names)
    bins = {n: by_name.get(n, _BINS) for n in names}
    few = {n: b for n, b in bins.items() if b is not None and not is_list_like(b) and not b >= 2}
    if few:
        raise ValueError(f"{what} must be at least 2, or None, or edges, by column; got {few!r}.")
    return {n: np.inf if b is None else b for n, b in bins.items()}
