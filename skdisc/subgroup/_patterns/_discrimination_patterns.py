"""DiscriminationPatterns: the effect of observing protected values, in every context."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from skdisc import _stats
from skdisc._results._findings import ContextFindings
from skdisc._space._bins import Bins
from skdisc._space._items import Items, count_values
from skdisc._task._card import Card
from skdisc._task._notes import chosen_by_their_data
from skdisc._utils._types import Columns, Estimator, Labels, Memory, RandomState
from skdisc._verdicts._rule import Rule
from skdisc.subgroup._base import N_BINS, DecidedDetector
from skdisc.subgroup._estimation._confirmation import confirmed
from skdisc.subgroup._estimation._decisions import RowDecisions
from skdisc.subgroup._estimation._discovery import FoundCounts, subgroup_discovery
from skdisc.subgroup._patterns._naive_bayes_items import learn, model_items
from skdisc.subgroup._patterns._search_pools import (
    ModelPatterns,
    PeoplesPatterns,
    Searched,
    choose,
    count_by_value,
)
from skdisc.subgroup._patterns._uncertainty import MEASURED, Uncertainty, pattern_table


@dataclass(frozen=True)
class _FoundPatterns:
    """The patterns of fit: items without rows, and the items of x and of y of each pattern."""

    items: Items
    x: np.ndarray
    y: np.ndarray


class DiscriminationPatterns(DecidedDetector):
    r"""Find contexts where observing protected values changes the chance of a favorable decision.

    A naive Bayes model P of decision and columns is learned from the decisions. For an assignment
    x of some protected columns and a context y, values of any other columns, the degree of
    discrimination is :math:`\Delta(x, y) = P(d \mid x, y) - P(d \mid y)`, with d the favorable
    decision. A pattern is a pair (x, y) with :math:`|\Delta| > \delta`; a protected column may
    be part of x or of y. The search for the k best patterns is exact, and all patterns are
    counted.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Cloned and fitted when `fit` gets no model; a ``FrozenEstimator`` is used as it is. With
        neither, the labels y are the decisions.
    protected : column name or position, or sequence of them
        The protected columns, which x may set.
    delta : float, default=0.01
        Degree of discrimination that a pattern must exceed, a difference of probabilities.
    rank : {"discrimination", "divergence"}, default="discrimination"
        Which patterns come first: by :math:`|\Delta|`, or by the Kullback-Leibler divergence (nats)
        to the nearest distribution without this pattern, which favors frequent patterns.
    min_support : float, default=0.05
        Smallest share of rows that satisfy x and y; 0: all patterns of the model are searched,
        including patterns without rows.
    max_predicates : int or None, default=3
        Largest number of conditions in x and y together; None: no limit.
    search : {"auto", "meet", "branch"}, default="auto"
        Exact search if `min_support` is 0: meeting in the middle, or branch and bound; "auto" is
        the first if it is available (no limit on predicates, rank "discrimination").
    smoothing : float, default=1.0
        Pseudo-count per value; 0: maximum likelihood.
    n_bins : int, dict or Bins, default=4
        Number of quantile bins of a numeric column; `Bins` offers other cuts.
    binarize : {"median"} or None, default=None
        "median": cut numeric and ordinal columns in two at their median.
    features : sequence of column names, default=None
        Columns that may define patterns; None: all.
    direction : {"both", "lower", "higher"}, default="both"
        Whether x lowers the chance of a favorable decision, raises it, or either.
    redundancy : float or None, default=None
        A pattern is not shown if dropping one of its conditions changes :math:`\Delta` by at most
        this; ignored if no pattern would be left.
    k : int, default=10
        Number of findings kept.
    confirm : float or None, default=None
        Share of rows held out: the search uses the others, and its findings are tested on these.
    order : {"evidence", "effect"}, default="evidence"
        Order of the findings: the pattern of each significant x that is first by `rank`, in the
        order of the standardized log-odds of x, then the others by `rank`; or, as published, by
        `rank` alone, with intervals of patterns that were not searched for.
    weights : {"probability", "frequency"}, default="probability"
        What `sample_weight` means: how many people a row stands for, on which variances depend,
        but not on the unit; or how many equal people it stands for, a whole number. These are
        counted, with the result of repeated rows (with `confirm`, of the same distribution); where
        a model is trained, rows are repeated.
    n_refits : int, default=19
        A model that is trained here is compared with at most so many models trained on redrawn
        protected columns; "disparity found" takes at least 1 / significance - 1.
    max_tests, max_queries : int or None, default=None
        Largest numbers of steps of the search, and of rows queried; if X has more rows than
        `max_queries`, nothing is audited.
    time_budget : float or None, default=None
        Limit in seconds, checked between blocks of candidates.
    missing : {"category", "drop", "raise"}, default="category"
        How rows with a missing protected value are treated: as a category of their own, left out,
        or as an error. In other columns a missing value is always a value of its own.
    rule : Rule or None, default=None
        When the question is answered. None: ``Rule()``. It uses `significance`, `correction` (here
        "bh"), `relevant_gap`, `relevant_ratio` and `relevant_size`.
    pos_label : label or collection of labels, default=None
        The favorable outcome; by default 1 or True; other labels need one. "high" and
        "low" are the greatest and least of numeric labels.
    memory : str or joblib.Memory, default=None
        Caches the fitting of `estimator`.
    random_state : int, RandomState instance or None, default=None
        Splits the rows when `confirm` is set.
    n_jobs : int or None, default=None
        Number of threads that share large queries to the model.
    verbose : bool or int, default=False
        Report progress on standard error.

    Attributes
    ----------
    result_ : AuditResult
        What `fit` found: subjects are the subgroups of x and y; effects are :math:`\Delta`. DSN
        counts all patterns above delta with a significant x, TSN all patterns searched.
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
        If there are no protected columns, too many patterns for an exact search, or a search that
        is not available for these settings.

    Notes
    -----
    With the log-odds :math:`\Lambda` that x adds, :math:`\Delta(x, y) = 0` for each y if and only
    if :math:`\Lambda = 0`. There is one hypothesis for each x, whatever the number of contexts. It
    is tested by Wald's test, with a variance that does not assume the independence of naive Bayes
    and that is increased if, for few rows, the likelihood ratio of a condition is less significant;
    p-values are corrected over all x. Intervals have the level that keeps the false coverage rate
    of the x shown among all x. ``outcome`` is the mean decision of the members, NaN if there are
    none.

    Differences from the paper: columns may have any number of values, and probabilities are
    smoothed. The search bounds the divergence by the distance to P(d | not x, y), the largest that
    can be necessary; P(d | y) can be closer.

    References
    ----------
    Y. Choi, G. Farnadi, B. Babaki, G. Van den Broeck: Learning fair naive Bayes classifiers by
    discovering and eliminating discrimination patterns. AAAI 2020.
    https://doi.org/10.1609/aaai.v34i06.6565

    Examples
    --------
    >>> from skdisc.datasets import make_loan
    >>> X, y = make_loan(random_state=0, return_X_y=True)
    >>> finding = DiscriminationPatterns(protected="gender").fit(X, y).result_[0]
    >>> print(finding.subject, finding.effect.__round__(2))
    gender = 'female' -0.11
    """

    _no_larger_items = "a variable of naive Bayes has one value at a time."
    card = Card(
        finds="subgroup",
        where="model or data",
        access="labels or predict",
        statistic="change of the chance of a favorable decision when protected values are known",
        output="patterns with effect, interval and corrected p-value, and their exact number",
        published="best patterns of COMPAS, Adult and German credit at delta 0.01 to 0.1",
        reference="Choi et al., AAAI 2020",
    )
    rule_fields = ("significance", "correction", "relevant_gap", "relevant_ratio", "relevant_size")
    _parameter_constraints = {
        **DecidedDetector._parameter_constraints,
        "delta": [Interval(Real, 0, 1, closed="left")],
        "rank": [StrOptions({"discrimination", "divergence"})],
        "min_support": [Interval(Real, 0, 1, closed="both")],
        "search": [StrOptions({"auto", "meet", "branch"})],
        "smoothing": [Interval(Real, 0, None, closed="left")],
        "n_bins": N_BINS,
        "binarize": [StrOptions({"median"}), None],
        "direction": [StrOptions({"both", "lower", "higher"})],
        "redundancy": [Interval(Real, 0, None, closed="left"), None],
        "confirm": [Interval(Real, 0, 1, closed="neither"), None],
        "order": [StrOptions({"evidence", "effect"})],
    }
    del _parameter_constraints["must_include"]

    def __init__(
        self,
        estimator: Estimator | None = None,
        *,
        protected: Columns | None = None,
        delta: float = 0.01,
        rank: str = "discrimination",
        min_support: float = 0.05,
        max_predicates: int | None = 3,
        search: str = "auto",
        smoothing: float = 1.0,
        n_bins: int | dict | Bins = 4,
        binarize: str | None = None,
        features: Sequence[Hashable] | None = None,
        direction: str = "both",
        redundancy: float | None = None,
        k: int = 10,
        confirm: float | None = None,
        order: str = "evidence",
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
        self.delta = delta
        self.rank = rank
        self.min_support = min_support
        self.max_predicates = max_predicates
        self.search = search
        self.smoothing = smoothing
        self.n_bins = n_bins
        self.binarize = binarize
        self.features = features
        self.direction = direction
        self.redundancy = redundancy
        self.k = k
        self.confirm = confirm
        self.order = order
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

    _counts_rows = True

    def _search(self, task, rows):
        """Learn the model, test each x, and keep the k best patterns."""
        names = sorted(task.space.names, key=str)  # a budget ends any order of columns alike
        columns, bins = self._features(names), self._checked_bins()
        about = bins, self.binarize, rows.weight, rows.frequency
        items = model_items(rows.X, task.space, *columns, *about)
        decisions = RowDecisions(rows)
        nb = learn(items, decisions.favored, self.smoothing, decisions.weights)
        if nb is None:
            none = np.empty((0, 1), dtype=np.int64)
            done = Searched(none, none, np.empty(0))
        else:
            pool = self._pool(task, nb, items, rows)
            known = Uncertainty(nb, items, decisions.favored, pool.xs, **decisions.sizes)
            p_value = np.where(pool.is_tested, known.p_value(pool.xs), np.nan)
            p_value = _stats.adjust(p_value, self.correction)
            wanted = pool.is_tested & (self._sign * nb.added(pool.xs) > 0 if self._sign else True)
            sure = wanted & (p_value <= self.significance)
            strength = known.strength(pool.xs) if self.order == "evidence" else None
            given = p_value, sure, wanted & ~sure, strength
            done = choose(pool, self.k, *given, task.budget, self.redundancy)
        task.memory = _FoundPatterns(items.bare(), done.x, done.y)
        at = done.x, done.y, self._level(done), self.delta
        table = pattern_table(nb, items, decisions, *at)
        table["p_adjusted"], table["nodes_visited"] = done.p_adjusted, done.visited
        groups, bases = ([items.subgroup(g) for g in s] for s in (done.both, done.y))
        keys = [[task.space.subgroup_key(g) for g in several] for several in (groups, bases)]
        findings = ContextFindings(groups, table, task.space.names, keys[0], bases, keys[1])
        counts = FoundCounts(done.tested, done.found, count_by_value(items, done))
        discovery = self._report(rows, items, findings, counts, done.n_x)
        discovery.nodes_visited = int(done.visited)
        discovery.notes += chosen_by_their_data(counts.n_found and self.confirm is None)
        return discovery

    def _level(self, done):
        """Return one minus the confidence level of the intervals of the patterns shown."""
        if self.order == "effect":
            return self.significance
        n_shown = len(np.unique(done.x, axis=0))
        return _stats.false_coverage_level(n_shown, max(done.n_x, n_shown), self.significance)

    def _shown_intervals(self, discovery):
        return {}  # degrees are no gaps

    def _remeasure(self, task):
        """Learn the model again from the rows, and measure the patterns of fit in it."""
        rows, at_fit = self._rows(task), self.result_.findings
        table = self._measure_held_out(task, at_fit, rows)
        again = confirmed(table, self.significance)
        found = np.array(at_fit.subgroups, dtype=object)[again]
        by_value = count_values(at_fit.subgroups, found, self.protected_)
        counts = FoundCounts(len(at_fit), int(again.sum()), by_value)
        items, n_x = task.memory.items.on(rows.X), len(np.unique(task.memory.x, axis=0))
        discovery = self._report(rows, items, at_fit.with_table(table), counts, n_x)
        discovery.nodes_visited = len(task.memory.x)
        discovery.candidates = self._question(task, discovery, rows, items)
        return discovery

    def _measure_held_out(self, task, findings, rows):
        memory, decisions = task.memory, RowDecisions(rows)
        x, y, items = memory.x, memory.y, memory.items.on(rows.X)
        nb = learn(items, decisions.favored, self.smoothing, decisions.weights)
        table = pattern_table(nb, items, decisions, x, y, self.significance, self.delta)
        has = decisions.sums(items.masks(np.arange(len(items.predicates))))[:, 4] > 0
        has = np.append(has, True)  # of PAD, the last
        table.loc[~has[x].all(axis=1), MEASURED] = np.nan  # smoothing is not evidence
        _, at, which = np.unique(x, axis=0, return_index=True, return_inverse=True)
        once = _stats.adjust(table["p_value"].to_numpy()[at], self.correction)
        table["p_adjusted"] = once[which.ravel()]
        table["nodes_visited"] = len(x)
        table["effect_at_fit"] = findings.table["effect"].to_numpy()
        return table

    def _items_again(self, task, rows):
        return task.memory.items.on(rows.X)

    @property
    def _sign(self):
        return {"lower": -1, "higher": 1, "both": 0}[self.direction]

    def _pool(self, task, nb, items, rows):
        how, spend = (
            (nb, self.delta, self.rank, self.max_predicates),
            lambda n: self._spend(task, n),
        )
        if self.min_support == 0:
            return ModelPatterns(*how, self.search, spend)
        return PeoplesPatterns(*how, items, rows, self._least(rows), spend)

    def _rows(self, task):
        if not self.protected_:
            raise ValueError(
                "DiscriminationPatterns needs protected=[...]: the columns that x may set."
            )
        return super()._rows(task)

    def _report(self, rows, items, findings, counts, n_x):
        groups = self._single_groups(rows, items, n_x)
        about = {
            "measure": "degree of discrimination",
            "versus": "everyone in the same context, protected values unknown",
            "tables": {"groups": groups},
        }
        return subgroup_discovery(self, rows, findings, counts, groups, **about)
