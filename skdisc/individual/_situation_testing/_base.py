"""SituationDetector: what both situation tests share, their settings, cases and groups."""

from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import Interval, StrOptions

from skdisc import _stats
from skdisc._blackbox._blackbox import AuditedModel
from skdisc._neighbors._distances import METRICS
from skdisc._results._audit_result import Discovery
from skdisc._task._task import Request
from skdisc.individual._base import REQUIRED_SHARE, share_with_case
from skdisc.individual._group_comparison import GroupsDetector
from skdisc.individual._situation_testing import _alvarez2023
from skdisc.individual._situation_testing._neighborhoods import Pools
from skdisc.individual._situation_testing._people_table import (
    count_table,
    decided,
    joined,
    people_table,
)
from skdisc.individual._situation_testing._report import SituationCases
from skdisc.individual._situation_testing._statistics import could_show


@dataclass(frozen=True)
class _PeopleOfFit:
    """The people of fit, among whom neighbors are sought.

    Parameters
    ----------
    X : DataFrame
    outcome : ndarray of float, shape (n,)
    pools : list of Pools
        One for each comparison.
    excluded : dict
        By group that is too small: its size and the reason.
    sources : dict
        By protected column: what returns counterfactual rows.
    """

    X: pd.DataFrame
    outcome: np.ndarray
    pools: list
    excluded: dict
    sources: dict


COMPAT = "alvarez2023"
_ESTIMATE = ["name", "estimate", "ci_low", "ci_high", "n"]


