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

    `weighted`: the gap of means that are weighted by the probabilities. `threshold`: the gap if
    each person counts as a member of the group of the largest probability.
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
        """Two-sided p-value of the null hypothesis that the gap is zero.

        It is 1 if the bounds have 0 between them, otherwise the p-value of the bound nearer to 0.
        """
        if self.low.value > 0:
            return _two_sided_p(self.low.value, self.low.error)
        return _two_sided_p(-self.high.value, self.high.error) if self.high.value < 0 else 1.0


def _two_sided_p(value, error):
    """Return the two-sided p-value of a positive estimate: twice its upper tail."""
    return 0.0 if error == 0 else float(min(1.0, 2 * special.ndtr(-value / error)))


def gap_bounds(
    y: np.ndarray,
    q: np.ndarray,
    q_other: np.ndarray,
    expected: np.ndarray,
    largest: float | None = None,
) -> GapBounds:
    """Return the bounds of a gap.

    `y`: outcomes, 0 or 1 (or, for bounds of a law, their probabilities). `q` and `q_other`:
    probabilities of membership in the group and in its reference. `expected`: P(y = 1 | z), learned
    from others. `largest`: the largest difference between the groups among people of equal
    probabilities, if one is assumed.
    """
    size, size_other = _Share(q, 0.0), _Share(q_other, 0.0)
    fewest, most = _joint(y, q, expected, largest)
    fewest_other, most_other = _joint(y, q_other, expected, largest)
    variance = _at_equal_rates(y, np.ones(len(y)), q, q_other)
    ends = (
        _gap((fewest, size), (most_other, size_other), variance),
        _gap((most, size), (fewest_other, size_other), variance),
    )
    # Where bounds are narrow their estimates may cross.
    low, high = sorted(ends, key=lambda e: e.value)
    weighted = _gap((_Share(q * y, q), size), (_Share(q_other * y, q_other), size_other), variance)
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

    A trial is a person whom the rate is about, and a hit is a trial with the event. The rate of a
    group is a ratio of two unknown shares, P(hit, member) / P(trial, member). It is largest if as
    many hits and as few misses as possible are members. At every z both are possible at once, and
    so is the smallest rate of the reference. So the linear fractional program over joint
    distributions is solved by the bounds of the shares of hits and misses.

    Parameters
    ----------
    hit, miss : ndarray of float, shape (n,)
        1 for trials with the event, and for trials without it; both 0 for people whom the rate is
        not about.
    q, q_other : ndarray of float, shape (n,)
        Probabilities of membership in the group and in its reference.
    expected_hit, expected_miss : ndarray of float, shape (n,)
        Probabilities of a hit and of a miss given z, learned from other people.

    Returns
    -------
    GapBounds or None
        None if a side may have no trial.
    """
    rates = []  # of each side the smallest and the largest, as pairs of shares (hits, trials)
    for membership in (q, q_other):
        fewest_hits, most_hits = _joint(hit, membership, expected_hit, None)
        fewest_misses, most_misses = _joint(miss, membership, expected_miss, None)
        smallest = fewest_hits, _of_trials(fewest_hits, most_misses)
        largest = most_hits, _of_trials(most_hits, fewest_misses)
        rates.append((smallest, largest))
    if min(trials.number.mean() for side in rates for _, trials in side) <= 0:
        return None
    (smallest, largest), (smallest_other, largest_other) = rates
    trial = hit + miss
    variance = _at_equal_rates(hit, trial, q, q_other)
    low = _gap(smallest, largest_other, variance)
    high = _gap(largest, smallest_other, variance)
    weighted = _gap(
        (_Share(q * hit, q), _Share(q * trial, 0.0)),
        (_Share(q_other * hit, q_other), _Share(q_other * trial, 0.0)),
        variance,
    )
    return GapBounds(low, high, weighted, _by_largest(hit, trial, q, q_other))


def _by_largest(hit, trial, q, q_other):
    """Return the gap if each person counts as a member of the group of the largest probability."""
    q_rest = 1 - np.maximum(q + q_other, 0)
    members = [(p > p_other) & (p >= q_rest) for p, p_other in ((q, q_other), (q_other, q))]
    sizes = [trial[mask].sum() for mask in members]
    if min(sizes) == 0:
        return np.nan
    rate, rate_other = (hit[mask].sum() / n for mask, n in zip(members, sizes, strict=True))
    return float(rate - rate_other)


def are_known(q: np.ndarray, q_other: np.ndarray) -> np.ndarray:
    """Return a mask of the people who surely belong, or do not belong, to each of both groups."""
    return np.isin(q, (0, 1)) & np.isin(q_other, (0, 1))


class _Share(NamedTuple):
    """A number for each person, whose mean is a share, and how much it depends on the outcome.

    `change_with_outcome`: how much larger the number is with the outcome 1 than with 0.
    """

    number: np.ndarray
    change_with_outcome: np.ndarray | float


def _of_trials(hits, misses):
    """Return the share of trials, the sum of the shares of hits and of misses.

    A person is either a hit or a miss, so what the outcome adds to hits it takes from misses.
    """
    change = hits.change_with_outcome - misses.change_with_outcome
    return _Share(hits.number + misses.number, change)


def _joint(y, q, expected, largest):
    r"""Return the shares whose means are lower and upper bounds of P(y = 1, member).

    The bounds of Fréchet, :math:`\max(0, p + q - 1) \le P(y = 1, member) \le \min(p, q)`, at
    every z; if the rates of the groups at equal z differ by at most `largest`, also
    :math:`q p \pm q (1 - q)` times this.
    """
    lows = [(0 * y, 0 * y, 0.0), (y + q - 1, expected + q - 1, 1.0)]
    highs = [(y, expected, 1.0), (q, q, 0.0)]
    if largest is not None:
        room = q * (1 - q) * largest
        lows.append((q * y - room, q * expected - room, q))
        highs.append((q * y + room, q * expected + room, q))
    return _chosen(lows, np.argmax), _chosen(highs, np.argmin)


def _chosen(forms, best):
    """Return for each person one of several forms of a bound, chosen without their outcome.

    `best`: which form is the tightest, by its value with the expected outcome.
    """
    observed, expected, change = (np.broadcast_arrays(*form) for form in zip(*forms, strict=True))
    choice = best(np.array(expected), axis=0)
    return _Share(np.choose(choice, observed), np.choose(choice, change))


def _at_equal_rates(hit, trial, q, q_other):
    """Return the variance that outcomes of people of known groups have if both rates are equal.

    0 for people whose group is not known, and for those whom the rate is not about.
    """
    is_known = are_known(q, q_other) & (trial > 0)
    rate = np.average(hit, weights=(q + q_other) * trial) if is_known.any() else 0.0
    return is_known * rate * (1 - rate)


def _gap(group, reference, variance):
    """Return the difference of the rates of two sides, with its standard error.

    The delta method: the variance is the sum of the squared influences of people on the difference.
    For people whose groups are known, it is at least what it would be if both rates were equal: a
    few people, none of whom has the outcome, do not show how much outcomes vary.

    `group` and `reference`: whose means are the numerator and the denominator of the rate.
    `variance`: from `_at_equal_rates`: of outcomes of people whose groups are known, 0 for others.
    """
    value, influence, influence_of_outcome = 0.0, 0.0, 0.0
    for sign, (numerator, denominator) in ((1, group), (-1, reference)):
        total = denominator.number.sum()
        rate = numerator.number.sum() / total
        value += sign * rate
        influence = influence + sign * (numerator.number - rate * denominator.number) / total
        change = numerator.change_with_outcome - rate * denominator.change_with_outcome
        influence_of_outcome = influence_of_outcome + sign * change / total
    is_known = variance > 0
    observed = (influence[is_known] ** 2).sum()
    at_equal_rates = (variance * np.square(influence_of_outcome)).sum()
    squared = (influence[~is_known] ** 2).sum() + max(observed, at_equal_rates)
    return Estimate(float(value), float(np.sqrt(squared)))
