"""DataFrames as plain JSON types and back, dtypes and missing values included."""

import math

import numpy as np
import pandas as pd

from skdisc._utils._validation import plain


def jsonable(value):
    """Return `value` in JSON types; NaN becomes None, infinity text."""
    if isinstance(value, dict):
        return {str(k): jsonable(v) for k, v in value.items()}
    if isinstance(value, (set, frozenset)):
        return [jsonable(v) for v in sorted(value, key=repr)]
    value = value.tolist() if isinstance(value, np.ndarray) else value
    if isinstance(value, (list, tuple)):
        return [jsonable(v) for v in value]
    value = plain(value) if pd.api.types.is_scalar(value) else value
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return describe(value)


def settings(params, but=()):
    """Return parameters in JSON types, without deprecated ones and some others."""
    return {
        name: jsonable(value)
        for name, value in params.items()
        if name not in but and not (isinstance(value, str) and value == "deprecated")
    }


def describe(value):
    """Return the repr of a parameter without an address in memory."""
    if callable(value) and not hasattr(value, "get_params"):
        return getattr(value, "__name__", type(value).__name__)
    text = repr(value)
    return type(value).__name__ if " at 0x" in text else text


def frame_to_dict(frame):
    """Return a DataFrame in JSON types; `frame_from_dict` is the inverse."""
    return {
        "columns": [plain(c) for c in frame.columns],
        "dtypes": [_dtype_to_json(frame[c].dtype) for c in frame.columns],
        "data": [[jsonable(v) for v in frame[c].tolist()] for c in frame.columns],
    }


def frame_from_dict(data):
    """Return the DataFrame of a dict made by `frame_to_dict`."""
    columns = {}
    for name, dtype, values in zip(data["columns"], data["dtypes"], data["data"], strict=True):
        columns[name] = _column(values, dtype)
    return pd.DataFrame(columns, columns=data["columns"])


def _dtype_to_json(dtype):
    if isinstance(dtype, pd.CategoricalDtype):
        return {"categories": [plain(c) for c in dtype.categories], "ordered": bool(dtype.ordered)}
    if isinstance(dtype, pd.StringDtype) and dtype.na_value is pd.NA:
        return f"string[{dtype.storage}]"
    return str(dtype)


def _column(values, dtype):
    if isinstance(dtype, dict):
        return pd.Categorical(values, categories=dtype["categories"], ordered=dtype["ordered"])
    if dtype in ("float16", "float32", "float64"):
        return np.array([np.nan if v is None else float(v) for v in values], dtype=dtype)
    if dtype == "str":  # text in pandas 3, which pandas 2 has as object
        return pd.Series(values, dtype=pd.Series(["text"]).dtype)
    return pd.Series(values, dtype=dtype)
