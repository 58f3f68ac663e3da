"""AEQUITAS: random walks that learn which columns and directions lead to cases."""

from numbers import Integral

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import Interval, StrOptions

from skdisc._space._feature_space import FeatureSpace
from skdisc._task._card import Card
from skdisc._utils._types import Columns, Estimator, Labels, Memory, RandomState
from skdisc.individual._prober import small_dtype
from skdisc.individual._search._base import NUMBERS_TOO, SEED_CHOICES, SearchDetector
from skdisc.individual._search._loop import propose
from skdisc.individual._search._seeds import draw_seeds
from skdisc.individual._search._steps import Steps, weighted_choice

_COUNT = Interval(Integral, 0, None, closed="left")
_LEARNED, _MOST_AT_ONCE = 0.001, 100_000


class Aequitas(SearchDetector):
    r"""Estimate the share of discriminatory inputs, and find more by walks from those met.

    An input :math:`x` (the non-protected part of a row) is discriminatory iff
    :math:`\max_c f(x, c) - \min_c f(x, c) > g`, over all combinations :math:`c` of protected
    values. Uniform draws give the share of such inputs. From each one met a walk starts, which
    changes one column by one step at a time. All walks share what they learn:

    - `mode` "random": nothing; columns and directions are equally likely.
    - "semi": the chance :math:`\sigma_v` that column :math:`a` goes down grows by 0.001 when that
      led to a case, or going up did not, and shrinks otherwise.
    - "fully": also, the chance :math:`\sigma_{pr}` of choosing column :math:`a` grows by 0.001 when
      that led to a case.

    All walks go side by side, `batch_size` steps at a time, and no input is tested twice.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Cloned and fitted when `fit` gets no model; a ``FrozenEstimator`` is used as it is. With
        neither, a small tree trained on y stands in (a surrogate).
    protected : column name or position, or sequence of them
        The columns whose values are varied.
    mode : {"random", "semi", "fully"}, default="fully"
        What the walks learn.
    n_seeds : int, default=1000
        Inputs drawn first.
    seeds : {"uniform", "data", "both", "clusters"} or DataFrame, default="uniform"
        Where they come from: uniform draws, rows of X, half of each, clusters of X in turn, or
        the rows given.
    n_local : int, default=1000
        Steps of each walk.
    step_size : int, default=1
        How many steps of a numeric or ordinal column one move makes; a nominal column goes to any
        other value.
    next_state : {"walk", "metropolis", "restart"}, default="walk"
        Where a walk goes from an input that is no case: on (the paper); on with a chance of 1/e,
        else it stays (the authors' code); back to where it started.
    batch_size : int, default=5000
        Steps made at once, of all walks together and at least one of each, where the next state is
        "walk"; later as many as were made before, up to 100,000. What they led to is learned after
        all of them.
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
    The paper makes one walk after the other and learns after every step. Here walks go side by side
    and learn after `batch_size` steps, from all of them, so that the model is asked a few large
    questions: updates are as many, and come up to a batch later. With mode "random" nothing is
    learned, and `batch_size` changes nothing. With the other next states the answer says where a
    walk goes, so that a question is one step of every walk. Protected columns are not among those
    that are stepped in.

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
    >>> result.n_found, result.estimates["name"][0]
    (10, 'share of uniformly drawn inputs')
    """

    card = Card(
        finds="individual",
        where="model",
        access="predict",
        statistic="share of inputs whose decision changes with a protected attribute",
        output="cases: couples of rows that differ in protected columns only",
        published="up to 70.3 % of tested inputs discriminatory, 3.45 % of random ones",
        reference="Udeshi et al., ASE 2018",
    )
    _parameter_constraints = {
        **SearchDetector._parameter_constraints,
        **NUMBERS_TOO,
        "mode": [StrOptions({"random", "semi", "fully"})],
        "n_seeds": [Interval(Integral, 1, None, closed="left")],
        "seeds": SEED_CHOICES,
        "n_local": [_COUNT],
        "step_size": [Interval(Integral, 1, None, closed="left")],
        "next_state": [StrOptions({"walk", "metropolis", "restart"})],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
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
        batch_size: int = 5000,
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
        self.mode = mode
        self.n_seeds = n_seeds
        self.seeds = seeds
        self.n_local = n_local
        self.step_size = step_size
        self.next_state = next_state
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
        seeds = draw_seeds(task, self.n_seeds, "data" if from_rows else self.seeds)
        steps = Steps(task.space, self.step_size)
        how = self.mode, self.next_state, self.batch_size
        return _Walks(task.rng, steps, seeds, self.n_local, *how)


class _Walks:
    """The strategy: seeds, then some steps of every walk at a time."""

    def __init__(self, rng, steps, seeds, n_local, mode, next_state, batch_size):
        self.rng, self.steps, self.seeds, self.left = rng, steps, seeds, n_local
        self.mode, self.next_state = mode, next_state
        self.batch_size, self.goes_on = batch_size, next_state == "walk"
        self.made = len(seeds.rows) if mode == "random" else 0  # it has nothing to learn soon
        self.x = None
        self.down = np.full(len(steps), 0.5)
        self.choose = np.full(len(steps), 1 / max(len(steps), 1))

    def ask(self):
        if self.x is None:
            return propose(self.steps.space, self.seeds.rows)
        if not len(self.x) or not len(self.steps) or not self.left:
            return None
        many = max(self.batch_size, min(self.made, _MOST_AT_ONCE)) if self.goes_on else 1
        n = min(self.left, max(1, many // len(self.x)))
        self.made += n * len(self.x)
        self.left -= n
        u = self.rng.random((n, 4, len(self.x))).swapaxes(0, 1)
        self.which = weighted_choice(self.choose, u[0])
        self.sign = np.where(u[1] < self.down[self.which], -1, 1)
        self.sign = self.steps.signs(self.which, self.sign)
        self.y, self.luck = self.steps.walk(self.x, self.which, self.sign, u[2]), u[3]
        return propose(self.steps.space, self.y.reshape(-1, self.y.shape[2]))

    def tell(self, candidates, ids, new, ledger):
        hit = ledger.hit[ids]
        if self.x is None:
            self.x = self.x0 = self.seeds.rows[hit].astype(small_dtype(self.steps.space))
            self.is_case = np.ones(len(self.x), dtype=bool)
            return
        hit = hit.reshape(self.which.shape)
        self._learn(hit)
        hit, y = hit[-1], self.y[-1]
        goes = hit | self.goes_on
        if self.next_state == "metropolis":
            goes |= ~self.is_case | (self.luck[-1] < np.exp(-1.0))
        stays = self.x0 if self.next_state == "restart" else self.x
        self.x = np.where(goes[:, None], y, stays)
        self.is_case = np.where(goes, hit, self.is_case)

    def _learn(self, hit):
        if self.mode == "random":
            return
        which, n = self.which.ravel(), len(self.steps)
        towards_down = np.where(hit == (self.sign < 0), _LEARNED, -_LEARNED)
        self.down = np.clip(self.down + np.bincount(which, towards_down.ravel(), n), 0, 1)
        if self.mode == "fully":
            self.choose += _LEARNED * np.bincount(which, hit.ravel(), n)
            self.choose /= self.choose.sum()
