"""Wealth: the evidence about one group, a few hundred bytes that grow by blocks of people."""

from dataclasses import dataclass, field
from math import inf, log
from types import NoneType
from typing import Self

import numpy as np

from skdisc._space._subgroup import Subgroup
from skdisc._utils._json import check_types
from skdisc.monitoring import _e_values as e_values

_SIDES = 2


def check_sums(sums: np.ndarray, n_sums: int, what: str) -> None:
    """Raise ValueError if sums of two groups are impossible."""
    if sums.shape != (_SIDES, n_sums) or not (sums >= 0).all():
        raise ValueError(f"{what} must be {n_sums} numbers of two groups, 0 or more")


@dataclass
class OpenBlock:
    """People who wait for the other group, and what earlier blocks of a stratum have shown.

    Attributes
    ----------
    counts : ndarray of int, shape (2, 2)
        People waiting in the group and outside of it, and their favorable decisions.
    numbers : list of two lists of float
        In place of counts, if outcomes are numbers.
    memory : ndarray of float, shape (2,)
        People and favorable decisions that predict the next rate.
    sums : ndarray of float, shape (3,)
        Number, sum and sum of squares of the differences that predict the next bet.
    """

    counts: np.ndarray = field(default_factory=lambda: np.zeros((2, 2), dtype=np.int64))
    numbers: list = field(default_factory=lambda: [[], []])
    memory: np.ndarray = field(default_factory=lambda: np.zeros(2))
    sums: np.ndarray = field(default_factory=lambda: np.zeros(3))

    def add_counts(self, n: np.ndarray, x: np.ndarray) -> None:
        """Let people wait, given by their numbers and favorable decisions, each of shape (2,)."""
        self.counts += np.stack([n, x], axis=1).astype(np.int64)

    def add_numbers(self, values: tuple) -> None:
        """Let people wait, given by the outcomes of each side."""
        for waiting, new in zip(self.numbers, values, strict=True):
            waiting[:] = sorted([*waiting, *np.asarray(new, dtype=float).tolist()])

    def bet_on_counts(self, gaps: np.ndarray, rng: np.random.Generator) -> np.ndarray | None:
        """Close the block if it is complete; return its log e-values."""
        n, x = self.counts.T
        if not e_values.is_complete(n):
            return None
        is_first, log_e = not self.memory[0], np.zeros(len(gaps))
        for part in e_values.parts_of_first(n, x, rng) if is_first else [(n, x)]:
            log_e += e_values.log_e_of_block(*part, e_values.predicted_rates(*self.memory), gaps)
            people = self.memory + [side.sum() for side in part]
            self.memory = np.array(e_values.remembered(*people))
        self.counts = np.zeros((2, 2), dtype=np.int64)
        return log_e

    def bet_on_numbers(self, rng: np.random.Generator) -> np.ndarray | None:
        """Close the block if it is complete; return its log e-values."""
        if not e_values.is_complete([len(side) for side in self.numbers]):
            return None
        differences = e_values.paired(tuple(map(np.asarray, self.numbers)), rng)
        log_e, self.sums = e_values.log_e_of_pairs(differences, self.sums)
        self.numbers = [[], []]
        return log_e

    def to_dict(self) -> dict:
        """Return the block as JSON types."""
        return {
            "counts": self.counts.tolist(),
            "numbers": self.numbers,
            "memory": self.memory.tolist(),
            "sums": self.sums.tolist(),
        }

    @classmethod
    def from_dict(cls, data: dict) -> Self:
        """Return the block of a dict made by `to_dict`."""
        return cls(
            counts=np.array(data["counts"], dtype=np.int64),
            numbers=data["numbers"],
            memory=np.array(data["memory"], dtype=float),
            sums=np.array(data["sums"], dtype=float),
        )


