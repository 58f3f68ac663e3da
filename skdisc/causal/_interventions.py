"""Interventions: a value, a map from value to value, or a whole column, for each column set."""

from collections.abc import Mapping

import numpy as np
import pandas as pd


def check_do(do, X):
    """Refuse names that are no columns of X, and columns of another length."""
    if not isinstance(do, Mapping) or not do:
        raise ValueError(f"do must be a dict of column to value, map or column, got {do!r}.")
    unknown = [name for name in do if name not in X.columns]
    if unknown:
        raise ValueError(f"do names {unknown!r}, not among the columns {list(X.columns)!r} of X.")
    for name, to in do.items():
        if _is_column(to) and np.shape(to) != (len(X),):
            raise ValueError(
                f"do[{name!r}] has shape {np.shape(to)}; a column for {len(X)} rows needs "
                f"({len(X)},)."
            )


def _is_column(to):
    return pd.api.types.is_list_like(to) and not isinstance(to, Mapping)


def take_do(do, at):
    """Return an intervention for the rows at some positions; None stays None."""
    return do and {name: np.asarray(to)[at] if _is_column(to) else to for name, to in do.items()}


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
    check_do(do, X)
    return {name: _column(X[name], to, (values or {}).get(name)) for name, to in do.items()}


def _column(series, to, known):
    if isinstance(to, Mapping):
        codes, values = pd.factorize(series, use_na_sentinel=False)
        _refuse_unseen(series.name, list(to), values if known is None else known)
        values = [to.get(v, v) for v in values.tolist()]
    elif _is_column(to):
        codes, values = pd.factorize(np.asarray(to), use_na_sentinel=False)
        values = values.tolist()
    else:
        codes, values = np.zeros(len(series), dtype=np.intp), [to]
    if known is not None:
        _refuse_unseen(series.name, values, known)
    table = _as(pd.Series(values, dtype=object), series.dtype)
    return pd.Series(table.array.take(codes), index=series.index, name=series.name)


def _refuse_unseen(name, values, known):
    strange = [v for v in values if v not in known]
    if strange:
        raise ValueError(
            f"do[{name!r}] holds {strange[0]!r}, which was never seen. Values: {list(known)!r}."
        )


def _as(values, dtype):
    """Return a Series in a dtype where that changes no value, else in the one that fits."""
    try:
        cast = values.astype(dtype)
    except (TypeError, ValueError):
        return values.infer_objects()
    same = (cast.astype(object) == values) | (cast.isna() & values.isna())
    return cast if same.all() else values.infer_objects()
