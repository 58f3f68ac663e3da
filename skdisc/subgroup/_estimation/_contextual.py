"""From frequent groups to the Discovery of contrasts: mining, and findings."""

from typing import Any

import numpy as np

from skdisc._results._findings import Discovery, GroupFindings
from skdisc._space._items import Items
from skdisc._task._notes import chosen_by_their_data
from skdisc._task._task import Task
from skdisc._verdicts._candidates import Candidates
from skdisc.subgroup._estimation._contrast_question import (
    in_time,
    publishable_groups,
    question_about_patterns,
    relevant_least,
)
from skdisc.subgroup._estimation._discovery import Effects, FoundCounts
from skdisc.subgroup._estimation._family import Family
from skdisc.subgroup._lattice._conjunctions import Patterns


def mine_family(
    detector: Any, task: Task, rows: Any, items: Items, direction: str
) -> tuple[Patterns, Family]:
    """Mine the frequent groups with a protected part, and test each against its context.

    The context of a group is everyone who satisfies its conditions on columns that are not
    protected; the group is compared with the rest of it.

    Parameters
    ----------
    detector : SubgroupDetector
        With the settings ``max_predicates``, ``distinct``, ``min_effect`` and ``correction``.
    direction : {"both", "lower", "higher"}
        Which side of a context is kept if both sides are groups.

    Returns
    -------
    patterns : Patterns
    family : Family
        One contrast per pattern.
    """
    # A group has at least one protected condition, so a context has one condition less.
    longest_context = None if detector.max_predicates is None else detector.max_predicates - 1
    mine_patterns = rows.miner(items, detector._least(rows), detector.distinct)
    contexts = mine_patterns(longest_context, ~items.protected, in_time(task))
    patterns = mine_patterns(
        detector.max_predicates, items.protected, lambda n: detector._spend(task, n)
    )
    patterns = publishable_groups(detector, patterns, items)
    return patterns, Family.mined(detector, rows, patterns, contexts, items, direction)


def candidates_of(
    detector: Any,
    rows: Any,
    items: Items,
    patterns: Patterns,
    family: Family,
    significant: np.ndarray,
) -> Candidates | None:
    """Return the candidates of the question, if a mined family has them all.

    None where smaller ones than were mined are judged, or where definitions of equal rows are
    patterns of their own, which would count several times.
    """
    least = relevant_least(detector, rows)
    if not detector.distinct or family.has_contrast is None or family.least > least:
        return None
    large = rows.support(patterns)[1] >= least
    contrasts, has_contrast = family.contrasts.at(large), family.has_contrast[large]
    question = question_about_patterns(contrasts, has_contrast, patterns.at(large), items)
    return question.candidates(detector, significant[:, large])


def contextual_discovery(
    detector: Any,
    task: Task,
    items: Items,
    patterns: Patterns,
    family: Family,
    chosen: tuple,
    significant: np.ndarray,
    aliases: dict | None,
) -> Discovery:
    """Return the Discovery of some contrasts of a family.

    `chosen`: measures and groups shown, by position. `significant`, of shape (n_measures,
    n_groups): the contrasts that count as found. `aliases`: as for `GroupFindings`.
    """
    rows, (measure, group) = family.contrasts.rows, chosen
    table = family.table(measure, group, detector.significance, significant)
    published = Effects.of(rows, patterns).compare(measure, group, detector.significance)
    table["effect_everyone"], table["t"] = published["effect"], published["t"]
    groups = [items.subgroup(patterns.items[i]) for i in group]
    findings = GroupFindings.of(groups, table, task.space, aliases)
    tested, is_found = family.is_tested.any(axis=0), significant.any(axis=0)
    counts = FoundCounts.of_itemsets(items, patterns.items, tested, is_found)
    discovery = detector._report(rows, items, findings, counts)
    discovery.notes += chosen_by_their_data(counts.n_found and detector.confirm is None)
    discovery.notes += family.notes_on_skewness(
        detector.significance, lambda i: items.subgroup(patterns.items[i])
    )
    discovery.candidates = candidates_of(detector, rows, items, patterns, family, significant)
    return discovery
