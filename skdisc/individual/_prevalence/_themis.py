"""Themis: the share of inputs whose decision changes with protected attributes."""

from itertools import combinations
from numbers import Integral, Real

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import Interval

from skdisc import _stats
from skdisc._results._audit_result import Discovery
from skdisc._space._feature_space import FeatureSpace
from skdisc._task._card import Card
from skdisc._utils._types import Columns, Estimator, Labels, Memory, RandomState
from skdisc.individual._base import REQUIRED_SHARE, IndividualDetector
from skdisc.individual._prevalence._themis_sample import Sample
from skdisc.individual._prober import Prober

_SCORES = ("causal", "causal_low", "causal_high", "group", "group_low", "group_high")
_ENDS = ("favoured", "disfavoured")


class Themis(IndividualDetector):
    r"""Measure causal and group discrimination of a model on uniformly drawn inputs.

    For a set :math:`A` of protected attributes, and inputs drawn uniformly from the space,

    - the *causal score* is the share of inputs whose outcome changes under another assignment of
      :math:`A`, the other attributes kept: :math:`P(\max_a f(x_a) - \min_a f(x_a) > g)`;
    - the *group score* is :math:`\max_a E f(x_a) - \min_a E f(x_a)`.

    One draw serves every set: each input is asked about under all combinations of all protected
    attributes, once. Drawing goes on, in blocks that double, until every causal score is known to
    within `margin`; a block is doubled until that is possible at all. The intervals after block
    :math:`j` are at level :math:`\alpha / (j (j + 1))`, so that looking repeatedly costs nothing of
    their coverage.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Cloned and fitted when `fit` gets no model; a ``FrozenEstimator`` is used as it is. With
        neither, a small tree trained on y stands in (a surrogate).
    protected : column name or position, or sequence of them
        The columns whose values are varied.
    max_order : int or None, default=None
        Largest number of attributes in a set; None: all of them.
    threshold : float, default=0.2
        Causal score above which a set counts as discriminatory; the smallest such sets are marked.
    margin : float, default=0.02
        Half-width of the intervals of causal scores at which drawing ends.
    block_size : int, default=1000
        Inputs in the first block, at least.
    output : {"decision", "probability"}, default="decision"
        What is compared: decisions, or probabilities of a favourable one.
    min_gap : float, default=0
        The gap :math:`g` that must be exceeded; use one > 0 with probabilities.
    space : FeatureSpace or None, default=None
        The possible inputs; learned from X by default.
    max_tests, max_queries, max_found : int or None, default=None
        Most distinct inputs tested; most rows asked of the model; most cases found (looked at
        between blocks).
    time_budget : float or None, default=None
        Seconds, looked at between blocks.
    missing : {"category", "drop", "raise"}, default="category"
        What becomes of rows with a missing protected value.
    significance : float, default=0.05
        Level of the intervals.
    pos_label : label or collection of labels, default=None
        The favourable outcome; by default the last class.
    memory : str or joblib.Memory, default=None
        Caches the fitting of `estimator`.
    random_state : int, RandomState instance or None, default=None
        Seeds the draws.
    n_jobs : int or None, default=None
        Threads among which large questions to the model are shared.
    verbose : bool or int, default=False
        Report progress on standard error.

    Attributes
    ----------
    result_ : AuditResult
        ``result_.tables["scores"]`` has one row per set of attributes: both scores with their
        intervals, the groups at the ends of the group score, and whether the set is a smallest
        one above `threshold`. Findings are the cases among the inputs drawn.
    model_ : BlackBox
    audited_ : {"model", "refit", "surrogate"}
    space_ : FeatureSpace
    protected_, pos_label_ : list

    Notes
    -----
    The original stops when the normal approximation's half-width falls below the margin, and so
    stops at once when the first inputs happen to show no change. It samples every set anew and
    skips supersets of a set above the threshold; here they cost nothing and are reported too.
    The interval of the group score is a finite-sample one for all groups at once, wider than a
    normal or a bootstrap interval, which would leave out 0 where groups do not differ at all.

    References
    ----------
    S. Galhotra, Y. Brun, A. Meliou: Fairness testing: testing software for discrimination.
    ESEC/FSE 2017. https://doi.org/10.1145/3106237.3106277

    Examples
    --------
    >>> from skdisc import FeatureSpace
    >>> space = FeatureSpace.from_domains({"income": (0, 99), "sex": ["F", "M"]}, protected="sex")
    >>> loan = lambda X: X["income"] + 10 * (X["sex"] == "M") > 50
    >>> result = Themis(random_state=0).fit(space, model=loan).result_
    >>> row = result.tables["scores"].iloc[0]
    >>> bool(row.causal_low < 0.10 < row.causal_high)
    True
    """

    card = Card(
        finds="individual",
        where="model",
        access="predict",
        statistic="causal score and group score on uniform inputs",
        output="scores of sets of attributes, and the cases met on the way",
        published="6.4 % of its tests find a case, as measured by Aggarwal et al. (2019)",
        reference="Galhotra et al., ESEC/FSE 2017",
    )
    _parameter_constraints = {
        **IndividualDetector._parameter_constraints,
        "max_order": [Interval(Integral, 1, None, closed="left"), None],
        "threshold": [Interval(Real, 0, 1, closed="both")],
        "margin": [Interval(Real, 0, 1, closed="neither")],
        "block_size": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        estimator: Estimator | None = None,
        *,
        protected: Columns | None = None,
        max_order: int | None = None,
        threshold: float = 0.2,
        margin: float = 0.02,
        block_size: int = 1000,
        output: str = "decision",
        min_gap: float = 0.0,
        space: FeatureSpace | None = None,
        max_tests: int | None = None,
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
        self.max_order = max_order
        self.threshold = threshold
        self.margin = margin
        self.block_size = block_size
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

    def _discover(self, task):
        prober = Prober(task, self.min_gap)
        sets = self._sets()
        sample = Sample(prober, task, sets)
        while True:
            level = self.significance / ((sample.n_blocks + 1) * (sample.n_blocks + 2))
            sample.draw(self._block(sample, level))
            half_width = self._half_width(sample, level)
            task.progress(
                f"{sample.n:,} inputs, widest interval +-{half_width:.3f}, "
                f"{task.budget.elapsed:.0f} s"
            )
            if half_width < self.margin or task.budget.stopped_by is not None:
                break
        scores = self._scores(sets, sample, level)
        everything = scores[["causal", "causal_low", "causal_high", "n"]].iloc[-1:]
        everything.columns = ["estimate", "ci_low", "ci_high", "n"]
        everything.insert(0, "name", "share of uniformly drawn inputs with a case")
        return Discovery(
            findings=prober.cases(*sample.ledger.found()),
            measure=self._measure(),
            n_tested=task.budget.tests,
            n_found=task.budget.found,
            smallest_gap=self._smallest_share(task.space, task.budget.tests, sample.n),
            required_gap=REQUIRED_SHARE,
            by_value=sample.ledger.by_value(),
            estimates=everything if self._order() == len(self.protected_) else everything[:0],
            tables={"scores": scores},
            notes=self._probe_notes(task) + self._blindness(task, prober.largest_gap),
        )

    def _order(self):
        return min(self.max_order or len(self.protected_), len(self.protected_))

    def _sets(self):
        """Return all sets of protected attributes up to the largest order, small ones first."""
        positions = range(len(self.protected_))
        return [s for size in range(1, self._order() + 1) for s in combinations(positions, size)]

    def _block(self, sample, level):
        """Return the size of the next block, after which the margin can at all be reached."""
        size = self.block_size * 2**sample.n_blocks
        while _stats.clopper_pearson(0, sample.n + size, level)[1] / 2 >= self.margin:
            size *= 2
        return size

    def _half_width(self, sample, level):
        """Return the half-width of the widest interval of a causal score."""
        if not sample.n:
            return np.nan
        intervals = np.array([tally.causal_score(level)[1:] for tally in sample.tallies])
        return float(np.ptp(intervals, axis=1).max()) / 2

    def _scores(self, sets, sample, level):
        """Return the table of scores, one row per set."""
        rows, above = [], []
        for attributes, tally in zip(sets, sample.tallies, strict=True):
            row = self._score(attributes, tally, sample, level)
            row["smallest_above_threshold"] = row["causal"] > self.threshold and not any(
                set(s) <= set(attributes) for s in above
            )
            if row["smallest_above_threshold"]:
                above.append(attributes)
            rows.append(row)
        return pd.DataFrame(rows)

    def _score(self, attributes, tally, sample, level):
        """Return both scores of one set, with their intervals."""
        names = ", ".join(str(self.protected_[a]) for a in attributes)
        row = {"attributes": names, **dict.fromkeys(_SCORES, np.nan), **dict.fromkeys(_ENDS)}
        row["n"] = sample.n
        if sample.n:
            scores = *tally.causal_score(level), *tally.group_score(level)
            row.update(zip(_SCORES, scores, strict=True))
            groups = sample.groups(attributes)
            ends = groups[int(tally.total.argmax())], groups[int(tally.total.argmin())]
            row.update(zip(_ENDS, ends, strict=True))
        return row
