"""Findings: stored in columns, handed out as objects."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from skdisc import _keys
from skdisc._case import Case
from skdisc._column import plain
from skdisc._frames import frame_from_dict, frame_to_dict
from skdisc._subgroup import Subgroup

STATISTICS = ("effect", "ci_low", "ci_high", "p_value", "p_adjusted", "test", "support")


@dataclass(frozen=True)
class Finding:
    """One finding.

    Parameters
    ----------
    rank : int
        1 is the first.
    subject : Subgroup or Case
        Whom it is about.
    effect : float
        Subject minus everyone (subgroup), or subject minus counterpart (case), on the scale of
        the measure.
    ci_low, ci_high, p_value, p_adjusted : float
        Interval and p-values of the effect; NaN for a case, which has no sampling error.
    test : str
        The test behind the p-value.
    support : int
        Number of people it is about.
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

    @property
    def direction(self):
        """Sign of the effect: -1, 0 or 1."""
        return int(np.sign(self.effect))


class _Findings:
    """What both kinds share: a length, indexing, and one tidy row per finding."""

    def __len__(self):
        return len(self.table)

    def __getitem__(self, i):
        row = self.table.iloc[i]
        return Finding(
            range(len(self))[i] + 1,
            self.subject(i),
            **{s: plain_or_nan(row[s]) for s in STATISTICS},
        )

    def to_frame(self):
        """Return one row per finding: rank, subject, the statistics, the method's own columns."""
        frame = self.table.copy()
        frame.insert(0, "rank", np.arange(1, len(frame) + 1))
        frame.insert(
            1, "subject", pd.Series([str(self.subject(i)) for i in range(len(self))], dtype=object)
        )
        return frame


def plain_or_nan(value):
    """Return a scalar as a Python object, a missing one as NaN."""
    value = plain(value)
    return float("nan") if value is None else value


class GroupFindings(_Findings):
    """Findings about subgroups.

    Parameters
    ----------
    subgroups : sequence of Subgroup
    table : DataFrame
        One row per finding with the columns of `STATISTICS` and the method's own.
    columns : sequence
        Names of the columns of X.
    keys : sequence of str
        Text keys of the subgroups.
    """

    kind = "subgroup"

    def __init__(self, subgroups, table, columns, keys):
        self.subgroups, self.keys = tuple(subgroups), tuple(keys)
        self.table, self.columns = table.reset_index(drop=True), tuple(columns)

    def subject(self, i):
        """Return the i-th subgroup."""
        return self.subgroups[i]

    def frame(self):
        """Return one row per group: the condition on each column, or None; key, outcome, size."""
        conditions = [{p.column: str(p) for p in g.predicates} for g in self.subgroups]
        frame = pd.DataFrame(
            {c: pd.Series([d.get(c) for d in conditions], dtype=object) for c in self.columns}
        )
        frame["subgroup_key"] = pd.Series(self.keys, dtype=object)
        own = [c for c in self.table.columns if c != "outcome"]
        frame["outcome"], frame["diff_outcome"] = self.table["outcome"], self.table["effect"]
        frame["size"] = self.table["support"]
        return frame.join(self.table[own].drop(columns=["effect", "support"]))

    def to_dict(self):
        """Return plain JSON types; `findings_from_dict` undoes it."""
        return {
            "kind": self.kind,
            "subgroups": [g.to_dict() for g in self.subgroups],
            "table": frame_to_dict(self.table),
            "columns": [plain(c) for c in self.columns],
            "keys": list(self.keys),
        }

    @classmethod
    def from_dict(cls, data):
        """Undo `to_dict`."""
        groups = [Subgroup.from_dict(g) for g in data["subgroups"]]
        return cls(groups, frame_from_dict(data["table"]), data["columns"], data["keys"])


class CaseFindings(_Findings):
    """Findings about individuals.

    Parameters
    ----------
    original, altered : DataFrame
        The row of each subject, and of its counterpart.
    outcome, altered_outcome : ndarray of float, shape (n_cases,)
    space : FeatureSpace or None
        Makes the text keys when they are first asked for; None if `keys` are given.
    keys : tuple of two sequences of str, optional
    row : ndarray of int, optional
        Positions of the subjects among the rows audited, if that is where they come from.
    """

    kind = "case"

    def __init__(
        self, original, altered, outcome, altered_outcome, space=None, keys=None, row=None
    ):
        self.original, self.altered = (
            original.reset_index(drop=True),
            altered.reset_index(drop=True),
        )
        self.outcome, self.altered_outcome = (
            np.asarray(outcome, float),
            np.asarray(altered_outcome, float),
        )
        self._space, self._given_keys = space, keys
        self.row = None if row is None else np.asarray(row)

    @cached_property
    def table(self):
        """One row per case: the gap and its support; a single case has no sampling error."""
        table = pd.DataFrame({"effect": self.outcome - self.altered_outcome})
        table[["ci_low", "ci_high", "p_value", "p_adjusted"]] = np.nan
        table["test"] = pd.Series(["none (fixed model)"] * len(table), dtype=object)
        table["support"] = 1
        if self.row is not None:
            table["row"] = self.row
        return table

    @cached_property
    def keys(self):
        """Text keys of the subjects and of their counterparts, two lists of str."""
        if self._given_keys is not None:
            return self._given_keys
        return self._space.indv_keys(self.original), self._space.indv_keys(self.altered)

    def subject(self, i):
        """Return the i-th case."""
        before, after = (
            {c: plain(f[c].iloc[i]) for c in f.columns} for f in (self.original, self.altered)
        )
        return Case(before, after, float(self.outcome[i]), float(self.altered_outcome[i]))

    def frame(self):
        """Return two rows per case, subject first: features, keys, outcome, difference."""
        n = len(self.outcome)
        order = np.arange(2 * n).reshape(2, n).T.ravel()
        frame = (
            pd.concat([self.original, self.altered], ignore_index=True)
            .iloc[order]
            .reset_index(drop=True)
        )
        mine, theirs = self.keys
        frame["indv_key"] = pd.Series([*mine, *theirs], dtype=object).iloc[order].to_numpy()
        frame["outcome"] = np.concatenate([self.outcome, self.altered_outcome])[order]
        couples = [_keys.couple(a, b) for a, b in zip(mine, theirs, strict=True)]
        frame["couple_key"] = pd.Series(couples, dtype=object).repeat(2).to_numpy()
        frame["diff_outcome"] = np.repeat(self.outcome - self.altered_outcome, 2)
        frame["case_id"] = np.repeat(np.arange(n), 2)
        return frame

    def to_dict(self):
        """Return plain JSON types; `findings_from_dict` undoes it."""
        return {
            "kind": self.kind,
            "original": frame_to_dict(self.original),
            "altered": frame_to_dict(self.altered),
            "outcome": self.outcome.tolist(),
            "altered_outcome": self.altered_outcome.tolist(),
            "keys": [list(k) for k in self.keys],
            "row": None if self.row is None else self.row.tolist(),
        }

    @classmethod
    def from_dict(cls, data):
        """Undo `to_dict`."""
        frames = frame_from_dict(data["original"]), frame_from_dict(data["altered"])
        return cls(
            *frames, data["outcome"], data["altered_outcome"], keys=data["keys"], row=data["row"]
        )


def findings_from_dict(data):
    """Return the findings that `to_dict` wrote."""
    return {"subgroup": GroupFindings, "case": CaseFindings}[data["kind"]].from_dict(data)
