"""FACTS: fairness of recourse in frequent subgroups."""

from collections.abc import Hashable, Sequence
from itertools import combinations
from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from skdisc._space._bins import Bins
from skdisc._space._subgroup import Subgroup
from skdisc._task._card import Card
from skdisc._task._large_tables import rows_of_wide
from skdisc._task._limits import QUERIES_OF_ROWS
from skdisc._task._shared_settings import CONFIRM
from skdisc._utils._hashing import by_name, canonical_order
from skdisc._utils._settings import AT_LEAST_ONE, setting
from skdisc._utils._types import Columns, Estimator
from skdisc.subgroup._base import SubgroupDetector
from skdisc.subgroup._estimation._confirmation import with_held_out_statistics
from skdisc.subgroup._facts._actions_and_costs import N_BINS, Actions, Costs
from skdisc.subgroup._facts._flips import DecisionCache
from skdisc.subgroup._facts._notions import NOTIONS
from skdisc.subgroup._facts._report import discovered, measured_again, table_again
from skdisc.subgroup._facts._settings import checked_settings
from skdisc.subgroup._facts._study import StudyRows, study

_SHARE = Interval(Real, 0, 1, closed="right")


class FACTS(SubgroupDetector):
    r"""Find the subgroups in which recourse is harder for one protected group than for others.

    Among the affected people, who have an unfavorable decision, a subgroup p is a conjunction of
    conditions that is frequent in each protected group; an action sets its columns to values that
    are frequent among the people with a favorable decision. With :math:`G_{p,g}` the affected
    people of group g in p, the effectiveness of an action a is
    :math:`eff(a, G) = |\{x \in G : h(a(x)) = 1\}| / |G|`, and the groups are compared by one of
    seven notions (see Notes). The model is queried about each distinct changed row once; the
    results for any notion, level or protected column are computed from the counts.

    {parameters}

    Attributes
    ----------
    result_ : AuditResult
        What `fit` found: the subject of a finding is the group that is worst off inside a
        subgroup; the effect is its value under the notion minus the value of the other side. They
        are computed from ``n_compared`` and ``n_compared_rest`` people: with `learn_on`, the
        ``support`` without the people on whom the best actions were chosen.
    recourse_ : dict of Recourse
        By protected column, and for combined ones by their names joined by " & ": ``rank``,
        ``profile``, ``counterfactuals``, ``to_text``, ``curves``, ``population``,
        ``ranking_analysis``, ``aggregated_rankings``, ``mining``.
    {inherited}

    Raises
    ------
    ValueError
        If a notion is not defined for a viewpoint, if a rule refers to a column without an order,
        or if subgroups or actions are not on the allowed columns.
    TypeError
        If X is a FeatureSpace without rows, or subgroups or actions have the wrong type.

    Notes
    -----
    The guide ``doc/facts.md`` defines the seven notions and their tests, and explains the
    differences from the paper. A bias is against the group on the worse side under each notion;
    two infinite costs are not a bias; curves are compared at the end of each cost only.

    There is no ``sample_weight``: shares, costs and tests count people one by one. For rows that
    stand for several equal people, pass each row that often; survey weights are not supported.

    References
    ----------
    L. Kavouras et al.: Fairness aware counterfactuals for subgroups. NeurIPS 2023.
    https://doi.org/10.48550/arXiv.2306.14978

    Examples
    --------
    >>> from skdisc.datasets import make_loan
    >>> X, y = make_loan(random_state=0, return_X_y=True)
    >>> def bank(X):
    ...     asked = 225_000 + 9_000 * (X.gender == "female")
    ...     return X.annual_salary + 5 * X.account_balance > asked
    >>> detector = FACTS(protected="gender", features=["annual_salary"], random_state=0)
    >>> print(detector.fit(X, model=bank).result_[0].subject)
    annual_salary <= 65000 and gender = 'female'
    """

    estimator: Estimator | None = setting(
        None,
        text="""Cloned and fitted when `fit` gets no model (a ``FrozenEstimator`` is used as it
        is); with neither, a small tree trained on y stands in.""",
    )
    protected: Columns | None = setting(
        None,
        text="""The protected columns. Each is studied separately, and combined ones after that
        as `intersections` says; no action changes any of them.""",
    )
    intersections: int = setting(
        1,
        [AT_LEAST_ONE],
        """Largest number of protected columns that are combined: with 2, groups such as "women
        of race B" are compared with one another, too.""",
    )
    notion: str = setting(
        "effectiveness",
        [StrOptions(set(NOTIONS))],
        """The notion that findings are ranked by: effectiveness, choice,
        effectiveness_within_budget, cost_of_effectiveness, trade_off, mean_recourse or
        conditional_mean_recourse.""",
        kind="str",
    )
    viewpoint: str | None = setting(
        None,
        [StrOptions({"macro", "micro"}), None],
        """One action for the whole group, or the best one for each person; None: macro if it is
        defined.""",
    )
    phi: float | Sequence[float] = setting(
        (0.3, 0.7),
        [_SHARE, "array-like"],
        "Shares of a group that an action must help; findings are ranked by the first.",
        kind="float or sequence of float",
    )
    min_support: float = setting(
        0.05,
        [_SHARE],
        "Smallest share of the affected people of each group that a subgroup must cover.",
    )
    max_predicates: int | None = setting(
        None,
        text="Largest number of columns of a subgroup, and of an action; None: no limit.",
    )
    features: Sequence[Hashable] | None = setting(
        None,
        text="Columns of subgroups and actions; None: all but the protected column studied.",
    )
    n_bins: int | dict | Bins | None = setting(
        5,
        N_BINS,
        """Number of quantile bins of a numeric column; a dict has by column a number or edges (5
        for other columns); `Bins` has edges or equal widths; None: each value is a bin.""",
        kind="int, dict, `Bins` or None",
    )
    actions: Actions | None = setting(
        None,
        [Actions, None],
        "Which changes are considered. None: ``Actions()``.",
    )
    costs: Costs | None = setting(
        None,
        [Costs, None],
        "What changes cost, and the budget. None: ``Costs()``.",
    )
    subgroups: Sequence[Subgroup | dict] | None = setting(
        None,
        "no_validation",
        "Subgroups to use in place of the frequent ones; a dict maps columns to values.",
        kind="sequence of Subgroup or dict",
    )
    k: int = setting(
        10,
        [AT_LEAST_ONE],
        "Number of findings kept.",
    )
    # On the people by whom it was chosen, the best action looks better than it is, the more so the
    # fewer they are: a small group would look better off.
    learn_on: float | None = setting(
        0.5,
        [Interval(Real, 0, 1, closed="neither"), None],
        """Share of the people on whom the best action of each group is chosen (effectiveness,
        also within budget, macro); it is tested on the others. None: as published, both on all.""",
    )
    confirm: float | None = CONFIRM
    order: str = setting(
        "evidence",
        [StrOptions({"evidence", "effect"})],
        """Order of the findings: by p-value, with intervals that account for the search; or, as
        published, by the notion, with Newcombe's intervals of shares.""",
    )

    card = Card(
        finds="subgroup",
        where="model",
        access="predict",
        statistic="difference between groups in recourse among those refused",
        output="subgroups with the group worse off, and the actions that help its members",
        published="97,413 pairs of subgroup and action on Adult in 1,875 s",
        reference="Kavouras et al., NeurIPS 2023",
        summary="subgroups in which protected groups differ in recourse",
        needs="a model to query",
        claims="Among people who were refused, a protected group has less recourse than the rest "
        "of its context.",
        does_not_say="Anything about who was refused.",
        family="protected groups in subgroups that hold `relevant_size` of the people *refused*",
        bounded="gap in the share with recourse",
        decides='gap; notions of costs and counts have no bound, and end with "insufficient '
        'evidence"',
    )
    _asks = True
    _objects = {"actions": Actions, "costs": Costs}
    rule_fields = ("significance", "correction", "relevant_gap", "relevant_size")
    _most = 50_000
    limit_fields = SubgroupDetector.limit_fields | {
        "queries": QUERIES_OF_ROWS,
        "rows": rows_of_wide(_most),
    }

    def _given_space(self, space):
        raise TypeError(
            "FACTS compares people with an unfavorable decision and needs rows of X; a "
            "FeatureSpace alone has none."
        )

    def _discover(self, task):
        rows, cache = self._rows(task), DecisionCache(task)
        if self.confirm is None or rows is None:
            return self._studied(task, cache, rows)
        # Drawn in an order that depends on values only, not on the order of rows or columns.
        is_out = np.zeros(len(rows.X), dtype=bool)
        drawn = task.rng.permutation(len(rows.X)) < self.confirm * len(rows.X)
        is_out[canonical_order(by_name(rows.X))] = drawn
        searched, held_out = rows.at(~is_out), rows.at(is_out)
        discovery = self._studied(task, cache, searched)
        fit_table, shown = discovery.findings.table, task.memory
        table, _ = table_again(self, fit_table, shown, cache, held_out)
        sizes = len(searched.X), len(held_out.X)
        return with_held_out_statistics(discovery, table, self.significance, self.protected_, sizes)

    def _chosen(self, names):
        return names  # whatever the features of subgroups, each protected column is studied

    def _studied(self, task, cache, rows):
        """Study each protected column and combination of them, and return the Discovery."""
        excluded, self.recourse_ = [], {}
        sizes = range(1, min(self.intersections, len(self.protected_)) + 1)
        combined = [c for size in sizes for c in combinations(self.protected_, size)]
        # One cache for all of them: whether a change helps a person does not depend on the groups.
        for columns in combined if rows is not None else ():
            recourse, left_out = study(cache, rows, columns, lambda n: self._spend(task, n))
            self.recourse_[recourse.protected] = recourse
            excluded += left_out
        return discovered(self, task, excluded)

    def _remeasure(self, task):
        return measured_again(self, task, DecisionCache(task), self._rows(task))

    def _rows(self, task):
        """Return the rows under audit with their decisions; None if the budget is too small."""
        settings = checked_settings(self, task.space)
        task.queries.ask(task.X.iloc[:0])  # raises if decisions come without a model
        if not task.budget.affords(len(task.X)):
            return None
        chosen = None
        if self.learn_on is not None and not task.is_audit:
            chosen = np.zeros(len(task.X), dtype=bool)  # whatever the order of rows and columns
            chosen[canonical_order(by_name(task.X))] = task.rng.random(len(task.X)) < self.learn_on
        return StudyRows(task.X, task.decisions() > 0.5, task.space, settings, chosen)
