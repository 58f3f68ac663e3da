"""Single values as they come from columns: numbers, names and missing markers."""

from numbers import Real

import numpy as np
import pandas as pd


def plain(value):
    """Return a NumPy scalar as the Python object it stands for; any missing marker as None."""
    if value is None or value is pd.NA or value is pd.NaT or value != value:
        return None
    return value.item() if isinstance(value, np.generic) else value


def of_numbers(dtype):
    """Say whether a dtype holds numbers, and no truth values, which are numbers to pandas."""
    return pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)


def is_number(value):
    """Say whether a value is a real number; True and False are names."""
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def differ(a, b):
    """Say where two columns differ; missing is a value like others. A bool array."""
    if isinstance(a.dtype, pd.CategoricalDtype) or isinstance(b.dtype, pd.CategoricalDtype):
        a, b = a.astype(object), b.astype(object)
    gone = a.isna().to_numpy()
    return _as_mask(a != b, True) & ~(gone & b.isna().to_numpy() if gone.any() else gone)


def equal(column, value):
    """Say where a column has a value; missing is none. A bool array."""
    return _as_mask(column == value, False)


def _as_mask(answers, if_missing):
    if answers.dtype != bool:
        answers = answers.fillna(if_missing)
    return answers.to_numpy(dtype=bool)
