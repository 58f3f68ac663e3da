"""The report of FACTS: each subgroup compared under one notion, the first k shown."""

from dataclasses import replace

import numpy as np
import pandas as pd

from skdisc import _stats
from skdisc._results._findings import Discovery, GroupFindings
from skdisc._results._judgment import UNSURE, Judgment
from skdisc._space._codes import PAD
from skdisc._space._items import value_name
from skdisc._space._subgroup import Subgroup
from skdisc._task._notes import chosen_by_their_data
from skdisc.subgroup._estimation._contrasts import IN_CONTEXT
from skdisc.subgroup._facts._comparison import candidates_of, chosen_sides, compare_sides, sides_of
from skdisc.subgroup._facts._notions import (
    Verdicts,
    dense_ranks,
    n_comparisons,
    worst_off,
)
from skdisc.subgroup._facts._study import StudyPeople, measure

_AGAIN = "other rows were compared in the subgroups of fit only"
_PEOPLE = ("support", "support_rest", "n_compared", "n_compared_rest")
_LISTED = 5  # number of most effective actions listed for each group of a finding
_COLUMNS = (
    *("outcome", "effect", "ci_low", "ci_high", "p_value", "p_adjusted", "test", "support"),
    *("n_compared", "outcome_rest", "support_rest", "n_compared_rest"),
    *("unfairness", "notion_rank", "measure", "protected"),
)


def discovered(d, task, excluded):
    """Return the Discovery of a detector whose recourse was measured.

    `d`: with ``recourse_``.
    """
    table = pd.concat([_judged(d, r) for r in d.recourse_.values()] or [_empty()])
    table = table.reset_index(drop=True)
    table["p_adjusted"] = _stats.adjust(table["p_value"].to_numpy(float), d.correction)
    worse = (table["unfairness"] > 0) & ~table["is_turned"].astype(bool)
    if d.order == "evidence":
        worse &= table["p_value"].notna()
    is_found = (table["p_adjusted"] <= d.significance) & worse
    keys = [-table["unfairness"], table["p_value"], -table["support"], table["number"]]
    if d.order == "evidence":
        keys = [table["p_value"].round(300), table["length"], -table["unfairness"], *keys[2:]]
    order = np.lexsort([k.to_numpy(float) for k in [*keys[::-1], ~is_found]])
    order = order[worse.to_numpy()[order]]
    shown = _with_intervals(d, table.iloc[order[: d.k]].reset_index(drop=True))
    task.memory = shown[["protected", "number", "against"]]
    n_tested, n_found = dict.fromkeys(_n_against(d, table), 0), _n_against(d, table[is_found])
    for r in d.recourse_.values():  # each value takes part in all comparisons of its columns
        for value in {value_name(p) for g in r.groups for p in _predicates(g)}:
            n_tested[value] += len(r)
    by_value = {value: (n, n_found[value]) for value, n in n_tested.items()}
    problem = ""
    if d.min_support > d.relevant_size:
        problem = (
            f"subgroups of fewer than min_support={d.min_support:g} of the people refused were not "
            f"compared, and those from relevant_size={d.relevant_size:g} on matter"
        )
    candidates = candidates_of(d, d.recourse_, _places(table[is_found]), problem)
    return _discovery(
        d,
        task,
        shown,
        d.recourse_,
        shown[list(_COLUMNS)],
        n_tested=len(table),
        n_found=int(is_found.sum()),
        by_value=by_value,
        excluded=pd.DataFrame(excluded, columns=["subject", "n", "reason"]),
        notes=_notes(d, is_found),
        candidates=candidates,
        judgment=_unsure(d, is_found),
    )


def _places(table):
    """Return the protected column, the subgroup and the group of each row, a set."""
    columns = (table[name] for name in ("protected", "number", "against"))
    return {(name, int(k), int(g)) for name, k, g in zip(*columns, strict=True)}


