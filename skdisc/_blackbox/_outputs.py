"""Model outputs, checked and read as decisions, probabilities, margins or values."""

import numpy as np
import pandas as pd

from skdisc._utils._validation import is_favorable, plain
from skdisc.exceptions import ModelError


def read_probabilities(raw, n, name, favorable, classes):
    """Return the probability of a favorable label, from one column or one column per label.

    Parameters
    ----------
    raw : ndarray
        Output of the model.
    n : int
        Number of rows queried.
    name : str
        Name of the model, for messages.
    favorable : list
        The favorable labels.
    classes : list or None
        The label of each column; None if unknown.

    Raises
    ------
    ModelError
        If the output is not one probability per row, or per row and label.
    """
    raw = _checked_probabilities(raw, n, name)
    if raw.ndim == 1:
        return raw
    labels = _labels(raw.shape[1], name, favorable, classes)
    return raw[:, [label in favorable for label in labels]].sum(axis=1)


def decide_by_probability(raw, n, name, favorable, classes):
    """Return 1 where the most probable label is favorable, else 0; see `read_probabilities`."""
    raw = _checked_probabilities(raw, n, name)
    if raw.ndim == 1:
        return (raw >= 0.5).astype(float)
    return _is_favorable(raw.argmax(axis=1), raw.shape[1], name, favorable, classes)


def read_margins(raw, n, name, favorable, classes, method):
    """Return the difference between the highest favorable score and the highest other one.

    Parameters
    ----------
    raw, n, name, favorable, classes
        As in `read_probabilities`.
    method : {"decision_function", "predict_proba", "predict", None}
        The method that returned the output: scores; probabilities, whose logarithms are the scores;
        or decisions, also by a call (None), whose margin is 1 or -1.

    Raises
    ------
    ModelError
        If the output is not of the form that the method should return.
    """
    if method == "decision_function":
        raw = _one_per_row(raw, n, name)
        scores = np.column_stack([np.zeros(n), raw]) if raw.ndim == 1 else raw
    elif method == "predict_proba":
        raw = _checked_probabilities(raw, n, name)
        scores = np.column_stack([1 - raw, raw]) if raw.ndim == 1 else raw
        scores = np.log(np.maximum(scores, 1e-300))
    else:
        return 2 * read_decisions(raw, n, name, favorable) - 1
    labels = _labels(scores.shape[1], name, favorable, classes)
    is_favorable = np.array([label in favorable for label in labels])
    if is_favorable.all() or not is_favorable.any():
        return np.where(is_favorable.all(), 1.0, -1.0) * np.ones(n)
    return scores[:, is_favorable].max(axis=1) - scores[:, ~is_favorable].max(axis=1)


def decide_by_margin(raw, n, name, favorable, classes):
    """Return 1 where the label with the highest score is favorable, else 0."""
    raw = _one_per_row(raw, n, name)
    if raw.ndim == 1:
        return _is_favorable((raw > 0).astype(int), 2, name, favorable, classes)
    return _is_favorable(raw.argmax(axis=1), raw.shape[1], name, favorable, classes)


def read_decisions(raw, n, name, favorable, labels=None):
    """Return 1 where the label is favorable, else 0.

    `raw`, `n`, `name` and `favorable`: as in `read_probabilities`. `labels`: the labels that may be
    returned; None: any label of the type of the favorable ones. Raises ModelError if the output is
    not one label per row.
    """
    raw = _one_per_row(raw, n, name)
    if raw.ndim != 1:
        raise ModelError(
            f"{name} returned an array of shape {raw.shape}; one decision per row is needed."
        )
    if raw.dtype.kind == "f" and not np.all(np.isfinite(raw) & (raw == np.rint(raw))):
        value = raw[~(np.isfinite(raw) & (raw == np.rint(raw)))][0]
        raise ModelError(
            f"{name} returned {float(value)!r}, which is not a decision. Return classes: wrap the "
            "model as lambda X: model.predict(X) >= threshold."
        )
    if isinstance(plain(raw[0]), str) != isinstance(favorable[0], str):
        raise ModelError(
            f"{name} returned {plain(raw[0])!r}, but the favorable label is {favorable[0]!r}, of "
            "another type. Return labels of that type, or set pos_label to the favorable label."
        )
    strange = [] if labels is None else raw[~is_favorable(raw, labels)]
    if len(strange):
        raise ModelError(
            f"{name} returned {plain(strange[0])!r}, which is none of the labels {labels!r}. "
            "Return labels, or set pos_label to the favorable label."
        )
    return is_favorable(raw, favorable).astype(float)


def read_values(raw, n, name):
    """Return the value of each row: the prediction of a regressor, or a decision function.

    Raises ModelError if the output is not one finite number per row.
    """
    raw = _one_per_row(raw, n, name)
    if raw.ndim != 1 or raw.dtype.kind not in "fiub" or not np.isfinite(raw).all():
        raise ModelError(
            f"{name} returned an array of {raw.dtype} of shape {raw.shape}; output='value' needs "
            "one finite number per row."
        )
    return raw.astype(float)


def _one_per_row(raw, n, name):
    """Return the output, a single column as a vector; raise unless it has a value for each row."""
    if not raw.ndim or len(raw) != n:
        shape = f"{len(raw)} values" if raw.ndim else "one value"
        raise ModelError(f"{name} returned {shape} for {n} rows; one per row is needed.")
    is_missing = pd.isna(raw.reshape(n, -1)).any(axis=1)
    if is_missing.any():
        raise ModelError(
            f"{name} returned NaN for {int(is_missing.sum())} of {n} rows; each row needs "
            "a decision."
        )
    return raw[:, 0] if raw.ndim == 2 and raw.shape[1] == 1 else raw


def _checked_probabilities(raw, n, name):
    """Return the output as floats; raise unless it consists of probabilities."""
    raw = _one_per_row(raw, n, name)
    if raw.dtype.kind not in "fiub" or raw.ndim > 2:
        raise ModelError(
            f"{name} returned an array of {raw.dtype} of shape {raw.shape}; one probability per "
            "row, or per row and label, is needed."
        )
    low, high = raw.min(), raw.max()
    if low < -1e-9 or high > 1 + 1e-9:
        raise ModelError(
            f"{name} returned probabilities outside [0, 1], from {low} to {high}. Add a link "
            "function, or wrap the model so that it returns decisions."
        )
    return raw.astype(float)


def _labels(n_columns, name, favorable, classes):
    labels = list(range(n_columns)) if classes is None else classes
    if len(labels) != n_columns or not set(favorable) <= set(labels):
        raise ModelError(
            f"{name} returns {n_columns} columns, and it is not known which of them belongs to the "
            f"favorable label {favorable[0]!r}. Set classes_, in the order of the columns."
        )
    return labels


def _is_favorable(chosen, n_columns, name, favorable, classes):
    """Return 1 where the label of the chosen column is favorable, else 0."""
    labels = _labels(n_columns, name, favorable, classes)
    return np.array([label in favorable for label in labels], dtype=float)[chosen]
