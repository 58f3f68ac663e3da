"""Scores: the test statistic of every candidate, given the causes already chosen."""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse, special

from skdisc.subgroup._disparity_pursuit._adjustment import LEAST, Residuals
from skdisc.subgroup._disparity_pursuit._context_groups import ContextGroups
from skdisc.subgroup._disparity_pursuit._tails import deviates

OVERLAP = 0.05  # share of the members that a group's information must amount to
_KEPT = 40  # fits that are remembered
_LEFT = 0.05  # share of its information that the chosen causes must leave to a candidate
_ROUNDING = 1e-20  # share of the variance of raw outcomes up to which nothing is left of them
_LEAST_DF = 0.01  # fewer degrees of freedom are none


class Fit(NamedTuple):
    """A joint least-squares fit of chosen groups.

    ``effect`` and ``covariance`` (sandwich) of the ``groups``; ``outcome``: what the fit leaves.
    """

    groups: list
    effect: np.ndarray
    covariance: np.ndarray
    outcome: np.ndarray


class Scores:
    """Orthogonal scores of candidates.

    Group g has the regressor f = 1_C (d_P - m), with m = 0, or the mean of d_P over C where
    candidates are centered in their contexts.

    Parameters
    ----------
    candidates : ContextGroups
    residuals : Residuals
    least : float, default=0
        Effects up to this size count as none.
    """

    def __init__(self, candidates: ContextGroups, residuals: Residuals, least: float = 0.0) -> None:
        self.candidates, self.residuals, self.least = candidates, residuals, least
        c, self.d = candidates, residuals.parts
        self._crossed, self._seen = {}, {}
        self.middle = np.zeros(len(c))
        if residuals.is_centered:
            weight = self._over(residuals.root[None] ** 2)[0]
            self.middle = self._along(residuals.root[None])[0] / np.maximum(weight, 1e-300)
        self.information = self.squares(np.ones((1, c.n_rows)))[0]
        self.testable = self.information > OVERLAP * self.squares_of_members()
        self._rounding = _ROUNDING * self._variance(residuals.raw / residuals.share)

    def squares_of_members(self):
        """Return the sum of the weights of the members of each group."""
        c, weight = self.candidates, self.residuals.root**2
        return c.over_groups(c.is_part.__getitem__, weight[None])[0]

    def regressors(self, groups: list[int]) -> np.ndarray:
        """Return the regressors of some groups, shape (n, n_rows)."""
        found = np.zeros((len(groups), self.candidates.n_rows))
        for row, g in zip(found, groups, strict=True):
            at = self.candidates.context_mask(g)
            row[at] = self._regressor(g, at)
        return found

    def _regressor(self, group, at):
        """Return the regressor of a group at some rows of its context."""
        part = self.candidates.part[group]
        return self.d[part][at] - self.middle[group] * self.residuals.root[at]

    def indicators(self, groups: list[int]) -> np.ndarray:
        """Return the scaled memberships of some groups, shape (n, n_rows)."""
        c = self.candidates
        masks = [c.context_mask(g) & c.is_part[c.part[g]] for g in groups]
        return np.array(masks).reshape(len(groups), c.n_rows) * self.residuals.root

    def _over(self, values):
        """Sum values, shape (n, n_rows), over the context of each group."""
        c = self.candidates
        return c.over_contexts(values)[c.context].T

    def _along(self, values):
        """Sum d_P times values, shape (n, n_rows), over the context of each group."""
        return self.candidates.over_groups(self.d.__getitem__, values)

    def along(self, values: np.ndarray) -> np.ndarray:
        """Return the sums of regressors times values, shape (n, n_groups).

        Parameters
        ----------
        values : ndarray of float, shape (n, n_rows)
        """
        total = self._along(values)
        if self.residuals.is_centered:
            total -= self.middle * self._over(self.residuals.root * values)
        return total

    def _beside_group(self, group, values):
        """Return the sums of all regressors times that of one group times values (n, n_rows)."""
        rows = self.candidates.rows_of(group)
        f = self._regressor(group, rows.at) * values[:, rows.at]
        if self.residuals.is_centered:
            whole = np.zeros(values.shape)
            whole[:, rows.at] = f
            return self.along(whole)
        return self.candidates.over_groups(lambda p: self.d[p][rows.at], f, rows)

    def crossed(self, groups: list[int]) -> np.ndarray:
        """Return the inner products of all regressors with those of groups, shape (n_groups, n)."""
        for group in groups:
            if group not in self._crossed:
                self._crossed[group] = self._beside_group(group, np.ones((1, self.d.shape[1])))[0]
        crossed = [self._crossed[group] for group in groups]
        return np.array(crossed).reshape(len(groups), len(self.candidates)).T

    def squares(self, values: np.ndarray) -> np.ndarray:
        """Return the sums of squared regressors times values, shape (n, n_groups).

        Parameters
        ----------
        values : ndarray of float, shape (n, n_rows)
        """
        total = self.candidates.over_groups(lambda p: self.d[p] ** 2, values)
        if self.residuals.is_centered:
            root, m = self.residuals.root, self.middle
            total += m**2 * self._over(root**2 * values) - 2 * m * self._along(root * values)
        return total

    def fit(self, groups: list[int]) -> Fit:
        """Return the joint fit of some groups."""
        f = self.regressors(groups)
        return self._fitted(groups, f, np.linalg.pinv(f @ f.T))

    def _fitted(self, groups, f, inverse):
        """Return the joint fit of groups with regressors f, and the inverse of f f'."""
        r = self.residuals.outcome
        if not len(groups):
            return Fit([], np.zeros(0), np.zeros((0, 0)), r)
        effect = inverse @ (f @ r)
        left = r - effect @ f
        sums = self.by_cluster(f * self.noise(left))
        return Fit(list(groups), effect, inverse @ (sums @ sums.T) @ inverse, left)

    def errors(self, fit: Fit, level: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return standard errors of the effects of a fit as the jackknife has them (HC3).

        Parameters
        ----------
        fit : Fit
        level : float
            One minus the confidence level of intervals.

        Returns
        -------
        error : ndarray of float, shape (n_groups,)
            Larger than those of `Fit.covariance` where groups have few members, whose residuals
            the fit makes small.
        quantile : ndarray of float, shape (n_groups,)
            By how many errors an interval extends: quantiles of t, whose degrees of freedom are the
            effective number of rows, or clusters, that have information about a group, less one.
        freedom : ndarray of float, shape (n_rows,) or (n_clusters,)
            The share of its residuals that the fit leaves to each row, or cluster.
        """
        f = self.regressors(fit.groups)
        inverse = np.linalg.pinv(f @ f.T)
        share = self.residuals.share
        leverage = self.by_cluster(((inverse @ f) * f).sum(axis=0)[None])[0] / share**2
        freedom = np.maximum(1 - leverage, LEAST)
        influence = inverse @ self.by_cluster(f * self.noise(fit.outcome)) / freedom
        information = self.by_cluster(f**2)
        squares = np.maximum(((information / share) ** 2).sum(axis=1), 1e-300)
        df = information.sum(axis=1) ** 2 / squares - 1
        with np.errstate(invalid="ignore"):
            quantile = special.stdtrit(np.where(df > _LEAST_DF, df, np.nan), 1 - level / 2)
        return np.sqrt((influence**2).sum(axis=1)), quantile, freedom

    def noise(self, left: np.ndarray) -> np.ndarray:
        """Return a fit's residuals, those of one person, inflated to the variance of outcomes."""
        return left * np.sqrt(self.residuals.inflation) / self.residuals.share

    def by_cluster(self, planes: np.ndarray) -> np.ndarray:
        """Sum planes over the rows of each cluster, shape (n, n_clusters)."""
        cluster = self.residuals.cluster
        if cluster is None:
            return planes
        return planes @ _sums_by(cluster)

    def given(self, groups: list[int]) -> "BesideFit":
        """Return the scores of all candidates beside some groups that are fitted."""
        key = frozenset(groups)
        if key not in self._seen:
            if len(self._seen) >= _KEPT:
                self._seen.pop(next(iter(self._seen)))
            self._seen[key] = self._beside(sorted(groups))
        return self._seen[key]

    def _beside(self, groups):
        f, cross = self.regressors(groups), self.crossed(groups)
        inverse = np.linalg.pinv(f @ f.T)
        fit, share = self._fitted(groups, f, inverse), cross @ inverse
        information = self.information - (share * cross).sum(axis=1)
        noise, varies = self.noise(fit.outcome), self._expected(fit.outcome)
        if self.residuals.cluster is None:
            variance = self._variances(groups, f, share, np.stack([noise**2, varies])).max(axis=0)
        else:
            variance = self._variances(groups, f, share, varies[None])[0]
            variance = np.maximum(variance, self._variance_of_clusters(f, share, noise))
        known = self.testable & (information > _LEFT * self.information)
        known &= variance > self._rounding
        known[groups] = False
        score = self.along(fit.outcome[None])[0]
        found = BesideFit(fit, score, information, variance, known, self.least)
        return found._replace(deviate=deviates(self, found, f, share))

    def _expected(self, left):
        """Return the variance of each row's outcome as the fit of all rows implies it.

        Few people, none of whom has the rarer outcome or an exceptional number, do not show how
        much outcomes vary.
        """
        r = self.residuals
        if not self.is_binary:
            return r.mean((left / r.root) ** 2) * (r.root / r.share) ** 2
        chance, size = self.sampled(left)
        return chance * (1 - chance) * (size * r.root / r.share) ** 2

    def sampled(self, left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the chance of each row's outcome among the rows at hand, and the size of its part.

        A weight may depend on the outcome, as where few of the outcomes were sampled, which then
        weigh more. If rows with and without the outcome weigh c1 and c0 times a number of their
        own, a fitted mean p is a chance q of the row with odds c0 p : c1 (1 - p), and the row's
        part of a score, w (y - p), is w s (y - q) with s = (c1 (1 - p) + c0 p) / c(y), so
        that both have a mean of 0. With other weights, q is p and s is 1.

        Parameters
        ----------
        left : ndarray of float, shape (n_rows,)
            What a fit leaves of the outcome.
        """
        r = self.residuals
        p, (c0, c1) = np.clip((r.raw - left) / r.root, 0, 1), self._mean_weights
        size = (c1 * (1 - p) + c0 * p) / np.where(r.raw > 0, c1, c0)
        return c0 * p / (c0 * p + c1 * (1 - p)), size

    @cached_property
    def _mean_weights(self):
        """The mean weights of a person without and with the outcome; 1 where nobody is."""
        r = self.residuals
        weight = np.broadcast_to((r.root / r.share) ** 2, r.raw.shape)
        people = np.ones(len(r.raw)) if r.people is None else r.people
        return [
            np.average(weight[of], weights=people[of]) if of.any() else 1.0
            for of in (r.raw == 0, r.raw != 0)
        ]

    def _variances(self, groups, f, share, varies):
        """Return the variances of scores if rows vary independently so much, (n, n_groups).

        ``share``: what the chosen groups with regressors f take of each regressor.
        """
        variance = self.squares(varies)
        for k, group in enumerate(groups):
            variance -= 2 * share[:, k] * self._beside_group(group, varies)
        for own, of_rows in zip(variance, varies, strict=True):
            own += ((share @ ((f * of_rows) @ f.T)) * share).sum(axis=1)
        return variance

    @cached_property
    def is_binary(self) -> bool:
        """Whether outcomes are 0 or 1."""
        raw = self.residuals.raw
        return bool(((raw == 0) | (raw == self.residuals.root)).all())

    def _variance(self, noise):
        if self.residuals.cluster is None:
            return self.squares(noise[None] ** 2)[0]
        none = np.zeros((0, self.candidates.n_rows)), np.zeros((len(self.candidates), 0))
        return self._variance_of_clusters(*none, noise)

    def _variance_of_clusters(self, f, share, noise):
        """Return the variances of scores, as `_variances`, from sums by cluster."""
        own = self.by_cluster(f * noise)
        variance = ((share @ (own @ own.T)) * share).sum(axis=1)
        for at, sums in self._cluster_sums(noise):
            variance[at] += np.asarray(sums.multiply(sums).sum(axis=1)).ravel()
            variance[at] -= 2 * (share[at] * (sums @ own.T)).sum(axis=1)
        return variance

    def _cluster_sums(self, noise):
        """Yield the candidates of each part, and the sums of their scores by cluster."""
        c, cluster = self.candidates, self.residuals.cluster
        by_cluster = _sums_by(cluster)
        for p in np.unique(c.part):
            own = np.flatnonzero(c.part == p)
            contexts = c.members[c.context[own]]
            values = sparse.diags_array(self.d[p] * noise)
            sums = contexts @ (c.cells @ (values @ by_cluster))
            if self.residuals.is_centered:
                root = sparse.diags_array(self.residuals.root * noise)
                sums = sums - sparse.diags_array(self.middle[own]) @ (
                    contexts @ (c.cells @ (root @ by_cluster))
                )
            yield own, sparse.csr_matrix(sums)


def _sums_by(cluster):
    """Return the matrix that sums rows by cluster."""
    n = len(cluster)
    shape = n, int(cluster.max(initial=-1)) + 1
    return sparse.csr_matrix((np.ones(n), (np.arange(n), cluster)), shape=shape)


class BesideFit(NamedTuple):
    """The scores of all candidates beside the groups of a fit.

    ``score``: f' r; ``information``: f' f without what the fit explains; ``variance`` of the
    score; ``known``: candidates with enough information; ``least``: effects that count as none;
    ``deviate``: ``z``, or the normal deviate of the tail where people are few.
    """

    fit: Fit
    score: np.ndarray
    information: np.ndarray
    variance: np.ndarray
    known: np.ndarray
    least: float
    deviate: np.ndarray | None = None

    @property
    def z(self) -> np.ndarray:
        """The standardized score of each candidate, 0 where not known."""
        root = np.sqrt(np.where(self.known, self.variance, 1.0))
        beyond = np.maximum(np.abs(self.score) - self.least * self.information, 0)
        return np.where(self.known, np.sign(self.score) * beyond / root, 0.0)

    @property
    def effect(self) -> np.ndarray:
        """The effect that each candidate would have beside the fit; NaN where not known."""
        return np.where(self.known, self.score / np.where(self.known, self.information, 1), np.nan)

    @property
    def error(self) -> np.ndarray:
        """The standard error of each effect; NaN where not known."""
        root = np.sqrt(np.where(self.known, self.variance, np.nan))
        return root / np.where(self.known, self.information, 1)
