"""The summary of a result: a plain dict of texts, tables and intervals that renderers lay out."""

import math

import pandas as pd

from skdisc._results._audit_result import FOUND, NOTHING
from skdisc._results._findings import GroupFindings
from skdisc._utils._scalars import plain

CAVEAT = (
    "A disparity is a difference in treatment, or in its outcome. Whether it is discrimination, "
    "and whether it is justified, is a judgement that no statistic makes."
)
AUDITED = {
    "model": "the model given, as it is",
    "refit": "a fresh copy of the estimator, fitted here on the data",
    "surrogate": "a surrogate trained on the labels, not a model of yours",
    "decisions": "the decisions given, row by row",
    "labels": "the labels themselves",
}


def summarize(result, max_rows=10):
    """Return what a reader wants to know of an `AuditResult`.

    Parameters
    ----------
    result : AuditResult
    max_rows : int, default=10
        Most findings shown.

    Returns
    -------
    dict
        ``detector``, ``verdict``, ``level`` (found, nothing, unsure), ``sentence``, ``facts``
        (pairs of text), ``notes`` (texts), ``tables`` (dicts of title, columns, rows of text; of
        groups found, also ``sort_keys``), ``intervals`` (title and rows of label, value,
        low, high) and ``sizes`` (title and rows of rank, label, size, effect, significant), all in
        types that JSON has.
    """
    return {
        "detector": result.detector,
        "verdict": result.verdict,
        "level": {FOUND: "found", NOTHING: "nothing"}.get(result.verdict, "unsure"),
        "sentence": _sentence(result),
        "facts": _facts(result),
        "notes": [str(n) for n in result.notes],
        "tables": _tables(result, max_rows),
        "intervals": _intervals(result, max_rows),
        "sizes": _sizes(result, max_rows),
    }


def _sentence(result):
    cases = "inputs" if result.versus == "everyone" else "people"
    what = "groups" if isinstance(result.findings, GroupFindings) else cases
    names = ", ".join(map(str, result.protected)) or "any column"
    if result.n_tested == 0:
        return "Nothing was tested."
    n, by = result.n_tested, ""
    if what == "groups" and "group_key" in result.findings.table:  # what was tested are draws
        n, what = len(result) // 2, "pairs of groups"  # a finding for each side
        by = f" by {result.n_tested:,} draws"
    tested = f"{result.n_found:,} of {n:,} {what} tested{by}"
    if result.verdict == FOUND and by:
        return f"{tested} break {result.measure} at level {result.significance:g}."
    if result.verdict == FOUND and what == "groups":
        others = "the rest of the people" if result.versus == "everyone" else result.versus
        sentence = (
            f"{tested} differ from {others} at level {result.significance:g}, corrected for all "
            "tests."
        )
    elif result.verdict == FOUND and result.versus != "everyone":
        sentence = f"{tested} are decided otherwise than {result.versus}."
    elif result.verdict == FOUND:
        others = _changed_besides(result)
        how = (
            f"{names} is changed, and with it {others}"
            if others
            else f"nothing but {names} is changed"
        )
        sentence = f"{tested} change their outcome when {how}."
    else:
        sentence = f"None of {n:,} {what} tested{by} shows a disparity by {names}."
    if math.isfinite(result.smallest_gap) and result.verdict != FOUND:
        kind = "gap" if isinstance(result.findings, GroupFindings) else "share of cases"
        sentence += (
            f" The smallest {kind} that the data could have shown is {number(result.smallest_gap)}"
        )
        sentence += (
            f" (asked for: {number(result.required_gap)})." if result.verdict != NOTHING else "."
        )
    return sentence


def _changed_besides(result):
    """Return the names of columns that cases change besides the protected ones."""
    before, after = result.findings.original, result.findings.altered
    free = [c for c in before if c not in result.protected]
    moved = [c for c in free if ((before[c] != after[c]) & before[c].notna()).any()]
    return ", ".join(map(str, moved))


def _facts(result):
    m = result.metrics
    stopped = f"the limit {result.stopped_by}" if result.stopped_by else "its own end"
    return [
        ("Audited", AUDITED[result.audited]),
        ("Measure", result.measure),
        ("Favourable", ", ".join(repr(plain(v)) for v in result.pos_label)),
        ("Protected", ", ".join(map(str, result.protected)) or "every column"),
        ("Rows of data", f"{result.n_samples:,}"),
        ("Rows asked of the model", f"{result.n_queries:,}"),
        ("Tested (TSN)", f"{m['TSN']:,}"),
        ("Found (DSN)", f"{m['DSN']:,}"),
        ("Success rate (SUR)", number(m["SUR"])),
        ("Time", f"{result.total_time:.2f} s"),
        ("Search ended by", stopped),
        ("Versions", ", ".join(f"{k} {v}" for k, v in result.versions.items())),
    ]


def _tables(result, max_rows):
    shown = min(len(result), max_rows)
    title = f"Findings (first {shown} of {len(result):,})" if shown < len(result) else "Findings"
    tables = []
    if shown:
        tables.append(
            _groups(result, title, shown)
            if isinstance(result.findings, GroupFindings)
            else _cases(result, title, shown)
        )
    if result.estimates is not None and len(result.estimates):
        tables.append(table("Estimates", result.estimates))
    names = {
        "groups": "Single protected values against the rest",
        "scores": "Scores of sets of attributes",
        "effects": "Outcome, minus the same people's outcome in another world",
        "spread": "How far worlds disagree",
        "counterfactuals": "Actions of the findings: what would help whom",
        "burden": "Burden of recourse of all affected people",
        "impact_ratios": "Rates and impact ratios of every group",
    }
    for name, frame in result.tables.items():
        if name in names and len(frame):
            tables.append(table(names[name], _readable(frame)))
    if result.excluded is not None and len(result.excluded):
        tables.append(table("Not searched: too few rows, or undefined", result.excluded))
    return tables


