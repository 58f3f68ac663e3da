"""From groups that a detector proposes to a Discovery."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from skdisc._results._audit_result import Discovery
from skdisc._results._findings import GroupFindings
from skdisc._space._items import Items
from skdisc._space._subgroup import Group
from skdisc._task._task import Task
from skdisc.subgroup._estimation._discovery import FoundCounts


def discover_groups(
    detector: Any, task: Task, rows: Any, items: Items, groups: Sequence[Group]
) -> Discovery:
    """Test proposed groups on the rows under audit, and return the Discovery of the best of them.

    Each group is compared with all other rows by each measure, and the p-values are corrected
    over all groups and measures. Significant groups come first, then the larger effects.

    Parameters
    ----------
    detector : SubgroupDetector
        With the settings ``significance``, ``correction``, ``k`` and ``relevant_gap``.
    task : Task
        Its memory becomes the items without rows, which audits need.
    rows : Counted or Summed
        From `rows_of`.
    items : Items
        Of the same rows; single protected values are compared, too, and those too small listed.
    groups : sequence of Group
        Distinct, and chosen without the outcomes of these rows; or, with the setting ``confirm``,
        by them: the base class then tests them on the rows held out.

    Returns
    -------
    Discovery
    """
    task.memory = items.bare()
    proposed = [g for g in groups for _ in rows.names]
    wanted = pd.DataFrame({"measure": list(rows.names) * len(groups), "effect": np.nan})
    findings = GroupFindings.of(proposed, wanted, task.space)
    table = detector._measure_again(findings, rows).drop(columns="effect_at_fit")
    significant = (table["p_adjusted"] <= detector.significance).to_numpy()
    size = table["effect"].abs().round(9)  # ties keep the order of the proposals
    order = np.lexsort((-size, ~significant))[: detector.k]
    findings = GroupFindings.of([proposed[i] for i in order], table.iloc[order], task.space)
    counts = FoundCounts.of(proposed, significant, detector.protected_)
    return detector._report(rows, items, findings, counts)
