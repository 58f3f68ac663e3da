"""BiasScan: the subset of people whose outcomes differ most from their expectations."""

from itertools import compress
from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from skdisc._blackbox._blackbox import AuditedModel, resolve
from skdisc._results._findings import GroupFindings
from skdisc._space._bins import Bins
from skdisc._space._items import count_values, value_name
from skdisc._task._card import OF_CONTEXTS, Card
from skdisc._task._clustered import ClusteredMixin
from skdisc._task._large_tables import rows_of_wide
from skdisc._task._shared_settings import CONFIRM
from skdisc._utils._settings import AT_LEAST_ONE, COUNT, setting
from skdisc._utils._types import Columns, Estimator, Labels
from skdisc.subgroup._base import SubgroupDetector
from skdisc.subgroup._bias_scan import _contexts as contexts
from skdisc.subgroup._bias_scan import _observed_expected as observed
from skdisc.subgroup._bias_scan._outcome import SCORINGS, has_numbers, one_test_threshold
from skdisc.subgroup._bias_scan._scans import scan_all
from skdisc.subgroup._estimation._confirmation import with_effects_at_fit
from skdisc.subgroup._estimation._discovery import FoundCounts, subgroup_discovery
from skdisc.subgroup._estimation._outcomes import Summed

_TEST = "best score, against scans of data in which the expectations hold"


