"""The summary for a terminal."""

import shutil
import textwrap
from itertools import zip_longest

from skdisc._results._audit_result import AuditResult
from skdisc._utils._shared_sections import with_sections
from skdisc.report._summary import CAVEAT, RESULTS, as_list, summarize
from skdisc.report._together import over_all

_LONG = 30  # a cell with more characters counts as long
_ROOM = 22  # minimal width of a column in characters; longer cells are wrapped
_HIDDEN_FACTS = {"Versions", "Favorable outcome"}


@with_sections(RESULTS)
def to_text(
    results: AuditResult | list[AuditResult],
    max_rows: int = 5,
    width: int | None = None,
    *,
    show_people: bool = False,
) -> str:
    """Return one or several results as plain text.

    Parameters
    ----------
    width : int or None, default=None
        Characters per line; None stands for the width of the terminal, at most 120.
    """
    width = width or min(shutil.get_terminal_size((100, 24)).columns, 120)
    results = as_list(results)
    sections = [summarize(r, max_rows, show_people) for r in results]
    return text_of(sections, width, over_all(results), CAVEAT)


def text_of(sections: list[dict], width: int, *last: str) -> str:
    """Return sections, as `summarize` makes them, as text that ends with some sentences."""
    parts = [_section(section, width) for section in sections]
    return "\n\n".join([*parts, *(textwrap.fill(text, width) for text in last if text)])


def _section(summary, width):
    """Return the section of one result."""
    heading = f"{summary['detector']}: {summary['verdict']}"
    lines = [heading, "=" * len(heading)]
    for name in ("reason", "sentence", "null"):
        lines += textwrap.wrap(summary[name], width)
    facts = [f"{name}: {value}" for name, value in summary["facts"] if name not in _HIDDEN_FACTS]
    lines += textwrap.wrap("; ".join(facts), width, initial_indent="  ", subsequent_indent="  ")
    for note in summary["notes"]:
        lines += textwrap.wrap(note, width, initial_indent="  ! ", subsequent_indent="    ")
    for table in summary["tables"]:
        lines += ["", *textwrap.wrap(table["title"], width), *_table(table, width)]
    return "\n".join(lines)


def _table(table, width):
    """Lay out a table: a wide first column moves to the end, columns too many are counted."""
    cells = [table["columns"], *table["rows"]]
    last_to_go = -1
    if max(len(row[0]) for row in cells) > _LONG:
        cells, last_to_go = [[*row[1:], row[0]] for row in cells], -2
    hidden = 0
    while len(cells[0]) > 1 and sum(min(w, _ROOM) + 2 for w in _widths(cells)) > width:
        cells = [row[:last_to_go] + row[len(row) + last_to_go + 1 :] for row in cells]
        hidden += 1
    widths = _widths(cells)
    while sum(widths) + 2 * len(widths) > width and max(widths) > _ROOM:
        widths[widths.index(max(widths))] -= 1
    lines = [line for row in cells for line in _lines(row, widths)]
    return lines + ([f"  (and {hidden} more column{'s' * (hidden > 1)})"] if hidden else [])


def _widths(cells):
    """Return the width of each column."""
    return [max(len(row[j]) for row in cells) for j in range(len(cells[0]))]


def _lines(row, widths):
    """Lay out one row, on several lines if a cell is wider than its column."""
    cells = [textwrap.wrap(text, width) or [""] for text, width in zip(row, widths, strict=False)]
    for parts in zip_longest(*cells, fillvalue=""):
        texts = (part.ljust(width) for part, width in zip(parts, widths, strict=False))
        yield "  " + "  ".join(texts).rstrip()
