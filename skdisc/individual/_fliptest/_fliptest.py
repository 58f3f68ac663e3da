"""FlipTest: optimal transport between two groups, and the pairs with different decisions."""

from collections.abc import Callable, Hashable, Sequence
from copy import copy
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.utils._param_validation import StrOptions

from skdisc._neighbors._distances import features_of
from skdisc._neighbors._mixed_space import MixedSpace
from skdisc._task._card import Card
from skdisc._task._clustered import ClusteredRowsMixin
from skdisc._task._limits import LIMITS, Limits
from skdisc._task._task import Request
from skdisc._utils._hashing import canonical_order
from skdisc._utils._inputs import counts_of_values
from skdisc._utils._settings import AT_LEAST_ONE, COUNT, NOT_NEGATIVE, setting
from skdisc._utils._shared_sections import with_sections
from skdisc._utils._types import (
    ArrayLike,
    FrameLike,
)
from skdisc.base import SCORE
from skdisc.individual._base import share_with_case
from skdisc.individual._fliptest._flipsets import (
    PlacedPeople,
    TransportOfFit,
    TransportProblem,
    flips_by_chance,
    permutations,
    transport,
    transport_as_at_fit,
)
from skdisc.individual._fliptest._report import make_discovery
from skdisc.individual._group_comparison import GroupsDetector

_DRAWN, _WHOLE = 1000, 2000  # people of a group in one transport


