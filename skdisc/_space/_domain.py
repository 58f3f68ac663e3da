"""Domains: what the values of a column may be, learned from those that occur."""

from numbers import Integral

import numpy as np
import pandas as pd

from skdisc._utils._scalars import of_numbers, plain


def names_once(given):
    """Return names as a tuple, each once; a single one may stand for itself."""
    return tuple(dict.fromkeys([given] if isinstance(given, (str, Integral)) else given))


def refuse_unknown(what, names, columns):
    """Refuse names that are no column's."""
    unknown = [n for n in names if n not in columns]
    if unknown:
        raise ValueError(f"{what} names {unknown!r}, not among the columns {list(columns)!r}.")


def check_monotone(monotone, columns):
    """Refuse directions other than up (1) and down (-1), and columns without an order."""
    refuse_unknown("monotone", monotone, [c.name for c in columns])
    wrong = {n: way for n, way in monotone.items() if way not in (1, -1)}
    if wrong:
        raise ValueError(f"monotone must be 1 (only up) or -1 (only down), got {wrong!r}.")
    nominal = [c.name for c in columns if c.name in monotone and c.kind == "nominal"]
    if nominal:
        raise ValueError(f"monotone names {nominal!r}, whose values have no order.")


def infer_kind(series):
    """Return the kind of a column from its dtype: ordered categories, numbers, or names.

    A column of numbers that are all missing has no scale; it is a name without values.
    """
    if isinstance(series.dtype, pd.CategoricalDtype):
        return "ordinal" if series.dtype.ordered else "nominal"
    return "numeric" if of_numbers(series.dtype) and series.notna().any() else "nominal"


def numbers(series):
    """Return a Series as floats, NaN where it is missing."""
    try:
        return series.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"The column {series.name!r} is numeric, but holds something else ({error}). "
            "Give it the dtype that it had at fit, or name its kind."
        ) from error


def lattice(series, bounds, step):
    """Return low, high and step of a numeric column."""
    x, dtype = np.unique(numbers(series.dropna())), series.dtype
    if isinstance(dtype, pd.CategoricalDtype) or (not len(x) and bounds is None):
        raise ValueError(
            f"The column {series.name!r} ({dtype}) cannot be numeric: that needs numbers, or "
            "bounds where all of them are missing."
        )
    low, high = (float(end) for end in ((x[0], x[-1]) if bounds is None else bounds))
    if dtype.kind in "iu":
        low, high = np.ceil(low), np.floor(high)
    near = float(np.max(np.abs([low, high, *x[:1], *x[-1:]])))
    whole = near < 2**53 and float(low).is_integer() and bool(np.all(x == np.rint(x)))
    if step is None and whole:
        gaps = np.diff(x).astype(np.int64)
        step = int(np.gcd.reduce([*gaps, int(x[0] - low)])) if len(gaps) else 1
    elif step is None:
        step = max((high - low) / 100, 4 * _spacing(near, dtype))
        step = max(np.rint(step), 1.0) if dtype.kind in "iu" else step
    if whole and float(step).is_integer():
        low, high, step = int(low), int(high), int(step)
    return {"low": low, "high": high, "step": step}


def _spacing(value, dtype):
    """Return the distance from a number to the next one that a dtype holds."""
    dtype = getattr(dtype, "numpy_dtype", dtype)
    return float(np.spacing(dtype.type(value) if dtype.kind == "f" else value))


def categories(series):
    """Return the categories that occur (or that an ordered dtype declares), in a fixed order."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        every = tuple(map(plain, series.dtype.categories))
        if series.dtype.ordered or not len(series):
            return every
        n = np.bincount(series.cat.codes.to_numpy().astype(np.int64) + 1)[1:]  # without missing
        return tuple(every[i] for i in np.flatnonzero(n))
    values = [plain(v) for v in series.dropna().unique()]
    try:
        return tuple(sorted(values))
    except TypeError:
        return tuple(sorted(values, key=str))
