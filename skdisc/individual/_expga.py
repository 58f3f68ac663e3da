"""ExpGA: genetic search from inputs whose outcome depends most on protected values."""

from collections.abc import Callable
from numbers import Integral, Real

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import Interval, StrOptions

from skdisc._space._feature_space import FeatureSpace
from skdisc._task._card import Card
from skdisc._utils._hashing import Growing
from skdisc._utils._types import Columns, Estimator, Labels, Memory, RandomState
from skdisc._verdicts._rule import Rule
from skdisc.individual._prober import small_dtype
from skdisc.individual._search._base import SEED_CHOICES, VALUE_OUTPUTS, SearchDetector
from skdisc.individual._search._loop import Strategy, propose
from skdisc.individual._search._margins import Margins
from skdisc.individual._search._seeds import draw_seeds
from skdisc.individual._search._steps import Steps

_COUNT = Interval(Integral, 1, None, closed="left")
_SHARE = Interval(Real, 0, 1, closed="both")


class ExpGA(SearchDetector):
    r"""Find individual cases by a genetic search for inputs that depend on protected values.

    An input :math:`x` (the non-protected part of a row) is discriminatory iff
    :math:`\max_c f(x, c) - \min_c f(x, c) > g`, over all combinations :math:`c` of protected
    values. Its *effect* is :math:`e(x) = \max_c p(x, c) - \min_c p(x, c)`, where p is the
    probability of a favorable decision. The drawn inputs with the largest effects are the first
    population. In each generation parents are drawn with probabilities proportional to their
    fitness, pairs of them exchange a slice of columns, and single columns take random values; the
    children are tested and form the next population.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Cloned and fitted if `fit` gets no model; a ``FrozenEstimator`` is used as it is. Without
        either, a small tree fitted to y is audited (a surrogate).
    protected : column name or position, or sequence of them
        Columns whose values are varied.
    n_draws : int, default=1000
        Number of inputs drawn and ranked.
    seeds : {"both", "uniform", "data", "clusters"} or DataFrame, default="both"
        Origin of the draws: rows of X and uniform draws, half of each; one of these; rows of X from
        each cluster in turn; or the rows passed.
    n_population : int, default=100
        Size of the population.
    n_generations : int, default=1000
        Number of generations at most.
    crossover : float, default=0.9
        Share of children that combine two parents.
    mutation : float, default=0.05
        Probability that a column of a child takes a random value.
    fitness : {"effect", "hit"}, default="effect"
        Fitness of an input: its effect; or 3 for a case and 1 for another input (the authors' code,
        which needs decisions only).
    ranking : callable or None, default=None
        Ranks the draws in place of the effect: takes rows of X and returns one number per row, the
        largest for the best (for example from LIME or another explainer).
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
    The paper ranks draws by the rank of the protected attribute in an explanation by LIME, which
    takes some 5,000 queries per draw; the effect measures the same with one query per combination.
    The effects of a model that returns decisions only are 0 or 1.

    References
    ----------
    M. Fan, W. Wei, W. Jin, Z. Yang, T. Liu: Explanation-guided fairness testing through genetic
    algorithm. ICSE 2022. doi:10.1145/3510003.3510137

    Examples
    --------
    >>> from skdisc import FeatureSpace
    >>> space = FeatureSpace.from_domains({"income": (0, 99), "sex": ["F", "M"]}, protected="sex")
    >>> loan = lambda X: X["income"] + 10 * (X["sex"] == "M") > 50
    >>> ExpGA(random_state=0).fit(space, model=loan).result_.n_found
    10
    """

    card = Card(
        finds="individual",
        where="model",
        access="probabilities, or predict",
        statistic="share of tested inputs whose decision changes with a protected attribute",
        output="cases: pairs of rows that differ in protected columns only",
        published="up to 156,259 cases in an hour, 10 times as many as ADF",
        reference="Fan et al., ICSE 2022",
    )
    _parameter_constraints = {
        **SearchDetector._parameter_constraints,
        **VALUE_OUTPUTS,
        "n_draws": [_COUNT],
        "seeds": SEED_CHOICES,
        "n_population": [Interval(Integral, 2, None, closed="left")],
        "n_generations": [Interval(Integral, 0, None, closed="left")],
        "crossover": [_SHARE],
        "mutation": [_SHARE],
        "fitness": [StrOptions({"effect", "hit"})],
        "ranking": [callable, None],
    }

    def __init__(
        self,
        estimator: Estimator | None = None,
        *,
        protected: Columns | None = None,
        n_draws: int = 1000,
        seeds: str | pd.DataFrame = "both",
        n_population: int = 100,
        n_generations: int = 1000,
        crossover: float = 0.9,
        mutation: float = 0.05,
        fitness: str = "effect",
        ranking: Callable | None = None,
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
        self.n_draws = n_draws
        self.seeds = seeds
        self.n_population = n_population
        self.n_generations = n_generations
        self.crossover = crossover
        self.mutation = mutation
        self.fitness = fitness
        self.ranking = ranking
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
        seeds = draw_seeds(task, self.n_draws, "data" if from_rows else self.seeds)
        return _GenePool(self, task, prober, seeds)


class _GenePool(Strategy):
    """The strategy: draws, then one generation after the other."""

    def __init__(self, settings, task, prober, seeds):
        self.settings, self.space, self.rng, self.seeds = settings, task.space, task.rng, seeds
        self.steps, self.combos = Steps(task.space), prober.combos
        self.margins = Margins(task, self.steps)
        self.effects = Growing(float)  # by number of the input in the ledger
        self.place = np.full((len(task.space), 1), -1, dtype=np.int16)
        self.place[self.steps.columns, 0] = np.arange(len(self.steps))
        self.generation, self.rows = 0, seeds.rows.astype(small_dtype(task.space))

    def ask(self):
        is_over = self.generation > self.settings.n_generations
        if is_over or not len(self.steps) or not len(self.rows):
            return propose(self.space, self.rows) if not self.generation else None
        if self.generation:
            self.rows = self._children()
        return propose(self.space, self.rows)

    def tell(self, candidates, ids, new, ledger):
        fitness = 1.0 + 2.0 * ledger.hit[ids]
        if self.settings.fitness == "effect" and not self.margins.is_flat:
            p = self.margins.over(candidates.codes(new), self.combos)
            if not self.margins.is_value:
                p = 1 / (1 + np.exp(-np.clip(p, -500, 500)))
            self.effects.extend(np.ptp(p, axis=1))
            fitness = self.effects.rows[ids] + 1e-12
        self.fitness = fitness
        if not self.generation:
            rank = fitness
            if self.settings.ranking is not None:
                rank = np.asarray(self.settings.ranking(self.space.decode(self.rows)), dtype=float)
            best = np.argsort(-rank, kind="stable")[: self.settings.n_population]
            self.rows, self.fitness = self.rows[best], fitness[best]
        self.generation += 1

    def _parents(self, n):
        """Return the sorted positions of n parents: sorted numbers are looked up much faster."""
        chance = np.cumsum(self.fitness)
        drawn = np.searchsorted(chance, np.sort(self.rng.random(n)) * chance[-1])
        return drawn.clip(max=len(self.rows) - 1)

    def _children(self):
        """Return the next population, untested."""
        n, d = self.settings.n_population, len(self.steps)
        first, second = self._parents(n), self._parents(n)[self.rng.permutation(n)]
        first, second = self.rows.take(first, axis=0), self.rows.take(second, axis=0)
        low, high = np.sort(self.rng.integers(d + 1, size=(2, n), dtype=np.int16), axis=0)
        high[self.rng.random(n) >= self.settings.crossover] = 0
        swap = (self.place >= low) & (self.place < high)  # one row per column: much faster
        children = first + (second - first) * np.ascontiguousarray(swap.T)
        change = np.flatnonzero(self.rng.random(n * d, np.float32) < self.settings.mutation)
        child, gene = np.divmod(change, d)
        low, high = self.steps.low[gene], self.steps.high[gene]
        children[child, self.steps.columns[gene]] = self.rng.integers(low, high + 1)
        if self.steps.direction.any():
            at = self.steps.columns
            children[:, at] = self.steps.clip_monotone(children[:, at], first[:, at])
        return children
