"""The Discovery of comparisons of groups with their references: findings, tables, judgment."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skdisc import _stats
from skdisc._results._findings import Discovery, GroupFindings
from skdisc._results._judgment import Judgment
from skdisc._space._items import count_values
from skdisc._verdicts._answer import decide, family_table
from skdisc._verdicts._candidates import Candidates, smallest_ratio_of_gap
from skdisc._verdicts._relevant import RelevantGap
from skdisc.group._pairwise._estimates import Estimate
from skdisc.group._pairwise._group_pairs import GroupPair, PairRows

TOO_FEW = "too few people"


class Excluded(NamedTuple):
    """A group that could not be compared: name, people on both sides, why, and its column."""

    group: str
    sizes: tuple
    reason: str
    column: str


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
    notes, doubts : list of str
        Doubts are reasons why the absence of an effect is inconclusive.
    interval : callable, optional
        Returns the interval at a level, where `effect` has another; `p_value` likewise, a number.
    sizes : tuple of int, optional
        People on both sides whom the effect is about; by default all of the pair.
    """

    effect: Estimate
    more: dict = field(default_factory=dict)
    tables: dict = field(default_factory=dict)
    notes: list = field(default_factory=list)
    doubts: list = field(default_factory=list)
    interval: Any = None
    p_value: float | None = None
    test: str = ""
    sizes: tuple | None = None

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
    excluded: Sequence[Excluded],
    relevant: RelevantGap,
    doubts: Sequence[str] = (),
) -> Discovery:
    """Return the Discovery of some comparisons.

    `excluded`: groups that could not be compared. `doubts`: why the absence of findings is
    inconclusive.
    """
    d, table = detector, _table(detector, compared)
    groups = [pair.subgroup for pair, _, _ in compared]
    is_found = (table["p_adjusted"] <= d.significance).to_numpy()
    if task.is_audit:  # the findings of fit, in their order; a gap the other way round is not found
        at_fit = d.result_.findings
        subjects = list(at_fit.subgroups)
        effect_of_group = dict(zip(subjects, at_fit.table["effect"], strict=True))
        effects_at_fit = [effect_of_group.get(g, np.nan) for g in groups]
        is_found = is_found & (np.sign(effects_at_fit) == np.sign(table["effect"].to_numpy()))
        places = [groups.index(g) if g in groups else -1 for g in subjects]
        shown = _in_places(table, np.array(places, int))
    else:
        order = np.lexsort((-table["effect"].abs(), table["p_value"]))
        subjects, shown = [groups[i] for i in order], table.iloc[order]
    doubts = [*doubts, *_doubts(compared)]
    if not compared:
        doubts += _without_comparison(excluded)
    excluded_groups = pd.DataFrame(
        [(e.group, e.sizes[0], e.reason) for e in excluded], columns=["subject", "n", "reason"]
    )
    candidates = _candidates(d, task, compared, excluded, is_found)
    answer = decide(
        candidates,
        relevant_gap=relevant.size,
        significance=d.significance,
        relevant_ratio=d.relevant_ratio if candidates.ratio is not None else None,
        relevant_size=d.relevant_size,
        is_found=bool(is_found.any()),
        reasons=doubts,
        noun=d._noun,
    )
    intervals = _intervals_of_findings(d, compared, is_found)
    tables = {**_tables(compared), "family": family_table(candidates, answer, shown=intervals)}
    return Discovery(
        findings=GroupFindings.of(subjects, shown, task.space),
        measure=d._measure,
        n_tested=len(table),
        n_found=int(is_found.sum()),
        by_value=count_values(groups, [g for g, f in zip(groups, is_found, strict=True) if f], []),
        excluded=excluded_groups,
        tables=tables,
        notes=list(dict.fromkeys([*_notes(compared), *answer.sentences[1:]])),
        versus=_versus(compared),
        answer=answer,
        judgment=Judgment(answer.verdict, answer.reason),
    )


def _versus(compared):
    """Return in words what the groups are compared with."""
    is_rest = all(pair.reference is None for pair, _, _ in compared)
    return "everyone else" if is_rest and compared else "the reference"


def _doubts(compared):
    """Return the doubts about comparisons; of several ones, each names its group."""
    return [
        f"{pair.group}: {doubt}" if len(compared) > 1 else doubt
        for pair, _, c in compared
        for doubt in c.doubts
    ]


