"""All checks of what users hand in, and their wording: frames, labels, protected columns."""

from numbers import Integral

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils import check_consistent_length, get_tags
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import assert_all_finite, column_or_1d, validate_data

_SCALARS = {
    "string",
    "boolean",
    "integer",
    "floating",
    "mixed-integer-float",
    "empty",
    "categorical",
}


def check_frame(estimator, X, *, reset):
    """Return X as a DataFrame with a fresh index, after scikit-learn's and our own checks.

    Parameters
    ----------
    estimator : BaseEstimator
        Gets, or is compared with, ``n_features_in_`` and ``feature_names_in_``.
    X : DataFrame or array-like of shape (n_samples, n_features)
    reset : bool
        True at fit, False afterwards.

    Returns
    -------
    frame : DataFrame
    is_frame : bool
        Whether X was a DataFrame.
    """
    if hasattr(X, "to_pandas"):  # polars, pyarrow
        X = X.to_pandas()
    is_frame = isinstance(X, pd.DataFrame)
    if not is_frame:
        X = validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")
        names = getattr(estimator, "feature_names_in_", [f"x{i}" for i in range(X.shape[1])])
        frame = pd.DataFrame(X, columns=list(names)).infer_objects()
        if frame.map(lambda v: isinstance(v, (dict, list, set))).to_numpy().any():
            raise TypeError(
                "X holds containers: each argument must be a string, a boolean or a number."
            )
    else:
        _refuse_shape(X)
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        frame = X.reset_index(drop=True)
    allow_nan = get_tags(estimator).input_tags.allow_nan
    for name in frame.columns:
        _check_column(frame[name])
        if not allow_nan and frame[name].isna().any():
            raise ValueError(
                f"Input X contains NaN: column {name!r} has missing values, which {type(estimator.estimator).__name__} does "
                "not accept. Put an imputer before it in a pipeline, or fill them in."
            )
    return frame, is_frame


def _refuse_shape(X):
    duplicated = list(X.columns[X.columns.duplicated()].unique())
    if duplicated:
        raise ValueError(
            f"X has several columns named {duplicated!r}. Rename or drop all but one of each."
        )
    if X.shape[1] == 0:
        raise ValueError(
            f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required."
        )
    if len(X) == 0:
        raise ValueError(
            f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required."
        )


def _check_column(column):
    name, dtype = column.name, column.dtype
    if isinstance(dtype, pd.SparseDtype) or sparse.issparse(column):
        raise TypeError(f"Column {name!r} is sparse, which is not supported. Pass dense data.")
    if pd.api.types.is_datetime64_any_dtype(dtype) or pd.api.types.is_timedelta64_dtype(dtype):
        raise TypeError(
            f"Column {name!r} holds dates ({dtype}), which have no finite set of values to search. "
            "Turn it into a number or a category (a year, an age), or drop it."
        )
    if pd.api.types.is_complex_dtype(dtype):
        raise ValueError(f"Complex data not supported: column {name!r} is {dtype}.")
    if pd.api.types.is_float_dtype(dtype):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        if np.isinf(values).any():
            raise ValueError(
                f"Input X contains infinity: column {name!r}, row {int(np.flatnonzero(np.isinf(values))[0])}. "
                "Replace it by a number or by a missing value."
            )
    if dtype == object:
        inferred = pd.api.types.infer_dtype(column, skipna=True)
        if inferred not in _SCALARS:
            kinds = sorted({type(v).__name__ for v in column.dropna()})
            raise TypeError(
                f"Column {name!r} mixes or holds unsupported types ({', '.join(kinds)}): "
                "each argument must be a string, a boolean or a number, one kind per column. Convert it, e.g. with "
                f"X[{name!r}].astype(str)."
            )


def check_labels(y, n_samples):
    """Return y as a 1-d array without missing values, one label per row."""
    missing = (
        pd.isna(np.asarray(y, dtype=object)).ravel()
        if not isinstance(y, pd.Series)
        else y.isna().to_numpy()
    )
    if missing.any():
        raise ValueError(
            f"Input y contains NaN: {int(missing.sum())} label(s) are missing, the first in row {int(np.argmax(missing))}. "
            "Drop these rows from X and y."
        )
    if isinstance(y, pd.Series) and not isinstance(y.dtype, np.dtype):
        y = y.to_numpy(dtype=object) if not pd.api.types.is_numeric_dtype(y.dtype) else y.to_numpy()
    y = column_or_1d(y, warn=True)
    if y.dtype.kind in "fc":
        assert_all_finite(y, input_name="y")
    check_consistent_length(np.empty(n_samples), y)
    return y


