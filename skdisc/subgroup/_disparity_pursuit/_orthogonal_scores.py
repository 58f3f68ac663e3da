"""Scores: the test statistic of every candidate, given the causes already chosen."""

from copy import copy
from functools import partial

import numpy as np
from scipy import sparse

from skdisc._expectations import Unlearned
from skdisc.subgroup._disparity_pursuit._adjustment import Residuals, sums_by
from skdisc.subgroup._disparity_pursuit._context_groups import CellMoments, ContextGroups
from skdisc.subgroup._disparity_pursuit._fits import SMALLEST, BesideFit, Fit, Losses
from skdisc.subgroup._disparity_pursuit._tails import deviates

OVERLAP = 0.05  # share of the members that a group's information must amount to
_KEPT = 8  # fits that are remembered
_KEPT_COVARIANCES = 2
_LEFT = 0.05  # share of its information that the chosen causes must leave to a candidate
_ROUNDING = 1e-20  # share of the variance of raw outcomes up to which nothing is left of them
_EQUAL = 1e-9  # of the squares that two fits leave, by how much equal ones may differ
_BLOCK = 2**14  # rows at a time, which fit the cache


class Scores:
    """Orthogonal scores of candidates.

    Group g has the regressor f = 1_C (d_P - m), with m = 0, or the mean of d_P over C where
    candidates are centered in their contexts. In a joint fit, its effect on each outcome is
    proportional to the ``room`` v of that outcome, on one of the `Residuals.scales`. Slopes b solve
    F' (r - v F b) = 0: weighted least squares of r on v F, weights 1 / v. The score of a candidate
    given the fit is f' (r - v F b), the score of the part of f that F does not explain.

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
            self.middle = self._along(residuals.root[None])[0] / np.maximum(weight, SMALLEST)
        self.information = self.squares(np.ones(c.n_rows))
        self._seen, self._scales, self._shown, self._exact, self._last = {}, {}, {}, {}, {}
        self._unlearned = {}
        self._take("difference")
        self.score = self.along(residuals.outcome[None])[0]
        self._losses = Losses(self)
        members = c.over_groups(c.is_part, residuals.root[:, None] ** 2)[:, 0]
        # With less information the legitimate columns nearly determine who belongs to a group, and
        # nobody like its members is left to compare them with.
        self.testable = self.information > OVERLAP * members
        self._rounding = _ROUNDING * self.covariances([], residuals.raw / residuals.share)[0]

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
        return self.on(next(s for s, loss in self._losses.of(self, groups).items() if loss <= most))

    def loss(self, groups: list[int]) -> float:
        """Return the squares that a joint fit of some groups leaves on the best scale."""
        return min(self._losses.of(self, groups).values())

    def mean_room(self, groups: list[int]) -> np.ndarray:
        """Return the mean of `room` over the information about some groups, by group."""
        return self.in_room[groups] / np.maximum(self.information[groups], SMALLEST)

    def unlearned(self, group: int) -> list[Unlearned]:
        """Return what the legitimate columns would still add to the effect of a group alone.

        Crossings of the columns are looked at among the people of its context.
        """
        learned, c, r = self.residuals.learned, self.candidates, self.residuals
        if learned is None or r.is_centered or not self.testable[group]:
            return []
        if group not in self._unlearned:
            part, rows = c.part[group], c.context_mask(group)
            if learned.left[part] is not None and c.context[group] == 0:
                self._unlearned[group] = learned.left[part]
            else:
                d = r.parts[part] / r.root
                self._unlearned[group] = learned.left_to_learn(learned.outcome, d, rows)
        return self._unlearned[group]

    def regressors(self, groups: list[int]) -> np.ndarray:
        """Return the regressors of some groups, shape (n, n_rows)."""
        found = np.zeros((len(groups), self.candidates.n_rows))
        for row, g in zip(found, groups, strict=True):
            at = self.candidates.context_mask(g)
            row[at] = self.regressor(g, at)
        return found

    def regressor(self, group: int, rows: np.ndarray) -> np.ndarray:
        """Return the regressor of a group at some rows of its context."""
        part = self.candidates.part[group]
        return self.d[part][rows] - self.middle[group] * self.residuals.root[rows]

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
        return self.candidates.over_groups(self.d, values.T).T

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
        c, r, at = self.candidates, self.residuals, np.array(groups, dtype=int)
        share, planes = np.asarray(share), []
        for part in np.unique(c.part[at]):
            own = c.part[at] == part
            planes.append((c.spread(at[own], share[own]), self.d[part]))
        if r.is_centered:
            planes.append((c.spread(at, -share * self.middle[at]), r.root))
        cell = c.cell[rows]
        total = np.zeros(len(cell))
        for first in range(0, len(cell), _BLOCK):
            some = slice(first, first + _BLOCK)
            here = some if isinstance(rows, slice) else rows[some]
            for by_cell, plane in planes:
                total[some] += by_cell[cell[some]] * plane[here]
        return total

    def regressor_beside(
        self, group: int, groups: list[int], share: np.ndarray, rows: np.ndarray
    ) -> np.ndarray:
        """Return the regressor of a group less the shares of others in it, at rows, (n_rows,)."""
        inside = self.candidates.context_mask(group)[rows]
        found = -self.combined(groups, share, rows)
        found[inside] += self.regressor(group, rows[inside])
        return found

    def _products(self, groups, values, among=None):
        """Return sums over rows of products of regressors, times values, shape (n_rows,).

        The sums of all squared regressors, shape (n_groups,), and of all regressors times the
        regressors of `groups`, shape (n_groups, n). With ``among``, for these candidates only:
        shapes (n_among,) and (n_among, n).
        """
        c, at = self.candidates, np.array(groups, dtype=int)
        parts, of = np.unique(c.part[at], return_inverse=True)
        root = [len(self.d)] if self.residuals.is_centered else []
        moments = self._moments.over_cells(values, [*parts, *root])
        squares, of_parts, along = np.split(moments, [1, 1 + len(parts)])  # along the root
        inside = np.ascontiguousarray(c.members[c.context[at]].toarray().T)

        def of_groups(plane, cells):
            own = np.take(np.ascontiguousarray(of_parts[:, cells, plane].T), of, axis=1)
            if root:
                own = own - self.middle[at] * along[0, cells, plane, None]
            return inside[cells] * own

        def of_part(part):
            return lambda cells: np.hstack(
                [
                    *squares[:, cells, part, None],
                    of_groups(part, cells),
                    *along[:, cells, part, None],
                ]
            )

        sums = c.sums if among is None else partial(c.sums_of, among)
        found = sums(of_part, 1 + len(at) + len(root))
        total, beside = found[:, 0], found[:, 1 : 1 + len(at)]
        if root:
            everywhere = slice(None)
            of_root = np.hstack([along[0, :, root].T, of_groups(root[0], everywhere)])
            own = everywhere if among is None else among
            shared, m = (c.members @ of_root)[c.context[own]], self.middle[own]
            total = total + m**2 * shared[:, 0] - 2 * m * found[:, -1]
            beside = beside - m[:, None] * shared[:, 1:]
        return total, beside

    def crossed(self, groups: list[int]) -> np.ndarray:
        """Return the inner products, weighted by room, of all regressors and those of `groups`.

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
        _, inverse, slope = self._solved(groups)
        left = self.left(groups, slope)
        noise, room = self.residuals.noise(left), self.mean_room(groups)
        if self.residuals.cluster is None:
            sums = self._products(groups, noise**2, groups)[1]
        else:
            sums = self._sums_of_clusters(groups, noise)
            sums = sums @ sums.T
        covariance = room[:, None] * (inverse @ sums @ inverse) * room
        return Fit(list(groups), slope * room, covariance, slope, left)

    def _solved(self, groups):
        """Return inner products with groups, their inverse, and slopes."""
        cross = self.crossed(groups)
        inverse = np.linalg.pinv(cross[groups])
        return cross, inverse, inverse @ self.score[groups]

    def left(self, groups: list[int], slope: np.ndarray) -> np.ndarray:
        """Return what a fit of some groups, with these slopes, leaves of the outcome, (n_rows,)."""
        return self.residuals.outcome - self.room * self.combined(groups, slope)

    def left_by(self, given: BesideFit) -> np.ndarray:
        """Return the residuals of a fit, (n_rows,); the last ones are remembered."""
        key = self.scale, tuple(given.groups)
        if key not in self._last:
            self._last.clear()
            self._last[key] = self.left(given.groups, given.slopes)
        return self._last[key]

    def _sums_of_clusters(self, groups, noise):
        """Return the scores of groups by cluster, shape (n, n_clusters)."""
        return self.residuals.by_cluster(self.regressors(groups) * noise)

    def given(self, groups: list[int]) -> BesideFit:
        """Return the scores of all candidates, adjusted for a fit of some groups."""
        key = frozenset(groups)
        if key not in self._seen:
            if len(self._seen) >= _KEPT:
                self._seen.pop(next(iter(self._seen)))
            self._seen[key] = self._beside(sorted(groups), sorted(groups))
        return self._seen[key]

    def nearly_given(self, groups: list[int], fitted: list[int]) -> BesideFit:
        """Return scores adjusted for some of the groups of a fit, with the variances of this fit.

        So no choice of groups needs another pass over the rows.
        """
        return self._beside(sorted(groups), sorted(fitted))

    def one_given(self, own: int, groups: list[int]) -> BesideFit:
        """Return the scores adjusted for all of `groups` but `own`, with the variance of `own`.

        The variances of all other scores are infinite.
        """
        return self.exactly(self._beside(sorted(g for g in groups if g != own)), own)

    def exactly(self, given: BesideFit, own: int) -> BesideFit:
        """Return scores with the variance of one candidate as the groups of the fit leave it."""
        key = self.scale, frozenset(given.groups), own
        variance, deviate = given.variance.copy(), given.deviate.copy()
        if key not in self._exact:
            share, implied, variance[own] = self._variance_of(own, given)
            known = self._known(given.groups, given.information, variance)
            found = given._replace(variance=variance, known=known)
            deviate[own] = deviates(self, found, [own], share[None], np.array([implied]))[0]
            self._exact[key] = variance[own], deviate[own]
        variance[own], deviate[own] = self._exact[key]
        known = self._known(given.groups, given.information, variance)
        return given._replace(variance=variance, known=known, deviate=deviate)

    def _variance_of(self, own, given):
        """Return what groups of a fit take of one candidate, and the variance of its score.

        That which the fit implies, and the larger of it and what residuals show.
        """
        cross, inverse, _ = self._solved(given.groups)
        share, r = cross[own] @ inverse, self.residuals
        left = self.left_by(given)
        f = self.regressors([own])[0] - self.combined(given.groups, share)
        implied = f**2 @ r.implied(left)
        return share, implied, max(implied, (r.by_cluster((f * r.noise(left))[None]) ** 2).sum())

    def _known(self, groups, information, variance):
        """Return which candidates keep enough information, given some groups."""
        known = self.testable & (information > _LEFT * self.information)
        known &= variance > self._rounding
        known[groups] = False
        return known

    def _beside(self, groups, fitted=None):
        """Return scores with the variances that a fit leaves; None: infinite ones."""
        cross, inverse, slope = self._solved(groups)
        share = cross @ inverse
        own = 1 - (share * cross).sum(axis=1) / np.maximum(self.in_room, SMALLEST)
        score, information = self.score - cross @ slope, own * self.information
        implied = shown = np.full(len(own), np.inf)
        if fitted is not None:
            among = np.searchsorted(fitted, groups)
            implied, shown = (
                total + (share * (share @ cov[groups][:, among] - 2 * cov[:, among])).sum(axis=1)
                for total, cov in self._covariances_of(fitted)
            )
        variance = np.maximum(implied, shown)
        known = self._known(groups, information, variance)
        found = BesideFit(
            groups, slope, score, information, variance, known, self.least, self.scale
        )
        everyone = np.arange(len(known))
        return found._replace(deviate=deviates(self, found, everyone, share, implied))

    def _covariances_of(self, groups):
        """Return `covariances` with some groups, as their fit implies them and as it shows them."""
        key, seen = (self.scale, frozenset(groups)), self._shown
        if key in seen:
            seen[key] = seen.pop(key)  # the latest
        else:
            left = self.left(groups, self._solved(groups)[2])
            implied = self._products(groups, self.residuals.implied(left))
            seen[key] = implied, self.covariances(groups, self.residuals.noise(left))
        if len(seen) > _KEPT_COVARIANCES:
            seen.pop(next(iter(seen)))
        return seen[key]

    def covariances(self, groups: list[int], noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the variances of all scores, and their covariances with the scores of `groups`.

        Parameters
        ----------
        groups : list of int
        noise : ndarray of float, shape (n_rows,)
            Residuals.

        Returns
        -------
        variance : ndarray of float, shape (n_groups,)
        covariance : ndarray of float, shape (n_groups, n)
        """
        if self.residuals.cluster is None:
            return self._products(groups, noise**2)
        own = self._sums_of_clusters(groups, noise)
        n = len(self.candidates)
        variance, covariance = np.zeros(n), np.zeros((n, len(own)))
        for at, sums in self._cluster_sums(noise):
            variance[at] = np.asarray(sums.multiply(sums).sum(axis=1)).ravel()
            covariance[at] = sums @ own.T
        return variance, covariance

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
