"""The Discovery of comparisons of groups with their references: findings, tables, judgment."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from skdisc import _stats
from skdisc._results._findings import Discovery, GroupFindings
from skdisc._results._judgment import judge_effects
from skdisc._space._items import count_values
from skdisc._task._notes import unseen
from skdisc._verdicts._relevant import RelevantGap
from skdisc.group._pairwise._estimates import Estimate
from skdisc.group._pairwise._group_pairs import GroupPair, PairRows

TOO_FEW = "too few people"
WITHOUT_DECISIONS = (
    "no decisions beside the outcomes y (pass a model, or BlackBox(decisions=...)), so nothing to "
    "compare"
)


@dataclass
class PairComparison:
    """What was found about one pair.

    Parameters
    ----------
    effect : Estimate
        The effect that the verdict is about.
    more : dict
        Further numbers of the finding.
    tables : dict of DataFrame
    notes, doubts : list of str
        Doubts are reasons why the absence of an effect is inconclusive.
    interval : tuple of callable, optional
        Interval and p-value where they are not those of `effect`: functions of the level, and a
        number.
    """

    effect: Estimate
    more: dict = field(default_factory=dict)
    tables: dict = field(default_factory=dict)
    notes: list = field(default_factory=list)
    doubts: list = field(default_factory=list)
    interval: Any = None
    p_value: float | None = None
    test: str = ""

    def ends(self, significance: float) -> tuple[float, float]:
        """Return the interval of the effect."""
        return (self.interval or self.effect.interval)(significance)

    @property
    def p(self) -> float:
        """The p-value of no effect."""
        return self.effect.p_value if self.p_value is None else self.p_value


def report(
    detector: Any,
    task: Any,
    compared: Sequence[tuple[GroupPair, PairRows, PairComparison]],
    excluded: Sequence[tuple[str, int, str]],
    relevant: RelevantGap,
    doubts: Sequence[str] = (),
) -> Discovery:
    """Return the Discovery of some comparisons.

    Parameters
    ----------
    detector : PairwiseDetector
    task : Task
    compared : list of (GroupPair, PairRows, PairComparison)
    excluded : list of (str, int, str)
        Groups that could not be compared, their sizes, and why.
    relevant : RelevantGap
    doubts : list of str
        Why the absence of findings is inconclusive.

    Returns
    -------
    Discovery
    """
    d, table = detector, _table(detector, compared)
    again = d.result_.findings if task.is_audit else None
    order = np.lexsort((-table["effect"].abs(), table["p_value"]))
    if again is not None:
        groups = [pair.subgroup for pair, _, _ in compared]
        order = np.array([groups.index(g) if g in groups else -1 for g in again.subgroups], int)
    found = (table["p_adjusted"] <= d.significance).to_numpy()
    if again is not None:
        at_fit = dict(zip(again.subgroups, again.table["effect"], strict=True))
        own = [at_fit.get(pair.subgroup, np.nan) for pair, _, _ in compared]
        found = found & (np.sign(own) == np.sign(table["effect"].to_numpy()))
    groups = [pair.subgroup for pair, _, _ in compared]
    shown = table.iloc[order[order >= 0]] if again is None else _in_places(table, order)
    subjects = [groups[i] for i in order] if again is None else list(again.subgroups)
    doubts = [*doubts, *(x for _, _, c in compared for x in c.doubts)]
    without = {}
    for name, _, reason in excluded:
        without.setdefault(reason, []).append(name)
    doubts += [f"{reason}: {', '.join(names)}" for reason, names in without.items()]
    new = unseen(task, d.protected_) if task.is_audit else []
    lost = pd.DataFrame(list(excluded), columns=["subject", "n", "reason"])
    return Discovery(
        findings=GroupFindings.of(subjects, shown.drop(columns=["low", "high"]), task.space),
        measure=d._measure,
        n_tested=len(table),
        n_found=int(found.sum()),
        smallest_gap=float("nan"),
        required_gap=relevant.size,
        by_value=count_values(groups, [g for g, f in zip(groups, found, strict=True) if f], []),
        excluded=lost,
        tables=_tables(compared),
        notes=list(dict.fromkeys([*new, *_notes(compared)])),
        versus=_versus(compared),
        judgment=_judged(d, table, groups, found, [*doubts, *new], relevant),
    )


def _versus(compared):
    """Return in words what the groups are compared with."""
    is_rest = all(pair.reference is None for pair, _, _ in compared)
    return "everyone else" if is_rest and compared else "the reference"


def _notes(compared):
    """Return the notes on comparisons; one that is not about all of them names its group."""
    all_notes = [set(c.notes) for _, _, c in compared]
    return [
        note if all(note in own for own in all_notes) else f"{pair.subgroup}: {note}"
        for pair, _, c in compared
        for note in c.notes
    ]


def _table(detector, compared):
    """Return one row per comparison, in their order."""
    d, rows = detector, []
    for pair, people, c in compared:
        low, high = c.ends(2 * d.significance)
        ends = c.ends(d.significance)
        row = {"outcome": _outcome(people, c), "effect": c.effect.value}
        row |= {"ci_low": ends[0], "ci_high": ends[1], "p_value": c.p, "p_adjusted": c.p}
        row |= {"test": c.test or d._test, "support": people.sizes[0], "measure": d._measure}
        rows.append(row | {"reference": pair.versus, "low": low, "high": high} | c.more)
    columns = ["outcome", "effect", "ci_low", "ci_high", "p_value", "p_adjusted"]
    texts = {n: pd.Series(dtype=object) for n in ("test", "measure", "reference")}
    if not rows:
        numbers = {n: np.empty(0) for n in [*columns, "low", "high"]}
        return pd.DataFrame(numbers | texts | {"support": np.empty(0, dtype=np.int64)})
    table = pd.DataFrame(rows).astype(dict.fromkeys(texts, object))
    table["p_adjusted"] = _stats.adjust(table["p_value"].to_numpy(dtype=float), d.correction)
    return table


def _outcome(people, c):
    """Return the outcome of the group: its own figure, or the mean of its members."""
    return c.more["outcome"] if "outcome" in c.more else float(people.y[people.inside].mean())


def _in_places(table, order):
    """Return the rows of a table in places; -1 is a row without numbers."""
    shown = table.reindex(np.where(order >= 0, order, len(table) + 1))
    shown = shown.assign(support=shown["support"].astype(float).fillna(0).astype(np.int64))
    texts = {n: shown[n].astype(object).where(order >= 0, "") for n in ("test", "measure")}
    return shown.assign(**texts, reference=shown["reference"].astype(object).where(order >= 0, ""))


def _tables(compared):
    """Return the tables of all comparisons, each with the group and the reference first."""
    found: dict = {}
    for pair, _, c in compared:
        for name, own in c.tables.items():
            about = {"group": str(pair.group), "reference": pair.versus}
            found.setdefault(name, []).append(
                pd.concat([pd.DataFrame([about] * len(own), index=own.index), own], axis=1)
            )
    return {name: pd.concat(parts, ignore_index=True) for name, parts in found.items()}


def _judged(d, table, groups, found, doubts, relevant):
    """Return the Judgment."""
    effects = table[["ci_low", "ci_high", "low", "high"]].copy()
    effects["gap"], effects["group"] = table["effect"], list(map(str, groups))
    effects["p_adjusted"] = np.where(found, table["p_adjusted"], 1.0)
    effects["rate"] = table["outcome"]
    ratio = d.relevant_ratio if d._compares_rates else 0.0
    return judge_effects(effects, list(doubts), relevant.size, ratio, d.significance)