def _readable(frame):
    """Leave out columns for machines, and write p-values as people do."""
    frame = frame.drop(
        columns=["trials", "t", "test", "p_value", "ci_low", "ci_high", "attribute", "favourable"],
        errors="ignore",
    )
    if "p_adjusted" in frame:
        frame["p_adjusted"] = frame["p_adjusted"].map(p_value)
    return frame.rename(
        columns={
            "support": "rows",
            "outcome": "rate",
            "outcome_rest": "rate_of_the_rest",
            "p_adjusted": "p corrected",
        }
    )


def _groups(result, title, n):
    frame = result.to_frame().head(n)
    columns = {"Group": frame["subject"]}
    if result.findings.table["measure"].nunique() > 1:
        columns["Measure"] = frame["measure"]
    columns |= {
        "Rows": frame["support"],
        "Rate": frame["outcome"],
        "Effect": frame["effect"],
        "Interval": [
            interval(a, b) for a, b in zip(frame["ci_low"], frame["ci_high"], strict=True)
        ],
        "p corrected": frame["p_adjusted"].map(p_value),
    }
    if "held_out_effect" in frame:
        columns["Held-out effect"] = frame["held_out_effect"]
        columns["Held-out p corrected"] = frame["held_out_p_adjusted"].map(p_value)
    if "reference" in frame and frame["reference"].nunique() > 1:
        columns["Compared with"] = frame["reference"]
    behind = {"Interval": "ci_low", "p corrected": "p_adjusted"}
    behind["Held-out p corrected"] = "held_out_p_adjusted"
    values = [frame[behind[c]] if c in behind else column for c, column in columns.items()]
    rows = zip(*values, strict=True)
    return {**table(title, pd.DataFrame(columns)), "sort_keys": [list(map(_key, r)) for r in rows]}


def _key(value):
    """Return what a cell is sorted by: a number, None where it is undefined, or its text."""
    value = plain(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (int, float)) or value is None else str(value)


def _cases(result, title, n):
    rows = []
    for i in range(n):
        case = result[i].subject
        changed = {c: f"{text(case.original[c])} → {text(case.altered[c])}" for c in case.changed}
        outcome = f"{number(case.outcome)} → {number(case.altered_outcome)}"
        rows.append(
            {
                "Outcome": outcome,
                **{str(c): changed.get(c, text(v)) for c, v in case.original.items()},
            }
        )
    frame = pd.DataFrame(rows)
    front = ["Outcome", *[str(c) for c in result.protected if str(c) in frame]]
    return table(title, frame[front + [c for c in frame if c not in front]])


def _intervals(result, max_rows):
    if isinstance(result.findings, GroupFindings):
        frame = result.to_frame()
        measure = frame["measure"].iloc[0] if len(frame) else result.measure
        frame = frame[frame["measure"] == measure].head(max_rows)
        rows = frame[["subject", "effect", "ci_low", "ci_high"]]
        than = "minus everyone" if result.versus == "everyone" else f"against {result.versus}"
        title = f"Effect on {measure}: group {than}"
    else:
        frame = result.estimates if result.estimates is not None else pd.DataFrame()
        rows = frame[["name", "estimate", "ci_low", "ci_high"]] if len(frame) else frame
        title = "Shares of cases"
    kept = [
        r for r in rows.itertuples(index=False, name=None) if all(math.isfinite(v) for v in r[1:])
    ]
    return {"title": title, "rows": [(str(r[0]), *map(float, r[1:])) for r in kept]}


def _sizes(result, max_rows):
    rows = []
    if isinstance(result.findings, GroupFindings) and min(max_rows, len(result)):
        frame = result.to_frame().head(max_rows)
        frame = frame[frame["measure"] == frame["measure"].iloc[0]]
        sure = frame["p_adjusted"] <= result.significance
        rows = zip(
            frame["rank"], frame["subject"], frame["support"], frame["effect"], sure, strict=True
        )
        rows = [(int(i), str(g), int(n), float(e), bool(s)) for i, g, n, e, s in rows]
    rows = [r for r in rows if math.isfinite(r[3])]
    return {"title": "Size of the groups against their effect", "rows": rows}


def table(title, frame):
    """Return a DataFrame as title, column names and rows of text, without a constant measure."""
    if "measure" in frame and frame["measure"].nunique() == 1:
        frame = frame.drop(columns="measure")
    rows = [[text(v) for v in row] for row in frame.itertuples(index=False, name=None)]
    return {
        "title": title,
        "columns": [str(c).replace("_", " ") for c in frame.columns],
        "rows": rows,
    }


def text(value):
    """Return a cell as text: numbers short, a missing value as a dash."""
    value = plain(value)
    if value is None:
        return "–"
    return number(value) if isinstance(value, float) else str(value)


def number(value):
    """Return a number with the digits that matter, thousands separated."""
    if isinstance(value, float) and not math.isfinite(value):
        return "–"
    if float(value).is_integer():
        return f"{int(value):,}" if abs(value) >= 10_000 else str(int(value))
    return f"{value:,.3f}" if abs(value) >= 0.001 else f"{value:.2g}"


def interval(low, high):
    """Return an interval as text."""
    return f"[{number(low)}, {number(high)}]" if math.isfinite(low) and math.isfinite(high) else "–"


def p_value(p):
    """Return a p-value as text."""
    if not math.isfinite(p):
        return "–"
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"
