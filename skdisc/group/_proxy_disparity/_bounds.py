"""Gaps of groups known with a probability: point estimates, and bounds that need no more."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import special

from skdisc.group._pairwise._estimates import Estimate


@dataclass(frozen=True)
class GapBounds:
    r"""Bounds of the gap between a group and its reference.

    With membership probabilities :math:`q` and :math:`p = P(y = 1 \mid z)`, the joint probability
    of outcome and membership lies between :math:`\max(0, p + q - 1)` and :math:`\min(p, q)`. Which
    of the two is larger is decided by an estimate of p that does not use the own outcome; then p is
    replaced by the outcome itself. So a wrong estimate of p widens the bounds and never makes them
    wrong, and they are means, whose errors are normal.

    Parameters
    ----------
    low, high : Estimate
    weighted : Estimate
        The gap of means that are weighted by the probabilities.
    threshold : float
        The gap between those who belong to each group with the largest probability.
    """

    low: Estimate
    high: Estimate
    weighted: Estimate
    threshold: float

    def interval(self, significance: float) -> tuple[float, float]:
        """Return an interval that contains the gap, wherever it is between the bounds."""
        return self.low.interval(significance)[0], self.high.interval(significance)[1]

    @property
    def p_value(self) -> float:
        """Two-sided p-value of the null hypothesis that the gap is zero."""
        if self.low.value > 0:
            return _one_sided(self.low.value, self.low.error)
        return _one_sided(-self.high.value, self.high.error) if self.high.value < 0 else 1.0


def _one_sided(value, error):
    """Return twice the upper tail of a positive estimate."""
    return 0.0 if error == 0 else float(min(1.0, 2 * special.ndtr(-value / error)))


def gap_bounds(
    y: np.ndarray,
    q: np.ndarray,
    q_other: np.ndarray,
    expected: np.ndarray,
    largest: float | None = None,
) -> GapBounds:
    """Return the bounds of a gap.

    Parameters
    ----------
    y : ndarray of float, shape (n,)
        Outcomes, 0 or 1 (or, for bounds of a law, their probabilities).
    q, q_other : ndarray of float, shape (n,)
        Probabilities of membership in the group and in its reference.
    expected : ndarray of float, shape (n,)
        P(y = 1 | z), learned from others.
    largest : float, optional
        The largest difference between the groups among people of equal probabilities, if one is
        assumed.

    Returns
    -------
    GapBounds
    """
    a, b = _Share(q, 0.0), _Share(q_other, 0.0)
    low_a, high_a = _joint(y, q, expected, largest)
    low_b, high_b = _joint(y, q_other, expected, largest)
    chance = _at_equal_rates(y, np.ones(len(y)), q, q_other)
    ends = _gap((low_a, a), (high_b, b), chance), _gap((high_a, a), (low_b, b), chance)
    low, high = sorted(ends, key=lambda e: e.value)
    weighted = _gap((_Share(q * y, q), a), (_Share(q_other * y, q_other), b), chance)
    return GapBounds(low, high, weighted, _by_largest(y, np.ones(len(y)), q, q_other))


def rate_bounds(
    hit: np.ndarray,
    miss: np.ndarray,
    q: np.ndarray,
    q_other: np.ndarray,
    expected_hit: np.ndarray,
    expected_miss: np.ndarray,
) -> GapBounds | None:
    r"""Return the bounds of a gap of rates among some people only, such as true positive rates.

    A rate is a ratio of two unknown shares, of hits and of trials of members. It is largest where
    as many hits as possible and as few misses as possible are of members; at every z both are
    possible at once, and leave to the reference what makes its rate smallest. So the linear
    fractional program is solved by the bounds of the shares.

    Parameters
    ----------
    hit, miss : ndarray of float, shape (n,)
        Who is a trial with the event, and without it; 0 for people whom the rate is not about.
    q, q_other : ndarray of float, shape (n,)
        Probabilities of membership in the group and in its reference.
    expected_hit, expected_miss : ndarray of float, shape (n,)
        Probabilities of both given z, learned from others.

    Returns
    -------
    GapBounds or None
        None if a side may have no trial.
    """
    sides = []
    for own in (q, q_other):
        fewest_hits, most_hits = _joint(hit, own, expected_hit, None)
        fewest_misses, most_misses = _joint(miss, own, expected_miss, None)
        pairs = (fewest_hits, most_misses), (most_hits, fewest_misses)
        sides.append([(hits, _of_trials(hits, misses)) for hits, misses in pairs])
    if min(size.number.mean() for side in sides for _, size in side) <= 0:
        return None
    (least, most), (least_other, most_other) = sides
    trial = hit + miss
    chance = _at_equal_rates(hit, trial, q, q_other)
    low, high = _gap(least, most_other, chance), _gap(most, least_other, chance)
    weights = [(_Share(own * hit, own), _Share(own * trial, 0.0)) for own in (q, q_other)]
    weighted = _gap(*weights, chance)
    return GapBounds(low, high, weighted, _by_largest(hit, trial, q, q_other))


def _by_largest(hit, trial, q, q_other):
    """Return the gap between those who belong to each group with the largest probability."""
    rest = 1 - np.maximum(q + q_other, 0)
    sure = [(own > other) & (own >= rest) for own, other in ((q, q_other), (q_other, q))]
    sizes = [trial[who].sum() for who in sure]
    if min(sizes) == 0:
        return np.nan
    own, other = (hit[who].sum() / size for who, size in zip(sure, sizes, strict=True))
    return float(own - other)


def are_known(q: np.ndarray, q_other: np.ndarray) -> np.ndarray:
    """Return whose membership, or not, in both groups is certain."""
    return np.isin(q, (0, 1)) & np.isin(q_other, (0, 1))


class _Share(NamedTuple):
    """A number of each person, and by how much more it would be with the outcome than without."""

    number: np.ndarray
    more: np.ndarray | float


def _of_trials(hits, misses):
    """Return the number of trials of each person."""
    return _Share(hits.number + misses.number, hits.more - misses.more)


def _joint(y, q, expected, largest):
    """Return the shares whose means are lower and upper bounds of P(y = 1, member)."""
    lows = [(0 * y, 0 * y, 0.0), (y + q - 1, expected + q - 1, 1.0)]
    highs = [(y, expected, 1.0), (q, q, 0.0)]
    if largest is not None:
        room = q * (1 - q) * largest
        lows.append((q * y - room, q * expected - room, q))
        highs.append((q * y + room, q * expected + room, q))
    return _chosen(lows, np.argmax), _chosen(highs, np.argmin)


def _chosen(forms, best):
    """Return for each person the form that is best where expectations are put for outcomes."""
    observed, expected, more = (np.broadcast_arrays(*own) for own in zip(*forms, strict=True))
    at = best(np.array(expected), axis=0)
    return _Share(np.choose(at, observed), np.choose(at, more))


def _at_equal_rates(hit, trial, q, q_other):
    """Return the variance of the outcome of each trial of someone whose group is known.

    If the rates of both groups are equal; 0 for all others.
    """
    known = are_known(q, q_other) & (trial > 0)
    rate = np.average(hit, weights=(q + q_other) * trial) if known.any() else 0.0
    return known * rate * (1 - rate)


def _gap(side, other, chance):
    """Return the difference of two ratios of means, each of a pair of shares.

    People whose groups are known vary as much as if rates were equal, at least. A few of whom none
    has the outcome do not show how much outcomes vary.
    """
    value, influence, more = 0.0, 0.0, 0.0
    for sign, (own, size) in ((1, side), (-1, other)):
        total = size.number.sum()
        ratio = own.number.sum() / total
        value += sign * ratio
        influence = influence + sign * (own.number - ratio * size.number) / total
        more = more + sign * (own.more - ratio * size.more) / total
    is_known = chance > 0
    known = max((influence[is_known] ** 2).sum(), (chance * np.square(more)).sum())
    return Estimate(float(value), float(np.sqrt((influence[~is_known] ** 2).sum() + known)))
