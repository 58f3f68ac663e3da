"""A result without the people in it: what a reader of a report may see."""

from dataclasses import replace

import numpy as np
import pandas as pd

from skdisc._results._findings import CaseFindings, ContextFindings, GroupFindings
from skdisc._results._shared_values import MIN_CELL, SharedValues
from skdisc._space._subgroup import Predicate, Subgroup

_COUNTS = (
    *("n", "support", "support_base", "support_rest", "n_reference", "n_group"),
    *("n_compared", "n_compared_rest", "held_out_support"),
)
_BY_RANK = ("shapley", "lattice", "counterfactuals", "curves")  # places of findings, from 1 on
_OF_PEOPLE = "row"  # the column of tables that have one row per person


def without_people(discovery, shared, min_cell=MIN_CELL):
    """Return a `Discovery` that describes no person and no group of fewer than `min_cell`.

    `shared`: None if it is not known which values enough people share. Returns a Discovery: with
    fewer findings, estimates and tables; the numbers of tests and findings are kept.
    """
    values = shared or SharedValues({})
    findings, of_cases, unnamed, place, n_left = discovery.findings, "", set(), None, 0
    if isinstance(findings, GroupFindings):
        findings, places = _groups(findings, values, min_cell)
        n_left += len(discovery.findings) - len(findings)
        place = {old: new for new, old in enumerate(places.tolist())}
        unnamed = {str(g) for g in discovery.findings.subgroups}
        unnamed -= {str(discovery.findings.subgroups[i]) for i in places}
    else:
        findings, of_cases = _cases(findings, shared)
    tables = {}
    for name, table in discovery.tables.items():
        if _OF_PEOPLE not in table:
            shown = table if place is None else of_findings(name, table, place)
            tables[name] = _described(shown, values, min_cell, unnamed)
            n_left += len(table) - len(tables[name])
    frames = {}
    for name in ("estimates", "excluded"):
        frame = getattr(discovery, name)
        frames[name] = None if frame is None else _described(frame, values, min_cell)
        n_left += 0 if frame is None else len(frame) - len(frames[name])
    notes = [
        note
        for note in discovery.notes
        if values.describe(note) and not any(name in note for name in unnamed)
    ]
    if of_cases:
        notes.append(of_cases)
    if n_left:
        notes.append(
            f"Groups of fewer than {min_cell} people are counted, not described: {n_left:,} rows "
            "of tables are left out."
        )
    judgment = discovery.judgment
    if judgment is not None:
        judgment = replace(judgment, reason=values.reason(judgment.reason, min_cell))
    answer = None if discovery.answer is None else _answer(discovery.answer, values, min_cell)
    by_value = {k: v for k, v in discovery.by_value.items() if values.describe(k)}
    changed = {"findings": findings, "tables": tables, "notes": notes, "judgment": judgment}
    changed["answer"] = answer
    return replace(discovery, **changed, **frames, by_value=by_value)


def _answer(answer, shared, min_cell):
    """Return an answer that names no group by a value that few share."""
    reason, aside = shared.reason(answer.reason, min_cell), shared.counted(answer.aside)
    named = [text for text in answer.without_counterparts if shared.describe(text)]
    return replace(answer, reason=reason, aside=aside, without_counterparts=named)


def of_findings(name, table, place):
    """Return the rows of a table about findings that are kept, which have new places."""
    first = {"rank": 1} if name in _BY_RANK else {"finding": 0}
    for column, start in first.items():
        if column in table:
            old = table[column]
            if all(i == j for i, j in place.items()) and old.max() - start < len(place):
                continue
            new = (old - start).map(place)
            of_none = old.isna() | (old < start)  # rows about all people
            table = table.assign(**{column: (new + start).fillna(old)})[new.notna() | of_none]
            table[column] = table[column].astype(old.dtype)
    return table


def _described(frame, shared, min_cell, unnamed=()):
    """Return the rows of a table about enough people, without values that few share.

    `unnamed` are groups of few, which tables without numbers of people can have, too.
    """
    keep = _large(frame, min_cell)
    for name in frame.columns:
        if _is_text(frame[name]):
            keep &= _mask(
                not isinstance(v, str) or (v not in unnamed and shared.describe(v))
                for v in frame[name]
            )
    return frame[keep].reset_index(drop=True)


