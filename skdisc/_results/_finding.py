"""Finding, and the base class of collections of findings."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from skdisc._results._notebook import finding_to_text, findings_to_html, findings_to_text
from skdisc._utils._validation import plain

STATISTICS = ("effect", "ci_low", "ci_high", "p_value", "p_adjusted", "test", "support")


@dataclass(frozen=True, repr=False)
class Finding:
    """One finding.

    Parameters
    ----------
    rank : int
        Rank of the finding, from 1.
    subject : Subgroup or Case
        The group or the person that the finding is about.
    effect : float
        Subject minus all rows (subgroup), or subject minus counterpart (case), on the scale of the
        measure.
    ci_low, ci_high, p_value, p_adjusted : float
        Interval and p-values of the effect; NaN for a case without sampling error.
    test : str
        The test behind the p-value.
    support : int
        Number of people in the group, or behind the case.

    Examples
    --------
    >>> from skdisc.datasets import make_loan
    >>> from skdisc.subgroup import DivExplorer
    >>> X, y = make_loan(1000, random_state=0, return_X_y=True)
    >>> finding = DivExplorer(protected="gender").fit(X, y).result_[0]
    >>> isinstance(finding, Finding), finding.rank, str(finding.subject)
    (True, 1, "gender = 'female'")
    """

    rank: int
    subject: object
    effect: float
    ci_low: float
    ci_high: float
    p_value: float
    p_adjusted: float
    test: str
    support: int

    def __repr__(self):
        return f"Finding {self.rank}: {finding_to_text(self)}"

    @property
    def direction(self) -> int:
        """Sign of the effect: -1, 0 or 1; 0 if the effect is undefined."""
        return int(np.sign(np.nan_to_num(self.effect)))


class Findings:
    """Base of collections of findings: length, indexing, and a table with one row per finding."""

    def __len__(self):
        return len(self.table)

    def __getitem__(self, i):
        if isinstance(i, slice):
            return [self[j] for j in range(len(self))[i]]
        row = self.table.iloc[i]
        return Finding(
            range(len(self))[i] + 1,
            self.subject(i),
            **{s: plain_or_nan(row[s]) for s in STATISTICS},
        )

    def __repr__(self):
        return findings_to_text(self)

    def _repr_html_(self):
        return findings_to_html(self)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per finding: rank, subject, statistics, and further columns."""
        frame = self.table.copy()
        frame.insert(0, "rank", np.arange(1, len(frame) + 1))
        frame.insert(1, "subject", objects([str(self.subject(i)) for i in range(len(self))]))
        return frame


def objects(values):
    """Return values as a Series of objects."""
    return pd.Series(list(values), dtype=object)


def plain_or_nan(value):
    """Return a scalar as a Python object, and a missing value as NaN."""
    value = plain(value)
    return math.nan if value is None else value  # the same NaN object, so findings compare equal
