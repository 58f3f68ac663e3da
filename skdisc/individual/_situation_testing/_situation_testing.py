"""SituationTesting: whether similar people of another group get better decisions."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import copy
from typing import Any

from skdisc._space._bins import Bins
from skdisc._task._card import Card
from skdisc._utils._types import ArrayLike, Columns, Estimator, Labels, Memory, RandomState
from skdisc._verdicts._rule import Rule
from skdisc.individual._situation_testing._base import SituationDetector


class SituationTesting(SituationDetector):
    r"""Compare the decisions about similar people, inside a person's group and in the reference.

    For a person c, the k nearest others of their own group are the *control* group, and the k
    nearest people of the reference the *test* group. With :math:`p_c` and :math:`p_t`, the shares
    of unfavorable decisions in them,

    .. math:: \Delta p = p_c - p_t,

    and c has a case iff the difference exceeds :math:`\tau` in what the features leave of the
    decisions, and is significant: similar people are not equal. The decision about c is not used.
    People as far away as the k-th share the places that are left, so that the order of rows does
    not matter.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Cloned and fitted when `fit` gets no model; a ``FrozenEstimator`` is used as it is. With
        neither, the labels y are the decisions.
    protected : column name or position, or sequence of them
        The protected columns. Numbers with more than `n_bins` values are cut at quantiles.
    group : value, dict of values by column, or None, default=None
        The group whose members may complain. None: every group outside the reference, each
        compared separately.
    reference : {"best", "largest", "rest"}, value, or dict of values by column, default="best"
        The people that members are compared with: the group with the best outcome, the largest
        group, everyone outside the group, or the people named.
    combine : {"intersectional", "multiple"}, default="intersectional"
        With several protected columns: groups are combinations of values; or each column is
        compared separately, and a person with a case in every column has a case (the weakest
        comparison is shown; its p-value is that of the intersection-union test).
    features : sequence of column names, dict of such, or None, default=None
        The columns that distances are computed from; None: all but the protected ones. With
        ``combine="multiple"`` also a dict: a list for each protected column.
    n_neighbors : int, sequence of int, or None, default=15
        The size k of the control and test groups. Of several, searched at once, the first positive
        one gives the findings, and all are in the tables; 0, beside others and with the `centers`
        of `CounterfactualSituationTesting`, is a person and their counterfactual alone. None:
        everyone within `max_distance`, which with a callable `metric` is any rule of similarity.
    metric : {"manhattan", "gower", "euclidean", "hvdm", "propensity"} or callable
        "manhattan" (the default) counts 0 or 1 for categories; "gower" allows missing values, and
        averages over the features that both people have (people with none in common are never
        neighbors; the other names do not accept missing values); "euclidean"; "hvdm", the
        heterogeneous value difference metric; "propensity", the difference in the log-odds of
        group membership; or a callable from two frames of features to the matrix of distances.
    scale : {"range", "std"} or None, default="range"
        Unit of numbers, learned from X of fit; None: numbers as they are.
    max_distance : float or None, default=None
        People farther away are not neighbors; groups may then be smaller than k.
    caliper : "auto", float or None, default="auto"
        As `max_distance`, and people with fewer than k / 2 neighbors in either group are not
        judged; they are counted in `excluded`. "auto": the 95th percentile of the distances to the
        k-th nearest person of one's own group, in the group where it is smaller. None: no caliper,
        and cases whatever the mean gap is, as published. Not used with `max_distance` or `compat`.
    threshold : float, default=0
        The difference :math:`\tau` that must be exceeded.
    direction : {"lower", "higher", "both"}, default="lower"
        Find people worse off than the test group, positive discrimination, or both. The test is
        one-sided; for both, its p-value is doubled.
    test : {"fisher", "mid-p"}, default="fisher"
        Fisher's exact test, or its mid-p version. Counts that shared ties make fractional are
        rounded towards no difference. With a threshold, the p-value is the level at which the
        interval begins to contain it; numbers are compared by Welch's test.
    criterion : {"adjusted", "interval", "gap"} or None, default=None
        What makes a case: "adjusted" (the default), a difference in what the features leave of
        the outcomes (residuals of expectations learned from them) that exceeds the threshold and
        is significant after correction, for decisions by Fisher's test of the shares, too;
        "interval", a difference of shares whose interval lies beyond the threshold; "gap", that
        difference alone, which the literature counts (the default with `compat`).
    output : {"decision", "probability", "value"}, default="decision"
        What is compared; "value" takes the numbers in y, where higher is better.
    complainants : mask or positions, default=None
        The rows of X, as passed to `fit`, whose claims are judged; neighbors come from all rows,
        and the verdict is about their whole group. Each claim stands by itself, and is answered in
        the table ``claims``. None: all members of the groups are screened.
    store_neighbors : bool, default=False
        Keep the groups of every case in the table ``neighbors``.
    n_bins : int, dict or Bins, default=4
        Bins of protected numbers.
    compat : {"alvarez2023"} or None, default=None
        Compute as for the published tables: see Notes.
    max_rows : int, None or "auto", default="auto"
        Largest number of rows under audit. Of more, a random sample is, stratified by protected
        group, as a note says; an estimator is trained on all rows. Positions of rows in results
        are then positions in the sample, ``sampled_rows_``. None: all rows. "auto": 50,000 where
        most pairs of rows must be compared (metrics "gower" and callables; tables with more than
        20 numbers and values of categories), unless `complainants` or `compat` are given.
    n_refits : int, default=19
        A model that is trained here is compared with at most so many models trained on redrawn
        protected columns; "disparity found" takes at least 1 / significance - 1.
    missing : {"category", "drop", "raise"}, default="category"
        How rows with a missing protected value are treated: as a group of their own, left out, or
        as an error.
    rule : Rule or None, default=None
        When the question is answered. None: ``Rule()``. It uses `significance`, `correction` (here
        "bh") and `relevant_gap`.
    pos_label : label or collection of labels, default=None
        The favorable outcome; by default 1 or True; other labels need one. "high" and
        "low" are the greatest and least of numeric labels.
    memory : str or joblib.Memory, default=None
        Caches the fitting of `estimator`.
    random_state : int, RandomState instance or None, default=None
        Seed of the sample of `max_rows`; the folds in which expectations are learned follow from
        the rows.
    n_jobs : int or None, default=None
        Threads of the searches.
    verbose : bool or int, default=False
        Report progress on standard error.

    Attributes
    ----------
    result_ : AuditResult
        What `fit` found: the people with a case, the largest difference first; `effect` is
        :math:`-\Delta p`, the favorable share of the control minus that of the test group. Tables:
        ``people`` (every complainant, for each k: sizes, p_c, p_t, delta, Newcombe interval,
        p-value; ``residual``, the difference in what the features leave, with interval and p-value;
        adjusted p-value, whether difference and interval exceed the threshold, whether
        there is a case, and the reason why not; means instead of shares where numbers are
        compared), ``counts`` (per k), ``claims`` (with `complainants`: the answer to each claim,
        with ``imbalance``, by how many standard deviations a feature differs between control and
        test group; a claim with more than .25 is not upheld).
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
        If k is larger than the pool of a group that was named, or than every pool. Other groups
        that are too small are listed as excluded. Also if a setting or a column is not allowed.

    Notes
    -----
    `fit` judges the people of X, without counting a person as their own neighbor; `audit` judges
    new people by their neighbors among the people of fit. People with equal features count
    separately.

    With ``compat="alvarez2023"`` people are standardized, in each world separately; ties are broken
    by the last row; the interval is :math:`\pm 1.645` standard errors (Wald; with another
    `significance`, its one-sided quantile), and many people at
    the same place may displace the person from their own k + 1 nearest, so that k + 1 others are
    counted.

    References
    ----------
    B. L. Thanh, S. Ruggieri, F. Turini: k-NN as an implementation of situation testing for
    discrimination discovery and prevention. KDD 2011. :doi:`10.1145/2020408.2020488`

    J. M. Alvarez, S. Ruggieri: Counterfactual situation testing: from single to multidimensional
    discrimination. JAIR 82 (2025).

    Examples
    --------
    >>> from skdisc.datasets import make_loan
    >>> X, y = make_loan(1000, random_state=0, return_X_y=True)
    >>> settings = {"n_neighbors": [15, 30], "criterion": "gap", "caliper": None}
    >>> test = SituationTesting(protected="gender", **settings)
    >>> test.fit(X, y).result_.tables["counts"][["n_neighbors", "n", "gap", "adjusted"]]
       n_neighbors    n  gap  adjusted
    0           15  470   11         0
    1           30  470   19         0
    """

    null = "conditional"
    card = Card(
        finds="individual",
        where="model or data",
        access="decisions",
        statistic="share of unfavorable decisions among similar people, own group minus reference",
        output="cases: people with their control and test groups, intervals and p-values",
        published="3.2 % of the women at k = 15 in the loan scenario (Alvarez and Ruggieri)",
        reference="Thanh et al., KDD 2011",
    )

    rule_fields = ("significance", "correction", "relevant_gap")
    own_correction = "bh"

    def __init__(
        self,
        estimator: Estimator | None = None,
        *,
        protected: Columns | None = None,
        group: Any = None,
        reference: Any = "best",
        combine: str = "intersectional",
        features: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable]] | None = None,
        n_neighbors: int | Sequence[int] | None = 15,
        metric: str | Callable = "manhattan",
        scale: str | None = "range",
        max_distance: float | None = None,
        caliper: float | str | None = "auto",
        threshold: float = 0.0,
        direction: str = "lower",
        test: str = "fisher",
        criterion: str | None = None,
        output: str = "decision",
        complainants: ArrayLike | None = None,
        store_neighbors: bool = False,
        n_bins: int | dict | Bins = 4,
        compat: str | None = None,
        max_rows: int | str | None = "auto",
        n_refits: int = 19,
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
        self.group = group
        self.reference = reference
        self.combine = combine
        self.features = features
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.scale = scale
        self.max_distance = max_distance
        self.caliper = caliper
        self.threshold = threshold
        self.direction = direction
        self.test = test
        self.criterion = criterion
        self.output = output
        self.complainants = complainants
        self.store_neighbors = store_neighbors
        self.n_bins = n_bins
        self.compat = compat
        self.max_rows = max_rows
        self.n_refits = n_refits
        self.missing = missing
        self.rule = rule
        self.pos_label = pos_label
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _on_decisions(self):
        return copy(self)
