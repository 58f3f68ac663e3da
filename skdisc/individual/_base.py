"""IndividualDetector: what the detectors of individual discrimination share."""

from dataclasses import replace
from numbers import Real

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import Interval, StrOptions

from skdisc import _stats
from skdisc._budget import Budget
from skdisc._column import MISSING
from skdisc._model import Queries
from skdisc._result import Discovery
from skdisc._space import FeatureSpace
from skdisc.base import BaseDetector
from skdisc.individual._probe import Prober
from skdisc.individual._search import count_by_value, n_inputs

REQUIRED_SHARE = 0.05


class IndividualDetector(BaseDetector):
    """Base of the detectors that vary protected values and watch the decision."""

    _asks = True
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
        result = self.audit(X)
        n = int(result.estimates["n"].iloc[0])  # fewer than X has rows when a budget ended
        if not n:
            return float("nan")
        has_case = np.zeros(result.n_samples)
        has_case[result.findings.row] = 1.0
        weights = None if sample_weight is None else np.asarray(sample_weight)[:n]
        return float(np.average(has_case[:n], weights=weights))

    def _remeasure(self, task):
        """Say who among the rows has a case."""
        prober = Prober(task, self.min_gap)
        own, outcomes = prober.rows(task.X)
        X = task.X.iloc[: len(own)]
        at, findings = prober.row_cases(X, own, outcomes)
        parts = X.iloc[:, task.space.np_index]
        inputs = np.zeros(len(X))
        if parts.shape[1]:
            inputs = pd.util.hash_pandas_object(parts, index=False).to_numpy()
        _, first = np.unique(inputs[at], return_index=True)
        task.budget.tests, task.budget.found = len(np.unique(inputs)), len(first)
        p = task.space.p_index
        frames = findings.original, findings.altered
        before, after = (task.space.encode(f)[:, p][first] for f in frames)
        return Discovery(
            findings=findings,
            measure=self._measure(),
            n_tested=task.budget.tests,
            n_found=task.budget.found,
            smallest_gap=float(_stats.min_detectable_share(len(own), self.significance)),
            required_gap=REQUIRED_SHARE,
            by_value=count_by_value(prober, task.budget.tests, before, after),
            estimates=self._shares([("share of the rows of X with a case", len(at), len(own))]),
            notes=self._probe_notes(task) + self._blindness(task, prober),
        )

    def _measure(self):
        return "decision" if self.output == "decision" else "probability of a favourable decision"

    def _smallest_share(self, task, n):
        """Return the smallest share of cases that n draws show; 0 once every input was tested."""
        if task.budget.tests >= n_inputs(task.space):
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

    def _blindness(self, task, prober, n_rows=500):
        """Say so when a model that was fitted here ignores the protected columns.

        Where only decisions were looked at, the probabilities of some rows of X, if the model
        gives any and `max_queries` allows it, are looked at too.
        """
        fitted_here = self.audited_ in ("surrogate", "refit")
        if prober.largest_gap > 0 or not fitted_here or not task.budget.tests:
            return []
        if self.output == "decision" and self.model_.has_probabilities:
            limit, spent = task.budget.max_queries, task.budget.queries
            budget = Budget(max_queries=None if limit is None else limit - spent)
            queries = Queries(
                self.model_, self.pos_label_, self.space_, budget, "probability", self.n_jobs
            )
            closer = Prober(replace(task, queries=queries, budget=budget), 0.0)
            rows = task.X.iloc[: max(1, n_rows // prober.n_combos)]
            _, outcomes = closer.rows(rows)
            task.budget.queries += budget.queries
            if np.ptp(outcomes, axis=1).max(initial=0.0) > 0:
                return []
        what = "surrogate" if self.audited_ == "surrogate" else "refitted model"
        return [
            f"The {what} uses no protected column (its answers never changed with them): that it "
            "shows no case says nothing about the decisions in y, and must not be read as fair."
        ]
