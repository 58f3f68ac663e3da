"""Outcomes of a batch: decisions, with labels or without, as 0, 1 or numbers between."""

from typing import Any

import numpy as np

from skdisc._blackbox._blackbox import AuditedModel
from skdisc._counts._counts import Counts
from skdisc._stats._rates import WITHOUT_LABELS, check_metrics, rate_values
from skdisc._task._numbers import numbers_of
from skdisc._utils import _validation as check
from skdisc._utils._favorable import favorable_labels

_CODES = [-1, 0, 1]  # labels that need no pos_label; a first batch may lack some


def labels_of_first(y_pred: np.ndarray, pos_label: object, output: str) -> AuditedModel:
    """Return which decisions are favorable, and which there are, as the first batch tells.

    Raises
    ------
    ValueError
        If `pos_label` is needed, or not among the decisions.
    """
    if output != "decision":
        return AuditedModel(None, "decisions", None, [1] if output == "probability" else [])
    classes = check.sorted_unique(y_pred) if pos_label is None else None  # others may follow
    favorable, is_code = favorable_labels(pos_label, classes)
    return AuditedModel(None, "decisions", _CODES if is_code else None, favorable)


def given_batch(X: Any, y: Any, y_pred: Any, output: str) -> tuple:
    """Return the rows of a batch, labels or None, decisions, and how many people a row stands for.

    Returns
    -------
    tuple
        The last is None for one person per row, and an array for the cells of Counts.

    Raises
    ------
    ValueError
        If there are no decisions, or Counts hold what the monitor does not compare.
    """
    if isinstance(X, Counts):
        return _counted(X, y, y_pred, output)
    if y is None and y_pred is None:
        raise ValueError(
            "DisparityMonitor requires y to be passed, but the target y is None: partial_fit "
            "needs decisions, as y or y_pred."
        )
    return (X, None, y, None) if y_pred is None else (X, y, y_pred, None)


def _counted(counts, y, y_pred, output):
    """Return what `given_batch` does, with a row for each cell."""
    if y is not None or y_pred is not None:
        raise ValueError(
            "Counts contain labels and decisions: partial_fit got y or y_pred besides. Name the "
            "columns when counting, label= and decision=."
        )
    if output != "decision":
        raise ValueError("Counts hold decisions, not numbers: pass rows, or output='decision'.")
    if counts.schema.edges:
        raise ValueError(
            f"Column {next(iter(counts.schema.edges))!r} was cut into bins when it was counted, "
            "which are not its values. Count only the columns that are compared: columns=[...]."
        )
    label, decision = (counts.outcomes(c) for c in (counts.schema.label, counts.schema.decision))
    if decision is None and label is None:
        raise ValueError("Counts have neither decisions nor labels: count with decision=.")
    if decision is None:
        label, decision = None, label
    return counts.frame(), label, decision, counts.n


def outcomes(
    y_pred: np.ndarray, y: np.ndarray | None, audited: AuditedModel, metric: str, output: str
) -> np.ndarray:
    """Return what a rate is about, from decisions or numbers, and labels if there are any.

    Returns
    -------
    ndarray of float, shape (n_rows,)
        As `values`.

    Raises
    ------
    ValueError
        If the rate needs labels, or a decision is unknown.
    """
    check_metrics(metric, True, y is not None)
    if output != "decision":
        return values(numbers_of(y_pred), None, metric, output)
    check.check_known_labels(y_pred, audited.labels, audited.favorable)
    decided = check.is_favorable(y_pred, audited.favorable).astype(float)
    labels = None if y is None else check.is_favorable(y, audited.favorable)
    return values(decided, labels, metric, output)


def values(decided: np.ndarray, labels: np.ndarray | None, metric: str, output: str) -> np.ndarray:
    """Return 1, 0 or NaN for the event of a rate; numbers as they are.

    Parameters
    ----------
    decided : ndarray of float, shape (n_rows,)
        Whether decisions are favorable, or numbers.
    labels : ndarray of bool, shape (n_rows,), or None
        Whether labels are favorable.
    metric, output : str

    Raises
    ------
    ValueError
        If a probability is below 0 or above 1, or a number is infinite.
    """
    if output == "value":
        if np.isinf(decided).any():
            raise ValueError(f"y holds {int(np.isinf(decided).sum()):,} infinite numbers.")
        return decided
    if output == "probability":
        if ((decided < 0) | (decided > 1)).any():
            raise ValueError("Outcomes must be between 0 and 1 with output='probability'.")
        return decided
    decided = decided > 0.5
    outcome = decided if metric in WITHOUT_LABELS or labels is None else labels
    return rate_values(2 * outcome + decided, metric)
