"""SG: follow the paths of a surrogate tree, and negate their conditions one at a time."""

from collections.abc import Callable
from numbers import Integral, Real

import pandas as pd
from sklearn.utils._param_validation import Interval, StrOptions

from skdisc._space._feature_space import FeatureSpace
from skdisc._task._card import Card
from skdisc._utils._types import Columns, Estimator, Labels, Memory, RandomState
from skdisc.individual._search._base import NUMBERS_TOO, SEED_CHOICES, SearchDetector
from skdisc.individual._search._seeds import draw_seeds
from skdisc.individual._sg._queue import Queue

_COUNT = Interval(Integral, 1, None, closed="left")


class SG(SearchDetector):
    r"""Find individual cases by negating the conditions on the paths of a surrogate tree.

    An input :math:`x` (the non-protected part of a row) is discriminatory iff
    :math:`\max_c f(x, c) - \min_c f(x, c) > g`, over all combinations :math:`c` of protected
    values. A tree learns the decisions about inputs drawn from the marginals of X. The path of an
    input :math:`t` through it is a list of conditions; the confidence of one is the share of the
    samples at its node that satisfy it. Inputs wait in a queue by rank, the lowest first:

    - seeds have rank 5;
    - *local*: where :math:`t` is discriminatory, each condition is negated and all others are kept:
      rank 1 + mean confidence;
    - *global*: from the top, each condition is negated and those above it are kept, as long as
      confidences are at least `min_confidence`: rank 10 - mean confidence.

    Conditions are intervals, so each is solved by the value nearest to that of :math:`t`; the other
    columns keep theirs. A set of conditions is solved for one input after the other: within local
    and global, those solved least often come first, then the ranks. No input is tested twice.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Cloned and fitted when `fit` gets no model; a ``FrozenEstimator`` is used as it is. With
        neither, a small tree trained on y stands in (a surrogate).
    protected : column name or position, or sequence of them
        The columns whose values are varied.
    n_seeds : int, default=1000
        People that the queue starts with.
    seeds : {"clusters", "data", "uniform", "both"} or DataFrame, default="clusters"
        Where they come from: rows of X from each of `n_clusters` k-means clusters in turn, rows of
        X, uniform draws, half of each, or the rows given. Clusters are learned from 2,000 rows.
    n_clusters : int, default=4
        Number of clusters.
    min_confidence : float, default=0.3
        Confidence at which the global search along a path ends.
    surrogate : {"shared", "instance"} or callable, default="shared"
        One tree for all inputs, or one for each (slow). A callable takes inputs as codes, of shape
        (n_samples, n_columns), their decisions (1 favourable, 0 not; of numbers, above the
        median or not) and the inputs that are explained, and returns a fitted decision tree.
    n_samples : int, default=5_000
        Inputs that a tree learns from; at most a quarter of `max_queries`.
    refresh : int or None, default=None
        After so many tests, looked at between batches, a shared tree is learned anew, from other
        samples; None: never.
    batch_size : int, default=64
        Inputs taken from the queue at once; half of those tested so far where that is more, and
        from 4,000 tests on as many again (at most 262,144, and hardly more than `max_tests` leaves
        to be tested), so that large searches ask large questions.
    output : {"decision", "probability", "value"}, default="decision"
        What is compared: decisions, probabilities of a favourable one, or the numbers that a
        regressor or a decision function gives, higher being better.
    min_gap : float, default=0
        The gap of outcomes that must be exceeded; use one > 0 with other outputs.
    space : FeatureSpace or None, default=None
        The possible inputs; learned from X by default.
    scope : {"joint", "each"}, default="joint"
        Whether protected columns vary together, or one at a time with an equal share of every
        limit; the others are then part of the input, and stepped in like any other column.
    store_tested : bool, default=False
        Keep every input tested with its verdict in ``result_.tables["tested"]``, so that
        `skdisc.testing.replay` can ask another model about them.
    n_quality : int, default=0
        Random inputs, rows of X and cases from which ``result_.tables["quality"]`` says how
        frequent cases are and how natural, diverse and severe those found; 0: it is left out.
    max_tests : int or None, default=10_000
        Most distinct inputs tested.
    max_queries, max_found : int or None, default=None
        Most rows asked of the model; most cases found.
    time_budget : float or None, default=None
        Seconds, looked at between batches.
    missing : {"category", "drop", "raise"}, default="category"
        What becomes of rows with a missing protected value.
    significance : float, default=0.05
        Level of the intervals.
    pos_label : label or collection of labels, default=None
        The favourable outcome; by default the last class.
    memory : str or joblib.Memory, default=None
        Caches the fitting of `estimator`.
    random_state : int, RandomState instance or None, default=None
        Seeds of the search.
    n_jobs : int or None, default=None
        Threads among which large questions to the model are shared.
    verbose : bool or int, default=False
        Report progress on standard error.

    Attributes
    ----------
    result_ : AuditResult
        Findings are `Case` objects: unfavourable variant against favourable variant.
    model_ : BlackBox
    audited_ : {"model", "refit", "surrogate"}
    space_ : FeatureSpace
    protected_, pos_label_ : list

    Notes
    -----
    Trees see the unprotected columns only, so that no path has a condition on a protected one; the
    paper skips these conditions. Nominal columns are split by their codes. A node is split on one
    column drawn at random, where that is best: paths then have conditions on more columns, and
    more is found than with the best of all columns.

    The paper learns a tree from 5,000 samples for every input and solves no set of conditions
    twice; such sets hardly ever repeat there. The inputs that share a tree share them.

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
        output="cases: couples of rows that differ in protected columns only",
        published="34.8 % of tests discriminatory on average, 6.4 % for Themis",
        reference="Aggarwal et al., ESEC/FSE 2019",
    )
    _parameter_constraints = {
        **SearchDetector._parameter_constraints,
        **NUMBERS_TOO,
        "n_seeds": [_COUNT],
        "seeds": SEED_CHOICES,
        "n_clusters": [_COUNT],
        "min_confidence": [Interval(Real, 0, 1, closed="both")],
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
        min_confidence: float = 0.3,
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
        max_tests: int | None = 10_000,
        max_queries: int | None = None,
        max_found: int | None = None,
        time_budget: float | None = None,
        missing: str = "category",
        significance: float = 0.05,
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
        self.min_confidence = min_confidence
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

    def _strategy(self, task, prober, from_rows):
        kind = "clusters" if from_rows else self.seeds
        seeds = draw_seeds(task, self.n_seeds, kind, self.n_clusters)
        return Queue(self, task, prober, seeds.rows)
