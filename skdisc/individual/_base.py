"""IndividualDetector: what the detectors of individual discrimination share."""

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import Interval, StrOptions
from numbers import Real

from skdisc import _stats
from skdisc._column import MISSING
from skdisc._model import Queries
from skdisc._result import Discovery
from skdisc._space import FeatureSpace
from skdisc.base import BaseDetector
from skdisc.individual._probe import Prober
from skdisc.individual._search import count_by_value

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
        has_case = np.zeros(result.n_samples)
        has_case[result.findings.row] = 1.0
        tested = slice(0, result.estimates["n"].iloc[0])
        weights = None if sample_weight is None else np.asarray(sample_weight)[tested]
        return (
            float(np.average(has_case[tested], weights=weights))
            if has_case[tested].size
            else float("nan")
        )

    def _remeasure(self, task):
        """Say who among the rows has a case."""
        prober = Prober(task, self.min_gap)
        n = task.budget.allow(len(task.X), prober.n_combos + 1)
        X = task.X.iloc[:n]
        own, outcomes = prober.rows(X) if n else (np.empty(0), np.empty((0, prober.n_combos)))
        at, findings = prober.row_cases(X, own, outcomes)
        parts = X.iloc[:, task.space.np_index]
        inputs = (
            pd.util.hash_pandas_object(parts, index=False).to_numpy()
            if parts.shape[1]
            else np.zeros(n)
        )
        n_tested, (_, firsts) = len(np.unique(inputs)), np.unique(inputs[at], return_index=True)
        task.budget.tests, task.budget.found = n_tested, len(firsts)
        p = task.space.p_index
        before, after = (
            task.space.encode(f)[:, p][firsts] for f in (findings.original, findings.altered)
        )
        return Discovery(
            findings=findings,
            measure=self._measure(),
            n_tested=n_tested,
            n_found=len(firsts),
            smallest_gap=float(_stats.min_detectable_share(n, self.significance)),
            required_gap=REQUIRED_SHARE,
            by_value=count_by_value(prober, n_tested, before, after),
            estimates=self._shares([("share of the rows of X with a case", len(at), n)]),
            notes=self._probe_notes(task) + self._blindness(task, len(at)),
        )

    def _measure(self):
        return "decision" if self.output == "decision" else "probability of a favourable decision"

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
                    f"{column.name} was tried at {len(tried)} of its {column.size} values: {values}."
                )
        return notes

    def _blindness(self, task, n_found, n_rows=500):
        """Say so when no case was found because a model fitted here ignores the protected columns.

        Asked are the probabilities, where there are any, of some rows of X with every combination.
        """
        if n_found or self.audited_ not in ("surrogate", "refit") or task.X is None:
            return []
        output = "probability" if self.model_.has_probabilities else "decision"
        queries = Queries(
            self.model_, self.pos_label_, self.space_, task.budget, output, self.n_jobs
        )
        prober = Prober(task, 0.0)
        prober.queries = queries
        rows = task.X.iloc[: max(1, n_rows // prober.n_combos)]
        if rows.empty or np.ptp(prober.rows(rows)[1], axis=1).max() > 0:
            return []
        what = "surrogate" if self.audited_ == "surrogate" else "refitted model"
        return [
            f"The {what} uses no protected column (its answers for {len(rows)} rows never change with them): that it shows "
            "no case says nothing about the decisions in y, and must not be read as fair."
        ]
