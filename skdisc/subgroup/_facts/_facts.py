"""FACTS: fairness of recourse in frequent subgroups."""

from collections.abc import Callable, Hashable, Sequence
from itertools import combinations
from numbers import Integral, Real

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from skdisc._space._bins import Bins
from skdisc._space._subgroup import Subgroup
from skdisc._task._card import Card
from skdisc._utils._hashing import by_name, canonical_order
from skdisc._utils._types import Columns, Estimator, Labels, Memory, RandomState
from skdisc._verdicts._rule import Rule
from skdisc.subgroup._base import SubgroupDetector
from skdisc.subgroup._estimation._confirmation import put_beside
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

    Parameters
    ----------
    estimator : estimator or None, default=None
        Cloned and fitted when `fit` gets no model (a ``FrozenEstimator`` is used as it is); with
        neither, a small tree trained on y stands in.
    protected : column name or position, or sequence of them
        The protected columns. Each is studied separately, and combined ones after that as
        `intersections` says; no action changes any of them.
    intersections : int, default=1
        Largest number of protected columns that are combined: with 2, groups such as "women of
        race B" are compared with one another, too.
    notion : str, default="effectiveness"
        The notion that findings are ranked by: effectiveness, choice,
        effectiveness_within_budget, cost_of_effectiveness, trade_off, mean_recourse or
        conditional_mean_recourse.
    viewpoint : {"macro", "micro"} or None, default=None
        One action for the whole group, or the best one for each person; None: macro if it is
        defined.
    phi : float or sequence of float, default=(0.3, 0.7)
        Shares of a group that an action must help; findings are ranked by the first.
    budget : float, sequence of float or None, default=None
        Largest costs; None: the 30th, 60th and 90th percentile of the costs at which actions help
        half of a group.
    min_support : float, default=0.05
        Smallest share of the affected people of each group that a subgroup must cover.
    action_support : float or None, default=None
        Smallest share of the people with a favorable decision that the values of an action
        cover; None: `min_support`.
    max_predicates : int or None, default=None
        Largest number of columns of a subgroup, and of an action; None: no limit.
    features : sequence of column names, default=None
        Columns of subgroups and actions; None: all but the protected column studied.
    n_bins, action_bins : int, dict, `Bins` or None, default=5, "same"
        Number of quantile bins of a numeric column, for subgroups and for actions; a dict has
        by column a number or edges (5 for other columns); `Bins` has edges or equal widths; None:
        each value is a bin.
    action_features : {"same", "subset"}, default="same"
        Whether an action is a conjunction on the same columns as the subgroup, or on any of them.
    numeric_action : {"set", "shift"}, default="set"
        Whether an action sets a number to the median of the target bin, or shifts it by the
        difference of the medians of the two bins, within the observed range.
    immutable : sequence of column names, default=None
        Columns that no action changes.
    monotone : dict, default=None
        By ordered column: 1 if values may only increase, -1 if they may only decrease.
    max_step : dict, default=None
        By ordered column: largest number of positions (bins, categories) that an action moves.
    weights : dict, default=None
        Factor of the cost by column, 1 for other columns.
    cost : callable or None, default=None
        ``cost(column, before, after)`` of a move between two values; None: 1 for nominal columns,
        the difference of positions for ordered categories, and the difference divided by the range
        for numbers.
    c_inf : float or None, default=None
        Cost of recourse of people whom no action helps; None: the largest cost of any action.
    compare : {"rest", "extremes"}, default="rest"
        With more than two groups, compare each with all others together, or the group that is
        worst off with the one that is best off.
    subgroups, actions : sequence of Subgroup or dict, default=None
        Subgroups and actions to use in place of the frequent ones; a dict maps columns to values.
    min_effectiveness, max_cost : float, default=0, None
        Leave out actions that help a smaller share of each group, or that cost more.
    minimal_change : bool, default=False
        Keep the actions of a subgroup that change the fewest columns.
    remove_contained : bool, default=False
        A subgroup inside another one that is at least as unfair is not shown.
    k : int, default=10
        Number of findings kept.
    choose_on : float or None, default=0.5
        Share of the people on whom the best action of each group is chosen (effectiveness, also
        within budget, macro); it is tested on the others. None: as published, both on all.
    confirm : float or None, default=None
        Share of rows held out: the search uses the others, and its findings are tested on these.
    order : {"evidence", "effect"}, default="evidence"
        Order of the findings: by p-value, with intervals that account for the search; or, as
        published, by the notion, with Newcombe's intervals of shares.
    max_rows : int or None, default=None
        Largest number of rows under audit. Of more, a random sample is, stratified by protected
        group, as a note says; an estimator is trained on all rows. Positions of rows in results
        are then positions in the sample, ``sampled_rows_``.
    n_refits : int, default=19
        A model that is trained here is compared with at most so many models trained on redrawn
        protected columns; "disparity found" takes at least 1 / significance - 1.
    max_tests, max_queries : int or None, default=None
        Largest numbers of candidate subgroups counted, and of rows queried.
    time_budget : float or None, default=None
        Limit in seconds, checked between blocks of work.
    missing : {"category", "drop", "raise"}, default="category"
        How rows with a missing protected value are treated: as a group of their own, left out, or
        as an error. No action makes a value missing.
    rule : Rule or None, default=None
        When the question is answered. None: ``Rule()``. It uses `significance`, `correction` (here
        "bh"), `relevant_gap` and `relevant_size`.
    pos_label : label or collection of labels, default=None
        The favorable outcome; by default 1 or True; other labels need one. "high" and
        "low" are the greatest and least of numeric labels.
    memory : str or joblib.Memory, default=None
        Caches the fitting of `estimator`.
    random_state : int, RandomState instance or None, default=None
        Divides the people for `choose_on` and `confirm`.
    n_jobs : int or None, default=None
        Number of threads that share large queries to the model.
    verbose : bool or int, default=False
        Report progress on standard error.

    Attributes
    ----------
    result_ : AuditResult
        What `fit` found: the subject of a finding is the group that is worst off inside a
        subgroup; the effect is its value under the notion, minus that of the other side. Both
        are those of ``n_compared`` and ``n_compared_rest`` people: with `choose_on`, of the
        ``support`` without those on whom the best actions were chosen.
    recourse_ : dict of Recourse
        By protected column, and for combined ones by their names joined by " & ": ``rank``,
        ``profile``, ``counterfactuals``, ``to_text``, ``curves``, ``population``,
        ``ranking_analysis``, ``aggregated_rankings``, ``mining``.
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

    card = Card(
        finds="subgroup",
        where="model",
        access="predict",
        statistic="difference between groups in recourse among those refused",
        output="subgroups with the group worse off, and the actions that help its members",
        published="97,413 pairs of subgroup and action on Adult in 1,875 s",
        reference="Kavouras et al., NeurIPS 2023",
    )
    _asks = True
    rule_fields = ("significance", "correction", "relevant_gap", "relevant_size")
    _parameter_constraints = {
        **SubgroupDetector._parameter_constraints,
        "intersections": [Interval(Integral, 1, None, closed="left")],
        "notion": [StrOptions(set(NOTIONS))],
        "viewpoint": [StrOptions({"macro", "micro"}), None],
        "phi": [_SHARE, "array-like"],
        "budget": [Interval(Real, 0, None, closed="left"), "array-like", None],
        "min_support": [_SHARE],
        "action_support": [_SHARE, None],
        "n_bins": [Interval(Integral, 2, None, closed="left"), dict, Bins, None],
        "action_bins": [
            Interval(Integral, 2, None, closed="left"),
            dict,
            Bins,
            StrOptions({"same"}),
            None,
        ],
        "action_features": [StrOptions({"same", "subset"})],
        "numeric_action": [StrOptions({"set", "shift"})],
        "immutable": ["array-like", str, Integral, None],
        "monotone": [dict, None],
        "max_step": [dict, None],
        "weights": [dict, None],
        "cost": [callable, None],
        "c_inf": [Interval(Real, 0, None, closed="left"), None],
        "compare": [StrOptions({"rest", "extremes"})],
        "subgroups": "no_validation",
        "actions": "no_validation",
        "min_effectiveness": [Interval(Real, 0, 1, closed="both")],
        "max_cost": [Interval(Real, 0, None, closed="left"), None],
        "minimal_change": ["boolean"],
        "remove_contained": ["boolean"],
        "choose_on": [Interval(Real, 0, 1, closed="neither"), None],
        "confirm": [Interval(Real, 0, 1, closed="neither"), None],
        "order": [StrOptions({"evidence", "effect"})],
    }

    def __init__(
        self,
        estimator: Estimator | None = None,
        *,
        protected: Columns | None = None,
        intersections: int = 1,
        notion: str = "effectiveness",
        viewpoint: str | None = None,
        phi: float | Sequence[float] = (0.3, 0.7),
        budget: float | Sequence[float] | None = None,
        min_support: float = 0.05,
        action_support: float | None = None,
        max_predicates: int | None = None,
        features: Sequence[Hashable] | None = None,
        n_bins: int | dict | Bins | None = 5,
        action_bins: int | dict | Bins | str | None = "same",
        action_features: str = "same",
        numeric_action: str = "set",
        immutable: Sequence[Hashable] | None = None,
        monotone: dict | None = None,
        max_step: dict | None = None,
        weights: dict | None = None,
        cost: Callable | None = None,
        c_inf: float | None = None,
        compare: str = "rest",
        subgroups: Sequence[Subgroup | dict] | None = None,
        actions: Sequence[Subgroup | dict] | None = None,
        min_effectiveness: float | None = 0.0,
        max_cost: float | None = None,
        minimal_change: bool = False,
        remove_contained: bool = False,
        k: int = 10,
        choose_on: float | None = 0.5,
        confirm: float | None = None,
        order: str = "evidence",
        max_rows: int | None = None,
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
        self.intersections = intersections
        self.notion = notion
        self.viewpoint = viewpoint
        self.phi = phi
        self.budget = budget
        self.min_support = min_support
        self.action_support = action_support
        self.max_predicates = max_predicates
        self.features = features
        self.n_bins = n_bins
        self.action_bins = action_bins
        self.action_features = action_features
        self.numeric_action = numeric_action
        self.immutable = immutable
        self.monotone = monotone
        self.max_step = max_step
        self.weights = weights
        self.cost = cost
        self.c_inf = c_inf
        self.compare = compare
        self.subgroups = subgroups
        self.actions = actions
        self.min_effectiveness = min_effectiveness
        self.max_cost = max_cost
        self.minimal_change = minimal_change
        self.remove_contained = remove_contained
        self.k = k
        self.choose_on = choose_on
        self.confirm = confirm
        self.order = order
        self.max_rows = max_rows
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

    def _given_space(self, space):
        raise TypeError(
            "FACTS compares people with an unfavorable decision and needs rows of X; a "
            "FeatureSpace alone has none."
        )

    def _discover(self, task):
        rows, cache = self._rows(task), DecisionCache(task)
        if self.confirm is None or rows is None:
            return self._studied(task, cache, rows)
        is_out = np.zeros(len(rows.X), dtype=bool)
        drawn = task.rng.permutation(len(rows.X)) < self.confirm * len(rows.X)
        is_out[canonical_order(by_name(rows.X))] = drawn
        searched, held_out = rows.at(~is_out), rows.at(is_out)
        discovery = self._studied(task, cache, searched)
        at_fit, shown = discovery.findings.table, task.memory.table
        table, _ = table_again(self, at_fit, shown, cache, held_out)
        sizes = len(searched.X), len(held_out.X)
        return put_beside(discovery, table, self.significance, self.protected_, sizes)

    def _chosen(self, names):
        return names  # whatever the features of subgroups, each protected column is studied

    def _studied(self, task, cache, rows):
        """Study each protected column and combination of them, and return the Discovery."""
        excluded, self.recourse_ = [], {}
        sizes = range(1, min(self.intersections, len(self.protected_)) + 1)
        combined = [c for size in sizes for c in combinations(self.protected_, size)]
        for columns in combined if rows is not None else ():
            recourse, lost = study(cache, rows, columns, lambda n: self._spend(task, n))
            self.recourse_[recourse.protected] = recourse
            excluded += lost
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
        if self.choose_on is not None and not task.is_audit:
            chosen = np.zeros(len(task.X), dtype=bool)  # whatever the order of rows and columns
            chosen[canonical_order(by_name(task.X))] = task.rng.random(len(task.X)) < self.choose_on
        return StudyRows(task.X, task.decisions() > 0.5, task.space, settings, chosen)