def _unsure(d, is_found):
    """Return the judgment where nothing was measured, or found by a notion of no shares."""
    if all(not len(r) for r in d.recourse_.values()):
        why = dict.fromkeys(_why_nothing(r) for r in d.recourse_.values())
        return Judgment(UNSURE, "; ".join(why)) if why else None
    notions = [r.notion(d.notion, d.viewpoint) for r in d.recourse_.values()]
    if is_found.any() or all(notion.is_share for notion in notions):
        return None
    return Judgment(UNSURE, f"{notions[0]} compares no shares, so no relevant gap is excluded")


def _with_intervals(d, shown):
    """Return the findings with intervals that account for the search, unless as published."""
    if d.order == "effect" or not len(shown):
        return shown
    pairs = [(len(r), n_comparisons(len(r.groups))) for r in d.recourse_.values()]
    level = _stats.false_coverage_level(len(shown), sum(a * b for a, b in pairs), d.significance)
    shown = shown.copy()
    for name, r in d.recourse_.items():
        positions = np.flatnonzero(shown["protected"] == name)
        if not len(positions):
            continue
        number, against = shown.loc[positions, ["number", "against"]].to_numpy(int).T
        group = np.zeros(len(r), dtype=int)
        group[number] = against  # of the other subgroups, nothing is shown
        statistics = _compared(d, r, Verdicts(group, np.zeros(len(r))), level)
        for column in ("ci_low", "ci_high"):
            shown.loc[positions, column] = statistics[column][number]
    return shown


def _compared(d, recourse, verdicts, level):
    """Return the statistics of verdicts."""
    notion = recourse.notion(d.notion, d.viewpoint)
    sides = sides_of(recourse, verdicts, notion)
    return compare_sides(*sides, notion, level, d.order != "effect")


def _n_against(d, rows):
    """Count the rows that are against a group with each protected value, a dict."""
    counts = {}
    for name, r in d.recourse_.items():
        for i, g in enumerate(r.groups):
            n = int(((rows["protected"] == name) & (rows["against"] == i)).sum())
            for value in map(value_name, _predicates(g)):
                counts[value] = counts.get(value, 0) + n
    return counts


def _predicates(group):
    """Return the conditions of a group, one for each protected column."""
    return group.predicates if isinstance(group, Subgroup) else (group,)


def _empty():
    more = ("number", "against", "is_turned", "length")
    numbers = {c: np.zeros(0) for c in (*_COLUMNS, *more)}
    texts = {c: pd.Series(dtype=object) for c in ("test", "measure", "protected")}
    return pd.DataFrame({**numbers, **texts}).astype({"support": int, "number": int})


def _judged(d, recourse):
    """Return one row per subgroup: the group that is worst off, its statistics, score and rank."""
    notion, measured = recourse.notion(d.notion, d.viewpoint), recourse.measured
    if not len(measured):
        return _empty()
    verdicts = worst_off(measured, notion)
    level = d.significance if d.order == "effect" else None  # else see `_with_intervals`
    table = pd.DataFrame(_compared(d, recourse, verdicts, level))
    table["n_compared"], table["n_compared_rest"] = table["support"], table["support_rest"]
    table["support"], table["support_rest"] = (s.n.ravel() for s in verdicts.sides(measured))
    table["is_turned"] = ~(table["effect"] < 0) & (measured.part is not None and notion.is_share)
    table["length"] = (recourse.plan.patterns != PAD).sum(axis=1)
    table["p_value"] = recourse.corrected(table["p_value"])
    table["unfairness"], table["notion_rank"] = verdicts.score, dense_ranks(verdicts.score)
    table["measure"] = pd.Series([str(notion)] * len(table), dtype=object)
    table["protected"] = pd.Series([recourse.protected] * len(table), dtype=object)
    table["number"] = np.arange(len(table))
    table["against"] = verdicts.against
    return table


