"""IndividualDetector: what the detectors of individual discrimination share."""

from dataclasses import replace
from itertools import chain
from numbers import Real

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import Interval, StrOptions

from skdisc import _stats
from skdisc._blackbox._queries import Queries
from skdisc._results._audit_result import Discovery
from skdisc._results._findings import CaseFindings
from skdisc._space._codes import MISSING
from skdisc._space._feature_space import FeatureSpace
from skdisc._task._task import Budget, Request
from skdisc._utils._sample_weight import mean
from skdisc.base import BaseDetector
from skdisc.individual._prober import Prober, count_by_value, n_inputs

REQUIRED_SHARE = 0.05


def share_with_case(rows, case, weight):
    """Return the weighted share of people with a case; NaN where there is nobody.

    Parameters
    ----------
    rows : array-like of int, shape (n,)
        Their rows.
    case : array-like of bool, shape (n,)
    weight : ndarray of float, or None
        Of all rows.
    """
    if not len(case):
        return float("nan")
    return mean(case, None if weight is None else weight[np.asarray(rows)])


class IndividualDetector(BaseDetector):
    """Base of the detectors that vary protected values and watch the decision."""

    _asks = True
    scope = "joint"  # of those that do not vary protected columns one at a time
    _parameter_constraints = {
        **BaseDetector._parameter_constraints,
        "output": [StrOptions({"decision", "probability"})],
        "min_gap": [Interval(Real, 0, 1, closed="left")],
        "space": [FeatureSpace, None],
    }

    def score(self, X, y=None, sample_weight=None):
        """Return the share of people in X who have a case.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        float
            Share in [0, 1]; NaN when no row was tested.
        """
        people = self._read(Request(X, None, None, sample_weight))
        result = self._measure_on(people)
        n = int(result.estimates["n"].iloc[0])  # fewer than X has rows when a budget ended
        has_case = np.zeros(result.n_samples)
        has_case[result.findings.row] = 1.0
        return share_with_case(range(n), has_case[:n], people.weight)

    def _remeasure(self, task):
        """Say who among the rows has a case."""
        looked = [self._look_at(part) for part in task.parts(self.scope)]
        at, findings, counts, n, gaps = zip(*looked, strict=True)
        n = min(n)
        with_case = len(np.unique(np.concatenate(at)[np.concatenate(at) < n]))
        return Discovery(
            findings=self._joined(task, findings),
            measure=self._measure(),
            n_tested=task.budget.tests,
            n_found=task.budget.found,
            smallest_gap=float(_stats.min_detectable_share(n, self.significance)),
            required_gap=REQUIRED_SHARE,
            by_value=dict(chain.from_iterable(c.items() for c in counts)),
            estimates=self._shares([("share of the rows of X with a case", with_case, n)]),
            notes=self._probe_notes(task) + self._blindness(task, max(gaps)),
        )

    def _look_at(self, task):
        """Return the cases among the rows, counts by value, the rows asked, the largest gap."""
        prober = Prober(task, self.min_gap)
        own, outcomes = prober.rows(task.X)
        X = task.X.iloc[: len(own)]
        at, findings = prober.row_cases(X, own, outcomes)
        parts = X.iloc[:, task.space.np_index]
        inputs = np.zeros(len(X))
        if parts.shape[1]:
            inputs = pd.util.hash_pandas_object(parts, index=False).to_numpy()
        _, first = np.unique(inputs[at], return_index=True)
        n_tested = len(np.unique(inputs))
        task.budget.tests += n_tested
        task.budget.found += len(first)
        p = task.space.p_index
        frames = findings.original, findings.altered
        before, after = (task.space.encode(f)[:, p][first] for f in frames)
        counts = count_by_value(prober, n_tested, before, after)
        return at, findings, counts, len(own), prober.largest_gap

    def _joined(self, task, findings):
        """Return the findings of all parts; where columns vary one at a time, with its name."""
        if self.scope == "joint":
            return CaseFindings.joined(findings)
        varied = np.repeat(np.array(task.space.protected, object), [len(f) for f in findings])
        return CaseFindings.joined(findings, pd.DataFrame({"varied": varied}))

    def _measure(self):
        named = {"probability": "probability of a favourable decision"}
        return named.get(self.output, self.output)

    def _smallest_share(self, space, tested, n):
        """Return the smallest share of cases that n draws show; 0 once every input was tested."""
        if tested >= n_inputs(space):
            return 0.0
        return float(_stats.min_detectable_share(n, self.significance))

    def _shares(self, counts):
        """Return shares with their Wilson intervals, one row per (name, hits, n)."""
        rows = []
        for name, hits, n in counts:
            low, high = _stats.wilson(hits, n, self.significance)
            rows.append((name, hits / n if n else np.nan, float(low), float(high), n))
        return pd.DataFrame(rows, columns=["name", "estimate", "ci_low", "ci_high", "n"])

    def _probe_notes(self, task):
        """Say which protected columns were not tried at every value."""
        notes = []
        for j in task.space.p_index:
            column = task.space.columns[j]
            tried = [c for c in column.probes if c != MISSING]
            if len(tried) < column.size:
                values = ", ".join(column.text(c) for c in tried)
                notes.append(
                    f"{column.name} was tried at {len(tried)} of its {column.size} values: "
                    f"{values}."
                )
        return notes

    def _blindness(self, task, largest_gap, n_rows=500):
        """Say so when a model that was fitted here ignores the protected columns.

        Where only decisions were looked at, the probabilities of some rows of X, if the model
        gives any and `max_queries` allows it, are looked at too.
        """
        fitted_here = self.audited_ in ("surrogate", "refit")
        if largest_gap > 0 or not fitted_here or not task.budget.tests:
            return []
        if self.output == "decision" and self.model_.has_probabilities:
            aside = self._aside(task, "probability")
            closer = Prober(aside, 0.0)
            _, outcomes = closer.rows(task.X.iloc[: max(1, n_rows // closer.n_combos)])
            task.budget.queries += aside.budget.queries
            if np.ptp(outcomes, axis=1).max(initial=0.0) > 0:
                return []
        what = "surrogate" if self.audited_ == "surrogate" else "refitted model"
        return [
            f"The {what} uses no protected column (its answers never changed with them): that it "
            "shows no case says nothing about the decisions in y, and must not be read as fair."
        ]

    def _aside(self, task, output, budget=None):
        """Return the task with questions of its own, within what is left of `max_queries`."""
        limit, spent = task.budget.max_queries, task.budget.queries
        budget = budget or Budget(max_queries=None if limit is None else max(limit - spent, 0))
        given = self.model_, self.pos_label_, self.space_, budget, output, self.n_jobs
        queries = Queries(*given, labels=task.queries.labels)
        return replace(task, make_queries=lambda: queries, budget=budget)
