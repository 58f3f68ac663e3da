"""VeriFair: a verdict on pairs of groups, with a certificate."""

from numbers import Integral, Real

from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from skdisc._space._feature_space import FeatureSpace
from skdisc._task._card import Card
from skdisc._task._notes import unseen, with_caveats
from skdisc.base import BaseDetector
from skdisc.group._verifair_report import verdicts
from skdisc.group._verifair_specification import READY_MADE, Mean, Spec


class VeriFair(BaseDetector):
    r"""Decide whether a model is fair to pairs of groups, with a certificate.

    For every pair of values of every protected attribute, people of both are drawn until the
    specification is decided. With probability :math:`1 - \delta`, for every number n of draws at
    once, the mean outcome is within

    .. math:: \varepsilon(n) = \sqrt{\frac{\frac35 \ln(\log_{1.1} n + 1)
        + \frac59 \ln(24 / \delta)}{n}}

    of the true one; interval arithmetic carries this through the specification. It is *fair* if
    surely satisfied, *unfair* if surely violated. :math:`\delta` is `significance`, shared by all
    pairs, so that all certificates hold together. Both orientations of a pair are decided, from
    the same draws.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Cloned and fitted when `fit` gets no model; a ``FrozenEstimator`` is used as it is. With
        neither, a small tree trained on y stands in (a surrogate).
    protected : column name or position, or sequence of them
        The attributes whose values are compared; the one that tells most of the outcome (mutual
        information) comes first.
    spec : str or Spec, default="demographic_parity"
        "demographic_parity", "equal_opportunity": the rate of one group is at least 1 - slack
        times that of the other (of those whose label is favourable). "causal": setting the
        protected value to one instead of the other, all else (or what a `sampler` with
        ``counterfactual`` says) equal, lowers the rate by at most slack; "path_specific": the same,
        the columns `keep` keeping their values. "individual": the outcome of at most the share
        slack of people depends on the value. Or your own, from `means`.
    slack : float, default=0.15
        Of the ready specifications.
    keep : sequence of column names, default=()
        Columns on paths that are no discrimination.
    sampler : callable or object, default=None
        ``sampler(n, rng)`` returns n people; an object has ``sample(n, predicate,
        random_state=seed)`` and, maybe, ``counterfactual(X, changes, keep)``; a
        `StructuralCausalModel` of the columns, fitted on X if it is not yet, has both; so has a
        `GaussianCopula` the first. None: the rows of X
        with replacement, and their exact rates are given too; the space where there is no X.
    n_bins : int, default=4
        Quantile bins of a protected numeric column of X with more distinct values than that.
    ambiguity : float, default=0
        Verdicts closer than this may be either; 0: drawing goes on until one is sure.
    first_batch : int, default=200
        Draws per mean in the first batch.
    growth : float, default=1.5
        Factor by which the draws of a mean grow with each batch.
    max_draws : int, default=1_000_000
        Most draws per mean; what is not decided then is undecided.
    output : {"decision", "probability"}, default="decision"
        What an outcome is: a favourable decision, or its probability.
    min_gap : float, default=0
        The gap of outcomes that "individual" counts as a change.
    space : FeatureSpace or None, default=None
        The possible values; learned from X by default.
    max_tests, max_queries, max_found : int or None, default=None
        Most draws; most rows asked of the model; most unfair pairs found.
    time_budget : float or None, default=None
        Seconds, looked at between batches.
    missing : {"category", "drop", "raise"}, default="category"
        What becomes of rows with a missing protected value; they are a group of their own.
    significance : float, default=0.05
        Probability :math:`\delta` that any of the verdicts is wrong.
    pos_label : label or collection of labels, default=None
        The favourable outcome; by default the last class.
    memory : str or joblib.Memory, default=None
        Caches the fitting of `estimator`.
    random_state : int, RandomState instance or None, default=None
        Seeds the draws.
    n_jobs : int or None, default=None
        Threads among which large questions to the model are shared.
    verbose : bool or int, default=False
        Report progress on standard error.

    Attributes
    ----------
    result_ : AuditResult
        Two findings per pair, one for each group: its rate, the difference to the other with an
        interval that is valid whenever drawing stops, the verdict. ``p_value`` is the smallest
        :math:`\delta` at which the verdict would still be unfair. ``tables["certificates"]`` has
        both orientations of every pair.
    model_ : BlackBox
    audited_ : {"model", "refit", "surrogate"}
    space_ : FeatureSpace
    protected_, pos_label_ : list

    Notes
    -----
    The published algorithm draws one person at a time and checks after each; the bound holds for
    every n, so checking after batches that grow geometrically is as sound. On rows of data the
    exact rates are known after one question per row, and the certificate speaks of people drawn
    from these rows. These are a sample themselves: a pair counts as found if it would also be
    unfair beyond them, by the exact intervals of their means (Clopper and Pearson).

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
        "n_bins": [Interval(Integral, 2, None, closed="left")],
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
        estimator=None,
        *,
        protected=None,
        spec="demographic_parity",
        slack=0.15,
        keep=(),
        sampler=None,
        n_bins=4,
        ambiguity=0.0,
        first_batch=200,
        growth=1.5,
        max_draws=1_000_000,
        output="decision",
        min_gap=0.0,
        space=None,
        max_tests=None,
        max_queries=None,
        max_found=None,
        time_budget=None,
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
        self.max_tests = max_tests
        self.max_queries = max_queries
        self.max_found = max_found
        self.time_budget = time_budget
        self.missing = missing
        self.significance = significance
        self.pos_label = pos_label
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @staticmethod
    def means(kind="members"):
        """Return the mean outcomes of the two groups of a pair, to make a specification of.

        Parameters
        ----------
        kind : {"members", "favourable", "do", "changed"}, default="members"
            Of its members; of those whose label is favourable; of everyone with the protected
            value set; or the share of everyone whose outcome the value changes.

        Examples
        --------
        >>> a, b = VeriFair.means()
        >>> print((a / b >= 0.8) & (a - b >= -0.1))
        (a / b >= 0.8) and ((a + b * -1) >= -0.1)
        """
        return Mean("a", kind), Mean("b", kind)

    def score(self, X, y=None, sample_weight=None):
        """Return the largest violation of the specification, estimated on the rows of X.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
            Labels, needed for equal opportunity.
        sample_weight : None
            Refused: draws have no weights.

        Returns
        -------
        float
            By how much the specification's term lies below 0, negative where none does; NaN where
            no pair of groups could be compared.
        """
        if sample_weight is not None:
            raise ValueError("VeriFair.score does not use sample_weight; leave it out.")
        values = self.audit(X, y).tables["certificates"]["value"].dropna()
        return float(-values.min()) if len(values) else float("nan")

    def _discover(self, task):
        return verdicts(self, task)

    def _remeasure(self, task):
        groups = [g.predicates[0] for g in self.result_.findings.subgroups]
        again = verdicts(self, task, list(zip(groups[::2], groups[1::2], strict=True)))
        return with_caveats(again, unseen(task, self.protected_))
