"""An audit as plain text for a terminal."""

import re

from skdisc._utils._safe_text import columns, wrap
from skdisc.report._audit_page import _words as words
from skdisc.report._audit_page._view import view

MOST_FINDINGS, LABEL, FIGURES = 10, 24, 25


def audit_to_text(document: dict, width: int = 80, language: str = "en") -> str:
    """Return an audit as plain text.

    Parameters
    ----------
    document : dict
        The document of an audit (`AuditReport.to_dict`).
    width : int, default=80
        Columns of the terminal, at least 20; no line is wider, wide characters counted as two.
    language : {"en", "de", "fr"}, default="en"
        Of figures of pay and of the first page; all that stands below is in English.

    Returns
    -------
    str
        Without control characters other than line ends.

    Raises
    ------
    ValueError
        If `width` is below 20.
    """
    if width < 20:
        raise ValueError(f"width must be at least 20 columns, got {width}.")
    page = view(document, language)
    parts = [_headed(page["title"], _opening(page, width), width, "=")]
    for title, lines in _sections(page, width):
        if lines:
            parts.append(_headed(title, lines, width, "-"))
    return "\n\n".join(parts) + "\n"


def _sections(page, width):
    """Yield title and lines of each section."""
    if page["rule"]:
        yield page["rule"]["title"], _rule(page, width)
    yield "Questions and answers", _verdicts(page, width)
    yield "Each protected value at equal legitimate columns", _comparable(page, width)
    yield "Each group against the others", _groups(page, width)
    yield "The distinct findings", _findings(page, width)
    yield "Explained and unexplained", _gaps(page, width)
    yield "Single people", [line for c in page["cases"] for line in _case(c, width)]
    yield "How the answers move with settings", _moves(page, width)
    yield "What was tried", _tried(page, width)
    yield "Limits", [line for text in page["limits"] for line in _item("- ", text, width)]
    facts = [*page["meta"], *page["facts"], *page["fingerprints"]]
    yield (
        "About this audit",
        [line for name, v in facts for line in _item("", f"{name}: {v}", width, 4)],
    )
    yield "The code that reproduces this audit", _code(page["code"], width)


def _headed(title, lines, width, underline):
    """Return a title, its underline and the lines below it."""
    heading = wrap(title, width)
    return "\n".join([*heading, underline * max(map(columns, heading)), *lines])


def _item(mark, text, width, hang=None):
    """Return the lines of a text behind a mark, further lines indented."""
    hang = columns(mark) if hang is None else hang
    first, *_ = wrap(text, width - columns(mark)) or [""]
    rest = text[len(first) :].lstrip(" ")
    return [f"{mark}{first}", *(" " * hang + line for line in wrap(rest, width - hang))]


def _opening(page, width):
    """Return the sentence on the audit, what was noticed, and the first page."""
    noticed = [line for text in page["noticed"] for line in _item("  - ", text, width)]
    if noticed:
        noticed = ["", *wrap(page["noticed_heading"], width), *noticed]
    texts = [text for note in (page["interrupted"], page["half"]) if note for text in ("", note)]
    below = [line for text in texts for line in (wrap(text, width) if text else [""])]
    pay = _pay(page["pay"], width, page["language"]) if page["pay"] else []
    return [*wrap(page["sentence"], width), *noticed, "", *pay, *_first(page, width), *below]


def _pay(pay, width, language):
    """Return the figures of pay that a law asks for: each row of a table is an item."""
    first, *more = pay["sentences"]
    lines = [*wrap(f"{pay['title'].upper()}", width), *wrap(first, width)]
    lines += [line for text in more for line in _item("- ", text, width)]
    for table in pay["tables"]:
        lines += ["", *wrap(f"{table['title']}:", width)]
        for first, *cells in table["rows"]:
            names = table["columns"][1:]
            if language != "de":  # in which nouns keep their capitals
                names = [f"{name[:1].lower()}{name[1:]}" for name in names]
            named = zip(names, cells, strict=True)
            figures = "; ".join(f"{name} {cell}" for name, cell in named if cell)
            lines += _item("  ", f"{first}: {figures}", width, 6)
    return [*lines, "", *(line for note in pay["notes"] for line in _item("- ", note, width)), ""]


def _first(page, width):
    """Return the paragraph of each protected column, and the lines below it."""
    first, lines = page["first"], []
    for column in first["columns"]:
        lines += wrap(f"{column['attribute']}: {column['word'].upper()}", width)
        lines += wrap(" ".join([column["first"], *column["more"]]), width)
        lines += [
            line for name, v in column["lines"] for line in _item("  ", f"{name}: {v}", width)
        ]
        lines.append("")
    if not first["columns"]:
        return wrap(f"{page['verdict'].upper()}. {page['reason']}".rstrip(), width)
    return lines + [
        line for name, v in first["lines"] for line in _item("", f"{name}: {v}", width, 2)
    ]


