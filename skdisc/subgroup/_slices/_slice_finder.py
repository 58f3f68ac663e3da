"""SliceFinder: large slices with a clearly larger error than the rest of the rows."""

from collections.abc import Callable, Hashable, Sequence
from numbers import Integral, Real

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import Interval, StrOptions

from skdisc._space._bins import Bins
from skdisc._space._items import count_items, count_values
from skdisc._stats._means import Means
from skdisc._task._card import Card
from skdisc._utils._types import Columns, Estimator, Labels, Memory, RandomState
from skdisc._verdicts._rule import CORRECTIONS, Rule
from skdisc.subgroup._estimation._discovery import FoundCounts
from skdisc.subgroup._slices import _slice_finder_candidates as made
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

    Parameters
    ----------
    estimator : estimator or None, default=None
        Cloned and fitted when `fit` gets no model; a ``FrozenEstimator`` is used as it is. With
        neither, an error is an unfavorable label.
    protected : column name or position, or sequence of them, default=None
        The protected columns; None: each column counts as protected.
    approach : {"both", "lattice", "tree", "cluster"}, default="both"
        The source of slices: all conjunctions of values ("lattice"), the nodes of a regression
        tree of the errors ("tree"), both, or boxes around clusters, the baseline of the paper.
        Slices of a tree or of clusters are chosen by their errors: with ``versus="context"`` they
        have a ``naive_p_value``, which ignores this, and count as found only if `confirm` is set.
    errors : {"error", "fp", "fn", "loss", "unfavorable"}, callable, or sequence, default="error"
        The error of a row, see `SliceLine`; the paper uses "loss".
    effect_size : float, default=0.4
        Smallest effect size of a problematic slice.
    min_support : float, default=0.01
        Smallest share of the rows that a slice must cover.
    min_rows : int, default=32
        Smallest number of rows of a slice; the larger of the two limits applies.
    max_predicates : int or None, default=2
        Largest number of columns in the definition of a slice of the lattice; None: no limit.
    max_depth : int, default=3
        Depth of the tree.
    n_clusters : int, default=10
        Number of clusters.
    must_include : {"protected"} or None, default="protected"
        Whether a slice must involve a protected column.
    features : sequence of column names, default=None
        Columns that may define slices; None: all.
    n_bins : int, dict or Bins, default=4
        Number of quantile bins of a numeric column; `Bins` offers other cuts and hierarchies.
    k : int, default=10
        Number of slices kept for each error and approach: problematic ones first, then by effect
        size.
    confirm : float or None, default=None
        Share of rows held out: the search uses the others, and its findings are tested on these.
    versus : {"context", "everyone"}, default="context"
        What a slice is compared with. "context": the rows that meet its conditions on other
        columns, but not those on protected ones, so that a finding says that the model errs more
        for the protected part. "everyone": all others, as published; the verdict is then
        "differs from everyone", which says nothing about discrimination.
    order : {"evidence", "bound", "effect"}, default="evidence"
        Order of the slices with a significantly larger error: by the standardized effect, where
        slices follow those that they refine, as in `DivExplorer`; by the end of its simultaneous
        interval that is nearer to 0; or, as published, by size.
        The other slices follow in the published order, which is that of all with
        ``versus="everyone"``.
    distinct : bool, default=True
        Whether definitions of the same set of rows count as one slice, the shortest, and
        conditions that every row meets define none; with ``versus="context"`` only.
    weights : {"probability", "frequency"}, default="probability"
        What `sample_weight` means: how many people a row stands for, on which variances depend,
        but not on the unit; or how many equal people it stands for, a whole number. These are
        counted, with the result of repeated rows (with `confirm`, of the same distribution); where
        a model is trained, or clusters are sought, rows are repeated.
    n_refits : int, default=19
        A model that is trained here is compared with at most so many models trained on redrawn
        protected columns; "disparity found" takes at least 1 / significance - 1.
    max_tests, max_queries : int or None, default=None
        Largest numbers of candidate slices measured, and of rows queried; if X has more rows than
        `max_queries`, nothing is audited.
    time_budget : float or None, default=None
        Limit in seconds, checked between blocks of candidates.
    missing : {"category", "drop", "raise"}, default="category"
        How rows with a missing protected value are treated: as a category of their own, left out,
        or as an error. In other columns a missing value is always an item of its own.
    rule : Rule or None, default=None
        When the question is answered. None: ``Rule()``. It uses `significance`, `correction` (here
        "bh"), `min_effect`, `relevant_gap`, `relevant_ratio` and `relevant_size`.
    pos_label : label or collection of labels, default=None
        The favorable outcome, the positive class of "fp" and "fn"; by default 1 or True.
    memory : str or joblib.Memory, default=None
        Caches the fitting of `estimator`.
    random_state : int, RandomState instance or None, default=None
        Seed of the split for `confirm`, and of the clustering.
    n_jobs : int or None, default=None
        Number of threads that share large queries to the model.
    verbose : bool or int, default=False
        Report progress on standard error.

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
    model_ : BlackBox or None
        The model under audit.
    audited_ : {"model", "refit", "surrogate", "decisions", "labels"}
        What was audited.
    space_ : FeatureSpace
        The columns and their possible values.
    protected_ : list
        Names of the protected columns.
    pos_label_ : list
        The favorable labels.

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

    card = Card(
        finds="subgroup",
        where="model or data",
        access="labels or predict",
        statistic="effect size of the error against the rest, with a one-sided test",
        output="large problematic slices with effect size, interval and corrected p-value",
        published="Census income: Male 0.28, Married-civ-spouse 0.58 by effect size of log loss",
        reference="Chung et al., TKDE 2020",
        worse=1,
    )
    own_corrections = (*CORRECTIONS, "alpha-investing")
    _parameter_constraints = {
        **SliceDetector._parameter_constraints,
        "approach": [StrOptions({"both", "lattice", "tree", "cluster"})],
        "effect_size": [Interval(Real, 0, None, closed="left")],
        "max_depth": [Interval(Integral, 1, None, closed="left")],
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
    }
    _aliases = {"metric": "outcome", "slice": "subject", "slice_size": "support"}

    def __init__(
        self,
        estimator: Estimator | None = None,
        *,
        protected: Columns | None = None,
        approach: str = "both",
        errors: str | Callable | Sequence = "error",
        effect_size: float = 0.4,
        min_support: float = 0.01,
        min_rows: int = 32,
        max_predicates: int | None = 2,
        max_depth: int = 3,
        n_clusters: int = 10,
        must_include: str | None = "protected",
        features: Sequence[Hashable] | None = None,
        n_bins: int | dict | Bins = 4,
        k: int = 10,
        confirm: float | None = None,
        versus: str = "context",
        order: str = "evidence",
        distinct: bool = True,
        weights: str = "probability",
        n_refits: int = 19,
        max_tests: int | None = None,
        max_queries: int | None = None,
        time_budget: float | None = None,
        missing: str = "category",
        rule: Rule | None = None,
        pos_label: Labels | None = None,
        memory: Memory = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.estimator = estimator
        self.protected = protected
        self.approach = approach
        self.errors = errors
        self.effect_size = effect_size
        self.min_support = min_support
        self.min_rows = min_rows
        self.max_predicates = max_predicates
        self.max_depth = max_depth
        self.n_clusters = n_clusters
        self.must_include = must_include
        self.features = features
        self.n_bins = n_bins
        self.k = k
        self.confirm = confirm
        self.versus = versus
        self.order = order
        self.distinct = distinct
        self.weights = weights
        self.n_refits = n_refits
        self.max_tests = max_tests
        self.max_queries = max_queries
        self.time_budget = time_budget
        self.missing = missing
        self.rule = rule
        self.pos_label = pos_label
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

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
            (j, lot)
            for j in range(len(rows.names))
            for lot in self._candidates(task, rows, items, j)
        ]
        tests = [self._test(rows, j, lot) for j, lot in lots]
        verdicts = decide(lots, tests, self.effect_size, self.correction, self.significance)
        parts = [
            show(rows, j, lot, phi, *verdict, self.k, self.significance)
            for (j, lot), (phi, _), verdict in zip(lots, tests, verdicts, strict=True)
        ]
        groups = [g for part in parts for g in part[0]]
        table = pd.concat([part[1] for part in parts], ignore_index=True)
        groups, table = merged(groups, table)
        findings = self._findings(task, groups, table)
        n_tested = [len(lot) for _, lot in lots]
        counts = counts_of(rows, lots, n_tested, [int(yes.sum()) for yes, _ in verdicts])
        by_value = self._by_value(items, lots, verdicts)
        totals = (int(counts[name].sum()) for name in ("n_tested", "n_found"))
        tables = {"rules": rules(groups, table), "approaches": counts}
        return self._report(rows, items, findings, FoundCounts(*totals, by_value), **tables)

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

    def _candidates(self, task, rows, items, j):
        """Yield the slices of each approach, with a protected column if `must_include` is set."""
        columns, _ = rows.columns(j)
        least, spend = self._least(rows), lambda n: self._spend(task, n)
        if "lattice" in self._approaches or not len(rows):
            max_len, first = self._max_len(items), self._first(items)
            given = least, max_len, first, spend, rows.frequency
            yield made.lattice(items, columns, *given)
        yield from self._chosen_by_errors(task, rows, items, j)

    def _chosen_by_errors(self, task, rows, items, j):
        """Yield the slices of the approaches that choose them by the errors."""
        columns = rows.added(j)
        least, wanted = self._least(rows), self._approaches if len(rows) else ()
        if "tree" in wanted:
            given = least, self.max_depth, lambda n: self._spend(task, n)
            yield self._eligible(made.tree(items.unjoined(), columns, *given))
        if "cluster" in wanted:
            lot = made.clusters(items.unjoined(), rows.X, columns, least, self.n_clusters, task.rng)
            yield self._eligible(lot)

    def _eligible(self, lot):
        """Return the slices with a protected column, or all if none is required."""
        names = set(self._features(self.space_.names)[1])
        if self.versus == "everyone" and (self.must_include is None or not self.protected_):
            return lot
        has = [any(p.column in names for p in g.predicates) for g in lot.groups]
        return lot.at(np.flatnonzero(has))

    def _test(self, rows, j, lot):
        """Return effect sizes, and p-values corrected for the choice of the slice."""
        phi = Means(lot.sums, *rows.totals[j]).cohens_d()
        return phi, np.minimum(one_sided(rows.tally(j, lot.sums)) * lot.among, 1)

    def _by_value(self, items, lots, verdicts):
        """Count, per protected value, the slices considered and problematic that involve it."""
        total = {}
        for (_, lot), (accepted, _) in zip(lots, verdicts, strict=True):
            if lot.patterns is not None:
                counts = count_items(items, lot.patterns, lot.patterns[accepted])
            else:
                found = [lot.groups[i] for i in np.flatnonzero(accepted)]
                counts = count_values(lot.groups, found, self.protected_)
            for name, (tested, found) in counts.items():
                before = total.get(name, (0, 0))
                total[name] = before[0] + tested, before[1] + found
        return total