def _notes(d, is_found):
    """Return notes on whom the comparison is about, and why nothing was measured."""
    notes = [
        "Recourse is compared among people with an unfavorable decision; that a group has more "
        "such decisions is no finding here."
    ]
    notes += chosen_by_their_data(bool(is_found.any()) and d.confirm is None)
    return notes + [
        f"No subgroup was measured by {name}: {_why_nothing(r)}."
        for name, r in d.recourse_.items()
        if not len(r)
    ]


def _why_nothing(recourse):
    """Return why no subgroup was measured by a protected column."""
    if len(recourse.groups) < 2:
        return "fewer than two of its groups have members with an unfavorable decision"
    if not recourse.mining["actions"]:
        return "there is no favorable decision, or no action is frequent among them"
    if not recourse.mining["common"]:
        return "no subgroup is frequent among the affected people of each group"
    if not recourse.mining["valid pairs"]:
        return "no subgroup has a valid action"
    return "the budget ended the search before the model was queried about any"


def measured_again(d, task, cache, rows):
    """Measure the findings of fit on other rows, with the same groups, actions and notion.

    `d`: fitted. `cache`: DecisionCache. `rows`: None: the budget is too small to query the model.
    """
    fit_table, shown = d.result_.findings.table, task.memory
    table, new_recourse = table_again(d, fit_table, shown, cache, rows)
    same_sign = np.sign(table["effect"]) == np.sign(fit_table["effect"])
    is_found = ((table["p_adjusted"] <= d.significance) & same_sign).to_numpy()
    n_tested, n_found = (_n_against(d, rows) for rows in (shown, shown[is_found]))
    by_value = {value: (n, n_found[value]) for value, n in n_tested.items()}
    return _discovery(
        d,
        task,
        shown,
        new_recourse,
        table,
        n_tested=len(table),
        n_found=int(is_found.sum()),
        by_value=by_value,
        candidates=candidates_of(d, new_recourse, set(), _AGAIN),
    )


def table_again(d, fit_table, shown, cache, rows):
    """Measure findings on other rows.

    Parameters
    ----------
    d : FACTS
        With ``recourse_``.
    fit_table : DataFrame
        The statistics of the findings.
    shown : DataFrame
        By finding: the protected column, the number of the subgroup in the plan of its recourse,
        and the number of the group worse off.
    cache : DecisionCache
    rows : StudyRows or None

    Returns
    -------
    table : DataFrame
        As `fit_table`, with ``effect_at_fit``.
    new_recourse : dict of Recourse
        By protected column.
    """
    table, new_recourse = fit_table.copy(), {}
    numbers = ["outcome", "effect", "ci_low", "ci_high", "p_value", "p_adjusted", "outcome_rest"]
    table[numbers], table[[*_PEOPLE]] = np.nan, 0
    for name, recourse in d.recourse_.items() if rows is not None else ():
        which = np.flatnonzero(shown["protected"] == name)
        new = _new_recourse(d, recourse, shown.iloc[which], cache, rows)
        if new is None:
            continue
        new_recourse[name], statistics = new
        for column, values in statistics.items():
            table.loc[which, column] = values
    table["p_adjusted"] = _stats.adjust(table["p_value"].to_numpy(float), d.correction)
    table["effect_at_fit"] = fit_table["effect"]
    return table, new_recourse


