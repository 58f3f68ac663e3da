"""The numbers of a document as a flat dict, for trackers of experiments."""

import re

from skdisc._results._judgment import FOUND

_LONGEST = 200  # characters of a name; MLflow takes 250
_NOT_IN_NAMES = re.compile(r"[^\w\-.]+")
_ESTIMATES = ("effect", "ci_low", "ci_high", "bound", "p_value", "p_adjusted", "people")


def metrics(document):
    """Return the numbers of a document by name; numbers that are not known are left out.

    Names have letters, digits and ``_-.`` only, and about 200 characters at most.
    """
    about, findings = document["about"], [row for row in document["evidence"] if row["found"]]
    numbers = {
        "exit_code": document["verdict"]["exit_code"],
        "n_rows": about["n_rows"],
        "seconds": about["seconds"],
        "n_verdicts": len(document["verdicts"]),
        "n_disparities": sum(row["verdict"] == FOUND for row in document["verdicts"]),
        "n_findings": len(findings),
        "largest_effect": max((abs(row["effect"] or 0) for row in findings), default=0),
    }
    named = list(numbers.items())
    for row in document["verdicts"]:
        start = f"{row['attribute']}.{row['null']}"
        named.append((f"{start}.disparity_found", row["verdict"] == FOUND))
        named += [(f"{start}.{name}", row[name]) for name in _ESTIMATES]
    for row in document["groups"]:
        start = f"{row['measure']}.{_NOT_IN_NAMES.sub('_', row['group']).strip('_')}"
        named += [(f"{start}.{name}", row[name]) for name in ("rate", "gap")]
    return _unique((name, float(value)) for name, value in named if value is not None)


def _unique(named):
    """Return a dict of names that are allowed, each different from the others."""
    unique = {}
    for name, value in named:
        safe = _NOT_IN_NAMES.sub("_", name)[:_LONGEST].strip("._") or "_"
        number, free = 2, safe
        while free in unique:
            free, number = f"{safe}_{number}", number + 1
        unique[free] = value
    return unique
