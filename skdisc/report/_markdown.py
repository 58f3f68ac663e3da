"""The summary as Markdown."""

import re
from html import escape

from skdisc._results._audit_result import AuditResult
from skdisc._utils._shared_sections import with_sections
from skdisc.report._summary import CAVEAT, RESULTS, as_list, summarize
from skdisc.report._together import over_all

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~$])")


@with_sections(RESULTS)
def to_markdown(
    results: AuditResult | list[AuditResult], max_rows: int = 10, *, show_people: bool = False
) -> str:
    """Return one or several results as Markdown, with names and values from the data escaped.

    Examples
    --------
    >>> from skdisc.datasets import make_loan
    >>> from skdisc.group import GroupDisparity
    >>> X, y = make_loan(500, random_state=0, return_X_y=True)
    >>> print(to_markdown(GroupDisparity(protected="gender").fit(X, y).result_).splitlines()[0])
    # Audit report
    """
    results = as_list(results)
    sections = [summarize(r, max_rows, show_people) for r in results]
    return markdown_of(sections, "Audit report", CAVEAT, over_all(results))


def markdown_of(sections: list[dict], title: str, caveat: str, together: str = "") -> str:
    """Return sections, as `summarize` makes them, as Markdown with names and values escaped."""
    together = [escape_markdown(together)] if together else []
    parts = [f"# {title}", *together, *map(_section, sections), caveat]
    return "\n\n".join(parts) + "\n"


def _section(summary):
    """Return the section of one result."""
    lines = [
        f"## {escape_markdown(summary['detector'])}: {summary['verdict']}",
        *(
            escape_markdown(summary[name])
            for name in ("reason", "sentence", "null")
            if summary[name]
        ),
    ]
    lines += ["\n".join(f"- {name}: {escape_markdown(value)}" for name, value in summary["facts"])]
    lines += [f"> {escape_markdown(note)}" for note in summary["notes"]]
    for table in summary["tables"]:
        lines += [f"### {escape_markdown(table['title'])}", _table(table)]
    return "\n\n".join(lines)


def _table(table):
    """Return a table in Markdown."""
    rows = [table["columns"], ["---"] * len(table["columns"]), *table["rows"]]
    escaped = [[c if c == "---" else escape_markdown(c) for c in row] for row in rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in escaped)


def escape_markdown(text):
    """Escape the characters that Markdown or HTML interpret."""
    return _SPECIAL.sub(r"\\\1", escape(" ".join(text.split()), quote=False))
