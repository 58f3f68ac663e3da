"""What a detector returns: collections of findings, which are stored as columns, in a Discovery."""

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import pandas as pd

from skdisc import _stats
from skdisc._results._case_findings import CaseFindings
from skdisc._results._finding import STATISTICS, Finding
from skdisc._results._group_findings import ContextFindings, GroupFindings
from skdisc._results._judgment import Judgment
from skdisc._space._items import Items
from skdisc._verdicts._answer import Answer
from skdisc._verdicts._candidates import Candidates

__all__ = [
    "ESTIMATES",
    "STATISTICS",
    "CaseFindings",
    "ContextFindings",
    "Discovery",
    "Finding",
    "GroupFindings",
    "feature_names",
    "findings_from_dict",
    "share_estimate",
]


def feature_names(columns, results):
    """Map feature columns to their names in a table; names of results get the suffix _feature."""
    return {c: f"{c}_feature" if c in results else c for c in columns}


ESTIMATES = ["name", "estimate", "ci_low", "ci_high", "n"]  # columns of `Discovery.estimates`


def share_estimate(name, hits, n, significance):
    """Return a share with Wilson's interval, as a row of `Discovery.estimates`; NaN if n is 0."""
    low, high = _stats.wilson(hits, n, significance)
    return name, hits / n if n else np.nan, float(low), float(high), n


def findings_from_dict(data):
    """Return findings from a dict made by their `to_dict`."""
    kinds = {c.kind: c for c in (GroupFindings, ContextFindings, CaseFindings)}
    return kinds[data["kind"]].from_dict(data)


@dataclass
class Discovery:
    """The value of `_discover` and `_remeasure`: the part of an `AuditResult` made by a detector.

    Parameters
    ----------
    findings : GroupFindings or CaseFindings
    measure : str
        The measure of the effects.
    n_tested : int
        TSN: number of distinct inputs, or of candidate subgroups, tested.
    n_found : int
        DSN: number of these found discriminatory.
    by_value : dict
        Maps ``"attr=value"`` to (tested, found), for each protected value.
    estimates : DataFrame, optional
        Rates with their intervals: name, estimate, ci_low, ci_high, n.
    excluded : DataFrame, optional
        Groups that could not be tested: subject, n, reason.
    tables : dict of DataFrame
        Further tables, for plots and reports.
    notes : list of str
        Notes and caveats for the reader.
    versus : str, default="everyone"
        The comparison group of the effects.
    answer : Answer, optional
        What the verdict rests on, for questions with candidates.
    nodes_visited : int, optional
        Number of patterns, or draws, that a search visited.
    candidates : Candidates, optional
        The candidates of the question, from which the verdict follows; results do not keep them.
    items : Items, optional
        The items of the rows that measured the findings; results do not keep them.
    judgment : Judgment, optional
        The verdict and its reason; by default those of the answer.

    Examples
    --------
    "No disparity found" needs candidates whose gaps are bounded by the gap that matters:

    >>> from skdisc.extending import AuditResult, Candidates, GroupFindings, Judgment, decide
    >>> nothing = GroupFindings([], pd.DataFrame({"effect": []}), ["sex"], [])
    >>> for n in (200, 2000):
    ...     women_and_men = Candidates.of_rates([n * 0.4], [n], [n * 0.41], [n], name=["women"])
    ...     answer = decide(women_and_men, relevant_gap=0.09)
    ...     judgment = Judgment(answer.verdict, answer.reason)
    ...     found = Discovery(nothing, "rate", 1, 0, answer=answer, judgment=judgment)
    ...     run = {"n_samples": 2 * n, "n_queries": 0, "stopped_by": None, "total_time": 0.1}
    ...     about = {"params": {}, "audited": "labels", "pos_label": ["yes"], "protected": ["sex"]}
    ...     print(AuditResult("Mine", **about, **run, discovery=found).verdict)
    insufficient evidence
    no disparity found
    """

    findings: GroupFindings | CaseFindings
    measure: str
    n_tested: int
    n_found: int
    by_value: dict = field(default_factory=dict)
    estimates: pd.DataFrame | None = None
    excluded: pd.DataFrame | None = None
    tables: dict = field(default_factory=dict)
    notes: list = field(default_factory=list)
    versus: str = "everyone"
    judgment: Judgment | None = None
    answer: Answer | None = None
    nodes_visited: int | None = None
    candidates: Candidates | None = None
    items: Items | None = None

    def in_agreement(self) -> Self:
        """Return the Discovery with the verdict and reason of the judgment in its answer, too."""
        if self.answer is None or self.judgment is None:
            return self
        answer = replace(self.answer, verdict=self.judgment.verdict, reason=self.judgment.reason)
        return replace(self, answer=answer)
