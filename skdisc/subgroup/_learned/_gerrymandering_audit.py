"""GerrymanderingAudit: the group of protected columns that fares worst."""

from skdisc._space._bins import Bins
from skdisc._task._card import Card
from skdisc._utils._types import Columns, Estimator, Labels, Memory, RandomState
from skdisc._verdicts._rule import Rule
from skdisc.subgroup._estimation._task_rows import rows_of
from skdisc.subgroup._learned._learned_auditor import LearnedAuditor
from skdisc.subgroup._learned._people import ScoredPeople


class GerrymanderingAudit(LearnedAuditor):
    r"""Learn which group of protected columns fares worst (Kearns, Neel, Roth, Wu).

    Rates may be equal for women and men, for young and old, and yet be low for old women: fairness
    gerrymandering. The auditor looks for the group g with the largest

    .. math:: \Pr(g) \cdot |\Pr(d = 1 \mid g) - \Pr(d = 1)|.

    As in the paper, the search is reduced to a regression of decisions on the protected columns:
    the group is where it predicts more than the mean rate (of its complement, less). It learns from
    half of the rows and is tested on the others, so the p-value is honest whatever learned, and is
    then put into words. The null hypothesis is that the rates of all protected groups and their
    intersections are equal.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Cloned and fitted when `fit` gets no model; a ``FrozenEstimator`` is used as it is. None:
        the labels are audited.
    protected : column name or position, or sequence of them
        Protected columns. Required.
    metric : str, default="selection_rate"
        A rate of `RATES`; error rates need a model and labels.
    adjust_for : "others", sequence of column names, or None, default=None
        Legitimate columns that are held equal, and that may define groups, too. None: none, as
        published.
    witness : {"auto", "linear", "boosting"} or regressor, default="auto"
        What learns: linear thresholds, boosted trees, whichever of them is better out of fold, or
        any regressor of scikit-learn, which gets all columns as numbers.
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
        If `protected` is not given, if the rate needs labels or decisions that are missing, or if
        the witness cannot learn from numbers.

    See Also
    --------
    GroupDisparity : Compares every protected group and intersection.
    DisparityPursuit : Adjusts for other columns, and tests groups of few conditions.

    References
    ----------
    M. Kearns, S. Neel, A. Roth, Z. S. Wu: Preventing fairness gerrymandering: auditing and learning
    for subgroup fairness. ICML 2018. https://proceedings.mlr.press/v80/kearns18a.html

    Examples
    --------
    Women and men are selected equally often, young and old people, too; old women are not.

    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"sex": rng.choice(["f", "m"], 4000), "old": rng.choice([0, 1], 4000)})
    >>> rate = np.where((X["sex"] == "f") == (X["old"] == 1), 0.4, 0.6)
    >>> y = (rng.random(4000) < rate).astype(int)
    >>> audit = GerrymanderingAudit(protected=["sex", "old"], random_state=0).fit(X, y)
    >>> audit.result_.verdict
    'disparity found'
    """

    card = Card(
        finds="subgroup",
        where="model or data",
        access="labels or predict",
        statistic="size of a learned group times its gap",
        output="test on rows not seen, and the group in words",
        published="finds groups of large size times gap on four data sets",
        reference="Kearns, Neel, Roth and Wu 2018",
    )
    _is_group = True
    _parameter_constraints = {**LearnedAuditor._parameter_constraints, "metric": [str]}

    def __init__(
        self,
        estimator: Estimator | None = None,
        *,
        protected: Columns | None = None,
        metric: str = "selection_rate",
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
        self.metric = metric
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

    @property
    def null(self) -> str:
        """The null hypothesis: "marginal", or "conditional" with columns adjusted for."""
        return "marginal" if self.adjust_for is None else "conditional"

    @property
    def _measure(self):
        return self.metric

    def _people(self, task):
        rows = rows_of(task, self.metric)
        return ScoredPeople(rows.X, rows.tree_target.astype(float))
