"""SG: symbolic generation, which negates conditions on the paths of a surrogate tree."""

from collections.abc import Callable
from numbers import Integral

import pandas as pd
from sklearn.utils._param_validation import Interval, StrOptions

from skdisc._space._feature_space import FeatureSpace
from skdisc._task._card import Card
from skdisc._utils._types import Columns, Estimator, Labels, Memory, RandomState
from skdisc._verdicts._rule import Rule
from skdisc.individual._search._base import SEED_CHOICES, VALUE_OUTPUTS, SearchDetector
from skdisc.individual._search._seeds import draw_seeds
from skdisc.individual._sg._queue import Queue

_COUNT = Interval(Integral, 1, None, closed="left")


class SG(SearchDetector):
    r"""Find individual cases by negating the conditions on the paths of a surrogate tree.

    An input :math:`x` (the non-protected part of a row) is discriminatory iff
    :math:`\max_c f(x, c) - \min_c f(x, c) > g`, over all combinations :math:`c` of protected
    values. A tree is fitted to the decisions about inputs drawn from the marginals of X. The path
    of an input :math:`t` through the tree is a list of conditions; the confidence of a condition is
    the share of the samples at its node that satisfy it. Inputs are tested in the order of their
    rank, the lowest first:

    - seeds have rank 5;
    - *local*: if :math:`t` is discriminatory, one of its conditions is negated and all others are
      kept: rank 1 + mean confidence;
    - *global*: one condition is negated and those above it are kept, as long as all of them have at
      least confidence 0.3: rank 10 - mean confidence.

    A condition is an interval of one column, so the column takes the nearest value that satisfies
    the negated condition; all other columns keep their values. Each change of a path is applied to
    one input after the other: among local and among global changes, those applied least often come
    first, then those of the lowest rank. No input is tested twice.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Cloned and fitted if `fit` gets no model; a ``FrozenEstimator`` is used as it is. Without
        either, a small tree fitted to y is audited (a surrogate).
    protected : column name or position, or sequence of them
        Columns whose values are varied.
    n_seeds : int, default=1000
        Number of inputs that the queue starts with.
    seeds : {"clusters", "data", "uniform", "both"} or DataFrame, default="clusters"
        Origin of the seeds: rows of X from each of `n_clusters` k-means clusters in turn, rows of
        X, uniform draws, half of each of the latter two, or the rows passed.
    n_clusters : int, default=4
        Number of clusters.
    surrogate : {"shared", "instance"} or callable, default="shared"
        One tree for all inputs, or one per input (slow). A callable takes samples as codes, of
        shape (n_samples, n_columns), their decisions (1 favorable, 0 not; values are compared with
        their median) and the inputs that are explained, and returns a fitted decision tree.
    n_samples : int, default=5_000
        Number of samples that a tree is fitted to; at most a quarter of `max_queries`.
    refresh : int or None, default=None
        Number of tests, checked between batches, after which a shared tree is fitted again, to new
        samples; None: never.
    batch_size : int, default=64
        Smallest number of inputs taken from the queue at once. A batch is half as large as the
        number of tests so far, and from 4,000 tests on as large (at most 262,144, and not much more
        than the tests left of `max_tests`), so that large searches need few queries.
    output : {"decision", "probability", "value"}, default="decision"
        The outcome compared: the decision, the probability of a favorable decision, or the value of
        a regressor or decision function, where higher is better.
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
    Trees are fitted to the unprotected columns only, so no path has a condition on a protected
    column; the paper skips such conditions. Nominal columns are split by their codes. Each node is
    split at the best threshold of one column drawn at random: paths then have conditions on more
    columns, and the search finds more cases than with the best of all columns.

    The paper fits a tree to 5,000 samples for each input and never solves a set of conditions
    twice; with a tree for each input such sets hardly ever repeat. Inputs that share a tree share
    them.

    References
    ----------
    A. Aggarwal, P. Lohia, S. Nagar, K. Dey, D. Saha: Black box fairness testing of machine learning
    models. ESEC/FSE 2019. doi:10.1145/3338906.3338937

    Examples
    --------
    >>> from skdisc import FeatureSpace
    >>> space = FeatureSpace.from_domains({"income": (0, 99), "sex": ["F", "M"]}, protected="sex")
    >>> loan = lambda X: X["income"] + 10 * (X["sex"] == "M") > 50
    >>> SG(n_seeds=90, random_state=0).fit(space, model=loan).result_.n_found > 0
    True
    """

    card = Card(
        finds="individual",
        where="model",
        access="predict",
        statistic="share of tested inputs whose decision changes with a protected attribute",
        output="cases: pairs of rows that differ in protected columns only",
        published="34.8 % of tests discriminatory on average, 6.4 % for Themis",
        reference="Aggarwal et al., ESEC/FSE 2019",
    )
    _parameter_constraints = {
        **SearchDetector._parameter_constraints,
        **VALUE_OUTPUTS,
        "n_seeds": [_COUNT],
        "seeds": SEED_CHOICES,
        "n_clusters": [_COUNT],
        "surrogate": [StrOptions({"shared", "instance"}), callable],
        "n_samples": [_COUNT],
        "refresh": [_COUNT, None],
        "batch_size": [_COUNT],
    }

    def __init__(
        self,
        estimator: Estimator | None = None,
        *,
        protected: Columns | None = None,
        n_seeds: int = 1000,
        seeds: str | pd.DataFrame = "clusters",
        n_clusters: int = 4,
        surrogate: str | Callable = "shared",
        n_samples: int = 5_000,
        refresh: int | None = None,
        batch_size: int = 64,
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
        self.surrogate = surrogate
        self.n_samples = n_samples
        self.refresh = refresh
        self.batch_size = batch_size
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
        kind = "clusters" if from_rows else self.seeds
        seeds = draw_seeds(task, self.n_seeds, kind, self.n_clusters)
        return Queue(self, task, prober, seeds.rows)
