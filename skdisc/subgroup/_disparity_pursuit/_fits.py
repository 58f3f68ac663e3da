"""Joint fits of chosen groups: residuals, standard errors, and the scores of other candidates."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from skdisc._expectations import LEAST
from skdisc._stats._agreement import hidden_variance
from skdisc._stats._means import Welch
from skdisc.subgroup._disparity_pursuit._skewness import skewness_of

SMALLEST = 1e-300  # instead of zero, where nothing is divided
_EXACT_ERROR = 1e-9  # an error that is a smaller share of the effect is one of rounding
_EXACT = 1e-12  # share of the squares that a fit must leave to differ from rounding
_LEAST_DF = 0.01  # fewer degrees of freedom are none


class Fit(NamedTuple):
    """A joint least-squares fit of chosen groups.

    ``effect``, the mean one, and ``covariance`` (sandwich) of the ``groups``; ``slope``, the effect
    per unit of `Scores.room`; ``outcome``: the residual outcomes.
    """

    groups: list
    effect: np.ndarray
    covariance: np.ndarray
    slope: np.ndarray
    outcome: np.ndarray


class Losses:
    """The squares that joint fits of groups leave on each scale.

    With v for the room of each outcome, they are r'r - 2 b'F'v r + b'F'v² F b: the inner products
    of groups are enough, without a pass over the rows for each set of them.
    """

    def __init__(self, scores: Any) -> None:
        r = scores.residuals
        self.scales, self.rooms = list(r.scales), np.array(list(r.scales.values()))
        self.total, self.moved = r.outcome @ r.outcome, scores.along(self.rooms * r.outcome)
        self._losses, self._products = {}, {}

    def of(self, scores: Any, groups: list[int]) -> dict[str, float]:
        """Return the squares that a joint fit of some groups leaves, by scale."""
        key, losses = frozenset(groups), []
        if key not in self._losses:
            for moved, *products in zip(self.moved, *self._inner(scores, groups), strict=True):
                slope = np.linalg.pinv(products[0]) @ scores.score[groups]
                losses.append(self.total - 2 * slope @ moved[groups] + slope @ products[1] @ slope)
            losses = np.maximum(losses, _EXACT * self.total).tolist()
            self._losses[key] = dict(zip(self.scales, losses, strict=True))
        return self._losses[key]

    def _inner(self, scores, groups):
        """Return the inner products among some groups, each shape (n_scales, n, n).

        They are weighted by the rooms of all scales, and by the squares of the rooms.
        """
        cache, queue = self._products, list(groups)
        while queue:  # at first those that are new to most
            new = [[g for g in queue if (one, g) not in cache] for one in queue]
            most = max(range(len(queue)), key=lambda k: len(new[k]))
            one, new_groups = queue.pop(most), new[most]
            products_with = self._products_with(scores, one, new_groups)
            for g, products in zip(new_groups, products_with, strict=True):
                cache[one, g] = cache[g, one] = products
        inner = [cache[g, h] for g in groups for h in groups]
        shape = len(groups), len(groups), 2 * len(self.rooms)
        return np.split(np.reshape(inner, shape).transpose(2, 0, 1), 2)

    def _products_with(self, scores, group, partners):
        """Return the inner products of a group with its partners, (n_partners, 2 n_scales)."""
        if not partners:
            return []
        c, rows = scores.candidates, np.flatnonzero(scores.candidates.context_mask(group))
        rooms, cell, n = self.rooms[:, rows], c.cell[rows], c.members.shape[1]
        values = scores.regressor(group, rows) * np.concatenate([rooms, rooms**2])

        def by_cell(plane):
            sums = [np.bincount(cell, plane[rows] * v, n) for v in values]
            return np.stack(sums, axis=1).__getitem__

        products = c.sums_of(partners, lambda part: by_cell(scores.d[part]), len(values))
        if scores.residuals.is_centered:
            shared = (c.members @ by_cell(scores.residuals.root)(slice(None)))[c.context[partners]]
            products -= scores.middle[partners][:, None] * shared
        return products


def errors(
    scores: Any, fit: Fit, level: float | np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return standard errors of the effects of a fit as the jackknife has them (HC3).

    Parameters
    ----------
    level : float or ndarray of float, shape (n_groups,)
        One minus the confidence level of intervals.

    Returns
    -------
    error : ndarray of float, shape (n_groups,)
        Larger than by `Fit.covariance` where groups have few members, because the fit makes the
        residuals of these small.
    reach : ndarray of float, shape (2, n_groups)
        By how many errors an interval extends below the effect and above it: quantiles of t, whose
        degrees of freedom are the effective number of rows, or clusters, that have information
        about a group, less one; for numbers, by `Welch` with their skewness.
    freedom : ndarray of float, shape (n_rows,) or (n_clusters,)
        The share of its residuals that the fit leaves to each row, or cluster.
    """
    groups, r = fit.groups, scores.residuals
    inverse = np.linalg.pinv(scores.crossed(groups)[groups])
    noise, leverage = r.noise(fit.outcome), np.zeros(scores.candidates.n_rows)
    total, squares, error = np.zeros((3, len(groups)))
    for k, group in enumerate(groups):
        f = scores.regressors([group])
        leverage += scores.room * f[0] * scores.combined(groups, inverse[k])
        information = r.by_cluster(f**2)[0]
        total[k], squares[k] = information.sum(), ((information / r.share) ** 2).sum()
    freedom = np.maximum(1 - r.by_cluster(leverage[None])[0] / r.share**2, LEAST)
    for k in range(len(groups)):
        factor = scores.combined(groups, inverse[k])
        influence = r.by_cluster((factor * noise)[None])[0]
        hidden = variance_hidden_by(scores, groups[k], factor * r.root / r.share, factor * noise)
        error[k] = np.sqrt(((influence / freedom) ** 2).sum() + hidden)
    spread = error / np.maximum(np.abs(np.diag(inverse)), SMALLEST)  # of scores
    error *= scores.mean_room(groups)
    df = total**2 / np.maximum(squares, SMALLEST) - 1
    # Residuals that are all 0 up to rounding, as where all numbers of each side are equal, tell
    # nothing about those of other people.
    varies = error > _EXACT_ERROR * np.abs(fit.effect)
    df = np.where((df > _LEAST_DF) & varies, df, np.nan)
    test = Welch(np.zeros(len(groups)), np.ones(len(groups)), df)
    if not r.is_binary:
        test_of_skewed = skewness_of(scores, groups, noise, spread)
        test = replace(test_of_skewed, df=df)
    low, high = test.interval(level)
    return error, np.stack([-low, high]), freedom


