"""What can be seen to be wrong in an answer at once: intervals, p-values, shares, verdicts."""

import numpy as np
import pandas as pd

from skdisc._results._audit_result import AuditResult

_OF_CI = ("effect", "estimate", "delta", "gap", "mean", "amount", "share")
_P_VALUES = ("p_value", "p_adjusted", "naive_p_value", "held_out_p_value")
_SHARES = ("share", "support_share", "p_c", "p_t", "confidence")
_TOLERANCE = 1e-9


def wrong_in_result(result: AuditResult) -> list:
    """Return what is wrong in an `AuditResult`, a sentence each; an empty list if nothing is."""
    tables = tables_of(result)
    for name in {"parts", "factors"} & set(tables):  # their shares are signed
        tables[name] = tables[name].drop(columns="share", errors="ignore")
    found = [f"{where}: {w}" for where, t in tables.items() for w in wrong_in_table(t)]
    if len(result.to_frame()) != len(result.findings):
        found.append(f"to_frame has {len(result.to_frame())} rows for {len(result)} findings")
    if not 0 <= result.n_found <= result.n_tested:
        found.append(f"{result.n_found} found of {result.n_tested} tested")
    again = AuditResult.from_json(result.to_json())
    if again != result:
        found.append("its JSON gives another result")
    return found


def tables_of(result: AuditResult) -> dict:
    """Return all tables of a result by name."""
    named = {"findings": result.to_frame(), "estimates": result.estimates} | result.tables
    return {name: table for name, table in named.items() if table is not None}


def wrong_in_table(table: pd.DataFrame) -> list:
    """Return what is wrong in a table: estimates outside their intervals, p-values beyond 1."""
    found = [w for names in intervals_of(table) if (w := _outside(table, *names))]
    for names, what in ((_P_VALUES, "p-value"), (_SHARES, "share")):
        for name in (n for n in names if n in table):
            values = pd.to_numeric(table[name], errors="coerce").to_numpy(float, na_value=np.nan)
            wrong = values[(values < -_TOLERANCE) | (values > 1 + _TOLERANCE)]
            if wrong.size:
                found.append(f"{what} {name} = {wrong[0]!r}")
    return found


def intervals_of(table: pd.DataFrame) -> list:
    """Return the (estimate, low, high) columns of a table that belong together."""
    found = []
    for low in (c for c in table.columns if isinstance(c, str) and c.endswith("_low")):
        stem = low.removesuffix("_low")
        prefix = stem.removesuffix("ci")
        names = [prefix + n for n in _OF_CI] if stem.endswith("ci") else [stem]
        known = [n for n in names if n in table]
        if known and f"{stem}_high" in table:
            found.append((known[0], low, f"{stem}_high"))
    return found


def _outside(table, *names):
    """Return a sentence about the first estimate outside its interval, or None."""
    columns = (pd.to_numeric(table[n], errors="coerce") for n in names)
    value, low, high = (c.to_numpy(float, na_value=np.nan) for c in columns)
    with np.errstate(invalid="ignore", over="ignore"):
        slack = _TOLERANCE * np.maximum(1, np.where(np.isfinite(value), np.abs(value), 1))
        wrong = np.flatnonzero((value < low - slack) | (value > high + slack) | (low > high))
    if not wrong.size:
        return None
    i = wrong[0]
    return f"{names[0]} = {value[i]:.6g} outside [{low[i]:.6g}, {high[i]:.6g}]"
