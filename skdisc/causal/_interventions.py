"""Interventions: for each column set, a value, a dict from value to value, or an array."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from skdisc._utils._validation import cast_if_lossless


def check_do(do, X):
    """Raise ValueError unless `do` maps columns of X to values, dicts or arrays of its length."""
    if not isinstance(do, Mapping) or not do:
        raise ValueError(f"do must map columns to values, dicts or arrays; got {do!r}.")
    unknown = [name for name in do if name not in X.columns]
    if unknown:
        raise ValueError(
            f"do names {unknown!r}, which are not among the columns {list(X.columns)!r} of X."
        )
    for name, to in do.items():
        if _is_column(to) and np.shape(to) != (len(X),):
            raise ValueError(
                f"do[{name!r}] has shape {np.shape(to)}; an array for the rows of X needs shape "
                f"({len(X)},)."
            )


def _is_column(to):
    """Return True for an array of values, one per row."""
    return pd.api.types.is_list_like(to) and not isinstance(to, Mapping)


def take_do(do, positions):
    """Return the intervention on the rows at some positions; None stays None."""
    return do and {
        name: np.asarray(to)[positions] if _is_column(to) else to for name, to in do.items()
    }


def read_do(do, X, values=None):
    """Return the columns that an intervention sets, a dict of name to Series with X's index.

    Parameters
    ----------
    do : dict
        Maps a column to a value for all rows; to a dict from value to value, where other values
        stay as they are (``{0: 1, 1: 0}`` flips); or to an array with one value per row.
    values : dict, optional
        The values of nominal columns that were seen when the model was fitted.

    Raises
    ------
    ValueError
        If a name is not a column of X, a value was not seen, or an array has another length.
    """
    check_do(do, X)
    return {name: _column(X[name], to, (values or {}).get(name)) for name, to in do.items()}


def _column(series, to, valid_values):
    """Return one column after the intervention."""
    if isinstance(to, Mapping):
        codes, values = pd.factorize(series, use_na_sentinel=False)
        _refuse_unseen(series.name, list(to), values if valid_values is None else valid_values)
        values = [to.get(v, v) for v in values.tolist()]
    elif _is_column(to):
        codes, values = pd.factorize(np.asarray(to), use_na_sentinel=False)
        values = values.tolist()
    else:
        codes, values = np.zeros(len(series), dtype=np.intp), [to]
    if valid_values is not None:
        _refuse_unseen(series.name, values, valid_values)
    values = pd.Series(values, dtype=object)
    cast = cast_if_lossless(values, series.dtype)
    table = values.infer_objects() if cast is None else cast
    return pd.Series(table.array.take(codes), index=series.index, name=series.name)


def _refuse_unseen(name, values, valid_values):
    """Raise ValueError if a value is not among the known ones."""
    strange = [v for v in values if v not in valid_values]
    if strange:
        raise ValueError(
            f"do[{name!r}] holds {strange[0]!r}, which is not a value of the column. Values: "
            f"{list(valid_values)!r}."
        )
