"""KOSEI: breadth-first local search from discriminatory inputs."""

from numbers import Integral

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import Interval, StrOptions

from skdisc._space._feature_space import FeatureSpace
from skdisc._task._card import Card
from skdisc._utils._types import Columns, Estimator, Labels, Memory, RandomState
from skdisc._verdicts._rule import Rule
from skdisc.individual._search._base import SEED_CHOICES, VALUE_OUTPUTS, SearchDetector
from skdisc.individual._search._input_generator import boundary_pool, make_generator
from skdisc.individual._search._loop import Strategy, propose
from skdisc.individual._search._margins import Margins
from skdisc.individual._search._neighbors import Neighbors
from skdisc.individual._search._seeds import Seeds, draw_seeds
from skdisc.individual._search._steps import Steps

_CANDIDATES_AT_ONCE = 200_000
_POOL = 10  # inputs drawn per seed at the boundary


class KOSEI(SearchDetector):
    r"""Find many individual cases by breadth-first local search from the first ones.

    An input :math:`x` (the non-protected part of a row) is discriminatory iff
    :math:`\max_c f(x, c) - \min_c f(x, c) > g`, over all combinations :math:`c` of protected
    values. Seeds are tested first; then, one generation after the other, the neighbors of each
    discriminatory input: one numeric or ordinal column a step up or down, or one nominal column at
    any other value. No input is tested twice.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Cloned and fitted if `fit` gets no model; a ``FrozenEstimator`` is used as it is. Without
        either, a small tree fitted to y is audited (a surrogate).
    protected : column name or position, or sequence of them
        Columns whose values are varied.
    n_seeds : int, default=2000
        Number of inputs tested before the local search starts.
    seeds : {"both", "uniform", "data", "clusters", "boundary"} or DataFrame, default="both"
        Origin of the seeds: uniform draws and rows of X, half of each; one of these; rows of X from
        each cluster in turn; the inputs closest to the decision boundary (`BoundarySearch`); or the
        rows passed. Uniform draws reach more of the space, rows of X lead to realistic inputs.
    n_local : int or None, default=2000
        The local search ends after this many tests per discriminatory seed; None: when no neighbor
        is left.
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
    The paper starts from uniform seeds only and steps through nominal codes as if they were
    ordered. Its limit is read as in the authors' code: tests per discriminatory seed. The paper
    continues from inputs in the order in which they were found; here the inputs of a generation are
    in random order, because a neighbor of several cases, which is more likely a case itself, is
    then tested earlier.

    References
    ----------
    S. Sano, T. Kitamura, S. Takada: An efficient discrimination discovery method for fairness
    testing. SEKE 2022.

    Examples
    --------
    >>> from skdisc import FeatureSpace
    >>> space = FeatureSpace.from_domains({"income": (0, 99), "sex": ["F", "M"]}, protected="sex")
    >>> loan = lambda X: X["income"] + 10 * (X["sex"] == "M") > 50
    >>> KOSEI(seeds="uniform", random_state=0).fit(space, model=loan).result_.n_found
    10
    """

    card = Card(
        finds="individual",
        where="model",
        access="predict",
        statistic="share of tested inputs whose decision changes with a protected attribute",
        output="cases: pairs of rows that differ in protected columns only",
        published="5,084.8 % more cases than AEQUITAS in 7.5 % of its time, on average",
        reference="Sano et al., SEKE 2022",
    )
    _parameter_constraints = {
        **SearchDetector._parameter_constraints,
        **VALUE_OUTPUTS,
        "n_seeds": [Interval(Integral, 1, None, closed="left")],
        "seeds": [*SEED_CHOICES, StrOptions({"boundary"})],
        "n_local": [Interval(Integral, 0, None, closed="left"), None],
    }

    def __init__(
        self,
        estimator: Estimator | None = None,
        *,
        protected: Columns | None = None,
        n_seeds: int = 2000,
        seeds: str | pd.DataFrame = "both",
        n_local: int | None = 2000,
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
        self.n_local = n_local
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
        kind = "data" if from_rows else self.seeds
        if isinstance(kind, str) and kind == "boundary":
            margins, generator = Margins(task, Steps(task.space)), make_generator("copula", task)
            n = _POOL * self.n_seeds
            rows = boundary_pool(task, prober, margins, generator, n)[: self.n_seeds]
            seeds = Seeds.of(task.space, rows, np.repeat("boundary", len(rows)))
        else:
            seeds, generator = draw_seeds(task, self.n_seeds, kind), None
        search = _LocalSearch(task.rng, task.space, seeds, self.n_local)
        search.notes = [] if generator is None else list(generator.notes)
        return search


class _LocalSearch(Strategy):
    """The strategy: seeds, then the neighbors of all cases, one generation after the other."""

    def __init__(self, rng, space, seeds, n_local):
        self.rng, self.space, self.seeds, self.n_local = rng, space, seeds, n_local
        self.ledger, self.n_parents = None, 0  # parents of all generations so far
        self.parents = seeds.rows[:0]  # parents whose neighbors are still to be tested
        self.left = None  # number of tests left; None: no limit
        self.steps = Steps(space)

    def ask(self):
        if self.ledger is None:
            return propose(self.space, self.seeds.rows)
        if not len(self.parents):
            self.parents = self.rng.permutation(self.ledger.found_codes[self.n_parents :])
            self.n_parents += len(self.parents)
        if not len(self.parents) or self.left == 0 or not len(self.steps.single):
            return None
        size = max(1, _CANDIDATES_AT_ONCE // len(self.steps.single))
        parents, self.parents = self.parents[:size], self.parents[size:]
        return Neighbors(self.steps, parents, self.left)

    def tell(self, candidates, ids, new, ledger):
        if self.ledger is None:
            self.ledger = ledger
            self.left = None if self.n_local is None else self.n_local * len(ledger.found_codes)
        elif self.left is not None:
            self.left -= len(new)
