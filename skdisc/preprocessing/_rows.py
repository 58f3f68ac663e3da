"""Rows with their groups and labels, as transformers and samplers read them."""

import warnings

import numpy as np
import pandas as pd

from skdisc._utils import _validation as check
from skdisc._utils._inputs import check_order, without_halves
from skdisc._utils._settings import setting
from skdisc.exceptions import SkdiscWarning

PROTECTED = setting(
    None,
    "no_validation",
    """Columns of X, by name or position. Groups are the combinations of their values; a missing
    value is a value.""",
    kind="str, int or list of them",
    kw_only=False,
    leads=True,
)
FIT = """
    Parameters
    ----------
    X : DataFrame or array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)

    Returns
    -------
    self
"""
TRANSFORM = """
    Parameters
    ----------
    X : DataFrame or array-like of shape (n_samples, n_features)

    Returns
    -------
    DataFrame or ndarray of shape (n_samples, n_features_out)
        A frame for a frame.

    Raises
    ------
    NotFittedError
        Before `fit`.
    ValueError
        If X has other columns than at fit.
"""
NAMES_OUT = """
    Parameters
    ----------
    input_features : ignored

    Returns
    -------
    ndarray of str, shape (n_features_out,)

    Raises
    ------
    NotFittedError
        Before `fit`.
"""


def frame_of(estimator, X, *, reset=True):
    """Return X as a DataFrame with a new index; columns of arrays are named x0, x1, ...

    `estimator`: gets, or is compared with, ``n_features_in_`` and ``feature_names_in_``. `X`, of
    shape (n_samples, n_features): text, booleans and numbers; values may be missing. `reset`: True
    at fit.
    """
    frame, _ = check.as_frame(estimator, X, reset=reset)
    for name in frame.columns:
        check.check_column(frame[name])
    return without_halves(frame)


def like(frame, X):
    """Return transformed rows in the container of X: a frame with its index, or an array."""
    if hasattr(X, "to_pandas") or isinstance(X, pd.DataFrame):
        return frame.set_axis(getattr(X, "index", frame.index), axis=0)
    return frame.to_numpy()


def numbers_of(column):
    """Return a numeric Series as floats, NaN where missing."""
    return column.to_numpy(dtype=float, na_value=np.nan)


def groups_of(columns):
    """Number the groups: the combinations of values of some columns; a missing value is a value.

    Returns `values`: the values of each group. Shapes: `columns` (n_samples, n_columns).
    """
    columns = columns.set_axis(range(columns.shape[1]), axis=1)
    grouped = columns.groupby(list(columns), dropna=False, observed=True, sort=False)
    number = grouped.ngroup().to_numpy()
    first = np.unique(number, return_index=True)[1]
    rows = columns.iloc[first].itertuples(index=False, name=None)
    return number, [tuple(map(check.plain, row)) for row in rows]


def given_groups(frame, protected, sensitive_features=None):
    """Return `groups_of` the rows, by given values or else by the protected columns."""
    if sensitive_features is not None:
        check_order(X=frame, sensitive_features=sensitive_features)
        if hasattr(sensitive_features, "to_pandas"):
            sensitive_features = sensitive_features.to_pandas()
        columns = pd.DataFrame(np.asarray(sensitive_features)).infer_objects()
        if isinstance(sensitive_features, pd.DataFrame):
            columns = sensitive_features.reset_index(drop=True)
        if len(columns) != len(frame):
            raise ValueError(f"sensitive_features has {len(columns)} rows, but X has {len(frame)}.")
        return groups_of(columns)
    return groups_of(frame[named(protected, frame)])


def named(protected, frame):
    """Return the names of the protected columns; raise if there are none."""
    if protected is None:
        raise ValueError(
            "protected is None: name the protected column(s) of X, by name or position. Columns: "
            f"{list(frame.columns)!r}."
        )
    return check.check_protected(protected, list(frame.columns))


def cells_of(group, label, size, weight=None):
    """Return the number (or weight) of people of each group and label.

    `size`: numbers of groups and labels. The result has shape (n_groups, n_labels).
    """
    cell_of_row = np.ravel_multi_index((group, label), size)
    return np.bincount(cell_of_row, weight, minlength=size[0] * size[1]).reshape(size).astype(float)


def warn_of_empty(cells, values, classes):
    """Warn of groups without a row of some label, whose rates no weight can change."""
    empty = np.argwhere((cells == 0) & (cells.sum(axis=1, keepdims=True) > 0))
    if len(empty):
        group, label = empty[0]
        named_group = values[group][0] if len(values[group]) == 1 else values[group]
        warnings.warn(
            f"{len(empty)} combination(s) of group and label have no row, e.g. group "
            f"{named_group!r} with label {check.plain(classes[label])!r}: the rates of these "
            "groups cannot be made those of the others. Join small groups.",
            SkdiscWarning,
            stacklevel=3,
        )
