"""Measure groups that were found once more, on rows that they were not found on."""

from dataclasses import replace

import numpy as np

from skdisc import _stats
from skdisc._space._items import count_values
from skdisc._stats._rates import GroupTally

_COPIED = ("effect", "ci_low", "ci_high", "p_value", "p_adjusted", "support")


def measure_again(findings, rows, significance, correction):
    """Measure findings on other rows; the p-values are corrected over these findings.

    Parameters
    ----------
    findings : GroupFindings
    rows : Decided
    significance : float
    correction : str

    Returns
    -------
    DataFrame
        The columns of the findings' table and ``effect_at_fit``, one row per finding.
    """
    counts = rows.count(findings.subgroups)
    measures = findings.table["measure"].to_numpy()
    names = list(dict.fromkeys(measures)) or rows.metrics
    tally = GroupTally.of(counts, rows.total, names)
    at = np.array([names.index(m) for m in measures], dtype=np.intp)
    table = tally.at(at, np.arange(len(at))).compare(significance)
    table.insert(6, "support", counts.sum(axis=1))
    table["measure"] = measures
    table["p_adjusted"] = _stats.adjust(table["p_value"].to_numpy(), correction)
    table["effect_at_fit"] = findings.table["effect"].to_numpy()
    return table


def confirmed(table, significance):
    """Say which findings are significant again, in the direction of fit, a bool array."""
    same = np.sign(table["effect"]) == np.sign(table["effect_at_fit"])
    return ((table["p_adjusted"] <= significance) & same).to_numpy()


def put_beside(discovery, table, significance, protected, n_rows):
    """Put the held-out measurement beside each finding; what it confirms counts as found.

    Parameters
    ----------
    discovery : Discovery
    table : DataFrame
        From `measure_again`, on the rows held out.
    significance : float
    protected : list
        Names of the protected columns.
    n_rows : tuple of int
        Numbers of rows that groups were found on, and tested on.

    Returns
    -------
    Discovery
    """
    findings = discovery.findings
    for name in _COPIED:
        findings.table[f"held_out_{name}"] = table[name]
    again = {
        g for g, yes in zip(findings.subgroups, confirmed(table, significance), strict=True) if yes
    }
    hits = count_values(again, again, protected)
    by_value = {v: (n, hits.get(v, (0, 0))[1]) for v, (n, _) in discovery.by_value.items()}
    note = (
        f"Groups were found on {n_rows[0]} rows and tested again on {n_rows[1]} others: counted as "
        f"found are the {len(again)} of the {len(findings)} kept that are significant there, in "
        "the same direction."
    )
    return replace(discovery, n_found=len(again), by_value=by_value, notes=[*discovery.notes, note])
