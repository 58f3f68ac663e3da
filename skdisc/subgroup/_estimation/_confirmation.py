"""Measure findings again, on rows that were not searched."""

from dataclasses import replace
from itertools import compress

import numpy as np

from skdisc import _stats
from skdisc._space._items import count_values
from skdisc.subgroup._estimation._contrasts import Contrasts
from skdisc.subgroup._estimation._outcome_rows import by_measure

_FOR_ROWS_HELD_OUT = 0.5  # share of the time that a search leaves for its findings on others
_COPIED = ("effect", "ci_low", "ci_high", "p_value", "p_adjusted", "support")
_COPIED_IF_THERE = ("alone", "alone_low", "alone_high")
_OF_THE_GROUP = ("approach", "slice_index")  # columns that do not depend on the rows


def confirm_on_held_out(detector, task, rows):
    """Search on some of the rows, and count as found what the rows held out confirm.

    `detector`: with `_search`, `_measure_held_out` and `_candidates`. `rows`: Counted, Summed or
    Outcome.
    """
    search_rows, held_out = rows.split(detector.confirm, task.rng)
    with task.budget.keeping(_FOR_ROWS_HELD_OUT):
        discovery = detector._search(task, search_rows)
    table = detector._measure_held_out(task, discovery.findings, held_out)
    sizes = search_rows.n, held_out.n
    discovery = with_held_out_statistics(
        discovery, table, detector.significance, detector.protected_, sizes
    )
    # Bins may have been cut by the outcomes of the rows searched: what is excluded is excluded by
    # the others, which measure the findings, too.
    discovery.candidates = detector._candidates(
        task, discovery, held_out, detector._items_again(task, held_out)
    )
    return discovery


def measured_again(detector, task, rows):
    """Return the Discovery of the findings of fit, measured on the rows of a task.

    `detector`: fitted; with `_measure_again`, `_items_again`, `_counts` and `_report`. `rows`:
    Counted, Summed or Outcome.
    """
    fit_findings = detector.result_.findings
    table = detector._measure_again(fit_findings, rows)
    items, is_again = detector._items_again(task, rows), confirmed(table, detector.significance)
    counts = detector._counts(items, fit_findings.subgroups, is_again)
    if "level" in fit_findings.table:
        table["level"] = 1 - detector.significance  # nothing was chosen on these rows
    for name in fit_findings.table.columns.difference(table.columns):
        # A table has the columns of fit; statistics of the search alone are unknown here.
        if not name.startswith("held_out_"):
            table[name] = fit_findings.table[name] if name in _OF_THE_GROUP else np.nan
    discovery = detector._report(rows, items, fit_findings.with_table(table), counts)
    discovery.candidates = detector._candidates(task, discovery, rows, items)
    return discovery


def measure_again(findings, rows, significance, correction, protected=None, min_effect=0.0):
    """Measure findings on other rows; the p-values are corrected over these findings.

    Parameters
    ----------
    rows : Counted or Summed
    protected : list, optional
        The protected columns, if groups are compared with the rest of their contexts; None: with
        everyone.
    min_effect : float, default=0
        Largest effect that is not worth a finding, for groups in their contexts.

    Returns
    -------
    DataFrame
        The columns of `OutcomeRows.compare` or `Contrasts.table`, ``p_adjusted`` and
        ``effect_at_fit``, one row per finding.
    """
    missing = [m for m in dict.fromkeys(findings.table["measure"]) if m not in rows.names]
    if missing and len(rows):
        raise ValueError(
            f"The findings of fit are about {missing[0]!r}, which these rows do not have. Pass "
            "labels y, as at fit."
        )
    measure = np.array([rows.names.index(m) for m in findings.table["measure"]], dtype=int)
    if protected is not None:
        contrasts = Contrasts.of_groups(rows, findings.subgroups, protected)
        positions = np.arange(len(findings))
        table = contrasts.table(measure, positions, significance)
        if min_effect and len(positions):
            beyond = np.array([t.p_beyond(min_effect) for t in contrasts.tallies])
            table["p_value"] = np.maximum(table["p_value"], beyond[measure, positions])
        if "effect_everyone" in findings.table:
            everyone = _against_everyone(findings, rows, measure, significance)
            table["effect_everyone"], table["t"] = everyone["effect"], everyone["t"]
    else:
        table = _against_everyone(findings, rows, measure, significance)
    return with_effects_at_fit(table, findings, correction)


def _against_everyone(findings, rows, measure, significance):
    """Return the table of each finding compared with everyone, by its measure."""

    def compared(j, positions):
        masks = (findings.subgroups[i].mask(rows.X) for i in positions)
        return rows.compare(j, masks, significance)

    return by_measure(measure, compared)


def with_effects_at_fit(table, findings, correction):
    """Add corrected p-values and the effects at fit to statistics of findings on other rows."""
    table["p_adjusted"] = _stats.adjust(table["p_value"].to_numpy(), correction)
    table["effect_at_fit"] = findings.table["effect"].to_numpy()
    return table


def confirmed(table, significance):
    """Return which findings are significant again, in the direction of fit, a bool array."""
    same = np.sign(table["effect"]) == np.sign(table["effect_at_fit"])
    return ((table["p_adjusted"] <= significance) & same).to_numpy()


def with_held_out_statistics(discovery, table, significance, protected, n_rows):
    """Add the held-out statistics to each finding; findings that they confirm count as found.

    `table`: the findings measured on the rows held out. `protected`: names of the protected
    columns. `n_rows`: numbers of rows searched, and of rows held out.
    """
    findings = discovery.findings
    for name in (*_COPIED, *table.columns.intersection(_COPIED_IF_THERE)):
        findings.table[f"held_out_{name}"] = table[name]
    is_again = confirmed(table, significance)
    confirmed_groups = set(compress(findings.subgroups, is_again))
    hits = count_values(confirmed_groups, confirmed_groups, protected)
    by_value = {v: (n, hits.get(v, (0, 0))[1]) for v, (n, _) in discovery.by_value.items()}
    note = (
        f"Groups were found on {n_rows[0]} rows and tested again on {n_rows[1]} others: of the "
        f"{len(findings)} kept, the {len(confirmed_groups)} that are significant there, in the "
        "same direction, count as found."
    )
    return replace(
        discovery, n_found=len(confirmed_groups), by_value=by_value, notes=[*discovery.notes, note]
    )
