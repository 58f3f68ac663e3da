"""An audit as one self-contained HTML page."""

import re
from functools import cache
from html import escape

from skdisc._utils._optional import require
from skdisc.report._audit_page._embedded import embedded
from skdisc.report._audit_page._pictures import axis
from skdisc.report._audit_page._resolution import resolution_svg
from skdisc.report._audit_page._strips import STATES, bar_strip, interval_strip, ticks
from skdisc.report._audit_page._view import view
from skdisc.report._audit_page._words import JOINT
from skdisc.report._first_page import STATES as STATES_OF_COLUMNS
from skdisc.report._html import environment_for, hash_of, template_text

CLASSES = dict(
    zip(
        STATES_OF_COLUMNS,
        ("found", "open", "accounted", "unsure", "limited", "nothing"),
        strict=True,
    )
)
LONGEST_WORD = 24  # characters of a word that may not be broken
_AFTER = re.compile(r"(?<=[_/.,:;=|&@])(?=[^\s])")


def audit_to_html(document: dict, language: str = "en") -> str:
    """Return an audit as a single HTML page.

    The page loads no script, font or picture, escapes every text of the document, and is readable
    without scripts; its own script sorts and filters tables. The content security policy names the
    hashes of script and style, so browsers run and apply no other. Equal documents give equal
    pages. The document is in the page, compressed, so that `skdisc verify` can check it.

    Parameters
    ----------
    document : dict
        The document of an audit (`AuditReport.to_dict`).
    language : {"en", "de", "fr"}, default="en"
        Of figures of pay and of the first page; all that stands below is in English.

    Raises
    ------
    ImportError
        If the extra ``report`` (jinja2) is not installed.
    """
    markup = require("markupsafe", extra="report", purpose="The HTML page").Markup
    style, script = template_text("audit.css"), template_text("audit.js")
    page = view(document, language)
    shown = page["verdicts"], page["findings"]
    axes = [axis([v for row in rows for v in row["numbers"] or ()]) for rows in shown]
    return _template().render(
        **page,
        verdict_axis=axes[0],
        finding_axis=axes[1],
        document=embedded(document),
        states=STATES,
        classes=CLASSES,
        joint=JOINT,
        style=markup(style),
        script=markup(script),
        style_hash=hash_of(style),
        script_hash=hash_of(script),
    )


def soft(text):
    """Return a text escaped, with places where its long words may break."""
    words = str(text).split(" ")
    parts = (_breakable(word) if len(word) > LONGEST_WORD else [word] for word in words)
    return " ".join("<wbr>".join(map(escape, word)) for word in parts)


def _breakable(word):
    """Return the pieces of a long word."""
    pieces = []
    for part in _AFTER.split(word):
        if pieces and len(pieces[-1]) + len(part) <= LONGEST_WORD // 2:
            pieces[-1] += part
        else:
            pieces += [part[i : i + LONGEST_WORD] for i in range(0, len(part), LONGEST_WORD)]
    return pieces


@cache
def _template():
    """Return the compiled template of the page."""
    environment = environment_for("The HTML page")
    markup = require("markupsafe", extra="report", purpose="The HTML page").Markup

    def as_markup(function):
        """Return a function whose text the template does not escape once more."""
        return lambda *args, **kwargs: markup(function(*args, **kwargs))

    drawn = {"strip": interval_strip, "bar": bar_strip, "ticks": ticks}
    drawn["resolution"] = resolution_svg
    environment.globals |= {name: as_markup(function) for name, function in drawn.items()}
    environment.filters["soft"] = as_markup(soft)
    return environment.from_string(template_text("audit.html"))
