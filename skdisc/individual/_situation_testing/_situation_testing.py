"""SituationTesting: whether people alike are decided better when they are of another group."""

from skdisc._task._card import Card
from skdisc.individual._situation_testing._base import SituationDetector


class SituationTesting(SituationDetector):
    r"""Compare every member of a group with people alike, inside the group and in the reference.

    For a person c, the k nearest others of their own group are the *control* group, the k nearest
    people of the reference the *test* group; with the shares of unfavourable decisions in them,

    .. math:: \Delta p = p_c - p_t,

    and c has a case iff :math:`\Delta p > \tau` and it is significant. Whatever was decided about
    c themselves plays no part. Those equally far away as the k-th share the places that are left,
    so that the order of rows changes nothing.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Cloned and fitted when `fit` gets no model; a ``FrozenEstimator`` is used as it is. With
        neither, the labels y are the decisions.
    protected : column name or position, or sequence of them
        The protected columns. Numbers with more than `n_bins` values are cut at quantiles.
    group : value, dict of values by column, or None, default=None
        Whose members may complain; None: everybody outside of the reference, each group being
        compared on its own.
    reference : {"best", "largest", "rest"}, value, or dict of values by column, default="best"
        Whom they are compared with: the group with the best outcome, the largest, everybody else,
        or the people named.
    combine : {"intersectional", "multiple"}, default="intersectional"
        With several protected columns: groups are combinations of values; or each column is
        compared on its own, and a person has a case who has one in every column (the weakest
        comparison is shown, its p-value is that of the intersection-union test).
    features : sequence of column names or None, default=None
        The columns that make people alike; None: all but the protected ones.
    n_neighbors : int, sequence of int, or None, default=15
        The k of the nearest. Of several, searched at once, the first gives the findings, and all
        are in the tables. None: everybody within `max_distance`, which with a callable `metric` is
        any rule about who is alike.
    metric : {"manhattan", "gower", "euclidean", "hvdm", "propensity"} or callable
        Manhattan with 0 or 1 for categories, the default; the same where values are missing: over
        the features that both people have, scaled up to all (with none in common they are never
        neighbours; other names refuse missing values); its square-rooted sibling; the heterogeneous
        value difference metric; the difference of log-odds of belonging to the group; or a callable
        from two frames of features to the matrix of distances.
    scale : {"range", "std"}, default="range"
        Unit of numbers, learned from X as it is.
    max_distance : float or None, default=None
        Who is farther away is nobody's neighbour; groups may then be smaller than k.
    threshold : float, default=0
        The difference that must be exceeded.
    direction : {"lower", "higher", "both"}, default="lower"
        Look for people worse off than the test group, for positive discrimination, or for both.
        The test is one-sided, or twice that for both.
    test : {"fisher", "mid-p"}, default="fisher"
        Shared ties make fractions, which are rounded towards no difference. With a threshold, the
        level at which the interval begins to reach it; for numbers, Welch's test.
    correction : {"bh", "by", "holm", "bonferroni", "none"}, default="bh"
        Over everybody judged.
    criterion : {"adjusted", "interval", "gap"} or None, default=None
        Who has a case: whose difference exceeds the threshold, and is significant after
        correction ("adjusted", the default), or whose interval lies beyond it; or "gap", the
        difference alone, which is what the literature counts (and the default of `compat`).
    output : {"decision", "probability", "value"}, default="decision"
        What is compared; "value" takes the numbers in y, higher being better.
    complainants : mask or positions, default=None
        The only people of fit who are judged, among all rows of X as given; the pools stay whole.
    store_neighbours : bool, default=False
        Keep the groups of every case in the table ``neighbours``.
    n_bins : int, default=4
        Bins of protected numbers.
    compat : {"alvarez2023"} or None, default=None
        Compute as the published tables were: see Notes.
    missing : {"category", "drop", "raise"}, default="category"
        What becomes of rows with a missing protected value.
    significance : float, default=0.05
        Level of verdict, intervals and corrected p-values.
    pos_label : label or collection of labels, default=None
        The favourable outcome; by default the last class.
    memory : str or joblib.Memory, default=None
        Caches the fitting of `estimator`.
    random_state : int, RandomState instance or None, default=None
        Not used: nothing is drawn.
    n_jobs : int or None, default=None
        Threads of the searches.
    verbose : bool or int, default=False
        Report progress on standard error.

    Attributes
    ----------
    result_ : AuditResult
        Findings are the people with a case, the largest difference first; `effect` is
        :math:`-\Delta p`, the favourable share of the control minus that of the test group. Tables:
        ``people`` (everybody judged, for each k: sizes, p_c, p_t, delta, Newcombe interval,
        p-value, adjusted p-value, whether difference and interval exceed the threshold, whether
        there is a case; means instead of shares where numbers are compared), ``counts`` (per k).
    model_, audited_, space_, protected_, pos_label_
        As in every detector.

    Raises
    ------
    ValueError
        If k is larger than a pool: of a group that was named, or of all. Other groups that are too
        small are listed as excluded.

    Notes
    -----
    `fit` judges the people of X, nobody being their own neighbour; `audit` judges new people
    against the pools of fit. People count one by one, even where they are alike.

    With ``compat="alvarez2023"`` people are standardised, world by world; ties go to the last row;
    the interval is :math:`\pm 1.645` standard errors (Wald), and people at the same place may crowd
    the person out of their own k + 1 nearest, so that k + 1 others are counted.

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
    >>> test = SituationTesting(protected="gender", n_neighbors=[15, 30], criterion="gap")
    >>> test.fit(X, y).result_.tables["counts"][["n_neighbors", "n", "gap", "adjusted"]]
       n_neighbors    n  gap  adjusted
    0           15  470   11         0
    1           30  470   19         0
    """

    card = Card(
        finds="individual",
        where="model or data",
        access="decisions",
        statistic="share of unfavourable decisions among people alike, own group minus reference",
        output="cases: people with their control and test groups, intervals and p-values",
        published="3.2 % of the women at k = 15 in the loan scenario (Alvarez and Ruggieri)",
        reference="Thanh et al., KDD 2011",
    )

    def __init__(
        self,
        estimator=None,
        *,
        protected=None,
        group=None,
        reference="best",
        combine="intersectional",
        features=None,
        n_neighbors=15,
        metric="manhattan",
        scale="range",
        max_distance=None,
        threshold=0.0,
        direction="lower",
        test="fisher",
        correction="bh",
        criterion=None,
        output="decision",
        complainants=None,
        store_neighbours=False,
        n_bins=4,
        compat=None,
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
        self.group = group
        self.reference = reference
        self.combine = combine
        self.features = features
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.scale = scale
        self.max_distance = max_distance
        self.threshold = threshold
        self.direction = direction
        self.test = test
        self.correction = correction
        self.criterion = criterion
        self.output = output
        self.complainants = complainants
        self.store_neighbours = store_neighbours
        self.n_bins = n_bins
        self.compat = compat
        self.missing = missing
        self.significance = significance
        self.pos_label = pos_label
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
