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
    "feature_names",
    "findings_from_dict",
]


def feature_names(columns, results):
    """Return names of feature columns: one that is also a result gets ``_feature`` behind it."""
    return {c: f"{c}_feature" if c in results else c for c in columns}


def findings_from_dict(data):
    """Return the findings that `to_dict` wrote."""
    kinds = {c.kind: c for c in (GroupFindings, ContextFindings, CaseFindings)}
    return kinds[data["kind"]].from_dict(data)
