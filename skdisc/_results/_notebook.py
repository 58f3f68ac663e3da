"""Results and findings in a notebook, and in one readable text."""

from html import escape

import numpy as np
import pandas as pd

from skdisc._utils._safe_text import clean

MOST_ROWS = 5
_SHOWN = {
    "support": "Rows",
    "outcome": "Rate",
    "effect": "Effect",
    "ci_low": "from",
    "ci_high": "to",
    "p_adjusted": "Corrected p",
}


def result_to_html(result):
    """Return a result as HTML: verdict, null, first findings and notes, all escaped; no people."""
    result = result.without_people()
    reason = f" ({_escaped(result.reason)})" if result.reason else ""
    null = f"Null hypothesis: {_escaped(result.null_claim)}. " if result.null_claim else ""
    counted = f"{result.n_found:,} of {result.n_tested:,} tested, {result.n_queries:,} queries."
    notes = "".join(f"<li>{_escaped(note)}</li>" for note in result.notes)
    return (
        f"<div><p><strong>{_escaped(result.detector)}: {_escaped(result.verdict)}</strong>{reason}"
        f"<br>{null}{counted}</p>{findings_to_html(result.findings)}<ul>{notes}</ul></div>"
    )


def findings_to_html(findings):
    """Return the first findings as an HTML table, escaped."""
    n = len(findings)
    if not n:
        return "<p>No findings.</p>"
    frame = findings.table.head(MOST_ROWS)
    subjects = [str(findings.subject(i)) for i in range(len(frame))]
    columns = {"#": range(1, len(frame) + 1), "Finding": subjects}
    for name, heading in _SHOWN.items():
        if name in frame and frame[name].notna().any():
            columns[heading] = [_figure(name, value) for value in frame[name]]
    more = f"<p>The first {len(frame)} of {n:,} findings.</p>" if n > len(frame) else ""
    return html_table(columns, zip(*columns.values(), strict=True)) + more


def html_table(columns, rows):
    """Return a table of texts as HTML, each heading and cell escaped."""
    head = "".join(f'<th scope="col" style="text-align:left">{_escaped(c)}</th>' for c in columns)
    body = "".join(
        "<tr>" + "".join(f'<td style="text-align:left">{_escaped(c)}</td>' for c in row) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def findings_to_text(findings):
    """Return kind and number of findings, and the first of them, as lines of text."""
    name, n = type(findings).__name__, len(findings)
    lines = [f"{name} with {n:,} finding{'s' * (n != 1)}"]
    lines += [f"  {i + 1}. {finding_to_text(findings[i])}" for i in range(min(n, MOST_ROWS))]
    return "\n".join(lines + [f"  and {n - MOST_ROWS:,} more"] * (n > MOST_ROWS))


def finding_to_text(finding):
    """Return subject, effect and interval of a finding as one line of text."""
    ends = (finding.ci_low, finding.ci_high)
    interval = f" [{ends[0]:z.3f}, {ends[1]:z.3f}]" if np.isfinite(ends).all() else ""
    return f"{clean(str(finding.subject))}: effect {finding.effect:z.3f}{interval}"


def _figure(name, value):
    """Return a number of the table as text."""
    if pd.isna(value):
        return "–"
    if name == "p_adjusted":
        return "< 0.0001" if value < 0.0001 else f"{value:.4f}"
    return f"{value:,}" if name == "support" else f"{value:z.3f}"


def _escaped(text):
    """Return a text escaped, on one line, without control characters."""
    return escape(clean(str(text)))
