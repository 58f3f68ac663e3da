"""The gap in exposure of a group and its reference: estimate, error and permutation test."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skdisc.group._pairwise._estimates import Estimate
from skdisc.group._ranking_disparity._ranked_list import RankedList

MANY_LISTS = 20  # from here on, lists are what is drawn
_FEW = 2000  # people of the smaller side up to which memberships are redrawn
_DRAWS, _LEAST_DRAWS, _WORK = 1999, 999, 2e8
_CELLS = 100_000  # of a block of permutations, few enough for the cache


@dataclass(frozen=True)
class Side:
    """Who belongs to the group and to the reference in one list, best first."""

    ranked: RankedList
    group: np.ndarray
    reference: np.ndarray

    @property
    def compares(self) -> bool:
        """Whether both are in the list."""
        return bool(self.group.any() and self.reference.any())

    @cached_property
    def is_compared(self) -> np.ndarray:
        """Who belongs to either."""
        return self.group | self.reference

    @cached_property
    def sums_without(self) -> np.ndarray:
        """The summed exposure of both without each person in turn."""
        return self.ranked.sums_without(self.is_compared[None])


class ExposureGap:
    """The mean gap of the exposures within lists, weighted by n_group n_reference / (their sum).

    `sides`: one for each list that has people of both sides.
    """

    def __init__(self, sides: Sequence[Side]) -> None:
        self.sides = sides
        self.n = np.array([(s.group.sum(), s.reference.sum()) for s in sides], dtype=float)
        # Inverse variances of the gaps of lists, if exposures vary equally in all.
        self.weight = self.n.prod(axis=1) / self.n.sum(axis=1)
        self.means = np.array(
            [[s.ranked.value[m].mean() for m in (s.group, s.reference)] for s in sides]
        )

    @property
    def value(self) -> float:
        return float(self.weight @ (self.means[:, 0] - self.means[:, 1]) / self.weight.sum())

    @property
    def ratio(self) -> float:
        """The mean exposure of the group divided by that of the reference."""
        group, reference = self.weight @ self.means
        return float(group / reference) if reference else float("nan")

    def estimate(self) -> Estimate:
        """Return the gap with its error: between lists if there are many, else between people."""
        n_lists, total = len(self.sides), self.weight.sum()
        if n_lists >= MANY_LISTS:
            gaps = self.means[:, 0] - self.means[:, 1]
            influence = self.weight * (gaps - self.value) / total
            influence *= np.sqrt(n_lists / (n_lists - 1))
            return Estimate.of_influence(self.value, influence, n_lists - 1)
        members = [s.group[None] for s in self.sides]
        value, error = self._gaps(members)
        return Estimate(float(value[0]), float(error[0]))

    def permuted(self, rng: np.random.Generator) -> "PermutedGap | None":
        """Return the gap with its law under redrawn memberships, unless there are many people.

        Gaps are divided by their errors: the test is exact if all orders are equally likely, and
        asymptotically right if only mean exposures are equal.
        """
        if len(self.sides) >= MANY_LISTS or self.n.sum(axis=0).min() > _FEW:
            return None
        value, error = self._gaps([s.group[None] for s in self.sides])
        size = sum(len(s.ranked) for s in self.sides)
        draws = int(np.clip(_WORK // size, _LEAST_DRAWS, _DRAWS))
        at_once, drawn = max(1, _CELLS // size), []
        for done in range(0, draws, at_once):
            n = min(at_once, draws - done)
            drawn.append(_studentized(*self._gaps([_redrawn(s, n, rng) for s in self.sides])))
        return PermutedGap(float(value[0]), float(error[0]), np.sort(np.concatenate(drawn)))

    def _gaps(self, members):
        """Return gaps and jackknife errors for memberships of the group, a row per draw."""
        parts = [_of_list(s, g) for s, g in zip(self.sides, members, strict=True)]
        weight = self.weight.sum()
        total = sum(w * gap for w, gap, _, _ in parts)
        value, variance = total / weight, 0.0
        for w, gap, w_without, gap_without in parts:
            rest = weight - w + w_without
            with np.errstate(divide="ignore", invalid="ignore"):
                jackknifed = (total[:, None] - (w * gap)[:, None] + w_without * gap_without) / rest
            variance = variance + np.square(jackknifed - value[:, None]).sum(axis=1)
        return value, np.sqrt(variance)


@dataclass(frozen=True)
class PermutedGap:
    """A gap, its error, and what gaps over errors are if memberships are redrawn.

    `drawn`: absolute gaps over errors, rising.
    """

    value: float
    error: float
    drawn: np.ndarray

    @property
    def p_value(self) -> float:
        """The two-sided p-value of no gap."""
        statistic = _studentized(np.array([self.value]), np.array([self.error]))[0]
        as_far = len(self.drawn) - np.searchsorted(self.drawn, statistic * (1 - 1e-9))
        return float((1 + as_far) / (1 + len(self.drawn)))

    def interval(self, significance: float) -> tuple[float, float]:
        """Return the interval of all gaps that the same test would not reject."""
        rank = int(np.ceil((1 - significance) * (len(self.drawn) + 1))) - 1
        half = self.drawn[min(rank, len(self.drawn) - 1)] * self.error
        return self.value - half, self.value + half


def _studentized(value, error):
    """Return absolute gaps over their errors; infinite where only the error is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        without_error = np.where(np.abs(value) < 1e-9, 0.0, np.inf)
        return np.where(error > 1e-12, np.abs(value) / error, without_error)


def _of_list(side, group):
    """Return weight and gap of a list, and both without each person in turn."""
    n, m = int(group[0].sum()), int(side.is_compared.sum() - group[0].sum())
    value, member = side.ranked.value, group.astype(float)
    total, of_group = value @ side.is_compared, member @ value
    gap = of_group / n - (total - of_group) / m
    n_left, m_left = n - member, m - (side.is_compared - member)
    with np.errstate(divide="ignore", invalid="ignore"):
        without = side.ranked.sums_without(group)
        without = without / n_left - (side.sums_without - without) / m_left
    weight = n_left * m_left / (n_left + m_left)
    return n * m / (n + m), gap, weight, np.where(weight > 0, without, 0.0)


def _redrawn(side, draws, rng):
    """Return memberships drawn among the people of both sides, a row per draw."""
    positions = np.flatnonzero(side.is_compared)
    keys = rng.random((draws, len(positions)))
    n = int(side.group.sum())
    chosen = np.argpartition(keys, n - 1, axis=1)[:, :n]
    drawn = np.zeros((draws, len(side.group)), dtype=bool)
    np.put_along_axis(drawn, positions[chosen], True, axis=1)
    return drawn