def _verdicts(page, width):
    """Return the answers, three lines or so for each question."""
    lines = []
    for v in page["verdicts"]:
        lines += _item("", f"{v['attribute']}: {v['question']}", width, 4)
        answer = [
            v["verdict"],
            v["gap"],
            v["group"],
        ]
        answer += [f"{v['people']} people {v['whom']}".rstrip()] if v["people"] else []
        lines += _item("    ", "; ".join(t for t in answer if t), width, 6)
        if v["reason"]:
            lines += _item("    ", v["reason"], width, 6)
    if lines:
        lines += ["", *(line for t in page["notes"] for line in wrap(t, width))]
    return lines


def _comparable(page, width):
    """Return each protected value against all others, raw and at equal legitimate columns."""
    lines = []
    for r in page["comparable"]["rows"]:
        raw = f"raw gap {r['gap']} {r['gap_interval']}".rstrip()
        equal = f"at equal columns {r['effect']} {r['interval']}".rstrip()
        lines += _item("", f"{r['group']}: {equal}; {raw}", width, 4)
    for row in page["legitimate"]:
        lines += ["", *wrap(row["columns"], width)]
        lines += wrap(f"WARNING. {row['warning']}", width) if row["warning"] else []
    return lines


def _groups(page, width):
    """Return the picture: one line per group and measure, drawn to the scale of the measure."""
    lines, room = [], width - LABEL - FIGURES - 4
    for block in page["blocks"]:
        for j, measure in enumerate(block["measures"]):
            lines += ([""] if lines else []) + wrap(f"{measure}:", width)
            if room >= 12:
                low, high, _ = block["axes"][j]
                ends = f"{low:.4g}", f"{high:.4g}"
                gap = " " * (room - len(ends[0]) - len(ends[1]))
                lines.append(" " * (LABEL + 2) + f"{ends[0]}{gap}{ends[1]}")
            for row in block["rows"]:
                cell = row["cells"][j]
                if cell is not None:
                    lines += _group(row["group"], cell, block["axes"][j], width, room)
        lines += wrap(block["left_out"], width) if block["left_out"] else []
    if lines:
        small = f"; o under {page['size']} of the people: not judged" if page["size"] else ""
        lines += ["", *wrap(f"* a gap{small}", width)]
    return lines


def _group(label, cell, axis, width, room):
    """Return the lines of one group, its picture and its figures."""
    figures = f"{cell['text']} {cell.get('interval', '')}".rstrip()
    if room < 12:
        return _item("  ", f"{label}: {figures}", width, 4)
    *above, last = wrap(label, LABEL - 2)
    drawn = _drawn(cell, axis, room)
    tail = wrap(figures, FIGURES)
    lines = [f"  {line}" for line in above]
    pad = " " * (LABEL - 2 - columns(last))
    lines.append(f"  {last}{pad}  {drawn}  {tail[0]}".rstrip())
    return lines + [" " * (LABEL + room + 4) + line for line in tail[1:]]


def _drawn(cell, axis, room):
    """Return an interval drawn with characters: ``--*--``, or ``..o..`` if it cannot be judged."""
    low, high, _ = axis

    def position(value):
        return round((room - 1) * min(max((value - low) / (high - low), 0), 1))

    marks = [" "] * room
    marks[position(0.0)] = ":"
    if cell["numbers"]:
        value, start, stop = cell["numbers"]
        line, dot = (".", "o") if cell["state"] == "open" else ("-", "*")
        for i in range(position(start), position(stop) + 1):
            marks[i] = line
        marks[position(value)] = dot
    return "".join(marks)


def _rule(page, width):
    """Return what the rule of a template is, and the impact ratios."""
    lines = wrap(page["rule"]["text"], width)
    for r in page["ratios"]:
        note = f"; {r['note']}" if r["note"] else ""
        people = f"{r['people']} people, " if r["people"] else ""
        figures = f"{people}selection rate {r['rate']}, impact ratio {r['ratio']}{note}"
        lines += _item("  ", f"{r['attribute']}, {r['group']}: {figures}", width, 4)
    return lines if page["ratios"] else [*lines, *wrap("No impact ratios were computed.", width)]


