"""ADF: adversarial search along the gradient of the decision, with small local steps."""

from collections.abc import Callable

import pandas as pd
from sklearn.utils._param_validation import StrOptions

from skdisc._space._feature_space import FeatureSpace
from skdisc._task._card import Card
from skdisc._utils._types import Columns, Estimator, Labels, Memory, RandomState
from skdisc._verdicts._rule import Rule
from skdisc.individual._search._gradient_search import GradientSearch
from skdisc.individual._search._gradient_walk import WalkRules


class ADF(GradientSearch):
    r"""Find individual cases by moving inputs along the gradient to the decision boundary.

    An input :math:`x` (the non-protected part of a row) is discriminatory iff
    :math:`\max_c f(x, c) - \min_c f(x, c) > g`, over all combinations :math:`c` of protected
    values. Let :math:`m` be the margin of the decision (log odds), and :math:`c, c'` the two
    combinations whose margins differ most.

    - *Global phase.* Up to `max_iter` times, until it is discriminatory, each seed moves one step
      downhill in every column in which the gradients of :math:`|m|` at :math:`(x, c)` and
      :math:`(x, c')` agree, or, if they agree in no column, in one column drawn at random.
    - *Local phase.* From each case, `n_local` times, one column :math:`a` goes a step up or down.
      It is drawn with weights :math:`1 / (|\partial_a m(x, c)| + |\partial_a m(x, c')|)`, where
      c and c' are the two variants of the case: columns with little effect on the margin keep the
      input a case.

    All seeds move together, and so do all local searches. No input is tested twice.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Cloned and fitted if `fit` gets no model; a ``FrozenEstimator`` is used as it is. Without
        either, a small tree fitted to y is audited (a surrogate).
    protected : column name or position, or sequence of them
        Columns whose values are varied.
    n_seeds : int, default=200
        Number of inputs that the global phase starts from.
    seeds : {"clusters", "data", "uniform", "both"} or DataFrame, default="clusters"
        Origin of the seeds: rows of X from each of `n_clusters` k-means clusters in turn, rows of
        X, uniform draws, half of each of the latter two, or the rows passed.
    n_clusters : int, default=4
        Number of clusters.
    max_iter : int, default=10
        Number of moves of a seed at most.
    n_local : int, default=500
        Number of steps of each local search.
    step_size : int, default=1
        Number of codes by which a numeric or ordinal column moves in one step; a nominal column
        takes any other value.
    next_state : {"walk", "metropolis", "restart"}, default="walk"
        How a local search continues from an input that is not a case: from there; from there with
        probability 1/e, else it stays in place (the authors' code); from its first case.
    pair : {"widest", "own"}, default="widest"
        The two variants compared: the two whose margins differ most; or the row with its own
        protected values and the variant whose probability differs most from it (the paper).
    gradient : {"auto", "analytic", "autograd", "difference"} or callable, default="auto"
        How the gradient of the margin is computed: by formula (linear models, SVC, GaussianNB and
        MLPClassifier, also after scalers), by PyTorch, or by differences between neighboring
        inputs; "auto" uses the first of these that the model supports. A callable takes rows of X
        and returns an array of the same shape. Slopes of nominal columns, and of inputs whose
        gradient vanishes, are always differences.
    output : {"decision", "probability"}, default="decision"
        The outcome compared: the decision, or the probability of a favorable decision.
    min_gap : float, default=0
        Gap between outcomes that must be exceeded; use a value > 0 unless decisions are compared.
    space : FeatureSpace or None, default=None
        The possible inputs; learned from X by default.
    scope : {"joint", "each"}, default="joint"
        Whether protected columns vary together, or one at a time with an equal share of each limit;
        the other protected columns are then part of the input and change like any other column.
    store_tested : bool, default=False
        Keep all inputs tested, and whether they are cases, in ``result_.tables["tested"]``, so that
        `skdisc.testing.replay` can query another model about them.
    n_quality : int, default=0
        Size of the samples of random inputs, rows of X and cases from which
        ``result_.tables["quality"]`` is computed: how frequent cases are, and how natural, diverse
        and severe the cases found are. 0 omits the table.
    n_refits : int, default=19
        A model that is trained here is compared with at most so many models trained on redrawn
        protected columns; "disparity found" takes at least 1 / significance - 1.
    max_tests : int or None, default=10_000
        Limit on the number of distinct inputs tested.
    max_queries, max_found : int or None, default=None
        Limits on the number of rows queried and of cases found.
    time_budget : float or None, default=None
        Limit in seconds, checked between batches.
    missing : {"category", "drop", "raise"}, default="category"
        Treatment of rows with a missing protected value: missing counts as a category, the rows are
        dropped, or an error is raised.
    rule : Rule or None, default=None
        When the question is answered. None: ``Rule()``. It uses `significance` and
        `relevant_share`.
    pos_label : label or collection of labels, default=None
        The favorable label or labels; by default 1 or True; other labels need one. "high" and
        "low" are the greatest and least of numeric labels.
    memory : str or joblib.Memory, default=None
        Caches the fit of `estimator`.
    random_state : int, RandomState instance or None, default=None
        Seed of the search.
    n_jobs : int or None, default=None
        Number of threads that share large queries.
    verbose : bool or int, default=False
        Report progress on standard error.

    Attributes
    ----------
    result_ : AuditResult
        What `fit` found. Findings are `Case` objects: the unfavorable variant of an
        input against its favorable variant.
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
        By `fit`, if a setting, a protected column or the data are invalid.
    ModelError
        If the model raises an error or returns something other than outcomes.
    NotFittedError
        By `audit` and `score`, if the detector is not fitted.

    Notes
    -----
    The paper uses the gradient of the loss at the model's own prediction. It has the direction of
    the gradient of the margin, but vanishes where the model is confident, so that seeds get stuck.

    References
    ----------
    P. Zhang, J. Wang, J. Sun, G. Dong, X. Wang, X. Wang, J. S. Dong, T. Dai: White-box fairness
    testing through adversarial sampling. ICSE 2020. doi:10.1145/3377811.3380331

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"income": rng.integers(0, 100, 500), "woman": rng.integers(0, 2, 500)})
    >>> model = LogisticRegression().fit(X, X["income"] > 40 + 10 * X["woman"])
    >>> result = ADF(protected="woman", n_seeds=5, random_state=0).fit(X, model=model).result_
    >>> result.n_found
    7
    """

    card = Card(
        finds="individual",
        where="model",
        access="probabilities or gradient",
        statistic="share of tested inputs whose decision changes with a protected attribute",
        output="cases: pairs of rows that differ in protected columns only",
        published="25 times as many cases as AEQUITAS, 6.5 times as many as SG in the same time",
        reference="Zhang et al., ICSE 2020",
    )
    _parameter_constraints = {
        **GradientSearch._parameter_constraints,
        "next_state": [StrOptions({"walk", "metropolis", "restart"})],
        "pair": [StrOptions({"widest", "own"})],
    }

    def __init__(
        self,
        estimator: Estimator | None = None,
        *,
        protected: Columns | None = None,
        n_seeds: int = 200,
        seeds: str | pd.DataFrame = "clusters",
        n_clusters: int = 4,
        max_iter: int = 10,
        n_local: int = 500,
        step_size: int = 1,
        next_state: str = "walk",
        pair: str = "widest",
        gradient: str | Callable = "auto",
        output: str = "decision",
        min_gap: float = 0.0,
        space: FeatureSpace | None = None,
        scope: str = "joint",
        store_tested: bool = False,
        n_quality: int = 0,
        n_refits: int = 19,
        max_tests: int | None = 10_000,
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
        self.n_seeds = n_seeds
        self.seeds = seeds
        self.n_clusters = n_clusters
        self.max_iter = max_iter
        self.n_local = n_local
        self.step_size = step_size
        self.next_state = next_state
        self.pair = pair
        self.gradient = gradient
        self.output = output
        self.min_gap = min_gap
        self.space = space
        self.scope = scope
        self.store_tested = store_tested
        self.n_quality = n_quality
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

    def _strategy(self, task, prober, from_rows):
        rules = WalkRules(
            self.max_iter, self.n_local, next_state=self.next_state, own_pair=self.pair == "own"
        )
        return self._walk(task, prober, from_rows, rules)
