"""Tails of scores: of few people whose outcomes are 0 or 1, and of numbers."""

from typing import Any, NamedTuple

import numpy as np
from scipy import special

from skdisc.subgroup._disparity_pursuit._skewness import deviates_of_numbers

FROM = 2.5  # standardized score from which its tail is computed
MOST = 2000  # people in a context from which a score is normal
_LEAST = 0.005  # a chance that is expected is at least this far from 0 and 1
_NOTHING = 1e-9  # a regressor that is smaller, relative to its largest value, is zero
_FARTHEST = 30.0  # log odds by which a chance is changed at most
_STEPS, _EXACT, _SMALLEST = 60, 1e-6, 1e-300


class Sums(NamedTuple):
    """Sums of coefficient · (y - mean) over some people, in several groups of rows.

    ``coefficient``, ``mean``, ``people`` (equal ones): shape (n_rows,), group after group;
    ``size``, the number of rows of each group, which is not 0: shape (n_groups,). ``rest``: the
    variance of a further, normal term of each sum, shape (n_groups,).
    """

    coefficient: np.ndarray
    mean: np.ndarray
    people: np.ndarray
    size: np.ndarray
    rest: np.ndarray | float = 0.0

    def over(self, values: np.ndarray) -> np.ndarray:
        """Return the sum of a number of each person over each group."""
        return np.add.reduceat(self.people * values, self._first)

    def per_row(self, values: np.ndarray) -> np.ndarray:
        """Repeat a number of each group for each of its rows."""
        return np.repeat(values, self.size)

    def largest(self) -> np.ndarray:
        """Return the largest coefficient of each group, without its sign."""
        return np.maximum.reduceat(np.abs(self.coefficient), self._first)

    @property
    def _first(self):
        return np.cumsum(self.size) - self.size


def deviates(
    scores: Any, adjusted_scores: Any, subset: np.ndarray, share: np.ndarray, implied: np.ndarray
) -> np.ndarray:
    """Return the standardized scores of some candidates, or normal deviates of their tails.

    For numbers, skewness is taken into account (`deviates_of_numbers`).

    Where the members of a group are few, a score is not normal, and its variance depends on the
    effect: of 30 people with a probability of a half, 26 successes are rare, and vary less than 15.
    So the tail is computed for a sum of independent outcomes, with the log odds of the fit, shifted
    so that the expected number of outcomes in the context is the observed one. Where residuals are
    larger than these probabilities explain, deviates are divided by the root of the misfit: of all
    rows, or of the context where it is larger beyond doubt. The terms of people outside the
    context, through the groups in the fit, are taken as normal; the people of small groups in the
    fit are treated like those of the context.

    `subset`: the candidates. `share`, of shape (n_subset, n_chosen): shares of the regressors of
    the fit in each regressor. `implied`: the variances of scores as the fit implies them.
    """
    r, c = scores.residuals, scores.candidates
    if not r.is_binary:
        return deviates_of_numbers(scores, adjusted_scores, subset)
    deviate = adjusted_scores.z[subset]
    if r.cluster is not None:
        return deviate
    few = np.flatnonzero((np.abs(deviate) > FROM) & (c.support_context[subset] <= MOST))
    near = np.zeros(c.n_rows, dtype=bool)
    for group in adjusted_scores.groups:
        if c.support_context[group] <= MOST:
            near |= c.context_mask(group)
    positions, rows, planes = [], [], []
    for position in few:
        group = subset[position]
        group_rows = np.flatnonzero(c.context_mask(group) | near)
        plane = scores.adjusted_regressor(
            group, adjusted_scores.groups, share[position], group_rows
        )
        is_nonzero = np.abs(plane) > _NOTHING * np.abs(plane).max(initial=0.0)
        if is_nonzero.any():
            positions.append(position)
            rows.append(group_rows[is_nonzero])
            planes.append(plane[is_nonzero])
    if not positions:
        return deviate
    size = np.array([len(group_rows) for group_rows in rows])
    rows, planes = np.concatenate(rows), np.concatenate(planes)
    people = np.broadcast_to(r.share, r.root.shape)[rows] ** 2
    outcome = (r.raw / r.root)[rows]
    residual = scores.residual_outcome_of(adjusted_scores)
    mean, part = (v[rows] for v in r.sampled(residual))
    sums = Sums(planes * (part * r.root[rows]) / people, mean, people, size)
    rest = implied[positions] - sums.over(sums.coefficient**2 * mean * (1 - mean))
    chances = _with_observed_counts(mean, outcome, people, size)
    sums = sums._replace(mean=chances, rest=np.maximum(rest, 0.0))
    tails, tilted = tail_deviates(
        sums, deviate[positions] * np.sqrt(adjusted_scores.variance[subset][positions])
    )
    misfit = np.maximum(_misfit(sums, tilted, outcome - mean), r.misfit(residual))
    deviate[positions] = tails / np.sqrt(misfit)
    return deviate


