"""The settings of FACTS, checked against the columns."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from pandas.api.types import is_list_like

from skdisc._space._bins import Bins
from skdisc._space._named_groups import as_subgroups
from skdisc._utils import _validation as check
from skdisc.subgroup._facts._actions_and_costs import Actions, Costs
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
    def checked(cls, space, protected, actions, costs):
        """Return the rules; raise for unknown columns, and for an order of nominal ones."""
        names, fixed = list(space.names), []
        if actions.immutable is not None:
            fixed = check.check_protected(actions.immutable, names, "immutable")
        by_column = {
            "monotone": actions.monotone,
            "max_step": actions.max_step,
            "weights": costs.weights,
        }
        for what, rule in by_column.items():
            by_column[what] = {}
            for name, value in (rule or {}).items():
                (column,) = check.check_protected([name], names, what)
                by_column[what][column] = _checked(what, column, value, space[column].kind)
        immutable = tuple(dict.fromkeys([*fixed, *protected]))
        return cls(immutable, **by_column, cost=costs.function)


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
    phis: tuple
    budgets: tuple | None
    c_inf: float | None


def checked_settings(d, space):
    """Check the parameters of a detector against the columns.

    `d`: with ``protected_``. Raises ValueError if a setting is not allowed.
    """
    actions = Actions() if d.actions is None else d.actions
    costs = Costs() if d.costs is None else d.costs
    for part in (actions, costs):
        part._validate_params()
    names = list(space.names)
    features = names if d.features is None else check.check_protected(d.features, names, "features")
    phis = _levels("phi", d.phi, 1)
    budgets = None if costs.budget is None else _levels("budget", costs.budget, np.inf)
    Notion.checked(d.notion, d.viewpoint, phis[0], 0)
    n_bins = _bins("n_bins", d.n_bins, names)
    has_same_bins = isinstance(actions.n_bins, str)
    subgroups, candidates = (
        None if v is None else as_subgroups(v, what, features, _ALL)
        for what, v in (
            ("subgroups", d.subgroups),
            ("Actions(candidates=)", actions.candidates),
        )
    )
    return Settings(
        features=features,
        rules=MoveRules.checked(space, d.protected_, actions, costs),
        min_support=d.min_support,
        action_support=d.min_support if actions.min_support is None else actions.min_support,
        max_predicates=d.max_predicates,
        n_bins=n_bins,
        action_bins=n_bins if has_same_bins else _bins("Actions(n_bins=)", actions.n_bins, names),
        contained=actions.columns == "subset",
        shift=actions.numbers == "shift",
        subgroups=subgroups,
        actions=candidates,
        phis=phis,
        budgets=budgets,
        c_inf=costs.infinity,
    )


def _levels(what, value, largest):
    """Return one level or several as a tuple of floats."""
    try:
        levels = tuple(float(v) for v in np.atleast_1d(np.asarray(value, dtype=float)))
    except (TypeError, ValueError):  # not numbers
        levels = ()
    if not levels or not all(0 <= v <= largest for v in levels) or (what == "phi" and 0 in levels):
        allowed = "above 0 and at most 1" if what == "phi" else "at least 0"
        raise ValueError(f"{what} must be one number {allowed}, or several; got {value!r}.")
    return levels


def _bins(what, value, names):
    """Return `Bins`, or the number of bins of each column; infinite: each value is a bin."""
    if isinstance(value, Bins):
        if value.how == "tree" or value.nested or value.unions or value.taxonomy:
            raise ValueError(
                f"{what}: an action sets a column to one bin or value, so Bins(how='tree'), "
                "nested=True, unions=True and taxonomy= are not supported. Use edges=, "
                "how='width' or 'quantile'."
            )
        return value
    by_name = value if isinstance(value, Mapping) else dict.fromkeys(names, value)
    check.check_names(what, by_name, names)
    bins = {n: by_name.get(n, _BINS) for n in names}
    few = {n: b for n, b in bins.items() if b is not None and not is_list_like(b) and not b >= 2}
    if few:
        raise ValueError(f"{what} must be at least 2, or None, or edges, by column; got {few!r}.")
    return {n: np.inf if b is None else b for n, b in bins.items()}