def _findings(page, width):
    """Return the distinct findings."""
    shown, lines = page["findings"][:MOST_FINDINGS], []
    if any(f["alone"] for f in shown):
        lines += [*wrap(words.JOINT, width), ""]
    for i, f in enumerate(shown, 1):
        lines += _item(f"{f['rank'] or i}. ", f["group"], width, 4)
        effect = f"{f['effect']} {f['interval']} {f['where']}".rstrip()
        raw = [f"in all {f['alone']}"] if f["alone"] else []
        raw += [f"raw gap {f['gap']} {f['gap_interval']}".rstrip()] if not f["is_raw"] else []
        raw += [f"at equal legitimate columns {f['equal']}"] if f["equal"] else []
        people = f"{f['people']} people" + (f" ({f['share']})" if f["share"] else "")
        sure = f"corrected p {f['p']}" + ("" if f["found"] else ", not significant")
        lines += _item("    ", "; ".join([effect, *raw, people, sure]), width)
        lines += _item("    ", _who(f), width)
    if not shown:
        return wrap("There are no findings.", width)
    n_left = len(page["findings"]) - len(shown)
    return lines + (wrap(f"And {n_left} more.", width) if n_left else [])


def _who(finding):
    """Return who found a finding, who disagrees, and its shadows."""
    agree = ", ".join(filter(None, [finding["lead"], *finding["agree"]]))
    texts = [f"{finding['kind'][:1].upper()}{finding['kind'][1:]}"]
    texts += [f"compared with {finding['against']}"] if finding["against"] else []
    texts += [f"found by {agree}"] if agree else []
    texts += [finding["again"]] if finding["again"] else []
    texts += [f"{name} disagrees" + (f" ({why})" * bool(why)) for name, why in finding["disagree"]]
    n = finding["n_shadows"]
    texts += [f"{n} shadow{'s' * (n != 1)}"] if n else []
    return "; ".join(texts) + "."


def _gaps(page, width):
    """Return how the parts of each gap add up."""
    lines = []
    for g in page["gaps"]:
        lines += wrap(f"{g['group']}. {g['sentence']}".rstrip(), width)
        for p in g["rows"]:
            amount = f"{p['amount']} {p['interval']}".rstrip()
            cause = "of this, a cause found: " if p["class"] == "cause" else ""
            lines += _item("    ", f"{amount}  {cause}{p['part']}", width, 6)
    return lines


def _case(block, width):
    """Return what a search found about single people, with its first example."""
    lines = wrap(f"{block['detector']}: {block['sentence']}", width)
    for e in block["examples"][:1]:
        changed = "; ".join(f"{name} {a} -> {b}" for name, a, b in e["changed"])
        text = f"For example, {changed}: outcome {e['outcome'][0]} -> {e['outcome'][1]}."
        lines += _item("    ", f"{text} {block['note']}", width)
    return lines


def _moves(page, width):
    """Return the other answers that other settings give."""
    lines = wrap(page["moves"]["sentence"], width) if page["moves"]["rows"] else []
    for row in page["moves"]["rows"]:
        alternatives = "; ".join(
            f"{verdict} with {settings}" for _, verdict, settings in row["others"]
        )
        text = f"{row['attribute']}: {row['question']} {row['verdict']}; "
        lines += _item("- ", text + (alternatives or "the same with all"), width, 4)
    return lines


def _tried(page, width):
    """Return the steps of the audit, and what did not run."""
    lines = []
    for s in page["log"]:
        counts = f"{s['found']} of {s['tested']} found" if s["tested"] != "–" else "–"
        lines += _item("- ", f"{s['name']} ({s['role']}): {s['verdict']}; {counts}", width, 4)
    lines += wrap(page["log_left_out"], width) if page["log_left_out"] else []
    for n in page["not_run"]:
        lines += _item("- ", f"{n['detector']} did not run: {n['reason']}", width, 4)
    return lines


def _code(code, width):
    """Return the code; a line of it that is too wide goes on in the next one."""
    lines = code.rstrip("\n").split("\n") if code.strip() else []
    broken = _broken_command if code.startswith("skdisc ") else _broken_python
    return [part for line in lines for part in _fitting(line, width, broken)]


def _fitting(line, width, broken):
    """Return a line as it is, or its parts; where it has none that fit, where the code is."""
    parts = [line] if columns(line) <= width else broken(line, width)
    if any(columns(part) > width for part in parts):
        return wrap("# A line is too wide for this text; it is in the JSON document.", width)
    return parts


def _broken_command(line, width):
    """Return the lines of a word of a command: the shell joins what ends with a backslash."""
    end = " \\" * line.endswith(" \\")
    parts, part, quote = [], "", ""
    for character in line.removesuffix(end) if end else line:
        if columns(part + character + quote) > width - 2:
            parts.append(f"{part}{quote}\\")
            part = quote
        part += character
        if character in "'\"" and quote in ("", character):
            quote = "" if quote else character
    return [*parts, part + end]


def _broken_python(line, width):
    """Return the lines of arguments in brackets, broken between their parts."""
    strings = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
    parts, part = [], ""
    for piece in re.findall(rf"(?:{strings}|[^'\" ])+ ?| +|.", line):
        if part.strip() and columns((part + piece).rstrip()) > width:
            parts.append(part.rstrip())
            part = " " * (len(line) - len(line.lstrip()))
        part += piece
    return [*parts, part]
