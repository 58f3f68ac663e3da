"""DiscriminatoryRules: classification rules whose confidence depends on protected properties."""

import math
from functools import partial
from numbers import Real

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from skdisc import _stats
from skdisc._results._findings import GroupFindings
from skdisc._task._card import OF_CONTEXTS, Card
from skdisc._task._notes import chosen_by_their_data
from skdisc._utils._settings import setting
from skdisc._utils._types import Columns
from skdisc.subgroup._base import DecidedDetector, SubgroupDetector
from skdisc.subgroup._discriminatory_rules_itemsets import (
    MinedRules,
    frame_of_itemsets,
    rules_among,
)
from skdisc.subgroup._discriminatory_rules_measures import ENDS, MEASURES, ranked, rule_table
from skdisc.subgroup._estimation._confirmation import with_effects_at_fit
from skdisc.subgroup._estimation._contextual import candidates_of
from skdisc.subgroup._estimation._contrasts import Contrasts, context_of
from skdisc.subgroup._estimation._decisions import RowDecisions
from skdisc.subgroup._estimation._discovery import (
    FoundCounts,
    redundant,
    single_groups,
)
from skdisc.subgroup._estimation._family import Family

_SIDE = {"higher": "lower", "lower": "higher", "both": "both"}  # of the favorable decisions