def check_decisions(y, what="y"):
    """Refuse labels that are no decisions: continuous values, or a single class."""
    kind = type_of_target(y, input_name=what)
    if kind.startswith("continuous"):
        raise ValueError(
            f"{what} holds continuous values, e.g. {y[0]!r}; decisions must be classes. "
            f"Compare it with a threshold first: {what} >= threshold."
        )
    classes = sorted_unique(y)
    if len(classes) < 2:
        raise ValueError(
            f"{what} has one class ({classes[0]!r}) in {len(y)} rows: no decision differs, so there is nothing to compare."
        )
    return classes


def sorted_unique(values):
    """Return the distinct values in order, as a list of Python objects."""
    unique = pd.unique(np.asarray(values))
    try:
        return sorted(unique.tolist())
    except TypeError:
        return sorted(unique.tolist(), key=str)


def check_protected(protected, names):
    """Return the names of the protected columns, given names or positions; None means none given."""
    if protected is None:
        return []
    given = [protected] if isinstance(protected, (str, Integral)) else list(protected)
    if not given:
        raise ValueError(
            f"protected must name at least one column, got {protected!r}. Columns: {list(names)!r}."
        )
    resolved = []
    for p in given:
        known = p in names
        position = (
            isinstance(p, Integral) and not isinstance(p, bool) and -len(names) <= p < len(names)
        )
        if not known and not position:
            raise ValueError(
                f"protected={p!r} is not a column of X{_suggest(p, names)}. Columns: {list(names)!r}."
            )
        name = p if known else names[p]
        if name not in resolved:
            resolved.append(name)
    return resolved


def _suggest(name, names):
    from difflib import get_close_matches

    close = get_close_matches(str(name), [str(n) for n in names], n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def check_varied(frame, protected):
    """Refuse protected columns that hold one value only."""
    if len(frame) < 2:
        raise ValueError(
            f"Found {len(frame)} sample (n_samples = {len(frame)}) while a minimum of 2 is required."
        )
    for name in protected:
        values = frame[name].unique()
        if len(values) < 2:
            raise ValueError(
                f"The protected column {name!r} has one value only ({values[0]!r}): there is nobody to compare with. "
                "Leave it out of protected, or give data with more than one group."
            )


def check_missing(frame, protected, policy):
    """Say which rows stay under the policy for missing protected values, a bool array."""
    gone = frame[list(protected)].isna().any(axis=1).to_numpy()
    if policy == "raise" and gone.any():
        raise ValueError(
            f"{int(gone.sum())} rows have a missing value in the protected columns {list(protected)!r}. "
            "missing='category' makes it a group of its own, missing='drop' leaves the rows out."
        )
    return ~gone if policy == "drop" else np.ones(len(frame), dtype=bool)


def favourable_labels(pos_label, classes):
    """Return the favourable labels as a list, and whether they had to be assumed."""
    if pos_label is None:
        if classes is None or len(classes) == 0:
            return [1], True
        return [classes[-1]], True
    given = (
        list(pos_label)
        if isinstance(pos_label, (list, tuple, set, frozenset, np.ndarray))
        else [pos_label]
    )
    if classes is not None:
        unknown = [v for v in given if v not in list(classes)]
        if unknown:
            raise ValueError(
                f"pos_label={unknown[0]!r} never occurs{_suggest(unknown[0], classes)}. Labels: {list(classes)!r}."
            )
        if len(set(given)) == len(classes) > 1:
            raise ValueError(
                f"pos_label={pos_label!r} names every label {list(classes)!r}: no decision is unfavourable."
            )
    return given, False


def is_favourable(labels, favourable):
    """Say which labels are favourable, a bool array."""
    labels = np.asarray(labels)
    if len(favourable) == 1:
        return np.asarray(labels == favourable[0], dtype=bool)
    return np.isin(labels, favourable)
