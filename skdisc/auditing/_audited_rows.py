"""AuditedRows: what was given to an audit, read and checked once."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from skdisc._blackbox._blackbox import BlackBox, resolve
from skdisc._blackbox._queries import Queries
from skdisc._space._feature_space import FeatureSpace
from skdisc._task._task import Budget, Request
from skdisc._utils import _validation as check
from skdisc._utils._sample_weight import check_weights

TRAINED = "fitted model"


@dataclass(frozen=True)
class AuditedRows:
    """The rows under audit, and what decided about them.

    Parameters
    ----------
    X : DataFrame
    y : ndarray of shape (n_rows,) or None
    box : BlackBox or None
        The model, or the decisions; None if the labels are audited.
    kind : {"labels", "decisions", "model", "fitted model"}
    protected : list of column names
    favorable : list
        The favorable labels.
    weight, groups : ndarray of shape (n_rows,) or None
        Sample weights, and the cluster of each row.
    is_frame : bool
        Whether X was a DataFrame.
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

    @classmethod
    def read(
        cls, audit: Any, X: Any, y: Any, model: Any, weight: Any, groups: Any
    ) -> "AuditedRows":
        """Read the arguments of `Audit.fit`; a ValueError or TypeError names what is wrong."""
        if audit.weights == "frequency" and weight is not None:  # each row as often as it says
            request = Request(X, y, model, weight, groups).repeated()
            X, y, model, weight = request.X, request.y, request.model, None
            groups = request.groups
        frame, is_frame = check.check_frame(audit, X, reset=True)
        y = None if y is None else check.check_labels(y, len(frame))
        protected = check.check_protected(audit.protected, list(frame.columns))
        if not protected:
            raise ValueError("Audit needs protected=[...]: the columns to audit for.")
        if isinstance(model, BlackBox):
            model = model.aligned(X, np.ones(len(frame), dtype=bool))
        rows = frame if is_frame else frame.to_numpy()
        box, kind = resolve(model, audit.estimator, rows, y, weight=weight)
        if box is None and y is None:
            raise ValueError("Audit needs labels y or a model: there are no decisions to audit.")
        classes = box.classes if box is not None else check.check_decisions(y)
        if classes is None and y is not None:
            classes = check.sorted_unique(y)
        favorable, _ = check.favorable_labels(audit.pos_label, classes)
        kind = TRAINED if kind == "refit" else kind
        weight = None if weight is None else check_weights(weight, len(frame))
        groups = None if groups is None else check.check_groups(groups, len(frame))
        return cls(frame, y, box, kind, protected, favorable, weight, groups, is_frame)

    @property
    def can_ask(self) -> bool:
        """Whether there is a model that can be queried."""
        return self.box is not None and self.box.decisions is None

    @cached_property
    def labels(self) -> np.ndarray | None:
        """1 for each row with a favorable label, 0 for the others; None without labels."""
        if self.y is None:
            return None
        return check.is_favorable(self.y, self.favorable).astype(int)

    @cached_property
    def outcomes(self) -> np.ndarray:
        """1 for each row with a favorable decision (or label, where these are audited), else 0."""
        if self.box is None:
            return self.labels
        space = FeatureSpace.from_frame(self.X, protected=self.protected, is_frame=self.is_frame)
        answers = Queries(self.box, self.favorable, space, Budget(), "decision", None, None)
        return answers.given(self.X).astype(int)

    @cached_property
    def decided(self) -> BlackBox | None:
        """The outcomes as given decisions; None if the labels are audited."""
        if self.box is None:
            return None
        if len(np.unique(self.outcomes)) < 2:
            return BlackBox(_OneDecision(self.outcomes[0] if len(self.outcomes) else 0))
        return BlackBox(decisions=self.outcomes)

    def rate(self, name: str, members: np.ndarray) -> float:
        """Return a rate of the members of a group; NaN if nobody counts, or it is unknown."""
        counted = {
            "selection_rate": lambda: (self.outcomes, members),
            "true_positive_rate": lambda: (self.outcomes, members & (self.labels == 1)),
            "false_positive_rate": lambda: (self.outcomes, members & (self.labels == 0)),
            "positive_predictive_value": lambda: (self.labels, members & (self.outcomes == 1)),
        }
        if name not in counted:
            return float("nan")
        values, among = counted[name]()
        weight = np.ones(len(members)) if self.weight is None else self.weight
        total = weight[among].sum()
        return float((weight * values)[among].sum() / total) if total else float("nan")


class _OneDecision:
    """A model that decides the same about everybody."""

    classes_ = np.array([0, 1])

    def __init__(self, decision):
        self.decision = decision

    def predict(self, X):
        """Return the decision, once for each row."""
        return np.full(len(X), self.decision)
