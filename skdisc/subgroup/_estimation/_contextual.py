"""From frequent groups to the Discovery of contrasts: mining, findings, and what is excluded."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from skdisc import _stats
from skdisc._results._findings import Discovery, GroupFindings
from skdisc._space._items import Items, count_items
from skdisc._space._subgroup import Group
from skdisc._task._notes import chosen_by_their_data, judged_together
from skdisc._task._task import Task
from skdisc.subgroup._estimation._clusters import item_tallies
from skdisc.subgroup._estimation._contrasts import Contrasts
from skdisc.subgroup._estimation._discovery import Effects, FoundCounts
from skdisc.subgroup._estimation._family import Family, candidates, one_side_each
from skdisc.subgroup._lattice._conjunctions import Patterns

_WIDEST = 20  # contrasts listed in the table of equivalence besides single values


def mine_family(
    detector: Any, task: Task, rows: Any, items: Items, direction: str, least: float | None = None
) -> tuple[Patterns, Family]:
    """Mine the frequent groups with a protected part, and test each against its context.

    Parameters
    ----------
    detector : SubgroupDetector
        With the settings ``max_predicates``, ``distinct``, ``min_effect`` and ``correction``.
    task : Task
    rows : Counted or Summed
    items : Items
    direction : {"both", "lower", "higher"}
        Which side of two that make up one context is kept.
    least : float, optional
        Smallest size of a group to mine; None: that of `min_support`.

    Returns
    -------
    patterns : Patterns
    family : Family
        One contrast per pattern.
    """
    d, least = detector, detector._least(rows) if least is None else least
    most = None if d.max_predicates is None else d.max_predicates - 1
    mine = rows.miner(items, least, d.distinct)
    contexts = mine(most, ~items.protected, _in_time(task))
    patterns = mine(d.max_predicates, items.protected, lambda n: d._spend(task, n))
    contrasts, known = Contrasts.of_patterns(rows, patterns, contexts, items)
    tested = candidates(contrasts, known, d._least(rows), patterns, d.distinct)
    sides = one_side_each(contrasts, tested, patterns, items, direction)
    return patterns, Family.of_patterns(d, contrasts, *sides, patterns, items)


def contextual_discovery(
    detector: Any,
    task: Task,
    items: Items,
    patterns: Patterns,
    family: Family,
    chosen: tuple,
    significant: np.ndarray,
    aliases: dict | None = None,
) -> Discovery:
    """Return the Discovery of some contrasts of a family.

    Parameters
    ----------
    detector : SubgroupDetector
    task : Task
    items : Items
    patterns : Patterns
    family : Family
    chosen : tuple of ndarray
        Measures and groups shown, by position.
    significant : ndarray of bool, shape (n_measures, n_groups)
        The contrasts that count as found.
    aliases : dict, optional
        Of `GroupFindings`.

    Returns
    -------
    Discovery
    """
    rows, (measure, group) = family.contrasts.rows, chosen
    table = family.table(measure, group, detector.significance)
    published = Effects.of(rows, patterns).compare(measure, group, detector.significance)
    table["effect_everyone"], table["t"] = published["effect"], published["t"]
    groups = [items.subgroup(patterns.items[i]) for i in group]
    findings = GroupFindings.of(groups, table, task.space, aliases)
    tested, found = family.tested.any(axis=0), significant.any(axis=0)
    by_value = count_items(items, patterns.items[tested], patterns.items[found])
    counts = FoundCounts(int(tested.sum()), int(found.sum()), by_value)
    discovery = detector._report(rows, items, findings, counts)
    discovery.notes += chosen_by_their_data(counts.n_found and detector.confirm is None)
    discovery.notes += family.notes_on_skewness(
        detector.significance, lambda i: items.subgroup(patterns.items[i])
    )
    return with_widest(discovery, detector, family, items, patterns)


def with_widest(
    discovery: Discovery, detector: Any, family: Family, items: Items, patterns: Patterns
) -> Discovery:
    """Add to the table of equivalence the contrasts of a mined family that exclude least."""
    return with_widest_of(discovery, detector, family, lambda i: items.subgroup(patterns.items[i]))


def with_widest_of(
    discovery: Discovery, detector: Any, family: Family, group_at: Callable[[int], Group]
) -> Discovery:
    """Add to the table of equivalence the contrasts of a family that exclude least.

    The function `group_at` returns the group of the contrast at a position.
    """
    widest, n_judged, n_all = equivalence_of(detector, family, group_at)
    if not discovery.n_found:
        discovery.notes += judged_together(n_judged, n_all)
    both = [discovery.tables["equivalence"], widest]
    together = pd.concat(both, ignore_index=True).drop_duplicates(["group", "measure"])
    discovery.tables["equivalence"] = together
    return discovery


def equivalence_of(
    detector: Any, family: Family, group_at: Callable[[int], Group]
) -> tuple[pd.DataFrame, int, int]:
    """Return those contrasts, large enough to judge, that exclude least; how many are, and of all.

    The size of a contrast is that of `compared_size`: with few others in its context, even a large
    group cannot exclude a gap. The largest contrasts are judged (see `jointly_judged`). One whose
    interval lies beyond the relevant gap is judged nevertheless: its data say enough.
    """
    contrasts, parts, gaps = family.contrasts, [], []
    for j, name in enumerate(contrasts.rows.names):
        at = np.flatnonzero(family.tested[j])
        tally = contrasts.at(at).tallies[j]
        table = bounds_of(detector, contrasts.rows, j, tally)
        table["measure"], table["at"] = name, at
        gaps += [detector._gap_that_matters_on(contrasts.rows, j).size] * len(at)
        parts.append(table)
    table = pd.concat(parts, ignore_index=True)
    value = {name: table[name].to_numpy() for name in table}
    relevant = np.array(gaps)
    beyond = (value["gap_low"] > relevant) | (value["gap_high"] < -relevant)
    sizes = value["n_compared"], value["needed"]
    may = beyond | _stats.jointly_judged(*sizes, detector.significance)
    judged = np.flatnonzero(value["judged"] & may)
    best = judged[widest_at({name: v[judged] for name, v in value.items()})]
    names = [str(group_at(i)) for i in value["at"][best]]
    table = table.drop(columns="at").iloc[best].assign(open="")
    table.insert(0, "group", np.array(names, dtype=object))
    return table, len(judged), len(value["at"])


def widest_at(bounds: Mapping) -> np.ndarray:
    """Return the positions of what excludes least, in a table or columns of `bounds_of`."""
    by = np.where(bounds["gap_inside"], 0, 2) + ~np.asarray(bounds["ratio_inside"], dtype=bool)
    width = np.fmax(*(np.abs(np.asarray(bounds[end])) for end in ("gap_low", "gap_high")))
    return np.lexsort((-width, -by))[:_WIDEST]


def bounds_of(detector: Any, rows: Any, j: int, tally: Any) -> pd.DataFrame:
    """Return what the data exclude about each contrast of a tally, by the relevant gap and ratio.

    Returns
    -------
    DataFrame
        ``n`` (trials of the group), ``n_compared``, ``needed``, ``judged``, ``gap_low``,
        ``gap_high``, ``ratio_low``, ``ratio_high``, ``gap_inside`` and ``ratio_inside``.
    """
    d = detector
    overall = rows.tally(j, rows.total_sums(j)[:, None])
    gap = d._gap_that_matters_on(rows, j).size
    table = tally.equivalence(overall, gap, d.relevant_ratio, d.significance)
    table.insert(2, "judged", table["n"] >= table["needed"])
    return table


def single_bounds(detector: Any, rows: Any, items: Items) -> pd.DataFrame:
    """Return `bounds_of` each single protected value against all others, and which are open."""
    at, parts = np.flatnonzero(items.protected), []
    for j, tally in enumerate(item_tallies(rows, items, at)):
        part = bounds_of(detector, rows, j, tally)
        names = np.array([str(items.predicates[i]) for i in at], dtype=object)
        part.insert(0, "group", names)
        part["measure"] = np.array([rows.names[j]] * len(at), dtype=object)
        part["open"] = np.where(part["judged"], "", names).astype(object)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def with_judged(
    discovery: Discovery, detector: Any, task: Task, rows: Any, items: Items, most: int = 3
) -> Discovery:
    """Add to the table of equivalence the frequent contrasts that exclude least.

    For detectors whose candidates cannot be listed: the contrasts are those of all groups of up to
    `most` conditions with at least as many people as a group needs to be judged.
    """
    needed = discovery.tables["equivalence"]["needed"].min()
    if not len(rows) or not needed < rows.n or task.budget.has_spent(1):
        return discovery
    items, in_time = items.unjoined(), _in_time(task)
    mine = rows.miner(items, needed, True)
    contexts = mine(most - 1, ~items.protected, in_time)
    patterns = mine(most, items.protected, in_time)
    contrasts, known = Contrasts.of_patterns(rows, patterns, contexts, items)
    tested = candidates(contrasts, known, detector._least(rows), patterns, True)
    family = Family(contrasts, tested, *[np.full(tested.shape, np.nan)] * 2)
    return with_widest(discovery, detector, family, items, patterns)


def _in_time(task):
    """Return a function that allows all candidates until the time budget has elapsed."""
    return lambda n: 0 if task.budget.has_spent(1) else n
