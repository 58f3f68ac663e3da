"""DivExplorer: the divergence of a rate in every frequent subgroup."""

import math
from dataclasses import replace
from numbers import Integral, Real

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from skdisc import _stats
from skdisc._card import Card
from skdisc._findings import GroupFindings
from skdisc._items import count_items, count_values, make_items
from skdisc._result import Discovery
from skdisc.subgroup._base import SubgroupDetector
from skdisc.subgroup._held_out import confirmed, measure_again, put_beside
from skdisc.subgroup._lattice import Lattice
from skdisc.subgroup._ranking import first_k, in_direction, redundant
from skdisc.subgroup._rates import N_CELLS, WITHOUT_LABELS, Decided, Tally, check_metrics
from skdisc.subgroup._single import excluded_groups, largest, single_groups


class DivExplorer(SubgroupDetector):
    r"""Find the subgroups whose rate diverges most from everyone's.

    For a rate :math:`f` (selection rate, false positive rate, …) and a conjunction :math:`I` of
    items that covers at least the share `min_support` of the rows, the divergence is
    :math:`D(I) = f(I) - f(\text{all})`. Every such conjunction is counted; each is tested against
    the rest of the people, and the p-values are corrected for all that were tested.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Cloned and fitted when `fit` gets no model; a ``FrozenEstimator`` is used as it is. With
        neither, the labels y are the decisions.
    protected : column name or position, or sequence of them, default=None
        Protected columns; None: every column counts as one.
    metric : str or sequence of str, default="selection_rate"
        The rates: selection_rate, base_rate, true_positive_rate, false_positive_rate,
        true_negative_rate, false_negative_rate, positive_predictive_value,
        negative_predictive_value, false_discovery_rate, false_omission_rate, accuracy,
        error_rate; or "all". All but the first compare decisions with labels.
    min_support : float, default=0.05
        Smallest share of the rows that a group must cover.
    max_predicates : int or None, default=3
        Most columns in the definition of a group; None: no limit.
    must_include : {"protected"} or None, default="protected"
        Whether a group must involve a protected column.
    features : sequence of column names, default=None
        Columns that may define groups; None: all.
    n_bins : int, default=4
        Quantile bins of a numeric column.
    direction : {"both", "lower", "higher"}, default="both"
        Whether groups count whose rate is lower than everyone's, higher, or either.
    redundancy : float or None, default=None
        Leave out of the findings a group if dropping one of its conditions changes the
        divergence by no more than this; unless that would hide all that is significant.
    k : int, default=10
        Number of findings kept.
    correction : {"bh", "by", "holm", "bonferroni", "none"}, default="bh"
        Correction of the p-values, over all groups and rates tested.
    confirm : float or None, default=None
        Share of the rows held out: groups are found on the others and tested on these.
    relevant_gap : float, default=0.1
        If nothing is found, and the data could not have shown a gap of this size in some
        protected group, the verdict is "insufficient evidence".
    max_tests, max_queries : int or None, default=None
        Most candidate groups counted; most rows asked (with fewer than X has, none is audited).
    time_budget : float or None, default=None
        Seconds, looked at between blocks of candidates.
    missing : {"category", "drop", "raise"}, default="category"
        What becomes of rows with a missing protected value. In other columns a missing value is
        always an item of its own.
    significance : float, default=0.05
        Level of verdict, intervals and corrected p-values.
    pos_label : label or collection of labels, default=None
        The favourable outcome, the positive class of every rate; by default the last class.
    memory : str or joblib.Memory, default=None
        Caches the fitting of `estimator`.
    random_state : int, RandomState instance or None, default=None
        Splits the rows when `confirm` is set.
    n_jobs : int or None, default=None
        Threads among which large questions to the model are shared.
    verbose : bool or int, default=False
        Report progress on standard error.

    Attributes
    ----------
    result_ : AuditResult
        Findings are `Subgroup` objects; effects are differences of rates. ``tables["groups"]``
        compares every single protected value with the rest.
    model_, space_ : BlackBox or None, FeatureSpace
    audited_ : {"model", "refit", "decisions", "labels"}
    protected_, pos_label_ : list

    Notes
    -----
    The paper's t compares a group with everyone, itself included, and is not corrected for the
    number of groups: on pure noise it calls dozens of groups significant. It is reported as
    ``t``; findings are ranked by whether their corrected p-value of the test against the rest is
    significant, then by the size of the divergence.

    References
    ----------
    E. Pastor, L. de Alfaro, E. Baralis: Looking for trouble: analyzing classifier behavior via
    pattern divergence. SIGMOD 2021. https://doi.org/10.1145/3448016.3457284

    Examples
    --------
    >>> from skdisc.datasets import make_loan
    >>> X, y = make_loan(random_state=0, return_X_y=True)
    >>> detector = DivExplorer(protected="gender", max_predicates=1).fit(X, y)
    >>> print(detector.result_[0].subject)
    gender = 'female'
    """

    card = Card(
        finds="subgroup",
        where="model or data",
        access="labels or predict",
        statistic="divergence of a rate from everyone's, tested against the rest",
        output="subgroups with effect, interval and corrected p-value",
        published="all 155 itemsets of support 0.1 on COMPAS; 4,535 of support 0.05 on Adult",
        reference="Pastor et al., SIGMOD 2021",
    )
    _parameter_constraints = {
        **SubgroupDetector._parameter_constraints,
        "metric": [str, "array-like"],
        "min_support": [Interval(Real, 0, 1, closed="right")],
        "n_bins": [Interval(Integral, 2, None, closed="left")],
        "direction": [StrOptions({"both", "lower", "higher"})],
        "redundancy": [Interval(Real, 0, None, closed="left"), None],
        "confirm": [Interval(Real, 0, 1, closed="neither"), None],
        "relevant_gap": [Interval(Real, 0, 1, closed="right")],
    }

    def __init__(
        self,
        estimator=None,
        *,
        protected=None,
        metric="selection_rate",
        min_support=0.05,
        max_predicates=3,
        must_include="protected",
        features=None,
        n_bins=4,
        direction="both",
        redundancy=None,
        k=10,
        correction="bh",
        confirm=None,
        relevant_gap=0.1,
        max_tests=None,
        max_queries=None,
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
        self.metric = metric
        self.min_support = min_support
        self.max_predicates = max_predicates
        self.must_include = must_include
        self.features = features
        self.n_bins = n_bins
        self.direction = direction
        self.redundancy = redundancy
        self.k = k
        self.correction = correction
        self.confirm = confirm
        self.relevant_gap = relevant_gap
        self.max_tests = max_tests
        self.max_queries = max_queries
        self.time_budget = time_budget
        self.missing = missing
        self.significance = significance
        self.pos_label = pos_label
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _discover(self, task):
        rows = self._rows(task)
        if self.confirm is None or len(rows) < 2:
            return self._search(task, rows)
        out = task.rng.permutation(len(rows)) < self.confirm * len(rows)
        discovery, again = self._search(task, rows.at(~out)), rows.at(out)
        table = measure_again(discovery.findings, again, self.significance, self.correction)
        n_rows = len(rows) - len(again), len(again)
        discovery = put_beside(discovery, table, self.significance, self.protected_, n_rows)
        items = self._items(task, again)
        counts, settings = items.counts(again.cell, N_CELLS), (self.significance, self.correction)
        groups = single_groups(items, counts, again, *settings, len(table))
        return replace(discovery, smallest_gap=largest(groups["min_detectable_gap"]))

    def _search(self, task, rows):
        """Mine the rows, test every group that counts, and keep the first k."""
        items = self._items(task, rows)
        counts = items.counts(rows.cell, N_CELLS)
        patterns = self._mine(task, rows, items, counts)
        tested = np.ones(len(patterns), dtype=bool)
        if self.must_include == "protected":
            tested = items.protected[patterns.items[:, 0]]
        tally = Tally.of(patterns.counts, rows.total, rows.metrics)
        p_adjusted = np.where(tested, tally.p_value(), np.nan)
        p_adjusted = _stats.adjust(p_adjusted, self.correction)
        wanted = in_direction(tally.effect, self.direction)
        significant, worth = (p_adjusted <= self.significance) & wanted, tested & wanted
        lean = worth & ~redundant(patterns, tally.effect, self.redundancy)
        worth = lean if (lean & significant).any() or not significant.any() else worth
        support = patterns.counts.sum(axis=1)
        measure, group = first_k(self.k, tally.effect, support, significant, worth)
        table = tally.at(measure, group).compare(self.significance)
        table.insert(6, "support", support[group])
        table["measure"] = np.array(rows.metrics, dtype=object)[measure]
        table["p_adjusted"] = p_adjusted[measure, group]
        groups = [items.subgroup(patterns.items[i]) for i in group]
        keys = [task.space.subgroup_key(g) for g in groups]
        findings = GroupFindings(groups, table, task.space.names, keys)
        found = significant.any(axis=0)
        by_value = count_items(items, patterns.items[tested], patterns.items[found])
        numbers = int(tested.sum()), int(found.sum()), by_value
        discovery = self._report(rows, findings, numbers, items, counts)
        hidden = np.count_nonzero(significant & ~worth)
        if hidden:
            discovery.notes.append(
                f"{hidden} of the groups found are not shown: a larger group, with a condition "
                f"less, differs from them by no more than {self.redundancy:g}."
            )
        return discovery

    def _items(self, task, rows):
        features, protected = self._features(task.space.names)
        return make_items(rows.X, task.space, features, protected, self.n_bins)

    def _min_rows(self, rows):
        return max(1, math.ceil(self.min_support * len(rows) - 1e-9))

    def _mine(self, task, rows, items, counts):
        """Return the frequent patterns; without redundancy, only those that must be looked at."""
        min_rows = self._min_rows(rows)
        frequent = np.flatnonzero(counts.sum(axis=1) >= min_rows)
        roots = None
        if self.must_include == "protected" and self.redundancy is None:
            roots = np.flatnonzero(items.protected[frequent])
        lattice = Lattice(items.masks(frequent), items.feature[frequent], rows.cell, N_CELLS)
        found = lattice.mine(
            min_rows,
            self.max_predicates,
            roots=roots,
            before_block=lambda n: self._spend(task, n),
        )
        return replace(found, items=np.append(frequent, -1)[found.items])

    def _remeasure(self, task):
        rows, at_fit = self._rows(task), self.result_.findings
        table = measure_again(at_fit, rows, self.significance, self.correction)
        again = confirmed(table, self.significance)
        findings = GroupFindings(at_fit.subgroups, table, at_fit.columns, at_fit.keys)
        groups = set(at_fit.subgroups)
        found = {g for g, yes in zip(at_fit.subgroups, again, strict=True) if yes}
        numbers = len(groups), len(found), count_values(groups, found, self.protected_)
        items = self._items(task, rows)
        return self._report(rows, findings, numbers, items, items.counts(rows.cell, N_CELLS))

    def _rows(self, task):
        """Return the rows under audit with their kind of outcome; none if the budget forbids."""
        metrics = check_metrics(self.metric, task.queries is not None, task.y is not None)
        if task.queries is not None and task.budget.allow(len(task.X)) < len(task.X):
            return Decided(task.X.iloc[:0], np.empty(0, dtype=np.int64), metrics)
        decided = task.decisions() > 0.5
        with_labels = any(m not in WITHOUT_LABELS for m in metrics)
        wanted = task.favourable_labels() if with_labels else decided
        return Decided(task.X, 2 * wanted + decided, metrics)

    def _report(self, rows, findings, numbers, items, counts):
        """Put a Discovery together, with every single protected value compared to the rest."""
        n_tested, n_found, by_value = numbers
        settings = self.significance, self.correction, n_tested * len(rows.metrics)
        groups = single_groups(items, counts, rows, *settings)
        return Discovery(
            findings=findings,
            measure=", ".join(rows.metrics),
            n_tested=n_tested,
            n_found=n_found,
            smallest_gap=largest(groups["min_detectable_gap"]),
            required_gap=float(self.relevant_gap),
            by_value=by_value,
            estimates=rows.overall(self.significance),
            excluded=excluded_groups(groups, self._min_rows(rows)),
            tables={"groups": groups},
        )
