"""Scores: the test statistic of every candidate, given the causes already chosen."""

from copy import copy
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import sparse, special

from skdisc.subgroup._disparity_pursuit._adjustment import LEAST, Residuals, sums_by
from skdisc.subgroup._disparity_pursuit._context_groups import CellMoments, ContextGroups
from skdisc.subgroup._disparity_pursuit._tails import deviates

OVERLAP = 0.05  # share of the members that a group's information must amount to
_KEPT = 40  # fits that are remembered
_LEFT = 0.05  # share of its information that the chosen causes must leave to a candidate
_ROUNDING = 1e-20  # share of the variance of raw outcomes up to which nothing is left of them
_SMALLEST = 1e-300  # instead of zero, where nothing is divided
_EQUAL = 1e-9  # of the squares that two fits leave, by how much equal ones may differ
_LEAST_DF = 0.01  # fewer degrees of freedom are none


class Fit(NamedTuple):
    """A joint least-squares fit of chosen groups.

    ``effect``, the mean one, and ``covariance`` (sandwich) of the ``groups``; ``slope``, the effect
    per unit of `Scores.room`; ``outcome``: what the fit leaves.
    """

    groups: list
    effect: np.ndarray
    covariance: np.ndarray
    slope: np.ndarray
    outcome: np.ndarray


