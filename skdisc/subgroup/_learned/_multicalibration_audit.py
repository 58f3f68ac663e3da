"""MulticalibrationAudit: a learned witness of errors at equal scores."""

from sklearn.utils._param_validation import StrOptions

from skdisc._space._bins import Bins
from skdisc._task._card import Card
from skdisc._utils._types import Columns, Estimator, Labels, Memory, RandomState
from skdisc._verdicts._rule import Rule
from skdisc.subgroup._learned._learned_auditor import LearnedAuditor
from skdisc.subgroup._learned._outcome_of import errors_at_scores


class MulticalibrationAudit(LearnedAuditor):
    r"""Learn where a score means less for some groups (Hébert-Johnson, Kim, Reingold, Rothblum).

    A score p is multicalibrated if, in every group and at every score, as many people succeed as it
    says. Here a *witness* :math:`c(p, x, a)` learns to predict the errors p - y from half of the
    rows; on the others it is tested,
    as a whole and in bins of the score. It is centered over the protected
    columns a given the score (and the columns that are adjusted for), so a score that is wrong for
    everyone alike is no finding. The null hypothesis is that, given the score, outcomes do not
    depend on the protected columns.

    The verdict is that of all rows together, in which a witness counts where it predicts most. Bins
    share nobody, so their p-values are independent and are corrected exactly (Šidák). The witness
    is then put into words, for everyone or in the bin in which rules keep most of it, on the rows
    that it learned from.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Cloned and fitted when `fit` gets no model; a ``FrozenEstimator`` is used as it is. Errors
        need its probabilities, and labels. Without a model, labels are audited as if all had the
        same score.
    protected : column name or position, or sequence of them
        Protected columns. Required.
    output : {"auto", "probability", "decision"}, default="auto"
        The score; of decisions, predictive values are compared. "auto": probabilities, unless the
        model can only decide.
    n_score_bins : int, default=4
        Number of quantile bins of the score.
    adjust_for : "others", sequence of column names, or None, default=None
        Columns that are held equal beside the score, and that the witness may use. None: none.
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
        When the question is answered. None: ``Rule()``. It uses `significance`, `relevant_gap` and
        `relevant_size`.
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
        If `protected` is not given, if a model is audited without labels, or if the witness cannot
        learn from numbers.

    See Also
    --------
    MultiaccuracyAudit : Errors at equal columns.
    OutcomeTest : Success rates of those selected.

    Notes
    -----
    A negative effect says that the scores of a group are too low: it does better than others of the
    same score.

    References
    ----------
    Ú. Hébert-Johnson, M. P. Kim, O. Reingold, G. N. Rothblum: Multicalibration: calibration for the
    (computationally-identifiable) masses. ICML 2018.
    https://proceedings.mlr.press/v80/hebert-johnson18a.html

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"sex": rng.choice(["f", "m"], 4000), "score": rng.random(4000)})
    >>> truth = np.where(X["sex"] == "f", X["score"] ** 2, X["score"])
    >>> y = (rng.random(4000) < truth).astype(int)
    >>> audit = MulticalibrationAudit(protected="sex", random_state=0)
    >>> result = audit.fit(X, y, model=lambda X: X["score"]).result_
    >>> result.verdict
    'disparity found'
    >>> print(result[0].subject, result[0].effect < 0)
    sex = 'm' True
    """

    null = "calibration"
    card = Card(
        finds="subgroup",
        where="model or data",
        access="probabilities",
        statistic="covariance of a learned witness with errors in bins of the score",
        output="test in each bin on rows not seen, and the witness in words",
        published="algorithm and guarantees",
        reference="Hébert-Johnson, Kim, Reingold and Rothblum 2018",
    )
    _measure = "score minus label"
    rule_fields = ("significance", "relevant_gap", "relevant_size")
    _parameter_constraints = {
        **LearnedAuditor._parameter_constraints,
        "output": [StrOptions({"auto", "probability", "decision"})],
    }

    def __init__(
        self,
        estimator: Estimator | None = None,
        *,
        protected: Columns | None = None,
        output: str = "auto",
        n_score_bins: int = 4,
        adjust_for: str | Columns | None = None,
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
        self.output = output
        self.n_score_bins = n_score_bins
        self.adjust_for = adjust_for
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

    def _people(self, task):
        return errors_at_scores(task)
