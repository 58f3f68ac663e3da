"""Single protected values, each compared with the rest of the people."""

import numpy as np

from skdisc import _stats
from skdisc.subgroup._rates import Tally


def single_groups(items, counts, total, measures, significance, correction):
    """Compare every single protected item with the rest of the people, for every rate.

    Parameters
    ----------
    items : Items
    counts : ndarray of int, shape (n_items, 4)
        Rows per cell of every item.
    total : ndarray of int, shape (4,)
    measures : list of str
    significance : float
    correction : str

    Returns
    -------
    DataFrame
        Columns of `Tally.compare`, the group, its rows, p-values corrected over this table, and
        the smallest gap between group and rest that its size could have shown (two-sided, power
        0.8).
    """
    at = np.flatnonzero(items.protected)
    tally = Tally.of(counts[at], total, measures)
    measure, group = np.indices(tally.x.shape).reshape(2, -1)
    table = tally.at(measure, group).compare(significance)
    table.insert(0, "group", np.array([str(items.predicates[i]) for i in at], dtype=object)[group])
    table.insert(7, "support", counts[at[group]].sum(axis=1))
    table["measure"] = np.array(measures, dtype=object)[measure]
    smoothed = (tally.x_all + 1) / (tally.n_all + 2)  # a rate of 0 or 1 would seem to need no data
    gap = _stats.min_detectable_gap(tally.n, tally.n_all - tally.n, smoothed, significance)
    table["min_detectable_gap"] = gap.ravel()
    table["p_adjusted"] = _stats.adjust(table["p_value"].to_numpy(), correction)
    return table


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
