"""SituationDetector: what both situation tests share, their settings and how people are judged."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import check_scalar
from sklearn.utils._param_validation import StrOptions

from skdisc._neighbors._nearest import compares_pairs
from skdisc._results._findings import ESTIMATES, Discovery, share_estimate
from skdisc._results._judgment import COVERED
from skdisc._results._shared_values import MIN_CELL
from skdisc._stats._best import SMALLEST_SHARE
from skdisc._task._clustered import ClusteredRowsMixin
from skdisc._task._limits import LIMITS, ROWS, Limits
from skdisc._task._task import Request
from skdisc._utils._settings import AT_LEAST_ONE, NOT_NEGATIVE, setting
from skdisc._utils._shared_sections import with_sections
from skdisc._utils._types import ArrayLike, FrameLike
from skdisc.base import SCORE
from skdisc.causal._counterfactual_rows import is_frame
from skdisc.individual._base import share_with_case
from skdisc.individual._group_comparison import GroupsDetector
from skdisc.individual._situation_testing import _alvarez2023
from skdisc.individual._situation_testing import _matched_gaps as verdict
from skdisc.individual._situation_testing import _report as report
from skdisc.individual._situation_testing._neighborhoods import (
    Judged,
    PeopleOfFit,
    Pools,
)
from skdisc.individual._situation_testing._similarity import PUBLISHED, Similarity

_MOST = 50_000  # rows by default, where most pairs of rows are compared


class SituationDetector(ClusteredRowsMixin, GroupsDetector):
    """Base of the detectors that compare a person's neighbors in two groups."""

    combine: str = setting(
        "intersectional",
        [StrOptions({"intersectional", "multiple"})],
        """With several protected columns: groups are combinations of values; or each column is
        compared separately, and a person with a case in every column has a case (the weakest
        comparison is shown, with the p-value of the intersection-union test).""",
    )
    n_neighbors: int | Sequence[int] | None = setting(
        15,
        [AT_LEAST_ONE, "array-like", None],
        """The size k of the control and test groups. If there are several, the first positive
        one gives the findings, and all are in the tables; 0, besides others and with the
        `centers` of `CounterfactualSituationTesting`, is a person and their counterfactual
        alone. None: everyone within the `max_distance` of `similarity`, which with a callable
        `metric` is any rule of similarity.""",
        kind="int, sequence of int, or None",
    )
    similarity: Similarity | None = setting(
        None,
        [Similarity, None],
        "Who counts as a neighbor: the distance, its unit, and limits. None: ``Similarity()``.",
    )
    threshold: float = setting(
        0.0,
        [NOT_NEGATIVE],
        r"The difference :math:`\tau` that must be exceeded.",
    )
    direction: str = setting(
        "lower",
        [StrOptions({"lower", "higher", "both"})],
        """Find people worse off than the test group, positive discrimination, or both. The test
        is one-sided, for decisions Fisher's exact test; for both, its p-value is doubled. Counts
        that shared ties make fractional are rounded towards no difference. With a threshold, the
        p-value is the level at which the interval begins to contain it; numbers are compared by
        Welch's test.""",
    )
    criterion: str | None = setting(
        None,
        [StrOptions({"adjusted", "interval", "gap"}), None],
        """What makes a case: "adjusted" (the default), a difference in what the features leave
        of the outcomes (residuals of expectations learned from them) that exceeds the threshold
        and is significant after correction, for decisions by Fisher's test of the shares, too;
        "interval", a difference of shares whose interval lies beyond the threshold; "gap", that
        difference alone, which the literature counts (the default with metric "alvarez2023").""",
    )
    output: str = setting(
        "decision",
        [StrOptions({"decision", "probability", "value"})],
        """What is compared; "value" takes the numbers in y, where higher is better.""",
    )
    complainants: ArrayLike | None = setting(
        None,
        ["array-like", None],
        """The rows of X, as passed to `fit`, whose claims are judged; neighbors come from all
        rows, and the verdict is about their whole group. Each claim stands by itself, and is
        answered in the table ``claims``. None: all members of the groups are screened.""",
        kind="mask or positions",
    )
    store_neighbors: bool = setting(
        False,
        ["boolean"],
        "Keep the groups of every case in the table ``neighbors``.",
    )
    limits: Limits | None = LIMITS
    n_jobs: int | None = setting(
        None, [Integral, None], "Number of threads that share the searches for neighbors."
    )
    reference: Any = setting(
        "best",
        text="""The people that members are compared with: the group with the best outcome (or
        another one that is significantly better off than similar people of that group, if
        `group` is None, `direction` is "lower", and no complainant belongs to another group), the
        largest group, everyone outside the group, or the people named.""",
    )
    features: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable]] | None = setting(None)
    group: Any = setting(None)

    _versus = "similar people of the reference"
    _objects = {"similarity": Similarity}

    centers = False  # a setting of counterfactual situation testing

    @property
    def _takes_missing(self):
        return self._similarity.metric == "gower" or callable(self._similarity.metric)

    @property
    def _similarity(self):
        """The setting `similarity`, or its defaults."""
        return Similarity() if self.similarity is None else self.similarity

    @property
    def _is_published(self):
        """Whether people are compared as for the published tables."""
        return self._similarity.metric == PUBLISHED

    @property
    def _metric(self):
        """The metric of the search for neighbors; published tables have a search of their own."""
        return "manhattan" if self._is_published else self._similarity.metric

    @with_sections(SCORE)
    def score(
        self, X: FrameLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the share of the members of the groups in X who have a case.

        NaN if no row of X belongs to a group.
        """
        rows = self._read(Request(X, y, None, sample_weight))
        people = self._measure_on(rows).tables["people"]
        people = people[people["n_neighbors"] == self._ks[0]]
        return share_with_case(people["row"], people["case"], rows.weight)

    def neighbors(self, X: FrameLike, n_neighbors: int | None = None) -> pd.DataFrame:
        """Return the control and the test group of the first person of X, one row each.

        Parameters
        ----------
        X : DataFrame
            One row; a new person, not among the people of fit.
        n_neighbors : int, optional
            Number of neighbors in each of the two groups, at least 1. By default the first of the
            setting.

        Returns
        -------
        DataFrame
            Role ("control", "test"), row at fit, share of a place, distance, outcome, features.

        Raises
        ------
        NotFittedError
            If the detector is not fitted.
        ValueError
            If X does not have one row, if `n_neighbors` is below 1, or if the person belongs to no
            group of fit, or has no counterfactual.
        """
        frame, people = self._read(Request(X)).X, self._memory
        if len(frame) != 1:
            raise ValueError(f"X must be one person, one row; got {len(frame)} rows.")
        if n_neighbors is None:
            n_neighbors = self._ks[0]
        check_scalar(n_neighbors, "n_neighbors", Integral, min_val=1)
        _alvarez2023.refuse_new_people(self._is_published)
        for pools in people.pools:
            if pools.comparison.control(frame).all():
                counterpart, _ = self._counterparts(people.sources, pools.comparison, frame, True)
                neighbors = pools.neighbors(frame, counterpart, None, n_neighbors)
                return report.group_table(people, frame, counterpart, neighbors)[0]
        raise ValueError("This person belongs to no group whose members may complain.")

    limit_fields = {
        "rows": f"{ROWS}; by default {_MOST:,} where most pairs of rows must be compared (metrics "
        '"gower" and callables; tables with more than 20 numbers and values of categories), unless '
        '`complainants` are given or the metric is "alvarez2023", and otherwise all'
    }

    def _most_rows(self, people):
        """Return the largest number of rows, by default only where pairs are compared."""
        if self.limits is not None and self.limits.rows is not None:
            return self._limit("rows")
        if self._is_published or self.complainants is not None:
            return None
        names = self._feature_names(pd.DataFrame(columns=self.space_.names))
        columns = [self.space_[name] for name in names]
        sizes = [c.size for c in columns if c.kind == "nominal"]
        return _MOST if compares_pairs(self._metric, sizes, len(columns) - len(sizes)) else None

    @property
    def _ks(self):
        """The sizes of the neighborhoods, 0 (no neighbors) last; [0]: within `max_distance`."""
        sizes = np.atleast_1d(0 if self.n_neighbors is None else self.n_neighbors)
        if sizes.size and sizes.dtype.kind not in "iu":
            raise ValueError(
                f"n_neighbors must be an integer or a sequence of integers, got "
                f"{self.n_neighbors!r}."
            )
        return sorted(map(int, sizes), key=lambda k: k == 0)

    @property
    def _smallest_reference(self):
        return max(1, *self._ks)

    @property
    def _has_caliper(self):
        """Whether a caliper limits the distance, not `max_distance` or a published convention."""
        similar = self._similarity
        has_other_limit = similar.max_distance is not None or self._is_published
        return similar.caliper is not None and not has_other_limit

    @property
    def _largest_distance(self):
        """The largest distance of a neighbor; rows that share no known feature are at infinity."""
        similar = self._similarity
        if self._has_caliper:
            return similar.caliper
        farthest = np.finfo(float).max if similar.metric == "gower" else np.inf
        return farthest if similar.max_distance is None else similar.max_distance

    @property
    def _criterion(self):
        """The rule that decides who has a case."""
        return self.criterion or ("gap" if self._is_published else "adjusted")

    def _outcome(self, task):
        """Return the outcome of each row: higher is better."""
        return task.outcome()

    def _values(self, outcome):
        """Return what is summed over neighbors: unfavorable decisions, or first moments."""
        if self.output == "decision":
            return 1.0 - outcome[:, None]
        return np.column_stack([outcome, outcome**2])

    def _check(self):
        self._check_protected()
        self._similarity._validate_params()
        n_neighbors = self.n_neighbors
        if n_neighbors is None and self._similarity.max_distance is None:
            raise ValueError("n_neighbors=None needs Similarity(max_distance=), the radius.")
        least = 0 if self.centers and max(self._ks, default=0) > 0 else 1
        if n_neighbors is not None and min(self._ks, default=-1) < least:
            raise ValueError(
                "n_neighbors must be positive; 0 needs centers=True and another number: "
                f"{n_neighbors!r}."
            )
        if self._is_published and self.output != "decision":
            raise ValueError(
                f"metric={PUBLISHED!r} compares decisions, got output={self.output!r}."
            )

    def _discover(self, task):
        self._check()
        outcome = self._outcome(task)
        self._pool(task, outcome)
        measured = self._measured(task, outcome)
        best = self._best_among_similar(task, measured)
        if best:
            self._pool(task, outcome, best)
            measured = self._measured(task, outcome)
        discovery = self._report(task, outcome, measured, self._who_may_complain(task))
        discovery.notes += [
            f"The reference is {group}, whose people are better off than similar people of the "
            "group with the best outcome."
            for group in best.values()
        ]
        gaps = discovery.tables["gaps"]
        found_groups = gaps.loc[gaps["p_adjusted"] <= self.significance, "group"].tolist()
        task.memory = replace(task.memory, found_groups=found_groups)
        return discovery

    def _pool(self, task, outcome, best=None):
        """Remember, as people of fit, those among whom neighbors are searched.

        `best`: by protected columns, references in place of the groups with the best outcome.
        """
        X, protected = task.X, self.protected_
        items = self._protected_items(task, protected)
        comparisons = self._comparisons(X, items, protected, outcome, best)
        pools, values = [], self._values(outcome)
        for comparison in comparisons:
            pools.append(Pools(comparison, X, values, self, pools[-1] if pools else None))
        excluded = self._too_small(pools)
        small = {group for group, *_ in excluded}
        pools = [p for p in pools if str(p.comparison.group) not in small]
        sources = self._sources(task)
        task.memory = PeopleOfFit(
            X, outcome, items.predicates, pools, excluded, *sources, task.people.groups
        )

    def _best_among_similar(self, task, measured):
        """Return the groups that are better off than similar people of those with the best outcome.

        Women may be admitted more often than men, and less often than similar men: that they have
        the better outcome must not leave them without a claim. The correction for the choice of the
        reference counts all pairs of groups, and so this choice, too.

        Not where the reference has too few people to complain, where their counterfactuals are rows
        that were given, as members of the reference, or where the values of a number occur in one
        of the groups only, so that nobody is equal (a limit that 60,000 does not pass and 60,500
        does would make a claim of those whose salaries are round). Complainants who may complain
        keep their reference, too.

        Returns a dict of tuple of column names to Subgroup.
        """
        is_best = isinstance(self.reference, str) and self.reference == "best"
        if not is_best or self.group is not None or self.direction != "lower" or self._is_published:
            return {}
        n_tests = self._n_contrasts([part.comparison for part, _ in measured], False)
        least = max(self._smallest_reference, MIN_CELL, SMALLEST_SHARE * len(task.X))
        named, surely_better = self._who_may_complain(task), {}
        for part, gap in measured:
            columns = part.comparison.columns
            is_sure = n_tests * gap.p_value("higher", self.threshold) <= self.significance
            may_swap = gap.n_group >= least and gap.n_reference > self._smallest_reference
            may_swap &= not gap.one_sided and not is_frame(task.memory.sources.get(columns[0]))
            if is_sure and may_swap:
                surely_better.setdefault(columns, []).append((gap.gap, part.comparison.group))
        if self.complainants is not None:
            for part, _ in measured:
                if (named & part.comparison.control(task.X)).any():
                    surely_better.pop(part.comparison.columns, None)
        return {
            columns: max(groups, key=lambda pair: pair[0])[1]
            for columns, groups in surely_better.items()
        }

    def _remeasure(self, task):
        outcome = self._outcome(task)
        everyone = np.ones(len(task.X), bool)
        return self._report(task, outcome, self._measured(task, outcome), everyone)

    def _statistic(self, task):
        """Return the largest mean gap in the direction of the test, in widths of its interval."""
        run = self._remeasure if task.is_audit else self._discover
        gaps = run(task).tables["gaps"]
        ratio = gaps["gap"] / (gaps["ci_high"] - gaps["ci_low"])
        signed = {"lower": -ratio, "higher": ratio, "both": ratio.abs()}[self.direction]
        return float(np.nanmax(signed, initial=0.0))

    def _who_may_complain(self, task):
        """Return a mask of the complainants among the rows under audit.

        Positions and masks in `complainants` refer to X as passed, before ``missing="drop"``.
        """
        if self.complainants is None:
            return np.ones(len(task.X), dtype=bool)
        stay = task.people.stay
        chosen, n = np.asarray(self.complainants), len(stay)
        if chosen.dtype == bool:
            if len(chosen) != n:
                raise ValueError(f"complainants is a mask of {len(chosen)} for the {n} rows of X.")
            return chosen[stay]
        if not np.isin(chosen, np.arange(n)).all():
            raise ValueError(
                f"complainants must be a mask, or positions from 0 to {n - 1}, got "
                f"{self.complainants!r}."
            )
        return np.isin(np.flatnonzero(stay), chosen)

    def _sources(self, task):
        """Return the sources of counterfactual rows and their recipes, by protected column."""
        return {}, {}

    def _counterparts(self, sources, comparison, X, is_new):
        """Return the centers of the test groups, row by row, and their decisions or None."""
        return X, None

    def _decided(self, counterparts, decisions, comparison, task):
        """Return the outcomes of the centers of the test groups, where they are known."""
        return decisions

    def _too_small(self, pools):
        """Return (group, size, reason) for each group with fewer than k neighbors.

        Raise ValueError if every group, or one that the user named, is too small.
        """
        excluded, n_neighbors = [], max(self._ks)
        for p in pools:
            n_control, n_test = p.sizes
            if min(n_control, n_test) < max(n_neighbors, 1):
                shortage = f"{n_control} other people of the group ({p.comparison.group})"
                if n_test < n_control:
                    shortage = f"{n_test} people of the reference ({p.comparison.versus})"
                reason = f"n_neighbors={n_neighbors} is more than the {shortage}"
                excluded.append((str(p.comparison.group), len(p.control), reason))
        if excluded and (len(excluded) == len(pools) or self.group is not None):
            raise ValueError(
                f"{excluded[0][2]}. Reduce n_neighbors, or name larger groups in group= and "
                "reference=."
            )
        return excluded

    def _measured(self, task, outcome):
        """Return the `Judged` of each comparison with its `MeanGap`."""
        measured, sources, is_new = [], task.memory.sources, task.is_audit
        for pools in task.memory.pools:
            comparison = pools.comparison
            counterparts, decisions = self._counterparts(sources, comparison, task.X, is_new)
            decided = self._decided(counterparts, decisions, comparison, task)
            part = Judged(pools, counterparts, decided)
            gap = verdict.gap_of(self, task, part, outcome)
            if not is_new and not self._is_published:
                part = replace(part, pools=pools.with_residuals(gap.residual))
            measured.append((part, gap))
        return measured

    def _report(self, task, outcome, measured, may_complain):
        """Judge every complainant, and return a Discovery."""
        judged, tables, gaps, all_pools = [], [], [], []
        for part, gap in measured:
            comparison = part.comparison
            rows = np.flatnonzero(may_complain & comparison.control(task.X))
            groups = self._neighborhoods(part, task, outcome, gap, rows)
            flip = None if part.decided is None else outcome[rows] - part.decided[rows]
            tables.append(report.people_table(self, comparison, rows, groups, flip))
            judged.append(part)
            all_pools.append(part.pools)
            gaps.append(gap)
            n = len(task.memory.pools)
            task.progress(f"{len(judged)} of {n} groups, {len(rows):,} people")
        task.memory = replace(task.memory, pools=all_pools)
        has_several = self.combine == "multiple" and len(self.protected_) > 1
        people = report.joined(tables, len(self.protected_) if has_several else 1)
        comparisons = [part.comparison for part in judged]
        table = verdict.gap_table(self, comparisons, gaps)
        people, claims = self._decided_people(task, judged, people, table)
        excluded = [*task.memory.excluded, *report.unmatched(people, self)]
        memory = task.memory
        still_open = verdict.open_values(
            memory.predicates, comparisons, gaps, task.X, memory.excluded, COVERED
        )
        judgment = verdict.judgment(self, table, gaps, outcome, still_open)
        discovery = self._discovery(task, judged, people, outcome, table, gaps)
        if claims is not None:
            discovery.tables["claims"] = claims
            n_elsewhere = self._n_claims - claims["row"].nunique()
            discovery.notes[:0] = report.claim_notes(claims, n_elsewhere)
        discovery.excluded = pd.DataFrame(excluded, columns=["subject", "n", "reason"])
        discovery.judgment = judgment
        return discovery

    def _decided_people(self, task, judged, people, gaps):
        """Return the table of people with their cases, and the table of claims or None.

        Everyone is screened, unless complainants are named: a claim of theirs is decided by itself.
        Screened people of new rows belong to the groups whose mean gap was significant at fit.
        """
        if self.complainants is None or task.is_audit:
            groups = task.memory.found_groups
            if not task.is_audit:
                groups = gaps.loc[gaps["p_adjusted"] <= self.significance, "group"].tolist()
            return report.decided(people, self, groups if self._has_caliper else None), None
        if not len(people):
            raise ValueError(
                f"None of the {self._n_claims} complainants belongs to a group whose members "
                f"may complain: {'; '.join(str(p.comparison.group) for p in judged)}. Name rows "
                "of these groups, or set group= and reference=."
            )
        imbalance = report.imbalances(task, judged, people, self._ks[0])
        balanced = None if self._is_published else imbalance
        people = report.decided(people, self, imbalance=balanced)
        return people, report.claims_table(people, imbalance, self)

    @property
    def _n_claims(self):
        """The number of rows that `complainants` names."""
        chosen = np.asarray(self.complainants)
        return int(chosen.sum()) if chosen.dtype == bool else len(np.unique(chosen))

    def _discovery(self, task, judged, people, outcome, table, gaps):
        first = people[people["n_neighbors"] == self._ks[0]]
        cases = report.in_order(first[first["case"]], task.X)
        balance = verdict.balance_table(self, task, judged, gaps)
        tables = {"people": people, "counts": report.count_table(people, self)}
        tables |= {"gaps": table, "balance": balance}
        tables |= self._more_tables(task, outcome, judged)
        if self.store_neighbors:
            tables["neighbors"] = report.stored_groups(self, task, judged, cases, outcome)
        compared = first[self._is_compared(first)]
        n = len(compared)
        name = "share of those who may complain with a case"
        share = share_estimate(name, len(cases), n, self.significance)
        return Discovery(
            findings=report.case_findings(self, task, judged, cases),
            measure="outcome of the control group minus that of the test group",
            n_tested=n,
            n_found=len(cases),
            by_value=report.count_by_group(task.memory.predicates, task.X, compared),
            estimates=pd.DataFrame([share], columns=ESTIMATES),
            tables=tables,
            notes=self._notes(task) + verdict.balance_notes(balance, gaps),
            versus=self._versus,
        )

    def _is_compared(self, people):
        """Return a mask of the people whose groups were compared."""
        sizes = np.column_stack([people["n_c"], people["n_t"]])
        compared = (sizes > 0).all(axis=1) & people["delta"].notna().to_numpy()
        if self.output != "decision" and self._criterion != "gap":
            compared &= people["p_value"].notna().to_numpy()  # NaN where all values are equal
        return compared

    def _neighborhoods(self, part, task, outcome, gap, rows):
        """Return the `Neighborhoods` of the complainants in some rows.

        Sums are of outcomes and, except for the published tables, of residuals and their squares.
        """
        ks = [k for k in self._ks if k] or [len(task.memory.X)]
        if self._is_published:
            groups = _alvarez2023.neighborhoods(part, task, rows, ks, self.centers)
        else:
            people = task.X.iloc[rows]
            counterparts = people if part.counterparts is task.X else part.counterparts.iloc[rows]
            groups = part.pools.sums(people, counterparts, None if task.is_audit else rows, ks)
        if not self.centers:
            return groups
        centers = []
        for center_outcome in (outcome[rows], part.decided[rows]):
            residual = center_outcome - gap.expected[rows]
            values = self._values(center_outcome)
            if not self._is_published:
                values = np.column_stack([values, residual, residual**2])
            centers.append(values)
        groups = groups if self._is_published else groups.with_centers(*centers)
        return groups.and_centers(*centers, len(self._ks) - len(ks))

    def _more_tables(self, task, outcome, judged):
        return {}

    def _notes(self, task):
        return [
            "The pools are shared by all complainants, and the decisions of a model are not a "
            "random sample: intervals and p-values describe the sampling of neighbors only."
        ]
