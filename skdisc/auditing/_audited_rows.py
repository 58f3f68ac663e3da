"""AuditedRows: what was given to an audit, read and checked once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import _num_samples

from skdisc._blackbox._blackbox import BlackBox, is_trained, resolve
from skdisc._blackbox._queries import Queries
from skdisc._counts._counted_table import SAMPLE, CountedTable, SourceRows, is_source
from skdisc._counts._counts import Counts
from skdisc._results._audit_result import AuditResult
from skdisc._space._bins import Bins
from skdisc._space._feature_space import FeatureSpace
from skdisc._space._subgroup import Predicate, Subgroup
from skdisc._task._budget import Budget
from skdisc._task._task import Request
from skdisc._utils import _validation as check
from skdisc._utils._favorable import favorable_labels, known_classes
from skdisc._utils._frequency import people_in
from skdisc._utils._inputs import check_order, check_settings_order
from skdisc._utils._sample_weight import check_groups, check_weights, frequencies
from skdisc.auditing._numbers import DECISION, DIFFERENCE, ComparedNumbers, numbers_of
from skdisc.auditing._pay._payroll import Payroll, read_payroll
from skdisc.auditing._pay._templates import TEMPLATES
from skdisc.causal._counterfactual_rows import take_rows

TRAINED = "fitted model"
_ANY = 2**62  # numbers that are not binned are items one by one

AMONG = {  # whom a rate is about, if not all: those with one value of labels or outcomes
    "true_positive_rate": ("labels", 1),
    "false_positive_rate": ("labels", 0),
    "positive_predictive_value": ("outcomes", 1),
}


@dataclass(frozen=True)
class AuditedRows:
    """The rows under audit, and what decided about them.

    Parameters
    ----------
    box : BlackBox or None
        The model, or the decisions; None if the labels are audited.
    kind : {"labels", "decisions", "model", "fitted model"}
    favorable : list
        The favorable labels.
    weight, groups : ndarray of shape (n_rows,) or None
        Sample weights, and the cluster of each row.
    is_frame : bool
        Whether X was a DataFrame.
    frequency : ndarray of int64, shape (n_rows,), or None
        The number of equal people that each row stands for; None: 1.
    table : CountedTable or None
        What was counted, if the rows are its cells.
    bins : Bins or None
        Those of the counts.
    sample : SourceSample or None
        How the rows were drawn from a table.
    original : DataFrame or None
        X before rare values were joined, if they were.
    choice : PublicChoice or None
        The groups that a public document may look at; None: it is not public.
    numbers : ComparedNumbers or None
        What is compared, if it is numbers and not decisions.
    roll : Payroll or None
        The parts of pay, for a template of pay.
    counterfactuals : object
        Those of the audit, of the rows that are audited.
    """

    X: pd.DataFrame
    y: np.ndarray | None
    box: BlackBox | None
    kind: str
    protected: list
    favorable: list
    weight: np.ndarray | None = None
    groups: np.ndarray | None = None
    is_frame: bool = True
    frequency: np.ndarray | None = None
    table: CountedTable | None = None
    bins: Bins | None = None
    sample: Any = None
    original: pd.DataFrame | None = None
    choice: Any = None
    numbers: ComparedNumbers | None = None
    roll: Payroll | None = None
    counterfactuals: Any = None
    n_weightless: int = 0

    @classmethod
    def read(
        cls, audit: Any, X: Any, y: Any, model: Any, weight: Any, groups: Any
    ) -> "AuditedRows":
        """Read the arguments of `Audit.fit`; a ValueError or TypeError names what is wrong."""
        if is_source(X) or isinstance(X, Counts | CountedTable):
            if audit.output != DECISION or audit.outcome_scale != DIFFERENCE:
                raise ValueError(
                    f"output={audit.output!r} needs the rows of people, and X is a table that is "
                    "counted: pass a DataFrame, or a single file of rows."
                )
            return _of_counts(audit, _counted(audit, X, y, model, weight, groups))
        check_order(X=X, y=y, sample_weight=weight, groups=groups)
        check_settings_order(audit, X)
        counterfactuals = audit.counterfactuals
        n_weightless = 0
        if weight is not None:
            numbers_of_weights = check_weights(weight, _num_samples(X))
            n_weightless = int((numbers_of_weights == 0).sum())
            if audit.weights == "probability":
                counterfactuals = take_rows(counterfactuals, numbers_of_weights > 0)
                X, y, model, weight, groups = _without_weight_0(
                    X, y, model, numbers_of_weights, groups
                )
        roll = None
        if audit.template in TEMPLATES:
            roll = read_payroll(audit, X, y, model, weight, groups)
            X, y = roll.of_audit()
            weight, groups = (_only(values, roll.audited) for values in (weight, groups))
        frequency = None
        if audit.weights == "frequency" and weight is not None:
            request = Request(X, y, model, weight, groups)
            is_public = audit.disclosure == "public"
            if is_public or is_trained(model, audit.estimator):  # each row as often as it says
                request = request.repeated()
            else:
                request, frequency = _counting(request)
            X, y, model, groups = request.X, request.y, request.model, request.groups
            weight = None
        frame, is_frame = check.check_frame(audit, X, reset=True)
        name = getattr(y, "name", None)
        y = None if y is None else check.check_labels(y, len(frame))
        protected = _protected(audit, frame)
        if isinstance(model, BlackBox):
            model = model.aligned(X, np.ones(len(frame), dtype=bool))
        rows = frame if is_frame else frame.to_numpy()
        groups = None if groups is None else check_groups(groups, len(frame))
        box, kind = resolve(model, audit.estimator, rows, y, weight=weight, groups=groups)
        if box is None and y is None:
            raise ValueError("Audit needs labels y or a model: there are no decisions to audit.")
        box = _in_threads(box, audit.n_jobs)
        numbers = numbers_of(
            audit, frame, y, box, protected=protected, is_frame=is_frame, kind=kind, name=name
        )
        favorable = []
        if numbers is None or numbers.is_of_labels:
            favorable, _ = favorable_labels(audit.pos_label, known_classes(box, y))
        kind = TRAINED if kind == "refit" else kind
        weight = None if weight is None else check_weights(weight, len(frame))
        return cls(
            frame,
            y=y,
            box=box,
            kind=kind,
            protected=protected,
            favorable=favorable,
            weight=weight,
            groups=groups,
            is_frame=is_frame,
            frequency=frequency,
            numbers=numbers,
            roll=roll,
            counterfactuals=counterfactuals,
            n_weightless=n_weightless,
        )

    def people(self, members: np.ndarray | None = None) -> int:
        """Return the number of people in the rows of a mask; None: all."""
        members = np.ones(len(self.X), dtype=bool) if members is None else members
        return people_in(members, self.frequency)

    def drew_others(self, result: AuditResult) -> bool:
        """Whether a detector drew other rows than those that are audited."""
        drawn = None if self.sample is None else (self.sample.n, self.sample.n_all)
        return result.n_drawn_from is not None and drawn != (result.n_samples, result.n_drawn_from)

    def share(self, members: np.ndarray) -> float:
        """Return the share of a group of all people; of their weights, if rows have these."""
        if self.weight is None:
            return self.people(members) / max(self.people(), 1)
        return float(self.weight[members].sum() / self.weight.sum())

    def sampled(self, n: int = SAMPLE, seed: int = 0) -> "AuditedRows":
        """Return a sample of the rows of the table that was counted, with the bins of counts."""
        n_all = self.table.n_people
        drawn = self.table.rows.sample(n, self.protected, seed, n_all)
        y = None if drawn.y is None else check.check_labels(drawn.y, len(drawn.X))
        box = _in_threads(drawn.model, None if self.box is None else self.box.n_jobs)
        return replace(
            self, X=drawn.X, y=y, box=box, sample=drawn.sample, frequency=None, table=None
        )

    @property
    def people_of_rows(self) -> np.ndarray | None:
        """How much, or for how many people, each row counts; None: for one."""
        return self.frequency if self.weight is None else self.weight

    @property
    def counts(self) -> Counts | None:
        """What was counted, None for rows."""
        return None if self.table is None else self.table.counts

    @property
    def can_ask(self) -> bool:
        """Whether there is a model whose decisions can be queried."""
        return self.numbers is None and self.box is not None and self.box.decisions is None

    @cached_property
    def labels(self) -> np.ndarray | None:
        """1 for each row with a favorable label, 0 for the others, or the numbers compared.

        None without labels.
        """
        if self.numbers is not None:
            return self.numbers.compared
        if self.y is None:
            return None
        return check.is_favorable(self.y, self.favorable).astype(int)

    @cached_property
    def outcomes(self) -> np.ndarray:
        """1 for each row with a favorable decision (or label, where these are audited), else 0.

        Of numbers, these.
        """
        if self.box is None or self.numbers is not None:
            return self.labels
        if self.table is not None:
            decisions = self.counts.outcomes(self.counts.schema.decision)
            return check.is_favorable(decisions, self.favorable).astype(int)
        space = FeatureSpace.from_frame(self.X, protected=self.protected, is_frame=self.is_frame)
        answers = Queries(self.box, self.favorable, space, Budget())
        return answers.given(self.X).astype(int)

    @cached_property
    def decided(self) -> BlackBox | None:
        """The outcomes as given decisions; None if labels or numbers are audited."""
        if self.box is None or self.numbers is not None:
            return None
        if len(np.unique(self.outcomes)) < 2:
            return BlackBox(_OneDecision(self.outcomes[0] if len(self.outcomes) else 0))
        return BlackBox(decisions=self.outcomes)

    @cached_property
    def masks(self) -> "Masks":
        """Who belongs to groups, and to their contexts."""
        return Masks(self.X)

    def among(self, name: str, members: np.ndarray) -> np.ndarray:
        """Return a mask of the members of a group whom a rate is about: the qualified, say."""
        if name not in AMONG:
            return members
        which, value = AMONG[name]
        return members & (getattr(self, which) == value)

    def rate(self, name: str, members: np.ndarray) -> float:
        """Return a rate of the members of a group; NaN if nobody counts, or it is unknown."""
        if name not in ("selection_rate", *AMONG):
            return float("nan")
        values = self.labels if name == "positive_predictive_value" else self.outcomes
        among = self.among(name, members)
        weight = np.ones(len(members)) if self.weight is None else self.weight
        weight = weight if self.frequency is None else self.frequency
        total = weight[among].sum()
        return float((weight * values)[among].sum() / total) if total else float("nan")


def _protected(audit, frame):
    """Return the protected columns; raise ValueError if there are none."""
    protected = check.check_protected(audit.protected, list(frame.columns))
    if not protected:
        raise ValueError("Audit needs protected=[...]: the columns to audit for.")
    return protected


def _only(values, rows):
    """Return the values of some rows; all, if either is None."""
    return values if values is None or rows is None else np.asarray(values).ravel()[rows]


class _OneDecision:
    """A model that decides the same about everybody."""

    classes_ = np.array([0, 1])

    def __init__(self, decision):
        self.decision = decision

    def predict(self, X):
        """Return the decision, once for each row."""
        return np.full(len(X), self.decision)


def _counting(request):
    """Return the request with the rows of weight > 0, and how many people each of them is."""
    request, stay = request.without_weightless()
    model = request.model
    if isinstance(model, BlackBox):
        model = model.aligned(np.empty(len(stay)), stay)
    return replace(request, model=model), frequencies(request.sample_weight)


def _without_weight_0(X, y, model, weight, groups):
    """Return the arguments of `fit` without rows of weight 0, which stand for nobody."""
    if (weight > 0).all():
        return X, y, model, weight, groups
    request = Request(X, y, model, (weight > 0).astype(int), groups).repeated()
    return request.X, request.y, request.model, weight[weight > 0], request.groups


def _counted(audit, X, y, model, weight, groups):
    """Return the CountedTable of what was passed in place of rows."""
    arguments = {"sample_weight": weight, "groups": groups}
    if not is_source(X):
        arguments |= {"y": y, "model": model, "estimator": audit.estimator}
    passed = [name for name, value in arguments.items() if value is not None]
    if passed:
        raise ValueError(f"An audit of counts takes no {', '.join(passed)}.")
    if isinstance(X, CountedTable):
        return X
    if isinstance(X, Counts):
        return CountedTable(X)
    rows = SourceRows.read(X, y, model, audit.estimator)
    protected = check.check_protected(audit.protected, rows.columns)
    folder = None if audit.cache is None else Path(audit.cache) / "counts"
    return CountedTable.of(
        rows,
        protected,
        pos_label=audit.pos_label,
        n_bins=audit.n_bins,
        checkpoint=folder,
        random_state=audit.random_state,
    )


def _in_threads(box, n_jobs):
    """Return a box with this number of threads; None keeps the number of the box."""
    if box is None or n_jobs is None:
        return box
    return BlackBox(box, chunk_size=box.chunk_size, n_jobs=n_jobs)


def _of_counts(audit, table):
    """Return the cells of counts as rows that stand for many people."""
    counts, schema = table.counts, table.counts.schema
    frame, _ = check.check_frame(audit, counts.frame(), reset=True)
    protected = _protected(audit, frame)
    y, decisions = (counts.outcomes(end) for end in (schema.label, schema.decision))
    if y is None and decisions is None:
        raise ValueError("Audit needs labels or decisions, which these counts do not have.")
    box, kind = None if table.rows is None else table.rows.box, "model"
    if box is None:
        kind = "labels" if decisions is None else "decisions"
        box = None if decisions is None else BlackBox(decisions=decisions)
    box = _in_threads(box, audit.n_jobs)
    favorable, _ = favorable_labels(audit.pos_label, known_classes(box, y))
    return AuditedRows(
        frame,
        y,
        box,
        kind,
        protected,
        favorable,
        frequency=counts.n,
        table=table,
        bins=Bins(n=_ANY, edges=schema.edges),
        sample=table.sample,
        counterfactuals=audit.counterfactuals,
    )


class Masks:
    """Who belongs to groups and their contexts; each condition is looked up in the table once.

    Shapes: `X` (n_rows, n_columns).
    """

    def __init__(self, X: pd.DataFrame) -> None:
        self._X, self._of_predicate = X, {}

    def members(self, group: Any) -> np.ndarray:
        """Return a mask of the people of a group."""
        if not isinstance(group, Subgroup):
            return group.mask(self._X)
        return self.meeting(group.predicates)

    def context(self, group: Any, protected: Sequence) -> np.ndarray:
        """Return a mask of those who meet a group's conditions on columns not protected."""
        predicates = getattr(group, "predicates", ())
        return self.meeting(p for p in predicates if p.column not in protected)

    def meeting(self, predicates: Iterable[Predicate]) -> np.ndarray:
        """Return a new mask of those who meet all conditions."""
        n = len(self._X)
        inside = np.full(-(-n // 8), 255, dtype=np.uint8)
        for predicate in predicates:
            if predicate not in self._of_predicate:  # a bit each: there are hundreds of conditions
                self._of_predicate[predicate] = np.packbits(predicate.mask(self._X))
            inside &= self._of_predicate[predicate]
        return np.unpackbits(inside, count=n).view(bool)