class Scores:
    """Orthogonal scores of candidates.

    Group g has the regressor f = 1_C (d_P - m), with m = 0, or the mean of d_P over C where
    candidates are centered in their contexts. In a joint fit, its effect on each outcome is
    proportional to the ``room`` v of that outcome, on one of the `Residuals.scales`. Slopes b solve
    F' (r - v F b) = 0: weighted least squares of r on v F, weights 1 / v. The score of a candidate
    beside the fit is f' (r - v F b), that of f without what F explains.

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
        planes = [self.d, residuals.root[None]] if residuals.is_centered else [self.d]
        self._moments = CellMoments(c.cells, planes)
        self.middle = np.zeros(len(c))
        if residuals.is_centered:
            weight = self._over(residuals.root[None] ** 2)[0]
            self.middle = self._along(residuals.root[None])[0] / np.maximum(weight, _SMALLEST)
        self.information = self.squares(np.ones(c.n_rows))
        self._seen, self._lost, self._known, self._scales = {}, {}, {}, {}
        self._take("difference")
        self.score = self.along(residuals.outcome[None])[0]
        members = c.over_groups(c.is_part.__getitem__, residuals.root[None] ** 2)[0]
        self.testable = self.information > OVERLAP * members
        self._rounding = _ROUNDING * self.variances(residuals.raw / residuals.share)

    def _take(self, scale):
        """Take one of the scales, and what was found on it."""
        if scale not in self._scales:
            room = self.residuals.scales[scale]
            seen = {groups: kept for groups, kept in self._seen.items() if not groups}
            self._scales[scale] = room, self.squares(room), {}, seen
        self.scale = scale
        self.room, self.in_room, self._crossed, self._seen = self._scales[scale]

    def on(self, scale: str) -> "Scores":
        """Return the scores with joint fits on another scale, one of `Residuals.scales`."""
        found = copy(self)
        found._take(scale)
        return found

    def on_best_scale(self, groups: list[int]) -> "Scores":
        """Return the scores on the scale on which groups fit best; of equal ones, the first."""
        if not groups:
            return self
        most = self.loss(groups) * (1 + _EQUAL)
        return self.on(next(s for s, loss in self._losses(groups).items() if loss <= most))

    def loss(self, groups: list[int]) -> float:
        """Return the squares that a joint fit of some groups leaves on the best scale."""
        return min(self._losses(groups).values())

    def _losses(self, groups):
        """Return the squares that a joint fit of some groups leaves on each scale."""
        key, r = frozenset(groups), self.residuals
        if key not in self._lost:
            self._lost[key] = {}
            for scale, room in r.scales.items():
                slope = np.linalg.pinv(self._inner(groups, scale)) @ self.score[groups]
                left = r.outcome - room * self.combined(groups, slope)
                self._lost[key][scale] = float(left @ left)
        return self._lost[key]

    def _inner(self, groups, scale):
        """Return the inner products among some groups on a scale, those known from before."""
        known = self._known.setdefault(scale, {})
        new = [g for g in groups if any((g, other) not in known for other in groups)]
        if new:
            _, beside = self._products(new, self.residuals.scales[scale], groups)
            for other, row in zip(groups, beside, strict=True):
                for g, value in zip(new, row, strict=True):
                    known[g, other] = known[other, g] = value
        inner = [[known[g, other] for other in groups] for g in groups]
        return np.reshape(inner, (len(groups), len(groups)))

    def mean_room(self, groups: list[int]) -> np.ndarray:
        """Return the mean of `room` over the information about some groups, by group."""
        return self.in_room[groups] / np.maximum(self.information[groups], _SMALLEST)

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

    def combined(
        self, groups: list[int], share: np.ndarray, rows: np.ndarray | slice = slice(None)
    ) -> np.ndarray:
        """Return the sum of some regressors, each times a number, at rows, shape (n_rows,)."""
        c, cell = self.candidates, self.candidates.cell[rows]
        at, share, total = np.array(groups, dtype=int), np.asarray(share), np.zeros(len(cell))
        for part in np.unique(c.part[at]):
            own = c.part[at] == part
            total += c.spread(at[own], share[own])[cell] * self.d[part][rows]
        if self.residuals.is_centered:
            total -= c.spread(at, share * self.middle[at])[cell] * self.residuals.root[rows]
        return total

    def regressor_beside(
        self, group: int, groups: list[int], share: np.ndarray, rows: np.ndarray
    ) -> np.ndarray:
        """Return the regressor of a group less the shares of others in it, at rows, (n_rows,)."""
        inside = self.candidates.context_mask(group)[rows]
        found = -self.combined(groups, share, rows)
        found[inside] += self._regressor(group, rows[inside])
        return found

    def _products(self, groups, values, among=None):
        """Return sums over rows of products of regressors, times values, shape (n_rows,).

        Those of all squared regressors, shape (n_groups,), and of all regressors times those of
        some groups, shape (n_groups, n). Of those ``among`` some: shapes (n_among,), (n_among, n).
        """
        c, at = self.candidates, np.array(groups, dtype=int)
        parts, of = np.unique(c.part[at], return_inverse=True)
        root = [len(self.d)] if self.residuals.is_centered else []
        squares, *cells = self._moments.over_cells(values, [*parts, *root])
        along = np.reshape(cells[len(parts) :], (len(root), *squares.shape))  # times the root
        inside = np.ascontiguousarray(c.members[c.context[at]].toarray().T)

        def of_groups(plane):
            own = np.reshape([sums[:, plane] for sums in cells], (len(cells), len(inside)))
            own = np.take(own.T, of, axis=1)
            return inside * (own - self.middle[at] * along[0][:, [plane]] if root else own)

        def of_part(part):
            return np.hstack([squares[:, [part]], of_groups(part), *along[:, :, [part]]])

        sums = c.sums if among is None else partial(c.sums_of, among)
        found = sums(of_part, 1 + len(at) + len(root))
        total, beside = found[:, 0], found[:, 1 : 1 + len(at)]
        if root:
            of_root = np.hstack([along[0][:, root], of_groups(root[0])])
            own = slice(None) if among is None else among
            shared, m = (c.members @ of_root)[c.context[own]], self.middle[own]
            total = total + m**2 * shared[:, 0] - 2 * m * found[:, -1]
            beside = beside - m[:, None] * shared[:, 1:]
        return total, beside

    def crossed(self, groups: list[int]) -> np.ndarray:
        """Return the inner products, weighted by room, of all regressors with those of groups.

        Returns
        -------
        ndarray of float, shape (n_groups, n)
        """
        new = [group for group in groups if group not in self._crossed]
        if new:
            _, beside = self._products(new, self.room)
            self._crossed |= dict(zip(new, beside.T, strict=True))
        crossed = [self._crossed[group] for group in groups]
        return np.array(crossed).reshape(len(groups), len(self.candidates)).T

    def squares(self, values: np.ndarray) -> np.ndarray:
        """Return the sum of squared regressors times values, shape (n_rows,), of each group."""
        return self._products([], values)[0]

    def fit(self, groups: list[int]) -> Fit:
        """Return the joint fit of some groups."""
        _, inverse, slope, left = self._solved(groups)
        noise, room = self.residuals.noise(left), self.mean_room(groups)
        if self.residuals.cluster is None:
            sums = self._products(groups, noise**2, groups)[1]
        else:
            sums = self._sums_of_clusters(groups, noise)
            sums = sums @ sums.T
        covariance = room[:, None] * (inverse @ sums @ inverse) * room
        return Fit(list(groups), slope * room, covariance, slope, left)

    def _solved(self, groups):
        """Return inner products with groups, their inverse, slopes, and what they leave."""
        cross, r = self.crossed(groups), self.residuals
        inverse = np.linalg.pinv(cross[groups])
        slope = inverse @ self.score[groups]
        return cross, inverse, slope, r.outcome - self.room * self.combined(groups, slope)

    def _sums_of_clusters(self, groups, noise):
        """Return the scores of groups by cluster, shape (n, n_clusters)."""
        return self.residuals.by_cluster(self.regressors(groups) * noise)

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
        groups, r = fit.groups, self.residuals
        inverse = np.linalg.pinv(self.crossed(groups)[groups])
        noise, leverage = r.noise(fit.outcome), np.zeros(self.candidates.n_rows)
        total, squares, error = np.zeros((3, len(groups)))
        for k, group in enumerate(groups):
            f = self.regressors([group])
            leverage += self.room * f[0] * self.combined(groups, inverse[k])
            information = r.by_cluster(f**2)[0]
            total[k], squares[k] = information.sum(), ((information / r.share) ** 2).sum()
        freedom = np.maximum(1 - r.by_cluster(leverage[None])[0] / r.share**2, LEAST)
        for k in range(len(groups)):
            influence = r.by_cluster((self.combined(groups, inverse[k]) * noise)[None])[0]
            error[k] = np.sqrt(((influence / freedom) ** 2).sum())
        error *= self.mean_room(groups)
        df = total**2 / np.maximum(squares, _SMALLEST) - 1
        with np.errstate(invalid="ignore"):
            quantile = special.stdtrit(np.where(df > _LEAST_DF, df, np.nan), 1 - level / 2)
        return error, quantile, freedom

    def given(self, groups: list[int]) -> "BesideFit":
        """Return the scores of all candidates beside some groups that are fitted."""
        key = frozenset(groups)
        if key not in self._seen:
            if len(self._seen) >= _KEPT:
                self._seen.pop(next(iter(self._seen)))
            self._seen[key] = self._beside(sorted(groups))
        return self._seen[key]

    def _beside(self, groups):
        cross, inverse, slope, left = self._solved(groups)
        share = cross @ inverse
        own = 1 - (share * cross).sum(axis=1) / np.maximum(self.in_room, _SMALLEST)
        implied = self._variances(groups, share, self.residuals.implied(left))
        variance = np.maximum(implied, self.variances(self.residuals.noise(left), groups, share))
        known = self.testable & (own > _LEFT)
        known &= variance > self._rounding
        known[groups] = False
        score, information = self.score - cross @ slope, own * self.information
        found = BesideFit(
            groups, slope, score, information, variance, known, self.least, self.scale
        )
        return found._replace(deviate=deviates(self, found, share, left, implied))

    def _variances(self, groups, share, varies):
        """Return the variances of scores, of which groups take a share, if rows vary so much."""
        total, beside = self._products(groups, varies)
        return total + (share * (share @ beside[groups] - 2 * beside)).sum(axis=1)

    def variances(
        self, noise: np.ndarray, groups: list[int] | None = None, share: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the variances of scores, of which groups take a share, as residuals show them."""
        if groups is None or share is None:
            groups, share = [], np.zeros((len(self.candidates), 0))
        if self.residuals.cluster is None:
            return self._variances(groups, share, noise**2)
        return self._variances_by_cluster(groups, share, noise)

    def _variances_by_cluster(self, groups, share, noise):
        """Return the variances of scores, as `_variances`, from sums by cluster."""
        own = self._sums_of_clusters(groups, noise)
        variance = ((share @ (own @ own.T)) * share).sum(axis=1)
        for at, sums in self._cluster_sums(noise):
            variance[at] += np.asarray(sums.multiply(sums).sum(axis=1)).ravel()
            variance[at] -= 2 * (share[at] * (sums @ own.T)).sum(axis=1)
        return variance

    def _cluster_sums(self, noise):
        """Yield the candidates of each part, and the sums of their scores by cluster."""
        c, cluster = self.candidates, self.residuals.cluster
        by_cluster = sums_by(cluster)
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


class BesideFit(NamedTuple):
    """The scores of all candidates beside the groups of a fit.

    ``groups``: those of the fit, with their slopes ``fitted``; ``score``: that of f without what
    the fit explains; ``information``: by how much a mean effect of 1 moves it; ``variance`` of the
    score; ``known``: candidates with enough information; ``least``: effects that count as none;
    ``scale`` of the fit; ``deviate``: ``z``, or the normal deviate of the tail where people are
    few.
    """

    groups: list
    fitted: np.ndarray
    score: np.ndarray
    information: np.ndarray
    variance: np.ndarray
    known: np.ndarray
    least: float
    scale: str
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
