"""IndividualDetector: the base of the detectors that vary protected values of single rows."""

from dataclasses import dataclass, replace
from itertools import chain
from numbers import Real

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import Interval, StrOptions

from skdisc._blackbox._queries import Queries
from skdisc._results._findings import ESTIMATES, CaseFindings, Discovery, share_estimate
from skdisc._space._codes import MISSING
from skdisc._space._feature_space import FeatureSpace
from skdisc._task._budget import Budget
from skdisc._task._limits import LIMITS, QUERIES, SECONDS, Limits
from skdisc._task._shared_settings import VERBOSE
from skdisc._task._task import Request
from skdisc._utils._hashing import row_hashes
from skdisc._utils._sample_weight import mean
from skdisc._utils._settings import setting
from skdisc._utils._shared_sections import with_sections
from skdisc._utils._types import ArrayLike, Columns, Estimator, FrameLike
from skdisc.base import SCORE, BaseDetector
from skdisc.individual._case_share import (
    CHANCE_NOTE,
    FEWEST,
    MOST_ROWS,
    everyone,
    share_of_cases,
)
from skdisc.individual._prober import Prober, count_by_value

SPACE = setting(None, [FeatureSpace, None], "The possible inputs; learned from X by default.")
_ASKED_OF_BLIND = 500  # rows queried about a model that seems to ignore the protected columns


def share_with_case(rows, case, weight):
    """Return the weighted share of people with a case; NaN if there are none.

    Parameters
    ----------
    rows : array-like of int, shape (n,)
        The rows of the people.
    case : array-like of bool, shape (n,)
    weight : ndarray of float, shape (n_rows,), or None
        The weights of all rows.
    """
    if not len(case):
        return float("nan")
    return mean(case, None if weight is None else weight[np.asarray(rows)])


def input_keys(X, space):
    """Return a hash of the non-protected part of each row: rows with equal parts are one input."""
    if not len(space.np_index):
        return np.zeros(len(X))
    return row_hashes(X.iloc[:, space.np_index])


def _partly_tried(space):
    """Yield how many values of a protected column are tried, and which, unless all of them are."""
    for j in space.p_index:
        column = space.columns[j]
        tried = [c for c in column.probes if c != MISSING]
        if len(tried) < column.size:
            text = f"{column.name} was tried at {len(tried)} of its {column.size} values"
            yield text, ", ".join(map(column.text, tried))


@dataclass(frozen=True)
class _RowCases:
    """The cases among some rows of X.

    Parameters
    ----------
    positions : ndarray of int
        Positions of the rows with a case.
    findings : CaseFindings
    by_value : dict
        Counts of inputs tested and found, by protected value.
    n_rows : int
        Number of rows queried: fewer than X has if a budget ended.
    largest_gap : float
    """

    positions: np.ndarray
    findings: CaseFindings
    by_value: dict
    n_rows: int
    largest_gap: float


