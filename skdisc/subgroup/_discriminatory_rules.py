"""DiscriminatoryRules: classification rules whose confidence depends on protected properties."""

import math
from collections.abc import Hashable, Sequence
from numbers import Real

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from skdisc import _stats
from skdisc._results._findings import GroupFindings
from skdisc._space._bins import Bins
from skdisc._space._items import count_items
from skdisc._space._subgroup import Subgroup
from skdisc._task._card import Card
from skdisc._utils._types import Columns, Estimator, Labels, Memory, RandomState
from skdisc.subgroup._base import N_BINS, DecidedDetector
from skdisc.subgroup._discriminatory_rules_measures import ENDS, MEASURES, rule_measures
from skdisc.subgroup._discriminatory_rules_miners import (
    MinedRules,
    frame_of_itemsets,
    mine,
    rules_among,
)
from skdisc.subgroup._estimation._confirmation import beside_fit
from skdisc.subgroup._estimation._decisions import RowDecisions, effective_counts
from skdisc.subgroup._estimation._discovery import FoundCounts, redundant, subgroup_discovery


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
    n_bins : int or Bins, default=4
        Number of quantile bins of a numeric column; `Bins` offers other cuts and hierarchies.
    direction : {"both", "lower", "higher"}, default="higher"
        Whether to find rules with more unfavorable decisions than without A, with fewer, or either.
    redundancy : float or None, default=None
        A rule is not shown if dropping one of its conditions changes the measure by at most this;
        ignored if no rule that counts as found would be left.
    k : int, default=10
        Number of findings kept.
    correction : {"bh", "by", "holm", "bonferroni", "none"}, default="bh"
        Correction of the p-values over all rules.
    relevant_gap : float, default=0.1
        If nothing is found, and for some protected group a gap of this size to the rest is not
        detectable in the data, the verdict is "insufficient evidence".
    weights : {"probability", "frequency"}, default="probability"
        What `sample_weight` means: how many people a row stands for, on which variances depend,
        but not on the unit; or how often it is repeated, a whole number.
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
    significance : float, default=0.05
        Level of the verdict, of intervals and of corrected p-values.
    pos_label : label or collection of labels, default=None
        The favorable outcome; by default the last class.
    memory : str or joblib.Memory, default=None
        Caches the fitting of `estimator`.
    random_state : int, RandomState instance or None, default=None
        Not used; nothing is random.
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
    p-values are corrected. Rules that count as found come first, ranked by the end of the interval
    that is closer to 1, because in small groups the measure is large by chance; the others are
    ranked by the measure. `itemsets` returns a frame for mlxtend's ``association_rules``.

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
    90000 < annual_salary <= 111000 and gender = 'female' 1.17
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
    _parameter_constraints = {
        **DecidedDetector._parameter_constraints,
        "measure": [StrOptions(set(MEASURES))],
        "threshold": [Interval(Real, 1, None, closed="left")],
        "min_support": [Interval(Real, 0, 1, closed="right")],
        "miner": [StrOptions({"bitset", "fpgrowth"})],
        "n_bins": N_BINS,
        "direction": [StrOptions({"both", "lower", "higher"})],
        "redundancy": [Interval(Real, 0, None, closed="left"), None],
        "relevant_gap": [Interval(Real, 0, 1, closed="right")],
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
        n_bins: int | Bins = 4,
        direction: str = "higher",
        redundancy: float | None = None,
        k: int = 10,
        correction: str = "bh",
        relevant_gap: float = 0.1,
        weights: str = "probability",
        n_refits: int = 19,
        max_tests: int | None = None,
        max_queries: int | None = None,
        time_budget: float | None = None,
        missing: str = "category",
        significance: float = 0.05,
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
        self.correction = correction
        self.relevant_gap = relevant_gap
        self.weights = weights
        self.n_refits = n_refits
        self.max_tests = max_tests
        self.max_queries = max_queries
        self.time_budget = time_budget
        self.missing = missing
        self.significance = significance
        self.pos_label = pos_label
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def itemsets(self) -> pd.DataFrame:
        """Return the frequent itemsets in the format of mlxtend, for its ``association_rules``.

        Returns
        -------
        DataFrame
            Columns support (share of rows) and itemsets (frozenset of text); an itemset may
            contain the decision, ``"favourable"`` or ``"unfavourable"``.

        Raises
        ------
        NotFittedError
            If the detector is not fitted.
        """
        check_is_fitted(self, "result_")
        return frame_of_itemsets(self._memory)

    def _search(self, task, rows):
        items, least, decisions = self._items_of(rows), self._least(rows), RowDecisions(rows)
        settings = self.max_predicates, lambda n: self._spend(task, n)
        mined = mine(self.miner, items, decisions, least, *settings)
        sums, total = decisions.sums_of(mined), decisions.columns.sum(axis=1)
        task.memory = MinedRules(mined.items, sums, items.bare(), total, least)
        at, context = rules_among(mined, items.protected)
        table = self._table(sums[at], np.vstack([sums, total])[context])
        table["p_adjusted"] = _stats.adjust(table["p_value"].to_numpy(), self.correction)
        size, worth, found = self._strength(table)
        tested = table["p_value"].notna().to_numpy()
        shown = size > 1e-12  # what rounding leaves of 0 is none
        effect = np.full(len(mined), np.nan)
        effect[at] = table["effect"]
        lean = shown & ~redundant(mined, effect[None], self.redundancy)[0, at]
        shown = np.flatnonzero(lean if (lean & found).any() or not found.any() else shown)
        weight = sums[at[shown], :2].sum(axis=1)
        order = np.lexsort((shown, -weight, -worth[shown].round(9), ~found[shown]))
        best = shown[order[: self.k]]
        groups = [items.subgroup(mined.items[i]) for i in at[best]]
        table = self._with_context(groups, table.iloc[best].reset_index(drop=True))
        by_value = count_items(items, mined.items[at[tested]], mined.items[at[found]])
        counts = FoundCounts(int(tested.sum()), int(found.sum()), by_value)
        findings = GroupFindings.of(groups, table, task.space)
        return self._report(rows, items, findings, counts)

    def _measure_again(self, findings, rows):
        groups, decisions = findings.subgroups, RowDecisions(rows)
        contexts = [self._context(g) for g in groups]
        sums = (decisions.sums(g.mask(rows.X) for g in several) for several in (groups, contexts))
        table = beside_fit(self._table(*sums), findings, self.correction)
        return self._with_context(groups, table)

    def _items_again(self, task, rows):
        return task.memory.items.on(rows.X)

    def _context(self, group):
        """Return the group without its protected conditions."""
        sensitive = self._features(self.space_.names)[1]
        return Subgroup([p for p in group.predicates if p.column not in sensitive])

    def _with_context(self, groups, table):
        """Add the context of each rule to its statistics."""
        contexts = np.array([str(self._context(g)) for g in groups], dtype=object)
        return table.assign(context=contexts)

    def _table(self, sums, of_context):
        """Return the statistics of rules from the sums over A, B and over B."""
        x1, n1, x2, n2 = effective_counts(sums, of_context)
        denied, allowed, _, _, support = sums.T
        size, of_all = denied + allowed, of_context[:, :2].sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = None if (sums[:, 2] == sums[:, 4]).all() else size / of_all
            table = rule_measures(x1, n1, x1 + x2, n1 + n2, self.significance, share)
            table["outcome"] = allowed / size
            table["confidence"] = denied / size
            table["confidence_context"] = of_context[:, 0] / of_all
        for end, name in zip(ENDS, ("effect", "ci_low", "ci_high"), strict=True):
            table[name] = table[f"{self.measure}{end}"] - 1
        table["support"], table["support_context"] = (
            a.astype(np.int64) for a in (support, of_context[:, 4])
        )
        table["measure"] = np.full(len(table), self.measure, dtype=object)
        return table

    def _strength(self, table):
        """Return how far each rule is from 1, the value it is ranked by, and which are found."""
        signs = {"higher": (1,), "lower": (-1,), "both": (1, -1)}[self.direction]
        with np.errstate(divide="ignore"):
            logs = np.log(table[[f"{self.measure}{end}" for end in ENDS]].to_numpy()).T
        size = np.max([sign * logs[0] for sign in signs], axis=0)
        sure_size = np.max([sign * logs[sign] for sign in signs], axis=0)  # the end nearer to 1
        sure = (table["p_adjusted"] <= self.significance).to_numpy()
        found = sure & (size > 0) & (size >= math.log(self.threshold) - 1e-12)
        worth = np.where(found, sure_size, size)
        return size, np.where(np.isnan(worth), -np.inf, worth), found

    def _report(self, rows, items, findings, counts):
        groups = self._single_groups(rows, items, counts.n_tested)
        others = "everyone" if self.measure == "elift" else "the others"
        about = {
            "measure": f"{self.measure} of the unfavorable decision, minus 1",
            "versus": f"{others} in the same context",
        }
        return subgroup_discovery(self, rows, findings, counts, groups, **about)
