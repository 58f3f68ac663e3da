"""The summary of a result: a dict of texts, tables and intervals for the renderers to lay out."""

import math

import pandas as pd

from skdisc._results._findings import GroupFindings
from skdisc._results._judgment import DIFFERS, FOUND, NOTHING
from skdisc._task._limits import limit_named
from skdisc._utils._inputs import check_count
from skdisc._utils._validation import plain

_ROUNDED_OFF = 1e-12  # smaller numbers are errors of rounding
CAVEAT = (
    "A disparity is a difference in treatment, or in its outcome. Statistics cannot decide whether "
    "it is discrimination, or whether it is justified: that is a human judgment."
)
AUDITED = {
    "model": "the model that was passed, unchanged",
    "refit": "a model that was trained in this audit",
    "surrogate": "a surrogate trained on the labels, not your own model",
    "decisions": "the decisions that were passed, row by row",
    "labels": "the labels themselves",
}
RESULTS = """
    Parameters
    ----------
    results : AuditResult or list of AuditResult
    max_rows : int
        Maximal number of findings shown per result.
    show_people : bool, default=False
        Whether rows of people, and groups of fewer than 10, are described.

    Returns
    -------
    str
"""


def as_list(results):
    """Return one or several results as a list."""
    return list(results) if isinstance(results, (list, tuple)) else [results]


def summarize(result, max_rows=10, show_people=False):
    """Return the content of the report of an `AuditResult`.

    Parameters
    ----------
    result : AuditResult
    max_rows : int, default=10
        Maximal number of findings shown.
    show_people : bool, default=False
        Whether rows of people, and groups of fewer than 10, are described.

    Returns
    -------
    dict
        All values have JSON types:

        - ``detector``, ``verdict``, ``level`` (found, nothing, unsure), ``sentence``, and, or "",
          ``null``, ``reason``;
        - ``facts``: pairs of text; ``notes``: texts;
        - ``tables``: dicts of title, columns and rows of text; that of the groups found also has
          ``sort_keys``;
        - ``intervals``: title, and rows of label, value, low, high;
        - ``sizes``: title, and rows of rank, label, size, effect, significant.
    """
    check_count("max_rows", max_rows)
    whole, result = result, result if show_people else result.without_people()
    reason = f"{result.reason[:1].upper()}{result.reason[1:]}." if result.reason else ""
    sentence = _sentence(whole, reason)
    return {
        "detector": result.detector,
        "verdict": result.verdict,
        "level": {FOUND: "found", NOTHING: "nothing"}.get(result.verdict, "unsure"),
        "sentence": sentence,
        "null": f"Null hypothesis: {result.null_claim}." if result.null_claim else "",
        "reason": "" if reason == sentence else reason,
        "facts": _facts(result),
        "notes": [str(n) for n in result.notes],
        "tables": _tables(result, max_rows),
        "intervals": _intervals(result, max_rows),
        "sizes": _sizes(result, max_rows),
    }


def _sentence(result, reason):
    """Return the sentence that sums up what was counted; the verdict has its own reason."""
    if result.n_tested == 0:
        return "Nothing was tested."
    if result.null == "individual" and result.estimates is not None and len(result.estimates):
        return _people_with_case(result)
    is_group = isinstance(result.findings, GroupFindings)
    what, n, by = "inputs" if result.versus == "everyone" else "people", result.n_tested, ""
    if is_group and "group_key" in result.findings.table:  # n_tested counts random draws
        n, what = len(result) // 2, "pairs of groups"  # one finding for each side
        by = f" with {result.n_tested:,} random draws"
    elif is_group:
        what = "groups"
    if result.n_found == 0:
        if result.verdict in (FOUND, DIFFERS):
            return reason
        names = _listed(result.protected) or "any column"
        return f"None of {n:,} {what} tested{by} shows a disparity by {names}."
    tested, one = f"{result.n_found:,} of {n:,} {what} tested{by}", result.n_found == 1
    if by:
        verb = "violates" if one else "violate"
        return f"{tested} {verb} {result.measure} at level {result.significance:g}."
    return f"{tested} {_difference(result, is_group, one)}."


def _people_with_case(result):
    """Return the sentences on the people with a case, and on the inputs that a search made up."""
    name, share, _, _, n = result.estimates.iloc[0]
    names, noun = _listed(result.protected), "people" if "people" in name else "possible inputs"
    searched = f"Of {result.n_tested:,} possible inputs tested, {result.n_found:,} are cases."
    if n == 0:
        return searched
    subject, has = f"{round(share * n):,} of {n:,} {noun}", "have"
    if share == 0:
        subject, has = f"None of {n:,} {noun}", "has"
    elif noun != "people":
        subject = f"{number(100 * share)} % of the {noun}"
    sentence = f"{subject} {has} another outcome for other values of {names} alone."
    return sentence if result.findings.row is not None else f"{sentence} {searched}"