def _large(frame, min_cell):
    """Return a mask of the rows whose numbers of people are all large enough, or unknown."""
    keep = np.ones(len(frame), dtype=bool)
    for name in _COUNTS:
        if name in frame:
            counts = pd.to_numeric(frame[name], errors="coerce").to_numpy(float)
            keep &= ~(counts < min_cell)
    return keep


def _is_text(column):
    return column.dtype == object or isinstance(column.dtype, pd.StringDtype)


def _mask(values):
    return np.fromiter(values, dtype=bool)


def _groups(findings, shared, min_cell):
    """Return the findings about large groups, and their places before.

    In conditions, values that few share are counted.
    """
    groups = [_masked(g, shared) for g in findings.subgroups]
    keep = _large(findings.table, min_cell) & _mask(g is not None for g in groups)
    for name in filter(lambda c: _is_text(findings.table[c]), findings.table):
        keep &= _mask(not isinstance(v, str) or shared.describe(v) for v in findings.table[name])
    bases = []
    if isinstance(findings, ContextFindings):
        bases = [_masked(g, shared) for g in findings.bases]
        keep &= _mask(g is not None for g in bases)
    places = np.flatnonzero(keep)
    keys = [findings.keys[i] if groups[i] is findings.subgroups[i] else "" for i in places]
    groups, table, columns = (
        [groups[i] for i in places],
        findings.table.iloc[places],
        findings.columns,
    )
    if not isinstance(findings, ContextFindings):
        return GroupFindings(groups, table, columns, keys, findings.aliases), places
    base_keys = [findings.base_keys[i] if bases[i] is findings.bases[i] else "" for i in places]
    bases = [bases[i] for i in places]
    return ContextFindings(groups, table, columns, keys, bases, base_keys), places


def _masked(group, shared):
    """Return a group without values that few share; None if it is defined by one of them."""
    if not isinstance(group, Subgroup):
        return group if shared.describe(str(group)) else None
    predicates = [_masked_predicate(p, shared) for p in group.predicates]
    if None in predicates:
        return None
    return group if predicates == list(group.predicates) else Subgroup(predicates)


def _masked_predicate(predicate, shared):
    """Return a predicate whose values that few share are counted; None if it has no other."""
    if predicate.values is None:
        return predicate
    shared_values = [v for v in predicate.values if shared.has(predicate.column, v)]
    n_left = len(predicate.values) - len(shared_values)
    if not n_left:
        return predicate
    return (
        Predicate.isin(predicate.column, [*shared_values, f"({n_left} withheld)"])
        if shared_values
        else None
    )


def _cases(findings, shared):
    """Return cases without people: inputs that are nobody's row, in values that enough share."""
    if findings.row is not None or shared is None:
        sentence = f"{len(findings):,} people are cases" if len(findings) else ""
        empty = pd.DataFrame(columns=findings.original.columns[:0])
        row = None if findings.row is None else []
        return CaseFindings(empty, empty, [], [], keys=([], []), row=row), sentence and (
            f"{sentence}; a report shows their rows with show_people=True only."
        )
    of_people = findings.of_people
    if of_people is None:  # it was not compared with rows, which only a search without any may lack
        of_people = np.full(len(findings), bool(shared.values))
    places = np.flatnonzero(~of_people)
    ends, changed = [], False
    for whole in (findings.original, findings.altered):
        frame = whole.iloc[places]
        columns = {c: [shared.shown(c, v) for v in frame[c].tolist()] for c in frame}
        end = pd.DataFrame(columns, columns=frame.columns)
        changed |= any(list(frame[c]) != columns[c] for c in frame)
        ends.append(end)
    notes = []
    if len(places) < len(findings):
        notes.append(
            f"{len(findings) - len(places):,} of {len(findings):,} cases are left out, because "
            "their values, protected columns aside, are those of somebody among the people."
        )
    if changed:
        notes.append(
            "In made-up inputs, values that few people share are rounded to one digit, or withheld."
        )
    statistics = findings.statistics
    return CaseFindings(
        *ends,
        findings.outcome[places],
        findings.altered_outcome[places],
        keys=([""] * len(places), [""] * len(places)),
        statistics=None if statistics is None else statistics.iloc[places],
        of_people=of_people[places],
    ), " ".join(notes)
