"""An audit as a sequence of headings, sentences and tables, for the formats that have only these.

Markdown and Word are written from it, so that both say the same in the same order.
"""

from typing import NamedTuple

from skdisc.report._audit_page import _words as words
from skdisc.report._audit_page._view import view


class Heading(NamedTuple):
    """A heading; level 1 is the title."""

    text: str
    level: int = 2


class StateLine(NamedTuple):
    """A protected column, and its state by name and in words."""

    attribute: str
    state: str
    word: str


class Sentences(NamedTuple):
    """A paragraph, the first part of it stressed."""

    text: str
    stressed: str = ""


class Remark(NamedTuple):
    """A paragraph that is set apart."""

    text: str


class Bullets(NamedTuple):
    """A list."""

    texts: list


class Grid(NamedTuple):
    """A table with a header; a cell without text is '–'."""

    columns: tuple
    rows: list


class Code(NamedTuple):
    """Code that reproduces the audit."""

    text: str
    language: str


class Translated(NamedTuple):
    """From here to the end of the first page, texts are in the language asked for."""


class PageEnd(NamedTuple):
    """The end of the first page, where there are pages."""


def blocks(document, language="en"):
    """Return the blocks of an audit.

    Parameters
    ----------
    document : dict
        The document of an audit (`AuditReport.to_dict`).
    language : str, default="en"
        Of figures of pay and of the first page; all that stands below is in English.

    Returns
    -------
    list
        Of the classes above; their texts are without control characters, and not escaped.
    """
    page = view(document, language)
    several = [
        Translated(),
        Heading(page["title"], 1),
        Sentences(page["sentence"]),
        *([Sentences(page["noticed_heading"]), Bullets(page["noticed"])] * bool(page["noticed"])),
        *_pay(page),
        *_first(page),
        Remark(page["interrupted"]),
        PageEnd(),
        *_rule(page),
        Heading("What was asked, and the answers"),
        *_verdicts(page),
        Sentences(page["half"]),
        *_comparable(page),
        *_groups(page),
        Heading("The distinct findings"),
        *_findings(page),
        *_gaps(page),
        *_cases(page),
        *_moves(page),
        Heading("What was tried"),
        *_tried(page),
        Heading("Limits"),
        Bullets(page["limits"]),
        Heading("About this audit"),
        _pairs([*page["meta"], *page["facts"]]),
        _pairs(page["fingerprints"]),
        *_code(page["code"]),
    ]
    return [block for block in several if not block or any(block)]  # nothing without a text


def _pay(page):
    """Return the figures of pay that a law asks for."""
    if not page["pay"]:
        return []
    pay = page["pay"]
    first, *more = pay["sentences"]
    tables = [part for t in pay["tables"] for part in (Heading(t["title"], 3), _grid(t))]
    sentences = [Sentences("", first), Bullets(more)]
    return [Heading(pay["title"]), *sentences, *tables, Bullets(pay["notes"])]


def _grid(table):
    """Return a table of the page."""
    return Grid(table["columns"], table["rows"])


def _pairs(pairs):
    """Return a list of names and what they say."""
    return Bullets([f"{name}: {value}" for name, value in pairs])


def _first(page):
    """Return the paragraph of each protected column, and the lines below it."""
    first, several = page["first"], []
    for column in first["columns"]:
        several.append(StateLine(column["attribute"], column["state"], column["word"]))
        several.append(Sentences(" ".join(column["more"]), column["first"]))
        several.append(_pairs(column["lines"]))
    if not several:
        return [Sentences(page["reason"], f"{page['verdict'].capitalize()}.")]
    return [*several, _pairs(first["lines"])]


def _verdicts(page):
    """Return the table of verdicts."""
    if not page["verdicts"]:
        return [Sentences("No question was answered.")]
    names = "Protected", "Question", "Answer", "Largest gap", "Group", "People in the group"
    rows = [
        (
            v["attribute"],
            v["question"],
            ". ".join(filter(None, [v["verdict"], v["reason"]])),
            v["gap"],
            v["group"],
            f"{v['people']} {v['whom']}".rstrip(),
            v["bound"],
        )
        for v in page["verdicts"]
    ]
    table = Grid((*names, f"No gap above ({page['sure']})"), rows)
    return [table, *map(Sentences, page["notes"])]


def _comparable(page):
    """Return the table of protected values at equal legitimate columns."""
    rows = [
        (
            r["group"],
            f"{r['effect']} {r['interval']}".rstrip(),
            f"{r['gap']} {r['gap_interval']}".rstrip(),
            r["people"],
        )
        for r in page["comparable"]["rows"]
    ]
    if not rows:
        return []
    texts = [text for row in page["legitimate"] for text in (row["columns"], row["warning"])]
    columns = "Group", "Gap at equal legitimate columns", "Raw gap", "People"
    heading = Heading("Each protected value at equal legitimate columns")
    return [heading, Grid(columns, rows), Bullets(list(filter(None, texts)))]


