"""DiscriminationPatterns: the effect of observing protected values, in every context."""

from dataclasses import dataclass
from functools import partial
from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from skdisc import _stats
from skdisc._results._findings import ContextFindings
from skdisc._space._bins import Bins
from skdisc._space._items import Items, count_values
from skdisc._task._card import OF_CONTEXTS, Card
from skdisc._task._notes import chosen_by_their_data
from skdisc._utils._settings import setting
from skdisc.subgroup._base import DecidedDetector
from skdisc.subgroup._estimation._confirmation import confirmed
from skdisc.subgroup._estimation._decisions import RowDecisions
from skdisc.subgroup._estimation._discovery import FoundCounts
from skdisc.subgroup._patterns._naive_bayes_items import learn, model_items
from skdisc.subgroup._patterns._search_pools import (
    ModelPatterns,
    PatternSearch,
    PeoplesPatterns,
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

    {parameters}

    Attributes
    ----------
    result_ : AuditResult
        What `fit` found: subjects are the subgroups of x and y; effects are :math:`\Delta`. DSN
        counts all patterns above delta with a significant x, TSN all patterns searched.
    {inherited}

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

    delta: float = setting(
        0.01,
        [Interval(Real, 0, 1, closed="left")],
        "Degree of discrimination that a pattern must exceed, a difference of probabilities.",
    )
    rank: str = setting(
        "discrimination",
        [StrOptions({"discrimination", "divergence"})],
        r"""Which patterns come first: by :math:`|\Delta|`, or by the Kullback-Leibler
        divergence (nats) to the nearest distribution without this pattern, which favors
        frequent patterns.""",
    )
    min_support: float = setting(
        0.05,
        [Interval(Real, 0, 1, closed="both")],
        """Smallest share of rows that satisfy x and y; 0: all patterns of the model are
        searched, including patterns without rows.""",
    )
    max_predicates: int | None = setting(
        3,
        text="Largest number of conditions in x and y together; None: no limit.",
    )
    search: str = setting(
        "auto",
        [StrOptions({"auto", "meet", "branch"})],
        """Exact search if `min_support` is 0: meeting in the middle, or branch and bound;
        "auto" is the first if it is available (no limit on predicates, rank "discrimination").""",
    )
    smoothing: float = setting(
        1.0,
        [Interval(Real, 0, None, closed="left")],
        "Pseudo-count per value; 0: maximum likelihood.",
    )
    n_bins: int | dict | Bins = setting(
        4,
        text="Number of quantile bins of a numeric column; `Bins` offers other cuts.",
    )
    binarize: str | None = setting(
        None,
        [StrOptions({"median"}), None],
        """"median": cut numeric and ordinal columns in two at their median.""",
    )
    direction: str = setting(
        "both",
        [StrOptions({"both", "lower", "higher"})],
        "Whether x lowers the chance of a favorable decision, raises it, or either.",
    )

    _no_larger_items = "a variable of naive Bayes has one value at a time."
    limit_fields = DecidedDetector.limit_fields | {"tests": "steps of the search"}
    card = Card(
        finds="subgroup",
        where="model or data",
        access="labels or predict",
        statistic="change of the chance of a favorable decision when protected values are known",
        output="patterns with effect, interval and corrected p-value, and their exact number",
        published="best patterns of COMPAS, Adult and German credit at delta 0.01 to 0.1",
        reference="Choi et al., AAAI 2020",
        summary="conditions under which a protected value changes a probability",
        needs="labels or decisions",
        claims="Observing a protected value changes the probability of the decision, given the "
        "other values of the pattern.",
        does_not_say="That the naive Bayes model that ranks patterns is true; the test uses the "
        "rows.",
        **OF_CONTEXTS,
    )
    rule_fields = ("significance", "correction", "relevant_gap", "relevant_ratio", "relevant_size")

    _counts_rows = True

    def _search(self, task, rows):
        """Learn the model, test each x, and keep the k best patterns."""
        names = sorted(task.space.names, key=str)  # a budget ends any order of columns alike
        features, protected = self._features(names)
        items = model_items(
            rows.X,
            task.space,
            features,
            protected,
            n_bins=self._checked_bins(),
            binarize=self.binarize,
            weight=rows.weight,
            frequency=rows.frequency,
        )
        decisions = RowDecisions(rows)
        nb = learn(items, decisions.favored, self.smoothing, decisions.weights)
        if nb is None:  # no model can be learned
            none = np.empty((0, 1), dtype=np.int64)
            result = PatternSearch(none, none, np.empty(0))
        else:
            pool = self._pool(task, nb, items, rows)
            uncertainty = Uncertainty(nb, items, decisions.favored, pool.xs, **decisions.sizes)
            # There is one test per x, whatever the context: in naive Bayes, x changes the log-odds
            # of the decision by the same amount in all contexts.
            p_value = np.where(pool.is_tested, uncertainty.p_value(pool.xs), np.nan)
            p_adjusted = _stats.adjust(p_value, self.correction)
            in_direction = pool.is_tested
            if self._sign:
                in_direction = in_direction & (self._sign * nb.added(pool.xs) > 0)
            is_significant = in_direction & (p_adjusted <= self.significance)
            by_evidence = self.order == "evidence"
            result = choose(
                pool,
                self.k,
                p_adjusted=p_adjusted,
                is_significant=is_significant,
                is_insignificant=in_direction & ~is_significant,
                strength=uncertainty.strength(pool.xs) if by_evidence else None,
                budget=task.budget,
                redundancy=self.redundancy,
            )
        x, y = result.x, result.y
        task.memory = _FoundPatterns(items.bare(), x, y)
        table = pattern_table(
            nb,
            items,
            decisions,
            x=x,
            y=y,
            significance=self._level(result),
            delta=self.delta,
        )
        table["p_adjusted"], table["nodes_visited"] = result.p_adjusted, result.n_visited
        groups = [items.subgroup(pattern) for pattern in result.conditions]
        contexts = [items.subgroup(context) for context in y]
        group_keys, context_keys = (
            [task.space.subgroup_key(group) for group in groups_or_contexts]
            for groups_or_contexts in (groups, contexts)
        )
        findings = ContextFindings(
            groups, table, task.space.names, group_keys, contexts, context_keys
        )
        counts = FoundCounts(result.n_tested, result.n_found, count_by_value(items, result))
        discovery = self._report(rows, items, findings, counts, result.n_x)
        discovery.nodes_visited = int(result.n_visited)
        discovery.notes += chosen_by_their_data(counts.n_found and self.confirm is None)
        return discovery

    def _level(self, result):
        """Return one minus the confidence level of the intervals of the patterns shown."""
        if self.order == "effect":
            return self.significance
        n_shown = len(np.unique(result.x, axis=0))
        return _stats.false_coverage_level(n_shown, max(result.n_x, n_shown), self.significance)

    def _shown_intervals(self, discovery):
        return {}  # degrees are no gaps

    def _remeasure(self, task):
        """Learn the model again from the rows, and measure the patterns of fit in it."""
        rows, fit_findings = self._rows(task), self.result_.findings
        table = self._measure_held_out(task, fit_findings, rows)
        is_confirmed = confirmed(table, self.significance)
        confirmed_groups = np.array(fit_findings.subgroups, dtype=object)[is_confirmed]
        by_value = count_values(fit_findings.subgroups, confirmed_groups, self.protected_)
        counts = FoundCounts(len(fit_findings), int(is_confirmed.sum()), by_value)
        items, n_x = task.memory.items.on(rows.X), len(np.unique(task.memory.x, axis=0))
        discovery = self._report(rows, items, fit_findings.with_table(table), counts, n_x)
        discovery.nodes_visited = len(task.memory.x)
        discovery.candidates = self._candidates(task, discovery, rows, items)
        return discovery

    def _measure_held_out(self, task, findings, rows):
        memory, decisions = task.memory, RowDecisions(rows)
        x, y, items = memory.x, memory.y, memory.items.on(rows.X)
        nb = learn(items, decisions.favored, self.smoothing, decisions.weights)
        table = pattern_table(nb, items, decisions, x, y, self.significance, self.delta)
        has = decisions.sums(items.masks(np.arange(len(items.predicates))))[:, 4] > 0
        has = np.append(has, True)  # of PAD, the last
        table.loc[~has[x].all(axis=1), MEASURED] = np.nan  # smoothing is not evidence
        # Patterns with the same x have one hypothesis, which the correction counts once.
        _, first_index, which = np.unique(x, axis=0, return_index=True, return_inverse=True)
        p_adjusted = _stats.adjust(table["p_value"].to_numpy()[first_index], self.correction)
        table["p_adjusted"] = p_adjusted[which.ravel()]
        table["nodes_visited"] = len(x)
        table["effect_at_fit"] = findings.table["effect"].to_numpy()
        return table

    def _items_again(self, task, rows):
        return task.memory.items.on(rows.X)

    @property
    def _sign(self):
        return {"lower": -1, "higher": 1, "both": 0}[self.direction]

    def _pool(self, task, nb, items, rows):
        spend = partial(self._spend, task)
        if self.min_support == 0:
            return ModelPatterns(nb, self.delta, self.rank, self.max_predicates, self.search, spend)
        least = self._least(rows)
        return PeoplesPatterns(
            nb, self.delta, self.rank, self.max_predicates, items, rows, least, spend
        )

    def _rows(self, task):
        if not self.protected_:
            raise ValueError(
                "DiscriminationPatterns needs protected=[...]: the columns that x may set."
            )
        return super()._rows(task)

    def _report(self, rows, items, findings, counts, n_x):
        return super()._report(
            rows,
            items,
            findings,
            counts,
            n_x,
            measure="degree of discrimination",
            versus="everyone in the same context, protected values unknown",
        )
