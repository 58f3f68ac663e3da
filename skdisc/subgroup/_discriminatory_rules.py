"""DiscriminatoryRules: classification rules whose confidence depends on protected properties."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from numbers import Real

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from skdisc import _stats
from skdisc._results._findings import GroupFindings
from skdisc._space._bins import Bins
from skdisc._space._items import count_items
from skdisc._task._card import Card
from skdisc._task._notes import chosen_by_their_data
from skdisc._utils._types import Columns, Estimator, Labels, Memory, RandomState
from skdisc._verdicts._rule import Rule
from skdisc.subgroup._base import N_BINS, DecidedDetector, SubgroupDetector
from skdisc.subgroup._discriminatory_rules_measures import ENDS, MEASURES, ranked, rule_table
from skdisc.subgroup._discriminatory_rules_miners import (
    MinedRules,
    frame_of_itemsets,
    mine,
    rules_among,
)
from skdisc.subgroup._estimation._confirmation import beside_fit
from skdisc.subgroup._estimation._contextual import candidates_of
from skdisc.subgroup._estimation._contrasts import Contrasts, context_of
from skdisc.subgroup._estimation._decisions import RowDecisions
from skdisc.subgroup._estimation._discovery import (
    FoundCounts,
    redundant,
    single_groups,
    subgroup_discovery,
)
from skdisc.subgroup._estimation._family import Family, candidates, one_side_each

_SIDE = {"higher": "lower", "lower": "higher", "both": "both"}  # of the favorable decisions


class DiscriminatoryRules(DecidedDetector):
    r"""Find the classification rules whose confidence increases with protected properties.

    A rule A, B → C states that people with the protected properties A in the context B get the
    unfavorable decision C, with the confidence :math:`p_1 = P(C \mid A, B)`. It is compared with
    the rule without A, and with the rule for the other people in the context: elift is
    :math:`p_1 / P(C \mid B)`, slift :math:`p_1 / P(C \mid \neg A, B)`, and olift the ratio of
    the odds. Each frequent itemset with a protected item is one rule: A are its protected items, B
    the others.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Cloned and fitted when `fit` gets no model; a ``FrozenEstimator`` is used as it is. With
        neither, the labels y are the decisions.
    protected : column name or position, or sequence of them, default=None
        The protected columns; None: each column counts as protected, and contexts are empty.
    measure : {"elift", "slift", "olift"}, default="elift"
        The measure that rules are found and ranked by; the others are columns of the findings.
    threshold : float, default=1.0
        A rule counts as found if the measure is at least this (direction "higher"), or at most
        its reciprocal ("lower").
    min_support : float, default=0.05
        Smallest share of rows that satisfy A and B.
    max_predicates : int or None, default=3
        Largest number of conditions in A and B; None: no limit.
    miner : {"bitset", "fpgrowth"}, default="bitset"
        How itemsets are mined: by the lattice, or by mlxtend's FP-growth (extra ``rules``), with
        equal results.
    features : sequence of column names, default=None
        Columns that may define rules; None: all.
    n_bins : int, dict or Bins, default=4
        Number of quantile bins of a numeric column; `Bins` offers other cuts and hierarchies.
    direction : {"both", "lower", "higher"}, default="higher"
        Whether to find rules with more unfavorable decisions than without A, with fewer, or either.
    redundancy : float or None, default=None
        A rule is not shown if dropping one of its conditions changes the measure by at most this;
        ignored if no rule that counts as found would be left.
    k : int, default=10
        Number of findings kept.
    confirm : float or None, default=None
        Share of rows held out: the search uses the others, and its findings are tested on these.
    order : {"evidence", "bound", "effect"}, default="evidence"
        Order of the rules found: by the standardized difference of the confidences of A and not A
        in the context, where rules follow those that they refine, as in `DivExplorer`; as
        published, by the end of the interval that is closer to 1; or by the measure. The others
        follow, with "bound" by the measure.
    distinct : bool, default=True
        Whether definitions of the same set of rows count as one rule, the shortest, and A and not
        A as one; conditions that every row meets define none; and `min_support` and five expected
        decisions of each kind are required of not A in the context, too. False: each frequent
        itemset with a protected item is a rule, as published, and intervals are those of a rule
        that was not searched for.
    weights : {"probability", "frequency"}, default="probability"
        What `sample_weight` means: how many people a row stands for, on which variances depend,
        but not on the unit; or how many equal people it stands for, a whole number. These are
        counted, with the result of repeated rows (with `confirm`, of the same distribution); where
        a model is trained, or by ``miner="fpgrowth"``, rows are repeated.
    n_refits : int, default=19
        A model that is trained here is compared with at most so many models trained on redrawn
        protected columns; "disparity found" takes at least 1 / significance - 1.
    max_tests, max_queries : int or None, default=None
        Largest numbers of candidate itemsets counted, and of rows queried; if X has more rows
        than `max_queries`, nothing is audited.
    time_budget : float or None, default=None
        Limit in seconds, checked between blocks of candidates.
    missing : {"category", "drop", "raise"}, default="category"
        How rows with a missing protected value are treated: as a category of their own, left out,
        or as an error. In other columns a missing value is always an item of its own.
    rule : Rule or None, default=None
        When the question is answered. None: ``Rule()``. It uses `significance`, `correction` (here
        "bh"), `min_effect`, `relevant_gap`, `relevant_ratio` and `relevant_size`.
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
        What `fit` found: subjects are the subgroups of A and B, effects the measure minus 1.
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
        If ``miner="fpgrowth"`` and rows have weights.
    ImportError
        If ``miner="fpgrowth"`` and mlxtend is not installed.

    Notes
    -----
    For each rule, the equality of the shares of A and not A in the context is tested, and the
    p-values are corrected. ``gap`` is the difference of their shares of favorable decisions.
    Intervals of the rules shown have the level that keeps the false coverage rate over all rules
    tested, and agree with the uncorrected p-value. `itemsets` returns a frame for mlxtend's
    ``association_rules``.

    References
    ----------
    D. Pedreschi, S. Ruggieri, F. Turini: Discrimination-aware data mining. KDD 2008.
    https://doi.org/10.1145/1401890.1401959; Measuring discrimination in socially-sensitive decision
    records. SDM 2009. https://doi.org/10.1137/1.9781611972795.50

    Examples
    --------
    >>> from skdisc.datasets import make_loan
    >>> X, y = make_loan(random_state=0, return_X_y=True)
    >>> finding = DiscriminatoryRules(protected="gender").fit(X, y).result_[0]
    >>> print(finding.subject, finding.effect.__round__(2))
    gender = 'female' 0.22
    """

    card = Card(
        finds="subgroup",
        where="model or data",
        access="labels or predict",
        statistic="confidence of a rule over that without its protected part, elift, slift, olift",
        output="rules with ratio, interval and corrected p-value",
        published="discriminatory classification rules on German credit",
        reference="Pedreschi et al., KDD 2008",
        worse=1,
    )
    versus, null, _scored = "context", SubgroupDetector.null, "gap"
    _parameter_constraints = {
        **DecidedDetector._parameter_constraints,
        "measure": [StrOptions(set(MEASURES))],
        "threshold": [Interval(Real, 1, None, closed="left")],
        "min_support": [Interval(Real, 0, 1, closed="right")],
        "miner": [StrOptions({"bitset", "fpgrowth"})],
        "n_bins": N_BINS,
        "direction": [StrOptions({"both", "lower", "higher"})],
        "redundancy": [Interval(Real, 0, None, closed="left"), None],
        "confirm": [Interval(Real, 0, 1, closed="neither"), None],
    }
    del _parameter_constraints["must_include"]

    def __init__(
        self,
        estimator: Estimator | None = None,
        *,
        protected: Columns | None = None,
        measure: str = "elift",
        threshold: float = 1.0,
        min_support: float = 0.05,
        max_predicates: int | None = 3,
        miner: str = "bitset",
        features: Sequence[Hashable] | None = None,
        n_bins: int | dict | Bins = 4,
        direction: str = "higher",
        redundancy: float | None = None,
        k: int = 10,
        confirm: float | None = None,
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
        self.measure = measure
        self.threshold = threshold
        self.min_support = min_support
        self.max_predicates = max_predicates
        self.miner = miner
        self.features = features
        self.n_bins = n_bins
        self.direction = direction
        self.redundancy = redundancy
        self.k = k
        self.confirm = confirm
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
        return self.miner == "bitset"

    def itemsets(self) -> pd.DataFrame:
        """Return the frequent itemsets in the format of mlxtend, for its ``association_rules``.

        Returns
        -------
        DataFrame
            Columns support (share of rows) and itemsets (frozenset of text); an itemset may
            contain the decision, ``"favorable"`` or ``"unfavorable"``.

        Raises
        ------
        NotFittedError
            If the detector is not fitted.
        """
        check_is_fitted(self, "result_")
        return frame_of_itemsets(self._memory)

    def _rows(self, task):
        if task.people.groups is not None and not self.distinct:
            raise ValueError(
                "distinct=False takes rows as independent: with groups=, leave distinct=True."
            )
        return super()._rows(task)

    def _search(self, task, rows):
        items, decisions, least = self._items_of(rows), RowDecisions(rows), self._least(rows)
        settings = self.max_predicates, lambda n: self._spend(task, n), self.distinct
        mined = mine(self.miner, items, decisions, least, *settings)
        sums, total = decisions.sums_of(mined), decisions.columns.sum(axis=1)
        task.memory = MinedRules(mined.items, sums, items.bare(), total, least)
        at, context = rules_among(mined, items.protected)
        sums = sums[at], np.vstack([sums, total])[context]
        family = self._family(items, rows, mined)
        p_value = family.p_value[0, at]
        table = rule_table(self.measure, *sums, self.significance)
        table["p_adjusted"], table["strength"] = family.p_adjusted[0, at], family.standing[0, at]
        table["length"], table["support"] = mined.length[at], sums[0][:, :2].sum(axis=1)
        size, found = self._size_and_found(table)
        tested = ~np.isnan(p_value)
        effect = np.full(len(mined), np.nan)
        effect[at] = table["effect"]
        shown = tested & (size > 1e-12)  # what rounding leaves of 0 is none
        lean = shown & ~redundant(mined, effect[None], self.redundancy)[0, at]
        shown = np.flatnonzero(lean if (lean & found).any() or not found.any() else shown)
        how = self.measure, self.direction, self.order
        best = shown[ranked(table.iloc[shown], size[shown], found[shown], *how)[: self.k]]
        groups = [items.subgroup(mined.items[i]) for i in at[best]]
        level = self._level(len(best), family.n_tests)
        rules = self._measured(family.contrasts.at(at[best]), *(s[best] for s in sums), level)
        rules["p_value"], rules["p_adjusted"] = p_value[best], table["p_adjusted"].to_numpy()[best]
        findings = GroupFindings.of(groups, self._with_context(groups, rules), task.space)
        by_value = count_items(items, mined.items[at[tested]], mined.items[at[found]])
        counts = FoundCounts(int(tested.sum()), int(found.sum()), by_value)
        discovery = self._report(rows, items, findings, counts)
        discovery.notes += chosen_by_their_data(counts.n_found and self.confirm is None)
        significant = np.zeros((1, len(mined)), dtype=bool)
        significant[0, at[found]] = True
        discovery.candidates = candidates_of(self, rows, items, mined, family, significant)
        return discovery

    def _family(self, items, rows, mined):
        """Return the contrasts of the mined itemsets."""
        contrasts, known = Contrasts.of_patterns(rows, mined, mined, items)
        if not self.distinct:
            return Family.of(self, contrasts, known[None])
        tested = candidates(contrasts, known, self._least(rows), mined, True)
        sides = one_side_each(contrasts, tested, mined, items, _SIDE[self.direction])
        family = Family.of_patterns(self, contrasts, *sides, mined, items)
        return replace(family, contexts=mined, least=self._least(rows))

    def _level(self, n_shown, n_tests):
        """Return one minus the confidence level of the intervals of rules shown."""
        if not self.distinct:
            return self.significance
        return _stats.false_coverage_level(n_shown, n_tests, self.significance)

    def _measure_again(self, findings, rows):
        groups, decisions = findings.subgroups, RowDecisions(rows)
        contexts = [self._context(g) for g in groups]
        sums = (decisions.sums(g.mask(rows.X) for g in several) for several in (groups, contexts))
        contrasts = Contrasts.of_groups(rows, groups, self._features(self.space_.names)[1])
        table = self._measured(contrasts, *sums, self.significance)
        every = np.ones((1, len(groups)), dtype=bool)
        table["p_value"] = Family.of(self, contrasts, every).p_value[0]
        return self._with_context(groups, beside_fit(table, findings, self.correction))

    def _items_again(self, task, rows):
        return task.memory.items.on(rows.X)

    def _context(self, group):
        """Return the group without its protected conditions."""
        return context_of(group, self._features(self.space_.names)[1])

    def _with_context(self, groups, table):
        """Add the context of each rule to its statistics."""
        contexts = np.array([str(self._context(g)) for g in groups], dtype=object)
        return table.assign(context=contexts)

    def _measured(self, contrasts, sums, of_context, level):
        """Return the statistics of rules with intervals that agree with their p-values."""
        n = len(contrasts.support)
        against = contrasts.table(np.zeros(n, dtype=np.int64), np.arange(n), level)
        p_value = against["p_value"].to_numpy() if self.distinct else None
        table = rule_table(self.measure, sums, of_context, level, p_value)
        for name in ("p_value", "test", "support", "support_context"):
            table[name] = against[name].to_numpy()
        if self.distinct:
            table["outcome_rest"] = against["outcome_rest"].to_numpy()
            for end, name in zip(ENDS, ("effect", "ci_low", "ci_high"), strict=True):
                table[f"gap{end}"] = against[name].to_numpy()
        table["measure"] = np.full(n, self.measure, dtype=object)
        return table

    def _shown_intervals(self, discovery):
        return {}  # ratios are no gaps

    def _size_and_found(self, table):
        """Return how far each rule is from 1 in the direction wanted, and which are found."""
        with np.errstate(divide="ignore"):
            log = np.log(table[self.measure].to_numpy())
        size = {"higher": log, "lower": -log, "both": np.abs(log)}[self.direction]
        sure = (table["p_adjusted"] <= self.significance).to_numpy()
        return size, sure & (size > 0) & (size >= math.log(self.threshold) - 1e-12)

    def _report(self, rows, items, findings, counts):
        n_tests = self.significance, self._list_correction, counts.n_tested
        groups = single_groups(rows, items, *n_tests, self.distinct)
        others = "everyone" if self.measure == "elift" else "the others"
        about = {
            "measure": f"{self.measure} of the unfavorable decision, minus 1",
            "versus": f"{others} in the same context",
            "tables": {"groups": groups},
        }
        return subgroup_discovery(self, rows, findings, counts, groups, **about)
