"""SliceLine: the exact k slices with the largest errors and sizes."""

from collections.abc import Callable, Sequence
from numbers import Integral, Real

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import Interval

from skdisc import _stats
from skdisc._space._codes import PAD
from skdisc._task._card import OF_CONTEXTS, Card
from skdisc._utils._frequency import permuted
from skdisc._utils._settings import setting
from skdisc._utils._types import Columns
from skdisc.subgroup._estimation._contextual import contextual_discovery, mine_family
from skdisc.subgroup._estimation._discovery import FoundCounts, redundant
from skdisc.subgroup._estimation._family import has_gap_in_direction
from skdisc.subgroup._slices._base import SliceDetector, redundant_slices
from skdisc.subgroup._slices._slice_line_search import POSITIVE, SliceProblem, SliceScore


class SliceLine(SliceDetector):
    r"""Find the k slices of largest score: large slices with a larger error than average.

    With n rows of mean error :math:`\bar e`, a slice S, a conjunction of at most `max_predicates`
    conditions, has the score

    .. math:: sc(S) = \alpha \left(\frac{\bar e_S}{\bar e} - 1\right)
              - (1 - \alpha) \left(\frac{n}{|S|} - 1\right).

    Each slice of at least `min_support` and `min_rows` with a protected condition is tested against
    the rest of its context, the rows that meet its other conditions. The slices in which the model
    errs significantly more come first, then those of largest positive score. With
    ``versus="everyone"`` only the k slices of largest positive score are returned, as published.
    That search is exact: slices are pruned only if an upper bound on the scores of all slices
    inside them is too small.

    {parameters}

    Attributes
    ----------
    result_ : AuditResult
        What `fit` found: `Subgroup` objects; effects are the mean error of the slice minus that of
        the rest of its context, ``effect_everyone`` (with ``versus="everyone"`` the effect) minus
        the overall one. The table adds ``slice_score``, ``sum_slice_error`` and
        ``max_slice_error``.
    {inherited}

    Raises
    ------
    ValueError
        If an error is unknown, or needs labels, decisions or probabilities that are not available;
        if `n_permutations` is set without ``versus="everyone"``.

    Notes
    -----
    Errors that are 0 or 1 are tested as proportions, others by Welch's and Hall's test, with at
    least 30 rows on either side. Which slices are tested against their contexts does not depend on
    the errors. Which ones the published search measures does, so its p-values are corrected for all
    slices that it could have returned: the number of conjunctions of frequent items. Slices of
    equal score are sorted by size, number of conditions, and items. The upper bound uses the number
    of rows; a released implementation and the authors' script use the number of one-hot columns,
    which misses the best slice if there are more columns than rows.

    References
    ----------
    S. Sagadeeva, M. Boehm: SliceLine: fast, linear-algebra-based slice finding for ML model
    debugging. SIGMOD 2021. https://doi.org/10.1145/3448016.3457323

    Examples
    --------
    >>> from skdisc.datasets import make_loan
    >>> X, y = make_loan(random_state=0, return_X_y=True)
    >>> detector = SliceLine(protected="gender", max_predicates=2).fit(X, y)
    >>> print(detector.result_[0].subject)
    gender = 'female'
    """

    protected: Columns | None = setting(
        None,
        text="The protected columns; None: each column counts as protected.",
    )
    errors: str | Callable | Sequence = setting(
        "error",
        text="""The error of a row: a wrong decision, a false favorable one, a false unfavorable
        one, the log loss of the probability of a favorable decision, an unfavorable decision,
        or the value of ``callable(labels, outcomes)`` for all rows, finite and >= 0. Several
        errors are searched in turn. Without labels to compare decisions with, "error" is an
        unfavorable decision, and `labels` is None.""",
    )
    alpha: float = setting(
        0.95,
        [Interval(Real, 0, 1, closed="right")],
        "Weight of the error against the size, in (0, 1].",
    )
    redundancy: float | None = setting(
        None,
        [Interval(Real, 0, None, closed="left"), None],
        """A slice is not shown if dropping one of its conditions changes its effect by at most
        this; the next slice takes its place. Ignored if no slice would be left.""",
    )
    k: int = setting(10, text="Number of slices kept for each error.")
    n_permutations: int = setting(
        0,
        [Interval(Integral, 0, None, closed="left")],
        """With ``versus="everyone"`` only. If above 0, the number of searches with errors
        permuted over the rows; the corrected p-value is then the share of them whose best score
        is at least as large.""",
    )

    card = Card(
        finds="subgroup",
        where="model or data",
        access="labels or predict",
        statistic="weighted sum of relative error and relative size",
        output="the k slices of largest score, with effect, interval and corrected p-value",
        published="Adult, 3 predicates: 5.2 to 6.0 s on 112 cores; best score 0.874",
        reference="Sagadeeva and Boehm, SIGMOD 2021",
        worse=1,
        summary="the slices with the highest error scores, exactly",
        needs="labels or decisions",
        claims="The model errs more (with labels alone: the outcome is less favorable) for a "
        "protected group than for the rest of its context.",
        does_not_say="That more errors are errors to its disadvantage.",
        **OF_CONTEXTS,
    )

    @property
    def _counts_rows(self):
        numbers = any(callable(kind) or kind == "loss" for kind in self._kinds())
        return not (self.n_permutations and numbers)

    def _search(self, task, rows):
        items = self._items_of(rows)
        task.memory = items.bare()
        if self.versus == "context":
            return self._against_contexts(task, rows, items)
        problem = SliceProblem.of(
            rows, items, self.alpha, self._least(rows), self._max_len(items), self._first(items)
        )
        # Which slices are measured depends on the errors; how many could be returned does not.
        n_tests = float(problem.n_possible * len(rows.names))
        groups, tables, searches = [], [], []
        for j in range(len(rows.names)):
            search, best, table = self._k_best(task, problem, j)
            p_adjusted = self._permuted(task, problem, j, table["slice_score"])
            searches.append(search)
            groups.extend(best)
            tables.append(table.assign(p_adjusted=p_adjusted))
        table = pd.concat(tables, ignore_index=True)
        if not self.n_permutations:
            p_value = table["p_value"].to_numpy()
            table["p_adjusted"] = _stats.adjust(p_value, self.correction, n_tests)
        pairs = zip(groups, table["p_adjusted"], strict=True)
        found_groups = [g for g, p in pairs if p <= self.significance]
        by_value = problem.by_value(sum(s.measured for s in searches), found_groups)
        counts = FoundCounts(sum(s.n_measured for s in searches), len(found_groups), by_value)
        return self._report(rows, items, self._findings(task, groups, table), counts, n_tests)

    def _against_contexts(self, task, rows, items):
        """Test every frequent slice against its context."""
        if self.n_permutations:
            raise ValueError(
                "n_permutations permutes errors over all rows, a test of slices against everyone: "
                "set versus='everyone', or leave it out."
            )
        patterns, family = mine_family(self, task, rows, items, "higher")
        worth = has_gap_in_direction(family, "higher")
        lean = worth & ~redundant(patterns, family.gap, self.redundancy)
        significant = worth & (family.p_adjusted <= self.significance)
        if (lean & significant).any() or (lean.any() and not significant.any()):
            worth = lean
        least, weights = self._least(rows), rows.mass
        scores = [SliceScore.of(self.alpha, weights, e, least) for e in rows.values]
        published = [self._by_score(rows, j, family, s) for j, s in enumerate(scores)]
        chosen = self._shown(patterns, family, worth, published)
        discovery = contextual_discovery(
            self,
            task,
            items,
            patterns=patterns,
            family=family,
            chosen=chosen,
            significant=significant,
            aliases=self._aliases,
        )
        inside = [items.masks(p[p != PAD]).all(axis=0) for p in patterns.items[chosen[1]]]
        values = [s.columns(rows, j, inside) for j, s in enumerate(scores)]
        for name in values[0]:
            by_error = np.array([v[name] for v in values])
            discovery.findings.table[name] = by_error[chosen[0], np.arange(len(inside))]
        return discovery

    @staticmethod
    def _by_score(rows, j, family, score):
        """Return the positions of the slices of positive score, in order."""
        sums, center = family.contrasts.sums[j], rows.totals[j][1]
        value = np.nan_to_num(score(sums[0], sums[1] + center * sums[0]), nan=-np.inf)
        order = np.lexsort((-sums[0], -value.round(12)))
        return order[value[order] > POSITIVE]

    def _k_best(self, task, problem, j):
        """Return a search, and its first k non-redundant slices with their statistics."""
        k, rows = self.k, problem.rows
        while True:
            search = problem.search(rows.values[j], k, lambda n: self._spend(task, n))
            best, table = problem.measure(j, search, self.significance)
            lean = np.arange(len(best))
            if self.redundancy is not None:
                lean = lean[~redundant_slices(rows, j, best, table["outcome"], self.redundancy)]
            if len(lean) >= self.k or len(best) < k or task.budget.stopped_by is not None:
                lean = (lean if len(lean) else np.arange(len(best)))[: self.k]
                return search, [best[i] for i in lean], table.iloc[lean]
            # Too many of the k best were redundant.
            k *= 2

    def _permuted(self, task, problem, j, scores):
        """Return the share of searches with permuted errors whose best score is as large.

        NaN without permutations.
        """
        if not self.n_permutations or not len(scores):
            return np.full(len(scores), np.nan)
        # Slices below the lowest score that is compared can be pruned from the start.
        as_large, floor = np.ones(len(scores)), float(scores.min()) - 1e-12
        for _ in range(self.n_permutations):
            error = permuted(problem.rows.values[j], problem.rows.frequency, task.rng)
            search = problem.search(error, 1, lambda n: n, floor)
            as_large += search.scores.max(initial=-np.inf) >= scores.to_numpy() - 1e-12
        return as_large / (1 + self.n_permutations)
