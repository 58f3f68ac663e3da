"""The summary as one self-contained HTML page."""

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files

from skdisc import __version__
from skdisc._results._audit_result import AuditResult
from skdisc._utils._optional import require
from skdisc._utils._shared_sections import with_sections
from skdisc.report._summary import CAVEAT, RESULTS, as_list, summarize
from skdisc.report._svg import intervals_svg, sizes_svg
from skdisc.report._together import over_all


@with_sections(RESULTS)
def to_html(
    results: AuditResult | list[AuditResult], max_rows: int = 20, *, show_people: bool = False
) -> str:
    """Return one or several results as a single HTML page.

    The page loads no script, font or picture, and escapes every name and value from the data. Its
    only script sorts the findings; the page's content security policy names the hash of that
    script, so browsers run no other.

    Raises
    ------
    ImportError
        If the extra ``report`` (jinja2) is not installed.

    Examples
    --------
    >>> from skdisc.datasets import make_loan
    >>> from skdisc.group import GroupDisparity
    >>> X, y = make_loan(500, random_state=0, return_X_y=True)
    >>> page = to_html(GroupDisparity(protected="gender").fit(X, y).result_)
    >>> page.splitlines()[0]
    '<!DOCTYPE html>'
    """
    markup = require("markupsafe", extra="report", purpose="The HTML report").Markup
    results = as_list(results)
    sections = [summarize(r, max_rows, show_people) for r in results]
    for number, section in enumerate(sections, 1):
        picture, sizes = section["intervals"], section["sizes"]
        section["picture"] = markup(intervals_svg(**picture)) if picture["rows"] else None
        link = f"#s{number}f{{}}"
        section["scatter"] = markup(sizes_svg(**sizes, link=link)) if sizes["rows"] else None
    return _page(sections, "Audit report", CAVEAT, over_all(results))


def page_of(sections: list[dict], title: str, caveat: str) -> str:
    """Return sections, as `summarize` makes them, with pictures of SVG text, as a page.

    Raises
    ------
    ImportError
        If the extra ``report`` (jinja2) is not installed.
    """
    markup = require("markupsafe", extra="report", purpose="The HTML report").Markup
    drawn = [s | {"picture": s["picture"] and markup(s["picture"])} for s in sections]
    return _page(drawn, title, caveat)


def _page(sections, title, caveat, together=""):
    """Render the page of sections whose pictures are marked as safe."""
    markup = require("markupsafe", extra="report", purpose="The HTML report").Markup
    script = template_text("sort.js")
    return _template().render(
        sections=sections,
        script=markup(script),
        policy=hash_of(script),
        title=title,
        together=together,
        caveat=caveat,
        version=__version__,
    )


def hash_of(text):
    """Return the hash of an element as a content security policy has it."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def template_text(name):
    """Return the text of a template file."""
    return files("skdisc.report").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _template():
    """Return the compiled template of the page."""
    return environment_for("The HTML report").from_string(template_text("report.html"))


def environment_for(purpose):
    """Return a jinja2 environment that escapes all texts; `purpose` is named where it lacks."""
    jinja2 = require("jinja2", extra="report", purpose=purpose)
    return jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
