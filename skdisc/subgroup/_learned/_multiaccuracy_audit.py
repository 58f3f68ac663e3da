"""MultiaccuracyAudit: a learned witness of errors that depend on protected columns."""

from sklearn.utils._param_validation import StrOptions

from skdisc._space._bins import Bins
from skdisc._task._card import Card
from skdisc._utils._types import Columns, Estimator, Labels, Memory, RandomState
from skdisc._verdicts._rule import Rule
from skdisc.subgroup._learned._learned_auditor import LearnedAuditor
from skdisc.subgroup._learned._outcome_of import errors_or_decisions


class MultiaccuracyAudit(LearnedAuditor):
    r"""Learn where a score errs, or decisions differ, by protected group (Kim, Ghorbani, Zou).

    A model is multiaccurate if its errors :math:`r = p(x) - y` cannot be predicted. A regression,
    the *witness* :math:`c(x, a)`, learns to predict them from half of the rows, and is tested on
    the other half: whatever it is, the p-value of

    .. math:: \hat E[\tilde c(x, a)\,(r - \hat m(x))], \quad
              \tilde c(x, a) = c(x, a) - \sum_{a'} \hat P(a' \mid x)\, c(x, a')

    is honest. What the witness knows of the legitimate columns x alone cancels, so the null
    hypothesis is about the protected columns a: given x, errors do not depend on them. The witness
    is then put into words: the rules that keep most of it.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Cloned and fitted when `fit` gets no model; a ``FrozenEstimator`` is used as it is. None:
        the labels are audited.
    protected : column name or position, or sequence of them
        Protected columns. Required.
    residual : {"auto", "error", "outcome"}, default="auto"
        Errors, what the model says minus labels; or what it says, or labels, themselves. "auto":
        errors where a model and labels are given.
    output : {"auto", "probability", "decision"}, default="auto"
        What the model says. "auto": probabilities, unless it can only decide.
    adjust_for : "others", sequence of column names, or None, default="others"
        The legitimate columns x. "others": all that are not protected. None: none, so that
        protected groups and their intersections are compared as they are.
    versus : {"context", "everyone"}, default="context"
        "everyone": the witness as published, not centered, may learn any pattern of errors. It
        tells whether the score is multiaccurate, which says nothing about protected columns.
    witness : {"auto", "linear", "boosting"} or regressor, default="auto"
        What learns: main effects, boosted trees, whichever of them is better out of fold, or any
        regressor of scikit-learn, which gets all columns as numbers.
    nuisance : {"boosting", "additive"} or estimator, default="boosting"
        How :math:`\hat m` and :math:`\hat P` are learned: by main effects of legitimate columns,
        by the cells of crossings that surely matter, and, out of fold, by boosted trees, or by
        clones of an estimator in their place. "additive": without either. What the cells of
        crossings would still add counts against a finding, and widens intervals.
    test_size : float, default=0.5
        Share of the rows that the witness does not see, and is tested on.
    min_support : float, default=0.02
        Smallest share of the rows in a rule.
    max_predicates : int, default=3
        Most conditions of a rule.
    features : sequence of column names, default=None
        Columns that may define rules; None: all.
    n_bins : int, dict or Bins, default=4
        Number of quantile bins of a numeric column, of a protected one for the witness, too.
    max_tests, max_queries : int or None, default=None
        Largest numbers of rules compared, and of rows queried; if X has more rows than
        `max_queries`, nothing is audited.
    time_budget : float or None, default=None
        Limit in seconds, checked between steps.
    missing : {"category", "drop", "raise"}, default="category"
        How rows with a missing protected value are treated: as a category of their own, left out,
        or as an error.
    rule : Rule or None, default=None
        When the question is answered. None: ``Rule()``. It uses `significance`, `relevant_gap`,
        `relevant_ratio` and `relevant_size`.
    pos_label : label or collection of labels, default=None
        The favorable outcome; by default 1 or True.
    memory : str or joblib.Memory, default=None
        Caches the fitting of `estimator`.
    random_state : int, RandomState instance or None, default=None
        Draws the rows that are held out, and folds.
    n_jobs : int or None, default=None
        Has no effect.
    verbose : bool or int, default=False
        Prints progress.

    Attributes
    ----------
    result_ : AuditResult
        One finding per rule. ``tables["witness"]`` has the test, ``tables["family"]`` what the data
        exclude about the groups that the witness chose, and single protected values. The column
        ``kept`` of findings is the share of the witness's squared signal on the rows it has not
        seen that a rule keeps.
    model_ : object
        The model, or the decisions, under audit.
    audited_ : {"model", "refit", "surrogate", "decisions", "labels"}
        What was audited.
    space_ : FeatureSpace
        The columns and their possible values.
    protected_ : list
        Names of the protected columns.
    pos_label_ : list
        The labels of selection and success.

    Raises
    ------
    ValueError
        If `protected` is not given, if errors are asked for without a model and labels, or if the
        witness cannot learn from numbers.

    See Also
    --------
    DisparityPursuit : Tests all groups of few conditions; better where the cause is one.
    MulticalibrationAudit : Errors at equal scores.
    GerrymanderingAudit : Groups defined by protected columns alone.

    Notes
    -----
    Centering and the product with a residual follow the projected covariance measure (Lundborg,
    Kim, Shah and Samworth 2024). The sum over the values of a is exact, so an outcome that depends
    on x in ways that no learner has found does not raise a false alarm unless P(a | x) is missed in
    the same way. Rows are split once: results vary with `random_state`.

    A negative effect on errors says that the scores of a group are too low.

    References
    ----------
    M. P. Kim, A. Ghorbani, J. Zou: Multiaccuracy: black-box post-processing for fairness in
    classification. AIES 2019. https://doi.org/10.1145/3306618.3314287

    A. R. Lundborg, I. Kim, R. D. Shah, R. J. Samworth: The projected covariance measure for
    assumption-lean variable significance testing. Annals of Statistics 52, 2024.
    https://doi.org/10.1214/24-AOS2447

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"sex": rng.choice(["f", "m"], 4000), "age": rng.integers(20, 60, 4000)})
    >>> p = 0.5 - 0.3 * ((X["sex"] == "f") & (X["age"] > 50))
    >>> audit = MultiaccuracyAudit(protected="sex", random_state=0)
    >>> audit.fit(X, (rng.random(4000) < p).astype(int)).result_.verdict
    'disparity found'
    """

    card = Card(
        finds="subgroup",
        where="model or data",
        access="labels or probabilities",
        statistic="covariance of a learned witness with residuals, centered by protected group",
        output="test on rows not seen, and the witness in words",
        published="finds and repairs groups with large errors in face recognition",
        reference="Kim, Ghorbani and Zou 2019",
    )
    _parameter_constraints = {
        **LearnedAuditor._parameter_constraints,
        "residual": [StrOptions({"auto", "error", "outcome"})],
        "output": [StrOptions({"auto", "probability", "decision"})],
    }

    def __init__(
        self,
        estimator: Estimator | None = None,
        *,
        protected: Columns | None = None,
        residual: str = "auto",
        output: str = "auto",
        adjust_for: str | Columns | None = "others",
        versus: str = "context",
        witness: str | Estimator = "auto",
        nuisance: str | Estimator = "boosting",
        test_size: float = 0.5,
        min_support: float = 0.02,
        max_predicates: int = 3,
        features: Columns | None = None,
        n_bins: int | dict | Bins = 4,
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
        self.residual = residual
        self.output = output
        self.adjust_for = adjust_for
        self.versus = versus
        self.witness = witness
        self.nuisance = nuisance
        self.test_size = test_size
        self.min_support = min_support
        self.max_predicates = max_predicates
        self.features = features
        self.n_bins = n_bins
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

    @property
    def null(self) -> str:
        """The null hypothesis: "conditional", "marginal" without columns, or "everyone"."""
        if self.versus == "everyone":
            return "everyone"
        return "marginal" if self.adjust_for is None else "conditional"

    def _people(self, task):
        return errors_or_decisions(task, self.residual)
