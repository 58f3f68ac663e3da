"""SubgroupDetector and DecidedDetector: what detectors of subgroups share."""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from numbers import Integral, Real

import numpy as np
import pandas as pd
from sklearn.base import TransformerMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from skdisc._results._judgment import (
    DIFFERS,
    FOUND,
    NOTHING,
    UNSURE,
    Judgment,
    confirmed_p,
)
from skdisc._space._bins import Bins
from skdisc._space._items import make_items
from skdisc._space._itemsets import to_itemsets
from skdisc._task._clustered import ClusteredMixin
from skdisc._task._limits import LIMITS, Limits, limit_named
from skdisc._task._notes import differing_groups, few_clusters, too_few_draws, with_caveats
from skdisc._task._shared_settings import CONFIRM, VERBOSE, WEIGHTS
from skdisc._task._task import Request
from skdisc._utils import _validation as check
from skdisc._utils._settings import AT_LEAST_ONE, setting
from skdisc._utils._shared_sections import with_sections
from skdisc._utils._types import ArrayLike, FrameLike
from skdisc._verdicts._answer import decide, family_table
from skdisc._verdicts._rule import OF_RATES
from skdisc.base import SCORE, BaseDetector
from skdisc.subgroup._estimation._confirmation import (
    confirm_on_held_out,
    measure_again,
    measured_again,
)
from skdisc.subgroup._estimation._contrast_question import candidates_of_rows
from skdisc.subgroup._estimation._contrasts import IN_CONTEXT
from skdisc.subgroup._estimation._discovery import (
    FoundCounts,
    single_groups,
    subgroup_discovery,
)
from skdisc.subgroup._estimation._task_rows import rows_of
from skdisc.subgroup._lattice._lattice import least_of

_BOUNDED = ("contextual", "marginal", "everyone")  # nulls about gaps to the rest, or to everyone
_DEFINES = "A SubgroupDetector has _rows and _search, or its own _discover and _remeasure."
N_BINS = [Interval(Integral, 2, None, closed="left"), dict, Bins]