@dataclass
class Wealth:
    """The evidence about one group against the others of its context.

    Attributes
    ----------
    group, context : Subgroup
    share : float
        Share of the level.
    n_sums : int, default=2
        3 for numbers between bounds, 2 for rates.
    seen : ndarray of float, shape (2, n_sums)
        People in the group and outside of it, and sums of their outcomes; of numbers between
        bounds also the squared errors of their predictions.
    blocks : dict of OpenBlock
        By stratum.
    log_e : ndarray of float, shape (n_bets,)
        Logarithms of the wealths of the bets, which are averaged.
    log_change, log_since : ndarray of float, shape (n_bets,)
        Logarithms of the Shiryaev-Roberts sums, and of the largest wealths that started at any
        block.
    since : ndarray of int, shape (n_bets,)
        People of the stream before the block at which these started.
    largest : float
        Logarithm of the largest wealth so far.
    n_blocks : int
    is_judged : bool
        Whether the group was large enough at some time to be in the family of the question.
    changed_at, change_since : int or None
        People of the stream when a change was reported first, and before the block at which it is
        estimated to have happened.
    """

    group: Subgroup
    context: Subgroup
    share: float
    n_bets: int
    n_sums: int = 2
    seen: np.ndarray = None
    blocks: dict = field(default_factory=dict)
    log_e: np.ndarray = None
    log_change: np.ndarray = None
    log_since: np.ndarray = None
    since: np.ndarray = None
    largest: float = 0.0
    n_blocks: int = 0
    is_judged: bool = False
    changed_at: int | None = None
    change_since: int | None = None

    def __post_init__(self):
        if self.seen is None:
            self.seen = np.zeros((_SIDES, self.n_sums))
        if self.log_e is None:
            self.log_e, self.log_since = np.zeros(self.n_bets), np.zeros(self.n_bets)
            self.log_change = np.full(self.n_bets, -inf)
            self.since = np.zeros(self.n_bets, dtype=np.int64)

    @property
    def log_wealth(self) -> float:
        """Logarithm of the mean wealth of the bets."""
        return float(np.logaddexp.reduce(self.log_e) - log(self.n_bets))

    @property
    def log_evidence_of_change(self) -> float:
        """Logarithm of the mean Shiryaev-Roberts sum of the bets; -inf before the first block."""
        return float(np.logaddexp.reduce(self.log_change) - log(self.n_bets))

    def bet(self, log_e: np.ndarray, n_before: int, n_after: int, run_length: float) -> None:
        """Add the log e-values of a block.

        Parameters
        ----------
        log_e : ndarray of float, shape (n_bets,)
        n_before, n_after : int
            People of the stream before and after the block.
        run_length : float
            Smallest mean number of blocks between false reports of a change.
        """
        self.log_e = self.log_e + log_e
        self.log_change = np.logaddexp(self.log_change, 0) + log_e
        self.since = np.where(self.log_since <= 0, n_before, self.since)
        self.log_since = np.maximum(self.log_since, 0) + log_e
        self.largest = max(self.largest, self.log_wealth)
        self.n_blocks += 1
        if self.changed_at is None and self.log_evidence_of_change >= log(run_length):
            self.changed_at = n_after
            self.change_since = int(self.since[np.argmax(self.log_since)])

    def check(self) -> None:
        """Raise ValueError if the evidence is impossible."""
        check_types(vars(self), {"share": (int, float), "n_bets": int, "n_blocks": int})
        check_types(vars(self), {"largest": (int, float), "changed_at": (int, NoneType)})
        check_types(vars(self), {"change_since": (int, NoneType), "is_judged": (bool, np.bool_)})
        check_sums(self.seen, self.n_sums, "seen")
        if (self.seen[:, 1] > self.seen[:, 0] + 1e-6).any():
            raise ValueError("seen has more favorable outcomes than people")
        for name in ("log_e", "log_change", "log_since", "since"):
            values = getattr(self, name)
            if values.shape != (self.n_bets,) or np.isnan(values).any():
                raise ValueError(f"{name} must be {self.n_bets} numbers")
        for block in self.blocks.values():
            if block.counts.shape != (2, 2) or (block.counts < 0).any():
                raise ValueError("the counts of a block must be two pairs of numbers, 0 or more")
            if block.memory.shape != (2,) or block.sums.shape != (3,):
                raise ValueError("a block must remember two numbers and three sums")
            people, favorable = block.memory
            if not 0 <= favorable <= people + 1e-6 < np.inf:
                raise ValueError("a block remembers more favorable outcomes than people")
            if len(block.numbers) != _SIDES:
                raise ValueError("a block must have numbers of two sides")
            np.array([*block.numbers[0], *block.numbers[1]], dtype=float)

    def to_dict(self) -> dict:
        """Return the evidence as JSON types."""
        arrays = ("seen", "log_e", "log_change", "log_since", "since")
        names = (
            "share",
            "n_bets",
            "largest",
            "n_blocks",
            "is_judged",
            "changed_at",
            "change_since",
        )
        return {
            "group": self.group.to_dict(),
            "context": self.context.to_dict(),
            "blocks": {name: block.to_dict() for name, block in self.blocks.items()},
            **{name: getattr(self, name).tolist() for name in arrays},
            **{name: getattr(self, name) for name in names},
            "log_change": [None if v == -inf else v for v in self.log_change.tolist()],
        }

    @classmethod
    def from_dict(cls, data: dict) -> Self:
        """Return the evidence of a dict made by `to_dict`."""
        change = [-inf if v is None else v for v in data["log_change"]]
        arrays = {n: np.array(data[n], dtype=float) for n in ("seen", "log_e", "log_since")}
        fields = data | arrays | {"log_change": np.array(change, dtype=float)}
        fields["n_sums"] = arrays["seen"].shape[-1]
        fields["since"] = np.array(data["since"], dtype=np.int64)
        fields["blocks"] = {name: OpenBlock.from_dict(b) for name, b in data["blocks"].items()}
        fields["group"], fields["context"] = (
            Subgroup.from_dict(data[side]) for side in ("group", "context")
        )
        return cls(**fields)
