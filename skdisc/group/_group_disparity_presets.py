"""Presets: the figures that a law or a rule of thumb requires, without a judgment."""

import numpy as np
import pandas as pd

from skdisc.group._group_disparity_table import text

_COPIED = ("reference", "n_reference", "ci_low", "ci_high", "p_value", "p_adjusted")
_RATIO = {"measures": ["impact_ratio"], "reference": "best"}
PRESETS = {
    None: {
        "measures": None,
        "reference": "largest",
        "min_share": 0.0,
        "known_only": False,
        "notes": (),
    },
    "four_fifths": {
        **_RATIO,
        "min_share": 0.0,
        "known_only": False,
        "notes": (
            "The four-fifths rule of thumb comes from the US Uniform Guidelines on Employee "
            "Selection Procedures (29 CFR 1607.4 D). It is neither a statistical test nor a law: a "
            "ratio below or above it is not proof by itself.",
        ),
    },
    "ll144": {
        **_RATIO,
        "min_share": 0.02,
        "known_only": True,
        "notes": (
            "Local Law 144 of New York City requires these rates and ratios by sex, by race, and "
            "by both; people of unknown category are counted, and categories under 2 % of the data "
            "may be left out with a reason. It does not set a threshold.",
        ),
    },
}


def impact_ratios(table, rows, unknown, threshold, is_best=False):
    """Return the table of a preset, one row per group.

    Parameters
    ----------
    table : DataFrame
        From `measure_groups`.
    rows : GroupedDecisions
    unknown : list of (column, group, n)
        Groups of unknown category and their sizes.
    is_best : bool, default=False
        Whether the reference is the best group, so that a higher rate is that of a smaller one.

    Returns
    -------
    DataFrame
        attribute, group, n, favorable, rate, impact_ratio, ci_low, ci_high, p_value, p_adjusted,
        shortfall (favorable decisions short of the rate of the reference), with a threshold
        also shortfall_at_threshold and meets_threshold; reference, n_reference (its size), note.
    """
    ratios = table[table["measure"] == "impact_ratio"]
    compared = {row.group: row for row in ratios.itertuples()}
    lines = []
    for attribute, labels, members in rows.groupings:
        n, x = members @ rows.size, members @ rows.total
        rate = np.divide(x, n, out=np.full(len(n), np.nan), where=n > 0)
        rates = dict(zip(labels, rate, strict=True))
        for group, size, favorable in zip(labels, n, x, strict=True):
            line = {"attribute": attribute, "group": text(group), "n": int(size)}
            line |= {"favorable": int(favorable), "rate": rates[group]}
            row = compared.get(group)
            line |= _compared(row, line, rates, threshold)
            if is_best and row is not None and rates[group] > rates.get(row.against, np.inf):
                line["note"] = line["note"] or "too small to be the reference"
            lines.append(line)
    lines += [
        {"attribute": name, "group": value, "n": n, "note": "unknown: counted, not compared"}
        for name, value, n in unknown
    ]
    first = "attribute group n favorable rate impact_ratio ci_low ci_high p_value p_adjusted"
    extra_columns = [] if threshold is None else ["shortfall_at_threshold", "meets_threshold"]
    names = [*first.split(), "shortfall", *extra_columns, "reference", "n_reference", "note"]
    return pd.DataFrame(lines, columns=names)


def _compared(row, line, rates, threshold):
    """Return the columns about the comparison of a group with the best group."""
    if row is None:
        return {"note": "reference"}
    if row.excluded:
        return {"note": row.reason}
    expected = rates[row.against] * line["n"]
    columns = {name: getattr(row, name) for name in _COPIED}
    columns |= {"impact_ratio": row.estimate, "note": ""}
    columns["shortfall"] = _shortfall(expected, line["favorable"])
    if threshold is not None:
        columns["shortfall_at_threshold"] = _shortfall(threshold * expected, line["favorable"])
        columns["meets_threshold"] = "yes" if row.estimate >= threshold else "no"
    return columns


def _shortfall(expected, observed):
    """Return the number of favorable decisions that are missing, at least 0."""
    return max(0, int(np.ceil(expected - observed - 1e-9)))
