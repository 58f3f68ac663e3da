"""Checks of what users pass, with their messages: frames, labels, protected columns, values."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from numbers import Integral, Real

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils import check_consistent_length, get_tags
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d, validate_data

from skdisc._utils._inputs import (
    check_finite,
    is_readable,
    is_supported,
    sorted_unique,
    without_halves,
)

_FIRST = 1000  # rows, which mostly have several values
_NAMED = 10  # texts that a sentence lists


def check_frame(estimator, X, *, reset):
    """Return X as a DataFrame with a new index, after the checks of scikit-learn and skdisc.

    `estimator`: gets, or is compared with, ``n_features_in_`` and ``feature_names_in_``. `reset`:
    True at fit, False afterwards. Returns `is_frame`: whether X was a DataFrame. Shapes: `X`
    (n_samples, n_features).
    """
    if isinstance(X, dict) and not sparse.issparse(X):  # a DOK matrix is a dict, too
        raise ValueError(
            "X must be a table with a row for each person, got dict. Make one: pandas.DataFrame(X)."
        )
    frame, is_frame = as_frame(estimator, X, reset=reset)
    frame = without_halves(frame)
    if not reset:
        frame = _as_at_fit(frame, estimator.space_, is_frame)
    read = getattr(estimator, "_columns_read", list)(list(frame.columns))
    for name in frame.columns:
        if name in read or is_readable(frame[name]):
            check_column(frame[name])
    if not takes_gaps(estimator):
        _refuse_missing(estimator, frame)
    return frame, is_frame


def as_frame(estimator, X, *, reset):
    """Return X as a DataFrame with a new index, its values unchecked, and whether it was one.

    Columns of arrays are named x0, x1, ...
    """
    if hasattr(X, "to_pandas"):  # polars, pyarrow
        X = X.to_pandas()
    if isinstance(X, pd.DataFrame):
        refuse_shape(X)
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        frame = X.copy(deep=False)  # pandas 2 would copy millions of rows with their index
        frame.index = pd.RangeIndex(len(X))
        return frame, True
    X = validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")
    names = [f"x{i}" for i in range(X.shape[1])]
    return pd.DataFrame(X, columns=names).infer_objects(), False


def _refuse_missing(estimator, frame):
    """Raise if values are missing that the model or, in unprotected columns, the detector needs."""
    model = estimator.estimator
    by_model, free = model is not None and not takes_missing(model), []
    if not by_model:
        free = check_protected(getattr(estimator, "protected", None), list(frame.columns))
    for name in frame.columns:
        if name not in free and frame[name].isna().any():
            raise ValueError(
                f"Input X contains NaN: column {name!r} has missing values, which "
                f"{type(model if by_model else estimator).__name__} does not accept. Put an "
                "imputer before it in a pipeline, or fill them in."
            )


def refuse_doubles(X):
    """Raise a ValueError about columns of the same name."""
    duplicated = list(X.columns[X.columns.duplicated()].unique())
    if duplicated:
        raise ValueError(
            f"X has several columns named {duplicated!r}. Rename or drop all but one of each."
        )


def refuse_shape(X):
    deep = [c for c in X.columns if isinstance(c, tuple)]
    if deep:
        raise ValueError(
            f"X has column names of several levels, e.g. {deep[0]!r}. Give each column one name: "
            "X.columns = ['_'.join(map(str, c)) for c in X.columns]."
        )
    refuse_doubles(X)
    for axis, what in ((1, "feature"), (0, "sample")):
        if X.shape[axis] == 0:
            raise ValueError(
                f"Found array with 0 {what}(s) (shape={X.shape}) while a minimum of 1 is required."
            )


def _as_at_fit(frame, space, is_frame):
    """Raise if the columns differ from fit; arrays have no names to compare."""
    names = list(space.names)
    if is_frame and space.is_frame and list(frame.columns) != names:
        raise ValueError(
            f"X must have the columns of fit, in their order: {names!r}; got "
            f"{list(frame.columns)!r}. Select them with X[[...]]."
        )
    frame = frame.set_axis(names, axis=1)
    for column in space.columns:
        dtype, was_number = frame[column.name].dtype, column.kind == "numeric"
        was_text = bool(column.values) and all(isinstance(v, str) for v in column.values)
        if was_text and frame[column.name].isna().all():
            frame[column.name] = frame[column.name].astype(object)
        were_numbers = bool(column.values) and all(map(is_number, column.values))
        are_numbers = pd.api.types.is_numeric_dtype(dtype) and frame[column.name].notna().any()
        if (
            (was_number and not pd.api.types.is_numeric_dtype(dtype))
            or (was_text and are_numbers)
            or (were_numbers and _holds_text(frame[column.name]))
        ):
            was_number |= were_numbers
            raise ValueError(
                f"Column {column.name!r} held {'numbers' if was_number else 'text'} at fit "
                f"({column.dtype}) and is {dtype} now. Convert it to what it was."
            )
    return frame


def _holds_text(column):
    """Return True if a value of the column is text."""
    categories = getattr(column.dtype, "categories", column)
    return pd.api.types.infer_dtype(categories, skipna=True) == "string"


def readable(frame):
    """Return a frame in which columns that are not readable are empty."""
    opaque = [name for name in frame.columns if not is_readable(frame[name])]
    if opaque:
        frame = frame.copy(deep=False)
        frame[opaque] = None
    return frame


def check_column(column):
    """Raise if a Series holds dates, infinite or complex numbers, or values of several types."""
    name, dtype = column.name, column.dtype
    if isinstance(dtype, pd.SparseDtype):
        raise TypeError(f"Column {name!r} is sparse, which is not supported. Pass dense data.")
    if dtype.kind in "mM":
        raise TypeError(
            f"Column {name!r} holds dates ({dtype}), which have no finite set of values to search. "
            "Turn it into a number or a category (a year, an age), or leave it out (--ignore)."
        )
    if dtype.kind == "c":
        raise ValueError(f"Complex data not supported: column {name!r} is {dtype}.")
    if not is_supported(column):
        is_category = isinstance(dtype, pd.CategoricalDtype)
        held = dtype.categories if is_category else column.dropna()
        kinds = sorted({type(v).__name__ for v in held})
        raise TypeError(
            f"Column {name!r} ({dtype}) mixes or holds unsupported types ({', '.join(kinds)}): "
            "each argument must be a string, a boolean or a number, one kind per column. Convert "
            f"it, e.g. with X[{name!r}].astype(str)."
        )
    if isinstance(dtype, pd.CategoricalDtype):
        values = dtype.categories  # few, so checking these first is quick
        if values.dtype.kind not in "fO" or not values.isin([np.inf, -np.inf]).any():
            return
    if dtype.kind not in "fO" or isinstance(dtype, pd.StringDtype):
        return
    if isinstance(dtype, np.dtype) and dtype.kind == "f":
        infinite = np.isinf(column.to_numpy())
    else:
        infinite = column.isin([np.inf, -np.inf])
    if infinite.any():
        raise ValueError(
            f"Input X contains infinity: column {name!r}, row {int(np.argmax(infinite))}. "
            "Replace it by a number or by a missing value."
        )


def check_labels(y, n_samples=None, what="y"):
    """Return y as a 1-d array without missing values, one label per row."""
    if isinstance(y, str):
        raise ValueError(
            f"{what}={y!r} is the name of a column, but X is a table in memory: pass the column, "
            f"{what}=X[{y!r}], and X without it. Names are for tables that are read part by part."
        )
    dtype = getattr(y, "dtype", None)
    can_miss = not isinstance(dtype, np.dtype) or dtype.kind not in "biu"
    missing = pd.isna(np.asarray(y, dtype=object)).ravel() if can_miss else np.zeros(0)
    if missing.any():
        raise ValueError(
            f"Input {what} contains NaN: {int(missing.sum())} label(s) are missing, the first in "
            f"row {int(np.argmax(missing))}. Drop these rows from X and {what}."
        )
    if not isinstance(getattr(y, "dtype", np.dtype(object)), np.dtype):
        is_numeric = pd.api.types.is_numeric_dtype(y.dtype)
        y = y.to_numpy() if is_numeric else np.asarray(y, dtype=object)
    y = column_or_1d(y, warn=True)
    if y.dtype == object:
        y = pd.Series(y).infer_objects().to_numpy()
    if y.dtype == object and pd.api.types.infer_dtype(y) in ("mixed", "mixed-integer"):
        kinds = ", ".join(sorted({type(v).__name__ for v in y.tolist()}))
        raise ValueError(f"{what} mixes labels of several types ({kinds}): use one type.")
    if y.dtype.kind in "fc":
        check_finite(y, what)
    if n_samples is not None:
        check_consistent_length(np.empty(n_samples), y)
    return y


def check_decisions(y, what="y", least_classes=2):
    """Return the classes of labels; raise if they are continuous, or fewer than `least_classes`.

    One class is enough for a verdict, "insufficient evidence", but nothing can be learned from it.
    """
    if not len(y):
        raise ValueError(f"{what} is empty: there are no decisions.")
    with np.errstate(invalid="ignore"):  # of numbers beyond those of integers
        kind = type_of_target(y, input_name=what)
    if kind.startswith("continuous"):
        raise ValueError(
            f"{what} holds continuous values, e.g. {plain(y[0])!r}; decisions must be classes. "
            f"Compare it with a threshold first: {what} >= threshold."
        )
    if len(y) == 1:
        raise ValueError(
            f"{what} has 1 row (n_samples = 1): decisions about people are compared. Pass more "
            "rows."
        )
    classes = sorted_unique(y)
    if len(classes) < least_classes:
        rows = f"{len(y)} row{'s' * (len(y) > 1)}"
        raise ValueError(
            f"{what} has one class ({classes[0]!r}) in {rows}: no decision differs, so there is "
            "nothing to compare. Pass rows with both decisions."
        )
    return classes


def check_protected(protected, names, what="protected"):
    """Return the names of the protected columns, by name or position; None means none."""
    if protected is None:
        return []
    if not isinstance(protected, (str, Integral, Iterable)) or isinstance(protected, Mapping):
        raise ValueError(
            f"{what} must name columns of X, got {protected!r}. Columns: {list(names)!r}."
        )
    columns = [protected] if isinstance(protected, (str, Integral)) else list(protected)
    if not columns:
        raise ValueError(
            f"{what} must name at least one column, got {protected!r}. Columns: {list(names)!r}."
        )
    resolved = []
    for p in columns:
        is_name = p in names
        position = isinstance(p, Integral) and not isinstance(p, bool)
        if not is_name and not (position and -len(names) <= p < len(names)):
            raise ValueError(
                f"{what}={p!r} is not a column of X{closest(p, names)} Columns: {list(names)!r}."
            )
        resolved.append(p if is_name else names[p])
    return list(dict.fromkeys(resolved))


def closest(name, names):
    """Return the end of a sentence: the most similar name as a suggestion, or just a period."""
    by_text = {str(n).casefold(): n for n in names}
    close = get_close_matches(str(name).casefold(), by_text, n=1)
    return f"; did you mean {by_text[close[0]]!r}?" if close else "."


def listed(texts, separator=", ", most=_NAMED):
    """Return the first of some texts as one, and how many more there are."""
    n_more = len(texts) - most
    return separator.join(texts[:most]) + (f" and {n_more:,} more" if n_more > 0 else "")


def check_varied(frame, protected):
    """Raise if a protected column has a single value."""
    if len(frame) < 2:
        raise ValueError(
            f"Found {len(frame)} sample (n_samples = {len(frame)}) while a minimum of 2 is "
            "required: rows are compared with each other. Pass more rows."
        )
    for name in protected:
        values = frame[name].iloc[:_FIRST].unique()
        values = values if len(values) > 1 else frame[name].unique()
        if len(values) < 2:
            raise ValueError(
                f"The protected column {name!r} has one value only ({plain(values[0])!r}): there "
                "is no other group to compare with. Leave it out of protected, or give data with "
                "more than one group."
            )


def check_missing(frame, protected, policy):
    """Return a mask of the rows kept by the policy for missing protected values."""
    is_missing = np.zeros(len(frame), dtype=bool)
    for name in protected:
        is_missing |= frame[name].isna().to_numpy()
    if (policy == "raise" and is_missing.any()) or (policy == "drop" and is_missing.all()):
        refuse_missing(is_missing, protected)
    return ~is_missing if policy == "drop" else np.ones(len(frame), dtype=bool)


def refuse_missing(is_missing, protected):
    """Raise a ValueError about missing protected values, in the rows of a mask."""
    raise ValueError(
        f"{int(is_missing.sum())} of {len(is_missing)} rows have a missing value in the "
        f"protected columns {list(protected)!r} (NaN). missing='category' makes it a group of its "
        "own, missing='drop' leaves the rows out."
    )


def check_names(what, names, allowed, kind="columns"):
    """Raise a ValueError if `what` names something that is not among the known names."""
    unknown = [n for n in names if n not in allowed]
    if unknown:
        raise ValueError(f"{what} names {unknown!r}, not among the {kind} {list(allowed)!r}.")


def is_favorable(labels, favorable):
    """Return a boolean mask of the favorable labels."""
    labels = np.asarray(labels)
    if len(favorable) == 1:
        return np.asarray(labels == favorable[0], dtype=bool)
    return np.isin(labels, favorable)


def are_of_one_kind(label, other_label):
    """Return whether both of two labels are texts, or neither is."""
    return isinstance(label, str) == isinstance(other_label, str)


def check_known_labels(y, labels, favorable):
    """Raise if y has a label that is not among the known ones; None: all are known.

    If one label is known, all decisions were the same: then the favorable label is known, too, or
    the other one, if it is the one that all had.
    """
    if labels is None:
        return
    known = {*labels, *favorable} if len(labels) == 1 else set(labels)
    strange = [v for v in sorted_unique(y) if v not in known]
    is_the_other = len(known) == len(strange) == 1 and are_of_one_kind(labels[0], strange[0])
    if strange and not is_the_other:
        raise ValueError(
            f"y holds {strange[0]!r}, which is not among the labels {list(labels)!r} of the "
            "decisions. Code labels and decisions alike."
        )


def takes_missing(estimator):
    """Return True if an estimator accepts missing values; a pipeline is assumed to."""
    inner = estimator
    while hasattr(inner, "estimator"):
        inner = inner.estimator
    return get_tags(estimator).input_tags.allow_nan or isinstance(inner, Pipeline)


def takes_gaps(detector):
    """Return True if values may be missing in columns that are not protected."""
    return get_tags(detector).input_tags.allow_nan and getattr(detector, "_takes_missing", True)


def plain(value):
    """Return a NumPy scalar as a Python object, a missing marker as None, an interval as text."""
    if value is None or value is pd.NA or value is pd.NaT or value != value:
        return None
    if isinstance(value, pd.Interval):
        return str(value)
    return value.item() if isinstance(value, np.generic) else value


def of_numbers(dtype):
    """Return True for a numeric dtype other than bool, which pandas counts as numeric."""
    return pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)


def is_number(value):
    """Return True for a real number other than True and False."""
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def differ(a, b):
    """Return a boolean mask of where two columns differ; two missing values are equal."""
    if isinstance(a.dtype, pd.CategoricalDtype) or isinstance(b.dtype, pd.CategoricalDtype):
        a, b = a.astype(object), b.astype(object)
    is_missing = a.isna().to_numpy()
    return _as_mask(a != b, True) & ~(
        is_missing & b.isna().to_numpy() if is_missing.any() else is_missing
    )


def equal(column, value):
    """Return a boolean mask of where a column has a value; a missing value equals none."""
    return _as_mask(column == value, False)


def _as_mask(answers, if_missing):
    if answers.dtype != bool:
        answers = answers.fillna(if_missing)
    return answers.to_numpy(dtype=bool)


def cast_if_lossless(values, dtype):
    """Return a Series in another dtype, or None if a value or a missing marker would change."""
    if isinstance(dtype, pd.CategoricalDtype) and not set(values.dropna()) <= set(dtype.categories):
        return None
    try:
        cast = values.astype(dtype)
    except (TypeError, ValueError):
        return None
    is_missing = values.isna()
    before, after = values[~is_missing].astype(object), cast[~is_missing].astype(object)
    return cast if cast.isna().equals(is_missing) and (before == after).all() else None
