"""CounterfactualSituationTesting: the test group stands where you would stand in another group."""

import pandas as pd

from skdisc._task._card import Card
from skdisc._utils._hashing import canonical_order
from skdisc._utils._validation import is_favourable
from skdisc.causal._counterfactual_rows import counterfactual_rows, is_frame, ready, take_rows
from skdisc.individual._situation_testing._base import SituationDetector


class CounterfactualSituationTesting(SituationDetector):
    r"""Compare every member of a group with people like what they would be in the reference.

    As `SituationTesting`, but the test group of a person c stands around :math:`x_c^{cf}`, the row
    of c had they been of the reference, by a causal model: what the protected attribute did to the
    other attributes is no excuse.

    .. math:: \Delta p = p_c - p_t

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
    counterfactuals : source of counterfactual rows, default=None
        A `StructuralCausalModel` (fitted on X unless it is fitted), a callable ``(X, do) ->
        frame``, a frame aligned with X, a pair of one and its decisions, or with `combine`
        "multiple" a dict of them by protected column. None: nothing follows from the protected
        attribute, and this is situation testing.
    block : sequence of (parent, child) pairs, default=()
        Edges along which the causal model passes nothing on.
    centres : bool, default=False
        Count the person in the control group and their counterfactual in the test group, which
        needs its decision: of a model, or given.
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
        As in `SituationTesting`; where the counterfactual decision is known, ``people`` has
        ``flip``, the own decision minus the counterfactual one (-1: refused, and would be
        accepted), ``counts`` how many such people there are, ``rates`` the share of unfavourable
        decisions (of numbers, the mean) of each group in both worlds.
    model_, audited_, space_, protected_, pos_label_
        As in every detector.

    Notes
    -----
    Distances have one scale, learned from X. The published tables standardise both worlds apart,
    which takes out the mean of what the causal model put in; ``compat="alvarez2023"`` does so.
    With its centres the test is led by the counterfactual decision where k is small, and the
    centres are no draws.

    References
    ----------
    J. M. Alvarez, S. Ruggieri: Counterfactual situation testing: uncovering discrimination under
    fairness given the difference. EAAMO 2023. :doi:`10.1145/3617694.3623222`

    J. M. Alvarez, S. Ruggieri: Counterfactual situation testing: from single to multidimensional
    discrimination. JAIR 82 (2025).

    Examples
    --------
    >>> from skdisc.datasets import make_loan
    >>> loans = make_loan(1000, random_state=0)
    >>> test = CounterfactualSituationTesting(
    ...     protected="gender", counterfactuals=loans.counterfactual.data, criterion="gap"
    ... )
    >>> test.fit(loans.data, loans.target).result_.tables["counts"][["n", "gap", "adjusted"]]
         n  gap  adjusted
    0  470  106        89
    """

    card = Card(
        finds="individual",
        where="model or data",
        access="decisions and counterfactual rows",
        statistic="share of unfavourable decisions around a person minus that around who they "
        "would be",
        output="cases: people with their control and test groups, intervals and p-values",
        published="16.8 % of the women at k = 15 in the loan scenario (Alvarez and Ruggieri)",
        reference="Alvarez and Ruggieri, JAIR 2025",
    )
    _versus = "people of the reference like who they would be there"
    _parameter_constraints = {
        **SituationDetector._parameter_constraints,
        "counterfactuals": "no_validation",
        "block": "no_validation",
        "centres": ["boolean"],
    }

    def __init__(
        self,
        estimator=None,
        *,
        protected=None,
        group=None,
        reference="best",
        combine="intersectional",
        counterfactuals=None,
        block=(),
        centres=False,
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
        self.counterfactuals = counterfactuals
        self.block = block
        self.centres = centres
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

    def _sources(self, task):
        given = self.counterfactuals
        several = given if isinstance(given, dict) else dict.fromkeys(self.protected_, given)
        lacking = [c for c in self.protected_ if c not in several]
        if lacking:
            raise ValueError(
                f"counterfactuals has no source for the protected column {lacking[0]!r}."
            )
        learned = task.X.iloc[canonical_order(task.X)]
        taken = {c: take_rows(source, task.people.stay) for c, source in several.items()}
        return {c: ready(source, learned) for c, source in taken.items()}

    def _counterfactuals(self, known, comparison, X, task=None):
        source = known.sources[comparison.columns[0]]
        if is_frame(source) and (task is None or task.is_audit):
            raise ValueError(
                "The counterfactual rows given are those of fit and say nothing about others. "
                "Give a causal model or a callable to audit new rows."
            )
        if source is None:
            return X, self._decided(X, None, comparison, task)
        others, own = counterfactual_rows(source, X, comparison.do, block=self.block)
        return others, self._decided(others, own, comparison, task)

    def _decided(self, others, own, comparison, task):
        """Return the decisions about the counterfactual rows, given or asked for, else None."""
        if own is not None:
            return own.astype(float) if self.output == "value" else self._favours(own)
        if task is None or task.queries is None or self.model_.model is None:
            if self.centres:
                raise ValueError(
                    "centres=True needs the decisions about the counterfactual rows: audit a "
                    "model, or give counterfactuals=(frame, decisions)."
                )
            return None
        return task.queries.decide(counterfactual_rows(None, others, comparison.do)[0])

    def _favours(self, decisions):
        return is_favourable(decisions, self.pos_label_).astype(float)

    def _with_centres(self, groups, outcome, own, rows):
        if not self.centres:
            return groups
        (sums_c, n_c), (sums_t, n_t) = groups
        mine, theirs = (self._values(o[rows])[:, None, :] for o in (outcome, own))
        return (sums_c + mine, n_c + 1), (sums_t + theirs, n_t + 1)

    def _more_tables(self, task, outcome, parts):
        rows = []
        for pools, _, own in parts:
            if own is not None:
                inside = pools.comparison.control(task.X), pools.comparison.test(task.X)
                names = str(pools.comparison.group), pools.comparison.versus
                pairs = zip(names, inside, strict=True)
                what = [self._values(o)[:, 0] for o in (outcome, own)]
                rows += [(n, int(m.sum()), *(v[m].mean() for v in what)) for n, m in pairs]
        table = pd.DataFrame(rows, columns=["group", "n", "factual", "counterfactual"])
        return {"rates": table.drop_duplicates(ignore_index=True)}

    def _notes(self, task):
        notes = super()._notes(task)
        if any(source is None for source in task.memory.sources.values()):
            notes.append("No counterfactuals were given: this is situation testing.")
        return notes
