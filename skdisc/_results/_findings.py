"""Findings: stored in columns, handed out as objects."""

from skdisc._results._case_findings import CaseFindings
from skdisc._results._finding import STATISTICS, Finding
from skdisc._results._group_findings import ContextFindings, GroupFindings

__all__ = [
    "STATISTICS",
    "CaseFindings",
    "ContextFindings",
    "Finding",
    "GroupFindings",
    "findings_from_dict",
]


def findings_from_dict(data):
    """Return the findings that `to_dict` wrote."""
    kinds = {c.kind: c for c in (GroupFindings, ContextFindings, CaseFindings)}
    return kinds[data["kind"]].from_dict(data)
