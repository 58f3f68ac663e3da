"""The summary as Markdown."""

import re
from html import escape

from skdisc.report._summary import CAVEAT, summarize

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~$])")


def to_markdown(results, max_rows=10):
    """Return one result, or several, as Markdown; whatever comes from the data is escaped.

    Parameters
    ----------
    results : AuditResult or sequence of AuditResult
    max_rows : int, default=10
        Most findings shown of each.

    Returns
    -------
    str
    """
    results = results if isinstance(results, (list, tuple)) else [results]
    parts = ["# Audit report", *(_section(summarize(r, max_rows)) for r in results), CAVEAT]
    return "\n\n".join(parts) + "\n"


def _section(summary):
    lines = [
        f"## {_escape(summary['detector'])}: {summary['verdict']}",
        _escape(summary["sentence"]),
    ]
    lines += ["\n".join(f"- {name}: {_escape(value)}" for name, value in summary["facts"])]
    lines += [f"> {_escape(note)}" for note in summary["notes"]]
    for table in summary["tables"]:
        lines += [f"### {_escape(table['title'])}", _table(table)]
    return "\n\n".join(lines)


def _table(table):
    rows = [table["columns"], ["---"] * len(table["columns"]), *table["rows"]]
    escaped = [[c if c == "---" else _escape(c) for c in row] for row in rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in escaped)


def _escape(text):
    return _SPECIAL.sub(r"\\\1", escape(" ".join(text.split()), quote=False))
