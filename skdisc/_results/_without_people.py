"""A result without the people in it: what a reader of a report may see."""

from dataclasses import replace

import numpy as np
import pandas as pd

from skdisc._results._findings import CaseFindings, ContextFindings, GroupFindings
from skdisc._results._shared_values import MIN_CELL, SharedValues
from skdisc._space._subgroup import Predicate, Subgroup

_COUNTS = ("n", "support", "support_base", "n_reference", "n_group")
_OF_PEOPLE = "row"  # the column of tables that have one row per person


def without_people(discovery, shared, min_cell=MIN_CELL):
    """Return a `Discovery` that describes no person and no group of fewer than `min_cell`.

    Parameters
    ----------
    discovery : Discovery
    shared : SharedValues or None
        None if it is not known which values enough people share.
    min_cell : int

    Returns
    -------
    Discovery
        With fewer findings, estimates and tables; the numbers of tests and findings are kept.
    """
    known = shared or SharedValues({})
    tables, n_left = {}, 0
    for name, table in discovery.tables.items():
        if _OF_PEOPLE not in table:
            tables[name] = _described(table, known, min_cell)
            n_left += len(table) - len(tables[name])
    frames = {}
    for name in ("estimates", "excluded"):
        frame = getattr(discovery, name)
        frames[name] = None if frame is None else _described(frame, known, min_cell)
        n_left += 0 if frame is None else len(frame) - len(frames[name])
    findings = discovery.findings
    if isinstance(findings, GroupFindings):
        findings = _groups(findings, known, min_cell)
        n_left += len(discovery.findings) - len(findings)
        hidden = ""
    else:
        findings, hidden = _cases(findings, shared)
    notes = [note for note in discovery.notes if known.describe(note)]
    if hidden:
        notes.append(hidden)
    if n_left:
        notes.append(
            f"Groups of fewer than {min_cell} people are counted, not described: {n_left:,} rows "
            "of tables are left out."
        )
    judgment = discovery.judgment
    if judgment is not None and not known.describe(judgment.reason):
        judgment = replace(judgment, reason=f"groups of fewer than {min_cell} people are open")
    answer = None if discovery.answer is None else _answer(discovery.answer, known, min_cell)
    by_value = {k: v for k, v in discovery.by_value.items() if known.describe(k)}
    changed = {"findings": findings, "tables": tables, "notes": notes, "judgment": judgment}
    changed["answer"] = answer
    return replace(discovery, **changed, **frames, by_value=by_value)


def _answer(answer, shared, min_cell):
    """Return an answer that names no group by a value that few share."""
    reason, aside = answer.reason, answer.aside
    if not shared.describe(reason):
        reason = f"groups of fewer than {min_cell} people are open"
    if not shared.describe(aside):  # how many there are tells nobody who they are
        aside = aside.partition(":")[0]
    named = [text for text in answer.without_counterparts if shared.describe(text)]
    return replace(answer, reason=reason, aside=aside, without_counterparts=named)


def _described(frame, shared, min_cell):
    """Return the rows of a table about enough people, without values that few share."""
    keep = _large(frame, min_cell)
    for name in frame.columns:
        if _is_text(frame[name]):
            keep &= _mask(not isinstance(v, str) or shared.describe(v) for v in frame[name])
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
    """Return the findings about large groups; in conditions, values that few share are counted."""
    groups = [_masked(g, shared) for g in findings.subgroups]
    keep = _large(findings.table, min_cell) & _mask(g is not None for g in groups)
    for name in filter(lambda c: _is_text(findings.table[c]), findings.table):
        keep &= _mask(not isinstance(v, str) or shared.describe(v) for v in findings.table[name])
    bases = []
    if isinstance(findings, ContextFindings):
        bases = [_masked(g, shared) for g in findings.bases]
        keep &= _mask(g is not None for g in bases)
    at = np.flatnonzero(keep)
    keys = [findings.keys[i] if groups[i] is findings.subgroups[i] else "" for i in at]
    own = [groups[i] for i in at], findings.table.iloc[at], findings.columns, keys
    if not isinstance(findings, ContextFindings):
        return GroupFindings(*own, findings.aliases)
    base_keys = [findings.base_keys[i] if bases[i] is findings.bases[i] else "" for i in at]
    return ContextFindings(*own, [bases[i] for i in at], base_keys)


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
    kept = [v for v in predicate.values if shared.has(predicate.column, v)]
    n_left = len(predicate.values) - len(kept)
    if not n_left:
        return predicate
    return Predicate.isin(predicate.column, [*kept, f"({n_left} withheld)"]) if kept else None


def _cases(findings, shared):
    """Return cases without people: made-up inputs in values that enough people share."""
    if findings.row is not None or shared is None:
        left = f"{len(findings):,} people are cases" if len(findings) else ""
        none = pd.DataFrame(columns=findings.original.columns[:0])
        row = None if findings.row is None else []
        return CaseFindings(none, none, [], [], keys=([], []), row=row), left and (
            f"{left}; a report shows their rows with show_people=True only."
        )
    ends, changed = [], False
    for frame in (findings.original, findings.altered):
        columns = {c: [shared.shown(c, v) for v in frame[c].tolist()] for c in frame}
        end = pd.DataFrame(columns, columns=frame.columns)
        changed |= any(list(frame[c]) != columns[c] for c in frame)
        ends.append(end)
    note = (
        "In made-up inputs, values that few people share are rounded to one digit, or withheld."
        if changed
        else ""
    )
    outcomes = findings.outcome, findings.altered_outcome
    keys = ([""] * len(findings), [""] * len(findings))
    return CaseFindings(*ends, *outcomes, keys=keys, statistics=findings.statistics), note
