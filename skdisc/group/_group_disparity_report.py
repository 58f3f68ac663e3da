"""The comparison of all groups by GroupDisparity, and its Discovery with the judgment."""

from dataclasses import dataclass

import pandas as pd

from skdisc._results._findings import Discovery
from skdisc._results._judgment import judge_groups
from skdisc._space._items import count_values, value_name
from skdisc._space._subgroup import Group
from skdisc.group import _group_disparity_table as measure_tables
from skdisc.group._group_disparity_equivalence import (
    SELECTION,
    EquivalenceMargins,
    beyond,
    equivalence,
)
from skdisc.group._group_disparity_people import counted, with_selected_intervals
from skdisc.group._group_disparity_presets import PRESETS, impact_ratios
from skdisc.group._group_disparity_shrinkage import shrunken_table
from skdisc.measures._disparities import evaluations
from skdisc.measures._formula._decisions import GroupedDecisions


@dataclass(frozen=True)
class Compared:
    """The groups of some rows, compared.

    Parameters
    ----------
    rows : GroupedDecisions
        The counts.
    evaluations : list of Evaluation
        The measures on them.
    table : DataFrame
        Every measure of every group, from `measure_groups`.
    checked : DataFrame
        What the data exclude, from `equivalence`.
    reference : rule, or dict of predicates
    least : float
        Size below which a group is not compared.
    gap : float
        The relevant gap, in the unit of what is compared.
    """

    rows: GroupedDecisions
    evaluations: list
    table: pd.DataFrame
    checked: pd.DataFrame
    reference: object
    least: float
    gap: float


def compare(detector, task, people, known, reference):
    """Compare the groups of people; return `Compared`."""
    d = detector
    rows = counted(people, known, d.intersections, PRESETS[d.preset]["known_only"])
    task.progress(f"{people.n:,} people in {rows.n_cells} groups")
    seed, least = int(task.rng.integers(2**31)), max(1.0, d._setting("min_share") * people.n)
    measures = measure_tables.choose(d._setting("measures"), rows)
    measured = evaluations(rows, measures, reference, least)
    table = _measured(d, rows, measured, reference, seed)
    rarer = d.preset is None
    weight = people.weight if people.frequency is None else people.frequency
    gap = d._gap_that_matters(people.decided, weight).size
    margins = EquivalenceMargins(gap, d.relevant_ratio, d.significance, rarer)
    checked = equivalence(rows, table["measure"].unique(), reference, margins, least)
    if d.min_effect:
        p_value = beyond(table, checked, d.min_effect, d.significance)
        table["p_adjusted"] = measure_tables.adjust(table, p_value, reference, d.correction)
    if d.output == "value":
        checked["quantity"] = checked["quantity"].replace(SELECTION, "mean")
    return Compared(rows, measured, table, checked, reference, least, gap)


def selected_intervals(detector, compared, shown, n_found):
    """Return the effects with intervals of what was selected, and one minus their level."""
    d, n_tests = detector, int(compared.table["p_value"].notna().sum())

    def ends_at(level):
        how = {
            "significance": level,
            "n_resamples": d.n_resamples,
            "random_state": int(d._seeds[0]),
        }
        names = set(shown["measure"])
        return measure_tables.effect_ends(compared.evaluations, names, how)[:, shown.index]

    return with_selected_intervals(shown, n_found, n_tests, d.significance, ends_at)


def _measured(detector, rows, measured, reference, seed):
    """Return the table of measures."""
    d = detector
    permutations = {"wasserstein_distance": d.n_resamples} if d.output == "value" else 0
    how = {"significance": d.significance, "random_state": seed}
    return measure_tables.measure_groups(
        rows,
        measured,
        reference,
        how | {"n_resamples": d.n_resamples, "permutations": permutations},
        exact=d.preset is not None and not rows.has_design,
        correction=d.correction,
    )


def report(detector, task, compared, findings, found, notes=()):
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
    notes : sequence of str, default=()
    """
    d, table, known = detector, compared.table, task.memory.known
    unsigned = table["effect"].isna() & table["p_adjusted"].notna()
    tested = measure_tables.tested_groups(table, table["effect"].notna() | unsigned)
    found = {measure_tables.subgroup(g) for g in found}
    found |= measure_tables.tested_groups(table, unsigned & (table["p_adjusted"] <= d.significance))
    named = [{g for g in several if isinstance(g, Group)} for several in (tested, found)]
    by_value = {value_name(p): (0, 0) for several in known.values() for p in several}
    tables = {"measures": measure_tables.readable(table), "equivalence": compared.checked}
    if d.shrinkage:
        tables["shrinkage"] = shrunken_table(compared.rows, d.significance)
    if d.preset is not None:
        known_only = PRESETS[d.preset]["known_only"]
        without = measure_tables.unknown(task.people, known) if known_only else []
        tables["impact_ratios"] = impact_ratios(table, compared.rows, without, d.threshold)
    return Discovery(
        findings=findings,
        measure=", ".join(dict.fromkeys(table["measure"])),
        n_tested=len(tested),
        n_found=len(found),
        smallest_gap=measure_tables.smallest_gap(table),
        required_gap=float(compared.gap),
        by_value=by_value | count_values(*named, d.protected_),
        excluded=measure_tables.undefined(table),
        tables=tables,
        notes=[*PRESETS[d.preset]["notes"], *notes],
        versus=measure_tables.versus(d._setting("reference")),
        judgment=_judge(d, task, compared, len(found)),
    )


def _judge(detector, task, compared, n_found):
    """Return the Judgment."""
    d, reasons = detector, []
    if task.budget.stopped_by is not None:
        reasons.append(f"{task.budget.stopped_by} ended the run before any group was compared")
    margin = compared.gap, d.significance
    return judge_groups(n_found, compared.checked, reasons, d.null, *margin)