def variance_hidden_by(scores: Any, group: int, factor: np.ndarray, shown: np.ndarray) -> float:
    """Return the `hidden_variance` of a sum about a group and the others in its context.

    Shapes: `factor` (n_rows,), of an outcome in the sum, and `shown` (n_rows,), the same times the
    residual.
    """
    c, r = scores.candidates, scores.residuals
    if not r.is_binary:
        return 0.0
    inside, is_part = c.context_mask(group), c.is_part[c.part[group]]
    is_favorable = np.where(r.raw > 0, 1.0, 0.0)
    sides = inside & is_part & (r.root > 0), inside & ~is_part & (r.root > 0)
    return hidden_variance(
        is_favorable, sides, factor, shown, weight=r.root**2, people=r.share**2, cluster=r.cluster
    )


class AdjustedScores(NamedTuple):
    """The scores of all candidates, adjusted for the groups of a fit.

    ``groups`` of the fit, with their ``slopes``; ``score``: the score of the part of f that
    the fit does not explain; ``information``: by how much a mean effect of 1 moves it; ``variance``
    of the score; ``is_estimable``: candidates with enough information; ``least``: effects up to
    this size count as none; ``scale`` of the fit; ``deviate``: ``z``, or, where people are few, the
    normal deviate of the tail.
    """

    groups: list
    slopes: np.ndarray
    score: np.ndarray
    information: np.ndarray
    variance: np.ndarray
    is_estimable: np.ndarray
    least: float
    scale: str
    deviate: np.ndarray | None = None

    @property
    def z(self) -> np.ndarray:
        """The standardized score of each candidate, 0 where not estimable."""
        root = np.sqrt(np.where(self.is_estimable, self.variance, 1.0))
        beyond = np.maximum(np.abs(self.score) - self.least * self.information, 0)
        return np.where(self.is_estimable, np.sign(self.score) * beyond / root, 0.0)

    @property
    def effect(self) -> np.ndarray:
        """The effect of each candidate, adjusted for the fit; NaN where not estimable."""
        return np.where(
            self.is_estimable, self.score / np.where(self.is_estimable, self.information, 1), np.nan
        )

    @property
    def error(self) -> np.ndarray:
        """The standard error of each effect; NaN where not estimable."""
        root = np.sqrt(np.where(self.is_estimable, self.variance, np.nan))
        return root / np.where(self.is_estimable, self.information, 1)
