"""The Discovery of GroupDisparity: counts, tables and judgment."""

from dataclasses import dataclass

import pandas as pd

from skdisc._results._audit_result import Discovery
from skdisc._results._judgment import judge_groups
from skdisc._space._items import count_values, value_name
from skdisc._space._subgroup import Group
from skdisc.group import _group_disparity_table as measure_tables
from skdisc.group._group_disparity_presets import PRESETS, impact_ratios
from skdisc.measures._formula._decisions import GroupedDecisions


@dataclass(frozen=True)
class Compared:
    """The groups of some rows, compared.

    Parameters
    ----------
    rows : GroupedDecisions
        The counts.
    table : DataFrame
        Every measure of every group, from `measure_groups`.
    checked : DataFrame
        What the data exclude, from `equivalence`.
    """

    rows: GroupedDecisions
    table: pd.DataFrame
    checked: pd.DataFrame


def report(detector, task, compared, findings, found):
    """Return the Discovery of a `GroupDisparity`.

    Parameters
    ----------
    detector : GroupDisparity
    task : Task
        Its memory holds the predicates of each protected column.
    compared : Compared
    findings : GroupFindings
    found : Series
        The groups that differ.
    """
    d, table, known = detector, compared.table, task.memory.known
    unsigned = table["effect"].isna() & table["p_adjusted"].notna()
    tested = measure_tables.tested_groups(table, table["effect"].notna() | unsigned)
    found = {measure_tables.subgroup(g) for g in found}
    found |= measure_tables.tested_groups(table, unsigned & (table["p_adjusted"] <= d.significance))
    named = [{g for g in several if isinstance(g, Group)} for several in (tested, found)]
    by_value = {value_name(p): (0, 0) for several in known.values() for p in several}
    tables = {"measures": measure_tables.readable(table), "equivalence": compared.checked}
    if d.preset is not None:
        known_only = PRESETS[d.preset]["known_only"]
        without = measure_tables.unknown(task.X, known) if known_only else []
        tables["impact_ratios"] = impact_ratios(table, compared.rows, without, d.threshold)
    return Discovery(
        findings=findings,
        measure=", ".join(dict.fromkeys(table["measure"])),
        n_tested=len(tested),
        n_found=len(found),
        smallest_gap=measure_tables.smallest_gap(table),
        required_gap=float(d.relevant_gap),
        by_value=by_value | count_values(*named, d.protected_),
        excluded=measure_tables.undefined(table),
        tables=tables,
        notes=list(PRESETS[d.preset]["notes"]),
        versus=measure_tables.versus(d._setting("reference")),
        judgment=_judge(d, task, compared, len(found)),
    )


def _judge(detector, task, compared, n_found):
    """Return the Judgment."""
    d, reasons = detector, []
    if task.budget.stopped_by is not None:
        reasons.append(f"{task.budget.stopped_by} ended the run before any group was compared")
    margin = d.relevant_gap, d.significance
    return judge_groups(n_found, compared.checked, reasons, d.null, *margin)