def _notes(compared):
    """Return the notes on comparisons; one that is not about all of them names its group."""
    all_notes = [set(c.notes) for _, _, c in compared]
    return [
        note if all(note in notes for notes in all_notes) else f"{pair.subgroup}: {note}"
        for pair, _, c in compared
        for note in c.notes
    ]


def _table(detector, compared):
    """Return one row per comparison, in their order."""
    d, rows = detector, []
    for pair, people, c in compared:
        ends = c.ends(d.significance)
        row = {"outcome": _outcome(people, c), "effect": c.effect.value}
        row |= {"ci_low": ends[0], "ci_high": ends[1], "p_value": c.p, "p_adjusted": c.p}
        row |= {"test": c.test or d._test, "support": people.sizes[0], "measure": d._measure}
        rows.append(row | {"reference": pair.versus} | c.more)
    columns = ["outcome", "effect", "ci_low", "ci_high", "p_value", "p_adjusted"]
    texts = {n: pd.Series(dtype=object) for n in ("test", "measure", "reference")}
    if not rows:
        numbers = {n: np.empty(0) for n in columns}
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
    tables: dict = {}
    for pair, _, c in compared:
        for name, table in c.tables.items():
            names = {"group": str(pair.group), "reference": pair.versus}
            tables.setdefault(name, []).append(
                pd.concat([pd.DataFrame([names] * len(table), index=table.index), table], axis=1)
            )
    return {name: pd.concat(parts, ignore_index=True) for name, parts in tables.items()}


def _without_comparison(excluded):
    """Return why no group could be compared, one sentence for each reason."""
    names = {}
    for e in excluded:
        names.setdefault(e.reason, []).append(e.group)
    return [f"{reason}: {', '.join(groups)}" for reason, groups in names.items()]


def _candidates(detector, task, compared, excluded, is_found):
    """Return the family of the question: all groups, also those that could not be compared."""
    d, n_excluded = detector, len(excluded)
    compared_sizes = [c.sizes or people.sizes for _, people, c in compared] + [
        e.sizes for e in excluded
    ]
    sizes = [people.sizes for _, people, _ in compared] + [e.sizes for e in excluded]
    group, reference = np.array(sizes, dtype=float).reshape(-1, 2).T
    n, n_others = np.array(compared_sizes, dtype=float).reshape(-1, 2).T
    total = float(task.people.n)
    # A group against the rest is a side of two only where the rest is a group, too.
    columns = [pair.group.column for pair, _, _ in compared] + [e.column for e in excluded]
    is_alone = np.array([columns.count(column) == 1 for column in columns], dtype=bool)
    is_partition = is_alone & np.isclose(group + reference, total)
    effect = np.array([c.effect.value for _, _, c in compared] + [np.nan] * n_excluded)

    def interval(a):
        level = float(_stats.level_of_two_tests(a))
        ends = [c.ends(level) for _, _, c in compared] + [(np.nan, np.nan)] * n_excluded
        return tuple(np.array(ends, dtype=float).reshape(-1, 2).T)

    def ratio(a):
        rates = [_outcome(people, c) for _, people, c in compared] + [np.nan] * n_excluded
        return smallest_ratio_of_gap(effect, *interval(a), np.array(rates))

    names = [str(pair.group) for pair, _, _ in compared] + [e.group for e in excluded]
    return Candidates(
        n,
        n_others,
        effect,
        interval,
        size=np.where(is_partition, np.maximum(group, reference), group),
        total=total,
        found=np.append(is_found, np.zeros(n_excluded, dtype=bool)),
        ratio=ratio if d.null == "marginal" and d._compares_rates else None,
        name=names,
        reason=[""] * len(compared) + [e.reason for e in excluded],
    )


def _intervals_of_findings(detector, compared, is_found):
    """Return the effects of the groups found, with intervals that account for their selection."""
    level = detector.significance * max(int(is_found.sum()), 1) / max(len(compared), 1)
    return {
        (str(pair.group), ""): (c.effect.value, *c.ends(level), 1 - level)
        for (pair, _, c), has_finding in zip(compared, is_found, strict=True)
        if has_finding
    }