class SituationDetector(SituationCases, GroupsDetector):
    """Base of the detectors that compare a person's neighbours in two groups."""

    _versus = "people alike of the reference"
    _parameter_constraints = {
        **GroupsDetector._parameter_constraints,
        "combine": [StrOptions({"intersectional", "multiple"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), "array-like", None],
        "metric": [StrOptions(set(METRICS)), callable],
        "scale": [StrOptions({"range", "std"})],
        "threshold": [Interval(Real, 0, None, closed="left")],
        "direction": [StrOptions({"lower", "higher", "both"})],
        "test": [StrOptions({"fisher", "mid-p"})],
        "correction": [StrOptions({"bh", "by", "holm", "bonferroni", "none"})],
        "criterion": [StrOptions({"adjusted", "interval", "gap"}), None],
        "output": [StrOptions({"decision", "probability", "value"})],
        "complainants": ["array-like", None],
        "store_neighbours": ["boolean"],
        "compat": [StrOptions({COMPAT}), None],
    }

    centres = False  # a setting of counterfactual situation testing

    @property
    def _takes_missing(self):
        return self.metric == "gower" or callable(self.metric)

    def score(self, X, y=None, sample_weight=None):
        """Return the share of those people in X who may complain that have a case.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
            Decisions, needed where labels are audited.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        float
            Share in [0, 1]; NaN when X has nobody of the group.
        """
        rows = self._read(Request(X, y, None, sample_weight))
        people = self._measure_on(rows).tables["people"]
        people = people[people["n_neighbors"] == self._ks[0]]
        return share_with_case(people["row"], people["case"], rows.weight)

    def _resolve_model(self, people, model):
        if self.output != "value":
            return super()._resolve_model(people, model)
        if model is not None or self.estimator is not None or people.y is None:
            raise ValueError("output='value' compares the numbers in y: give y, and no model.")
        return AuditedModel(None, "labels", None, [])

    @property
    def _ks(self):
        """The sizes of the neighborhoods; [0] is everyone within `max_distance`."""
        if self.n_neighbors is None:
            return [0]
        return [int(k) for k in np.atleast_1d(self.n_neighbors)]

    @property
    def _limit(self):
        """The largest distance of a neighbour; those who share no known feature are at infinity."""
        farthest = np.finfo(float).max if self.metric == "gower" else np.inf
        return farthest if self.max_distance is None else self.max_distance

    @property
    def _criterion(self):
        """The rule that says who has a case."""
        return self.criterion or ("adjusted" if self.compat is None else "gap")

    def _outcome(self, task):
        """Return the outcome of each row: higher is better."""
        if self.output == "value":
            return np.asarray(task.y, dtype=float)
        return task.decisions()

    def _values(self, outcome):
        """Return what is added up over neighbours: unfavourable decisions, or first moments."""
        if self.output == "decision":
            return 1.0 - outcome[:, None]
        return np.column_stack([outcome, outcome**2])

    def _check(self, task):
        self._check_protected()
        given = self.n_neighbors
        if given is None and self.max_distance is None:
            raise ValueError("n_neighbors=None needs max_distance=, the radius.")
        if min(self._ks, default=-1) < (given is not None):
            raise ValueError(f"n_neighbors must be positive, got {self.n_neighbors!r}.")
        if self.compat is not None and self.output != "decision":
            raise ValueError(f"compat={COMPAT!r} compares decisions, got output={self.output!r}.")

    def _discover(self, task):
        self._check(task)
        outcome = self._outcome(task)
        comparisons = self._comparisons(task, outcome, self.protected_)
        pools = [Pools(c, task.X, self._values(outcome), self) for c in comparisons]
        excluded = self._too_small(pools)
        pools = [p for p in pools if str(p.comparison.group) not in excluded]
        task.memory = _PeopleOfFit(task.X, outcome, pools, excluded, self._sources(task))
        return self._report(task, outcome, self._who_may_complain(task))

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

    def _remeasure(self, task):
        return self._report(task, self._outcome(task), np.ones(len(task.X), bool))

    def _sources(self, task):
        """Return the sources of counterfactual rows, by protected column."""
        return {}

    def _counterfactuals(self, known, comparison, X, task=None):
        """Return the centres of the test groups, row by row, and their decisions or None."""
        return X, None

    def _too_small(self, pools):
        """Return by group what is too few; refuse if it is all of them, or named by the user."""
        reasons = {}
        for p in pools:
            others, tests = p.sizes
            wanted = max(self._ks)
            if min(others, tests) < max(wanted, 1):
                few = "reference" if tests < others else "group"
                n = tests if tests < others else others
                who = p.comparison.versus if few == "reference" else str(p.comparison.group)
                what = "people" if few == "reference" else "other people"
                reasons[str(p.comparison.group)] = (
                    len(p.control),
                    f"n_neighbors={wanted} is more than the {n} {what} of the {few} ({who})",
                )
        if reasons and (len(reasons) == len(pools) or self.group is not None):
            raise ValueError(
                f"{next(iter(reasons.values()))[1]}. Ask for fewer neighbours, or name larger "
                "groups in group= and reference=."
            )
        return reasons

    def _report(self, task, outcome, may):
        """Judge everybody who may complain, and put a Discovery together."""
        parts, tables = [], []
        for pools in task.memory.pools:
            rows = np.flatnonzero(may & pools.comparison.control(task.X))
            others, own = self._counterfactuals(task.memory, pools.comparison, task.X, task)
            groups = self._judge(pools, task, outcome, rows, (others, own))
            flip = None if own is None else outcome[rows] - own[rows]
            tables.append(people_table(self, pools.comparison, rows, groups, flip))
            parts.append((pools, others, own))
            task.progress(f"{pools.comparison.group}: {len(rows):,} people")
        several = self.combine == "multiple" and len(self.protected_) > 1
        people = decided(joined(tables, len(self.protected_) if several else 1), self)
        first = people[people["n_neighbors"] == self._ks[0]]
        cases = self._in_order(task.X, first[first["case"]])
        more = self._more_tables(task, outcome, parts)
        if self.store_neighbours:
            more["neighbours"] = self._stored(task, parts, cases)
        n = len(self._judged(first))
        low, high = _stats.wilson(len(cases), n, self.significance)
        share = [len(cases) / n if n else np.nan, float(low), float(high), n]
        name = "share of those who may complain with a case"
        excluded = [(g, n, why) for g, (n, why) in task.memory.excluded.items()]
        return Discovery(
            findings=self._findings(task, parts, cases),
            measure="outcome of the control group minus that of the test group",
            n_tested=n,
            n_found=len(cases),
            smallest_gap=self._smallest_share(first, task.memory.excluded),
            required_gap=REQUIRED_SHARE,
            by_value=self._by_value(task, first),
            estimates=pd.DataFrame([[name, *share]], columns=_ESTIMATE),
            excluded=pd.DataFrame(excluded, columns=["subject", "n", "reason"]),
            tables={"people": people, "counts": count_table(people, self), **more},
            notes=self._notes(task),
            versus=self._versus,
        )

    def _judged(self, people):
        """Return the sizes of both groups of those people who were compared, shape (n, 2)."""
        sizes = np.column_stack([people["n_c"], people["n_t"]])
        compared = (sizes > 0).all(axis=1)
        if self.output != "decision" and self._criterion != "gap":
            compared &= people["p_value"].notna().to_numpy()  # of values that are all the same
        return sizes[compared]

    def _smallest_share(self, first, excluded):
        """Return the smallest share of cases that those would show whose groups can show any.

        NaN where a group was too small.
        """
        groups = self._judged(first)
        n, share = len(groups), 0.0
        if self.output == "decision" and self._criterion != "gap" and n:
            sizes, people = np.unique(groups.round(), axis=0, return_counts=True)
            able, share = could_show(sizes, people, self)
            n = int(people[able].sum())
        smallest = max(float(_stats.min_detectable_share(n, self.significance)), share)
        return float("nan") if excluded or not n else smallest

    def _judge(self, pools, task, outcome, rows, world):
        """Return what the groups of the people in some rows add up to, and their sizes."""
        others, own = world
        if self.compat is not None:
            x_c, n_c, x_t, n_t = self._as_published(pools, task, others, own, rows)
            return (x_c[..., None], n_c), (x_t[..., None], n_t)
        ks = [k or len(task.memory.X) for k in self._ks]
        people = task.X.iloc[rows]
        centres = people, people if others is task.X else others.iloc[rows]
        own_rows = None if task.is_audit else rows
        groups = pools.sums(*centres, own_rows, ks, self._limit)
        return self._with_centres(groups, outcome, own, rows)

    def _with_centres(self, groups, outcome, own, rows):
        return groups

    def _as_published(self, pools, task, others, own, rows):
        if task.is_audit:
            raise ValueError(f"compat={COMPAT!r} judges the people of fit only.")
        names, bad = pools.columns, pools.values[:, 0]
        factual, world = _alvarez2023.World(task.X[names], bad), None
        if others is not task.X:
            world = _alvarez2023.World(others[names], bad if own is None else 1.0 - own)
        ks = np.array(self._ks)
        return _alvarez2023.count(factual, world, rows, pools.test, ks, self.centres)

    def _more_tables(self, task, outcome, parts):
        return {}

    def _notes(self, task):
        return [
            "Pools are shared by all complainants, and decisions of a model are no draws: "
            "intervals and p-values speak of the sampling of neighbours."
        ]
