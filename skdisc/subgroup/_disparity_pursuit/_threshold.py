"""The level: the largest weighted evidence that chance gives to any candidate.

The evidence of a candidate, on one side, is -log of its p-value plus the log of its weight. Weights
have a mean of one (Genovese, Roeder and Wasserman 2006, :doi:`10.1093/biomet/93.3.509`) and are the
product of three factors.

The *information* f'f of the candidate, which depends on columns alone: the level is spread over
people instead of groups. Most candidates are small, and an effect must be large to show in them.
Among groups with enough evidence, the one with most evidence without this factor is chosen
(`Level.rank`): the larger of a group and its part is not likelier to be the cause.

The number of *protected columns* that the candidate names. Each further column makes more groups,
which are less likely: a claim about Black women from a town is made only if a claim about women
does not suffice.

The *context* of the candidate: where its people fare unexpectedly well or badly, groups within it
are likelier to be causes. Which outcomes a context has depends on the legitimate columns alone, the
score of a candidate only on how outcomes go with its protected part at given legitimate columns. So
without discrimination the two are uncorrelated, and the level holds. A part of the level does not
follow contexts: those that fare unexpectedly only because legitimate columns interact, or because
of a column that is not protected here, cannot take it from the other candidates.
"""

from functools import cached_property

import numpy as np
from scipy import special

from skdisc._stats import false_coverage_level
from skdisc._utils._run_clock import go_on
from skdisc.subgroup._disparity_pursuit._context_groups import blocks_of_cells
from skdisc.subgroup._disparity_pursuit._orthogonal_scores import Scores

STEEPNESS, MOST = 2.0, 4.0  # log weight per standardized residual of a context; largest residual
_PLAIN = 0.2  # of the level that contexts do not move
_EXPECTED = 1.5  # log weight of a context without residuals
_PER_COLUMN = 2.0  # log weight that each further protected column costs
_MOST_ROWS = 100_000  # rows whose multipliers are drawn
_BLOCK = 50  # draws at a time
_CONTEXTS = 2048  # whose main effects are summed at a time


