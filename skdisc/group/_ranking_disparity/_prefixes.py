"""The exact law of how many of a group stand among the first k of a list in random order."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_CELLS = 1_000_000  # states of all lists that are tested together


@dataclass(frozen=True)
class PrefixTest:
    """Counts of a group in the prefixes of one list, against all orders being equally likely.

    Parameters
    ----------
    length : ndarray of int, shape (n_prefixes,)
        Lengths of the prefixes that were examined, rising.
    count : ndarray of int, shape (n_prefixes,)
        Members of the group in each.
    p_values : ndarray of float, shape (n_prefixes,)
        Twice the smaller tail of the hypergeometric law, at most 1; not corrected.
    p_value : float
        The probability that the smallest p-value of these prefixes is as small as it is.
    """

    length: np.ndarray
    count: np.ndarray
    expected: np.ndarray
    p_values: np.ndarray
    p_value: float

    @property
    def worst(self) -> int:
        """The position of the prefix with the smallest p-value, the first of several."""
        return int(np.argmin(self.p_values))


def prefix_tests(
    lists: Sequence[tuple[np.ndarray, np.ndarray]], depth: int | None
) -> list[PrefixTest]:
    """Test all prefixes of each of some lists at once.

    The numbers of members among the first k form a Markov chain, so the probability that one of
    them leaves its limits is a sum over O(depth * n_members) states.

    `lists`: whether the person at each place is of the group, the first place first; and whether a
    prefix may end after each place, which it may not within people who tie. `depth`: the last place
    where a prefix may end; None: all.
    """
    tests: list = [None] * len(lists)
    by_size = sorted(range(len(lists)), key=lambda i: len(lists[i][0]))
    while by_size:
        width = int(lists[by_size[-1]][0].sum()) + 1
        n = max(1, _CELLS // width)
        batch, by_size = by_size[-n:], by_size[:-n]
        results = _tested([lists[i] for i in batch], depth)
        for i, test in zip(batch, results, strict=True):
            tests[i] = test
    return tests


def _tested(lists, depth):
    """Test lists of similar lengths together."""
    n = np.array([len(inside) for inside, _ in lists])
    last = n - 1 if depth is None else np.minimum(depth, n - 1)  # the whole list says nothing
    ends = np.zeros((len(lists), max(int(last.max()), 1)), dtype=bool)
    count = np.zeros(ends.shape, dtype=np.int64)
    for i, (inside, may_end) in enumerate(lists):
        k = max(int(last[i]), 0)
        ends[i, :k], count[i, :k] = may_end[:k], np.cumsum(inside[:k])
    chain = _Chain(n, np.array([int(inside.sum()) for inside, _ in lists]))
    p_values = chain.p_values(count, ends)
    p_exact = chain.p_leaves(np.min(p_values, axis=1, where=ends, initial=1.0), ends)
    tests = []
    for i, (inside, _) in enumerate(lists):
        length = np.flatnonzero(ends[i]) + 1
        expected = length * inside.mean() if len(inside) else length * 0.0
        p_value = float(p_exact[i]) if len(length) else 1.0
        tests.append(PrefixTest(length, count[i, ends[i]], expected, p_values[i, ends[i]], p_value))
    return tests


@dataclass(frozen=True)
class _Chain:
    """Members drawn one after the other without replacement, a row per list."""

    n: np.ndarray
    members: np.ndarray

    def _start(self, depth):
        """Return the law before the first place, with room for `depth` places."""
        mass = np.zeros((len(self.n), min(depth, int(self.members.max())) + 1))
        mass[:, 0] = 1.0
        return mass

    def _chance(self, k, width):
        """Return the chance that place k + 1 is a member's, given how many were before."""
        members_left = self.members[:, None] - np.arange(width)
        return np.clip(members_left / np.maximum(self.n - k, 1)[:, None], 0.0, 1.0)

    def p_values(self, count, ends):
        """Return the p-value of each prefix, 1 where none ends, shape (n_lists, depth)."""
        mass, p_values = self._start(ends.shape[1]), np.ones(ends.shape)
        for k in range(ends.shape[1]):
            mass = _moved(mass, self._chance(k, mass.shape[1]))
            p_value = np.take_along_axis(_two_sided(mass), count[:, k, None], axis=1)[:, 0]
            p_values[:, k] = np.where(ends[:, k], p_value, 1.0)
        return p_values

    def p_leaves(self, smallest, ends):
        """Return the probability that the p-value of some prefix is as small as `smallest`."""
        limit = (smallest * (1 + 1e-9))[:, None]
        mass, p_left = self._start(ends.shape[1]), np.zeros(len(self.n))
        mass_inside = mass
        for k in range(ends.shape[1]):
            chance = self._chance(k, mass.shape[1])
            mass, mass_inside = _moved(mass, chance), _moved(mass_inside, chance)
            out = (_two_sided(mass) <= limit) & ends[:, k, None]
            p_left += np.sum(mass_inside, axis=1, where=out)
            mass_inside = np.where(out, 0.0, mass_inside)
        return np.minimum(1.0, p_left)


def _moved(mass, chance):
    """Return the law one place further down."""
    after = mass * (1 - chance)
    after[:, 1:] += (mass * chance)[:, :-1]
    return after


def _two_sided(mass):
    """Return twice the smaller tail at each count, at most 1."""
    below = np.cumsum(mass, axis=1)
    above = np.cumsum(mass[:, ::-1], axis=1)[:, ::-1]
    return np.minimum(1.0, 2 * np.minimum(below, above))
