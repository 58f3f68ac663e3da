"""Direct, indirect and spurious effects by doubly robust one-step estimates."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg, sparse, special

from skdisc._expectations import learn, widening
from skdisc._expectations._covariates import shared_values
from skdisc._stats._agreement import hidden_variance
from skdisc._task._cross_fitting import CrossFitter
from skdisc.group._pairwise._estimates import Estimate

CLIP = 0.01  # smallest and largest probability of a group that weights are made of
_ROUNDS = 10  # of calibration, until no weight is below 0
_ROWS_PER_CELL, _MOST_CELLS, _Z = 5, 1000, 1.96
_LEAST = 5  # people that weights amount to; of fewer, an error is not known
_MANY_ALONE = 0.1  # share of the reference with nobody alike; of more, an effect is not known
_RARER = 10  # times rarer than among all is the group among such people
_ROUNDING = 1e-9  # of one less a probability at the limit


@dataclass(frozen=True)
class EffectNuisances:
    """What is learned out of fold about a pair, given some columns.

    Parameters
    ----------
    share : ndarray of float, shape (n_rows,)
        P(group | columns), clipped.
    of_group, of_reference : ndarray of float, shape (n_rows,)
        The outcome expected of each row in the group, and in the reference.
    kinds : list of str
        How they were learned.
    effects : ndarray of float, shape (n_rows, n_effects), optional
        Main effects of the columns that weights balance, whatever was learned.
    cells : sparse array of 0 and 1, shape (n_rows, n_cells), optional
        Indicators of shared values of numbers, and of cells of crossings, that weights balance,
        too.
    inflation : float, default=1
        Factor by which learning expectations increases errors: √(n / (n - rank)).
    unlearned : list of Unlearned
        What the columns would still add to a gap.
    """

    share: np.ndarray
    of_group: np.ndarray
    of_reference: np.ndarray
    n_clipped: int = 0
    kinds: tuple = ()
    effects: np.ndarray | None = None
    cells: sparse.csr_array | None = None
    inflation: float = 1.0
    unlearned: tuple = ()

    @classmethod
    def by_engine(cls, fitter: CrossFitter, covariates, y, inside, rng) -> "EffectNuisances":
        """Learn them by the engine of expectations, and what differs between the sides by trees.

        With e the expected outcome, p the probability of the group and g the gap at equal columns,
        the outcomes expected of the group and of the reference are e + (1 - p) g and e - p g if the
        gap is the same everywhere. Trees learn the residuals of each side, out of fold.

        `rng`: draws the folds of the engine.
        """
        learned = learn(covariates, y, inside, rng)
        share, gap = learned.shares[:, 0], float(learned.gap[0])
        of_group, of_reference = (
            base + fitter.expect(y - base, "boosting", side, "nuisance")
            for side, base in (
                (inside, learned.expected + (1 - share) * gap),
                (~inside, learned.expected - share * gap),
            )
        )
        clipped = np.clip(share, CLIP, 1 - CLIP)
        return cls(
            clipped,
            of_group,
            of_reference,
            n_clipped=int((clipped != share).sum()),
            kinds=("boosting",),
            effects=fitter.numbers,
            cells=_cells_of(covariates, learned),
            inflation=float(np.sqrt(len(y) / max(len(y) - learned.rank, 1))),
            unlearned=tuple(learned.unlearned[0]),
        )

    @classmethod
    def learned(cls, fitter: CrossFitter, y, inside, learner, classifier) -> "EffectNuisances":
        """Learn them.

        `learner` and `classifier` ({"auto", "linear", "boosting"} or estimator): what estimates the
        outcome, and the probability of the group.
        """

        def expect(target, method, name, used=None):
            if isinstance(method, str) and method == "auto":
                return fitter.choose(target, used)
            name_of_method = method if isinstance(method, str) else type(method).__name__
            return fitter.expect(target, method, used, name), name_of_method

        share, kind_of_share = expect(inside.astype(float), classifier, "classifier")
        of_group, kind_of_group = expect(y, learner, "nuisance", inside)
        of_reference, kind_of_reference = expect(y, learner, "nuisance", ~inside)
        clipped = np.clip(share, CLIP, 1 - CLIP)
        return cls(
            clipped,
            of_group,
            of_reference,
            n_clipped=int((clipped != share).sum()),
            kinds=(kind_of_share, kind_of_group, kind_of_reference),
            effects=fitter.numbers,
        )

    @property
    def swapped(self) -> "EffectNuisances":
        """The nuisances with group and reference exchanged."""
        return replace(
            self, share=1 - self.share, of_group=self.of_reference, of_reference=self.of_group
        )

    def weights(self, inside: np.ndarray) -> np.ndarray:
        """Return weights of the group that give its columns the means of the reference.

        Odds of being in the reference, moved as little as it takes to give each main effect the
        mean that it has in the reference, but not below 0 (truncated linear calibration, Deville
        and Särndal 1992). What is linear in main effects then cancels, also if the learners shrink
        it, as they do with columns of many values and few people in each.

        Returns an ndarray of float: 0 outside of the group; they add up to 1. Values that nobody in
        the group has are not balanced.
        """
        odds = np.where(inside, (1 - self.share) / self.share, 0.0)
        odds /= odds.sum()
        if self.effects is None:
            return odds
        balanced = _Balanced.of(self.effects, self.cells)
        target = balanced.totals(~inside / (~inside).sum())
        best, weight, slopes = odds, odds, np.zeros(len(target))
        for _ in range(_ROUNDS):
            spread = balanced.products(np.where(weight > 0, odds, 0.0))
            gap = target - balanced.totals(weight)
            slopes = slopes + linalg.lstsq(spread, gap, cond=1e-9, lapack_driver="gelsy")[0]
            moved = odds * (1 + balanced.at(slopes))
            weight = np.maximum(moved, 0)
            normalized = weight / max(weight.sum(), 1e-300)
            if np.linalg.norm(target - balanced.totals(normalized)) < np.linalg.norm(
                target - balanced.totals(best)
            ):
                best = normalized
            if (moved >= 0).all():
                break
        return best

    def lack_overlap(self, inside: np.ndarray) -> bool:
        """Return whether more than a tenth of the reference have next to nobody of the group alike.

        A probability at the limit may be noise of the learner, above all for a small group. So it
        is counted only if the people with such a probability are of the reference, surely (95 %).
        """
        is_low = self.share <= CLIP + _ROUNDING
        n, n_inside = int(is_low.sum()), int((is_low & inside).sum())
        if n == n_inside:
            return False
        most = special.betaincinv(n_inside + 1, n - n_inside, 0.95)
        return _RARER * most <= inside.mean() and n - n_inside > _MANY_ALONE * (~inside).sum()

    def unmatched(self, side: np.ndarray) -> float:
        """Return the share of a side with a value of a column that nobody on the other side has."""
        only_here = ~self.effects[~side].any(axis=0)
        return float(self.effects[side][:, only_here].any(axis=1).mean())


@dataclass(frozen=True)
class _Balanced:
    """Columns whose means weights balance: a constant, main effects, and indicators of cells.

    Cells are sparse: of the hundreds of a table, each row is in one for each number or crossing.
    """

    effects: np.ndarray
    cells: sparse.csr_array

    @classmethod
    def of(cls, effects, cells) -> "_Balanced":
        constant = np.ones((len(effects), 1))
        none = sparse.csr_array((len(effects), 0))
        return cls(np.hstack([constant, effects]), none if cells is None else cells)

    def totals(self, weight):
        """Return the weighted sum of each column."""
        return np.concatenate([weight @ self.effects, self.cells.T @ weight])

    def products(self, weight):
        """Return the weighted sums of products of each two columns."""
        weighted = weight[:, None] * self.effects
        mixed = self.cells.T @ weighted
        of_cells = (self.cells.T.multiply(weight[None, :]).tocsr() @ self.cells).toarray()
        return np.block([[self.effects.T @ weighted, mixed.T], [mixed, of_cells]])

    def at(self, slopes):
        """Return the sum of the columns of each row, times their slopes."""
        n = self.effects.shape[1]
        return self.effects @ slopes[:n] + self.cells @ slopes[n:]


@dataclass(frozen=True)
class CounterfactualMean:
    """E[E[y | group, columns] | reference]: the reference with the outcomes of the group.

    `weight`: weights of the residuals of the group; they add up to 1. `has_overlap`: whether people
    of the group are like those of the reference; if not, what would be expected of these is guessed
    from people unlike them.
    """

    value: float
    influence: np.ndarray
    weight: np.ndarray
    has_overlap: bool = True

    @classmethod
    def of(cls, y, inside, nuisances, is_rate=False) -> "CounterfactualMean":
        """Return the one-step estimate, right if either nuisance is.

        `nuisances`: EffectNuisances. `is_rate`: whether the mean is one of outcomes between 0 and
        1, and so between them.
        """
        weight = nuisances.weights(inside)
        residual = y - nuisances.of_group
        # The mean prediction for the reference plus the weighted residuals of the group: errors of
        # the predictions cancel if the weights are right, and the other way round.
        shift, mean = weight @ residual, nuisances.of_group[~inside].mean()
        reference_influence = (nuisances.of_group - mean) / (~inside).sum()
        # As the jackknife has it.
        group_influence = weight * (residual - shift) / np.maximum(1 - weight, 1e-9)
        influence = nuisances.inflation * np.where(inside, group_influence, reference_influence)
        value = np.clip(mean + shift, 0, 1) if is_rate else mean + shift
        return cls(float(value), influence, weight, not nuisances.lack_overlap(inside))

    @property
    def df(self) -> float:
        """Degrees of freedom: people that weights of this spread amount to (Kish), less one."""
        return 1 / np.sum(self.weight**2) - 1

    @classmethod
    def plain(cls, y, inside) -> "CounterfactualMean":
        """Return the mean of the group itself, for no columns."""
        weight = inside / inside.sum()
        mean = float(weight @ y)
        return cls(mean, weight * (y - mean), weight)


@dataclass(frozen=True)
class EffectParts:
    """The total variation and its parts, of x0 (the reference) to x1 (the group).

    `estimates`: "total", "direct", "indirect", "spurious". `representer`: the weight of each
    outcome in the direct effect, times the number of rows.
    """

    estimates: dict
    representer: np.ndarray

    @classmethod
    def of(cls, y, inside, given_all, given_confounders, is_rate=False) -> "EffectParts":
        r"""Return the parts, of which total = direct - indirect - spurious.

        With :math:`A = E[\mu(x_1, Z, W) \mid x_0]` and :math:`B = E[\mu(x_1, Z) \mid x_0]`:
        direct :math:`A - E[y \mid x_0]`, indirect :math:`A - B`, spurious
        :math:`B - E[y \mid x_1]`.

        `given_all`: given confounders and mediators; None if there are neither.
        `given_confounders`: given confounders; None if there are none. `is_rate`: whether outcomes
        are between 0 and 1, so that no part is larger than 1.
        """
        one = CounterfactualMean.plain(y, inside)
        zero = CounterfactualMean.plain(y, ~inside)
        A, B = (
            one if n is None else CounterfactualMean.of(y, inside, n, is_rate)
            for n in (given_all, given_confounders)
        )
        pairs = {
            "total": (one, zero),
            "direct": (A, zero),
            "indirect": (A, B),
            "spurious": (B, one),
        }
        most = 1.0 if is_rate else np.inf
        estimates = {
            name: _difference(a, b, most, y, (inside, ~inside)) for name, (a, b) in pairs.items()
        }
        if given_all is not None and given_all.unlearned:
            estimates["direct"] = _widened(estimates["direct"], given_all.unlearned)
        return cls(estimates, len(y) * (A.weight - zero.weight))

    def robustness(self, residual: np.ndarray, significance: float) -> dict:
        r"""Return how strong an unmeasured confounder must be to make the direct effect vanish.

        A confounder that explains a share :math:`r` of the residual of the outcome, and of the
        weights, changes the effect by :math:`S r / \sqrt{1 - r}` at most, with :math:`S^2` the
        mean square of the residual times the mean square of the representer.

        `residual`: the outcome minus what is expected of it. Returns a dict: ``robustness``,
        ``robustness_ci`` (until the interval contains 0), ``scale`` (S).
        """
        scale = float(np.sqrt(np.mean(residual**2) * np.mean(self.representer**2)))
        direct = self.estimates["direct"]
        low, high = direct.interval(significance)
        least = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
        values = [_share(abs(v) / scale if scale else np.inf) for v in (direct.value, least)]
        return {"robustness": values[0], "robustness_ci": values[1], "scale": scale}


def _difference(a, b, most, y, sides):
    """Return the difference of two means; its error is infinite if nobody can be compared.

    It allows for outcomes that no one on a side has.
    """
    df, value = min(a.df, b.df), a.value - b.value
    if df < _LEAST - 1 - 1e-9 or not (a.has_overlap and b.has_overlap):
        return Estimate(value, np.inf, most=most)
    influence = a.influence - b.influence
    hidden = hidden_variance(y, sides, a.weight - b.weight, influence)
    return Estimate.of_influence(value, influence, df, most).varying_more(hidden)


def _widened(estimate, unlearned):
    """Return an estimate whose 95 % interval is widened at both ends by what was not learned."""
    return replace(estimate, error=estimate.error + max(widening(list(unlearned))) / _Z)


def _cells_of(covariates, learned):
    """Return indicators of the shared values of numbers and of the cells that joined.

    Only cells that neither curves nor categories express, at most one for every five rows, and a
    thousand: weights solve as many equations. The cells of columns with the fewest come first.
    """
    n_rows, parts = covariates.n_rows, []
    codes = [
        shared_values(x)
        for x, is_number in zip(covariates.values, covariates.is_number, strict=True)
        if is_number
    ]
    for crossing in learned.joined:
        joint = np.empty(n_rows, dtype=int)
        joint[learned.order] = learned.crossings.joint(crossing.indices).codes
        codes.append(joint)
    room = min(n_rows // _ROWS_PER_CELL, _MOST_CELLS)
    for code in sorted(codes, key=lambda c: c.max(initial=-1)):
        size = int(code.max(initial=-1)) + 1
        if 0 < size <= room:
            member = np.flatnonzero(code >= 0)
            ones = np.ones(len(member))
            parts.append(sparse.csr_array((ones, (member, code[member])), shape=(n_rows, size)))
            room -= size
    return sparse.hstack(parts, format="csr") if parts else None


def _share(ratio):
    """Return r with r / sqrt(1 - r) = ratio."""
    if not np.isfinite(ratio):
        return 1.0
    # The positive root of r^2 + ratio^2 r - ratio^2 = 0.
    return float((np.sqrt(ratio**4 + 4 * ratio**2) - ratio**2) / 2)