class SubgroupDetector(TransformerMixin, BaseDetector):
    """Base of the detectors that find groups; as a transformer it marks their members.

    A subclass has two methods of its own: ``_rows(task)`` returns the rows under audit with their
    outcomes; ``_search(task, rows)`` searches them, leaves the items without rows in
    ``task.memory``, and returns a Discovery. Or it overrides `_discover` and `_remeasure`.
    """

    min_support: float = setting(
        0.05,
        [Interval(Real, 0, 1, closed="right")],
        "Smallest share of the rows that a group must cover.",
    )
    max_predicates: int | None = setting(
        3,
        [AT_LEAST_ONE, None],
        "Largest number of columns in the definition of a group; None: no limit.",
    )
    features: Sequence[Hashable] | None = setting(
        None,
        ["array-like", None],
        "Columns that may define groups; None: all.",
        kind="sequence of column names",
    )
    n_bins: int | dict | Bins = setting(
        4,
        N_BINS,
        """Number of quantile bins of a numeric column; `Bins` offers other cuts and
        hierarchies.""",
    )
    limits: Limits | None = LIMITS
    verbose: bool | int = VERBOSE
    missing: str = setting(
        "category",
        text="""How rows with a missing protected value are treated: as a category of their own,
        left out, or as an error. In other columns a missing value is always an item of its own.""",
    )

    rule_fields = OF_RATES
    limit_fields = {
        "tests": "candidate groups measured",
        "seconds": "checked between blocks of candidates",
    }
    own_correction = "bh"
    _expects = False  # whether outcomes are compared with those expected given all columns
    _scored = "effect"  # the column that `score` is about; ratios have no limit
    _takes_trees = False  # whether it can test on other rows than the tree bins were fitted to
    _no_larger_items = None  # why nested bins and taxonomies are not supported, if they are not
    confirm = None  # these are settings of some detectors
    versus, order, distinct = "context", "evidence", True
    must_include = None  # of the groups judged, without such a setting
    n_resamples = n_permutations = 0
    _choice = None  # the groups that a public document may look at; None: all

    @property
    def null(self) -> str:
        """The null hypothesis: "contextual"; "everyone" without protected columns."""
        named = getattr(self, "protected_", self.protected)
        is_named = named is not None and np.size(named) > 0
        return "contextual" if is_named and self.versus == "context" else "everyone"

    def transform(self, X: FrameLike) -> np.ndarray:
        """Return the members of each group found.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of bool, shape (n_samples, n_findings)

        Raises
        ------
        NotFittedError
            If the detector is not fitted.
        ValueError
            If X does not have the columns of fit.
        """
        check_is_fitted(self, "result_")
        frame, _ = check.check_frame(self, X, reset=False)
        groups = self.result_.findings.subgroups
        members = [g.mask(frame) for g in groups]
        return np.column_stack(members) if members else np.zeros((len(frame), 0), dtype=bool)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> np.ndarray:
        """Return the groups found as text, one per column of `transform`.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str, shape (n_findings,)

        Raises
        ------
        NotFittedError
            If the detector is not fitted.
        """
        check_is_fitted(self, "result_")
        names = [str(g) for g in self.result_.findings.subgroups]
        measures = self.result_.findings.table["measure"]
        repeated = len(set(names)) < len(names)
        return np.array(
            [f"{n} [{m}]" if repeated else n for n, m in zip(names, measures, strict=True)],
            dtype=object,
        )

    def to_itemsets(self) -> pd.DataFrame:
        """Return the groups found as a frame of itemsets in the format of mlxtend.

        `from_itemsets` reads it again. Only what was found is in it, not all parts of it: mlxtend's
        ``association_rules`` needs ``support_only=True``.

        Returns
        -------
        DataFrame
            ``support`` (share of the rows of fit) and ``itemsets`` (frozenset of the texts of the
            conditions); one row per group.

        Raises
        ------
        NotFittedError
            If the detector is not fitted.
        """
        check_is_fitted(self, "result_")
        findings = self.result_.findings
        share = findings.table["support"] / max(self.result_.n_samples, 1)
        return to_itemsets(findings.subgroups, share).drop_duplicates("itemsets", ignore_index=True)

    @with_sections(SCORE)
    def score(
        self, X: FrameLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return how strongly the finding ranked first at fit shows on X.

        It is its direction at fit times its effect on X (of rules, whose effects are ratios, the
        gap if there is one); NaN if nothing was found at fit, or the group does not occur in X, as
        may happen in a fold of a search.
        """
        if not self._weighs:
            self._refuse_weight(sample_weight)
        return self._effect_again(Request(X, y, None, sample_weight))

    def _effect_again(self, request):
        """Return the direction of the first finding at fit times its effect on other rows."""
        # Without a finding, or a column of this name, the base class answers.
        if not len(self.result_) or self._scored not in self.result_.findings.table:
            return super()._effect_again(request)
        result = self._measure_on(self._read(request))
        fit_effect, new_effect = (
            r.findings.table[self._scored].iloc[0] for r in (self.result_, result)
        )
        return float(np.sign(fit_effect) * new_effect)

    def _discover(self, task):
        if task.people.groups is not None and self.versus == self.null == "everyone":
            raise ValueError(
                "versus='everyone' takes rows as independent: with groups=, set versus='context'."
            )
        for name in ("_rows", "_search"):
            if not hasattr(self, name):
                raise TypeError(f"{type(self).__name__} does not define {name}. {_DEFINES}")
        rows = self._rows(task)
        if self.confirm is not None and rows.n >= 2:
            return confirm_on_held_out(self, task, rows)
        discovery = self._search(task, rows)
        if discovery.candidates is None:
            items = discovery.items or self._items_again(task, rows)
            discovery.candidates = self._candidates(task, discovery, rows, items)
        return discovery

    def _remeasure(self, task):
        return measured_again(self, task, self._rows(task))

    def _measure_again(self, findings, rows):
        """Return a table of the findings measured on other rows."""
        protected = self._protected_features if self.versus == "context" else None
        return measure_again(
            findings,
            rows,
            significance=self.significance,
            correction=self._list_correction,
            protected=protected,
            min_effect=self.min_effect,
        )

    def _gap_that_matters_on(self, rows, j=0):
        """Return the `RelevantGap` of a measure of the rows."""
        mass = rows.frequency if rows.weight is None else rows.weight
        return self._gap_that_matters(rows.outcome(j), mass)

    def _matters(self, rows):
        """Return the gap that matters by each measure, and why there is none, or ""."""
        gaps = [self._gap_that_matters_on(rows, j) for j in range(len(rows.names))]
        problem = next((gap.problem for gap in gaps if gap.problem), "")
        return [gap.size for gap in gaps], problem

    def _measure_held_out(self, task, findings, rows):
        """Return a table of the findings of a search measured on the rows held out."""
        return self._measure_again(findings, rows)

    def _items_again(self, task, rows):
        """Return the items of fit with the codes of other rows."""
        return task.memory.on(rows.X)

    def _counts(self, items, groups, is_found):
        """Return the counts of groups that were measured again."""
        return FoundCounts.of(groups, is_found, self.protected_)

    def _candidates(self, task, discovery, rows, items, mined=None):
        """Return the candidates of the question, on the rows that measured the findings.

        None if the method does not compare the gaps that the question is about. `mined`: as for
        `candidates_of_rows`.
        """
        if self.null not in _BOUNDED:
            return None
        table = discovery.findings.table
        sure = np.flatnonzero((confirmed_p(table) <= self.significance).to_numpy())
        groups, measures = discovery.findings.subgroups, table["measure"]
        names = [
            measures.iloc[i] if measures.iloc[i] in rows.names else rows.names[0] for i in sure
        ]
        findings = [(groups[i], name) for i, name in zip(sure, names, strict=True)]
        return candidates_of_rows(self, task, rows, items, findings, mined)

    def _report(self, rows, items, findings, counts, n_tests=None, **more):
        """Return the Discovery of findings that were measured on rows; `more` are fields of it.

        The p-values of the table of groups are corrected for `n_tests` tests.
        """
        n_tests = counts.n_tested * len(rows.names) if n_tests is None else n_tests
        groups = self._single_groups(rows, items, n_tests)
        more["tables"] = {"groups": groups, **more.get("tables", {})}
        more.setdefault("versus", IN_CONTEXT if self.versus == "context" else "everyone")
        discovery = subgroup_discovery(self, rows, findings, counts, groups, **more)
        discovery.items = items
        return discovery

    def _single_groups(self, rows, items, n_tests):
        is_contrast = self.versus == "context"
        return single_groups(
            rows, items, self.significance, self._list_correction, n_tests, is_contrast
        )

    @property
    def _list_correction(self):
        """The correction of p-values over a fixed list of groups."""
        return self.correction

    def _least(self, rows):
        """Return the smallest size of a group."""
        return int(least_of(self.min_support, rows.size))

    def _conclude(self, task, discovery):
        caveats = self._caveats(task, discovery)
        if discovery.judgment is None and discovery.answer is not None:
            discovery.judgment = Judgment(discovery.answer.verdict, discovery.answer.reason)
        discovery = with_caveats(discovery, caveats)
        stopped = task.budget.stopped_by
        reasons = [] if stopped is None else [f"the search was cut short by {limit_named(stopped)}"]
        if not discovery.n_found:  # these are about the absence of findings
            reasons += self._reasons(discovery)
        reasons += [*caveats, *few_clusters(task.people.groups)]
        if discovery.candidates is not None:
            if stopped is not None and not discovery.n_tested:  # outcomes lack for that reason
                discovery.candidates = replace(discovery.candidates, problem="")
                discovery.judgment = None
            discovery = self._answered(discovery, reasons)
        elif discovery.judgment is None:
            verdict = FOUND if discovery.n_found else UNSURE
            reasons += ["the gaps of this question have no bound"]
            discovery.judgment = Judgment(verdict, "" if discovery.n_found else reasons[0])
        if discovery.judgment.verdict == FOUND and self.null == "everyone":
            discovery.judgment = replace(discovery.judgment, verdict=DIFFERS)
        return super()._conclude(task, discovery)

    def _answered(self, discovery, reasons):
        """Return the Discovery with the answer to the question about its candidates."""
        candidates, discovery.candidates = discovery.candidates, None
        doubt = discovery.judgment  # of a method about its findings, too
        answer = decide(
            candidates,
            significance=self.significance,
            relevant_size=self.relevant_size,
            is_found=discovery.n_found > 0 and doubt is None,
            reasons=reasons if doubt is None else [doubt.reason],
        )
        discovery.answer = answer
        discovery.judgment = Judgment(answer.verdict, answer.reason)
        shown = self._shown_intervals(discovery)
        discovery.tables["family"] = family_table(candidates, answer, shown=shown)
        if answer.aside:
            discovery.notes.append(answer.sentences[-1])
        if answer.verdict == NOTHING and candidates.ranges:
            discovery.notes.append(candidates.ranges)
        if not answer.n_found:
            discovery.notes += self._not_judged(discovery, candidates.total)
        return discovery

    def _not_judged(self, discovery, total):
        """Return the note that names the protected values of too few people to be judged."""
        excluded = discovery.excluded
        if not self.protected_ or excluded is None or total is None:
            return []
        is_small = (excluded["n"] > 0) & (excluded["n"] < self.relevant_size * total)
        names = list(dict.fromkeys(excluded["subject"][is_small]))
        if not names:
            return []
        share = f"{100 * self.relevant_size:.3g} %"
        return [f"Not judged, with less than {share} of the people: {check.listed(names)}."]

    @property
    def _most_judged(self):
        """Most conditions of the groups that verdicts are about; None: no limit."""
        return self.max_predicates

    def _shown_intervals(self, discovery):
        """Return effect, ends and level of the intervals of findings, by group and measure."""
        table = discovery.findings.table
        prefix = "held_out_" if "held_out_effect" in table else ""
        names = [f"{prefix}{name}" for name in ("effect", "ci_low", "ci_high")]
        if prefix or "level" not in table:
            numbers = table[names].assign(level=1 - self.significance)
        else:
            numbers = table[[*names, "level"]]
        keys = zip(map(str, discovery.findings.subgroups), table["measure"], strict=True)
        return dict(zip(keys, numbers.itertuples(index=False, name=None), strict=True))

    def _reasons(self, discovery):
        """Return the method's own reasons why the absence of findings is inconclusive.

        Those of the base: the gaps that it bounds are those to the rest of the context, or to
        everyone else, which a null hypothesis about other people is not about.
        """
        if self.null in _BOUNDED:
            return []
        return [f"the gaps that the data exclude are not those of a {self.null} null hypothesis"]

    def _caveats(self, task, discovery):
        """Return the reasons why the absence of findings is inconclusive for some groups."""
        chosen, caveats = self._chosen(list(self.space_.names)), []
        left_out = [n for n in self.protected_ if n not in chosen]
        if left_out:
            names = ", ".join(map(str, left_out))
            caveats.append(
                f"Protected columns not among the features, and so in no group: {names}."
            )
        if task.is_audit:
            caveats += self._not_measured(discovery)
        if discovery.n_found:
            return caveats
        groups = discovery.tables.get("groups")
        if task.is_audit and groups is not None and "p_adjusted" in groups:
            caveats += differing_groups(groups["p_adjusted"], self.significance)
        draws = self.n_resamples or self.n_permutations
        return caveats if task.is_audit else caveats + too_few_draws(draws, self.significance)

    def _not_measured(self, discovery):
        """Return the caveat that findings of fit cannot be measured on these rows."""
        table = discovery.findings.table
        if self._scored not in table or not table[self._scored].isna().any():
            return []
        unmeasured = np.flatnonzero(table[self._scored].isna())
        names = list(dict.fromkeys(str(discovery.findings.subgroups[i]) for i in unmeasured))
        return [f"Findings of fit that cannot be measured on these rows: {check.listed(names)}."]

    def _width(self, names):
        return len(names if self.features is None else self.features)

    def _features(self, names):
        """Return the columns that may define groups, and the protected ones among them.

        Without protected columns, or with none among the features, all features count as protected.
        """
        chosen = self._chosen(list(names))
        protected = [n for n in self.protected_ or chosen if n in chosen]
        if not protected and self.must_include == "protected":
            raise ValueError(
                f"features={chosen!r} has no protected column ({self.protected_!r}), which groups "
                "must involve. Add one, or set must_include=None."
            )
        return chosen, protected or chosen

    @property
    def _protected_features(self):
        """The protected columns among those that may define groups."""
        return self._features(self.space_.names)[1]

    def _adjusted_for(self, names):
        """Return the columns named by ``adjust_for``, of the detectors that have this setting."""
        if isinstance(self.adjust_for, str) and self.adjust_for == "others":
            return [n for n in names if n not in self.protected_]
        chosen = check.check_protected(self.adjust_for, names, "adjust_for")
        protected_names = [c for c in chosen if c in self.protected_]
        if protected_names:
            raise ValueError(
                f"adjust_for={self.adjust_for!r} names protected columns: {protected_names!r}. "
                "Legitimate columns are those that decisions may depend on. To adjust for a column "
                "that is protected, too, ask about the others alone: leave it out of protected."
            )
        return chosen

    def _columns_read(self, names):
        """Return the columns of groups, and all where outcomes are compared with expected ones."""
        if self._expects:
            return names
        return [*check.check_protected(self.protected, names), *self._chosen(names)]

    def _chosen(self, names):
        if self.features is None:
            return names
        return check.check_protected(self.features, names, "features")

    def _items_of(self, rows):
        """Return the items of the features, protected ones first."""
        columns, bins = self._features(self.space_.names), self._checked_bins()
        guide = {"guide": rows.tree_target, "least": self._least(rows)} if self._takes_trees else {}
        return make_items(
            rows.X, self.space_, *columns, bins, rows.weight, **guide, frequency=rows.frequency
        )

    def _checked_bins(self):
        """Return `n_bins`; raise where the detector does not support such bins."""
        bins, name = Bins.of(self._counted_bins or self.n_bins), type(self).__name__
        if bins.how == "tree" and not self._takes_trees:
            raise ValueError(
                f"{name} does not support Bins(how='tree'): tree bins are fitted to the outcome, "
                "so p-values on the same rows would be too small. Use Bins(how='quantile'), or "
                "edges of your own."
            )
        if bins.how == "tree" and self.confirm is None:
            raise ValueError(
                "Bins(how='tree') are fitted to the outcome, so p-values on the same rows would be "
                f"too small: set confirm=, the share of rows on which {name} tests."
            )
        larger = bins.nested or bins.unions or bins.taxonomy
        if larger and self._no_larger_items is not None:
            why = self._no_larger_items
            raise ValueError(f"{name} does not support nested bins or a taxonomy: {why}")
        return bins

    @staticmethod
    def _spend(task, n):
        """Return how many of n candidates may be counted, and charge them to the budget."""
        allowed = task.budget.allow(n, rows_each=0)
        task.budget.tests += allowed
        task.progress(f"{task.budget.tests:,} groups counted, {task.budget.elapsed:.0f} s")
        return allowed

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


class DecidedDetector(ClusteredMixin, SubgroupDetector):
    """Base of the detectors that use decisions alone."""

    k: int = setting(
        10,
        [AT_LEAST_ONE],
        "Number of findings kept.",
    )
    order: str = setting(
        "evidence",
        [StrOptions({"evidence", "effect"})],
        """Order of the findings: the pattern of each significant x that is first by `rank`, in
        the order of the standardized log-odds of x, then the others by `rank`; or, as
        published, by `rank` alone, with intervals of patterns that were not searched for.""",
    )
    redundancy: float | None = setting(
        None,
        [Interval(Real, 0, None, closed="left"), None],
        r"""A pattern is not shown if dropping one of its conditions changes :math:`\Delta` by
        at most this; ignored if no pattern would be left.""",
    )
    confirm: float | None = CONFIRM
    weights: str = WEIGHTS

    must_include = "protected"
    versus = "everyone"
    null = "contextual"

    def _rows(self, task):
        """Return the rows under audit with their decisions; none if the budget is too small."""
        return rows_of(task, "selection_rate")
