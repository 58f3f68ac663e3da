"""From groups that a detector proposes to a Discovery."""

from collections.abc import Sequence
from itertools import compress
from typing import Any

import numpy as np
import pandas as pd

from skdisc._results._findings import Discovery, GroupFindings
from skdisc._space._items import Items
from skdisc._space._subgroup import Group
from skdisc._task._task import Task
from skdisc.subgroup._estimation._contrasts import Contrasts
from skdisc.subgroup._estimation._discovery import FoundCounts, in_direction
from skdisc.subgroup._estimation._family import Family, has_gap_in_direction


def discover_groups(
    detector: Any,
    task: Task,
    rows: Any,
    items: Items,
    groups: Sequence[Group],
    *,
    direction: str = "both",
    aliases: dict | None = None,
) -> Discovery:
    """Test proposed groups on the rows under audit, and return the Discovery of the best of them.

    Each group is compared with the rest of its context (or with all other rows, if the detector
    says so) by each measure, and the p-values are corrected over all groups and measures.

    Parameters
    ----------
    detector : SubgroupDetector
        With the settings ``significance``, ``correction``, ``k`` and ``relevant_gap``.
    task : Task
        Its memory becomes the items without rows, which audits need.
    rows : Counted or Summed
        From `rows_of`.
    items : Items
        Items of the same rows; single protected values are also compared, and listed if too small.
    groups : sequence of Group
        Distinct, and chosen without the outcomes of these rows; or, with the setting ``confirm``,
        by them: the base class then tests them on the rows held out.
    direction : {"both", "lower", "higher"}
        Which effects are findings.
    aliases : dict, optional
        As for `GroupFindings`.

    Returns
    -------
    Discovery
    """
    task.memory = items.bare()
    if detector.versus == "context":
        return _in_contexts(detector, task, rows, items, list(groups), direction, aliases)
    proposed = [g for g in groups for _ in rows.names]
    unmeasured = pd.DataFrame({"measure": list(rows.names) * len(groups), "effect": np.nan})
    findings = GroupFindings.of(proposed, unmeasured, task.space)
    table = detector._measure_again(findings, rows).drop(columns="effect_at_fit")
    worth = in_direction(table["effect"].to_numpy(), direction) | (direction == "both")
    significant = (table["p_adjusted"] <= detector.significance).to_numpy() & worth
    size = table["effect"].abs().round(9)  # ties keep the order of the proposals
    order = np.lexsort((-size, ~significant))
    order = order[worth[order]]
    measures = table["measure"].iloc[order]
    order = order[(measures.groupby(measures).cumcount() < detector.k).to_numpy()]
    shown = [proposed[i] for i in order]
    findings = GroupFindings.of(shown, table.iloc[order], task.space, aliases)
    counts = FoundCounts.of(proposed, significant, detector.protected_)
    return detector._report(rows, items, findings, counts)


def _in_contexts(detector, task, rows, items, groups, direction, aliases):
    length = np.array([len(g.predicates) for g in groups], dtype=int)
    contrasts = Contrasts.of_groups(rows, groups, detector._protected_features)
    family = Family.of(detector, contrasts, contrasts.enough(detector._least(rows)))
    worth = family.is_tested if direction == "both" else has_gap_in_direction(family, direction)
    significant = (family.p_adjusted <= detector.significance) & worth
    measure, group = family.first(detector.k, detector.order, length, worth)
    table = family.table(measure, group, detector.significance, significant)
    findings = GroupFindings.of([groups[i] for i in group], table, task.space, aliases)
    tested = list(compress(groups, family.is_tested.any(axis=0)))
    is_found = significant.any(axis=0)[family.is_tested.any(axis=0)]
    counts = FoundCounts.of(tested, is_found, detector.protected_)
    return detector._report(rows, items, findings, counts)
