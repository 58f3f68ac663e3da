"""The comparison of all groups by GroupDisparity, and its Discovery with the judgment."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from skdisc import _stats
from skdisc._results._findings import Discovery
from skdisc._results._judgment import Judgment, confirmed_p
from skdisc._space._items import count_values, value_name
from skdisc._space._subgroup import Group
from skdisc._task._notes import few_clusters
from skdisc._verdicts._answer import decide
from skdisc._verdicts._relevant import RATE, relevant_gap
from skdisc.group import _group_disparity_table as measure_tables
from skdisc.group._group_disparity_family import (
    SELECTION,
    ComparedQuantities,
    GapMargins,
    behind,
    beyond,
    compared_quantities,
)
from skdisc.group._group_disparity_people import counted
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
    quantities : ComparedQuantities
        The rates and means behind the measures.
    least : float
        Size below which a group is not compared.
    gap : float
        The relevant gap, in the unit of what is compared.
    """

    rows: GroupedDecisions
    evaluations: list
    table: pd.DataFrame
    quantities: ComparedQuantities
    reference: object
    least: float
    gap: float


def compare(detector, task, people, predicates, reference):
    """Compare the groups of people by all measures; return `Compared`.

    `predicates`: the values and bins of each protected column that were known at fit.
    """
    d = detector
    rows = counted(people, predicates, d.intersections, PRESETS[d.preset]["known_only"])
    rows = _looked_at(d, rows)
    task.progress(f"{people.n:,} people in {rows.n_cells} groups")
    seed, least = int(task.rng.integers(2**31)), max(1.0, d._setting("min_share") * people.n)
    measures = measure_tables.choose(d._setting("measures"), rows)
    measured = evaluations(rows, measures, reference, least, d._min_cell)
    table = _measured(d, rows, measured, reference, seed)
    rarer = d.preset is None
    weight = people.weight if people.frequency is None else people.frequency
    of_all = d._gap_that_matters(people.decided, weight)

    def matters(rate):
        """Return the relevant gap of the rate of all people; NaN stands for a mean."""
        if np.isnan(rate):
            return of_all
        return relevant_gap(d.relevant_gap, kind=RATE, mean=rate, all_equal=rate in (0.0, 1.0))

    ratios = d.null == "marginal" and d.output == "decision"
    margins = GapMargins(matters, d.relevant_size, rarer=rarer, ratios=ratios)
    names = table["measure"].unique()
    quantities = compared_quantities(rows, names, reference, margins, least, d._min_cell)
    if d.min_effect:
        p_value = beyond(table, quantities, d.min_effect, d.significance)
        table["p_adjusted"] = measure_tables.adjust(table, p_value, reference, d.correction)
    return Compared(rows, measured, table, quantities, reference, least, of_all.size)


def _looked_at(detector, rows):
    """Return the rows with only those groups that a public document may compare."""
    if detector._choice is None:
        return rows
    measures = detector._setting("measures")
    errors = rows.true is not None  # by default, these are compared where labels are known
    if measures is not None and not isinstance(measures, str):
        errors = any(behind(m) != (SELECTION,) for m in measures)
    groupings = []
    for attribute, labels, members in rows.groupings:
        may_compare = detector._choice.looks_at(members[:, rows.cell], errors=errors)
        labels = [label for label, stays in zip(labels, may_compare, strict=True) if stays]
        groupings.append((attribute, labels, members[may_compare]))
    return replace(rows, groupings=groupings)


def selected_intervals(detector, compared, shown, n_found):
    """Return the effects with intervals of the false-coverage-rate level, and one minus that level.

    The effects found are selected by the same rows; if none is found, the first one is. With the
    correction "bh", an interval excludes equality exactly if its effect is found.

    `shown`: effects in the order in which they are shown. They get the column ``ci_significance``,
    one minus the level of each interval.
    """
    d, n_tests = detector, int(compared.table["p_value"].notna().sum())
    level = _stats.false_coverage_level(n_found, n_tests, d.significance)
    if not len(shown) or level >= d.significance:
        return shown.assign(ci_significance=d.significance), d.significance
    how = {"significance": level, "n_resamples": d.n_resamples, "random_state": int(d._seeds[0])}
    ends = measure_tables.effect_ends(compared.evaluations, set(shown["measure"]), how)
    low, high = ends[:, shown.index]
    return shown.assign(effect_low=low, effect_high=high, ci_significance=level), level