class Level:
    """The largest evidence under the null, by a Gaussian multiplier bootstrap.

    `n_resamples`: number of draws; 0: Bonferroni's bound. `borrow`: whether candidates are
    weighted: by their information and, if columns are adjusted for, by how their contexts fare at
    given main effects. (Trees learn how contexts fare; what they leave shows where they err.)
    """

    def __init__(
        self, scores: Scores, n_resamples: int, rng: np.random.Generator, borrow: bool
    ) -> None:
        self.scores, self.borrow = scores, borrow
        learned, c = scores.residuals.learned, scores.candidates
        self._uses_contexts = borrow and learned is not None and len(learned.design.covariates) > 0
        if self._uses_contexts:
            root, (design, basis) = scores.residuals.root, learned.main_effects()
            total = c.members @ (c.cells @ root**2)
            by_cell = (c.cells @ _scaled(design, root)) @ basis
            free = total - _squared_lengths(c.members, by_cell)
            self._free = np.where(free > 0.05 * total, free, np.inf)
        self.draws = self._draws(n_resamples, rng)
        self._sums_of_contexts, self._chance = {}, (None, None)

    def _draws(self, n, rng):
        """Return standardized scores of candidates under the null, shape (n, n_groups)."""
        s, c = self.scores, self.scores.candidates
        r, cluster = s.residuals, s.residuals.cluster
        noise = r.noise(r.outcome)
        n_units = c.n_rows if cluster is None else int(cluster.max(initial=-1)) + 1
        is_drawn = np.ones(n_units, dtype=bool)
        if n_units > _MOST_ROWS:
            is_drawn[rng.permutation(n_units)[_MOST_ROWS:]] = False
        rows = np.flatnonzero(is_drawn if cluster is None else is_drawn[cluster])
        score = (s.d[:, rows] * noise[rows]).astype(np.float32)
        over = (noise * r.root)[rows].astype(np.float32)
        unit = np.cumsum(is_drawn)[rows if cluster is None else cluster[rows]] - 1
        draws = np.empty((n, len(c)), dtype=np.float32)
        for start in range(0, n, _BLOCK):
            go_on(f"drawing chance for {len(c):,} groups")
            block = slice(start, min(start + _BLOCK, n))
            drawn = rng.standard_normal((len(draws[block]), is_drawn.sum())).astype(np.float32)
            drawn = np.ascontiguousarray(drawn.T)[unit]
            draws[block] = c.over_groups(score, drawn, rows).T
            if r.is_centered:
                sums = c.over_groups(np.broadcast_to(over, score.shape), drawn, rows)
                draws[block] -= (s.middle[:, None] * sums).T
        root = np.sqrt(
            (draws**2).mean(axis=0) if n_units > _MOST_ROWS else s.covariances([], noise)[0]
        )
        return np.where(s.testable, draws / np.maximum(root, 1e-30), 0.0)

    def log_weights(self, adjusted_scores):
        """Return the log weights of both sides of each candidate, shape (2, n_groups)."""
        weights = np.zeros((2, len(self.scores.candidates)))
        if not self.borrow or not adjusted_scores.is_estimable.any():
            return weights
        weights += self._information - _PER_COLUMN * self.scores.candidates.n_protected
        weights = _of_mean_one(weights, adjusted_scores.is_estimable)
        if not self._uses_contexts:
            return weights
        by_context = _of_mean_one(
            weights + self._by_context(adjusted_scores), adjusted_scores.is_estimable
        )
        return np.logaddexp(weights + np.log(_PLAIN), by_context + np.log(1 - _PLAIN))

    def _by_context(self, fit):
        """Return the log weights that contexts give to both sides of candidates, (2, n_groups).

        Where main effects leave nothing to know about a context, its weight lies between 1, the
        weight of a context that fares as expected, and exp(2), the mean weight under chance.
        """
        r = self.scores.residuals
        residual = self._context_sums(None)
        for slope, group in zip(fit.slopes, fit.groups, strict=True):
            residual = residual - slope * self._context_sums(group, fit.scale)
        noise = np.sqrt(r.mean(r.noise(r.outcome) ** 2))
        # For a normal Z, the mean of exp(2 Z) is exp(2): residuals are clipped before they are
        # multiplied, so that no context takes most of the level.
        log_weight = STEEPNESS * np.clip(residual / (noise * np.sqrt(self._free)), -MOST, MOST)
        weights = np.stack([log_weight, -log_weight])
        weights[:, np.isinf(self._free)] = _EXPECTED
        return weights[:, self.scores.candidates.context]

    def _context_sums(self, group, scale=None):
        """Return the sums over contexts of the outcome, or of a group, at given main effects."""
        key = (scale, group)
        if key not in self._sums_of_contexts:
            c, r = self.scores.candidates, self.scores.residuals
            if group is None:
                residual = r.learned.main
            else:
                members = self.scores.indicators([group])[0] / r.root
                residual = r.learned.residual((members * r.scales[scale])[:, None])[:, 0]
            self._sums_of_contexts[key] = c.over_contexts((residual * r.root**2)[None])[:, 0]
        return self._sums_of_contexts[key]

    def evidence(self, adjusted_scores):
        """Return the evidence of each candidate, -inf where not estimable, and the log weights."""
        weights = self.log_weights(adjusted_scores)
        return _weighed(adjusted_scores.deviate, weights, adjusted_scores.is_estimable), weights

    def rank(self, adjusted_scores, evidence, weights):
        """Return what orders clear groups: evidence without weights by information.

        For numbers, it is the evidence of standardized scores. p-values that know skewness decide
        whether a group is clear. They are larger for small groups, so if they gave the order, a
        whole would come before the part of it that fits best.
        """
        if not self.scores.residuals.is_binary:
            evidence = _weighed(adjusted_scores.z, weights, adjusted_scores.is_estimable)
        return evidence - self._information if self.borrow else evidence

    @cached_property
    def _information(self):
        """The log of the information of each candidate."""
        return np.log(np.maximum(self.scores.information, 1e-300))

    def largest_by_chance(self, adjusted_scores, weights):
        """Return the largest evidence of each draw, among the estimable candidates."""
        if self._chance[0] is not weights:
            log_weight = np.where(adjusted_scores.is_estimable, weights, -np.inf).astype(np.float32)
            self._chance = weights, (self._evidence + log_weight).max(axis=(1, 2), initial=-np.inf)
        return self._chance[1]

    @cached_property
    def _evidence(self):
        """The evidence that each draw gives to both sides, without weights: (n, 2, n_groups)."""
        evidence = np.empty((len(self.draws), 2, self.draws.shape[1]), dtype=self.draws.dtype)
        for sides, draw in zip(evidence, self.draws, strict=True):
            go_on(f"comparing {len(draw):,} groups with chance")
            sides[:] = -special.log_ndtr([-draw, draw])
        return evidence

    def largest_z(self, significance):
        """Return the largest standardized score that chance gives to any candidate."""
        if not len(self.draws) or not self.scores.testable.any():
            n = max(int(self.scores.testable.sum()), 1)
            return float(-special.ndtri(significance / 2 / n))
        largest = np.abs(self.draws).max(axis=1)
        return float(np.quantile(largest, 1 - significance, method="higher"))

    def p_adjusted(self, evidence, adjusted_scores, weights):
        """Return family-wise p-values of pieces of evidence.

        Those of the draws, or Bonferroni's where the draws are too few to show so small ones.
        """
        evidence = np.atleast_1d(evidence)
        n_candidates = max(adjusted_scores.is_estimable.sum(), 1)
        bound = np.minimum(1.0, 2 * n_candidates * np.exp(-np.maximum(evidence, 0)))
        if not len(self.draws):
            return bound
        chance = np.sort(self.largest_by_chance(adjusted_scores, weights))
        n_larger = len(chance) - np.searchsorted(chance, evidence, side="left")
        p = (1 + n_larger) / (1 + len(chance))
        return np.where(bound < 1 / (1 + len(chance)), bound, p)

    def critical(self, adjusted_scores, weights, significance):
        """Return the evidence that an entry must exceed at this level."""
        bonferroni = np.log(2 * max(adjusted_scores.is_estimable.sum(), 1) / significance)
        # As in a permutation test, the observed search counts as one more draw.
        n_exceeding = int(np.floor(significance * (1 + len(self.draws)) + 1e-9))
        n_exceeding = min(n_exceeding, len(self.draws))  # a level near 1 lets all draws be exceeded
        if not n_exceeding:
            return bonferroni
        return float(np.sort(self.largest_by_chance(adjusted_scores, weights))[-n_exceeding])

    def levels_of(self, groups, scores, significance):
        """Return the two-sided levels at which groups are found beside each other, shape (n,).

        That is the p-value up to which a candidate with its weight is found; or the share of the
        level that false-coverage-rate intervals leave it, by weight, where that is larger.
        """
        levels = np.empty(len(groups))
        for k, group in enumerate(groups):
            adjusted_scores = scores.adjusted_for_others(group, groups)
            weights = self.log_weights(adjusted_scores)
            weight = float(weights[0 if adjusted_scores.score[group] > 0 else 1, group])
            entry = 2 * np.exp(weight - self.critical(adjusted_scores, weights, significance))
            share = false_coverage_level(
                len(groups), adjusted_scores.is_estimable.sum(), significance
            )
            levels[k] = min(significance, max(entry, share * np.exp(weight)))
        return levels