def _new_recourse(d, recourse, shown, cache, rows):
    """Return the recourse of new rows in the subgroups shown, and statistics in their order."""
    plan, people = recourse.plan, StudyPeople.of(rows, recourse.groups)
    plan = plan.keep(np.flatnonzero(np.isin(plan.subgroup, shown["number"])))
    c_inf = recourse.measured.c_inf
    same, measured, everyone = measure(cache, people, plan, rows.settings, c_inf)
    if len(same.cost) < len(plan.cost):
        return None
    order = np.argsort(shown["number"].to_numpy())
    verdicts = Verdicts(shown["against"].to_numpy(int)[order], np.zeros(len(order)))
    notion = recourse.notion(d.notion, d.viewpoint)
    sides = verdicts.sides(measured)
    if d.learn_on is not None:
        learning = recourse.measured.at(shown["number"].to_numpy(int)[order])
        sides = chosen_sides(learning, measured, verdicts, notion)
    statistics = compare_sides(*sides, notion, d.significance, d.order != "effect")
    # no action was chosen on these people
    statistics["n_compared"] = statistics["support"]
    statistics["n_compared_rest"] = statistics["support_rest"]
    back = np.argsort(order)
    new = replace(
        recourse,
        plan=same,
        measured=measured,
        everyone=everyone,
        n_affected=people.layout.sizes,
    )
    return new, {name: values[back] for name, values in statistics.items()}


def _discovery(d, task, shown, recourse, table, **fields):
    """Return the Discovery of findings with these statistics; `fields` are further ones of it."""
    subjects = [
        d.recourse_[s.protected].plan.at(int(s.number))
        & d.recourse_[s.protected].groups[int(s.against)]
        for s in shown.itertuples()
    ]
    measures = [str(r.notion(d.notion, d.viewpoint)) for r in recourse.values()]
    return Discovery(
        findings=GroupFindings.of(subjects, table, task.space),
        measure=", ".join(dict.fromkeys(measures)) or d.notion,
        estimates=_with_recourse(recourse, d.significance),
        tables=_tables(d, shown, recourse),
        versus=IN_CONTEXT,
        **fields,
    )


def _with_recourse(recourse, significance):
    """Return, for each group, the share of its affected people whom any action helps."""
    rows = [
        (f"{g}: share with recourse", r.everyone.first[:, i].sum(), r.n_affected[i])
        for r in recourse.values()
        for i, g in enumerate(r.groups)
    ]
    names, x, n = zip(*rows, strict=True) if rows else ((), (), ())
    x, n = np.array(x, dtype=float), np.array(n, dtype=np.int64)
    low, high = _stats.wilson(x, n, significance)
    with np.errstate(divide="ignore", invalid="ignore"):
        columns = {"name": list(names), "estimate": x / n, "ci_low": low, "ci_high": high, "n": n}
    return pd.DataFrame(columns).astype({"name": object})


def _tables(d, shown, recourse):
    """Return tables of the actions and curves of the findings, the burden, and the mining."""
    actions, curves, burden, mining = [], [], [], []
    for rank, s in enumerate(shown.itertuples(), 1):
        if s.protected not in recourse:
            continue
        r = recourse[s.protected]
        subgroup = int(s.number)
        if r is not d.recourse_[s.protected]:  # of other rows: the subgroups have other numbers
            subgroup = r.find(d.recourse_[s.protected].plan.at(subgroup))
        rows = r.counterfactuals(subgroup)
        best = rows.sort_values(["effectiveness", "cost"], ascending=[False, True], kind="stable")
        rows = best.groupby("group", sort=False).head(_LISTED).sort_index()
        actions.append(rows.assign(rank=rank))
        curves.append(r.curves(subgroup).assign(rank=rank))
    for name, r in recourse.items():
        burden += [
            (name, str(notion), str(group), value)
            for notion in r.notions
            if notion.viewpoint == "micro"
            for group, value in zip(r.groups, r.everyone.values(notion)[0], strict=True)
        ]
        counts = pd.Series(r.mining, dtype=np.int64).rename_axis("counted").rename("number")
        mining.append(counts.reset_index().assign(protected=name))
    burden = pd.DataFrame(burden, columns=["protected", "notion", "group", "value"])
    tables = {"counterfactuals": actions, "curves": curves, "mining": mining}
    tables = {name: pd.concat(t, ignore_index=True) for name, t in tables.items() if t}
    return {**tables, "burden": burden.astype({"notion": object, "group": object})}
