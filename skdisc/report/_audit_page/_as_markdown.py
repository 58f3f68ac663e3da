"""An audit as Markdown."""

import re
from html import escape

from skdisc.report._audit_page import _words as words
from skdisc.report._audit_page._view import view

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~$@]|:(?=/)|(?<=www)\.)")
_START = re.compile(r"^(\d*)([-=.])(?=[\s=-]|$)")  # a list, a rule or a heading


def audit_to_markdown(document: dict, language: str = "en") -> str:
    """Return an audit as Markdown, with every text of the document escaped.

    Parameters
    ----------
    document : dict
        The document of an audit (`AuditReport.to_dict`).
    language : {"en", "de", "fr"}, default="en"
        Of the first page; all that stands below it is in English.

    Returns
    -------
    str
    """
    page = view(document, language)
    parts = [
        f"# {_text(page['title'])}",
        _text(page["sentence"]),
        _text(words.NOTICED) if page["noticed"] else "",
        _items(page["noticed"]),
        *_first(page),
        f"> {page['interrupted']}" if page["interrupted"] else "",
        "## What was asked, and the answers",
        _verdicts(page),
        page["half"],
        *_comparable(page),
        *_groups(page),
        *_rule(page),
        "## The distinct findings",
        *_findings(page),
        *_gaps(page),
        *_cases(page),
        *_moves(page),
        "## What was tried",
        *_tried(page),
        "## Limits",
        _items([*page["limits"], *[page["caveat"]] * (page["caveat"] not in page["limits"])]),
        "## About this audit",
        _items(f"{name}: {value}" for name, value in [*page["meta"], *page["facts"]]),
        _items(f"{name}: {value}" for name, value in page["fingerprints"]),
        *_code(page["code"]),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _text(text):
    """Escape what Markdown or HTML interpret, links without brackets and mentions included."""
    escaped = _SPECIAL.sub(r"\\\1", escape(str(text), quote=False))
    return _START.sub(r"\1\\\2", escaped)


def _items(texts):
    """Return texts as a list."""
    return "\n".join(f"- {_text(text)}" for text in texts)


def _table(columns, rows):
    """Return a table, its cells escaped."""
    lines = [list(map(_text, columns)), ["---"] * len(columns)]
    lines += [[_text(cell) or "–" for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _first(page):
    """Return the paragraph of each protected column, and the lines below it."""
    first, parts = page["first"], []
    for column in first["columns"]:
        parts.append(f"**{_text(column['attribute'])}: {_text(column['word'])}**")
        parts.append(f"**{_text(column['first'])}** {_text(' '.join(column['more']))}".rstrip())
        parts.append(_items(f"{name}: {value}" for name, value in column["lines"]))
    if not parts:
        return [f"**{_text(page['verdict'].capitalize())}.** {_text(page['reason'])}".rstrip()]
    return [*parts, _items(f"{name}: {value}" for name, value in first["lines"])]


def _verdicts(page):
    """Return the table of verdicts."""
    if not page["verdicts"]:
        return "No question was answered."
    names = "Protected", "Question", "Answer", "Largest gap", "Group", "People affected"
    rows = [
        (
            v["attribute"],
            v["question"],
            ". ".join(filter(None, [v["verdict"], v["reason"]])),
            " ".join(filter(None, [v["what"], v["effect"], v["interval"]])),
            v["group"],
            f"{v['people']} {v['whom']}".rstrip(),
            v["bound"],
        )
        for v in page["verdicts"]
    ]
    table = _table([*names, f"No gap above ({page['sure']})"], rows)
    return "\n\n".join([table, *map(_text, page["notes"])])


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
    told = [text for row in page["legitimate"] for text in (row["columns"], row["warning"]) if text]
    columns = "Group", "Gap at equal legitimate columns", "Raw gap", "People"
    head = "## Each protected value at equal legitimate columns"
    return [head, _table(columns, rows), _items(told)]


def _groups(page):
    """Return tables of groups by measures."""
    parts = ["## Each group against the others"] if page["blocks"] else []
    for block in page["blocks"]:
        rows = [
            (r["group"], r["people"], *[_cell(cell) for cell in r["cells"]]) for r in block["rows"]
        ]
        parts += [_table(["Group", "People", *block["measures"]], rows), block["left_out"]]
    return parts


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
    rows = [
        tuple(r[n] for n in ("attribute", "group", "people", "rate", "ratio", "note"))
        for r in page["ratios"]
    ]
    table = _table(columns, rows) if rows else "No impact ratios were computed in this audit."
    return [f"## {_text(page['rule']['title'])}", _text(page["rule"]["text"]), table]


def _findings(page):
    """Return the table of distinct findings, and what else is known of each."""
    if not page["findings"]:
        return ["There are no findings."]
    names = "#", "Group", "Effect", "In all", "Raw gap", "People", "Corrected p", "Shadows"
    rows = [
        (
            f["rank"] or i,
            f["group"],
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
    again = [
        f"{f['group']}: at equal legitimate columns {f['equal']}"
        for f in page["findings"]
        if f["equal"]
    ]
    again += [f"{f['group']}: {f['again']}" for f in page["findings"] if f["again"]]
    disagree = [
        f"{f['group']}: {name} disagrees{': ' * bool(why)}{why}"
        for f in page["findings"]
        for name, why in f["disagree"]
    ]
    joint = words.JOINT if any(f["alone"] for f in page["findings"]) else ""
    told = [_text(page["findings_left_out"]), _items([*again, *disagree])]
    return [joint, _table(names, rows), *told]


def _gaps(page):
    """Return how the parts of each gap add up."""
    parts = ["## Explained and unexplained"] if page["gaps"] else []
    for g in page["gaps"]:
        rows = [(p["part"], f"{p['amount']} {p['interval']}".rstrip()) for p in g["rows"]]
        parts += [f"### {_text(g['group'])}", _text(g["sentence"])]
        parts += [_table(["Part", "Amount"], rows)]
    return parts


def _cases(page):
    """Return what searches found about single people."""
    parts = ["## Single people"] if page["cases"] else []
    for block in page["cases"]:
        parts.append(_text(f"{block['detector']}: {block['sentence']}"))
        rows = [
            (i, name, before, after)
            for i, e in enumerate(block["examples"], 1)
            for name, before, after in [*e["changed"], ("outcome", *e["outcome"])]
        ]
        parts += [_text(block["note"]), _table(["Case", "Column", "as is", "changed"], rows)] * (
            len(rows) > 0
        )
    return parts


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
    names = "Protected", "Question", "Answer", "Other answers"
    head = "## How the answers move with settings"
    return [head, _text(page["moves"]["sentence"]), _table(names, rows)]


def _tried(page):
    """Return the log, and what did not run."""
    names = "name", "question", "role", "tested", "found", "verdict", "queries", "seconds"
    columns = "Step", "Null", "Role", "Tested", "Found", "Verdict", "Queries", "Seconds"
    table = _table(columns, [[s[n] for n in names] for s in page["log"]]) if page["log"] else ""
    skipped = [f"{n['detector']} did not run: {n['reason']}" for n in page["not_run"]]
    return [table, _text(page["log_left_out"]), _items(skipped)]


def _code(code):
    """Return the code in a fence that is longer than any inside it."""
    if not code.strip():
        return []
    inside = max(map(len, re.findall(r"`+", code)), default=0)
    fence = "`" * max(3, inside + 1)
    body = code.rstrip("\n")
    language = "sh" if code.startswith("skdisc ") else "python"
    return ["## The code that reproduces this audit", f"{fence}{language}\n{body}\n{fence}"]