def _measured(detector, rows, measured, reference, seed):
    """Return the table of measures."""
    d = detector
    permutations = {"wasserstein_distance": d.n_resamples} if d.output == "value" else 0
    settings = {"significance": d.significance, "random_state": seed}
    return measure_tables.measure_groups(
        rows,
        measured,
        reference,
        settings | {"n_resamples": d.n_resamples, "permutations": permutations},
        exact=d.preset is not None and not rows.has_design,
        correction=d.correction,
    )


def report(detector, task, compared, findings, found_groups, notes=()):
    """Return the Discovery of a `GroupDisparity`.

    `task`: its memory holds the predicates of each protected column. `found_groups`: the groups
    that differ.
    """
    d, table, predicates = detector, compared.table, task.memory.predicates
    unsigned = table["effect"].isna() & table["p_adjusted"].notna()
    tested = measure_tables.tested_groups(table, table["effect"].notna() | unsigned)
    found_groups = {measure_tables.subgroup(g) for g in found_groups}
    found_groups |= measure_tables.tested_groups(
        table, unsigned & (table["p_adjusted"] <= d.significance)
    )
    named = [{g for g in several if isinstance(g, Group)} for several in (tested, found_groups)]
    by_value = {value_name(p): (0, 0) for several in predicates.values() for p in several}
    answer, family = _answer(d, task, compared, findings, len(found_groups))
    tables = {"measures": measure_tables.readable(table), "family": family}
    if d.shrinkage:
        tables["shrinkage"] = shrunken_table(compared.rows, d.significance)
    if d.preset is not None:
        known_only = PRESETS[d.preset]["known_only"]
        without = measure_tables.unknown(task.people, predicates) if known_only else []
        tables["impact_ratios"] = impact_ratios(
            table, compared.rows, without, d.threshold, compared.reference == "best"
        )
    return Discovery(
        findings=findings,
        measure=", ".join(dict.fromkeys(table["measure"])),
        n_tested=len(tested),
        n_found=len(found_groups),
        by_value=by_value | count_values(*named, d.protected_),
        excluded=measure_tables.undefined(table),
        tables=tables,
        notes=[
            *PRESETS[d.preset]["notes"],
            *notes,
            *([answer.sentences[-1]] if answer.aside else []),
        ],
        versus=measure_tables.versus(d._setting("reference")),
        answer=answer,
        judgment=Judgment(answer.verdict, answer.reason),
    )


def _answer(detector, task, compared, findings, n_found):
    """Return the answer, and the table of its family."""
    d, reasons = detector, few_clusters(task.people.groups)
    candidates = compared.quantities.candidates(_significant_quantities(d, findings))
    answer = decide(
        candidates,
        significance=d.significance,
        relevant_ratio=d.relevant_ratio,
        relevant_size=d.relevant_size,
        is_found=n_found > 0,
        reasons=reasons,
    )
    family = compared.quantities.family(candidates, answer)
    if d.output == "value":
        family["measure"] = family["measure"].replace(SELECTION, "mean")
    return answer, family


def _significant_quantities(detector, findings):
    """Return the pairs (group, name of a rate or mean) behind the significant findings.

    A measure such as equalized odds is made of two rates: the answer is about the rates.
    """
    table = findings.table
    is_significant = (confirmed_p(table) <= detector.significance).to_numpy()
    return {
        (str(findings.subgroups[i]), quantity)
        for i in np.flatnonzero(is_significant)
        for quantity in behind(table["measure"].iloc[i])
    }