class IndividualDetector(BaseDetector):
    """Base of the detectors that vary protected values and compare the decisions.

    Attributes
    ----------
    result_ : AuditResult
        What `fit` found. Findings are `Case` objects: the unfavorable variant of an
        input against its favorable variant.
    {inherited}

    Raises
    ------
    ValueError
        By `fit`, if a setting, a protected column or the data are invalid.
    ModelError
        If the model raises an error or returns something other than outcomes.
    NotFittedError
        By `audit` and `score`, if the detector is not fitted.

    Examples
    --------
    `score`, the share of people with a case, is inherited:

    >>> import pandas as pd
    >>> from skdisc.individual import Themis
    >>> X = pd.DataFrame({"sex": ["F", "F", "M", "M"], "age": [20, 30, 40, 50]})
    >>> model = lambda rows: ((rows["sex"] == "M") | (rows["age"] > 40)).astype(int)
    >>> isinstance(Themis(), IndividualDetector)
    True
    >>> Themis(protected="sex", random_state=0).fit(X, model=model).score(X)
    0.75
    """

    min_gap: float = setting(
        0.0,
        [Interval(Real, 0, 1, closed="left")],
        """Gap between outcomes that must be exceeded; use a value > 0 unless decisions are
        compared.""",
    )
    output: str = setting(
        "decision",
        [StrOptions({"decision", "probability"})],
        "The outcome compared: the decision, or the probability of a favorable decision.",
    )
    limits: Limits | None = LIMITS
    verbose: bool | int = VERBOSE
    estimator: Estimator | None = setting(
        None,
        text="""Cloned and fitted when `fit` gets no model; a ``FrozenEstimator`` is used as it
        is. With neither, a small tree fitted to y is audited (a surrogate).""",
    )
    protected: Columns | None = setting(None, text="Columns whose values are varied.")

    null = "individual"
    _asks = True
    _no_numbers = "boundary"
    rule_fields = ("significance", "relevant_share")
    limit_fields = {"queries": QUERIES, "seconds": SECONDS}
    scope = "joint"  # a setting of some: "each" varies one protected column at a time

    @with_sections(SCORE)
    def score(
        self, X: FrameLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the share of people in X who have a case.

        NaN if no row was tested.
        """
        people = self._read(Request(X, None, None, sample_weight))
        task = self._opened(people, is_audit=True)
        result = self._conclude(task, self._remeasure(task))
        if task.queries.is_random:
            self._refuse_weight(sample_weight)
            return float(result.estimates["estimate"].iloc[0])
        n = int(result.estimates["n"].iloc[0])  # fewer than the rows of X if a budget ended
        has_case = np.zeros(result.n_samples)
        has_case[result.findings.row] = 1.0
        return share_with_case(range(n), has_case[:n], people.weight)

    def _statistic(self, task):
        """Return the mean, over people, of the largest gap between their variants.

        For decisions it is the share of people with a case. Large data are sampled; the sample does
        not depend on protected values or on the model.
        """
        X = task.X if task.X is not None else task.space.decode(task.space.sample(1000, task.rng))
        most = max(FEWEST, MOST_ROWS // len(task.space.combos()))
        if len(X) > most:
            order = np.argsort(input_keys(X, task.space), kind="stable")
            X = X.iloc[order[task.rng.permutation(len(X))[:most]]]
        parts = [Prober(part, 0.0).rows(X)[1] for part in task.parts(self.scope)]
        return max(float(np.ptp(p, axis=1).mean()) if len(p) else 0.0 for p in parts)

    def _remeasure(self, task):
        """Find the rows that have a case."""
        parts = [self._row_cases(part) for part in task.parts(self.scope)]
        n, positions = min(p.n_rows for p in parts), np.concatenate([p.positions for p in parts])
        has_case = np.zeros(n, dtype=bool)
        has_case[positions[positions < n]] = True
        share = everyone(has_case, len(task.X), self._why_incomplete(task.space))
        if task.queries.is_random:
            share = self._share_of_people(task)
        blind = self._blindness(task, max(p.largest_gap for p in parts))
        chance = [CHANCE_NOTE] if task.queries.is_random else []
        return Discovery(
            findings=self._joined(task, [p.findings for p in parts]),
            measure=self._measure(),
            n_tested=task.budget.tests,
            n_found=task.budget.found,
            by_value=dict(chain.from_iterable(p.by_value.items() for p in parts)),
            estimates=self._shares([], first=share),
            notes=self._probe_notes(task) + blind + chance,
            answer=share.answer(self, blind),
        )

    def _share_of_people(self, task, ledgers=()):
        """Return the `CaseShare` of the people of ``task.X``, or of the inputs of its space.

        The verdict is ``share.answer(self)``. Another model is examined on the same
        people by ``self._share_of_people(self._aside(task, self.output, box=BlackBox(other)))``,
        whose queries are charged to a budget of their own, ``aside.budget.queries``.

        Parameters
        ----------
        task : Task
        ledgers : sequence of Ledger
            What a search has tested, one for each part of the task.

        Returns
        -------
        CaseShare
        """
        return share_of_cases(self, task, ledgers)

    def _why_incomplete(self, space):
        """Return why a person without a case may have one that is not looked for, or ""."""
        for text, _ in _partly_tried(space):
            return text
        if self.scope == "each" and len(space.p_index) > 1:
            return "the protected columns were changed one at a time"
        if self.output != "decision" and self.min_gap > 0:
            return f"differences of up to {self.min_gap:g} are no cases"
        return ""

    def _row_cases(self, task):
        """Return the `_RowCases` of X."""
        prober = Prober(task, self.min_gap)
        original_outcomes, outcomes = prober.rows(task.X)
        X = task.X.iloc[: len(original_outcomes)]
        if task.queries.is_random:  # then no single difference is known to be a case
            outcomes = np.repeat(original_outcomes[:, None], outcomes.shape[1], axis=1)
        positions, findings = prober.row_cases(X, original_outcomes, outcomes)
        inputs = input_keys(X, task.space)
        _, first = np.unique(inputs[positions], return_index=True)
        n_tested = len(np.unique(inputs))
        task.budget.tests += n_tested
        task.budget.found += len(first)
        p = task.space.p_index
        frames = findings.original, findings.altered
        before, after = (task.space.encode(f)[:, p][first] for f in frames)
        counts = count_by_value(prober, n_tested, before, after)
        return _RowCases(positions, findings, counts, len(original_outcomes), prober.largest_gap)

    def _joined(self, task, findings):
        """Return the findings of all parts, with the column varied if it is one at a time."""
        if self.scope == "joint":
            return CaseFindings.joined(findings)
        varied = np.repeat(np.array(task.space.protected, object), [len(f) for f in findings])
        return CaseFindings.joined(findings, pd.DataFrame({"varied": varied}))

    def _measure(self):
        """Return the name of the outcome compared."""
        named = {"probability": "probability of a favorable decision"}
        return named.get(self.output, self.output)

    def _shares(self, counts, first=None):
        """Return a `CaseShare`, and shares with Wilson intervals, one row per (name, hits, n)."""
        rows = [] if first is None else [first.row]
        rows += [share_estimate(*count, self.significance) for count in counts]
        return pd.DataFrame(rows, columns=ESTIMATES)

    def _probe_notes(self, task):
        """Return notes on protected columns that were not tried at every value."""
        return [f"{text}: {values}." for text, values in _partly_tried(task.space)]

    def _blindness(self, task, largest_gap):
        """Return a note if a model that was fitted here ignores the protected columns.

        If only decisions were compared, the probabilities of some rows of X are compared, too, if
        the model returns probabilities and the limit of queries allows it.
        """
        fitted_here = self.audited_ in ("surrogate", "refit")
        if largest_gap > 0 or not fitted_here or not task.budget.tests:
            return []
        if self.output == "decision" and self.model_.has_probabilities:
            aside = self._aside(task, "probability")
            closer = Prober(aside, 0.0)
            _, outcomes = closer.rows(task.X.iloc[: max(1, _ASKED_OF_BLIND // closer.n_combos)])
            task.budget.queries += aside.budget.queries
            if np.ptp(outcomes, axis=1).max(initial=0.0) > 0:
                return []
        what = "surrogate" if self.audited_ == "surrogate" else "refitted model"
        return [
            f"The {what} does not use the protected columns: its answers never changed with them. "
            "The absence of cases is therefore not evidence that the decisions in y are fair."
        ]

    def _aside(self, task, output, budget=None, box=None):
        """Return the task with queries of its own, within the rest of the limit of queries.

        The model comes from the task, or is the `BlackBox` passed.
        """
        limit, spent = task.budget.max_queries, task.budget.queries
        budget = budget or Budget(max_queries=None if limit is None else max(limit - spent, 0))
        queries = Queries(
            box or self.model_,
            favorable=self.pos_label_,
            space=self.space_,
            budget=budget,
            output=output,
            labels=task.queries.labels,
        )
        return replace(task, make_queries=lambda: queries, budget=budget)