class DiscriminatoryRules(DecidedDetector):
    r"""Find the classification rules whose confidence increases with protected properties.

    A rule A, B → C states that people with the protected properties A in the context B get the
    unfavorable decision C, with the confidence :math:`p_1 = P(C \mid A, B)`. It is compared with
    the rule without A, and with the rule for the other people in the context: elift is
    :math:`p_1 / P(C \mid B)`, slift :math:`p_1 / P(C \mid \neg A, B)`, and olift the ratio of
    the odds. Each frequent itemset with a protected item is one rule: A are its protected items, B
    the others.

    {parameters}

    Attributes
    ----------
    result_ : AuditResult
        What `fit` found: subjects are the subgroups of A and B, effects the measure minus 1.
    {inherited}

    Raises
    ------
    ValueError
        If rows have clusters and `distinct` is False.

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

    protected: Columns | None = setting(
        None,
        text="""The protected columns; None: each column counts as protected, and contexts are
        empty.""",
    )
    measure: str = setting(
        "elift",
        [StrOptions(set(MEASURES))],
        """The measure that rules are found and ranked by; the others are columns of the
        findings.""",
    )
    threshold: float = setting(
        1.0,
        [Interval(Real, 1, None, closed="left")],
        """A rule counts as found if the measure is at least this (direction "higher"), or at
        most its reciprocal ("lower").""",
    )
    min_support: float = setting(0.05, text="Smallest share of rows that satisfy A and B.")
    max_predicates: int | None = setting(
        3,
        text="Largest number of conditions in A and B; None: no limit.",
    )
    direction: str = setting(
        "higher",
        [StrOptions({"both", "lower", "higher"})],
        """Whether to find rules with more unfavorable decisions than without A, with fewer, or
        either.""",
    )
    redundancy: float | None = setting(
        None,
        text="""A rule is not shown if dropping one of its conditions changes the measure by at
        most this; ignored if no rule that counts as found would be left.""",
    )
    order: str = setting(
        "evidence",
        [StrOptions({"evidence", "bound", "effect"})],
        """Order of the rules found: by the standardized difference of the confidences of A and
        not A in the context, where rules follow those that they refine, as in `DivExplorer`; as
        published, by the end of the interval that is closer to 1; or by the measure. The others
        follow, with "bound" by the measure.""",
    )
    distinct: bool = setting(
        True,
        ["boolean"],
        """Whether definitions of the same set of rows count as one rule, the shortest, and A
        and not A as one; conditions that every row meets define none; and `min_support` and
        five expected decisions of each kind are required of not A in the context, too. False:
        each frequent itemset with a protected item is a rule, as published, and intervals are
        those of a rule that was not searched for.""",
    )
    weights: str = setting(
        "probability",
        text="""What `sample_weight` means: how many people a row stands for, on which variances
        depend, but not on the unit; or how many equal people it stands for, a whole number.
        These are counted, with the result of repeated rows (with `confirm`, of the same
        distribution); where a model is trained, rows are repeated.""",
    )

    limit_fields = SubgroupDetector.limit_fields | {"tests": "candidate itemsets counted"}
    card = Card(
        finds="subgroup",
        where="model or data",
        access="labels or predict",
        statistic="confidence of a rule over that without its protected part, elift, slift, olift",
        output="rules with ratio, interval and corrected p-value",
        published="discriminatory classification rules on German credit",
        reference="Pedreschi et al., KDD 2008",
        worse=1,
        summary="classification rules whose lift depends on a protected value",
        needs="labels or decisions",
        claims="A protected condition changes the confidence of a rule.",
        does_not_say="That the rule was used to decide.",
        **OF_CONTEXTS,
    )
    versus, null, _scored = "context", SubgroupDetector.null, "gap"
    _counts_rows = True

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
        spend = partial(self._spend, task)
        mined = rows.mine(items, least, self.max_predicates, None, spend, self.distinct)
        sums, total = decisions.sums_of(mined), decisions.columns.sum(axis=1)
        task.memory = MinedRules(mined.items, sums, items.bare(), total, least)
        positions, context = rules_among(mined, items.protected)
        context_sums, sums = np.vstack([sums, total])[context], sums[positions]
        family = self._family(items, rows, mined)
        p_value = family.p_value[0, positions]
        table = rule_table(self.measure, sums, context_sums, self.significance)
        table["p_adjusted"] = family.p_adjusted[0, positions]
        table["strength"] = family.standing[0, positions]
        table["length"], table["support"] = mined.length[positions], sums[:, :2].sum(axis=1)
        size, is_found = self._size_and_found(table)
        tested = ~np.isnan(p_value)
        effect = np.full(len(mined), np.nan)
        effect[positions] = table["effect"]
        shown = tested & (size > 1e-12)  # what rounding leaves of 0 is none
        lean = shown & ~redundant(mined, effect[None], self.redundancy)[0, positions]
        shown = np.flatnonzero(lean if (lean & is_found).any() or not is_found.any() else shown)
        best = shown[ranked(self, table.iloc[shown], size[shown], is_found[shown])[: self.k]]
        groups = [items.subgroup(mined.items[i]) for i in positions[best]]
        level = self._level(len(best), family.n_tests)
        rules = self._measured(
            family.contrasts.at(positions[best]), sums[best], context_sums[best], level
        )
        rules["p_value"], rules["p_adjusted"] = p_value[best], table["p_adjusted"].to_numpy()[best]
        findings = GroupFindings.of(groups, self._with_context(groups, rules), task.space)
        counts = FoundCounts.of_itemsets(items, mined.items[positions], tested, is_found)
        discovery = self._report(rows, items, findings, counts)
        discovery.notes += chosen_by_their_data(counts.n_found and self.confirm is None)
        significant = np.zeros((1, len(mined)), dtype=bool)
        significant[0, positions[is_found]] = True
        discovery.candidates = candidates_of(self, rows, items, mined, family, significant)
        return discovery

    def _family(self, items, rows, mined):
        """Return the contrasts of the mined itemsets."""
        if self.distinct:
            return Family.mined(self, rows, mined, mined, items, _SIDE[self.direction])
        contrasts, has_contrast = Contrasts.of_patterns(rows, mined, mined, items)
        return Family.of(self, contrasts, has_contrast[None])

    def _level(self, n_shown, n_tests):
        """Return one minus the confidence level of the intervals of rules shown."""
        if not self.distinct:
            return self.significance
        # The rules shown were chosen by their data, so intervals of the nominal level would miss
        # more often than it says (Benjamini and Yekutieli 2005).
        return _stats.false_coverage_level(n_shown, n_tests, self.significance)

    def _measure_again(self, findings, rows):
        groups, decisions = findings.subgroups, RowDecisions(rows)
        contexts = [self._context(g) for g in groups]
        sums, context_sums = (
            decisions.sums(g.mask(rows.X) for g in subgroups) for subgroups in (groups, contexts)
        )
        contrasts = Contrasts.of_groups(rows, groups, self._protected_features)
        table = self._measured(contrasts, sums, context_sums, self.significance)
        is_tested = np.ones((1, len(groups)), dtype=bool)
        table["p_value"] = Family.of(self, contrasts, is_tested).p_value[0]
        return self._with_context(groups, with_effects_at_fit(table, findings, self.correction))

    def _items_again(self, task, rows):
        return task.memory.items.on(rows.X)

    def _context(self, group):
        """Return the group without its protected conditions."""
        return context_of(group, self._protected_features)

    def _with_context(self, groups, table):
        """Add the context of each rule to its statistics."""
        contexts = np.array([str(self._context(g)) for g in groups], dtype=object)
        return table.assign(context=contexts)

    def _measured(self, contrasts, sums, context_sums, level):
        """Return the statistics of rules with intervals that agree with their p-values."""
        n = len(contrasts.support)
        contrast_table = contrasts.table(np.zeros(n, dtype=np.int64), np.arange(n), level)
        p_value = contrast_table["p_value"].to_numpy() if self.distinct else None
        table = rule_table(self.measure, sums, context_sums, level, p_value)
        for name in ("p_value", "test", "support", "support_context"):
            table[name] = contrast_table[name].to_numpy()
        if self.distinct:
            table["outcome_rest"] = contrast_table["outcome_rest"].to_numpy()
            for end, name in zip(ENDS, ("effect", "ci_low", "ci_high"), strict=True):
                table[f"gap{end}"] = contrast_table[name].to_numpy()
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

    def _single_groups(self, rows, items, n_tests):
        return single_groups(
            rows, items, self.significance, self._list_correction, n_tests, self.distinct
        )

    def _report(self, rows, items, findings, counts):
        # elift divides by P(C | B), which includes the people of A; slift and olift leave them out.
        comparison = "everyone" if self.measure == "elift" else "the others"
        return super()._report(
            rows,
            items,
            findings,
            counts,
            measure=f"{self.measure} of the unfavorable decision, minus 1",
            versus=f"{comparison} in the same context",
        )
