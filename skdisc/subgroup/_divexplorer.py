"""DivExplorer: the divergence of a rate in every frequent subgroup."""

import math
from dataclasses import replace
from numbers import Integral, Real

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import Interval

from skdisc import _stats
from skdisc._card import Card
from skdisc._findings import GroupFindings
from skdisc._result import Discovery
from skdisc.subgroup._base import SubgroupDetector
from skdisc.subgroup._items import count_items, count_values, make_items
from skdisc.subgroup._lattice import Lattice
from skdisc.subgroup._rates import N_CELLS, RATES, WITHOUT_LABELS, Decided, compare, excluded_groups, single_groups


class DivExplorer(SubgroupDetector):
    """Find the subgroups whose rate diverges most from everyone's.

    For a rate :math:`f` (selection rate, false positive rate, …) and a conjunction :math:`I` of
    items that covers at least the share `min_support` of the rows, the divergence is
    :math:`D(I) = f(I) - f(\\text{all})`. Every such conjunction is counted; each is tested against
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
    redundancy : float or None, default=None
        Leave out of the findings a group if dropping one of its conditions changes the
        divergence by no more than this.
    k : int, default=10
        Number of findings kept.
    correction : {"bh", "by", "holm", "bonferroni", "none"}, default="bh"
        Correction of the p-values, over all groups and rates tested.
    confirm : float or None, default=None
        Share of the rows held out: groups are found on the others and tested on these.
    relevant_gap : float, default=0.1
        When nothing is found although the data could not have shown a gap of this size in some
        protected group, the verdict is "insufficient evidence".
    max_tests : int or None, default=None
        Most candidate groups counted.
    max_queries : int or None, default=None
        Most rows asked of the model; with fewer than X has, nothing is audited.
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
    model_ : BlackBox or None
    audited_ : {"model", "refit", "decisions", "labels"}
    space_ : FeatureSpace
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
        held_out = task.rng.permutation(len(rows)) < self.confirm * len(rows)
        return self._confirmed(task, self._search(task, rows.at(~held_out)), rows.at(held_out))

    def _search(self, task, rows):
        """Mine the rows, test every group that counts, and keep the first k."""
        features, protected = self._features(task.space.names)
        items = make_items(rows.X, task.space, features, protected or features, self.n_bins)
        must = self.must_include == "protected"
        patterns = Lattice(items.masks, items.feature, rows.cell, N_CELLS).mine(
            max(1, math.ceil(self.min_support * len(rows) - 1e-9)),
            self.max_predicates,
            roots=np.flatnonzero(items.protected) if must and self.redundancy is None else None,
            before_block=lambda n: self._spend(task, n),
        )
        tested = items.protected[patterns.items[:, 0]] if must else np.ones(len(patterns), dtype=bool)
        table = pd.concat([self._divergence(patterns, rows, m)[tested] for m in rows.metrics], ignore_index=True)
        table["p_adjusted"] = _stats.adjust(table["p_value"].to_numpy(), self.correction)
        found = np.unique(table["pattern"][self._significant(table)])
        table = table.iloc[self._ranking(table)].drop(columns="redundant")
        groups = [items.subgroup(patterns.items[i]) for i in table.pop("pattern")]
        findings = GroupFindings(groups, table, task.space.names, [task.space.subgroup_key(g) for g in groups])
        counts = count_items(items, patterns.items[tested], patterns.items[found])
        return self._report(task, rows, findings, int(tested.sum()), len(found), counts, items)

    def _divergence(self, patterns, rows, measure):
        """Return the statistics of one rate for every pattern, and which patterns add nothing."""
        table = compare(patterns.counts, rows.total, measure, self.significance)
        table["pattern"] = np.arange(len(patterns))
        table["redundant"] = False
        if self.redundancy is not None and len(patterns):
            child, parent, _ = patterns.parents()
            effect = table["effect"].to_numpy()
            table.loc[child[np.abs(effect[child] - effect[parent]) <= self.redundancy], "redundant"] = True
        return table

    def _ranking(self, table):
        """Return the positions of the k findings: significant first, then by size of the effect."""
        size = table["effect"].abs().to_numpy()
        order = np.lexsort((table["pattern"], -table["support"], -size, ~self._significant(table)))
        worth = ~table["redundant"].to_numpy() & ~np.isnan(size)
        return order[worth[order]][: self.k]

    def _significant(self, table):
        return (table["p_adjusted"] <= self.significance).to_numpy()

    def _remeasure(self, task):
        rows, at_fit = self._rows(task), self.result_.findings
        table = self._again(at_fit, rows)
        found = self._significant(table) & (np.sign(table["effect"]) == np.sign(table["effect_at_fit"]))
        findings = GroupFindings(at_fit.subgroups, table, at_fit.columns, at_fit.keys)
        groups, confirmed = set(at_fit.subgroups), {g for g, yes in zip(at_fit.subgroups, found, strict=True) if yes}
        counts = count_values(groups, confirmed, self.protected_)
        return self._report(task, rows, findings, len(groups), len(confirmed), counts)

    def _again(self, findings, rows):
        """Measure the groups of `findings` on other rows; p-values are corrected over these groups."""
        pairs = zip(findings.subgroups, findings.table["measure"], strict=True)
        parts = [compare(rows.count(g.mask(rows.X))[None], rows.total, m, self.significance) for g, m in pairs]
        table = pd.concat(parts, ignore_index=True) if parts else findings.table.iloc[:0].copy()
        table["p_adjusted"] = _stats.adjust(table["p_value"].to_numpy(dtype=float), self.correction)
        table["effect_at_fit"] = findings.table["effect"].to_numpy()
        return table

    def _confirmed(self, task, discovery, rows):
        """Put the held-out measurement beside each finding, and count as found what it confirms."""
        table, findings = self._again(discovery.findings, rows), discovery.findings
        for name in ("effect", "ci_low", "ci_high", "p_value", "p_adjusted", "support"):
            findings.table[f"held_out_{name}"] = table[name]
        found = self._significant(table) & (np.sign(table["effect"]) == np.sign(table["effect_at_fit"]))
        confirmed = {g for g, yes in zip(findings.subgroups, found, strict=True) if yes}
        hits = count_values(confirmed, confirmed, self.protected_)
        by_value = {name: (n, hits.get(name, (0, 0))[1]) for name, (n, _) in discovery.by_value.items()}
        discovery.notes.append(
            f"Groups were found on {len(task.X) - len(rows)} rows and tested again on {len(rows)} others: counted as found "
            f"are the {len(confirmed)} of the {len(findings)} kept that are significant there, in the same direction."
        )
        return replace(discovery, n_found=len(confirmed), by_value=by_value)

    def _rows(self, task):
        """Return the rows under audit with their kind of outcome; none if the budget forbids."""
        metrics = self._metrics(task)
        if task.queries is not None and task.budget.allow(len(task.X)) < len(task.X):
            return Decided(task.X.iloc[:0], np.empty(0, dtype=np.int64), metrics)
        decided = task.decisions() > 0.5
        wanted = decided if task.y is None else np.isin(task.y, task.favourable)
        return Decided(task.X, 2 * wanted + decided, metrics)

    def _metrics(self, task):
        """Return the names of the rates, refusing those that cannot be computed here."""
        has_both = task.queries is not None and task.y is not None
        if isinstance(self.metric, str) and self.metric == "all":
            return list(RATES) if has_both else list(WITHOUT_LABELS)
        metrics = [self.metric] if isinstance(self.metric, str) else list(self.metric)
        unknown = [m for m in metrics if m not in RATES]
        if unknown or not metrics:
            raise ValueError(f"metric must be among {', '.join(RATES)} or 'all'; got {(unknown or metrics)!r}.")
        impossible = [m for m in metrics if m not in WITHOUT_LABELS and not has_both]
        if impossible:
            lacking = "y, the labels" if task.queries is not None else "decisions: pass model= or estimator="
            raise ValueError(f"metric={impossible[0]!r} compares decisions with labels and needs {lacking}.")
        return metrics

    def _report(self, task, rows, findings, n_tested, n_found, by_value, items=None):
        """Put a Discovery together, with every single protected value compared to the rest."""
        if items is None:
            features, protected = self._features(task.space.names)
            items = make_items(rows.X, task.space, features, protected or features, self.n_bins)
        groups = single_groups(items, rows, self.significance, self.correction)
        min_rows = max(1, math.ceil(self.min_support * len(rows) - 1e-9))
        gaps = groups["min_detectable_gap"].to_numpy()
        return Discovery(
            findings=findings,
            measure=", ".join(rows.metrics),
            n_tested=n_tested,
            n_found=n_found,
            smallest_gap=float(np.max(gaps)) if len(gaps) else float("nan"),
            required_gap=float(self.relevant_gap),
            by_value=by_value,
            estimates=rows.overall(self.significance),
            excluded=excluded_groups(groups, min_rows),
            tables={"groups": groups},
        )

