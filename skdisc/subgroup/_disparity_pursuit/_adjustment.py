"""Residuals of outcomes and memberships given the legitimate columns."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from skdisc._expectations import Expectations
from skdisc._utils._frequency import people_in

_LEAST_CHANCE = 0.002  # an expected chance is at least this far from 0 and 1,
_OF_MEAN = 0.1  # or this share of the mean chance
_ROUNDING = 1e-12  # relative: outcomes that differ by no more are equal


@dataclass(frozen=True)
class Residuals:
    """Outcomes and protected parts, adjusted for the legitimate columns; scaled by root weights.

    Attributes
    ----------
    outcome : ndarray of float, shape (n_rows,)
        r = y - E[y | x].
    parts : ndarray of float, shape (n_parts, n_rows)
        d = 1_P - P(P | x).
    root : ndarray of float, shape (n_rows,)
        Roots of the weights; of the numbers of people where rows stand for many.
    inflation : ndarray of float, shape (n_rows,)
        By how much the variance of a residual is larger than its square shows.
    learned : Expectations or None
        None if the expectations were given.
    raw : ndarray of float, shape (n_rows,)
        Outcomes, scaled.
    cluster : ndarray of int, shape (n_rows,), or None
        Numbers from 0.
    is_centered : bool
        Whether each candidate is centered within its own context.
    people : ndarray of int64, shape (n_rows,), or None
        Number of equal people of each row; None: 1.
    """

    outcome: np.ndarray
    parts: np.ndarray
    root: np.ndarray
    inflation: np.ndarray
    learned: Expectations | None
    raw: np.ndarray
    cluster: np.ndarray | None = None
    is_centered: bool = False
    people: np.ndarray | None = None

    @property
    def n_people(self):
        """Number of people."""
        return self.people_in(np.ones(len(self.outcome), dtype=bool))

    def people_in(self, mask):
        """Return the number of people in the rows of a mask."""
        return people_in(mask, self.people)

    @cached_property
    def share(self):
        """The ratio of scaled numbers of a row to those of one person: the root of `people`."""
        return 1.0 if self.people is None else np.sqrt(self.people)

    def mean(self, values):
        """Return the mean over the people of a number for each row."""
        return np.average(values, weights=self.people)

    @cached_property
    def scales(self) -> dict:
        """By scale, the factors that effects of a group are proportional to, each (n_rows,).

        Where an outcome is very rare or very common, an effect cannot be as large as elsewhere.
        With an expected probability e, equal odds ratios are effects proportional to e (1 - e), to
        first order, and equal ratios are effects proportional to e, or to 1 - e.
        """
        scales = {"difference": np.ones(len(self.raw))}
        if not self.is_binary or self.is_centered:  # or all have the same chance
            return scales
        e = self._chances
        return scales | {
            "odds ratio": e * (1 - e),
            "ratio": e,
            "ratio of the opposite outcome": 1 - e,
        }

    @cached_property
    def _chances(self):
        """The predicted probability of outcome 1, from the other rows, shape (n_rows,)."""
        expected = self._expected_by_others()
        mean = np.average(expected, weights=self.root**2) if len(expected) else 0.5
        least = max(min(_LEAST_CHANCE, _OF_MEAN * mean, _OF_MEAN * (1 - mean)), 1e-9)
        return np.clip(expected, least, 1 - least)

    def _expected_by_others(self):
        """Return the prediction of each outcome from all other rows.

        For values that few people have, predictions spread too far, because of their own errors.
        So they are shrunk to their mean by as much.
        """
        weight, residual = self.root**2, self.outcome / self.root * self.inflation
        expected = self.raw / self.root - residual
        mean = weight @ expected / max(weight.sum(), 1e-300)
        deviation, error = expected - mean, residual**2 * (1 - 1 / self.inflation)
        shrinkage = 1 - (weight @ error) / max(weight @ deviation**2, 1e-300)
        return mean + np.clip(shrinkage, 0, 1) * deviation

    def noise(self, residual: np.ndarray) -> np.ndarray:
        """Return a fit's residuals per person, inflated to the variance of outcomes (HC2)."""
        return residual * np.sqrt(self.inflation) / self.share

    def by_cluster(self, planes: np.ndarray) -> np.ndarray:
        """Sum planes over the rows of each cluster, shape (n, n_clusters)."""
        return planes if self.cluster is None else planes @ sums_by(self.cluster)

    def implied(self, residual: np.ndarray) -> np.ndarray:
        """Return the variance of each row's outcome as the fit of all rows implies it.

        A few people without the rarer outcome or an exceptional number do not show how much
        outcomes vary.
        """
        if not self.is_binary:
            return self.mean((residual / self.root) ** 2) * (self.root / self.share) ** 2
        chance, size = self.sampled(residual)
        return chance * (1 - chance) * (size * self.root / self.share) ** 2

    def misfit(self, residual: np.ndarray) -> float:
        """Return the variance of outcomes around a fit, divided by the variance that it implies."""
        noise, implied = self.noise(residual), self.implied(residual)
        return float(self.mean(noise**2) / max(self.mean(implied), 1e-300))

    def sampled(self, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the probability of each outcome in the sample, and the factor of its term.

        A weight may depend on the outcome, as where few of the outcomes were sampled, which then
        weigh more. If rows with and without the outcome weigh c1 and c0 times a number of their
        own, a fitted mean p is a chance q of the row with odds c0 p : c1 (1 - p), and the row's
        part of a score, w (y - p), is w s (y - q) with s = (c1 (1 - p) + c0 p) / c(y), so
        that both have a mean of 0. With other weights, q is p and s is 1.

        `residual`: the residual outcomes of a fit.
        """
        p, (c0, c1) = np.clip((self.raw - residual) / self.root, 0, 1), self._mean_weights
        size = (c1 * (1 - p) + c0 * p) / np.where(self.raw > 0, c1, c0)
        return c0 * p / (c0 * p + c1 * (1 - p)), size

    @cached_property
    def _mean_weights(self):
        """The mean weights of a person without and with the outcome; 1 if there is none."""
        weight = np.broadcast_to((self.root / self.share) ** 2, self.raw.shape)
        people = np.ones(len(self.raw)) if self.people is None else self.people
        return [
            np.average(weight[mask], weights=people[mask]) if mask.any() else 1.0
            for mask in (self.raw == 0, self.raw != 0)
        ]

    @cached_property
    def is_constant(self) -> bool:
        """Whether the outcomes of all people are equal, up to rounding."""
        counted = self.root > 0
        outcomes = self.raw[counted] / self.root[counted]
        return bool(len(outcomes) and np.ptp(outcomes) <= _ROUNDING * np.abs(outcomes).max())

    @cached_property
    def is_binary(self) -> bool:
        """Whether outcomes are 0 or 1."""
        return bool(((self.raw == 0) | (self.raw == self.root)).all())


def sums_by(cluster):
    """Return the matrix that sums rows by cluster."""
    n = len(cluster)
    shape = n, int(cluster.max(initial=-1)) + 1
    return sparse.csr_matrix((np.ones(n), (np.arange(n), cluster)), shape=shape)
