"""Interventions: a value, a map from value to value, or a whole column, for each column set."""

from collections.abc import Mapping

import numpy as np
import pandas as pd


def read_do(do, X, values=None):
    """Return the column that each intervention sets, a dict of name to Series with X's index.

    Parameters
    ----------
    do : dict
        By column: a value for everybody; a map from value to value, others staying as they are
        (``{0: 1, 1: 0}`` flips); or one value per row.
    X : DataFrame
    values : dict, optional
        The known values of nominal columns; others are refused.

    Raises
    ------
    ValueError
        If a name is no column of X, a value was never seen, or a column has another length.
    """
    if not isinstance(do, Mapping) or not do:
        raise ValueError(f"do must be a dict of column to value, map or column, got {do!r}.")
    unknown = [name for name in do if name not in X.columns]
    if unknown:
        raise ValueError(f"do names {unknown!r}, not among the columns {list(X.columns)!r} of X.")
    return {name: _column(X[name], to, (values or {}).get(name)) for name, to in do.items()}


def _column(series, to, known):
    if isinstance(to, Mapping):
        _refuse_unseen(series.name, list(to), series.unique() if known is None else known)
        new = series.astype(object).map(lambda v: to.get(v, v))
    elif pd.api.types.is_list_like(to):
        to = np.asarray(to)
        if to.shape != (len(series),):
            raise ValueError(
                f"do[{series.name!r}] has shape {to.shape}; a column for {len(series)} rows needs "
                f"({len(series)},)."
            )
        new = pd.Series(to, index=series.index)
    else:
        new = pd.Series([to] * len(series), index=series.index, dtype=object)
    if known is not None:
        _refuse_unseen(series.name, pd.unique(new), known)
    return _as(new.rename(series.name), series.dtype)


def _refuse_unseen(name, values, known):
    strange = [v for v in values if v not in known]
    if strange:
        raise ValueError(
            f"do[{name!r}] holds {strange[0]!r}, which was never seen. Values: {list(known)!r}."
        )


def _as(series, dtype):
    """Return the Series in a dtype where that changes no value, else in the one that fits."""
    try:
        cast = series.astype(dtype)
    except (TypeError, ValueError):
        return series.infer_objects()
    same = (cast.astype(object) == series.astype(object)) | (cast.isna() & series.isna())
    return cast if same.all() else series.infer_objects()
