"""What reports of a monitor show: numbers that are renewed for many people at a time.

Two reports about a stream differ by the people between them, who may be few: the difference of
their sums is what these got. So people wait, and a renewal treats those who wait as a table of
their own. A row, of a group and those that it is compared with, is renewed if both sides have
enough of them, and if the renewed sums together explain at most half of the variation of the
outcomes of any few of them. The choice depends on columns alone. What a row shows grows by those
who waited; to a row that is not renewed they are added neither now nor later. So what follows from
any number of reports follows from the sums of single renewals.

To renew a row as soon as it has enough new people is not enough: of three groups, the outcomes of
new people in the third follow if the two others and the sum of all three are renewed.
"""

from collections import Counter
from dataclasses import dataclass, field
from math import exp, floor, inf, log
from types import NoneType
from typing import Any, Self

import numpy as np
import pandas as pd

from skdisc._results._shared_values import MIN_CELL
from skdisc._stats._printed_sums import PrintedSums
from skdisc._utils._json import check_types
from skdisc._verdicts._answer import rounded_up
from skdisc.monitoring._wealth import Wealth, check_sums

LEAST = 2 * MIN_CELL  # new people on each side of a row: 9 of 10 are nearly all of them
_LATE = 200, 0.5  # people, and share of those shown, who wait until a group with few is left out
_TYPES = {
    **{"log_wealth": (int, float), "largest": (int, float), "log_change": (int, float, NoneType)},
    **{"n_blocks": int, "changed_at": (int, NoneType), "change_since": (int, NoneType)},
}


@dataclass
class ShownRow:
    """What is shown of one group against the others of its context.

    Attributes
    ----------
    seen : ndarray of float, shape (2, n_sums)
        People on both sides, and sums of their outcomes, who are shown.
    before : ndarray of float, shape (2, n_sums)
        The same of all people, up to the last renewal of any row.
    numbers : dict or None
        Wealths and changes at the last renewal of this row; None before the first.
    """

    seen: np.ndarray
    before: np.ndarray
    numbers: dict | None = None

    @classmethod
    def empty(cls, w: Wealth) -> Self:
        """Return the row of a group of which nothing is shown."""
        return cls(np.zeros_like(w.seen), np.zeros_like(w.seen))


