"""BoundarySearch: test the inputs closest to the decision boundary."""

from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from skdisc._space._feature_space import FeatureSpace
from skdisc._task._card import Card
from skdisc._utils._types import Columns, Estimator, Labels, Memory, RandomState
from skdisc._verdicts._rule import Rule
from skdisc.individual._search._base import SearchDetector
from skdisc.individual._search._input_generator import KINDS, boundary_pool, make_generator
from skdisc.individual._search._loop import Strategy, propose
from skdisc.individual._search._margins import Margins
from skdisc.individual._search._steps import Steps

_AT_ONCE = 100_000
_FLAT = "The model returns decisions without margins: inputs were tested in random order."


class BoundarySearch(SearchDetector):
    r"""Find natural individual cases among the inputs closest to the decision boundary.

    An input :math:`x` (the non-protected part of a row) is discriminatory iff
    :math:`\max_c f(x, c) - \min_c f(x, c) > g`, over all combinations :math:`c` of protected
    values. Inputs are drawn from a generator of realistic inputs, with protected values as frequent
    as in X; the model is queried about the margin :math:`m(x, c)` (log odds) of each, and the
    inputs with the smallest :math:`|m(x, c)|` are tested, the smallest first: a small change, such
    as that of a protected value, suffices there to change the decision.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Cloned and fitted if `fit` gets no model; a ``FrozenEstimator`` is used as it is. Without
        either, a small tree fitted to y is audited (a surrogate).
    protected : column name or position, or sequence of them
        Columns whose values are varied.
    generator : {"copula", "pca", "uniform"} or object, default="copula"
        Generator of inputs: a Gaussian copula with the marginals of X, principal components of X,
        uniform draws, or an object with ``latent_dim`` and ``decode(Z)``, which turns standard
        normal scores into rows with the columns of X. Of a synthesizer with ``sample(n)``, such as
        one of SDV, a copula learns 10,000 rows.
    n_pool : int, default=100_000
        Number of inputs drawn; as many rows are queried in addition to the tests.
    share : float, default=0.1
        Share of the inputs drawn that is tested.
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
    This simple rule finds a larger share of cases than LIMI at the same naturalness. It queries one
    row per input drawn in addition to those of the tests; ``result_.n_queries`` counts both.

    References
    ----------
    For the generator and the use of the boundary: Y. Xiao, A. Liu, T. Li, X. Liu: Latent imitator:
    generating natural individual discriminatory instances for black-box fairness testing. ISSTA
    2023. doi:10.1145/3597926.3598099

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"income": rng.integers(0, 100, 500), "woman": rng.integers(0, 2, 500)})
    >>> model = LogisticRegression().fit(X, X["income"] > 40 + 10 * X["woman"])
    >>> search = BoundarySearch(protected="woman", n_pool=1000, random_state=0)
    >>> search.fit(X, model=model).result_.n_found
    7
    """

    card = Card(
        finds="individual",
        where="model",
        access="probabilities",
        statistic="share of tested inputs whose decision changes with a protected attribute",
        output="cases: pairs of rows that differ in protected columns only",
        published="none; on LIMI's networks 1.6 to 3.3 times its share of cases",
        reference="after Xiao et al., ISSTA 2023",
    )
    _parameter_constraints = {
        **SearchDetector._parameter_constraints,
        "generator": [StrOptions(set(KINDS)), HasMethods(["decode"]), HasMethods(["sample"])],
        "n_pool": [Interval(Integral, 1, None, closed="left")],
        "share": [Interval(Real, 0, 1, closed="right")],
    }

    def __init__(
        self,
        estimator: Estimator | None = None,
        *,
        protected: Columns | None = None,
        generator: Any = "copula",
        n_pool: int = 100_000,
        share: float = 0.1,
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
        self.generator = generator
        self.n_pool = n_pool
        self.share = share
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
        margins = Margins(task, Steps(task.space))
        generator = make_generator(self.generator, task)
        pool = boundary_pool(task, prober, margins, generator, self.n_pool, self.share)
        return _Nearest(task.space, pool, margins.is_flat, generator.notes)


class _Nearest(Strategy):
    """The strategy: the inputs closest to the boundary, once."""

    def __init__(self, space, rows, is_flat, notes):
        self.space, self.rows = space, rows
        self.n_random = len(rows) if is_flat else 0  # all equally close: in random order
        self.notes = list(notes)
        if is_flat:
            self.notes.append(_FLAT)

    def ask(self):
        rows, self.rows = self.rows[:_AT_ONCE], self.rows[_AT_ONCE:]
        return propose(self.space, rows) if len(rows) else None
