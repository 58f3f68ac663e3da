"""The exact law of how many of a group stand among the first k of a list in random order."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class PrefixTest:
    """Counts of a group in the prefixes of one list, against all orders being equally likely.

    Parameters
    ----------
    length : ndarray of int, shape (n_prefixes,)
        Lengths of the prefixes that were examined, rising.
    count : ndarray of int, shape (n_prefixes,)
        Members of the group in each.
    expected : ndarray of float, shape (n_prefixes,)
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


def prefix_test(
    inside: np.ndarray, ends: np.ndarray | None = None, depth: int | None = None
) -> PrefixTest:
    """Test all prefixes of a list at once.

    The numbers of members among the first k form a Markov chain, so the probability that one of
    them leaves its limits is a sum over O(depth * n_members) states.

    Parameters
    ----------
    inside : ndarray of bool, shape (n,)
        Whether the person at each place is of the group, the first place first.
    ends : ndarray of bool, shape (n,), optional
        Whether a prefix may end after each place; not within people who tie. None: everywhere.
    depth : int, optional
        The last place where a prefix may end; all by default.

    Returns
    -------
    PrefixTest
    """
    n, members = len(inside), int(inside.sum())
    ends = np.ones(n, dtype=bool) if ends is None else ends
    last = n - 1 if depth is None else min(depth, n - 1)  # the whole list says nothing
    length = np.flatnonzero(ends[:last]) + 1
    count = np.cumsum(inside)[length - 1].astype(np.int64)
    expected = length * members / max(n, 1)
    if not len(length):
        return PrefixTest(length, count, expected, np.empty(0), 1.0)
    law = _Chain(n, members)
    tails = law.tails(length)
    p_values = np.minimum(1.0, 2 * tails[np.arange(len(length)), count])
    limit = p_values.min() * (1 + 1e-9)
    stays = [np.minimum(1.0, 2 * tail) > limit for tail in tails]
    return PrefixTest(length, count, expected, p_values, law.p_leaves(length, stays))


@dataclass(frozen=True)
class _Chain:
    """Members drawn one after the other from n people, without replacement."""

    n: int
    members: int

    def step(self, mass, k):
        """Return the law after place k + 1 from that after place k."""
        j = np.arange(len(mass))
        p = np.clip((self.members - j) / (self.n - k), 0.0, 1.0)
        after = mass * (1 - p)
        after[1:] += (mass * p)[:-1]
        return after

    def start(self, depth):
        """Return the law before the first place, with room for `depth` places."""
        mass = np.zeros(min(depth, self.members) + 1)
        mass[0] = 1.0
        return mass

    def tails(self, length):
        """Return the smaller tail at each count, a row per prefix."""
        mass, tails, at = self.start(length[-1]), [], 0
        for k in length:
            while at < k:
                mass, at = self.step(mass, at), at + 1
            below = np.cumsum(mass)
            above = np.cumsum(mass[::-1])[::-1]
            tails.append(np.minimum(below, above))
        return np.array(tails)

    def p_leaves(self, length, stays):
        """Return the probability that a count is, after some prefix, where it must not stay."""
        mass, left, at = self.start(length[-1]), 0.0, 0
        for k, stay in zip(length, stays, strict=True):
            while at < k:
                mass, at = self.step(mass, at), at + 1
            left += mass[~stay].sum()
            mass = np.where(stay, mass, 0.0)
        return float(min(1.0, left))
