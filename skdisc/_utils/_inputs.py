"""Small checks of what is passed: numbers, tables, values that compare, rows in one order."""

from numbers import Integral

import numpy as np
import pandas as pd
from sklearn.utils.validation import assert_all_finite

_SCALARS = {"string", "boolean", "integer", "floating", "mixed-integer-float", "empty"}
_UNLIKE = ("mixed", "decimal")  # kinds of columns whose equal values may look different
BINNED = "skdisc.Discretizer"  # in the attrs of frames that a Discretizer made
_LARGEST = 1e150  # its square is a number


def check_finite(values, what):
    """Raise ValueError if a number is missing, infinite, or beyond 1e150."""
    with np.errstate(over="ignore", invalid="ignore"):
        assert_all_finite(values, input_name=what)
    if np.abs(values).max(initial=0) > _LARGEST:
        raise ValueError(f"{what} has numbers beyond {_LARGEST:g}. Divide them by a unit.")


class BinnedArray(np.ndarray):
    """An array that a Discretizer made. What is computed from it is a plain array again."""

    def __array_finalize__(self, source):
        pass

    def __array_wrap__(self, array, context=None, return_scalar=False):
        return array[()] if return_scalar else array


def refuse_binned(X):
    """Raise ValueError if rows are bins of a Discretizer, which a fitted model may not know."""
    if isinstance(X, BinnedArray) or getattr(X, "attrs", {}).get(BINNED):
        raise ValueError(
            "X holds the bins that a Discretizer made, and the model would be queried about bins "
            "as if they were values. Pass the rows as they were before. If the model was trained "
            "on the bins, the model is the pipeline of both: "
            "model=make_pipeline(discretizer, model). The detector cuts columns for groups itself, "
            "by its n_bins."
        )


