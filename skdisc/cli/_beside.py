"""Commands beside `skdisc audit`: what stands before an audit, and between two."""

import argparse
from pathlib import Path

from skdisc.auditing import AuditReport


def add_compare(commands: argparse._SubParsersAction) -> None:
    """Add the command that compares two audits."""
    compare = commands.add_parser(
        "compare",
        help="compare two audits",
        epilog="exit codes: 0 no disparity that was not found before, 1 a disparity, 2 usage",
    )
    compare.set_defaults(run=_compare)
    compare.add_argument("before", metavar="BEFORE", help="report of an audit, .json")
    compare.add_argument("after", metavar="AFTER", help="report of a later audit, .json")


def _compare(arguments):
    """Compare two audits."""
    before, after = (_read(path) for path in (arguments.before, arguments.after))
    comparison = before.compare(after)
    print(comparison.to_text())
    return int(comparison.found_anew)


def _read(path):
    """Return the report in a file."""
    try:
        return AuditReport.from_json(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path!r} cannot be read: {error}.") from error
    except (ValueError, AttributeError) as error:
        raise ValueError(f"{path!r} is not the report of an audit: {error}") from error
