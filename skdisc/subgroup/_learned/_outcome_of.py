"""Outcomes of learned audits: errors of scores, or decisions."""

from typing import Any

import numpy as np

from skdisc.subgroup._learned._people import ScoredPeople


def errors_or_decisions(task: Any, residual: str) -> ScoredPeople:
    """Return probabilities minus labels, or decisions, or labels, of the rows of a task.

    `residual`: one of "auto", "error", "outcome". Returns a ScoredPeople: without rows if the
    budget does not allow to query the model. Raises ValueError if errors are asked for, and there
    is a model without labels.
    """
    has_errors = task.queries is not None and task.y is not None
    if residual == "error" and not has_errors:
        raise ValueError(
            "residual='error' is probabilities minus labels of a model: pass y, and model= or "
            "estimator=. To compare labels or decisions themselves, set residual='outcome'."
        )
    answers = _answers(task)
    if answers is None:
        return ScoredPeople(task.X.iloc[:0], np.empty(0))
    if has_errors and residual != "outcome":
        return ScoredPeople(task.X, answers - task.favorable_labels())
    return ScoredPeople(task.X, answers)


def errors_at_scores(task: Any) -> ScoredPeople:
    """Return scores minus labels, and the scores; without a model labels, and no score.

    Outcomes are NaN if a model is audited without labels.
    """
    if task.queries is None:
        return ScoredPeople(task.X, _answers(task))
    if task.y is None:
        return ScoredPeople(task.X, np.full(len(task.X), np.nan), np.zeros(len(task.X)))
    answers = _answers(task)
    if answers is None:
        return ScoredPeople(task.X.iloc[:0], np.empty(0))
    return ScoredPeople(task.X, answers - task.favorable_labels(), answers)


def _answers(task):
    """Return the answers of the model, or labels, as numbers; None if the budget forbids."""
    if not task.can_decide():
        return None
    return np.asarray(task.decisions(), dtype=float)