class FlipTest(ClusteredRowsMixin, GroupsDetector):
    r"""Pair the people of two groups by optimal transport, and report pairs decided differently.

    A transport :math:`G` maps the group :math:`S` to the reference :math:`S'` at the least mean
    cost, by default :math:`c(x, x') = \lVert x - x' \rVert_1^2` in standardized columns. With
    decisions h, the flipsets are

    .. math:: F^+ = \{x \in S: h(x) > h(G(x))\}, \qquad F^- = \{x \in S: h(x) < h(G(x))\}.

    For a one-to-one transport :math:`|F^+| - |F^-|` is the difference in the numbers of accepted
    people, so the net flips measure nothing but demographic parity. The flipsets themselves, and
    how their members differ from their partners (the transparency report), show which attributes
    the decisions depend on.

    {parameters}

    Attributes
    ----------
    result_ : AuditResult
        What `fit` found: pairs with different decisions, the nearest first. Tables: ``flipsets``
        (per comparison: people transported, positive, negative, net, cost, solver, whether exact;
        p-value and adjusted p-value, mean share ``by_chance`` and its standard deviation
        ``spread``), ``transparency`` (per comparison, flipset and attribute: mean difference in
        standard deviations, consistency of its sign, ranks), ``runs`` (per protected attribute TSN,
        DSN, SUR, mean distance, both values; DSS is in `metrics`), ``transported`` (row, partner,
        weight, distance, both decisions, attribute).
    {inherited}

    Raises
    ------
    ArithmeticError
        If a transport did not converge.
    ValueError
        If a group, a reference or a column is not in X, or labels are needed and not given.
    ImportError
        If ``solver="pot"`` and POT is not installed.

    Notes
    -----
    The original fits a generative network where exact transport is too large; here people are
    sampled. The original also counts every flip as a finding, although two samples of one
    population flip as well, since they never contain the same people. Here the larger flipset,
    :math:`\max(|F^+|, |F^-|)`, is tested against the null hypothesis that both groups (with
    `equalized_odds`, of each label) are samples of one population of attributes and decisions, by
    permuting group membership and transporting again, 50 people at a time, at most 1,000 of a
    group, who are drawn once. P-values are corrected for all comparisons; where the reference is
    the group with the best decisions, for those with every group that could have been it. The
    larger flipset grows with net flips as well as with flips in both directions that
    cancel. (McNemar's test of the net is not valid: partners are chosen, not sampled, so flips are
    not independent.) A rejection means that the groups differ in the attributes that decisions
    depend on: decisions based on merit alone flip where merit differs. The transparency report
    shows whether such a difference justifies the flips.

    `audit` transports new people to the partner of the nearest person of fit, and tests the groups
    of the new rows. If the new rows lack one of the groups, comparisons that were significant at
    fit have cases.

    References
    ----------
    E. Black, S. Yeom, M. Fredrikson: FlipTest: fairness testing via optimal transport. FAT* 2020.
    :doi:`10.1145/3351095.3372845`

    Examples
    --------
    >>> from skdisc.datasets import make_hiring
    >>> hiring = make_hiring(400, random_state=0)
    >>> test = FlipTest(protected="gender", group="female", solver="assignment", random_state=0)
    >>> flips = test.fit(hiring.data, hiring.decision).result_.tables["flipsets"]
    >>> flips[["n_group", "n", "positive", "negative", "net"]]
       n_group      n  positive  negative  net
    0      199  199.0      28.4      27.4  1.0
    """

    group: Any = setting(
        None,
        text="""Who is transported to whom, as in `SituationTesting`: each group outside the
        reference.""",
        kind='value, dict of values by column, or None; default=None, "best"',
    )
    reference: Any = setting(
        "best",
        text="""Who is transported to whom, as in `SituationTesting`: each group outside the
        reference.""",
        kind='value, dict of values by column, or None; default=None, "best"',
    )
    combine: str = setting(
        "multiple",
        [StrOptions({"multiple", "intersectional"})],
        "Each protected column separately, or combinations of values.",
    )
    max_attributes: int | None = setting(
        None,
        [AT_LEAST_ONE, None],
        "Largest number of protected columns; columns with groups of similar size come first.",
    )
    features: Sequence[Hashable] | None = setting(
        None,
        ["array-like", None],
        "The columns that the cost is computed from; None: all but the protected ones.",
        kind="sequence of column names or None",
    )
    cost: str | Callable = setting(
        "squared_l1",
        [StrOptions({"squared_l1", "l1", "squared_l2"}), callable],
        "A callable takes two arrays of coordinates, and returns the matrix of costs.",
    )
    outcome: str = setting(
        "model",
        [StrOptions({"model", "y"})],
        """Which decisions are compared: those of the model, or the labels y even if there is a
        model.""",
    )
    equalized_odds: bool = setting(
        False,
        ["boolean"],
        "Transport people only to people with the same label y; in `audit`, too.",
    )
    solver: str = setting(
        "auto",
        [StrOptions({"auto", "assignment", "pot"})],
        """POT solves larger problems and groups of unequal size; "auto" uses it if it is
        installed.""",
    )
    n_draws: int = setting(
        5,
        [AT_LEAST_ONE],
        "Number of samples of groups that are not transported at once.",
    )
    n_permutations: int | None = setting(
        None,
        [COUNT, None],
        """Number of permutations of group membership behind the p-value. A comparison that is
        not significant after correction for all comparisons has no cases. None: as many as it
        takes for one of all comparisons, at least 99 and at most 1,999, ended by ten with as
        large a flipset. 0: flips are not tested, and each flip is a case, as in the paper.""",
    )
    max_distance: float | None = setting(
        None,
        [NOT_NEGATIVE, None],
        """Pairs farther apart (L1, standardized) are not cases, though they count in the
        flipsets.""",
    )
    limits: Limits | None = LIMITS

    null = "counterfactual"
    card = Card(
        finds="individual",
        where="model or data",
        access="decisions",
        statistic="flipsets of an optimal transport between groups",
        output="pairs decided differently, transparency report",
        published="715 disadvantaged and 1,215 advantaged among 10,000 women (Black et al.)",
        reference="Black et al., FAT* 2020",
        summary="people whose decision differs from that of their counterpart in another group",
        needs="decisions or a model",
        claims="More people are decided unlike their counterpart in the other group than between "
        "random groups.",
        does_not_say="That the matching is the effect of the attribute.",
        family="groups of `relevant_size` with a reference",
        bounded="net of flips",
        decides="gap, and a flipset larger than by chance by less than it",
    )
    rule_fields = ("significance", "relevant_gap", "relevant_size")
    limit_fields = {
        "seconds": "checked between samples and permutations, of which there is at least one",
        "rows": "people of a group in one transport, by default 1,000, with POT 2,000: larger "
        "groups, and without POT groups of unequal size, are sampled `n_draws` times (by default "
        "1,000 people), and flips are averaged. Of more than ``4 * n_draws * rows`` rows (by "
        "default 20,000), a random sample of so many is used, stratified by protected group, as a "
        "note says; rows in results are then positions in the sample, ``sampled_rows_``",
    }

    @with_sections(SCORE)
    def score(
        self, X: FrameLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the share of the people of X whose partner has a different decision.

        NaN if no row of X can be transported.
        """
        people = self._read(Request(X, y, None, sample_weight))
        case = self._measure_on(people).tables["transported"].groupby("row")["case"].any()
        return share_with_case(case.index, case, people.weight)

    def _discover(self, task):
        self._check_protected()
        X, columns = task.X, self._feature_names(task.X)
        people, order, space = self._placed(task, columns)
        protected = self._compared(X)
        items = self._protected_items(task, protected)
        comparisons = self._comparisons(X, items, protected, people.decided)
        problems = self._problems(comparisons, people, order, space)
        parts = self._tested(task, [transport(p, task.rng, task.budget) for p in problems])
        pairs = [(part.problem.comparison, part.pairs) for part in parts]
        task.memory = TransportOfFit(columns, space, people, pairs, [True] * len(pairs))
        discovery = make_discovery(self, task, people, parts)
        significant = ~(discovery.tables["flipsets"]["p_adjusted"] > self.significance)
        task.memory = replace(task.memory, is_significant=significant.tolist())
        return discovery

    def _remeasure(self, task):
        at_fit = task.memory
        people, order, space = self._placed(task, at_fit.columns, at_fit.space)
        comparisons, pairs_at_fit = zip(*at_fit.transported, strict=True)
        problems = self._problems(comparisons, people, order, space)
        problems_with_pairs = zip(problems, pairs_at_fit, strict=True)
        parts = self._tested(
            task, [transport_as_at_fit(p, at_fit, pairs) for p, pairs in problems_with_pairs]
        )
        return make_discovery(self, task, people, parts)

    def _placed(self, task, columns, space=None):
        """Return the people of a task, their order by content, and the space that they are in."""
        decided, frame = self._decided(task), features_of(task.X, columns)
        # Which of several transports of equal cost the solver returns depends on the order of
        # people.
        order = canonical_order(frame, decided)
        space = MixedSpace(frame.iloc[order], "std") if space is None else space
        places, strata = space.encode(frame), self._strata(task)
        return PlacedPeople(task.X, decided, places, strata, task.people.groups), order, space

    def _strata(self, task):
        """Return the label of each row where people are transported within labels, else 0."""
        if not self.equalized_odds:
            return np.zeros(len(task.X))
        if task.y is None:
            raise ValueError("equalized_odds=True transports people within labels: give y.")
        return task.favorable_labels().astype(float)

    def _problems(self, comparisons, people, order, space):
        """Return the `TransportProblem` of each comparison."""
        problems, settings = [], {**self._solver_settings(), "nominal": space.nominal}
        for comparison in comparisons:
            sides = comparison.control(people.X), comparison.test(people.X)
            one, zero = (order[side[order]] for side in sides)
            problems.append(TransportProblem(comparison, people, one, zero, settings))
        return problems

    def _tested(self, task, parts):
        """Add to the facts of each comparison how its flips compare with chance."""
        rng, tested = task.rng.spawn(1)[0], []  # the transport does not depend on the test
        n, enough = self.n_permutations, None
        if n is None:
            n_tests = self._n_contrasts([part.problem.comparison for part in parts], True)
            n, enough = permutations(n_tests, self.significance)
        for part in parts:
            problem = part.problem
            chance = flips_by_chance(problem, rng, n, task.budget, enough)
            tested.append(replace(part, facts=part.facts | chance))
            task.progress(f"{len(tested)} of {len(parts)} groups, {len(problem.one):,} people")
        return tested

    def _statistic(self, task):
        """Return the share of people in the largest flipset; 0 if X has one group only."""
        protected = self._compared(task.X)
        items = self._protected_items(task, protected)
        if not self._comparisons(task.X, items, protected, np.zeros(len(task.X))):
            return 0.0
        untested = copy(self).set_params(n_permutations=0)
        run = untested._remeasure if task.is_audit else untested._discover
        flips = run(task).tables["flipsets"]
        return float((flips[["positive", "negative"]].max(axis=1) / flips["n"]).max())

    def _decided(self, task):
        """Return the decisions that are compared, 1 favorable and 0 not."""
        if self.outcome == "model":
            return task.decisions()
        if task.y is None:
            raise ValueError("outcome='y' compares labels: give y.")
        return task.favorable_labels().astype(float)

    def _solver_settings(self):
        pot = self.solver == "pot" or (self.solver == "auto" and find_spec("ot") is not None)
        most = self._limit("rows")
        return {
            "cost": self.cost,
            "solver": "pot" if pot else "assignment",
            "max_rows": most or (_WHOLE if pot else _DRAWN),
            "draw_rows": most or _DRAWN,
            "n_draws": self.n_draws,
        }

    def _most_rows(self, people):
        return 4 * self.n_draws * (self._limit("rows") or _DRAWN)

    def _compared(self, X):
        """Return the protected columns to compare, those with groups of similar size first."""
        protected = list(self.protected_)
        if self.max_attributes is not None and self.combine == "multiple":
            # By how much the largest group exceeds an equal share of all values.
            counts = {c: counts_of_values(X[c], dropna=False) for c in protected}
            protected.sort(key=lambda c: counts[c].max() / len(X) - 1 / len(counts[c]))
            protected = protected[: self.max_attributes]
        return protected
