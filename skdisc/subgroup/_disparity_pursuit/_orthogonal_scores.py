"""Scores: the test statistic of every candidate, given the causes already chosen."""

from copy import copy
from functools import partial

import numpy as np
from scipy import sparse

from skdisc._expectations import Unlearned
from skdisc._verdicts._candidates import MEASURABLE
from skdisc.subgroup._disparity_pursuit._adjustment import Residuals, sums_by
from skdisc.subgroup._disparity_pursuit._context_groups import CellMoments, ContextGroups
from skdisc.subgroup._disparity_pursuit._fits import SMALLEST, AdjustedScores, Fit, Losses
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

    `least`: effects up to this size count as none.
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
        self._adjusted_scores = {}
        self._scales = {}
        self._covariances = {}
        self._exact = {}
        self._last = {}
        self._unlearned = {}
        self._take("difference")
        self.score = self.along(residuals.outcome[None])[0]
        self._losses = Losses(self)
        members = c.over_groups(c.is_part, residuals.root[:, None] ** 2)[:, 0]
        # With less information the legitimate columns nearly determine who belongs to a group, and
        # there are no similar people to compare its members with.
        self.dominated = self._dominated()
        self.testable = (self.information > OVERLAP * members) & ~self.dominated
        self._rounding = _ROUNDING * self.covariances([], residuals.raw / residuals.share)[0]

    def _dominated(self):
        """Return of which candidates the weights of a side amount to fewer than five people."""
        c, r = self.candidates, self.residuals
        weight, share = r.root**2, np.broadcast_to(r.share, r.root.shape)
        if not len(weight) or np.ptp(weight / share**2) == 0:
            return np.zeros(len(c), dtype=bool)
        moments = np.stack([weight, (weight / share) ** 2])
        inside = c.over_groups(c.is_part, moments.T)
        sides = np.array([inside, c.over_contexts(moments)[c.context] - inside])
        # Kish's effective number; a difference of sums may be next to nothing, or just below 0.
        effective = sides[..., 0] ** 2 / np.maximum(sides[..., 1], SMALLEST)
        return effective.min(axis=0) < MEASURABLE

    def _take(self, scale):
        """Switch to a scale, with the results remembered for it."""
        if scale not in self._scales:
            room = self.residuals.scales[scale]
            of_none = frozenset()  # the same on every scale
            cache = {k: v for k, v in self._adjusted_scores.items() if k == of_none}
            self._scales[scale] = room, self.squares(room), {}, cache
        self.scale = scale
        self.room, self.in_room, self._crossed, self._adjusted_scores = self._scales[scale]

    def on(self, scale: str) -> "Scores":
        """Return the scores with joint fits on another scale, one of `Residuals.scales`."""
        scores = copy(self)
        scores._take(scale)
        return scores

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
            if learned.unlearned[part] is not None and c.context[group] == 0:
                self._unlearned[group] = learned.unlearned[part]
            else:
                d = r.parts[part] / r.root
                self._unlearned[group] = learned.left_to_learn(learned.outcome, d, rows)
        return self._unlearned[group]

    def regressors(self, groups: list[int]) -> np.ndarray:
        """Return the regressors of some groups, shape (n, n_rows)."""
        regressors = np.zeros((len(groups), self.candidates.n_rows))
        for row, g in zip(regressors, groups, strict=True):
            rows = self.candidates.context_mask(g)
            row[rows] = self.regressor(g, rows)
        return regressors

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

        Shapes: `values` (n, n_rows).
        """
        total = self._along(values)
        if self.residuals.is_centered:
            total -= self.middle * self._over(self.residuals.root * values)
        return total

    def combined(
        self, groups: list[int], share: np.ndarray, rows: np.ndarray | slice = slice(None)
    ) -> np.ndarray:
        """Return the sum of some regressors, each times a number, at rows, shape (n_rows,)."""
        c, r, index = self.candidates, self.residuals, np.array(groups, dtype=int)
        planes = []
        for part in np.unique(c.part[index]):
            in_part = c.part[index] == part
            planes.append((c.spread(index[in_part], share[in_part]), self.d[part]))
        if r.is_centered:
            planes.append((c.spread(index, -share * self.middle[index]), r.root))
        cell = c.cell[rows]
        total = np.zeros(len(cell))
        for first in range(0, len(cell), _BLOCK):
            batch = slice(first, first + _BLOCK)
            block_rows = batch if isinstance(rows, slice) else rows[batch]
            for by_cell, plane in planes:
                total[batch] += by_cell[cell[batch]] * plane[block_rows]
        return total

    def adjusted_regressor(
        self, group: int, groups: list[int], share: np.ndarray, rows: np.ndarray
    ) -> np.ndarray:
        """Return the regressor of a group less its projection on others, at rows, (n_rows,)."""
        inside = self.candidates.context_mask(group)[rows]
        regressor = -self.combined(groups, share, rows)
        regressor[inside] += self.regressor(group, rows[inside])
        return regressor

    def _products(self, groups, values, subset=None):
        """Return sums over rows of products of regressors, times values, shape (n_rows,).

        The sums of all squared regressors, shape (n_groups,), and of all regressors times the
        regressors of `groups`, shape (n_groups, n). With ``subset``, for these candidates only:
        shapes (n_subset,) and (n_subset, n).
        """
        c, index = self.candidates, np.array(groups, dtype=int)
        parts, part_index = np.unique(c.part[index], return_inverse=True)
        root = [len(self.d)] if self.residuals.is_centered else []
        moments = self._moments.over_cells(values, [*parts, *root])
        squares, part_products, along = np.split(moments, [1, 1 + len(parts)])  # along the root
        inside = np.ascontiguousarray(c.members[c.context[index]].toarray().T)

        def of_groups(plane, cells):
            products = np.take(
                np.ascontiguousarray(part_products[:, cells, plane].T), part_index, axis=1
            )
            if root:
                products = products - self.middle[index] * along[0, cells, plane, None]
            return inside[cells] * products

        def of_part(part):
            return lambda cells: np.hstack(
                [
                    *squares[:, cells, part, None],
                    of_groups(part, cells),
                    *along[:, cells, part, None],
                ]
            )

        sums = c.sums if subset is None else partial(c.sums_of, subset)
        columns = sums(of_part, 1 + len(index) + len(root))
        total, inner_products = columns[:, 0], columns[:, 1 : 1 + len(index)]
        if root:
            everywhere = slice(None)
            root_products = np.hstack([along[0, :, root].T, of_groups(root[0], everywhere)])
            selected = everywhere if subset is None else subset
            shared, m = (c.members @ root_products)[c.context[selected]], self.middle[selected]
            total = total + m**2 * shared[:, 0] - 2 * m * columns[:, -1]
            inner_products = inner_products - m[:, None] * shared[:, 1:]
        return total, inner_products

    def crossed(self, groups: list[int]) -> np.ndarray:
        """Return the inner products, weighted by room, of all regressors and those of `groups`.

        The result has shape (n_groups, n).
        """
        new = [group for group in groups if group not in self._crossed]
        if new:
            _, products = self._products(new, self.room)
            self._crossed |= dict(zip(new, products.T, strict=True))
        crossed = [self._crossed[group] for group in groups]
        return np.array(crossed).reshape(len(groups), len(self.candidates)).T

    def squares(self, values: np.ndarray) -> np.ndarray:
        """Return the sum of squared regressors times values, shape (n_rows,), of each group."""
        return self._products([], values)[0]

    def fit(self, groups: list[int]) -> Fit:
        """Return the joint fit of some groups."""
        _, inverse, slope = self._solved(groups)
        residual = self.residual_outcome(groups, slope)
        noise, room = self.residuals.noise(residual), self.mean_room(groups)
        if self.residuals.cluster is None:
            sums = self._products(groups, noise**2, groups)[1]
        else:
            sums = self._sums_of_clusters(groups, noise)
            sums = sums @ sums.T
        covariance = room[:, None] * (inverse @ sums @ inverse) * room
        return Fit(list(groups), slope * room, covariance, slope, residual)

    def _solved(self, groups):
        """Return inner products with groups, their inverse, and slopes."""
        cross = self.crossed(groups)
        inverse = np.linalg.pinv(cross[groups])
        return cross, inverse, inverse @ self.score[groups]

    def residual_outcome(self, groups: list[int], slope: np.ndarray) -> np.ndarray:
        """Return the residual outcomes of a fit with these slopes, shape (n_rows,)."""
        return self.residuals.outcome - self.room * self.combined(groups, slope)

    def residual_outcome_of(self, adjusted_scores: AdjustedScores) -> np.ndarray:
        """Return the residuals of a fit, (n_rows,); the last ones are remembered."""
        key = self.scale, tuple(adjusted_scores.groups)
        if key not in self._last:
            self._last.clear()
            self._last[key] = self.residual_outcome(adjusted_scores.groups, adjusted_scores.slopes)
        return self._last[key]

    def _sums_of_clusters(self, groups, noise):
        """Return the scores of groups by cluster, shape (n, n_clusters)."""
        return self.residuals.by_cluster(self.regressors(groups) * noise)

    def adjusted_for(self, groups: list[int]) -> AdjustedScores:
        """Return the scores of all candidates, adjusted for a fit of some groups."""
        key = frozenset(groups)
        if key not in self._adjusted_scores:
            if len(self._adjusted_scores) >= _KEPT:
                self._adjusted_scores.pop(next(iter(self._adjusted_scores)))
            self._adjusted_scores[key] = self._adjusted(sorted(groups), sorted(groups))
        return self._adjusted_scores[key]

    def nearly_adjusted_for(self, groups: list[int], fitted: list[int]) -> AdjustedScores:
        """Return scores adjusted for some of the groups of a fit, with the variances of this fit.

        So no choice of groups needs another pass over the rows.
        """
        return self._adjusted(sorted(groups), sorted(fitted))

    def adjusted_for_others(self, candidate: int, groups: list[int]) -> AdjustedScores:
        """Return scores adjusted for all groups but the candidate, whose variance is exact.

        The variances of all other scores are infinite.
        """
        return self.with_exact_variance(
            self._adjusted(sorted(g for g in groups if g != candidate)), candidate
        )

    def with_exact_variance(
        self, adjusted_scores: AdjustedScores, candidate: int
    ) -> AdjustedScores:
        """Return scores with the variance of one candidate as the groups of the fit leave it."""
        key = self.scale, frozenset(adjusted_scores.groups), candidate
        variance, deviate = adjusted_scores.variance.copy(), adjusted_scores.deviate.copy()
        is_new = key not in self._exact
        if is_new:
            share, implied, variance[candidate] = self._variance_of(candidate, adjusted_scores)
        else:
            variance[candidate], deviate[candidate] = self._exact[key]
        is_estimable = self._is_estimable(
            adjusted_scores.groups, adjusted_scores.information, variance
        )
        exact = adjusted_scores._replace(variance=variance, is_estimable=is_estimable)
        if is_new:
            implied = np.array([implied])
            (deviate[candidate],) = deviates(self, exact, [candidate], share[None], implied)
            self._exact[key] = variance[candidate], deviate[candidate]
        return exact._replace(deviate=deviate)

    def _variance_of(self, candidate, adjusted_scores):
        """Return the shares of a fit's groups in one candidate, and the variance of its score.

        First the variance that the fit implies, then the larger of it and that of residuals.
        """
        cross, inverse, _ = self._solved(adjusted_scores.groups)
        share, r = cross[candidate] @ inverse, self.residuals
        residual = self.residual_outcome_of(adjusted_scores)
        f = self.regressors([candidate])[0] - self.combined(adjusted_scores.groups, share)
        implied = f**2 @ r.implied(residual)
        shown = (r.by_cluster((f * r.noise(residual))[None]) ** 2).sum()
        return share, implied, max(implied, shown)

    def _is_estimable(self, groups, information, variance):
        """Return which candidates keep enough information, given some groups."""
        is_estimable = self.testable & (information > _LEFT * self.information)
        is_estimable &= variance > self._rounding
        is_estimable[groups] = False
        return is_estimable

    def _adjusted(self, groups, fitted=None):
        """Return scores with the variances that a fit leaves; None: infinite ones."""
        cross, inverse, slope = self._solved(groups)
        share = cross @ inverse
        unexplained = 1 - (share * cross).sum(axis=1) / np.maximum(self.in_room, SMALLEST)
        score, information = self.score - cross @ slope, unexplained * self.information
        implied = shown = np.full(len(unexplained), np.inf)
        if fitted is not None:
            positions = np.searchsorted(fitted, groups)
            implied, shown = (
                total
                + (share * (share @ cov[groups][:, positions] - 2 * cov[:, positions])).sum(axis=1)
                for total, cov in self._covariances_of(fitted)
            )
        variance = np.maximum(implied, shown)
        is_estimable = self._is_estimable(groups, information, variance)
        adjusted_scores = AdjustedScores(
            groups, slope, score, information, variance, is_estimable, self.least, self.scale
        )
        everyone = np.arange(len(is_estimable))
        return adjusted_scores._replace(
            deviate=deviates(self, adjusted_scores, everyone, share, implied)
        )

    def _covariances_of(self, groups):
        """Return covariances with some groups: implied by their fit, and of its residuals."""
        key, cache = (self.scale, frozenset(groups)), self._covariances
        if key in cache:
            cache[key] = cache.pop(key)  # the latest
        else:
            residual = self.residual_outcome(groups, self._solved(groups)[2])
            implied = self._products(groups, self.residuals.implied(residual))
            cache[key] = implied, self.covariances(groups, self.residuals.noise(residual))
        if len(cache) > _KEPT_COVARIANCES:
            cache.pop(next(iter(cache)))
        return cache[key]

    def covariances(self, groups: list[int], noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the variances of all scores, and their covariances with the scores of `groups`.

        `noise`: residuals. The shapes are (n_groups,) and (n_groups, n).
        """
        if self.residuals.cluster is None:
            return self._products(groups, noise**2)
        chosen_sums = self._sums_of_clusters(groups, noise)
        n = len(self.candidates)
        variance, covariance = np.zeros(n), np.zeros((n, len(chosen_sums)))
        for positions, sums in self._cluster_sums(noise):
            variance[positions] = np.asarray(sums.multiply(sums).sum(axis=1)).ravel()
            covariance[positions] = sums @ chosen_sums.T
        return variance, covariance

    def _cluster_sums(self, noise):
        """Yield the candidates of each part, and the sums of their scores by cluster."""
        c, cluster = self.candidates, self.residuals.cluster
        by_cluster = sums_by(cluster)
        for p in np.unique(c.part):
            positions = np.flatnonzero(c.part == p)
            contexts = c.members[c.context[positions]]
            values = sparse.diags_array(self.d[p] * noise)
            sums = contexts @ (c.cells @ (values @ by_cluster))
            if self.residuals.is_centered:
                root = sparse.diags_array(self.residuals.root * noise)
                sums = sums - sparse.diags_array(self.middle[positions]) @ (
                    contexts @ (c.cells @ (root @ by_cluster))
                )
            yield positions, sparse.csr_matrix(sums)
