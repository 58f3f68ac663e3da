"""CounterfactualSituationTesting: situation tests around a person's counterfactual."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from skdisc._space._bins import Bins
from skdisc._task._card import Card
from skdisc._utils._hashing import canonical_order
from skdisc._utils._types import ArrayLike, Columns, Estimator, Labels, Memory, RandomState
from skdisc._utils._validation import is_favorable
from skdisc._verdicts._rule import Rule
from skdisc.causal._counterfactual_rows import counterfactual_rows, is_frame, ready, take_rows
from skdisc.individual._situation_testing._base import SituationDetector


class CounterfactualSituationTesting(SituationDetector):
    r"""Compare members of a group with people similar to their counterfactual in the reference.

    As `SituationTesting`, but the test group of a person c is centered at :math:`x_c^{cf}`, the row
    that c would have as a member of the reference, according to a causal model. Differences in
    other attributes that the protected attribute causes therefore do not justify a difference in
    decisions.

    .. math:: \Delta p = p_c - p_t

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
    counterfactuals : source of counterfactual rows, default=None
        A `StructuralCausalModel` (fitted on X unless it is fitted), a callable ``(X, do) ->
        frame``, a frame aligned with X, a pair of one and its decisions, or with `combine`
        "multiple" a dict of them by protected column. None: no other column depends on the
        protected attribute, and this is situation testing.
    block : sequence of (parent, child) pairs, default=()
        Edges of the causal model along which an intervention has no effect.
    centers : bool, default=False
        Count the person in the control group and their counterfactual in the test group. This
        needs the decision about the counterfactual, from a model or given.
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
        What `fit` found, as in `SituationTesting`. Where the counterfactual decision is known,
        ``people`` has ``flip``, the own decision minus the counterfactual one (-1: rejected, but
        accepted in the counterfactual), ``counts`` the number of such people, and ``rates`` the
        share of unfavorable decisions (of numbers, the mean) of each group in both worlds.
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
        As in `SituationTesting`; also if a protected column has no source of counterfactuals, or
        `centers` is set and the decisions about the counterfactuals are not known.

    Notes
    -----
    Distances have one scale, learned from X. The published tables standardize the two worlds
    separately, which removes the mean effect of the causal model; ``compat="alvarez2023"`` does
    so. With `centers`, for small k the counterfactual decision dominates the test, and centers are
    not a random sample.

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
    ...     protected="gender",
    ...     counterfactuals=loans.counterfactual.data,
    ...     criterion="gap",
    ...     caliper=None,
    ... )
    >>> test.fit(loans.data, loans.target).result_.tables["counts"][["n", "gap", "adjusted"]]
         n  gap  adjusted
    0  470  106        86
    """

    null = "counterfactual"
    card = Card(
        finds="individual",
        where="model or data",
        access="decisions and counterfactual rows",
        statistic="share of unfavorable decisions around a person minus that around their "
        "counterfactual",
        output="cases: people with their control and test groups, intervals and p-values",
        published="16.8 % of the women at k = 15 in the loan scenario (Alvarez and Ruggieri)",
        reference="Alvarez and Ruggieri, JAIR 2025",
    )
    _versus = "people of the reference similar to their counterfactuals"
    rule_fields = ("significance", "correction", "relevant_gap")
    own_correction = "bh"
    _parameter_constraints = {
        **SituationDetector._parameter_constraints,
        "counterfactuals": "no_validation",
        "block": "no_validation",
        "centers": ["boolean"],
    }

    def __init__(
        self,
        estimator: Estimator | None = None,
        *,
        protected: Columns | None = None,
        group: Any = None,
        reference: Any = "best",
        combine: str = "intersectional",
        counterfactuals: Any = None,
        block: Sequence[tuple[Hashable, Hashable]] = (),
        centers: bool = False,
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
        self.counterfactuals = counterfactuals
        self.block = block
        self.centers = centers
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
        fitted = {c: ready(source, learned) for c, source in taken.items()}
        return fitted, {c: given for c, given in taken.items() if fitted[c] is not given}

    def _counterparts(self, sources, comparison, X, is_new):
        source = sources[comparison.columns[0]]
        if is_frame(source) and is_new:
            raise ValueError(
                "The counterfactual rows were given for the rows of fit and not for others. Give a "
                "causal model or a callable to audit new rows."
            )
        if source is None:
            return X, None
        return counterfactual_rows(source, X, comparison.do, block=self.block)

    def _decided(self, others, given, comparison, task):
        """Return the outcomes of the counterfactuals, given or queried, else None."""
        if given is not None:
            return given.astype(float) if self.output == "value" else self._favors(given)
        if task.queries is None or self.model_.model is None:
            if self.centers:
                raise ValueError(
                    "centers=True needs the decisions about the counterfactual rows: audit a "
                    "model, or give counterfactuals=(frame, decisions)."
                )
            return None
        return task.queries.decide(counterfactual_rows(None, others, comparison.do)[0])

    def _favors(self, decisions):
        return is_favorable(decisions, self.pos_label_).astype(float)

    def _more_tables(self, task, outcome, judged):
        rows = []
        for part in judged:
            if part.decided is not None:
                c = part.comparison
                groups = (str(c.group), c.control(task.X)), (c.versus, c.test(task.X))
                values = [self._values(o)[:, 0] for o in (outcome, part.decided)]
                rows += [(n, int(m.sum()), *(_mean_of(v[m]) for v in values)) for n, m in groups]
        table = pd.DataFrame(rows, columns=["group", "n", "factual", "counterfactual"])
        return {"rates": table.drop_duplicates(ignore_index=True)}

    def _notes(self, task):
        notes = super()._notes(task)
        if any(source is None for source in task.memory.sources.values()):
            notes.append("No counterfactuals were given: the test is situation testing.")
        return notes


def _mean_of(values):
    """Return the mean of some numbers, NaN if there are none."""
    return float(values.mean()) if len(values) else float("nan")