def _difference(result, is_group, one):
    """Return the predicate of the sentence: how the findings (or the one finding) differ."""
    if is_group:
        verb, level = "differs" if one else "differ", f"{result.significance:g}"
        return f"{verb} from {_compared_with(result)} at level {level}, corrected for all tests"
    has = "has" if one else "have"
    if result.versus != "everyone":
        return f"{has} another outcome than {result.versus}"
    names, changed_columns = _listed(result.protected) or "any column", _changed_besides(result)
    if changed_columns:
        return (
            f"{has} another outcome for other values of {names} and resulting values of "
            f"{changed_columns}"
        )
    return f"{has} another outcome for other values of {names} alone"


def _compared_with(result):
    """Return with whom groups are compared."""
    if result.versus != "everyone":
        return result.versus
    within = result.null == "contextual" and result.judgment is not None
    return "the others who meet their other conditions" if within else "the rest of the people"


def _changed_besides(result):
    """Return the names of the unprotected columns that change in a case."""
    before, after = result.findings.original, result.findings.altered
    free = [c for c in before if c not in result.protected]
    return _listed(c for c in free if ((before[c] != after[c]) & before[c].notna()).any())


def _listed(names):
    """Return names as text, separated by commas."""
    return ", ".join(map(str, names))


def _facts(result):
    """Return names and values of the facts about the audit."""
    m = result.metrics
    n, n_all = result.n_samples, result.n_drawn_from
    drawn = "" if n_all is None else f" of {n_all:,}, drawn by chance"
    stopped = f"{limit_named(result.stopped_by)} was reached" if result.stopped_by else "completed"
    return [
        ("Audited", AUDITED[result.audited]),
        ("Measure", result.measure),
        ("Favorable outcome", ", ".join(repr(plain(v)) for v in result.pos_label)),
        ("Protected columns", _listed(result.protected) or "every column"),
        ("Rows of data", f"{n:,}{drawn}"),
        ("Model queries (rows)", f"{result.n_queries:,}"),
        ("Tested (TSN)", f"{m['TSN']:,}"),
        ("Found (DSN)", f"{m['DSN']:,}"),
        ("Success rate (SUR)", number(m["SUR"])),
        ("Time", f"{result.total_time:.2f} s"),
        ("Search", stopped),
        ("Versions", ", ".join(f"{k} {v}" for k, v in result.versions.items())),
    ]


def _tables(result, max_rows):
    """Return the tables of the report."""
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
    worlds = "Outcome minus outcome of the same people in the counterfactual world"
    names = {
        "groups": "Groups of single protected values",
        "scores": "Scores of the sets of protected attributes",
        "effects": worlds if result.null == "counterfactual" else "Effects",
        "spread": "Differences between counterfactual worlds",
        "counterfactuals": "Actions in the subgroups found, and their effectiveness by group",
        "burden": "Burden of recourse over all affected people",
        "impact_ratios": "Rates and impact ratios of all groups",
    }
    if "log_wealth" in result.tables.get("groups", ()):  # of a monitor, whatever its groups
        names["groups"] = "Wealth and changes of the groups"
    for name, frame in result.tables.items():
        if name in names and len(frame):
            tables.append(table(names[name], _readable(frame)))
    if result.excluded is not None and len(result.excluded):
        tables.append(table("Not tested: too few rows, or undefined", result.excluded))
    return tables


def _readable(frame):
    """Drop the columns that readers do not need, and format p-values."""
    frame = frame.drop(
        columns=["trials", "t", "test", "p_value", "ci_low", "ci_high", "attribute", "favorable"],
        errors="ignore",
    )
    if "p_adjusted" in frame:
        frame["p_adjusted"] = frame["p_adjusted"].map(p_value)
    return frame.rename(
        columns={
            "support": "rows",
            "outcome": "rate",
            "outcome_rest": "rate_of_the_rest",
            "p_adjusted": "corrected_p",
        }
    )