def _groups(page):
    """Return tables of groups by measures."""
    several = [Heading("Each group against the others")] if page["blocks"] else []
    for block in page["blocks"]:
        rows = [
            (r["group"], r["people"], *[_cell(cell) for cell in r["cells"]]) for r in block["rows"]
        ]
        several.append(Grid(("Group", "People", *block["measures"]), rows))
        several.append(Sentences(block["left_out"]))
    return several


def _cell(cell):
    """Return the gap of a group as text."""
    if cell is None:
        return ""
    unsure = ", too small to be judged" if cell["state"] == "open" else ""
    return f"{cell['text']} {cell.get('interval', '')}".rstrip() + unsure


def _rule(page):
    """Return what the rule of a template is, and the impact ratios."""
    if not page["rule"]:
        return []
    columns = "Category", "Group", "People", "Selection rate", "Impact ratio", "Note"
    names = "attribute", "group", "people", "rate", "ratio", "note"
    rows = [tuple(r[n] for n in names) for r in page["ratios"]]
    table = Grid(columns, rows)
    if not rows:
        table = Sentences("No impact ratios were computed in this audit.")
    return [Heading(page["rule"]["title"]), Sentences(page["rule"]["text"]), table]


def _findings(page):
    """Return the table of distinct findings, and what else is known of each."""
    if not page["findings"]:
        return [Sentences("There are no findings.")]
    names = "#", "Group", "What", "Effect", "In all", "Raw gap", "People", "Corrected p", "Shadows"
    rows = [
        (
            f["rank"] or i,
            f["group"],
            f["kind"] + (f", compared with {f['against']}" if f["against"] else ""),
            " ".join(filter(None, [f["effect"], f["interval"], f["where"]]))
            + ("" if f["found"] else ", not significant"),
            f["alone"],
            f"{f['gap']} {f['gap_interval']}".strip(),
            f["people"],
            f["p"],
            f["n_shadows"],
        )
        for i, f in enumerate(page["findings"], 1)
    ]
    notes = [
        f"{f['group']}: at equal legitimate columns {f['equal']}"
        for f in page["findings"]
        if f["equal"]
    ]
    notes += [f"{f['group']}: {f['again']}" for f in page["findings"] if f["again"]]
    disagree = [
        f"{f['group']}: {name} disagrees{': ' * bool(why)}{why}"
        for f in page["findings"]
        for name, why in f["disagree"]
    ]
    joint = words.JOINT if any(f["alone"] for f in page["findings"]) else ""
    texts = Sentences(page["findings_left_out"]), Bullets([*notes, *disagree])
    return [Sentences(joint), Grid(names, rows), *texts]


def _gaps(page):
    """Return how the parts of each gap add up."""
    several = [Heading("Explained and unexplained")] if page["gaps"] else []
    for g in page["gaps"]:
        rows = [(p["part"], f"{p['amount']} {p['interval']}".rstrip()) for p in g["rows"]]
        several += [Heading(g["group"], 3), Sentences(g["sentence"])]
        several.append(Grid(("Part", "Amount"), rows))
    return several


def _cases(page):
    """Return what searches found about single people."""
    several = [Heading("Single people")] if page["cases"] else []
    for block in page["cases"]:
        several.append(Sentences(f"{block['detector']}: {block['sentence']}"))
        rows = [
            (i, name, before, after)
            for i, e in enumerate(block["examples"], 1)
            for name, before, after in [*e["changed"], ("outcome", *e["outcome"])]
        ]
        if rows:
            several.append(Sentences(block["note"]))
            several.append(Grid(("Case", "Column", "as is", "changed"), rows))
    return several


def _moves(page):
    """Return the other answers that other settings give."""
    rows = [
        (
            *(r[n] for n in ("attribute", "question", "verdict")),
            "; ".join(f"{verdict} with {settings}" for _, verdict, settings in r["others"]),
        )
        for r in page["moves"]["rows"]
    ]
    if not rows:
        return []
    table = Grid(("Protected", "Question", "Answer", "Other answers"), rows)
    heading = Heading("How the answers move with settings")
    return [heading, Sentences(page["moves"]["sentence"]), table]


def _tried(page):
    """Return the log, and what did not run."""
    names = "name", "question", "role", "tested", "found", "verdict", "queries", "seconds"
    columns = "Step", "Null", "Role", "Tested", "Found", "Verdict", "Queries", "Seconds"
    rows = [tuple(s[n] for n in names) for s in page["log"]]
    skipped = [f"{n['detector']} did not run: {n['reason']}" for n in page["not_run"]]
    table = [Grid(columns, rows)] if rows else []
    return [*table, Sentences(page["log_left_out"]), Bullets(skipped)]


def _code(code):
    """Return the code that reproduces the audit, under its heading."""
    if not code.strip():
        return []
    language = "sh" if code.startswith("skdisc ") else "python"
    heading = Heading("The code that reproduces this audit")
    return [heading, Code(code.rstrip("\n"), language)]
