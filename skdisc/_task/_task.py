"""Task: one run of a detector, with its request, rows, budget and progress."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, check_consistent_length

from skdisc._blackbox._blackbox import BlackBox
from skdisc._blackbox._queries import Queries
from skdisc._space._feature_space import FeatureSpace
from skdisc._task._progress import Progress
from skdisc._utils._frequency import people_in
from skdisc._utils._inputs import check_order
from skdisc._utils._sample_weight import check_weights, repetitions, rows_at
from skdisc._utils._validation import check_groups, check_known_labels, is_favorable


@dataclass(frozen=True)
class Request:
    """The arguments of `fit`, `audit` or `score`, unchanged."""

    X: object = None
    y: object = None
    model: object = None
    sample_weight: object = None
    groups: object = None
    frequency: object = None  # of the rows of counts
    bins: object = None
    sample: object = None  # how the rows were drawn from a source

    def __post_init__(self) -> None:
        check_order(X=self.X, y=self.y, sample_weight=self.sample_weight, groups=self.groups)

    def without_weightless(self) -> "tuple[Request, np.ndarray]":
        """Return the request without rows of weight 0, and a mask of the rows that stay."""
        weight = check_weights(self.sample_weight, _num_samples(self.X))
        counts = weight > 0
        if counts.all():
            return replace(self, sample_weight=weight), counts
        check_consistent_length(self.X, self.y)
        at = np.flatnonzero(counts)
        y = None if self.y is None else _safe_indexing(self.y, at)
        rows = {"X": _safe_indexing(self.X, at), "y": y, "groups": self._groups_of(at)}
        return replace(self, **rows, sample_weight=weight[at]), counts

    def repeated(self) -> "Request":
        """Return the request with each row as often as its weight says, and without weights."""
        n = _num_samples(self.X)
        at = repetitions(self.sample_weight, n)
        y = None if self.y is None else rows_at(self.y, at)
        model = self.model
        if isinstance(model, BlackBox) and model.decisions is not None:
            model = model.aligned(self.X, np.ones(n, dtype=bool))
            model = BlackBox(decisions=model.decisions[at])
        return Request(rows_at(self.X, at), y, model, groups=self._groups_of(at))

    def _groups_of(self, at):
        """Return the clusters of the rows at these positions."""
        return None if self.groups is None else check_groups(self.groups, _num_samples(self.X))[at]


@dataclass(frozen=True)
class People:
    """The rows under audit, read and checked once.

    Parameters
    ----------
    X : DataFrame or None
        None if only a `FeatureSpace` was passed.
    y : ndarray of shape (n_rows,) or None
    weight : ndarray of float, shape (n_rows,), or None
        Sample weights as passed.
    stay : ndarray of bool, shape (n_passed,), or None
        Mask of the passed rows that are under audit.
    n_dropped : int
        Number of people dropped because a protected value is missing.
    groups : ndarray of shape (n_rows,), or None
        The cluster of each row.
    sample : SampledRows, SourceSample or None
        How the rows were drawn, if not all are under audit.
    frequency : ndarray of int64, shape (n_rows,), or None
        The number of equal people that each row stands for; None: 1.
    """

    X: pd.DataFrame | None = None
    y: np.ndarray | None = None
    weight: np.ndarray | None = None
    stay: np.ndarray | None = None
    n_dropped: int = 0
    groups: np.ndarray | None = None
    sample: Any = None
    frequency: np.ndarray | None = None

    @property
    def n(self) -> int:
        """Number of people; 0 without rows."""
        if self.frequency is not None:
            return int(self.frequency.sum())
        return 0 if self.X is None else len(self.X)

    def only(self, stay: np.ndarray) -> "People":
        """Return the rows where a mask is True; the others count as dropped."""
        if stay.all():
            return replace(self, stay=stay)
        columns = (self.y, self.weight, self.groups, self.frequency)
        y, weight, groups, frequency = (None if a is None else a[stay] for a in columns)
        X, n_dropped = self.X[stay].reset_index(drop=True), people_in(~stay, self.frequency)
        return People(X, y, weight, stay, n_dropped, groups, self.sample, frequency)


_LIMITS = ("max_tests", "max_queries", "max_found", "time_budget")


@dataclass
class Budget:
    """Limits of one fit or audit; None stands for no limit.

    Parameters
    ----------
    max_tests : int or None
        Number of distinct inputs (individual search) or candidate subgroups (subgroup search).
    max_queries : int or None
        Number of rows sent to the model.
    max_found : int or None
        Number of findings.
    time_budget : float or None
        Seconds, checked between batches.

    Attributes
    ----------
    tests, queries, found : int
        Numbers charged so far.
    stopped_by : str or None
        The limit that ended the search; None if the search completed.

    Examples
    --------
    >>> Budget(max_tests=50).max_queries is None
    True
    """

    max_tests: int | None = None
    max_queries: int | None = None
    max_found: int | None = None
    time_budget: float | None = None
    tests: int = field(default=0, init=False)
    queries: int = field(default=0, init=False)
    found: int = field(default=0, init=False)
    stopped_by: str | None = field(default=None, init=False)
    _started: float = field(default_factory=time.perf_counter, init=False, repr=False)

    def __post_init__(self):
        for name in ("max_tests", "max_queries", "max_found"):  # NumPy integers could overflow
            limit = getattr(self, name)
            setattr(self, name, None if limit is None else int(limit))

    @property
    def elapsed(self) -> float:
        """Seconds since the budget was opened."""
        return time.perf_counter() - self._started

    def allow(self, n: int, rows_each: int = 1) -> int:
        """Return how many of `n` further tests, with `rows_each` queries each, are allowed.

        If they are fewer than `n`, a limit ends the search, and `stopped_by` names it. A test with
        ``rows_each=0`` takes no query.
        """
        room = {"max_tests": self._left(self.max_tests, self.tests)}
        rows = self._left(self.max_queries, self.queries)
        room["max_queries"] = rows if rows is None else rows // rows_each if rows_each else None
        if self.max_found is not None and self.found >= self.max_found:
            room["max_found"] = 0
        if self.has_spent(1):
            room["time_budget"] = 0
        for name, left in room.items():
            if left is not None and left < n:
                n, self.stopped_by = left, name
        return n

    def portions(self, n: int) -> Iterator[None]:
        """Yield n times, each time with limits at an equal share of the rest; then restore them.

        What one portion does not use remains for the next ones.
        """
        limits = {name: getattr(self, name) for name in _LIMITS}
        ended = None
        for left in range(n, 0, -1):
            self.stopped_by = None
            spent = (self.tests, self.queries, self.found, self.elapsed)
            for (name, limit), gone in zip(limits.items(), spent, strict=True):
                if limit is not None:
                    more = max(limit - gone, 0)
                    share = more / left if name == "time_budget" else more // left
                    setattr(self, name, limit if left == 1 else gone + share)
            yield
            ended = ended or self.stopped_by
        self.stopped_by = ended
        for name, limit in limits.items():
            setattr(self, name, limit)

    @contextmanager
    def besides_tests(self) -> Iterator[None]:
        """Lift the limits on tests and findings for queries that are none of them.

        Limits on queries and time hold, with what is left of them.
        """
        kept = self.max_tests, self.max_found, self.stopped_by
        self.max_tests = self.max_found = self.stopped_by = None
        yield
        self.max_tests, self.max_found, before = kept
        self.stopped_by = before or self.stopped_by

    def has_spent(self, share: float) -> bool:
        """Return True if this share of the time budget has elapsed."""
        return self.time_budget is not None and self.elapsed >= share * self.time_budget

    def opens(self, n_rows: int) -> bool:
        """Return True if at least one test is allowed, and `n_rows` queries before it."""
        return self.allow(1) > 0 and self.affords(n_rows)

    @property
    def queries_left(self) -> float:
        """Number of further queries allowed; infinity without a limit."""
        left = self._left(self.max_queries, self.queries)
        return float("inf") if left is None else left

    def affords(self, n_rows: int) -> bool:
        """Return True if `n_rows` further queries are allowed; otherwise set `stopped_by`."""
        left = self._left(self.max_queries, self.queries)
        if left is not None and left < n_rows:
            self.stopped_by = "max_queries"
        elif self.has_spent(1):
            self.stopped_by = "time_budget"
        else:
            return True
        return False

    def pieces(self, n: int, most: int, rows_each: int = 1) -> Iterator[slice]:
        """Yield slices that cover n tests of `rows_each` rows, with at most `most` rows per slice.

        With a time budget, a slice has as many rows as took a twentieth of it so far, and at least
        2,000, so that the time can be checked between slices.
        """
        start = 0
        while start < n:
            rows = most
            if self.time_budget is not None:
                a_twentieth = self.queries * self.time_budget / 20 / max(self.elapsed, 1e-9)
                rows = int(min(most, max(a_twentieth, 2000)))
            end = start + max(rows // rows_each, 1)
            yield slice(start, end)
            start = end

    @staticmethod
    def _left(limit, spent):
        """Return the rest of a limit; None if there is no limit."""
        return None if limit is None else max(limit - spent, 0)


@dataclass
class Task:
    """One run of a fitted detector: the input of `_discover` and `_remeasure`.

    Parameters
    ----------
    people : People
        The rows under audit; their X is None if only a space was passed.
    make_queries : callable
        Returns the `Queries` of this run, the same at every call; None if labels are audited.
    space : FeatureSpace
    budget : Budget
    rng : numpy.random.Generator
        The only source of randomness.
    progress : Progress
    favorable, labels : list
        The favorable labels, and all labels; `labels` is None if they are unknown.
    is_audit : bool
        Whether findings of fit are measured again.
    memory : object
        The record that `_discover` leaves for audits; in an audit, that of fit.
    """

    people: People
    make_queries: Callable
    space: FeatureSpace
    budget: Budget
    rng: np.random.Generator
    progress: Progress
    favorable: list
    labels: list | None
    is_audit: bool = False
    memory: object = None

    @classmethod
    def open(cls, detector: Any, people: People, *, is_audit: bool = False) -> "Task":
        """Open a budget, a query counter and a random generator for one run of a detector.

        Parameters
        ----------
        detector : BaseDetector
            With its model and space set.
        people : People
        is_audit : bool, default=False

        Returns
        -------
        Task
        """
        d, audited = detector, detector._audited
        budget = Budget(**{name: getattr(d, name) for name in _LIMITS})

        @cache
        def make_queries():
            if audited.box is None:
                return None
            labels = audited.labels if audited.box.classes is None else None
            output = d._output_of(audited.box)
            given = audited.box, audited.favorable, d.space_, budget, output, d.n_jobs, labels
            return Queries(*given)

        rng = np.random.default_rng(d._seeds)
        progress = Progress(type(d).__name__, d.verbose)
        memory = d._memory if is_audit else None
        given = make_queries, d.space_, budget, rng, progress, audited.favorable, audited.labels
        return cls(people, *given, is_audit, memory)

    @property
    def queries(self) -> Queries | None:
        """The `Queries` of this run; None if labels are audited."""
        return self.make_queries()

    @property
    def X(self) -> pd.DataFrame | None:  # noqa: N802
        """The rows under audit; None if only a space was passed."""
        return self.people.X

    @property
    def y(self) -> np.ndarray | None:
        """The labels of the rows; None if no labels were passed."""
        return self.people.y

    @cached_property
    def weight(self) -> np.ndarray | None:
        """The weights of the rows, scaled to a mean of 1; None if there are none, or all equal."""
        weight = self.people.weight
        if weight is None or not len(weight) or weight.min() == weight.max():
            return None
        return weight / weight.mean()

    def parts(self, scope: str) -> "Iterator[Task]":
        """Yield the task; with scope "each", one task per protected column with shared limits.

        Parameters
        ----------
        scope : {"joint", "each"}
        """
        spaces = [self.space]
        if scope == "each":
            spaces = [self.space.varying([name]) for name in self.space.protected]
        for _, space in zip(self.budget.portions(len(spaces)), spaces, strict=True):
            yield replace(self, space=space)

    @cached_property
    def codes(self) -> np.ndarray:
        """The rows of X as codes of the space, which are computed once."""
        codes = self.space.encode(self.X)
        codes.flags.writeable = False
        return codes

    def decisions(self) -> np.ndarray:
        """Return 1 for each row of X with a favorable decision, and 0 for the others.

        Raises
        ------
        ValueError
            If labels are audited and no y was passed.
        """
        if self.queries is not None:
            return self.queries.given(self.X)
        if self.y is None:
            raise ValueError("Labels were audited at fit, so y is needed to audit new data.")
        return self.favorable_labels().astype(float)

    def favorable_labels(self) -> np.ndarray:
        """Return a boolean mask of the rows with a favorable label.

        Raises
        ------
        ValueError
            If a label did not occur at fit.
        """
        check_known_labels(self.y, self.labels)
        return is_favorable(self.y, self.favorable)