def _groups(result, title, n):
    """Return the table of the first n groups."""
    frame = result.to_frame().head(n)
    columns = {"Group": frame["subject"]}
    if result.findings.table["measure"].nunique() > 1:
        columns["Measure"] = frame["measure"]
    columns["Rows"] = frame["support"]
    if "held_out_effect" in frame:
        columns["Held-out effect"] = frame["held_out_effect"]
        ends = frame["held_out_ci_low"], frame["held_out_ci_high"]
        columns["Held-out interval"] = [interval(a, b) for a, b in zip(*ends, strict=True)]
        columns["Held-out corrected p"] = frame["held_out_p_adjusted"].map(p_value)
    columns |= {
        "Rate": frame["outcome"],
        "Effect": frame["effect"],
        "Interval": [
            interval(a, b) for a, b in zip(frame["ci_low"], frame["ci_high"], strict=True)
        ],
        "Corrected p": frame["p_adjusted"].map(p_value),
    }
    if "reference" in frame and frame["reference"].nunique() > 1:
        columns["Compared with"] = frame["reference"]
    behind = {"Interval": "ci_low", "Corrected p": "p_adjusted"}
    behind |= {f"Held-out {c.lower()}": f"held_out_{name}" for c, name in behind.items()}
    values = [frame[behind[c]] if c in behind else column for c, column in columns.items()]
    rows = zip(*values, strict=True)
    return {**table(title, pd.DataFrame(columns)), "sort_keys": [list(map(_key, r)) for r in rows]}


def _key(value):
    """Return the key that a cell is sorted by: a number, None if undefined, or its text."""
    value = plain(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (int, float)) or value is None else str(value)


def _cases(result, title, n):
    """Return the table of the first n cases."""
    rows = []
    for i in range(n):
        case = result[i].subject
        changed = {c: f"{text(case.original[c])} → {text(case.altered[c])}" for c in case.changed}
        outcome = f"{number(case.outcome)} → {number(case.altered_outcome)}"
        rows.append(
            {
                "Outcome": outcome,
                **{_of_column(c): changed.get(c, text(v)) for c, v in case.original.items()},
            }
        )
    frame = pd.DataFrame(rows)
    front = ["Outcome", *[n for n in map(_of_column, result.protected) if n in frame]]
    return table(title, frame[front + [c for c in frame if c not in front]])


def _of_column(name):
    """Return the heading of a column of X; one named "Outcome" is marked as a column."""
    return f"{name} (column)" if str(name) == "Outcome" else str(name)


def _intervals(result, max_rows):
    """Return title and rows of the chart of intervals."""
    if isinstance(result.findings, GroupFindings):
        frame = result.to_frame()
        measure = frame["measure"].iloc[0] if len(frame) else result.measure
        frame = frame[frame["measure"] == measure].head(max_rows)
        prefix = "held_out_" if "held_out_effect" in frame else ""
        rows = frame[["subject", f"{prefix}effect", f"{prefix}ci_low", f"{prefix}ci_high"]]
        where = " on held-out rows" if prefix else ""
        title = f"Effect on {measure}{where}: group against {_compared_with(result)}"
    else:
        frame = result.estimates if result.estimates is not None else pd.DataFrame()
        rows = frame[["name", "estimate", "ci_low", "ci_high"]] if len(frame) else frame
        title = "Shares of cases"
    finite_rows = [
        r for r in rows.itertuples(index=False, name=None) if all(math.isfinite(v) for v in r[1:])
    ]
    return {"title": title, "rows": [(str(r[0]), *map(float, r[1:])) for r in finite_rows]}


def _sizes(result, max_rows):
    """Return title and rows of the chart of effects against sizes."""
    rows = []
    if isinstance(result.findings, GroupFindings) and min(max_rows, len(result)):
        frame = result.to_frame().head(max_rows)
        frame = frame[frame["measure"] == frame["measure"].iloc[0]]
        prefix = "held_out_" if "held_out_effect" in frame else ""
        sure = frame[f"{prefix}p_adjusted"] <= result.significance
        rows = zip(
            frame["rank"],
            frame["subject"],
            frame["support"],
            frame[f"{prefix}effect"],
            sure,
            strict=True,
        )
        rows = [(int(i), str(g), int(n), float(e), bool(s)) for i, g, n, e, s in rows]
    rows = [r for r in rows if math.isfinite(r[3])]
    return {"title": "Effect against size of the groups", "rows": rows}


def table(title, frame):
    """Return a DataFrame as title, column names and rows of text; a constant measure is dropped."""
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
    """Return a number with three decimals at most, and thousands separated."""
    if isinstance(value, float) and not math.isfinite(value):
        return "–"
    if abs(value) < _ROUNDED_OFF:
        return "0"
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