def _with_observed_counts(mean, outcome, people, size):
    """Shift the log odds of each group so that its expected count is the observed one."""
    mean = np.clip(mean, _LEAST, 1 - _LEAST)
    sums = Sums(np.ones(len(mean)), mean, people, size)
    n = sums.over(1.0)
    target = np.clip(sums.over(outcome), 0.5, n - 0.5)
    log_odds = special.logit(mean)
    return special.expit(log_odds + sums.per_row(_tilt(sums, target - sums.over(mean))[0]))


def _misfit(sums, p, residual):
    """Return how many times squared residuals exceed what chances p explain; 1 within errors."""
    a, e = sums.coefficient, sums.mean
    expected = sums.over(a**2 * (p * (1 - p) + (p - e) ** 2))
    error = np.sqrt(sums.over(p * (1 - p) * (a**2 * (1 - 2 * e)) ** 2))
    observed = sums.over((a * residual) ** 2)
    return np.where(observed > expected + 2 * error, np.maximum(observed / expected, 1), 1.0)


def tail_deviates(sums: Sums, total: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return normal deviates of the tails beyond some totals of sums of independent 0/1 outcomes.

    Returns
    -------
    deviate : ndarray of float, shape (n_groups,)
        r* = w + log(u / w) / w (Barndorff-Nielsen 1986, :doi:`10.1093/biomet/73.2.307`), from the
        saddlepoint of the law of each sum; at the end of its range, the deviate of its probability.
    mean : ndarray of float, shape (n_rows,)
        The chances at which each sum is expected to have its total.
    """
    a, e = sums.coefficient, sums.mean
    tilt, is_end = _tilt(sums, total)
    change = sums.per_row(tilt) * a
    p = special.expit(special.logit(e) + change)
    grown = np.logaddexp(np.log1p(-e), np.log(e) + change) - change * e
    grown = sums.over(grown) + sums.rest * tilt**2 / 2
    w = np.sqrt(2 * np.maximum(tilt * total - grown, _SMALLEST))
    u = np.abs(tilt) * np.sqrt(sums.over(a**2 * p * (1 - p)) + sums.rest)
    inside = w + np.log(np.maximum(u, _SMALLEST) / w) / w
    deviate = np.where(is_end, -special.ndtri_exp(-(w**2) / 2), inside)
    return np.sign(total) * deviate, p


def _tilt(sums, total):
    """Return the change in log odds, per unit of the coefficient, that gives each sum its total.

    Also return whether the total is at the end of the range of the sum.
    """
    a, log_odds = sums.coefficient, special.logit(sums.mean)
    largest = np.maximum(sums.largest(), _SMALLEST)
    high = _FARTHEST / largest
    low, tilt = -high, np.zeros(len(total))
    for _ in range(_STEPS):
        p = special.expit(log_odds + sums.per_row(tilt) * a)
        beyond = sums.over(a * (p - sums.mean)) + sums.rest * tilt - total
        low, high = np.where(beyond > 0, low, tilt), np.where(beyond > 0, tilt, high)
        slope = sums.over(a**2 * p * (1 - p)) + sums.rest
        newton = tilt - beyond / np.maximum(slope, _SMALLEST)
        after = np.where((low <= newton) & (newton <= high), newton, (low + high) / 2)
        moved, tilt = np.abs(after - tilt) * largest, after
        if moved.max(initial=0) < _EXACT:
            break
    return tilt, np.abs(tilt) * largest > _FARTHEST / 2
