"""VeriFair: certified verdicts on pairs of groups."""

from collections.abc import Hashable, Sequence
from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from skdisc._space._bins import Bins
from skdisc._space._feature_space import FeatureSpace
from skdisc._task._card import Card
from skdisc._task._notes import unseen, with_caveats
from skdisc._task._task import Request
from skdisc._utils._types import (
    ArrayLike,
    Columns,
    Estimator,
    FrameLike,
    Labels,
    Memory,
    RandomState,
)
from skdisc._verdicts._rule import Rule
from skdisc.base import BaseDetector
from skdisc.group._verifair_report import verdicts
from skdisc.group._verifair_specification import READY_MADE, Mean, Spec


class VeriFair(BaseDetector):
    r"""Decide whether a model is fair to pairs of groups, with a certificate.

    For every pair of values of every protected attribute, people of both groups are sampled until
    the specification is decided. With probability :math:`1 - \delta`, for every number n of draws
    simultaneously, the mean outcome is within

    .. math:: \varepsilon(n) = \sqrt{\frac{\frac35 \ln(\log_{1.1} n + 1)
        + \frac59 \ln(24 / \delta)}{n}}

    of the true one; interval arithmetic propagates the bound through the specification. The verdict
    is *fair* if the specification is satisfied, and *unfair* if it is violated, for every value
    within the bound. :math:`\delta` is `significance`, divided among the pairs, so that all
    certificates hold simultaneously. Both orientations of a pair are decided from the same draws.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Cloned and fitted when `fit` gets no model; a ``FrozenEstimator`` is used as it is. With
        neither, a small tree trained on y stands in (a surrogate).
    protected : column name or position, or sequence of them
        The attributes whose values are compared, in order of mutual information with the outcome.
    spec : str or Spec, default="demographic_parity"
        "demographic_parity", "equal_opportunity": the rate of one group is at least 1 - slack
        times that of the other (of people whose label is favorable). "causal": setting the
        protected value to one instead of the other, everything else equal (or as a `sampler` with
        ``counterfactual`` computes it), lowers the rate by at most slack; "path_specific": the
        same, where the columns `keep` keep their values. "individual": the outcome of at most a
        share slack of people depends on the value. Or a specification of your own, from `means`.
    slack : float, default=0.15
        Slack of the ready-made specifications.
    keep : sequence of column names, default=()
        Columns on causal paths that are not considered discriminatory.
    sampler : callable or object, default=None
        ``sampler(n, rng)`` returns n people; an object has ``sample(n, predicate,
        random_state=seed)`` and optionally ``counterfactual(X, changes, keep)``; a
        `StructuralCausalModel` of the columns, fitted on X unless it is fitted, has both, and a
        `GaussianCopula` has the first. None: the rows of X with replacement, whose exact rates are
        reported, too; without X, the space.
    n_bins : int, dict or Bins, default=4
        Quantile bins of a protected numeric column of X with more distinct values than that.
    ambiguity : float, default=0
        Where the specification's term is known to be this close to 0, either verdict is accepted;
        0: sampling continues until the verdict is certain.
    first_batch : int, default=200
        Draws per mean in the first batch.
    growth : float, default=1.5
        Factor by which the draws of a mean grow with each batch.
    max_draws : int, default=1_000_000
        Largest number of draws per mean; pairs not decided by then are undecided.
    output : {"decision", "probability"}, default="decision"
        What an outcome is: a favorable decision, or its probability.
    min_gap : float, default=0
        For "individual": the gap of outcomes that must be exceeded to count as a change.
    space : FeatureSpace or None, default=None
        The possible values; learned from X by default.
    n_refits : int, default=19
        A model that is trained here is compared with at most so many models trained on redrawn
        protected columns; "disparity found" takes at least 1 / significance - 1.
    max_tests, max_queries, max_found : int or None, default=None
        Largest number of draws, of rows queried, and of unfair pairs found.
    time_budget : float or None, default=None
        Seconds, checked between batches.
    missing : {"category", "drop", "raise"}, default="category"
        How rows with a missing protected value are treated: as a group of their own, left out, or
        as an error.
    rule : Rule or None, default=None
        When the question is answered. None: ``Rule()``. It uses `significance` and `relevant_gap`.
    pos_label : label or collection of labels, default=None
        The favorable outcome; by default 1 or True; other labels need one. "high" and
        "low" are the greatest and least of numeric labels.
    memory : str or joblib.Memory, default=None
        Caches the fitting of `estimator`.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.
    n_jobs : int or None, default=None
        Number of threads that share large queries to the model.
    verbose : bool or int, default=False
        Report progress on standard error.

    Attributes
    ----------
    result_ : AuditResult
        What `fit` found, two findings per pair, one for each group: its rate, the difference from
        the other with an interval that is valid whenever sampling stops, the verdict. ``p_value``
        is the smallest :math:`\delta` at which the verdict is still unfair.
        ``tables["certificates"]`` has both orientations of every pair.
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
        If the specification needs labels, rows or counterfactuals that are not available, or a
        sampler returns too few people of a group.

    Notes
    -----
    The published algorithm draws one person at a time and checks after each; the bound holds for
    every n, so checking after batches that grow geometrically is equally valid. On rows of data
    the exact rates are known after one query per row, and the certificate is about people drawn
    from these rows. The rows are themselves a sample: a pair counts as found if it is also unfair
    in the population, by the exact intervals of the means (Clopper and Pearson). The verdict is
    "disparity found" if a pair counts as found, and "no disparity found" if every pair is certified
    as fair, of the population, too; both are claims about the specification with its slack.

    References
    ----------
    O. Bastani, X. Zhang, A. Solar-Lezama: Probabilistic verification of fairness properties via
    concentration. OOPSLA 2019. https://doi.org/10.1145/3360544

    Examples
    --------
    >>> from skdisc import FeatureSpace
    >>> space = FeatureSpace.from_domains({"income": (0, 99), "sex": ["F", "M"]}, protected="sex")
    >>> loan = lambda X: X["income"] + 20 * (X["sex"] == "M") > 50
    >>> result = VeriFair(random_state=0).fit(space, model=loan).result_
    >>> print(result.verdict, "-", result[0].subject)
    disparity found - sex = 'F'
    """

    _asks = True
    null = "marginal"
    rule_fields = ("significance", "relevant_gap")
    card = Card(
        finds="group",
        where="model",
        access="predict",
        statistic="a specification of group means, decided by adaptive concentration",
        output="fair, unfair or undecided for every pair of groups, with a certificate",
        published="verifies models of more than 16 million parameters (Bastani et al. 2019)",
        reference="Bastani et al., OOPSLA 2019",
    )
    _parameter_constraints = {
        **BaseDetector._parameter_constraints,
        "spec": [StrOptions(set(READY_MADE)), Spec],
        "slack": [Interval(Real, 0, 1, closed="left")],
        "keep": ["array-like"],
        "sampler": [callable, HasMethods(["sample"]), None],
        "n_bins": [Interval(Integral, 2, None, closed="left"), dict, Bins],
        "ambiguity": [Interval(Real, 0, None, closed="left")],
        "first_batch": [Interval(Integral, 1, None, closed="left")],
        "growth": [Interval(Real, 1, None, closed="neither")],
        "max_draws": [Interval(Integral, 1, None, closed="left")],
        "output": [StrOptions({"decision", "probability"})],
        "min_gap": [Interval(Real, 0, 1, closed="left")],
        "space": [FeatureSpace, None],
    }

    def __init__(
        self,
        estimator: Estimator | None = None,
        *,
        protected: Columns | None = None,
        spec: Any = "demographic_parity",
        slack: float = 0.15,
        keep: Sequence[Hashable] = (),
        sampler: Any = None,
        n_bins: int | dict | Bins = 4,
        ambiguity: float = 0.0,
        first_batch: int = 200,
        growth: float = 1.5,
        max_draws: int = 1_000_000,
        output: str = "decision",
        min_gap: float = 0.0,
        space: FeatureSpace | None = None,
        n_refits: int = 19,
        max_tests: int | None = None,
        max_queries: int | None = None,
        max_found: int | None = None,
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
        self.spec = spec
        self.slack = slack
        self.keep = keep
        self.sampler = sampler
        self.n_bins = n_bins
        self.ambiguity = ambiguity
        self.first_batch = first_batch
        self.growth = growth
        self.max_draws = max_draws
        self.output = output
        self.min_gap = min_gap
        self.space = space
        self.n_refits = n_refits
        self.max_tests = max_tests
        self.max_queries = max_queries
        self.max_found = max_found
        self.time_budget = time_budget
        self.missing = missing
        self.rule = rule
        self.pos_label = pos_label
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @staticmethod
    def means(kind: str = "members") -> tuple[Mean, Mean]:
        """Return the mean outcomes of the two groups of a pair, the parts of a specification.

        Parameters
        ----------
        kind : {"members", "favorable", "do", "changed"}, default="members"
            Mean over the members; over members whose label is favorable; over everyone with the
            protected value set; or the share of everyone whose outcome the value changes.

        Examples
        --------
        >>> a, b = VeriFair.means()
        >>> print((a / b >= 0.8) & (a - b >= -0.1))
        (a / b >= 0.8) and ((a + b * -1) >= -0.1)
        """
        return Mean("a", kind), Mean("b", kind)

    def score(
        self, X: FrameLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the largest violation of the specification, estimated on the rows of X.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
            Labels, needed for equal opportunity.
        sample_weight : None
            Not supported.

        Returns
        -------
        float
            The distance of the specification's term below 0, negative if it is above 0 for every
            pair; NaN if no pair of groups could be compared.

        Raises
        ------
        NotFittedError
            If the detector is not fitted.
        ValueError
            If `sample_weight` is given, or the rows do not have the columns of fit.
        """
        self._refuse_weight(sample_weight)
        measured = self._measure_on(self._read(Request(X, y)))
        values = measured.tables["certificates"]["value"].dropna()
        return float(-values.min()) if len(values) else float("nan")

    def _discover(self, task):
        return verdicts(self, task)

    def _remeasure(self, task):
        groups = [g.predicates[0] for g in self.result_.findings.subgroups]
        again = verdicts(self, task, list(zip(groups[::2], groups[1::2], strict=True)))
        return with_caveats(again, unseen(task, self.protected_))
