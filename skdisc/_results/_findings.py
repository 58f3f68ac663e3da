"""Collections of findings, which are stored as columns and returned as objects."""

from skdisc._results._case_findings import CaseFindings
from skdisc._results._finding import STATISTICS, Finding
from skdisc._results._group_findings import ContextFindings, GroupFindings

__all__ = [
    "STATISTICS",
    "CaseFindings",
    "ContextFindings",
    "Finding",
    "GroupFindings",
    "feature_names",
    "findings_from_dict",
]


def feature_names(columns, results):
    """Map feature columns to their names in a table; names of results get the suffix _feature."""
    return {c: f"{c}_feature" if c in results else c for c in columns}


def findings_from_dict(data):
    """Return findings from a dict made by their `to_dict`."""
    kinds = {c.kind: c for c in (GroupFindings, ContextFindings, CaseFindings)}
    return kinds[data["kind"]].from_dict(data)
