"""Write a report to a file, in the format of its extension."""

import json
from pathlib import Path

from skdisc._results._audit_result import AuditResult
from skdisc._utils._files import check_extension, write_text
from skdisc._utils._types import FilePath
from skdisc.report._html import to_html
from skdisc.report._markdown import to_markdown
from skdisc.report._summary import as_list


def _to_json(results, *, show_people):
    """Return results as a JSON list."""
    shown = [r if show_people else r.without_people() for r in as_list(results)]
    return json.dumps([r.to_dict() for r in shown], indent=1, allow_nan=False)


FORMATS = {".html": to_html, ".md": to_markdown, ".json": _to_json}


def check_format(path: FilePath) -> None:
    """Check that the extension of `path` is that of a report.

    Parameters
    ----------
    path : str or Path

    Raises
    ------
    ValueError
        If the extension is not .html, .md or .json.

    Examples
    --------
    >>> check_format("audit.html")
    """
    check_extension(path, FORMATS)


def write(
    results: AuditResult | list[AuditResult], path: FilePath, *, show_people: bool = False
) -> None:
    """Write one or several results to a file: .html, .md or .json (a list of results).

    The file is either written completely or not at all.

    Parameters
    ----------
    results : AuditResult or list of AuditResult
    path : str or Path
    show_people : bool, default=False
        Whether rows of people, and groups of fewer than 10, are described.

    Raises
    ------
    ValueError
        If the extension is unknown, or the file cannot be written.
    ImportError
        If the path ends in .html and the extra ``report`` is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skdisc.datasets import make_loan
    >>> from skdisc.group import GroupDisparity
    >>> X, y = make_loan(500, random_state=0, return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(GroupDisparity(protected="gender").fit(X, y).result_, Path(folder) / "result.md")
    ...     print((Path(folder) / "result.md").read_text(encoding="utf-8").splitlines()[0])
    # Audit report
    """
    check_format(path)
    write_text(path, FORMATS[Path(path).suffix.lower()](results, show_people=show_people))
