"""CaseFindings: findings about single people."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd

from skdisc._results._case import Case
from skdisc._results._finding import Findings, objects
from skdisc._results._shared_values import SharedValues
from skdisc._space import _keys
from skdisc._space._feature_space import FeatureSpace
from skdisc._utils._json import frame_from_dict, frame_to_dict
from skdisc._utils._types import ArrayLike
from skdisc._utils._validation import plain


class CaseFindings(Findings):
    """Findings about individuals.

    Parameters
    ----------
    original, altered : DataFrame, or callable that returns it
        The rows of the subjects and of their counterparts; a callable is evaluated when needed.
    outcome, altered_outcome : ndarray of float, shape (n_cases,)
    space : FeatureSpace or None
        Makes the text keys when they are needed; None if `keys` are passed.
    keys : tuple of two sequences of str, optional
    row : ndarray of int, optional
        Positions of the subjects among the audited rows, if they are audited rows.
    statistics : DataFrame, optional
        Statistics of the cases that replace the default "no sampling error", and further columns.
    of_people : ndarray of bool, shape (n_cases,), optional
        Which inputs that a search made up are somebody's row (see `of_people`).

    Examples
    --------
    >>> rows = pd.DataFrame({"sex": ["F"], "age": [30]})
    >>> space = FeatureSpace.from_domains({"sex": ["F", "M"], "age": (18, 65)}, protected=["sex"])
    >>> found = CaseFindings(rows, rows.assign(sex="M"), [0.0], [1.0], space=space)
    >>> print(found[0].subject)
    sex 'F' -> 'M': outcome 0 -> 1
    """

    kind = "case"

    def __init__(
        self,
        original: pd.DataFrame | Callable,
        altered: pd.DataFrame | Callable,
        outcome: ArrayLike,
        altered_outcome: ArrayLike,
        space: FeatureSpace | None = None,
        keys: tuple | list | None = None,
        row: ArrayLike | None = None,
        statistics: pd.DataFrame | None = None,
        of_people: ArrayLike | None = None,
    ) -> None:
        self._ends = original, altered
        self.outcome = np.asarray(outcome, dtype=float)
        self.altered_outcome = np.asarray(altered_outcome, dtype=float)
        self._space, self._given_keys = space, keys
        self.row = None if row is None else np.asarray(row, dtype=np.int64)
        self.statistics = None if statistics is None else statistics.reset_index(drop=True)
        self.of_people = None if of_people is None else np.asarray(of_people, dtype=bool)
        if self.of_people is not None and self.of_people.shape != self.outcome.shape:
            raise ValueError("of_people must have one value for each case")

    @cached_property
    def original(self) -> pd.DataFrame:
        return _frame_of(self._ends[0])

    @cached_property
    def altered(self) -> pd.DataFrame:
        return _frame_of(self._ends[1])

    @classmethod
    def none(cls, space: FeatureSpace) -> "CaseFindings":
        """Return findings about nobody."""
        rows = pd.DataFrame(columns=list(space.names))
        return cls(rows, rows, [], [], space=space)

    @classmethod
    def joined(
        cls, parts: Sequence["CaseFindings"], statistics: pd.DataFrame | None = None
    ) -> "CaseFindings":
        """Concatenate several findings in the same space."""
        first = parts[0]
        if len(parts) == 1 and statistics is None:
            return first
        return cls(
            pd.concat([p.original for p in parts]),
            pd.concat([p.altered for p in parts]),
            np.concatenate([p.outcome for p in parts]),
            np.concatenate([p.altered_outcome for p in parts]),
            space=first._space,
            row=None if first.row is None else np.concatenate([p.row for p in parts]),
            statistics=statistics,
        )

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per case: its effect and statistics; by default, a case has no sampling error."""
        table = pd.DataFrame({"effect": self.outcome - self.altered_outcome})
        table[["ci_low", "ci_high", "p_value", "p_adjusted"]] = np.nan
        table["test"] = objects(["none (fixed model)"] * len(table))
        table["support"] = 1
        if self.row is not None:
            table["row"] = self.row
        if self.statistics is not None:
            table[list(self.statistics.columns)] = self.statistics
        return table

    @cached_property
    def keys(self) -> tuple | list:
        """Text keys of the subjects, and of their counterparts."""
        if self._given_keys is not None:
            return self._given_keys
        return self._space.indv_keys(self.original), self._space.indv_keys(self.altered)

    def subject(self, i: int) -> Case:
        """Return the i-th case."""
        before, after = (
            {c: plain(f[c].iloc[i]) for c in f.columns} for f in (self.original, self.altered)
        )
        return Case(before, after, float(self.outcome[i]), float(self.altered_outcome[i]))

    def parts(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return features and results as two frames, with two rows per case, the subject first."""
        n = len(self.outcome)
        order = np.arange(2 * n).reshape(2, n).T.ravel()
        rows = pd.concat([self.original, self.altered], ignore_index=True)
        original_keys, altered_keys = self.keys
        couples = [_keys.couple(a, b) for a, b in zip(original_keys, altered_keys, strict=True)]
        results = pd.DataFrame(
            {
                "indv_key": objects([*original_keys, *altered_keys]),
                "outcome": np.concatenate([self.outcome, self.altered_outcome]),
                "couple_key": objects(couples * 2),
                "diff_outcome": np.tile(self.outcome - self.altered_outcome, 2),
                "case_id": np.tile(np.arange(n), 2),
            }
        )
        return tuple(f.iloc[order].reset_index(drop=True) for f in (rows, results))

    def to_dict(self) -> dict:
        """Return the findings as a dict of JSON types, the inverse of `from_dict`."""
        return {
            "kind": self.kind,
            "original": frame_to_dict(self.original),
            "altered": frame_to_dict(self.altered),
            "outcome": self.outcome.tolist(),
            "altered_outcome": self.altered_outcome.tolist(),
            "keys": [list(k) for k in self.keys],
            "row": None if self.row is None else self.row.tolist(),
            "statistics": None if self.statistics is None else frame_to_dict(self.statistics),
            "of_people": None if self.of_people is None else self.of_people.tolist(),
        }

    @classmethod
    def from_dict(cls, data: dict) -> Self:
        """Return findings from a dict made by `to_dict`."""
        statistics = data.get("statistics")
        return cls(
            frame_from_dict(data["original"]),
            frame_from_dict(data["altered"]),
            data["outcome"],
            data["altered_outcome"],
            keys=data["keys"],
            row=data["row"],
            statistics=None if statistics is None else frame_from_dict(statistics),
            of_people=data.get("of_people"),
        )


def of_people(
    findings: CaseFindings, X: pd.DataFrame, space: FeatureSpace, shared: SharedValues
) -> np.ndarray:
    """Return which inputs of a search are somebody's row, or would look like one if shown.

    Searches start from rows of people and vary protected columns, so a row counts as somebody's
    whatever its protected columns say. Numbers are compared in steps of the space, in which the
    search sees them, and both as they are and as `SharedValues.shown` rounds them.

    Shapes: `X` (n_people, n_columns).
    """
    columns = space.np_index if len(space.np_index) else slice(None)

    def keys(frame):
        return space.key(space.encode(frame), columns)

    people, is_somebody = keys(X), np.zeros(len(findings), dtype=bool)
    for end in (findings.original, findings.altered):
        for frame in (end, _as_shown(end, shared)):
            is_somebody |= np.isin(keys(frame), people)
    return is_somebody


def _as_shown(frame, shared):
    """Return rows with their values as they may be shown."""
    columns = {}
    for name in frame:
        code, values = pd.factorize(frame[name], use_na_sentinel=False)
        table = pd.Series([shared.shown(name, v) for v in values], dtype=object)
        columns[name] = table.take(code).infer_objects().reset_index(drop=True)
    return pd.DataFrame(columns, columns=frame.columns)


def _frame_of(end):
    """Return a frame, or the frame that a callable makes, with a fresh index."""
    return (end() if callable(end) else end).reset_index(drop=True)
