"""Stream: the state of a monitor, groups and their evidence, as JSON."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import log
from types import NoneType
from typing import Self

import numpy as np
import pandas as pd
from scipy.special import logsumexp

from skdisc._results._shared_values import MIN_CELL
from skdisc._space._subgroup import Predicate, Subgroup
from skdisc._utils._json import check_types, placed
from skdisc._utils._validation import is_number, plain
from skdisc.monitoring._confidence_sequences import (
    difference_sequence,
    gap_sequence,
    squared_errors,
)
from skdisc.monitoring._e_values import e_bh
from skdisc.monitoring._last_shown import LastShown, log_of_two_digits
from skdisc.monitoring._wealth import OpenBlock, Wealth

_MOST_RECORDS = 400  # of the history; beyond, every second one is dropped
_MOST_VALUES = 50  # of a protected column whose values are groups
_NUMBER = (int, float, NoneType)
_FIRST = 0.9  # share of the level for the groups of the first batch, if others may follow


@dataclass(frozen=True)
class StreamRules:
    """What a stream was started with; batches under other rules cannot be added.

    Attributes
    ----------
    protected, strata : list
        Names of columns.
    intersections : int
    gaps : list of float
        Gaps that are bet on, both signs.
    numeric : bool
        Whether outcomes are numbers in [0, 1] and not 0 or 1.
    run_length : float
    seed : int
    bounds : list of float or None
        Between which numbers outcomes count, which are then placed in [0, 1]; None: rates.
    """

    protected: list
    strata: list
    intersections: int
    gaps: list
    numeric: bool
    run_length: float
    seed: int
    bounds: list | None = None

    @property
    def n_sums(self) -> int:
        """How many sums are kept of a group: of numbers between bounds, one of squares, too."""
        return 2 if self.bounds is None else 3

    @property
    def unit(self) -> tuple[float, float]:
        """The outcome of 0, and the width of the interval of outcomes, in their unit."""
        low, high = self.bounds or (0.0, 1.0)
        return low, high - low


@dataclass
class Stream:
    """The state of a monitor.

    Attributes
    ----------
    rules : StreamRules
    is_open : bool
        Whether new values of protected columns make new groups.
    groups : list of Wealth
    n_people, n_batches, n_waves : int
    alarm_at : int or None
        People when the evidence against equal rates in all groups first reached the level.
    history : list of dict
        Records of batches.
    relevant_gap : float or None
        The gap that matters, fixed by the first people of both outcomes; None before.
    n_beyond : int
        People with a number beyond the bounds.
    shown : LastShown
        What reports show.
    """

    rules: StreamRules
    is_open: bool = True
    groups: list = field(default_factory=list)
    n_people: int = 0
    n_batches: int = 0
    n_waves: int = 0
    alarm_at: int | None = None
    largest: float = 0.0
    history: list = field(default_factory=list)
    relevant_gap: float | None = None
    n_beyond: int = 0
    shown: LastShown = field(default_factory=LastShown)

    @classmethod
    def of_groups(cls, rules: StreamRules, groups: Sequence[Subgroup]) -> Self:
        """Return a stream about a fixed list of groups, each against the rest of its context."""
        wrong = [g for g in groups if not isinstance(g, Subgroup)]
        if wrong:
            raise ValueError(f"subgroups= must hold Subgroup objects, got {wrong[0]!r}.")
        stream = cls(rules, is_open=False)
        stream._enter([(g, context_of_group(g, rules.protected)) for g in groups], 1.0)
        return stream

    def fresh(self) -> "Stream":
        """Return a stream about the same groups that has seen nobody."""
        groups = [Wealth(w.group, w.context, w.share, w.n_bets, w.n_sums) for w in self.groups]
        stream = Stream(self.rules, is_open=False, groups=groups)
        stream.relevant_gap = self.relevant_gap
        return stream

    def add(
        self,
        X: pd.DataFrame,
        outcome: np.ndarray,
        significance: float,
        relevant_size: float,
        frequency: np.ndarray | None = None,
    ) -> None:
        """Add a batch; the order of its rows does not matter.

        Parameters
        ----------
        X : DataFrame of shape (n_rows, n_columns)
        outcome : ndarray of float, shape (n_rows,)
            0, 1 or a number between; NaN for people whom the rate is not about. With `bounds`,
            numbers in their unit.
        significance : float
        relevant_size : float
            Share of the people from which on a group is judged.
        frequency : ndarray of int, shape (n_rows,), optional
            How many people each row stands for, where outcomes are 0 or 1; one by default.
        """
        if self.rules.numeric:  # sums of numbers depend on their order, in the last digit
            order = np.argsort(outcome, kind="stable")
            X, outcome = X.iloc[order].reset_index(drop=True), outcome[order]
        if self.is_open:
            self._meet(X)
        if self.rules.bounds is not None:
            self.n_beyond += int(np.count_nonzero(outcome != np.clip(outcome, *self.rules.bounds)))
            outcome = self._placed(outcome)
        has_outcome = ~np.isnan(outcome)
        people = has_outcome.astype(np.int64) if frequency is None else has_outcome * frequency
        strata = self._strata_of(X)
        masks = {c: c.mask(X) for c in {w.context for w in self.groups}}
        before, self.n_people = self.n_people, self.n_people + int(people.sum())
        self.n_batches += 1
        for wealth in self.groups:
            inside = wealth.group.mask(X)
            sides = [masks[wealth.context] & has_outcome & side for side in (inside, ~inside)]
            self._see(wealth, sides, outcome, people)
            for name, rows in strata.items():
                self._bet(wealth, name, [side & rows for side in sides], outcome, people, before)
        self.judge(relevant_size)
        self._record(significance)
        self.shown.wait(X, people, self.groups)
        if self.shown.renew(self.groups, self.n_people) is not None:
            self.shown.n_beyond = self.n_beyond
            shown = self.as_shown()
            record = shown.record(significance)
            record["log_wealth"] = log_of_two_digits(self.log_wealth)
            _keep_record(self.shown.history, record)

    def as_shown(self) -> "Stream":
        """Return the stream with the numbers that reports show.

        When an alarm was raised, and how many people there are, is said of the stream as it is.
        """
        names = ("n_people", "n_batches", "n_waves", "alarm_at", "largest", "relevant_gap")
        numbers = {name: getattr(self, name) for name in names}
        numbers["n_beyond"] = self.shown.n_beyond
        groups = self.shown.wealths(self.groups)
        return Stream(self.rules, self.is_open, groups, history=self.shown.history, **numbers)

    def judge(self, relevant_size: float) -> None:
        """Enter groups of a share of the people into the family of the question, for good.

        In a column of two values the group is either side, as the gap is the same.
        """
        for w, is_half in zip(self.groups, self.halves, strict=True):
            n, n_rest = (float(side[0]) for side in w.seen)
            size = max(n, n_rest) if is_half else n
            w.is_judged |= size > 0 and size >= relevant_size * self.n_people

    def shared_values(self, least: int) -> dict:
        """Return the values of protected columns that enough people have, by column.

        Groups that were passed may be named: they are not from the rows.
        """
        if not self.is_open:
            return {}
        shared = {str(name): [] for name in self.rules.protected}
        for w in self.groups:
            if len(w.group) == 1 and w.group.predicates[0].values and w.seen[0][0] >= least:
                (condition,) = w.group.predicates
                shared[str(condition.column)] += [plain(v) for v in condition.values]
        return shared

    @property
    def halves(self) -> list[bool]:
        """Whether each group is one of two that are all people, so that the gap is the same."""
        values = Counter(columns_of(w.group) for w in self.groups)
        return [
            self.is_open and not len(w.context) and values[columns_of(w.group)] == 2
            for w in self.groups
        ]

    def _placed(self, outcome):
        """Return numbers as their places between the bounds, 0 to 1; beyond these, the bounds."""
        low, width = self.rules.unit
        return (np.clip(outcome, *self.rules.bounds) - low) / width

    def _see(self, wealth, sides, outcome, people):
        """Add the people of both sides, and their outcomes, to the sums of a group."""
        for seen, side in zip(wealth.seen, sides, strict=True):
            if self.rules.bounds is not None:
                # The same order for every group, so that a group and its mirror image are alike.
                rng = np.random.default_rng([self.rules.seed, self.n_batches, 1])
                seen[2] += squared_errors(outcome[side], *seen[:2], rng)
            seen[:2] += _totals(side, outcome, people)

    def _bet(self, wealth, stratum, sides, outcome, people, n_people_before):
        """Add the outcomes of both sides in a stratum, and bet on them if both have people."""
        if not any(side.any() for side in sides):
            return
        block = wealth.blocks.setdefault(stratum, OpenBlock())
        # The same draws for every group, so that a group and its mirror image have equal wealths.
        rng = np.random.default_rng([self.rules.seed, self.n_batches])
        if self.rules.numeric:
            block.add_numbers([outcome[side] for side in sides])
            log_e = block.bet_on_numbers(rng)
        else:
            n, x = np.array([_totals(side, outcome, people) for side in sides]).T
            block.add_counts(n, x)
            gaps = np.array(self.rules.gaps)
            log_e = block.bet_on_counts(np.concatenate([-gaps, gaps]), rng)
        if log_e is not None:
            wealth.bet(log_e, n_people_before, self.n_people, self.rules.run_length)

    def _meet(self, X):
        """Enter groups of protected values that were not seen before, with a share of the level."""
        entered = {w.group for w in self.groups}
        new = [g for g in _observed(X, self.rules) if g not in entered]
        if new:
            rest_of_level = 1 - _FIRST if self.n_waves else _FIRST
            share = rest_of_level * 0.5**self.n_waves if self.n_waves else rest_of_level
            self._enter([(g, Subgroup()) for g in new], share)

    def _enter(self, groups, share):
        n_bets = 2 if self.rules.numeric else 2 * len(self.rules.gaps)
        n_sums = self.rules.n_sums
        self.groups += [Wealth(g, c, share / len(groups), n_bets, n_sums) for g, c in groups]
        self.n_waves += 1

    def _strata_of(self, X):
        """Return the rows of each stratum, a dict of bool masks."""
        if not self.rules.strata:
            return {"": np.ones(len(X), dtype=bool)}
        values = X[self.rules.strata].astype(object)
        text = values.where(values.notna(), "missing").astype(str).agg(" | ".join, axis=1)
        return {name: (text == name).to_numpy() for name in sorted(text.unique())}

    @property
    def log_wealth(self) -> float:
        """Logarithm of the wealth against equal rates in all groups.

        Each group has its share of the stake; what is left is not bet.
        """
        shares = np.array([w.share for w in self.groups] + [0.0])
        log_e = np.array([w.log_wealth for w in self.groups] + [0.0])
        shares[-1] = max(0.0, 1 - shares.sum())
        return float(logsumexp(log_e, b=shares))

    def table(self, level: float) -> pd.DataFrame:
        """Return one row per group: rates, gap with its confidence sequence, wealth, p-values."""
        n, outcome = self.means(self.groups)
        log_wealth, largest, shares = (
            np.array([getattr(w, name) for w in self.groups], dtype=float)
            for name in ("log_wealth", "largest", "share")
        )
        columns = {
            "outcome": outcome[:, 0],
            "outcome_rest": outcome[:, 1],
            "effect": outcome[:, 0] - outcome[:, 1],
            **self.sequence(self.groups, level),
            "support": n[:, 0].astype(np.int64),
            "support_rest": n[:, 1].astype(np.int64),
            "log_wealth": log_wealth,
            "largest_log_wealth": largest,
            "p_value": np.exp(-largest),
            "p_adjusted": e_bh(log_wealth, shares),
            "n_blocks": [w.n_blocks for w in self.groups],
            "log_change": [w.log_evidence_of_change for w in self.groups],
        }
        return pd.DataFrame(columns)

    def means(self, groups: Sequence[Wealth]) -> tuple[np.ndarray, np.ndarray]:
        """Return people, and rates or means in their unit, of groups and of the others."""
        low, width = self.rules.unit
        n, x = self._sums(groups)[:2]
        with np.errstate(divide="ignore", invalid="ignore"):
            return n, low + width * (x / n)

    def sequence(self, groups: Sequence[Wealth], level: float) -> dict[str, np.ndarray]:
        """Return the confidence sequences of the gaps of groups, and of the ratios of rates."""
        if self.rules.bounds is None:
            return gap_sequence(*self._sums(groups), level)
        ends = difference_sequence(*self._sums(groups), level)
        return {name: self.rules.unit[1] * value for name, value in ends.items()}

    def _sums(self, groups):
        """Return the sums of groups and of the others, each of shape (n_groups, 2)."""
        several = np.array([w.seen for w in groups], dtype=float)
        return several.reshape(-1, 2, self.rules.n_sums).transpose(2, 0, 1)

    def _record(self, significance):
        """Note an alarm, and keep a record of the batch."""
        total = self.log_wealth
        self.largest = max(self.largest, total)
        if self.alarm_at is None and total >= -log(significance):
            self.alarm_at = self.n_people
        _keep_record(self.history, self.record(significance))

    def record(self, significance: float) -> dict:
        """Return the record of a batch."""
        record = {"n": self.n_people, "log_wealth": self.log_wealth, "groups": {}}
        numbers = self.table(significance)[["log_wealth", "effect", "ci_low", "ci_high"]].to_numpy()
        for w, row in zip(self.groups, numbers, strict=True):
            # Of few people, the course would tell about single ones.
            has_few = min(float(side[0]) for side in w.seen) < MIN_CELL
            record["groups"][str(w.group)] = [None if has_few else _rounded(v) for v in row]
        return record

    def to_dict(self) -> dict:
        """Return the state as JSON types."""
        names = (
            "is_open",
            "n_people",
            "n_batches",
            "n_waves",
            "alarm_at",
            "largest",
            "history",
            "relevant_gap",
            "n_beyond",
        )
        return {
            "rules": vars(self.rules),
            "groups": [w.to_dict() for w in self.groups],
            **{name: getattr(self, name) for name in names},
            "shown": self.shown.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: dict) -> Self:
        """Return the state of a dict made by `to_dict`."""
        rules = StreamRules(**data["rules"])
        groups = [Wealth.from_dict(w) for w in data["groups"]]
        if "shown" in data:
            shown = LastShown.from_dict(data["shown"])
        else:  # an older state, of which everything was shown
            shown = LastShown.of_older(groups, data["n_people"], data["history"])
        return cls(**(data | {"rules": rules, "groups": groups, "shown": shown}))

    def check(self) -> None:
        """Raise ValueError if a number of the state is impossible."""
        counts = ("n_people", "n_batches", "n_waves", "n_beyond")
        check_types(vars(self), dict.fromkeys(counts, int) | {"history": list, "is_open": bool})
        check_types(vars(self), {"alarm_at": (int, NoneType), "largest": (int, float)})
        check_types(vars(self), {"relevant_gap": _NUMBER})
        if min(getattr(self, name) for name in counts) < 0:
            raise ValueError("numbers of people and batches must be 0 or more")
        shares = [w.share for w in self.groups]
        if not all(0 <= share <= 1 for share in shares) or sum(shares) > 1 + 1e-9:
            raise ValueError("shares of the level must be between 0 and 1, and add up to 1 at most")
        for i, wealth in enumerate(self.groups):
            with placed(f"groups[{i}]"):
                wealth.check()
                if wealth.n_sums != self.rules.n_sums:
                    raise ValueError(f"seen must have {self.rules.n_sums} sums")
        _check_records(self.history)
        with placed("shown"):
            self.shown.check(len(self.groups), self.rules.n_sums)
            _check_records(self.shown.history)

    def __post_init__(self):
        rules, gaps = vars(self.rules), self.rules.gaps
        kinds = {"protected": list, "strata": list, "gaps": list, "numeric": bool}
        check_types(rules, kinds | {"intersections": int, "run_length": (int, float), "seed": int})
        check_types(dict(enumerate(gaps)), dict.fromkeys(range(len(gaps)), (int, float)))
        if self.rules.intersections < 1 or self.rules.seed < 0 or not self.rules.run_length > 0:
            raise ValueError("rules have an impossible number")
        if self.rules.bounds is not None:
            check_bounds(self.rules.bounds)


def check_bounds(bounds: object) -> list[float]:
    """Return the bounds of numbers as floats.

    Raises
    ------
    ValueError
        If they are not two finite numbers, the smaller one first.
    """
    ends = list(bounds) if isinstance(bounds, list | tuple | np.ndarray) else []
    are_numbers = all(is_number(end) and np.isfinite(end) for end in ends)
    if len(ends) != 2 or not are_numbers or not ends[0] < ends[1]:
        raise ValueError(f"bounds must be two numbers, the smaller one first, got {bounds!r}.")
    return [float(end) for end in ends]


def _keep_record(history, record):
    """Add a record to a history, of which every second one is dropped if it is long."""
    history.append(record)
    if len(history) > _MOST_RECORDS:
        del history[1:-1:2]


def _check_records(history):
    """Raise ValueError if a record of batches is impossible."""
    for i, record in enumerate(history):
        with placed(f"history[{i}]"):
            check_types(record, {"n": int, "log_wealth": (int, float), "groups": dict})
            for values in record["groups"].values():
                check_types(dict(enumerate(values)), dict.fromkeys(range(4), _NUMBER))


def columns_of(group: Subgroup) -> tuple:
    """Return the columns of the conditions of a group."""
    return tuple(p.column for p in group.predicates)


def _totals(side, outcome, people):
    """Return the number of people of a side, and the sum of their outcomes."""
    return people[side].sum(), people[side] @ outcome[side]


def context_of_group(group: Subgroup, protected: Sequence[Hashable]) -> Subgroup:
    """Return the conditions of a group on other columns than protected ones."""
    context = [p for p in group.predicates if p.column not in protected]
    return Subgroup([] if len(context) == len(group.predicates) else context)


def _observed(X, rules):
    """Return the groups of the protected values that occur, single columns first."""
    groups = []
    for size in range(1, rules.intersections + 1):
        for columns in combinations(rules.protected, size):
            values = X[list(columns)].drop_duplicates()
            if size == 1 and len(values) > _MOST_VALUES:
                raise ValueError(
                    f"Column {columns[0]!r} has more than {_MOST_VALUES} values, too many to be "
                    "groups. Cut it first, for example with pandas.cut, or pass subgroups=."
                )
            for row in values.itertuples(index=False, name=None):
                conditions = [
                    Predicate.is_missing(c) if pd.isna(v) else Predicate.equals(c, v)
                    for c, v in zip(columns, row, strict=True)
                ]
                groups.append(Subgroup(conditions))
    return sorted(groups, key=lambda g: (len(g), str(g)))


def _rounded(value):
    """Return a number of the history with six digits; None for NaN."""
    return None if not np.isfinite(value) else float(f"{value:.6g}")
