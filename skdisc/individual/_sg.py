"""SG: follow the paths of a surrogate tree, and negate their conditions one at a time."""

from functools import cached_property
from numbers import Integral, Real

import numpy as np
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils._param_validation import Interval, StrOptions

from skdisc._card import Card
from skdisc._column import MISSING
from skdisc._hashing import KeyIndex
from skdisc.individual._hunt import SEED_CHOICES, SearchDetector
from skdisc.individual._paths import paths
from skdisc.individual._search import Growing, propose
from skdisc.individual._seeds import draw_seeds
from skdisc.individual._steps import Steps

_COUNT = Interval(Integral, 1, None, closed="left")
_SHARE = 0.02


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
    columns keep theirs. No set of conditions is solved twice, and no input tested twice.

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
        X, uniform draws, half of each, or the rows given.
    n_clusters : int, default=4
        Number of clusters.
    min_confidence : float, default=0.3
        Confidence at which the global search along a path ends.
    surrogate : {"shared", "instance"} or callable, default="shared"
        One tree for all inputs, or one for each (slow). A callable takes inputs as codes, of shape
        (n_samples, n_columns), their decisions (1 favourable, 0 not) and the inputs that are
        explained, and returns a fitted decision tree.
    n_samples : int, default=5000
        Inputs that a tree learns from.
    refresh : int or None, default=1000
        After so many tests a shared tree is learned anew, from other samples; None: never.
    batch_size : int, default=64
        Inputs taken from the queue at once; a fiftieth of those tested so far where that is more,
        so that large searches ask large questions.
    output : {"decision", "probability"}, default="decision"
        What is compared: decisions, or probabilities of a favourable one.
    min_gap : float, default=0
        The gap of outcomes that must be exceeded; use one > 0 with probabilities.
    space : FeatureSpace or None, default=None
        The possible inputs; learned from X by default.
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
    paper skips these conditions. Nominal columns are split by their codes.

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
        estimator=None,
        *,
        protected=None,
        n_seeds=1000,
        seeds="clusters",
        n_clusters=4,
        min_confidence=0.3,
        surrogate="shared",
        n_samples=5000,
        refresh=1000,
        batch_size=64,
        output="decision",
        min_gap=0.0,
        space=None,
        max_tests=10_000,
        max_queries=None,
        max_found=None,
        time_budget=None,
        missing="category",
        significance=0.05,
        pos_label=None,
        memory=None,
        random_state=None,
        n_jobs=None,
        verbose=False,
    ):
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
        return _Queue(self, task, prober, seeds.rows)


class _Queue:
    """The strategy: the best of the queue, then what negating their conditions leads to."""

    seeds = None

    def __init__(self, settings, task, prober, rows):
        self.settings, self.task, self.prober, self.space = settings, task, prober, task.space
        self.free = Steps(task.space).columns
        self.waiting = _Waiting(len(task.space))
        self.waiting.push(rows, np.full(len(rows), 5.0))
        self.solved, self.surrogate, self.age = KeyIndex(), None, 0

    def ask(self):
        if not self.waiting.n:
            return None
        n = max(self.settings.batch_size, int(_SHARE * self.task.budget.tests))
        return propose(self.space, self.waiting.pop(n))

    def tell(self, candidates, ids, new, ledger):
        rows, is_new = candidates.rows, np.zeros(len(ids), dtype=bool)
        is_new[new] = True
        hit = ledger.hit[ids] & is_new
        self.age += len(new)
        if not len(self.free):
            return
        if self.settings.surrogate == "shared":
            if self.surrogate is None or self.age >= (self.settings.refresh or np.inf):
                self.surrogate, self.age = self._learn(rows), 0
            self._push(self.surrogate, rows, hit)
            return
        for i in range(len(rows)):  # a tree of its own for each
            self._push(self._learn(rows[i : i + 1]), rows[i : i + 1], hit[i : i + 1])

    def _learn(self, rows):
        """Return a tree that learned the decisions about inputs drawn from the marginals.

        With it, the leaves whose paths were followed: locally, and globally.
        """
        task, n = self.task, self.settings.n_samples
        samples = self._marginals(n)
        drawn = self.prober.draw_combos(task.X, n, task.rng)
        samples[:, self.space.p_index] = drawn
        if not task.budget.affords(n):
            return None
        decided = task.queries.decide(self.space.decode(samples)) > 0.5
        if callable(self.settings.surrogate):
            tree = self.settings.surrogate(samples, decided.astype(int), rows)
        else:
            tree = DecisionTreeClassifier(random_state=int(task.rng.integers(2**31)))
            tree.fit(samples[:, self.space.np_index], decided)
        return tree.tree_, KeyIndex(), KeyIndex()

    def _marginals(self, n):
        if self.task.X is None:
            return self.space.sample(n, self.task.rng)
        at = self.task.rng.integers(len(self.values), size=(n, len(self.space)))
        return np.take_along_axis(self.values, at, axis=0)

    @cached_property
    def values(self):
        """The codes of X, each column in order: whatever the order of the rows."""
        low = [MISSING if c.missing else 0 for c in self.space.columns]
        return np.sort(np.maximum(self.space.encode(self.task.X), low), axis=0)

    def _push(self, surrogate, rows, hit):
        """Put what negating conditions leads to into the queue; each path is followed once."""
        if surrogate is None:
            return
        tree, *followed = surrogate
        for leaves, explained in zip(followed, (rows[hit], rows), strict=True):
            leaf = tree.apply(explained[:, self.space.np_index].astype(np.float32))
            explained = explained[leaves.add(leaf.astype(np.uint64))[1]]
            p = paths(tree, explained, self.space.np_index, self.free)
            if leaves is followed[0]:
                kept = p.others
                able, rank = p.can_be_negated(kept), 1 + p.confidence_among(kept)
            else:
                kept = p.above
                able = p.can_be_negated(kept) & p.down_to(self.settings.min_confidence)
                rank = 10 - p.confidence_among(kept)
            _, first = self.solved.add(p.keys(kept)[able])
            self.waiting.push(p.negated(explained)[able][first], rank[able][first])


class _Waiting:
    """Inputs that wait, by rank."""

    def __init__(self, n_columns):
        self.rows, self.rank, self.n = Growing(np.int64, n_columns), Growing(float), 0

    def push(self, rows, rank):
        self.rows.extend(rows)
        self.rank.extend(rank)
        self.n += len(rows)

    def pop(self, n):
        """Return the `n` inputs of the lowest ranks in order, of equal ones those pushed first."""
        rank, n = self.rank.rows, min(n, self.n)
        least = np.partition(rank, n - 1)[n - 1]
        below, equal = np.flatnonzero(rank < least), np.flatnonzero(rank == least)
        best = np.sort(np.concatenate([below, equal[: n - len(below)]]))
        taken = self.rows.rows[best[np.argsort(rank[best], kind="stable")]]
        rank[best] = np.inf
        self.n -= n
        if 2 * self.n < len(rank):  # those that are gone are let go
            stay, rows = rank < np.inf, self.rows.rows
            self.__init__(rows.shape[1])
            self.push(rows[stay], rank[stay])
        return taken
