"""Numbers in y as what is audited: pay, prices, scores."""

from typing import Any

import numpy as np

from skdisc._blackbox._blackbox import AuditedModel
from skdisc._task._task import People


def audited_numbers(detector: Any, people: People, model: object) -> AuditedModel:
    """Return what a detector with ``output="value"`` audits.

    Raises
    ------
    ValueError
        If there is a model, or no y.
    """
    if model is not None or detector.estimator is not None or people.y is None:
        raise ValueError("output='value' compares the numbers in y: give y, and no model.")
    return AuditedModel(None, "labels", None, [])


def numbers_of(y: object) -> np.ndarray:
    """Return y as floats.

    Raises
    ------
    ValueError
        If it holds something else than numbers.
    """
    try:
        return np.asarray(y, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"output='value' compares numbers in y, and y is not numeric: {error}. For labels, use "
            "output='decision'."
        ) from error