def _weighed(z, weights, is_estimable):
    """Return the evidence of scores on their likelier side, -inf where not estimable."""
    evidence = np.maximum(weights[0] - special.log_ndtr(-z), weights[1] - special.log_ndtr(z))
    return np.where(is_estimable, evidence, -np.inf)


def _of_mean_one(log_weights, is_estimable):
    """Return log weights of both sides such that those of estimable candidates are 1 on average."""
    shift = special.logsumexp(log_weights[:, is_estimable]) - np.log(2 * is_estimable.sum())
    return log_weights - shift


def _squared_lengths(members, by_cell):
    """Return the squared length of the sum of vectors of cells over each context, (n_contexts,).

    Shapes: `members` (n_contexts, n_cells), `by_cell` (n_cells, n).
    """
    lengths = np.empty(members.shape[0])
    for first in range(0, len(lengths), _CONTEXTS):
        go_on(f"looking at {len(lengths):,} contexts")
        batch = slice(first, first + _CONTEXTS)
        # few cells at a time: their vectors stay in the cache while contexts add them up
        sums = sum(block @ by_cell[cells] for cells, block in blocks_of_cells(members[batch]))
        lengths[batch] = (sums**2).sum(axis=1)
    return lengths


def _scaled(design, root):
    return design.multiply(root[:, None]).tocsr()
