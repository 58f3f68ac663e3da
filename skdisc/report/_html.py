"""The summary as one self-contained HTML page."""

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files

from skdisc import __version__
from skdisc._utils._optional import require
from skdisc.report._summary import CAVEAT, summarize
from skdisc.report._svg import intervals_svg, sizes_svg


def to_html(results, max_rows=20):
    """Return one result, or several, as an HTML page in one file.

    No script, font or picture comes from elsewhere, and every name and value from the data is
    escaped. The one script on the page sorts findings; its hash in the page's policy keeps
    browsers from running any other.

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
    for number, section in enumerate(sections, 1):
        picture, sizes = section["intervals"], section["sizes"]
        section["picture"] = markup(intervals_svg(**picture)) if picture["rows"] else None
        link = f"#s{number}f{{}}"
        section["scatter"] = markup(sizes_svg(**sizes, link=link)) if sizes["rows"] else None
    script = _file("sort.js")
    policy = f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}"
    page = {"sections": sections, "script": markup(script), "policy": policy}
    return _template().render(**page, caveat=CAVEAT, version=__version__)


def _file(name):
    return files("skdisc.report").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _template():
    jinja2 = require("jinja2", extra="report", purpose="The HTML report")
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(_file("report.html"))
