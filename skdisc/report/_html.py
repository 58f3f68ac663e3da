"""The summary as one self-contained HTML page."""

from functools import cache
from importlib.resources import files

from skdisc import __version__
from skdisc._optional import require
from skdisc.report._summary import CAVEAT, summarize
from skdisc.report._svg import intervals_svg


def to_html(results, max_rows=20):
    """Return one result, or several, as an HTML page in one file.

    No script, font or picture comes from elsewhere, and every name and value from the data is
    escaped.

    Parameters
    ----------
    results : AuditResult or sequence of AuditResult
    max_rows : int, default=20
        Most findings shown of each.

    Returns
    -------
    str

    Raises
    ------
    ImportError
        Without the extra ``report`` (jinja2).
    """
    results = results if isinstance(results, (list, tuple)) else [results]
    markup = require("markupsafe", extra="report", purpose="The HTML report").Markup
    sections = [summarize(r, max_rows) for r in results]
    for section in sections:
        picture = section["intervals"]
        section["picture"] = markup(intervals_svg(**picture)) if picture["rows"] else None
    return _template().render(sections=sections, caveat=CAVEAT, version=__version__)


@cache
def _template():
    jinja2 = require("jinja2", extra="report", purpose="The HTML report")
    text = files("skdisc.report").joinpath("templates/report.html").read_text(encoding="utf-8")
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(text)
