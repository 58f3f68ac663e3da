"""From groups that a detector proposes to a Discovery: the shortest way to write a detector."""

import numpy as np
import pandas as pd

from skdisc._results._audit_result import Discovery
from skdisc._results._findings import GroupFindings
from skdisc._space._items import count_values
from skdisc.subgroup._estimation._confirmation import confirmed
from skdisc.subgroup._estimation._single_groups import excluded_groups, largest


def discover_groups(detector, task, rows, items, groups):
    """Test proposed groups on the rows under audit, and return the Discovery of the best of them.

    Every group is compared with all other rows by every measure, and the p-values are corrected
    over all groups and measures. Significant groups come first, then the larger effects.

    Parameters
    ----------
    detector : SubgroupDetector
        With the settings ``significance``, ``correction``, ``k`` and ``relevant_gap``.
    task : Task
        Its memory becomes the items without rows, which `remeasure_groups` needs.
    rows : Counted or Summed
        From `rows_of`.
    items : Items
        Of the same rows; single protected values are compared, too, and those too small listed.
    groups : sequence of Group
        Distinct, chosen without a look at the outcomes of these rows.

    Returns
    -------
    Discovery
    """
    task.memory = items.bare()
    several = [g for g in groups for _ in rows.names]
    asked = pd.DataFrame({"measure": list(rows.names) * len(groups), "effect": np.nan})
    table = _measured(detector, task, rows, several, asked).drop(columns="effect_at_fit")
    significant = (table["p_adjusted"] <= detector.significance).to_numpy()
    size = table["effect"].abs().round(9)  # rounding decides no tie: the first proposed is first
    order = np.lexsort((-size, ~significant))[: detector.k]
    findings = _findings(task, [several[i] for i in order], table.iloc[order])
    found = {g for g, yes in zip(several, significant, strict=True) if yes}
    return _discovery(detector, rows, items, findings, groups, found)


def remeasure_groups(detector, task, rows):
    """Measure the groups of fit on other rows, and return the Discovery.

    Parameters
    ----------
    detector : SubgroupDetector
        Fitted by `discover_groups`.
    task : Task
    rows : Counted or Summed

    Returns
    -------
    Discovery
        A group counts as found if it is significant again, in the direction of fit.
    """
    at_fit = detector.result_.findings
    table = _measured(detector, task, rows, at_fit.subgroups, at_fit.table)
    again = confirmed(table, detector.significance)
    found = {g for g, yes in zip(at_fit.subgroups, again, strict=True) if yes}
    groups = list(dict.fromkeys(at_fit.subgroups))
    items = task.memory.on(rows.people)
    return _discovery(detector, rows, items, at_fit.with_table(table), groups, found)


def _measured(detector, task, rows, groups, table):
    findings = _findings(task, groups, table)
    return rows.measure_again(findings, detector.significance, detector.correction)


def _findings(task, groups, table):
    keys = [task.space.subgroup_key(g) for g in groups]
    return GroupFindings(groups, table, task.space.names, keys)


def _discovery(detector, rows, items, findings, groups, found):
    n_tests = len(groups) * len(rows.names)
    settings = detector.significance, detector.correction, n_tests
    single = rows.single_groups(items, *settings)
    return Discovery(
        findings=findings,
        measure=", ".join(rows.names),
        n_tested=len(groups),
        n_found=len(found),
        smallest_gap=largest(single["min_detectable_gap"]),
        required_gap=float(detector.relevant_gap),
        by_value=count_values(groups, found, detector.protected_),
        estimates=rows.overall(detector.significance),
        excluded=excluded_groups(single, 1),
        tables={"groups": single},
    )