class BiasScan(ClusteredMixin, SubgroupDetector):
    r"""Find the subset of people whose outcomes differ most from their expectations.

    Multi-dimensional subset scanning maximizes, over subsets :math:`S` that are given by a set of
    values for each attribute (all values if there is no condition),

    .. math:: F(S) = \max_q \sum_{i \in S} \log \frac{L_q(y_i)}{L_1(y_i)}
        - \text{penalty} \times (\text{number of values in the conditions}),

    where :math:`q` multiplies the odds of each person's expected probability (Bernoulli), the rate
    (Poisson), or the mean (Gaussian); outcomes are higher than expected for :math:`q > 1`, and
    lower for :math:`q < 1`. Each step finds the exact best set of values of one attribute given
    the others; ascents from several starts repeat it until no step increases the score.

    With a model and labels, the expectation is the model's probability (for which subset is the
    model too optimistic or too pessimistic?); otherwise it is the mean outcome (which subset has
    outcomes that differ from the overall mean?). In numeric modes a classifier expects the
    mean of its classes.

    {parameters}

    Attributes
    ----------
    result_ : AuditResult
        What `fit` found: `Subgroup` objects, whose predicates may have several values. The effect
        is the observed minus the expected mean outcome of the members. The p-value compares the
        score with the best scores of scans of data in which the expectations hold; on other rows
        it comes from a test of the subset alone. ``tables["scans"]`` has the best score of each
        direction and the share of starts that reached it, ``tables["groups"]`` each single
        protected value.
    expected_ : {"model", "mean"}
        What outcomes are compared with: a model's probabilities, or their own mean.
    {inherited}

    Raises
    ------
    ValueError
        If `scoring` is not defined for `mode`, if the outcomes are not allowed by `scoring`, or if
        ``expected="model"`` and there are no labels or no probabilities.

    Notes
    -----
    The Berk-Jones score is the Bernoulli score with the same expected share for each row. Data in
    which the expectations hold are drawn from them (parametric bootstrap); if the expectation is
    the mean, outcomes are permuted instead, so that the p-value is exact. Probabilities are kept
    at least 1e-6 away from 0 and 1. A row with a probability weight of 2 counts twice in scores,
    and once in p-values and intervals. Intervals do not account for the search; use those of
    `confirm` or new rows. Clusters, which the published scan does not take, are redrawn as such.

    References
    ----------
    Z. Zhang, D. B. Neill: Identifying significant predictive bias in classifiers. 2016.
    https://doi.org/10.48550/arXiv.1611.08292

    S. Speakman, S. Somanchi, E. McFowland III, D. B. Neill: Penalized fast subset scanning.
    Journal of Computational and Graphical Statistics 25, 2016.
    https://doi.org/10.1080/10618600.2015.1029578

    Examples
    --------
    >>> from skdisc.datasets import make_loan
    >>> X, y = make_loan(n_samples=1000, random_state=0, return_X_y=True)
    >>> scan = BiasScan(protected="gender", n_resamples=0, random_state=0, pos_label=1)
    >>> print(scan.fit(X, y).result_[0].subject)
    account_balance <= 27010 and annual_salary <= 90000 and gender = 'male'
    """

    estimator: Estimator | None = setting(
        None,
        text="""Cloned and fitted when `fit` gets no model; a ``FrozenEstimator`` is used as it
        is. With neither, the labels y are compared with their mean.""",
    )
    protected: Columns | None = setting(
        None,
        text="The protected columns; None: each column counts as protected.",
    )
    mode: str = setting(
        "binary",
        [StrOptions(set(SCORINGS))],
        """The type of outcomes: favorable or not; one of several classes, each scanned in turn;
        a count or grade; a number.""",
    )
    scoring: str = setting(
        "auto",
        [StrOptions({"auto", *(s for each in SCORINGS.values() for s in each)})],
        """"bernoulli" (binary, nominal), "poisson" (binary, ordinal), "gaussian" (continuous:
        the mean is multiplied), "mean_shift" (continuous, ordinal), or "berk_jones" (shares
        above `alpha`); "auto": the first of bernoulli, poisson and mean_shift that the mode
        allows.""",
        kind="str",
    )
    alpha: float | None = setting(
        None,
        [Interval(Real, 0, 1, closed="neither"), None],
        """The expected share in the Berk-Jones score. None: the share of all people; in numeric
        modes the share above the median.""",
    )
    expected: str = setting(
        "auto",
        [StrOptions({"auto", "model", "mean"})],
        """What outcomes are compared with. "auto": the model if it returns probabilities (in
        numeric modes: numbers) and y is passed, otherwise the mean.""",
    )
    direction: str = setting(
        "both",
        [StrOptions({"both", "lower", "higher"})],
        """Whether to find outcomes lower or higher than expected (in numeric modes with
        ``pos_label="low"``: less or more favorable), or either.""",
    )
    penalty: float = setting(
        1.0,
        [Interval(Real, 0, None, closed="left")],
        """Penalty of each value in a condition, in units of log-likelihood; a range of a
        numeric column counts as one value.""",
    )
    n_restarts: int = setting(
        10,
        [AT_LEAST_ONE],
        """Number of ascents in a batch in each direction: the first batch is from all rows and
        from random subsets, others are from pairs of values, as long as they gain something.""",
    )
    n_resamples: int = setting(
        99,
        [COUNT],
        """Number of scans of data in which the expectations hold, for the p-value; 0: there is
        no p-value, and nothing counts as found unless `confirm` is set.""",
    )
    min_support: float = setting(0.01, [Interval(Real, 0, 1, closed="both")])
    max_predicates: int | None = setting(None)
    n_bins: int | dict | Bins = setting(
        4,
        text="""Number of quantile bins of a numeric column that has more distinct values, or
        other cuts; conditions on it are ranges of these bins.""",
    )
    k: int = setting(
        10,
        [AT_LEAST_ONE],
        "Largest number of subsets kept, among the ends of the ascents.",
    )
    confirm: float | None = CONFIRM
    versus: str = setting(
        "context",
        [StrOptions({"context", "everyone"})],
        """What the verdict is about. "context": subsets have a condition on a protected column,
        outcomes are compared with what is expected given all other columns, and the p-value is
        that of scans with protected columns redrawn given the others. "everyone": the published
        scan, whose verdict is "differs from everyone".""",
    )
    weights: str = setting(
        "probability",
        [StrOptions({"probability", "frequency"})],
        """What `sample_weight` means: how many people a row stands for, on which variances
        depend, but not on the unit; or how often it is repeated, a whole number.""",
    )
    pos_label: Labels | None = setting(
        None,
        text="""The favorable outcome; by default 1 or True. In numeric modes "high" (default)
        or "low", or the highest or lowest value.""",
    )

    _expects = True
    _no_larger_items = "its subsets already have any set of values, or any range."
    _most = 250_000
    limit_fields = SubgroupDetector.limit_fields | {
        "tests": "subsets scored",
        "rows": f"{rows_of_wide(_most)}; against everyone, all are used",
    }
    _draws_evenly = True  # a scan has other weights: those that `sample_weight` means
    card = Card(
        finds="subgroup",
        where="model or data",
        access="labels or probabilities",
        statistic="penalized log-likelihood ratio of observed against expected outcomes",
        output="subsets, of several values per attribute, with a p-value of the whole scan",
        published="COMPAS: scores 36.3 for more than 5 priors (1,221) and 45.1 for none (2,085)",
        reference="Zhang and Neill, 2016",
        summary="the subgroups whose outcomes deviate most from their expectation",
        needs="labels or decisions",
        claims="The outcomes of the subset deviate from what is expected without the protected "
        "columns, by more than a search finds by chance.",
        does_not_say="Which of several protected conditions of the subset matters.",
        **OF_CONTEXTS,
    )
    rule_fields = ("significance", "correction", "relevant_gap", "relevant_ratio", "relevant_size")
    _compares_numbers = False  # its numbers may have a model, too: see `_resolve_model`

    @property
    def output(self) -> str:
        """What the model is queried for; defined once `expected_` is."""
        if self._is_numeric:
            return "mean" if self._predicts_numbers else "value"
        return "probability" if self.expected_ == "model" else "decision"

    @property
    def _is_numeric(self):
        return self.mode in ("ordinal", "continuous")

    @property
    def _counts_rows(self):
        return not self._is_numeric and self.scoring != "poisson"

    def _width(self, names):
        # Only in contexts are expectations learned, and columns redrawn, from the others.
        return super()._width(names) if self.versus == "context" else 0

    def _resolve_model(self, people, model):
        observed.check_scoring(self.mode, self.scoring)
        y = people.y
        if self._is_numeric:  # y contains numbers, not decisions
            X = people.X if self.space_.is_frame else people.X.to_numpy()
            box, kind = resolve(
                model,
                estimator=self.estimator,
                X=X,
                y=y,
                surrogate_X=None,
                weight=people.weight,
                groups=people.groups,
            )
            favorable, is_assumed = observed.favorable_end(self.pos_label, y)
            audited = AuditedModel(box, kind, None, favorable, is_assumed)
        else:
            audited = super()._resolve_model(people, model)
        box = audited.box
        self._predicts_numbers = self._is_numeric and box is not None and has_numbers(box)
        able = box is not None and y is not None and box.model is not None
        able = able and (self._is_numeric or box.has_probabilities)
        by_model = self.expected == "model" or (self.expected == "auto" and able)
        self.expected_ = "model" if by_model else "mean"
        observed.check_expected(self.expected, box, y)
        return audited

    def _rows(self, task):
        return observed.observe(self, task)

    def _search(self, task, outcome):
        """Scan, find the p-value of the scan, and keep the first k subsets."""
        items = self._items_of(outcome)
        if self.null == "contextual":
            return contexts.discover_in_contexts(self, task, outcome, items)
        scanned = scan_all(self, task, outcome, items)
        ends, masks = scanned.distinct(outcome, self.k)
        groups = [e.group for e in ends]
        table = self._table(outcome, groups, masks, [(e.target, e.sign) for e in ends])
        # The score is the largest over all subsets, so a test of the subset alone would not be
        # valid. (AIF360's scan has no p-value.)
        table["p_value"] = table["p_adjusted"] = [scanned.p_value(e) for e in ends]
        table["test"] = np.full(len(ends), _TEST, dtype=object)  # not that of a subset alone
        by_chance = scanned.by_chance(self.significance)
        discovery = self._of_scans(
            task, outcome, items, groups=groups, table=table, scanned=scanned, by_chance=by_chance
        )
        if not len(scanned.null):
            discovery.notes.append(contexts.NO_SCANS)
        return discovery

    def _table(self, outcome, groups, masks, ends):
        """Return the statistics of groups, each with its target and sign."""
        targets = [target for target, _ in ends]
        table = outcome.compared(masks, targets, self.significance)
        table["direction"] = np.array([outcome.direction(s) for _, s in ends], dtype=object)
        table["score"] = [
            outcome.score_of(mask, target, sign)
            for mask, (target, sign) in zip(masks, ends, strict=True)
        ]
        table["score"] -= self.penalty * contexts.n_values(groups)
        return table

    def _measure_again(self, findings, outcome):
        if self.null == "contextual":
            table = super()._measure_again(findings, contexts.contrast_rows(outcome))
            # Statistics of the search alone are unknown on other rows.
            unknown = dict.fromkeys(("score", "observed", "expected", "naive_p_value"), np.nan)
            return table.assign(direction=findings.table["direction"].to_numpy(), **unknown)
        fit_table, groups = findings.table, findings.subgroups
        targets = [outcome.names.index(m) for m in fit_table["measure"]]
        signs = [outcome.sense * (1 if d == "higher" else -1) for d in fit_table["direction"]]
        masks = [g.mask(outcome.X) for g in groups]
        table = self._table(outcome, groups, masks, list(zip(targets, signs, strict=True)))
        return with_effects_at_fit(table, findings, self.correction)

    def _items_again(self, task, outcome):
        return self._items_of(outcome)

    @property
    def _most_judged(self):
        """The subsets of a scan cannot be listed: groups of up to three conditions are judged."""
        return min(self.max_predicates or 3, 3)

    def _candidates(self, task, discovery, outcome, items):
        if self.null != "contextual":
            return None  # a scan against given expectations bounds no gap
        rows = contexts.contrast_rows(outcome)
        return super()._candidates(task, discovery, rows, items.on(rows.X))

    def _reasons(self, discovery):
        if self.null == "contextual":
            return super()._reasons(discovery)
        return ["a scan for groups that differ from what is expected bounds no gap"]

    def _counts(self, items, groups, is_found, n_tested=None):
        """Return the counts; each subset tested counts for each protected value."""
        found_groups = set(compress(groups, is_found))
        n_tested = len(set(groups)) if n_tested is None else n_tested
        searched = sorted(set(map(value_name, items.protected_predicates)))
        by_value = dict.fromkeys(searched, (n_tested, 0))
        hits = count_values(found_groups, found_groups, self.protected_)
        by_value |= {v: (n_tested, n) for v, (_, n) in hits.items()}
        return FoundCounts(n_tested, len(found_groups), by_value)

    def _of_scans(self, task, rows, items, *, groups, table, scanned, by_chance=None):
        """Return the Discovery of the groups that scans found."""
        findings = GroupFindings.of(groups, table, task.space)
        is_found = (table["p_adjusted"] <= self.significance).to_numpy()
        counts = self._counts(items, groups, is_found, task.budget.tests)
        discovery = self._report(rows, items, findings, counts, by_chance)
        discovery.tables["scans"] = scanned.scans
        return discovery

    def _report(self, outcome, items, findings, counts, by_chance=None):
        """Return the Discovery; by_chance=None: each finding was measured again by one test."""
        if self.null == "contextual":
            outcome = outcome if isinstance(outcome, Summed) else contexts.contrast_rows(outcome)
            return super()._report(outcome, items.on(outcome.X), findings, counts)
        # On other rows the subsets are given, so Bonferroni over them takes the place of scans.
        if by_chance is None:
            threshold = one_test_threshold(self.significance / max(counts.n_tested, 1))
        else:
            threshold = (by_chance + self.penalty) / outcome.inflation
        groups = outcome.single_groups(items, self.significance, self.correction, threshold)
        return subgroup_discovery(self, outcome, findings, counts, groups)
