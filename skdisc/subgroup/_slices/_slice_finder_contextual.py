"""SliceFinder within contexts: the contrasts of its lattice, and slices chosen by their errors."""

from dataclasses import replace

import numpy as np
import pandas as pd

from skdisc.subgroup._estimation._contextual import contextual_discovery, mine_family
from skdisc.subgroup._estimation._contrasts import Contrasts
from skdisc.subgroup._estimation._discovery import FoundCounts
from skdisc.subgroup._estimation._family import has_gap_in_direction
from skdisc.subgroup._slices._alpha_investing import decide
from skdisc.subgroup._slices._slice_finder_candidates import of_lattice
from skdisc.subgroup._slices._slice_finder_tables import (
    counts_of,
    described,
    merged,
    published_order,
    rules,
)

_UNTESTED = ("p_value", "p_adjusted", "ci_low", "ci_high")  # on the rows that chose the slices


def against_contexts(detector, task, rows, items):
    """Test every frequent slice of the lattice against its context, and return the Discovery.

    Nodes of the tree and boxes of clusters depend on the errors, and what else they could have
    been cannot be listed: they are shown with the p-value that ignores their choice, and count as
    found on held-out rows only.

    `rows`: Summed.
    """
    lots, mined = [], None
    if "lattice" in detector._approaches or not len(rows):
        mined = patterns, family = mine_family(detector, task, rows, items, "higher")
        lots = [
            detector._tested(rows, j, of_lattice(items, patterns, sums))
            for j, sums in enumerate(family.contrasts.sums)
        ]
    n_mined = len(lots)
    for j in range(len(rows.names)):
        lots += [
            detector._tested(rows, j, s) for s in detector._chosen_by_errors(task, rows, items, j)
        ]
    decide(lots, detector.effect_size, detector.correction, detector.significance)
    chosen_by_errors = [_chosen(detector, rows, lot) for lot in lots[n_mined:]]
    n_tested, n_found = [len(lot.slices) for lot in lots], [0] * len(lots)
    if mined is None:
        none_found = [
            replace(lot, problematic=np.zeros(n, bool))
            for lot, n in zip(lots, n_tested, strict=True)
        ]
        counts = FoundCounts(sum(n_tested), 0, detector._by_value(items, none_found))
        discovery = detector._report(
            rows, items, detector._findings(task, [], _nothing(rows)), counts
        )
    else:
        discovery, n_found_by_error = _of_lattice(
            detector, task, items, patterns, family, lots[:n_mined]
        )
        n_tested[:n_mined], n_found[:n_mined] = family.is_tested.sum(axis=1), n_found_by_error
    discovery = _with_further(detector, task, discovery, chosen_by_errors)
    discovery.tables["approaches"] = counts_of(rows, lots, n_tested, n_found)
    return discovery


def _of_lattice(detector, task, items, patterns, family, lots):
    """Return the Discovery of the contrasts, and the number of them found by each error."""
    worth = has_gap_in_direction(family, "higher")
    significant = worth & (family.p_adjusted <= detector.significance)
    chosen = detector._shown(patterns, family, worth, [published_order(lot) for lot in lots])
    discovery = contextual_discovery(
        detector,
        task,
        items,
        patterns=patterns,
        family=family,
        chosen=chosen,
        significant=significant,
        aliases=detector._aliases,
    )
    table = discovery.findings.table
    table["approach"] = pd.Series(["lattice"] * len(table), dtype=object)
    table["effect_size"] = np.array([lot.phi for lot in lots])[chosen].round(12)
    table["problematic"] = np.array([lot.problematic for lot in lots])[chosen]
    return discovery, significant.sum(axis=1)


def _chosen(detector, rows, lot):
    """Return the first k slices that were chosen by their errors, and their table."""
    best = published_order(lot)[: detector.k]
    groups = [lot.slices.groups[i] for i in best]
    protected = detector._protected_features
    contrasts = Contrasts.of_groups(rows, groups, protected)
    error, group = np.full(len(groups), lot.error), np.arange(len(groups))
    table = contrasts.table(error, group, detector.significance)
    enough = contrasts.enough(detector._least(rows))[lot.error]
    table["naive_p_value"] = table["p_value"].where(enough)
    for name in _UNTESTED:
        table[name] = np.nan
    return groups, described(table, lot, best)


def _nothing(rows):
    """Return the table of no findings."""
    none = np.empty(0, dtype=np.intp)
    table = Contrasts.of_groups(rows, [], []).table(none, none, 0.5)
    columns = {"p_adjusted": float, "approach": object, "effect_size": float, "problematic": bool}
    return table.assign(**{name: np.empty(0, dtype=kind) for name, kind in columns.items()})


def _with_further(detector, task, discovery, chosen_by_errors):
    """Return the Discovery with further slices (pairs of groups and their table), each once."""
    findings = discovery.findings
    groups = [*findings.subgroups, *(g for groups, _ in chosen_by_errors for g in groups)]
    # pandas warns of empty frames in concat, whose types it may ignore.
    tables = [t for t in (findings.table, *(t for _, t in chosen_by_errors)) if len(t)]
    table = pd.concat(tables, ignore_index=True) if tables else findings.table
    groups, table = merged(groups, table)
    discovery.tables["rules"] = rules(groups, table)
    return replace(discovery, findings=detector._findings(task, groups, table))
