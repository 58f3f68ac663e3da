"""DivExplorer: the divergence of a rate in frequent subgroups."""

from collections.abc import Sequence
from copy import copy
from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from skdisc._space._subgroup import Subgroup
from skdisc._task._card import OF_CONTEXTS, Card
from skdisc._task._clustered import ClusteredMixin
from skdisc._task._shared_settings import CONFIRM, WEIGHTS
from skdisc._utils._settings import AT_LEAST_ONE, setting
from skdisc._utils._types import Columns
from skdisc.subgroup._base import SubgroupDetector
from skdisc.subgroup._divexplorer_everyone import against_everyone
from skdisc.subgroup._divexplorer_shapley import explained
from skdisc.subgroup._divexplorer_subgroups import audit_user_subgroups
from skdisc.subgroup._estimation._contextual import contextual_discovery, mine_family
from skdisc.subgroup._estimation._discovery import without_redundant
from skdisc.subgroup._estimation._family import has_gap_in_direction
from skdisc.subgroup._estimation._task_rows import NumbersMixin, rows_of

_ALIASES = {"metric": "measure", "rate": "outcome", "divergence": "effect_everyone"}


class DivExplorer(NumbersMixin, ClusteredMixin, SubgroupDetector):
    r"""Find the subgroups whose rate diverges most from the overall rate.

    For a rate :math:`f` (selection rate, false positive rate, …) and a conjunction :math:`I` of
    items that covers at least the share `min_support` of the rows, the divergence is
    :math:`D(I) = f(I) - f(\text{all})`. Each such conjunction is counted and tested against the
    rest of the rows, and the p-values are corrected for all tests.

    {parameters}

    Attributes
    ----------
    result_ : AuditResult
        Findings are `Subgroup` objects; effects are differences of rates. ``tables["groups"]``
        compares each single protected value with the rest, ``tables["family"]`` has every group
        that the verdict is about.
    {inherited}

    Raises
    ------
    ValueError
        If a rate is unknown, or needs labels or decisions that are not available; if `subgroups`
        are not on the features, or are combined with `explain` or `redundancy`.

    Notes
    -----
    The paper's t compares a group with all rows, the group included, and is not corrected for the
    number of groups: on pure noise, dozens of groups are significant. It is reported as ``t``.
    Findings are ranked by whether the corrected p-value of the test against the rest is
    significant, then by the size of the divergence.

    References
    ----------
    E. Pastor, L. de Alfaro, E. Baralis: Looking for trouble: analyzing classifier behavior via
    pattern divergence. SIGMOD 2021. https://doi.org/10.1145/3448016.3457284

    Examples
    --------
    >>> from skdisc.datasets import make_loan
    >>> X, y = make_loan(random_state=0, return_X_y=True)
    >>> detector = DivExplorer(protected="gender", max_predicates=1).fit(X, y)
    >>> print(detector.result_[0].subject)
    gender = 'female'

    Only the groups that mlxtend found in ``pandas.get_dummies(X)``:

    >>> from skdisc.subgroup import from_itemsets
    >>> itemsets = [{"gender_female"}, {"gender_male"}]  # or the frame of apriori or fpgrowth
    >>> detector = DivExplorer(protected="gender", subgroups=from_itemsets(itemsets, X))
    >>> detector.fit(X, y).result_.n_tested
    2
    """

    protected: Columns | None = setting(
        None,
        text="The protected columns; None: each column counts as protected.",
    )
    metric: str | Sequence[str] = setting(
        "selection_rate",
        [str, callable, "array-like"],
        """The rates: selection_rate, base_rate, true_positive_rate, false_positive_rate,
        true_negative_rate, false_negative_rate, positive_predictive_value,
        negative_predictive_value, false_discovery_rate, false_omission_rate, accuracy,
        error_rate; or "all". All but the first compare decisions with labels. A callable takes
        labels and decisions (None where they are not available) and returns one number per row,
        NaN for rows that do not enter; the means are compared by Welch's and Hall's test.""",
        kind="str or sequence of str",
    )
    output: str = setting(
        "decision",
        [StrOptions({"decision", "probability", "value"})],
        """Whether rates of decisions are compared, as `metric` says; or means, by Welch's and
        Hall's test: of probabilities of the model, or of the numbers in y ("value", without a
        model).""",
    )
    must_include: str | None = setting(
        "protected",
        [StrOptions({"protected"}), None],
        "Whether a group must involve a protected column.",
    )
    subgroups: Sequence[Subgroup | dict] | None = setting(
        None,
        "no_validation",
        """The groups to test, in place of the frequent ones: for example those that
        `from_itemsets` makes of mlxtend's itemsets. A dict maps columns to values.
        `max_predicates` and `distinct` do not apply to them.""",
        kind="sequence of Subgroup or dict",
    )
    direction: str = setting(
        "both",
        [StrOptions({"both", "lower", "higher"})],
        "Whether to find groups with a lower rate than overall, a higher one, or either.",
    )
    redundancy: float | None = setting(
        None,
        [Interval(Real, 0, None, closed="left"), None],
        """A group is not shown if dropping one of its conditions changes the divergence by at
        most this (with nested bins, widening an interval does not count as dropping); ignored
        if no significant group would be left.""",
    )
    explain: bool = setting(
        False,
        ["boolean"],
        """Whether to report the contributions of items: ``tables["shapley"]`` for each finding,
        ``tables["global_divergence"]`` over all frequent groups, and ``tables["corrective"]``,
        the items that bring the rate of a group closest to the overall rate.""",
    )
    k: int = setting(
        10,
        [AT_LEAST_ONE],
        "Number of findings kept for each rate.",
    )
    confirm: float | None = CONFIRM
    versus: str = setting(
        "context",
        [StrOptions({"context", "everyone"})],
        """What a group is compared with. "context": the people who meet its conditions on other
        columns, but not those on protected ones, so that a finding is about the protected
        columns. "everyone": all others, as published; the verdict is then "differs from
        everyone", which says nothing about discrimination.""",
    )
    order: str = setting(
        "evidence",
        [StrOptions({"evidence", "bound", "effect"})],
        """Order of the findings: by the standardized effect, by the end of its simultaneous
        interval that is nearer to 0, or, as published, by the size of the effect. By evidence,
        a group with one condition more than a significant one, which has a context, follows it
        unless it differs significantly from the rest of it (corrected for the number of such
        groups).""",
    )
    distinct: bool = setting(
        True,
        ["boolean"],
        """Whether definitions of the same set of rows count as one group, the shortest, and
        conditions that every row meets define none.""",
    )
    weights: str = WEIGHTS

    card = Card(
        finds="subgroup",
        where="model or data",
        access="labels or predict",
        statistic="divergence of a rate from the overall rate, tested against the rest",
        output="subgroups with effect, interval and corrected p-value",
        published="all 155 itemsets of support 0.1 on COMPAS, their divergences and contributions",
        reference="Pastor et al., SIGMOD 2021",
        summary="subgroups whose rate diverges from that of all rows",
        needs="labels or decisions",
        claims="In some context, the rate of a protected group differs from the rest of that "
        "context.",
        does_not_say="That the same holds in other contexts, or overall.",
        **OF_CONTEXTS,
    )
    _takes_trees = True
    _counts_rows = True

    def _on_decisions(self):
        return copy(self) if self.metric == "selection_rate" else None

    def _rows(self, task):
        if self.output != "decision" and self.metric != "selection_rate":
            raise ValueError(
                f"metric={self.metric!r} is a rate of decisions; output={self.output!r} compares "
                "means. Set one of them only."
            )
        return rows_of(task, self.metric, self.output)

    def _search(self, task, rows):
        """Mine the rows, test every frequent group, and keep the first k."""
        items = self._items_of(rows)
        if self.subgroups is not None:
            return audit_user_subgroups(self, task, rows, items)
        task.memory = items.bare()
        if self.versus == "everyone":
            return against_everyone(self, task, rows, items)
        patterns, family = mine_family(self, task, rows, items, self.direction)
        in_direction = has_gap_in_direction(family, self.direction)
        significant = (family.p_adjusted <= self.significance) & in_direction
        may_be_shown = without_redundant(
            in_direction, patterns, family.gap, self.redundancy, significant
        )
        measure, group = family.first(self.k, self.order, patterns.length, may_be_shown)
        discovery = contextual_discovery(
            self,
            task,
            items,
            patterns=patterns,
            family=family,
            chosen=(measure, group),
            significant=significant,
            aliases=_ALIASES,
        )
        if self.explain:
            everyone = rows.mine(
                items, self._least(rows), self.max_predicates, None, lambda n: n, self.distinct
            )
            positions = everyone.find(patterns.items[group])[0]
            pairs = list(zip(measure, positions, strict=True))
            discovery.tables.update(explained(self, rows, items, everyone, pairs))
        discovery.notes += self._hidden(np.count_nonzero(significant & ~may_be_shown))
        return discovery

    def _hidden(self, n):
        """Return a note on n redundant groups, a list of str."""
        if not n:
            return []
        return [
            f"{n} significant groups are not shown: for each, a larger group with one condition "
            f"less has an effect that differs by no more than {self.redundancy:g}."
        ]

    def _mine(self, task, rows, items):
        """Return the frequent patterns; only those with a protected item if that is enough."""
        # Redundancy and contributions compare groups with fewer conditions, which may lack the
        # protected one, so these must be mined, too.
        only = self.must_include == "protected" and self.redundancy is None and not self.explain
        first, least = items.protected if only else None, self._least(rows)
        return rows.mine(
            items, least, self.max_predicates, first, lambda n: self._spend(task, n), self.distinct
        )
