"""An audit as Markdown."""

import re
from functools import singledispatch
from html import escape

from skdisc.report._audit_page import _blocks

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~$@]|:(?=/)|(?<=www)\.)")
_START = re.compile(r"^(\d*)([-=.])(?=[\s=-]|$)")  # a list, a rule or a heading


def audit_to_markdown(document: dict, language: str = "en") -> str:
    """Return an audit as Markdown, with every text of the document escaped.

    Parameters
    ----------
    document : dict
        The document of an audit (`AuditReport.to_dict`).
    language : {"en", "de", "fr"}, default="en"
        Of figures of pay and of the first page; all that stands below is in English.
    """
    written = map(_markdown, _blocks.blocks(document, language))
    return "\n\n".join(filter(None, written)) + "\n"


def _text(text):
    """Escape what Markdown or HTML interpret, links without brackets and mentions included."""
    escaped = _SPECIAL.sub(r"\\\1", escape(str(text), quote=False))
    return _START.sub(r"\1\\\2", escaped)


@singledispatch
def _markdown(block):
    return ""


@_markdown.register
def _(heading: _blocks.Heading):
    return f"{'#' * heading.level} {_text(heading.text)}"


@_markdown.register
def _(state: _blocks.StateLine):
    return f"**{_text(state.attribute)}: {_text(state.word)}**"


@_markdown.register
def _(sentences: _blocks.Sentences):
    stressed = f"**{_text(sentences.stressed)}** " if sentences.stressed else ""
    return f"{stressed}{_text(sentences.text)}".rstrip()


@_markdown.register
def _(remark: _blocks.Remark):
    return f"> {_text(remark.text)}"


@_markdown.register
def _(items: _blocks.Bullets):
    return "\n".join(f"- {_text(text)}" for text in items.texts)


@_markdown.register
def _(table: _blocks.Grid):
    lines = [list(map(_text, table.columns)), ["---"] * len(table.columns)]
    lines += [[_text(cell) or "–" for cell in row] for row in table.rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


@_markdown.register
def _(code: _blocks.Code):
    # The fence is longer than any inside the code.
    inside = max(map(len, re.findall(r"`+", code.text)), default=0)
    fence = "`" * max(3, inside + 1)
    return f"{fence}{code.language}\n{code.text}\n{fence}"
