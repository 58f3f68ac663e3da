"""The people that GroupDisparity compares, those it holds out, and intervals of what it selects."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from skdisc import _stats
from skdisc._task._numbers import numbers_of
from skdisc._utils._frequency import ManyPeople, median
from skdisc.group import _group_disparity_table as measure_tables
from skdisc.measures._formula._design import cluster_codes, design_weights

_COPIED = ("effect", "ci_low", "ci_high", "p_value", "p_adjusted", "support")
_SAME = ["subject", "measure", "reference"]


@dataclass(frozen=True)
class KnownGroups:
    """The protected groups of fit, and what each is compared with.

    `predicates`: the predicates of each protected column. `against` ({"rest", "overall"} or dict):
    the rule, or by protected column or combination of columns the reference.
    """

    predicates: dict
    against: object


@dataclass(frozen=True)
class ComparedPeople(ManyPeople):
    """The rows that are compared.

    Parameters
    ----------
    decided : ndarray of bool or float, shape (n,)
        Decisions or scores.
    groups : ndarray of shape (n,), or None
        Clusters.
    frequency : ndarray of int64, shape (n,), or None
        Number of equal people of each row.
    are_numbers : bool
        Whether what is compared are numbers of any size, even where all are whole.
    """

    X: pd.DataFrame
    decided: np.ndarray
    labels: np.ndarray | None = None
    weight: np.ndarray | None = None
    groups: np.ndarray | None = None
    frequency: np.ndarray | None = None
    are_numbers: bool = False

    def at(self, mask):
        """Return the rows selected by a mask."""
        names = ("decided", "labels", "weight", "groups", "frequency")
        columns = {n: getattr(self, n) for n in names}
        selected = {n: None if c is None else c[mask] for n, c in columns.items()}
        return replace(self, X=self.X[mask], **selected)

    def held_out(self, share, rng):
        """Draw a mask of the rows to hold out.

        Clusters stay whole and, where most rows occur once, so do equal rows, which may be copies.
        """
        if self.groups is not None:
            unit = pd.factorize(self.groups)[0]
        else:
            unit = pd.factorize(pd.util.hash_pandas_object(self.X.astype(str), index=False))[0]
            if 2 * (unit.max(initial=-1) + 1) <= len(unit):
                unit = np.arange(len(unit))
        n_units = unit.max(initial=-1) + 1
        return (rng.permutation(n_units) < share * n_units)[unit]


def add_held_out(shown, table, detector):
    """Add what held-out rows say about each effect, and return which effects they confirm.

    `table`: every measure of every group on the rows held out. Returns `shown`: with the columns
    held_out_effect, held_out_p_adjusted, ...
    """
    columns = {"effect_low": "ci_low", "effect_high": "ci_high"}
    held_out = table.drop(columns=["ci_low", "ci_high"]).rename(columns=columns)
    matched = shown[_SAME].merge(held_out, how="left", on=_SAME)
    matched["p_adjusted"] = _stats.adjust(
        matched["p_value"].to_numpy(dtype=float), detector.correction
    )
    matched["support"] = matched["support"].fillna(0)
    for name in _COPIED:
        shown[f"held_out_{name}"] = matched[name].to_numpy()
    has_same_sign = np.sign(shown["held_out_effect"]) == np.sign(shown["effect"])
    return shown, (
        (shown["held_out_p_adjusted"] <= detector.significance) & has_same_sign
    ).to_numpy()


def people_of(detector, task):
    """Return the `ComparedPeople` of a task."""
    d, names = detector, ("weight", "groups", "frequency")
    design = {name: getattr(task.people, name) for name in names}
    if d.output == "value":
        return ComparedPeople(task.X, numbers_of(task.y), **design, are_numbers=True)
    if task.queries is None:
        return ComparedPeople(task.X, task.decisions() > 0.5, **design)
    labels = None if task.y is None else task.favorable_labels()
    decisions = task.decisions()
    if d.output == "decision" or task.queries.box.decisions is not None:
        return ComparedPeople(task.X, decisions > 0.5, labels, **design)
    if d.preset == "ll144":
        return ComparedPeople(
            task.X, decisions > median(decisions, task.people.frequency), **design
        )
    return ComparedPeople(task.X, decisions, labels, **design)


def counted(people, predicates, intersections, known_only):
    """Return the `GroupedDecisions` of people."""
    grouped = {"intersections": intersections, "known_only": known_only}
    grouped["pos_label"] = None if people.are_numbers else True
    rows = measure_tables.table_of_people(
        people.X, predicates, people.decided, people.labels, **grouped
    )
    is_frequency = people.frequency is not None
    weights = people.frequency if is_frequency else people.weight
    weight = design_weights(weights, "frequency" if is_frequency else "probability", len(people.X))
    cluster = None if people.groups is None else cluster_codes(people.groups, len(people.X))
    return replace(rows, weight=weight, cluster=cluster, is_frequency=is_frequency)


def notes_on_selection(n_searched, held_out, level, significance):
    """Return notes on how findings were selected, a list of str.

    `held_out`: ComparedPeople or None. `level` and `significance`: one minus the level of intervals
    of selected rows, and of the others.
    """
    if held_out is not None:
        return [
            f"Groups were compared on {n_searched} rows and again on {held_out.n} others; "
            "those that differ there, too, in the same direction, count as found. The held-out "
            "effects are not biased by the selection."
        ]
    if level >= significance:
        return []
    return [
        f"The intervals of findings have the level {1 - level:.4g}: of those of the groups found "
        f"(or of the first) at most a share of {significance:g} is expected to miss, although they "
        "were selected on the same rows (false coverage rate). Effects of selected groups are too "
        "large on average; confirm= measures them on rows held out."
    ]