@dataclass
class LastShown:
    """What reports of a stream show, and who waits.

    Attributes
    ----------
    n_people : int
        People of the stream at the last renewal of any row.
    rows : list of ShownRow
        One for each group of the stream.
    waiting : Counter
        People since then, by the conditions of groups that they meet, one text for each column.
    history : list of dict
        Records of renewals.
    n_beyond : int
        People of the stream with a number beyond the bounds, at the last renewal.
    """

    n_people: int = 0
    rows: list = field(default_factory=list)
    waiting: Counter = field(default_factory=Counter)
    history: list = field(default_factory=list)
    n_beyond: int = 0

    @classmethod
    def of_older(cls, groups: list, n_people: int, history: list) -> Self:
        """Return what was shown of a state that shows all: everything about enough people."""
        rows = []
        for w in groups:
            is_shown = w.seen[:, 0].min() >= MIN_CELL
            totals = w.seen.copy() if is_shown else np.zeros_like(w.seen)
            rows.append(ShownRow(totals, w.seen.copy(), numbers_of(w) if is_shown else None))
        return cls(n_people, rows, Counter(), list(history))

    def wait(self, X: pd.DataFrame, people: np.ndarray, groups: list) -> None:
        """Let the people of a batch wait.

        Parameters
        ----------
        X : DataFrame of shape (n_rows, n_columns)
        people : ndarray of int, shape (n_rows,)
            How many people each row stands for.
        groups : list of Wealth
        """
        predicates = [p for w in groups for p in (*w.group.predicates, *w.context.predicates)]
        named = sorted({(str(p.column), str(p)): p for p in predicates}.items())
        masks, number = [p.mask(X) for _, p in named], np.zeros(len(X), dtype=np.int64)
        for mask in masks:
            number = pd.factorize(2 * number + mask)[0]
        n = np.bincount(number, people).astype(int).tolist()
        for cell, row in enumerate(np.unique(number, return_index=True)[1]):
            met = {column: [] for (column, _), _ in named}
            for ((column, text), _), mask in zip(named, masks, strict=True):
                met[column] += [text] * bool(mask[row])
            if n[cell]:
                self.waiting[tuple(map("\n".join, met.values()))] += n[cell]
        self.rows += [ShownRow.empty(w) for w in groups[len(self.rows) :]]

    def renew(self, groups: list, n_people: int) -> np.ndarray | None:
        """Renew rows, if those who wait are enough.

        They are enough if all groups that occur among them can be renewed, or if they are half as
        many as the people before, and 200 at least: then groups with fewer are left out.

        Parameters
        ----------
        groups : list of Wealth
        n_people : int
            Number of people in the stream.

        Returns
        -------
        ndarray of bool, shape (n_groups,), or None
            Which rows were renewed; None: no renewal.
        """
        new = np.array([w.seen - r.before for w, r in zip(groups, self.rows, strict=True)])
        n = new[:, :, 0] if len(groups) else np.zeros((0, 2))
        occurs, enough = n[:, 0] > 0, (n >= LEAST).all(axis=1)
        is_late = n_people - self.n_people >= max(_LATE[0], _LATE[1] * self.n_people)
        if not enough.any() or not (is_late or enough[occurs].all()):
            return None
        chosen = self._chosen(groups, enough)
        if not chosen.any() or not (is_late or chosen[occurs].all()):
            return None
        for w, row, more, is_renewed in zip(groups, self.rows, new, chosen, strict=True):
            row.before = w.seen.copy()
            if is_renewed:
                row.seen, row.numbers = row.seen + more, numbers_of(w)
        self.n_people, self.waiting = n_people, Counter()
        return chosen

    def _chosen(self, groups, enough):
        """Return the rows of which, together, nothing follows about few of those who wait."""
        cells = [[set(text.split("\n")) for text in cell] for cell in self.waiting]
        people = np.array(list(self.waiting.values()))
        columns = [np.array(texts) for texts in zip(*self.waiting, strict=True)]
        sums = PrintedSums(columns, MIN_CELL, people)
        met = [set().union(*cell) for cell in cells]

        def mask(conditions):
            condition_texts = {str(p) for p in conditions}
            return np.array([condition_texts <= several for several in met])[sums.first]

        sides = []
        for w in groups:
            group, context = mask(w.group.predicates), mask(w.context.predicates)
            sides.append([context & group, context & ~group])
        side_masks = np.array(sides, dtype=bool)
        smaller = (side_masks @ sums.people).min(axis=1)

        def place(i):
            return len(groups[i].group), -smaller[i], str(groups[i].group)

        order = sorted(np.flatnonzero(enough).tolist(), key=place)
        chosen = np.zeros(len(groups), dtype=bool)
        chosen[order] = sums.choose(side_masks[order])
        return chosen

    def wealths(self, groups: list) -> list:
        """Return the groups with the numbers that are shown, a list of Wealth."""
        return [_as_shown(w, row) for w, row in zip(groups, self.rows, strict=True)]

    def to_dict(self) -> dict:
        """Return what is shown as JSON types."""
        rows = [
            {"seen": r.seen.tolist(), "before": r.before.tolist(), "numbers": r.numbers}
            for r in self.rows
        ]
        waiting = [[list(cell), n] for cell, n in sorted(self.waiting.items())]
        return {
            "n_people": self.n_people,
            "rows": rows,
            "waiting": waiting,
            "history": self.history,
            "n_beyond": self.n_beyond,
        }

    @classmethod
    def from_dict(cls, data: dict) -> Self:
        """Return what is shown of a dict made by `to_dict`."""
        rows = [
            ShownRow(np.array(r["seen"], float), np.array(r["before"], float), r["numbers"])
            for r in data["rows"]
        ]
        waiting = Counter({tuple(cell): n for cell, n in data["waiting"]})
        return cls(data["n_people"], rows, waiting, data["history"], data.get("n_beyond", 0))

    def check(self, n_groups: int, n_sums: int) -> None:
        """Raise ValueError if a number is impossible."""
        check_types(vars(self), {"n_people": int, "history": list, "n_beyond": int})
        if len(self.rows) != n_groups:
            raise ValueError("what was last shown must have one row for each group")
        for row in self.rows:
            for sums in (row.seen, row.before):
                check_sums(sums, n_sums, "what was last shown")
                people, favorable = sums[:, :2].T
                if not ((favorable >= 0) & (favorable <= people + 1e-6)).all():
                    raise ValueError("what was last shown has more favorable outcomes than people")
            check_types(row.numbers or {}, {} if row.numbers is None else _TYPES)
        for cell, n in self.waiting.items():
            check_types({"waiting": n}, {"waiting": int})
            if not all(isinstance(text, str) for text in cell) or n < 1:
                raise ValueError("people who wait must be counted by texts")


def numbers_of(w: Wealth) -> dict[str, Any]:
    """Return wealths and changes of a group; wealths are no sums, and have two digits."""
    change = w.log_evidence_of_change
    return {
        "log_wealth": log_of_two_digits(w.log_wealth),
        "largest": log_of_two_digits(w.largest),
        "n_blocks": w.n_blocks,
        "log_change": None if change == -inf else log_of_two_digits(change),
        "changed_at": w.changed_at,
        "change_since": w.change_since,
    }


def log_of_two_digits(value: float) -> float:
    """Return the logarithm of a number that is rounded down to two significant digits."""
    if value == -inf:
        return value
    power = floor(value / log(10) + 1e-12)
    return log(floor(10 * exp(value - power * log(10)) + 1e-9) / 10) + power * log(10)


def shown_errors(errors: np.ndarray) -> np.ndarray:
    """Return errors, 0 or more, rounded up to two significant digits: no sums of squares.

    Intervals that are made of larger errors hold, too.
    """
    errors = np.where(errors > 0, np.maximum(errors, 1e-9), 0.0)
    return np.vectorize(rounded_up, otypes=[float])(errors)


def _as_shown(w, row):
    """Return a group with the numbers that are shown, or without people and bets."""
    shown = Wealth(w.group, w.context, w.share, w.n_bets, w.n_sums, seen=row.seen.copy())
    shown.seen[:, 2:] = shown_errors(shown.seen[:, 2:])
    if row.numbers is None:
        return shown
    numbers = dict(row.numbers)
    shown.log_e = np.full(w.n_bets, numbers.pop("log_wealth"))
    change = numbers.pop("log_change")
    shown.log_change = np.full(w.n_bets, -inf if change is None else change)
    for name, value in numbers.items():
        setattr(shown, name, value)
    shown.is_judged = w.is_judged
    return shown
