"""Single protected values, each compared with the rest of the people."""

import numpy as np

from skdisc import _stats
from skdisc._stats._rates import GroupTally


def single_groups(items, counts, rows, significance, correction, n_tests):
    """Compare every single protected item with the rest of the people, for every rate.

    Parameters
    ----------
    items : Items
    counts : ndarray of int, shape (n_items, 4)
        Rows per cell of every item.
    rows : Decided
    significance : float
    correction : str
    n_tests : int
        Number of tests that p-values and gaps are corrected for, if it is more than those here.

    Returns
    -------
    DataFrame
        Columns of `GroupTally.compare`, the group, its rows, corrected p-values, and the smallest
        gap between group and rest that its size could have shown (two-sided, power 0.8, at the
        level that Bonferroni's correction leaves for one test).
    """
    at = np.flatnonzero(items.protected)
    tally = GroupTally.of(counts[at], rows.total, rows.metrics)
    measure, group = np.indices(tally.x.shape).reshape(2, -1)
    table = tally.at(measure, group).compare(significance)
    table.insert(0, "group", np.array([str(items.predicates[i]) for i in at], dtype=object)[group])
    table.insert(7, "support", counts[at[group]].sum(axis=1))
    table["measure"] = np.array(rows.metrics, dtype=object)[measure]
    smoothed = (tally.x_all + 1) / (tally.n_all + 2)  # a rate of 0 or 1 would seem to need no data
    p_value = table["p_value"].to_numpy()
    n_tests = max(n_tests, int(np.sum(~np.isnan(p_value))), 1)
    level = significance if correction == "none" else significance / n_tests
    gap = _stats.min_detectable_gap(tally.n, tally.n_all - tally.n, smoothed, level)
    table["min_detectable_gap"] = gap.ravel()
    table["p_adjusted"] = _stats.adjust(p_value, correction, n_tests)
    return table


def largest(gaps):
    """Return the largest gap; NaN if there is none, or if one is NaN for want of data."""
    return float(np.max(gaps.to_numpy())) if len(gaps) else float("nan")


def excluded_groups(groups, min_rows):
    """List the single protected groups that were not searched or have no rate, and why."""
    few = (groups["support"] < min_rows).to_numpy()
    undefined = (groups["trials"] == 0).to_numpy()
    table = groups.loc[few | undefined, ["group", "measure", "support"]]
    table.columns = ["subject", "measure", "n"]
    too_few = f"fewer rows than min_support asks for ({min_rows})"
    reason = np.where(few, too_few, "rate undefined: no row of the group can show it")
    table["reason"] = reason[few | undefined].astype(object)
    return table.reset_index(drop=True)
