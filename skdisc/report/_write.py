"""Write a report; its ending says in which form."""

import json
from pathlib import Path

from skdisc._utils._io import write_text
from skdisc.report._html import to_html
from skdisc.report._markdown import to_markdown


def _to_json(results):
    results = results if isinstance(results, (list, tuple)) else [results]
    return json.dumps([r.to_dict() for r in results], indent=1, allow_nan=False)


FORMATS = {".html": to_html, ".md": to_markdown, ".json": _to_json}


def check_format(path):
    """Raise ValueError unless the ending of `path` names a form of report."""
    if Path(path).suffix.lower() not in FORMATS:
        raise ValueError(f"A report ends in {', '.join(FORMATS)}; got {str(path)!r}.")


def write(results, path):
    """Write one result, or several, to a file: .html, .md or .json (a list of results).

    The file is written whole or not at all.

    Parameters
    ----------
    results : AuditResult or sequence of AuditResult
    path : str or Path

    Raises
    ------
    ValueError
        If the ending is not known, or the file cannot be written.
    """
    check_format(path)
    write_text(path, FORMATS[Path(path).suffix.lower()](results))
