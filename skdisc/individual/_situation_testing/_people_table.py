"""Judgement: the tables of everybody who may complain, and how many have a case."""

import numpy as np
import pandas as pd

from skdisc import _stats
from skdisc.individual._situation_testing import _alvarez2023
from skdisc.individual._situation_testing import _statistics as statistics


def people_table(detector, comparison, rows, groups, flip):
    """Return one row per person and number of neighbours, with the statistics.

    Parameters
    ----------
    detector : SituationDetector
    comparison : Comparison
    rows : ndarray of int
        Of the people.
    groups : ((sums_c, n_c), (sums_t, n_t))
        Of shapes (n, n_k, n_values) and (n, n_k).
    flip : ndarray of float or None
        Own decision minus the counterfactual one.
    """
    (sums_c, n_c), (sums_t, n_t) = groups
    asked = {"threshold": detector.threshold, "direction": detector.direction}
    asked["significance"] = detector.significance
    if detector.output == "decision":
        counts = sums_c[..., 0], n_c, sums_t[..., 0], n_t
        found = statistics.of_shares(*counts, test=detector.test, **asked)
    else:
        found = statistics.of_means(sums_c, n_c, sums_t, n_t, **asked)
    if detector.compat is not None:
        found = *found[:2], *_alvarez2023.interval(*found[:2], n_c, n_t), found[-1]
    names = ("p_c", "p_t", "delta", "ci_low", "ci_high", "p_value")
    table = {
        "row": np.repeat(rows, n_c.shape[1]),
        "n_neighbors": np.tile(np.array(detector._ks), len(rows)),
        "group": pd.Series([str(comparison.group)] * n_c.size, dtype=object),
        "reference": pd.Series([comparison.versus] * n_c.size, dtype=object),
        "n_c": np.asarray(n_c, dtype=float).ravel(),
        "n_t": np.asarray(n_t, dtype=float).ravel(),
        **{name: values.ravel() for name, values in zip(names, found, strict=True)},
    }
    if flip is not None:
        table["flip"] = np.repeat(flip, n_c.shape[1])
    return pd.DataFrame(table)


def joined(tables, n_columns):
    """Return the people of all comparisons, ordered by row.

    With several columns compared one by one, those who are in every table, by the weakest of
    their comparisons: whoever has a case there has one in all.
    """
    table = pd.concat(tables, ignore_index=True) if len(tables) > 1 else tables[0]
    if n_columns > 1:
        by = ["row", "n_neighbors"]
        table = table[table.groupby(by)["row"].transform("size") == n_columns]
        weakest = table.assign(_size=table["delta"].abs(), _p=-table["p_value"])
        order = {"kind": "stable", "na_position": "first"}  # not compared is weakest of all
        weakest = weakest.sort_values([*by, "_p", "_size"], **order).drop_duplicates(by)
        table = weakest.drop(columns=["_size", "_p"])
    order = np.lexsort((table["row"], pd.factorize(table["n_neighbors"])[0]))
    return table.iloc[order].reset_index(drop=True)


def decided(table, detector):
    """Add the adjusted p-value and whether each person has a case."""
    p = table["p_value"].to_numpy()
    adjusted = np.full(len(table), np.nan)
    for k in table["n_neighbors"].unique():
        at = (table["n_neighbors"] == k).to_numpy()
        adjusted[at] = _stats.adjust(p[at], detector.correction)
    table["p_adjusted"] = adjusted
    delta, bounds = table["delta"].to_numpy(), (table["ci_low"], table["ci_high"])
    asked = detector.threshold, detector.direction
    gap = statistics.exceeds(np.round(delta, 3) if detector.compat else delta, *asked)
    interval = statistics.interval_exceeds(*(b.to_numpy() for b in bounds), *asked)
    rules = {
        "gap": gap,
        "interval": gap & interval,
        "adjusted": gap & (adjusted <= detector.significance),
    }
    table["gap"], table["interval"] = gap, rules["interval"]
    table["case"] = rules[detector._criterion]
    return table


def count_table(table, detector):
    """Return, per number of neighbours, how many people have a case by each rule.

    Columns: n_neighbors, n, gap (difference beyond the threshold), interval (and its interval),
    adjusted (and its adjusted p-value significant), opposite (beyond it in the other direction),
    share (of those with a case, by the criterion).
    """
    opposite = {"lower": "higher", "higher": "lower", "both": "both"}[detector.direction]
    marks = {name: table[name].to_numpy() for name in ("gap", "interval", "case")}
    adjusted = marks["gap"] & (table["p_adjusted"].to_numpy() <= detector.significance)
    other = statistics.exceeds(table["delta"].to_numpy(), detector.threshold, opposite)
    other &= detector.direction != "both"
    counted = [marks["gap"], marks["interval"], adjusted, other, marks["case"]]
    flips = [table["flip"].to_numpy() == -1] if "flip" in table else []
    rows = []
    for k in detector._ks:
        at = table["n_neighbors"].to_numpy() == k
        share = float(marks["case"][at].mean()) if at.any() else np.nan
        numbers = [int(c[at].sum()) for c in counted + flips]
        rows.append((k, int(at.sum()), *numbers[:5], share, *numbers[5:]))
    names = ["n_neighbors", "n", "gap", "interval", "adjusted", "opposite", "case", "share"]
    return pd.DataFrame(rows, columns=names + ["flips"] * ("flip" in table))
