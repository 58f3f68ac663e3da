"""The results behind a document, with no row that the document does not have."""

from dataclasses import replace

import numpy as np

from skdisc._results._findings import ContextFindings, GroupFindings
from skdisc._results._without_people import of_findings
from skdisc.auditing._figures import as_gaps, has_reference
from skdisc.auditing._internal import shown_answer, tied_rows

_PARTS = ("groups", "comparable", "evidence", "families", "figures", "verdicts")
_OF_COLUMNS = ("associations", "curve")  # tables that are about no groups


def shown_results(document, hidden, plan, results, is_all_known):
    """Return results with the rows of groups that a document has, and no others.

    The check of a document asks about the sums of each of its rows, and of those with whom its
    group is compared. Rows about the same groups print further functions of these sums. All others
    are left out, with their part in counts, bounds, notes and reasons; so are tables that are not
    about groups.

    `document`: as it is printed. `hidden`: tells which rows are the same. `is_all_known`: whether
    rates of all people together are shown. Returns a dict of str to AuditResult: without rows of
    people, too.
    """
    shown = set()
    for part in _PARTS:
        for row in document[part]:
            shown.update(hidden.keys_of(row, part))
    lines = {line["name"]: line for line in document["log"]}
    return {
        step.name: _shown(
            results[step.name],
            step=step,
            line=lines[step.name],
            keys=shown,
            hidden=hidden,
            is_all_known=is_all_known,
        )
        for step in plan.steps
        if step.name in results and step.name in lines
    }


def _shown(result, *, step, line, keys, hidden, is_all_known):
    """Return a result about the groups that are shown."""
    part = "groups" if has_reference(step) else "evidence"

    def rows_of(table, groups):
        """Return masks of the rows that are shown, and of those without a p-value."""
        measures = table["measure"] if "measure" in table else [""] * len(table)
        row_keys = [
            hidden.key(step.attribute, group, measure or result.measure, part, step.null)
            for group, measure in zip(groups, measures, strict=True)
        ]
        several = [[key in hidden_keys for key in row_keys] for hidden_keys in (keys, hidden.tied)]
        return np.array(several, dtype=bool).reshape(2, len(table))

    discovery = result.without_people().discovery
    findings, place, n_left = discovery.findings, None, 0
    if isinstance(findings, GroupFindings):
        stay, is_tied = rows_of(as_gaps(findings.table), map(str, findings.subgroups))
        shown_places = np.flatnonzero(stay)
        place = {old: new for new, old in enumerate(shown_places.tolist())}
        findings = _some(findings, shown_places, _without_p(findings.table, is_tied, stay))
        n_left += int((~stay).sum())
    tables = {}
    for name, table in discovery.tables.items():
        if "group" in table:
            stay, is_tied = rows_of(as_gaps(table) if "measure" in table else table, table["group"])
            table, n_left = _without_p(table, is_tied, stay)[stay], n_left + int((~stay).sum())
        elif name not in _OF_COLUMNS:
            n_left += len(table)
            continue
        row_keys = table if place is None else of_findings(name, table, place)
        tables[name] = row_keys.reset_index(drop=True)
    changed = {"findings": findings, "tables": tables, "by_value": {}}
    changed |= {"n_tested": line["n_tested"], "n_found": line["n_found"]}
    changed["estimates"] = discovery.estimates if is_all_known else None
    if discovery.excluded is not None:
        groups = {key[1] for key in keys}
        is_named = discovery.excluded["subject"].isin(groups)
        changed["excluded"] = discovery.excluded[is_named].reset_index(drop=True)
    changed["notes"] = list(line["notes"])
    if n_left:
        changed["notes"].append(
            f"{n_left:,} rows of tables are left out, because the document of the audit does not "
            "have them: together with its rows they could tell about few people."
        )
    family, of_family = hidden.family(step, result)
    is_hidden = np.array([key not in keys for key in of_family], dtype=bool)
    if discovery.answer is not None and is_hidden.any():
        is_uncounted = np.array([hidden.leaves_out(key) for key in of_family], dtype=bool)
        changed["answer"] = shown_answer(discovery.answer, family, is_uncounted)
    if discovery.judgment is not None:
        is_about = is_hidden.any() or n_left > 0
        reason = line["reason"] if is_about else discovery.judgment.reason
        changed["judgment"] = replace(discovery.judgment, reason=reason)
    return replace(result, discovery=replace(discovery, **changed), last_shown=None)


def _some(findings, places, table):
    """Return some of the findings about groups, with a table of numbers."""

    def at_places(values):
        return [values[i] for i in places]

    groups, keys = at_places(findings.subgroups), at_places(findings.keys)
    table, columns = table.iloc[places], findings.columns
    if not isinstance(findings, ContextFindings):
        return GroupFindings(groups, table, columns, keys, findings.aliases)
    bases, base_keys = at_places(findings.bases), at_places(findings.base_keys)
    return ContextFindings(groups, table, columns, keys, bases, base_keys)


def _without_p(table, is_tied, stay):
    """Return a table without corrected p-values that rows which are left out may have, too."""
    for start in ("", "held_out_"):
        name, raw = f"{start}p_adjusted", f"{start}p_value"
        if name not in table:
            continue
        corrected, has_other_p = table[name].to_numpy(dtype=float), is_tied
        if raw in table:
            p = table[raw].to_numpy(dtype=float)
            has_other_p = is_tied | tied_rows(corrected, p, ~stay)
        table = table.assign(**{name: table[name].mask(has_other_p)})
    return table
