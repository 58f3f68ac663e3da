"""The tables of SliceFinder: the slices shown, and their conditions as rules."""

import numpy as np
import pandas as pd

from skdisc import _stats
from skdisc._stats._means import Means
from skdisc.subgroup._slices._alpha_investing import order_of, subsumed

_NEAR, _LARGE = 0.2, 5000  # smaller p-values get the exact test, unless there are more rows


def show(rows, lot, k, significance):
    """Return the first k slices: problematic ones in order, then by effect size."""
    best = published_order(lot)[:k]
    groups = [lot.slices.groups[i] for i in best]
    table = rows.compare(lot.error, (g.mask(rows.X) for g in groups), significance)
    table["p_value"] = one_sided(rows.tally(lot.error, lot.slices.sums[:, best]))
    table["p_adjusted"] = lot.p_adjusted[best]
    return groups, described(table, lot, best)


def described(table, lot, which):
    """Add approach, effect size and verdict of some slices of a lot to their table."""
    return table.assign(
        approach=pd.Series([lot.slices.approach] * len(which), dtype=object),
        effect_size=lot.phi[which].round(12),
        problematic=lot.problematic[which],
    )


def published_order(lot):
    """Return the positions of problematic slices in order, then of others by effect size."""
    slices, phi = lot.slices, np.nan_to_num(np.round(lot.phi, 12))
    is_other = (phi > 0) & ~lot.problematic & ~subsumed(slices, lot.problematic)
    order = order_of(slices.length, slices.sums[0], phi)
    by_size = np.lexsort((slices.length, -slices.sums[0], -phi))
    return np.array([*order[lot.problematic[order]], *by_size[is_other[by_size]]], dtype=np.intp)


def one_sided(tally):
    """Return the p-value of the alternative that the mean is larger than that of the rest.

    For proportions in small groups, small p-values of the normal approximation are too small, and
    are replaced by those of the exact test.
    """
    if isinstance(tally, Means):
        return tally.p_value("greater")
    sides = np.broadcast_arrays(*tally.table)
    z, p_value = _stats.score_test(*sides)
    p_value = np.where(z > 0, p_value / 2, 1 - p_value / 2)
    near = (p_value < _NEAR) & (np.minimum(sides[1], sides[3]) < _LARGE)
    near &= np.all([a % 1 == 0 for a in sides], axis=0)  # weights make fractions
    if near.any():
        table = (a[near] for a in sides)
        p_value[near] = _stats.fisher(*table, alternative="greater")
    return p_value


def merged(groups, table):
    """Return the slices and their table, each slice once, and numbered."""
    position_of, keep = {}, []
    approach = table["approach"].tolist()
    for i, key in enumerate(zip(groups, table["measure"], strict=True)):
        if key in position_of:
            approach[position_of[key]] = "both"
        else:
            position_of[key] = i
            keep.append(i)
    table = table.assign(approach=pd.Series(approach, dtype=object))
    table = table.iloc[keep].reset_index(drop=True)
    return [groups[i] for i in keep], table.assign(slice_index=np.arange(len(keep)))


def counts_of(rows, lots, n_tested, n_found):
    """Return the table of the numbers of slices tested and found by each approach."""
    return pd.DataFrame(
        {
            "approach": [lot.slices.approach for lot in lots],
            "measure": [rows.names[lot.error] for lot in lots],
            "n_tested": n_tested,
            "n_found": n_found,
        }
    )


def rules(groups, table):
    """Return one row per condition of each slice; conditions count from 1."""
    rows = []
    sizes = table[["effect", "effect_size"]].itertuples(index=False)
    for case, (group, size) in enumerate(zip(groups, sizes, strict=True)):
        for order, p in enumerate(group.predicates, 1):
            rows += [(case, p.column, *end, order, *size) for end in _ends(p)]
    names = ["case", "feature_name", "threshold", "operator", "order", "effect", "effect_size"]
    return pd.DataFrame(rows, columns=names).astype({"feature_name": object, "threshold": object})


def _ends(predicate):
    """Return threshold and operator of each side of a condition."""
    if predicate.values is not None:
        one = len(predicate.values) == 1
        value = predicate.values[0] if one else ", ".join(map(str, predicate.values))
        return [("missing" if value is None else value, "=" if one else "in")]
    ends = []
    if predicate.low > -np.inf:
        ends.append((predicate.low, ">=" if predicate.low_closed else ">"))
    if predicate.high < np.inf:
        ends.append((predicate.high, "<=" if predicate.high_closed else "<"))
    return ends or [("missing", "!=")]
