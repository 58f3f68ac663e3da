"""Rows of the table that `python -m benchmarks` prints at its end, and doc/performance.md has."""

import sys
from pathlib import Path

HEAD = "| What | Theirs | Ours | Ratio | Script |\n|---|---|---|---|---|"


def compared(what, theirs, ours, aim=None):
    """Print a row: seconds of theirs and ours, and whether the ratio is at least the aim."""
    ratio = theirs / ours
    told = f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}"
    if aim is not None:
        told += f" (aim {aim:g}: {'met' if ratio >= aim else 'missed'})"
    script = Path(sys.argv[0]).name
    print(f"| {what} | {_seconds(theirs)} | {_seconds(ours)} | {told} | `{script}` |", flush=True)


def alone(what, seconds, gigabytes, aim):
    """Print a row of ours without another program; `aim`: seconds and gigabytes, None for no aim.

    `gigabytes` is None where memory was not measured.
    """
    most_seconds, most_gigabytes = aim
    has_memory = most_gigabytes is not None
    is_met = seconds <= most_seconds and not (has_memory and gigabytes > most_gigabytes)
    ours = _seconds(seconds) + (f", {gigabytes:.2g} GB" if has_memory else "")
    most = f"{most_seconds:g} s" + (f", {most_gigabytes:g} GB" if has_memory else "")
    print(
        f"| {what} | – | {ours} | – (aim {most}: {'met' if is_met else 'missed'}) | "
        f"`{Path(sys.argv[0]).name}` |",
        flush=True,
    )


def is_row(line):
    """Return whether a line that a script printed is such a row."""
    return line.startswith("| ") and line.rstrip().endswith(".py` |")


def _seconds(value):
    return f"{value:.3g} s" if value >= 0.001 else f"{1e6 * value:.3g} us"
