"""AEQUITAS: random walks that learn which columns and directions lead to cases."""

from numbers import Integral

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import Interval, StrOptions

from skdisc._space._feature_space import FeatureSpace
from skdisc._task._card import Card
from skdisc._utils._types import Columns, Estimator, Labels, Memory, RandomState
from skdisc._verdicts._rule import Rule
from skdisc.individual._prober import small_dtype
from skdisc.individual._search._base import SEED_CHOICES, VALUE_OUTPUTS, SearchDetector
from skdisc.individual._search._loop import Strategy, propose
from skdisc.individual._search._seeds import draw_seeds
from skdisc.individual._search._steps import Steps, weighted_choice

_COUNT = Interval(Integral, 0, None, closed="left")
_LEARNED = 0.001  # change of a probability by one step
_LEARNED_FROM = 250  # steps for each column, of one batch
_MOST_AT_ONCE = 100_000  # steps of one batch that nothing is learned from


class Aequitas(SearchDetector):
    r"""Estimate the share of discriminatory inputs, and find more by adaptive random walks.

    An input :math:`x` (the non-protected part of a row) is discriminatory iff
    :math:`\max_c f(x, c) - \min_c f(x, c) > g`, over all combinations :math:`c` of protected
    values. The share of such inputs is estimated from uniform draws. A walk starts from each
    discriminatory one and changes one column by one step at a time. All walks share what they
    learn:

    - `mode` "random": nothing; columns and directions are equally likely.
    - "semi": the probability :math:`\sigma_v` that column :math:`a` goes down rises by 0.001 if
      going down led to a case or going up did not, and falls by 0.001 otherwise.
    - "fully": also, the probability :math:`\sigma_{pr}` of choosing column :math:`a` rises by 0.001
      if the choice led to a case.

    All walks run in parallel, and no input is tested twice.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Cloned and fitted if `fit` gets no model; a ``FrozenEstimator`` is used as it is. Without
        either, a small tree fitted to y is audited (a surrogate).
    protected : column name or position, or sequence of them
        Columns whose values are varied.
    mode : {"random", "semi", "fully"}, default="fully"
        What the walks learn.
    n_seeds : int, default=1000
        Number of inputs drawn first.
    seeds : {"uniform", "data", "both", "clusters"} or DataFrame, default="uniform"
        Origin of the seeds: uniform draws, rows of X, half of each, rows of X from each cluster in
        turn, or the rows passed.
    n_local : int, default=1000
        Number of steps of each walk.
    step_size : int, default=1
        Number of codes by which a numeric or ordinal column moves in one step; a nominal column
        takes any other value.
    next_state : {"walk", "metropolis", "restart"}, default="walk"
        How a walk continues from an input that is not a case: from there (the paper); from there
        with probability :math:`e^{-1}`, or :math:`e^{-2}` in mode "fully", else it stays in place
        (the authors' code); from its start.
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
    The paper runs one walk after the other and learns after each step. Here all walks run in
    parallel and learn after each batch, so that queries are few and large: there are as many
    updates, up to a batch later. A batch has 250 steps for each column, so that a probability
    changes by a quarter at most, and at least one step of each walk. With mode "random" the walks
    learn nothing, and batches grow. With the other next states the outcome decides how a walk
    continues, so a batch is one step of each walk. The walks do not step along protected columns.

    References
    ----------
    S. Udeshi, P. Arora, S. Chattopadhyay: Automated directed fairness testing. ASE 2018.
    doi:10.1145/3238147.3238165

    Examples
    --------
    >>> from skdisc import FeatureSpace
    >>> space = FeatureSpace.from_domains({"income": (0, 99), "sex": ["F", "M"]}, protected="sex")
    >>> loan = lambda X: X["income"] + 10 * (X["sex"] == "M") > 50
    >>> result = Aequitas(random_state=0).fit(space, model=loan).result_
    >>> result.n_found, result.verdict
    (10, 'disparity found')
    """

    card = Card(
        finds="individual",
        where="model",
        access="predict",
        statistic="share of inputs whose decision changes with a protected attribute",
        output="cases: pairs of rows that differ in protected columns only",
        published="up to 70.3 % of tested inputs discriminatory, 3.45 % of random ones",
        reference="Udeshi et al., ASE 2018",
    )
    _parameter_constraints = {
        **SearchDetector._parameter_constraints,
        **VALUE_OUTPUTS,
        "mode": [StrOptions({"random", "semi", "fully"})],
        "n_seeds": [Interval(Integral, 1, None, closed="left")],
        "seeds": SEED_CHOICES,
        "n_local": [_COUNT],
        "step_size": [Interval(Integral, 1, None, closed="left")],
        "next_state": [StrOptions({"walk", "metropolis", "restart"})],
    }

    def __init__(
        self,
        estimator: Estimator | None = None,
        *,
        protected: Columns | None = None,
        mode: str = "fully",
        n_seeds: int = 1000,
        seeds: str | pd.DataFrame = "uniform",
        n_local: int = 1000,
        step_size: int = 1,
        next_state: str = "walk",
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
        self.mode = mode
        self.n_seeds = n_seeds
        self.seeds = seeds
        self.n_local = n_local
        self.step_size = step_size
        self.next_state = next_state
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
        seeds = draw_seeds(task, self.n_seeds, "data" if from_rows else self.seeds)
        steps = Steps(task.space, self.step_size)
        return _Walks(task.rng, steps, seeds, self.n_local, self.mode, self.next_state)


class _Walks(Strategy):
    """The strategy: seeds, then batches of steps of all walks."""

    def __init__(self, rng, steps, seeds, n_local, mode, next_state):
        self.rng, self.steps, self.seeds, self.left = rng, steps, seeds, n_local
        self.mode, self.next_state = mode, next_state
        self.always_goes = next_state == "walk"
        self.made = len(seeds.rows)  # steps, and seeds
        self.x = None
        self.p_down = np.full(len(steps), 0.5)
        self.p_column = np.full(len(steps), 1 / max(len(steps), 1))

    def ask(self):
        if self.x is None:
            return propose(self.steps.space, self.seeds.rows)
        if not len(self.x) or not len(self.steps) or not self.left:
            return None
        n = min(self.left, max(1, self._batch_size() // len(self.x)))
        self.made += n * len(self.x)
        self.left -= n
        u = self.rng.random((n, 4, len(self.x))).swapaxes(0, 1)
        self.which = weighted_choice(self.p_column, u[0])
        self.sign = np.where(u[1] < self.p_down[self.which], -1, 1)
        self.sign = self.steps.signs(self.which, self.sign)
        self.y, self.u_accept = self.steps.walk(self.x, self.which, self.sign, u[2]), u[3]
        return propose(self.steps.space, self.y.reshape(-1, self.y.shape[2]))

    def _batch_size(self):
        """Return the number of steps of all walks until the walks learn from them.

        The probabilities of directions return to a balance, at which a column leads to as many
        cases in one direction as in the other. One update of thousands of steps in a column would
        throw them beyond it, and the next one back, up to 0 or 1.
        """
        if not self.always_goes:
            return 1
        if self.mode == "random":
            return min(self.made, _MOST_AT_ONCE)
        return _LEARNED_FROM * len(self.steps)

    def tell(self, candidates, ids, new, ledger):
        hit = ledger.hit[ids]
        if self.x is None:
            self.x = self.x0 = self.seeds.rows[hit].astype(small_dtype(self.steps.space))
            self.is_case = np.ones(len(self.x), dtype=bool)
            return
        hit = hit.reshape(self.which.shape)
        self._learn(hit)
        hit, y = hit[-1], self.y[-1]
        goes = hit | self.always_goes
        if self.next_state == "metropolis":
            # The energy that the authors minimize is 1 for an input that is no case, and 0 for a
            # case; in mode "fully" it is the sum of two decisions of -1 or 1, hence 2.
            energy = 2 if self.mode == "fully" else 1
            goes |= ~self.is_case | (self.u_accept[-1] < np.exp(-energy))
        stays = self.x0 if self.next_state == "restart" else self.x
        self.x = np.where(goes[:, None], y, stays)
        self.is_case = np.where(goes, hit, self.is_case)

    def _learn(self, hit):
        """Update the probabilities of directions and columns by which steps led to cases."""
        if self.mode == "random":
            return
        which, n = self.which.ravel(), len(self.steps)
        towards_down = np.where(hit == (self.sign < 0), _LEARNED, -_LEARNED)
        self.p_down = np.clip(self.p_down + np.bincount(which, towards_down.ravel(), n), 0, 1)
        if self.mode == "fully":
            self.p_column += _LEARNED * np.bincount(which, hit.ravel(), n)
            self.p_column /= self.p_column.sum()
