"""Task: one run of a detector, with its request, rows, budget and progress."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, check_consistent_length

from skdisc._blackbox._blackbox import BlackBox
from skdisc._blackbox._queries import Queries
from skdisc._space._feature_space import FeatureSpace
from skdisc._task._budget import COUNTED, Budget
from skdisc._task._numbers import numbers_of
from skdisc._task._progress import Progress
from skdisc._utils._frequency import people_in
from skdisc._utils._hashing import NumberedColumns
from skdisc._utils._inputs import check_order
from skdisc._utils._sample_weight import check_groups, check_weights, repetitions, rows_at
from skdisc._utils._validation import check_known_labels, is_favorable, readable


@dataclass(frozen=True)
class Request:
    """The arguments of `fit`, `audit` or `score`, unchanged.

    Examples
    --------
    >>> request = Request(["a", "b", "c"], [0, 1, 1], sample_weight=[1, 0, 2])
    >>> counted, stay = request.without_weightless()
    >>> counted.X, counted.y, stay
    (['a', 'c'], [0, 1], array([ True, False,  True]))
    """

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
        positions = np.flatnonzero(counts)
        y = None if self.y is None else _safe_indexing(self.y, positions)
        rows = {
            "X": _safe_indexing(self.X, positions),
            "y": y,
            "groups": self._groups_of(positions),
        }
        return replace(self, **rows, sample_weight=weight[positions]), counts

    def repeated(self) -> "Request":
        """Return the request with each row as often as its weight says, and without weights."""
        n = _num_samples(self.X)
        positions = repetitions(self.sample_weight, n)
        y = None if self.y is None else rows_at(self.y, positions)
        model = self.model
        if isinstance(model, BlackBox) and model.decisions is not None:
            model = model.aligned(self.X, np.ones(n, dtype=bool))
            model = BlackBox(decisions=model.decisions[positions])
        return Request(rows_at(self.X, positions), y, model, groups=self._groups_of(positions))

    def _groups_of(self, positions):
        """Return the clusters of the rows at these positions."""
        return (
            None
            if self.groups is None
            else check_groups(self.groups, _num_samples(self.X))[positions]
        )


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
    started : float or None
        When the call began that they are audited in, by `time.perf_counter`. None: unknown.
    """

    X: pd.DataFrame | None = None
    y: np.ndarray | None = None
    weight: np.ndarray | None = None
    stay: np.ndarray | None = None
    n_dropped: int = 0
    groups: np.ndarray | None = None
    sample: Any = None
    frequency: np.ndarray | None = None
    started: float | None = None

    @cached_property
    def numbered(self) -> NumberedColumns | None:
        """The values of readable columns as numbers; None without rows."""
        return None if self.X is None else NumberedColumns(readable(self.X))

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
        return People(
            X,
            y,
            weight,
            stay,
            n_dropped,
            groups=groups,
            sample=self.sample,
            frequency=frequency,
            started=self.started,
        )


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

    Examples
    --------
    A fitted detector opens one, to look at what `_discover` gets:

    >>> from skdisc.individual import Themis
    >>> X = pd.DataFrame({"sex": ["F", "F", "M", "M"], "age": [20, 30, 40, 50]})
    >>> model = lambda rows: ((rows["sex"] == "M") | (rows["age"] > 40)).astype(int)
    >>> detector = Themis(protected="sex", random_state=0).fit(X, model=model)
    >>> task = Task.open(detector, People(X))
    >>> task.decisions()
    array([0., 0., 1., 1.])
    >>> task.codes  # of X: one integer per column
    array([[0, 0],
           [0, 1],
           [1, 2],
           [1, 3]])
    >>> task.budget.queries, task.y is None, task.is_audit
    (4, True, False)
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
        limits = {f"max_{name}": d._limit(name) for name in COUNTED}
        budget = Budget(**limits, started=people.started)

        @cache
        def make_queries():
            if audited.box is None:
                return None
            labels = audited.labels if audited.box.classes is None else None
            output = d._output_of(audited.box)
            return Queries(
                audited.box,
                favorable=audited.favorable,
                space=d.space_,
                budget=budget,
                output=output,
                labels=labels,
            )

        rng = np.random.default_rng(d._seeds)
        progress = Progress(type(d).__name__, d.verbose)
        memory = d._memory if is_audit else None
        return cls(
            people,
            make_queries,
            d.space_,
            budget,
            rng,
            progress,
            audited.favorable,
            audited.labels,
            is_audit,
            memory,
        )

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

    def can_decide(self) -> bool:
        """Return whether `decisions` is within the limits, as it is where labels are audited."""
        return self.queries is None or self.budget.opens(len(self.X))

    @cached_property
    def codes(self) -> np.ndarray:
        """The rows of X as codes of the space, which are computed once."""
        codes = self.space.encode(self.X, self.people.numbered)
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

    def outcome(self) -> np.ndarray:
        """Return what is compared, a float for each row of X, by the setting `output`.

        Decisions (1 favorable, 0 not), probabilities of a favorable one, or, with
        ``output="value"``, the numbers in y.

        Raises
        ------
        ValueError
            If y is audited and none was passed, or if it should be numbers and is not.
        """
        if self.queries is None and self.labels is None:
            return numbers_of(self.y)
        return np.asarray(self.decisions(), dtype=float)

    def favorable_labels(self) -> np.ndarray:
        """Return a boolean mask of the rows with a favorable label.

        Raises
        ------
        ValueError
            If a label did not occur at fit.
        """
        check_known_labels(self.y, self.labels, self.favorable)
        return is_favorable(self.y, self.favorable)
