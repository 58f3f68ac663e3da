"""Decisions and labels: classes as a mask of the favorable ones, or numbers."""

from collections.abc import Hashable

import numpy as np
import pandas as pd

from skdisc._utils._favorable import AUTO, ENDS, MOST_NAMED, are_codes, names_end, refuse_classes
from skdisc._utils._inputs import check_finite, sorted_unique


def is_auto(pos_label):
    """Return whether the favorable label is to be found in the data."""
    return isinstance(pos_label, str) and pos_label == AUTO


def several_categories(y):
    """Return whether y is a column of more than two categories that are no numbers or codes."""
    if not isinstance(y, (pd.Series, pd.Categorical, np.ndarray)) or np.ndim(y) != 1:
        return False
    if isinstance(y.dtype, pd.CategoricalDtype) and y.dtype.ordered:
        return len(y.dtype.categories) > 2
    if isinstance(y.dtype, np.dtype) and y.dtype.kind not in "OUS":
        return False
    classes = pd.unique(pd.Series(y).dropna())
    return len(classes) > 2 and all(isinstance(value, str) for value in classes)


def check_target(y, pos_label, what, beside=None):
    """Return classes as a mask of the favorable ones, and numbers as floats.

    Fractions are numbers, and so is everything if `pos_label` is None. With "auto" 1 or True is
    favorable among codes, and other classes are refused; a given label has to occur in y, or in
    `beside`.

    Raises ValueError if y has missing values or several dimensions, if `pos_label` never occurs, or
    if it is not given and the classes are not codes.
    """
    y = y.to_numpy() if hasattr(y, "to_numpy") else np.asarray(y)
    if y.ndim != 1:
        raise ValueError(f"{what} must have one dimension, got shape {y.shape}")
    if pd.isna(y).any():
        raise ValueError(f"{what} has missing values; drop these rows, or impute them")
    if y.dtype.kind == "f":
        check_finite(y, what)
    if pos_label is None or (y.dtype.kind == "f" and np.any(y % 1)):
        return _numbers(y, what)
    if np.ndim(pos_label) == 0 and pd.isna(pos_label):
        raise ValueError(f"pos_label is missing ({pos_label!r}), which no label is.")
    if isinstance(pos_label, str) and pos_label in (AUTO, *ENDS):
        pos_label = _meant(pos_label, y, what, beside)
    several = isinstance(pos_label, (list, tuple, set, frozenset, np.ndarray))
    if not several and not isinstance(pos_label, Hashable):
        raise ValueError(f"pos_label must be a label, or several, got {pos_label!r}.")
    if y.dtype == bool and pos_label is True:
        return y
    favorable = np.isin(y, list(pos_label)) if several else np.asarray(y == pos_label, dtype=bool)
    if not favorable.any() and not several:
        _check_occurs(pos_label, y, what, beside)
    return favorable


def _numbers(y, what):
    """Return y as floats, all finite."""
    try:
        y = y.astype(float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} must hold numbers with pos_label=None: {error}") from error
    check_finite(y, what)
    return y


def _meant(pos_label, y, what, beside):
    """Return the label that is meant by "auto", "high" or "low"; the word itself if it is one."""
    if y.dtype == bool and pos_label == AUTO:
        return True
    classes = pd.unique(y).tolist()
    if pos_label in classes:
        return pos_label
    if pos_label == AUTO:
        if not are_codes(classes):
            also = ", or pos_label=None for numbers" if y.dtype.kind in "iuf" else ""
            refuse_classes(sorted_unique(classes), f"the values of {what} are", also)
        return 1
    classes += [] if beside is None else pd.unique(np.asarray(beside).ravel()).tolist()
    return ENDS[pos_label](classes) if names_end(pos_label, classes) else pos_label


def _check_occurs(pos_label, y, what, beside):
    """Raise a ValueError if a label is neither in y nor in `beside`, and no code."""
    classes = pd.unique(y).tolist()
    values_elsewhere = () if beside is None else pd.unique(np.asarray(beside).ravel()).tolist()
    if not (are_codes(classes) and pos_label in (0, 1, -1)) and pos_label not in values_elsewhere:
        description = f"whose values are {classes!r}"
        if len(classes) > MOST_NAMED:  # names or numbers of single people, perhaps
            description = f"which has {len(classes):,} different values"
        raise ValueError(
            f"pos_label={pos_label!r} never occurs in {what}, {description}. Pass the favorable "
            "label, or pos_label=None for numbers."
        )
