"""FlipTest: carry one group onto another, and see whose decision flips on the way."""

from dataclasses import replace
from importlib.util import find_spec
from numbers import Integral

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from skdisc._neighbors._distances import features_of
from skdisc._neighbors._mixed_space import MixedSpace
from skdisc._task._card import Card
from skdisc._task._task import Request
from skdisc._utils._hashing import canonical_order
from skdisc.individual._base import share_with_case
from skdisc.individual._fliptest._flipsets import (
    TransportOfFit,
    TransportProblem,
    carry,
    carry_alike,
    flips_by_chance,
)
from skdisc.individual._fliptest._report import FlipCases
from skdisc.individual._group_comparison import GroupsDetector


class FlipTest(FlipCases, GroupsDetector):
    r"""Pair the people of a group with people of another, and look at the pairs decided unlike.

    A transport :math:`G` carries the group :math:`S` onto the reference :math:`S'` at the least
    mean cost, by default :math:`c(x, x') = \lVert x - x' \rVert_1^2` in standardised columns. With
    decisions h, the flipsets are

    .. math:: F^+ = \{x \in S: h(x) > h(G(x))\}, \qquad F^- = \{x \in S: h(x) < h(G(x))\}.

    For a one-to-one transport :math:`|F^+| - |F^-|` is the difference in people accepted: the net
    says no more than demographic parity. Who is in the flipsets, and how they differ from those
    they are carried to (the transparency report), says which attributes the decisions turn on.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Cloned and fitted when `fit` gets no model; a ``FrozenEstimator`` is used as it is. With
        neither, the labels y are the decisions.
    protected : column name or position, or sequence of them
        The protected columns. Numbers with more than `n_bins` values are cut at quantiles.
    group, reference : value, dict of values by column, or None; default=None, "best"
        Who is carried to whom, as in `SituationTesting`: each group outside of the reference.
    combine : {"multiple", "intersectional"}, default="multiple"
        Each protected column on its own, or combinations of values.
    max_attributes : int or None, default=None
        At most so many protected columns, those of the most equal groups first.
    features : sequence of column names or None, default=None
        The columns that the cost looks at; None: all but the protected ones.
    cost : {"squared_l1", "l1", "squared_l2"} or callable, default="squared_l1"
        A callable gets two arrays of coordinates, and returns the matrix of costs.
    outcome : {"model", "y"}, default="model"
        Which decisions are compared: the model's, or the labels y even where there is a model.
    equalized_odds : bool, default=False
        Carry people only to people with the same label y; in `audit`, too.
    solver : {"auto", "assignment", "pot"}, default="auto"
        POT solves larger problems and groups of unequal size; "auto" uses it where it is installed.
    max_rows : int or None, default=None
        Most people of a group carried at once (None: 1,000, with POT 5,000). Above, and for groups
        of unequal size without POT, people are drawn `n_draws` times, and flips are averaged.
    n_draws : int, default=5
    n_permutations : int, default=99
        Transports between groups drawn at random from both, behind the p-value. Where it is not
        significant after correction for all comparisons, a comparison has no cases. 0: flips are
        not tested, and every one is a case, as in the paper.
    max_distance : float or None, default=None
        A pair farther apart (L1, standardised) makes no case, though it counts in the flipsets.
    n_bins : int, default=4
        Bins of protected numbers.
    missing : {"category", "drop", "raise"}, default="category"
        What becomes of rows with a missing protected value.
    significance : float, default=0.05
        Level of the intervals.
    pos_label : label or collection of labels, default=None
        The favourable outcome; by default the last class.
    memory : str or joblib.Memory, default=None
        Caches the fitting of `estimator`.
    random_state : int, RandomState instance or None, default=None
        Seeds the draws of people.
    n_jobs : int or None, default=None
        Threads among which large questions to the model are shared.
    verbose : bool or int, default=False
        Report progress on standard error.

    Attributes
    ----------
    result_ : AuditResult
        Findings are pairs decided unlike, the nearest first. Tables: ``flipsets`` (per comparison:
        people carried, positive, negative, net, cost, solver, whether exact; p-value and adjusted
        p-value, mean share ``by_chance`` and smallest gap above it that would have been seen),
        ``transparency`` (per comparison, flipset and attribute: mean difference in standard
        deviations, consistency of its sign, ranks), ``runs`` (per protected attribute TSN, DSN,
        SUR, mean distance, both values; DSS is in `metrics`), ``pairs`` (row, partner, weight,
        distance, both decisions, attribute).
    model_, audited_, space_, protected_, pos_label_
        As in every detector.

    Raises
    ------
    ArithmeticError
        If a transport did not converge: it is never passed off as exact.

    Notes
    -----
    The original fits a generative network where exact transport is too large; here people are
    drawn. It also takes every flip for a finding, though two samples of one population, which are
    never the same people, flip as well. Tested here is the larger flipset,
    :math:`\max(|F^+|, |F^-|)`, against the null that both groups (with `equalized_odds`, of each
    label) are samples of one population of attributes and decisions, by permuting who belongs to
    which and carrying again, 100 people at a time, at most 1,000 of a group. The larger one grows
    with a net as well as with flips in both directions that cancel. (McNemar's test of the net
    would not do: partners are chosen, not drawn, and their flips go together.) A rejection says
    that the groups differ in what they are decided by: decisions by nothing but merit flip where
    merit differs, and whether that is a reason is read from the transparency report.

    `audit` carries new people to the partner of the person of fit who is nearest to them, and tests
    the groups of the new rows; without people of both, what has cases is what had them at fit.

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

    card = Card(
        finds="individual",
        where="model or data",
        access="decisions",
        statistic="flipsets of an optimal transport between groups",
        output="pairs decided unlike, transparency report",
        published="715 disadvantaged and 1,215 advantaged among 10,000 women (Black et al.)",
        reference="Black et al., FAT* 2020",
    )
    _parameter_constraints = {
        **GroupsDetector._parameter_constraints,
        "combine": [StrOptions({"multiple", "intersectional"})],
        "max_attributes": [Interval(Integral, 1, None, closed="left"), None],
        "cost": [StrOptions({"squared_l1", "l1", "squared_l2"}), callable],
        "outcome": [StrOptions({"model", "y"})],
        "equalized_odds": ["boolean"],
        "solver": [StrOptions({"auto", "assignment", "pot"})],
        "max_rows": [Interval(Integral, 1, None, closed="left"), None],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "n_permutations": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        estimator=None,
        *,
        protected=None,
        group=None,
        reference="best",
        combine="multiple",
        max_attributes=None,
        features=None,
        cost="squared_l1",
        outcome="model",
        equalized_odds=False,
        solver="auto",
        max_rows=None,
        n_draws=5,
        n_permutations=99,
        max_distance=None,
        n_bins=4,
        missing="category",
        significance=0.05,
        pos_label=None,
        memory=None,
        random_state=None,
        n_jobs=None,
        verbose=False,
    ):
        self.estimator = estimator
        self.protected = protected
        self.group = group
        self.reference = reference
        self.combine = combine
        self.max_attributes = max_attributes
        self.features = features
        self.cost = cost
        self.outcome = outcome
        self.equalized_odds = equalized_odds
        self.solver = solver
        self.max_rows = max_rows
        self.n_draws = n_draws
        self.n_permutations = n_permutations
        self.max_distance = max_distance
        self.n_bins = n_bins
        self.missing = missing
        self.significance = significance
        self.pos_label = pos_label
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def score(self, X, y=None, sample_weight=None):
        """Return the share of the people of X who are carried to one decided unlike them.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
            Decisions, needed where labels are compared.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        float
            Share in [0, 1]; NaN when X has nobody who can be carried.
        """
        people = self._read(Request(X, y, None, sample_weight))
        case = self._measure_on(people).tables["pairs"].groupby("row")["case"].any()
        return share_with_case(case.index, case, people.weight)

    def _discover(self, task):
        self._check_protected()
        X, decided = task.X, self._decided(task)
        columns = self._feature_names(X)
        frame = features_of(X, columns)
        order = canonical_order(frame, decided)
        space = MixedSpace(frame.iloc[order], "std")
        points, strata = space.encode(frame), self._strata(task)
        protected = self._compared(X)
        items = self._protected_items(task, protected)
        comparisons = self._comparisons(X, items, protected, decided)
        carried, parts = [], []
        for problem, chance in self._problems(task, comparisons, points, strata, decided, order):
            pairs, facts = carry(problem, task.rng)
            carried.append((problem.comparison, pairs))
            parts.append((problem, pairs, facts | chance))
        unlike = [True] * len(comparisons)
        task.memory = TransportOfFit(columns, space, X, decided, points, strata, carried, unlike)
        discovery = self._report(task, decided, points, parts)
        p_adjusted = discovery.tables["flipsets"]["p_adjusted"]
        unlike = (~(p_adjusted > self.significance)).tolist()
        task.memory = replace(task.memory, unlike_chance=unlike)
        return discovery

    def _remeasure(self, task):
        decided, known, parts = self._decided(task), task.memory, []
        frame = features_of(task.X, known.columns)
        points, order = known.space.encode(frame), canonical_order(frame, decided)
        comparisons, carried = zip(*known.carried, strict=True)
        given = task, comparisons, points, self._strata(task), decided, order
        for (problem, chance), pairs in zip(self._problems(*given), carried, strict=True):
            pairs, facts = carry_alike(problem, known, pairs)
            parts.append((problem, pairs, facts | chance))
        return self._report(task, decided, points, parts)

    def _strata(self, task):
        """Return the label of each row where people are carried within labels, else 0."""
        if not self.equalized_odds:
            return np.zeros(len(task.X))
        if task.y is None:
            raise ValueError("equalized_odds=True carries people within labels: give y.")
        return task.favourable_labels().astype(float)

    def _problems(self, task, comparisons, points, strata, decided, order):
        """Yield the transport of each comparison, and how its flips compare with chance."""
        rng = task.rng.spawn(1)[0]  # who is carried does not depend on what is tested
        for comparison in comparisons:
            sides = comparison.control(task.X), comparison.test(task.X)
            one, zero = (order[side[order]] for side in sides)
            problem = TransportProblem(comparison, points, one, zero, strata, self._how())
            settings = self.n_permutations, self.significance
            yield problem, flips_by_chance(problem, decided, rng, *settings)
            task.progress(f"{comparison.group}: {len(one):,} people")

    def _decided(self, task):
        """Return the decisions that are compared, 1 favourable and 0 not."""
        if self.outcome == "model":
            return task.decisions()
        if task.y is None:
            raise ValueError("outcome='y' compares labels: give y.")
        return task.favourable_labels().astype(float)

    def _how(self):
        pot = self.solver == "pot" or (self.solver == "auto" and find_spec("ot") is not None)
        most = self.max_rows or (5000 if pot else 1000)
        how = {"cost": self.cost, "solver": "pot" if pot else "assignment"}
        return {**how, "max_rows": most, "n_draws": self.n_draws}

    def _compared(self, X):
        """Return the protected columns that are compared, those of the most equal groups first."""
        protected = list(self.protected_)
        if self.max_attributes is not None and self.combine == "multiple":
            counts = {c: X[c].value_counts(dropna=False) for c in protected}
            n = len(X)
            protected.sort(key=lambda c: counts[c].max() / n - 1 / len(counts[c]))
            protected = protected[: self.max_attributes]
        return protected