def check_count(what, value, least=0):
    """Raise ValueError if a value is not a whole number of at least `least`."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{what} must be a whole number >= {least}, got {value!r}.")


def check_choice(what, value, allowed):
    """Raise ValueError if a setting is not one of some words."""
    if not isinstance(value, str) or value not in allowed:
        choices = " or ".join(f'"{word}"' for word in allowed)
        raise ValueError(f"{what} must be {choices}, got {value!r}")


def as_frame(X):
    """Return columns, or an array, as a DataFrame; ValueError for what is no table."""
    if hasattr(X, "to_pandas"):
        X = X.to_pandas()
    if isinstance(X, pd.Series):
        X = X.to_frame()
    if not isinstance(X, pd.DataFrame):
        if isinstance(X, (str, dict)) or np.ndim(X) not in (1, 2):
            raise ValueError(f"X must be a table, one row per person, got {type(X).__name__}.")
        X = pd.DataFrame(X)
    for name, dtype in zip(X.columns, X.dtypes, strict=True):
        if dtype.kind == "c":
            raise ValueError(f"Complex data not supported: column {name!r} is {dtype}.")
    return X


def factorized(values, what, **options):
    """Return the codes and the distinct values of `pandas.factorize`; ValueError for lists."""
    try:
        codes, distinct = pd.factorize(values, **options)
    except TypeError as error:
        raise ValueError(f"{what} holds values that cannot be compared: {error}.") from error
    return codes, one_of_equals(distinct, values)


def rows_in_words(n):
    """Return a number of rows in words."""
    return "1 row" if n == 1 else f"{n:,} rows"


def check_is_frame(X, what="X"):
    """Raise TypeError unless X is a DataFrame."""
    if not isinstance(X, pd.DataFrame):
        raise TypeError(f"{what} must be a DataFrame, got {type(X).__name__}.")


def distinct_values(series, numbered=None):
    """Return the distinct values; TypeError if they cannot be compared, as lists."""
    try:
        distinct = pd.unique(series) if numbered is None else numbered[series.name][1]
        return one_of_equals(distinct, series)
    except TypeError as error:
        raise TypeError(f"Column {series.name!r} holds unsupported types: {error}.") from error


def one_of_equals(distinct, values):
    """Return distinct values; of equal ones of several types, the same in any order of `values`.

    Of 1, 1.0 and True, which are equal, it is the one whose type is the last by name: 1.
    """
    kind = pd.api.types.infer_dtype(values, skipna=True) if distinct.dtype == object else ""
    if not kind.startswith(_UNLIKE):
        return distinct
    chosen = {}
    for value in values:
        pair = chosen.get(value, value), value
        chosen[value] = max(pair, key=lambda v: (type(v).__name__, repr(v)))
    same = np.empty(len(distinct), dtype=object)
    same[:] = [chosen.get(value, value) for value in distinct]
    return same


def in_order(values):
    """Return values as a sorted list; by their text, and then their type, if they do not compare.

    Examples
    --------
    >>> in_order(["1", 2, 1])
    [1, '1', 2]
    """
    values = list(values)
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=lambda value: (str(value), type(value).__name__))


def counts_of_values(series, dropna=True):
    """Return the number of rows of each value that occurs, the most frequent first.

    `value_counts` of a categorical counts unused categories, too, as 0: groups that nobody is in.
    """
    counts = series.value_counts(dropna=dropna)
    return counts[counts > 0]


def sorted_unique(values):
    """Return the distinct values in order, as a list of Python objects."""
    values = np.asarray(values)
    return in_order(one_of_equals(pd.unique(values), values).tolist())


def without_halves(frame):
    """Return columns of float16 as float32: pandas has no index of the former."""
    halves = [name for name, dtype in frame.dtypes.items() if dtype == np.float16]
    return frame.astype(dict.fromkeys(halves, np.float32)) if halves else frame


def refuse_twice(frame):
    """Raise ValueError if two columns have one name."""
    if not frame.columns.is_unique:
        name = frame.columns[frame.columns.duplicated()][0]
        raise ValueError(f"X has several columns named {name!r}. Rename them, or leave them out.")


def refuse_huge(frame):
    """Raise ValueError about numbers beyond 1e150, whose squares are no numbers."""
    for j in np.flatnonzero([d.kind == "f" for d in frame.dtypes]):
        if (frame.iloc[:, j].abs().astype(float) > _LARGEST).any():
            raise ValueError(f"Column {frame.columns[j]!r} of X has numbers beyond {_LARGEST:g}.")


def check_order(**columns):
    """Raise ValueError if a Series or DataFrame has the index of the first one in another order.

    Rows are matched by position; indexes with other labels say nothing about their order.
    """
    indexed = {n: c for n, c in columns.items() if isinstance(c, (pd.Series, pd.DataFrame))}
    first = next(iter(indexed), None)
    for name, values in indexed.items():
        if is_reordered(indexed[first].index, values.index):
            raise ValueError(
                f"{name} has the index of {first} in another order, and rows are matched by "
                f"position. Put both in the same order ({name}.loc[{first}.index]), or pass "
                f"{name}.to_numpy() if its rows are those of {first} already."
            )


def check_settings_order(estimator, X):
    """Raise ValueError if a setting holds rows with the index of X in another order.

    Such as counterfactual rows, alone, in a pair with their decisions, or by the name of a world.
    """
    for name, value in estimator.get_params(deep=False).items():
        for part in _parts(value):
            check_order(X=X, **{name: part})


def _parts(value):
    """Yield a value, or the values in a tuple, list or dict, however deep."""
    if isinstance(value, (tuple, list, dict)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _parts(inner)
    else:
        yield value


def without_index(value):
    """Return a setting with rows counted from 0, as in a frame whose index was reset."""
    if isinstance(value, (pd.Series, pd.DataFrame)):
        return value.reset_index(drop=True)
    if isinstance(value, dict):
        return {name: without_index(inner) for name, inner in value.items()}
    if type(value) in (tuple, list):
        return type(value)(map(without_index, value))
    return value


def is_reordered(index, second_index):
    """Return whether two indexes have the same labels, each once, in different orders."""
    if (
        len(index) != len(second_index)
        or index.nlevels != second_index.nlevels
        or index.equals(second_index)
    ):
        return False
    return bool(index.is_unique and second_index.is_unique and second_index.isin(index).all())


def of_intervals(dtype):
    """Return True for categories of intervals, as `pandas.cut` makes them."""
    is_category = isinstance(dtype, pd.CategoricalDtype)
    return is_category and isinstance(dtype.categories, pd.IntervalIndex)


def is_supported(column):
    """Return True if the values are all text, all booleans, all numbers, or categories of bins."""
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return of_intervals(dtype) or pd.api.types.infer_dtype(dtype.categories) in _SCALARS
    if dtype == np.dtype(object):
        return pd.api.types.infer_dtype(column, skipna=True) in _SCALARS
    return dtype.kind in "biuf" or pd.api.types.is_string_dtype(dtype)


def is_readable(column):
    """Return whether the values are text, numbers or booleans, of which groups can be made."""
    return column.dtype.kind not in "mM" and is_supported(column)
