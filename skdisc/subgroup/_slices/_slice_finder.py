"""SliceFinder: large slices with a clearly larger error than the rest of the rows."""

from dataclasses import replace
from functools import partial
from numbers import Real

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import Interval, StrOptions

from skdisc._space._items import count_items, count_values
from skdisc._stats._means import Means
from skdisc._task._card import OF_CONTEXTS, Card
from skdisc._utils._settings import AT_LEAST_ONE, setting
from skdisc._utils._types import Columns
from skdisc._verdicts._rule import CORRECTIONS
from skdisc.subgroup._estimation._discovery import FoundCounts
from skdisc.subgroup._slices import _slice_finder_candidates as candidates
from skdisc.subgroup._slices._alpha_investing import decide
from skdisc.subgroup._slices._base import SliceDetector
from skdisc.subgroup._slices._slice_finder_contextual import against_contexts
from skdisc.subgroup._slices._slice_finder_tables import counts_of, merged, one_sided, rules, show

_APPROACHES = {"both": ("lattice", "tree")}


class SliceFinder(SliceDetector):
    r"""Find large slices with a clearly larger error than the rest of the rows.

    A slice S, against its counterpart R of all other rows, has the effect size

    .. math:: \varphi = \sqrt 2 \, (m_S - m_R) / \sqrt{v_S + v_R}

    with means m and variances v of the errors. It is problematic if :math:`\varphi` is at least
    `effect_size` and the mean of S is significantly larger. Slices are sorted by fewer conditions,
    larger size, and larger effect size; slices inside a problematic slice with fewer conditions
    are left out. With ``versus="everyone"`` the problematic slices are the findings, as published.

    By default, each slice of the lattice with a protected condition is tested against the rest of
    its context, the rows that meet its other conditions. The slices in which the model errs
    significantly more are the findings, and come first; ``problematic`` is a column.

    {parameters}

    Attributes
    ----------
    result_ : AuditResult
        What `fit` found: `Subgroup` objects; effects are the mean error of the slice minus that of
        the rest of its context, ``effect_everyone`` (with ``versus="everyone"`` the effect) minus
        the overall one. The table adds ``approach`` ("both" if lattice and tree agree),
        ``effect_size``, ``problematic`` and ``slice_index``. ``to_frame("rules")`` has one row per
        side of a condition (`feature_name`, `operator`, `threshold`), with its place in the slice
        from 1 (`order`) and effect and effect size of the slice, which is finding number `case`;
        ``to_frame("approaches")`` has the counts per approach.
    {inherited}

    Raises
    ------
    ValueError
        If an error is unknown, or needs labels, decisions or probabilities that are not available.

    Notes
    -----
    The published test is one-sided: Welch's, or for errors of 0 and 1 the test of two proportions
    (exact for small counts), since a small slice in which all errors are equal has no variance. The
    nodes of the tree depend on the errors, so the p-value of a node with d conditions is corrected
    as the smallest over all choices of d from the sides of the possible splits. The whole lattice
    is measured, so that its correction does not depend on which slices are problematic.
    "alpha-investing" instead invests a tenth of its wealth in each test, in the order of the
    slices and regardless of the effect size: testing only slices of large effect, as in the paper,
    would select small p-values. Its corrected p-value is `significance` times p divided by the
    level of the test.

    The authors' code uses the root of the mean standard deviation in place of the pooled one, and
    the wrong tail of the normal distribution; here both are as in the paper.

    References
    ----------
    Y. Chung, T. Kraska, N. Polyzotis, K. H. Tae, S. E. Whang: Automated data slicing for model
    validation. TKDE 2020. https://doi.org/10.1109/TKDE.2019.2916074

    Examples
    --------
    >>> from skdisc.datasets import make_loan
    >>> X, y = make_loan(random_state=0, return_X_y=True)
    >>> detector = SliceFinder(protected="gender", approach="lattice").fit(X, y)
    >>> print(detector.result_[0].subject)
    gender = 'female'
    """

    protected: Columns | None = setting(
        None,
        text="The protected columns; None: each column counts as protected.",
    )
    approach: str = setting(
        "both",
        [StrOptions({"both", "lattice", "tree", "cluster"})],
        """The source of slices: all conjunctions of values ("lattice"), the nodes of a
        regression tree of the errors ("tree"), both, or boxes around clusters, the baseline of
        the paper. Slices of a tree or of clusters are chosen by their errors: with
        ``versus="context"`` they have a ``naive_p_value``, which ignores this, and count as
        found only if `confirm` is set.""",
    )
    effect_size: float = setting(
        0.4,
        [Interval(Real, 0, None, closed="left")],
        "Smallest effect size of a problematic slice.",
    )
    max_predicates: int | None = setting(
        2,
        text="""Largest number of columns in the definition of a slice of the lattice; None: no
        limit.""",
    )
    max_depth: int = setting(
        3,
        [AT_LEAST_ONE],
        "Depth of the tree.",
    )

    card = Card(
        finds="subgroup",
        where="model or data",
        access="labels or predict",
        statistic="effect size of the error against the rest, with a one-sided test",
        output="large problematic slices with effect size, interval and corrected p-value",
        published="Census income: Male 0.28, Married-civ-spouse 0.58 by effect size of log loss",
        reference="Chung et al., TKDE 2020",
        worse=1,
        summary="large slices with a significantly larger error than the rest",
        needs="labels or decisions",
        claims="The model errs more (with labels alone: the outcome is less favorable) for a "
        "protected group than for the rest of its context.",
        does_not_say="That more errors are errors to its disadvantage.",
        **OF_CONTEXTS,
    )
    own_corrections = (*CORRECTIONS, "alpha-investing")
    _aliases = {"metric": "outcome", "slice": "subject", "slice_size": "support"}

    @property
    def _counts_rows(self):
        return "cluster" not in self._approaches

    @property
    def _list_correction(self):
        """The correction over a fixed list of groups, for which alpha-investing has no order."""
        return "bh" if self.correction == "alpha-investing" else self.correction

    def _search(self, task, rows):
        items = self._items_of(rows)
        task.memory = items.bare()
        if self.versus == "context":
            return against_contexts(self, task, rows, items)
        lots = [
            self._tested(rows, j, slices)
            for j in range(len(rows.names))
            for slices in self._slices(task, rows, items, j)
        ]
        decide(lots, self.effect_size, self.correction, self.significance)
        shown = [show(rows, lot, self.k, self.significance) for lot in lots]
        groups = [group for part, _ in shown for group in part]
        table = pd.concat([part for _, part in shown], ignore_index=True)
        groups, table = merged(groups, table)
        findings = self._findings(task, groups, table)
        n_tested = [len(lot.slices) for lot in lots]
        counts = counts_of(rows, lots, n_tested, [int(lot.problematic.sum()) for lot in lots])
        by_value = self._by_value(items, lots)
        totals = FoundCounts(int(counts["n_tested"].sum()), int(counts["n_found"].sum()), by_value)
        tables = {"rules": rules(groups, table), "approaches": counts}
        return self._report(rows, items, findings, totals, tables=tables)

    def _reasons(self, discovery):
        reasons = super()._reasons(discovery)
        if "lattice" in self._approaches:
            return reasons
        why = (
            f"approach={self.approach!r} chooses a few slices by their errors, and tests no others"
        )
        return [f"{why}, and these only with confirm=", *reasons]

    @property
    def _approaches(self):
        return _APPROACHES.get(self.approach, (self.approach,))

    def _slices(self, task, rows, items, j):
        """Yield the slices of each approach, with a protected column if `must_include` is set."""
        # The whole lattice: if slices inside problematic ones were skipped, the correction would
        # depend on the errors.
        if "lattice" in self._approaches or not len(rows):
            by_error = replace(rows, values=rows.values[[j]], names=[rows.names[j]])
            patterns = by_error.mine(
                items,
                self._least(rows),
                self._max_len(items),
                self._first(items),
                lambda n: self._spend(task, n),
            )
            yield candidates.of_lattice(items, patterns, by_error.pattern_sums(patterns)[0])
        yield from self._chosen_by_errors(task, rows, items, j)

    def _chosen_by_errors(self, task, rows, items, j):
        """Yield the slices of the approaches that choose them by the errors."""
        if not len(rows):
            return
        # Merged values are neither nodes of a tree nor sides of a box.
        items, sums, least = items.unjoined(), rows.added(j), self._least(rows)
        if "tree" in self._approaches:
            spend = partial(self._spend, task)
            yield self._eligible(candidates.tree(items, sums, least, self.max_depth, spend))
        if "cluster" in self._approaches:
            yield self._eligible(candidates.clusters(items, rows.X, sums, least, task.rng))

    def _eligible(self, slices):
        """Return the slices with a protected column; all of them, if none must have one."""
        names = set(self._protected_features)
        if self.versus == "everyone" and (self.must_include is None or not self.protected_):
            return slices
        has = [any(p.column in names for p in g.predicates) for g in slices.groups]
        return slices.at(np.flatnonzero(has))

    def _tested(self, rows, j, slices):
        """Return slices with their effect sizes and p-values by an error."""
        phi = Means(slices.sums, *rows.totals[j]).cohens_d()
        # Bonferroni over the slices that this one was chosen from by its errors.
        p_value = one_sided(rows.tally(j, slices.sums)) * slices.n_alternatives
        return candidates.Lot(j, slices, phi, np.minimum(p_value, 1))

    def _by_value(self, items, lots):
        """Count, per protected value, the slices considered and problematic that involve it."""
        total = {}
        for lot in lots:
            slices = lot.slices
            if slices.patterns is not None:
                counts = count_items(items, slices.patterns, slices.patterns[lot.problematic])
            else:
                problematic = [slices.groups[i] for i in np.flatnonzero(lot.problematic)]
                counts = count_values(slices.groups, problematic, self.protected_)
            for name, (n_tested, n_found) in counts.items():
                before = total.get(name, (0, 0))
                total[name] = before[0] + n_tested, before[1] + n_found
        return total
