"""Columns as numbers for regressions: scaled numbers, and an indicator of each category."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skdisc._space._codes import MISSING


@dataclass(frozen=True)
class DesignMatrix:
    """The columns of a regression, without the intercept.

    Parameters
    ----------
    values : ndarray of float, shape (n_rows, n_terms)
        Numbers, divided by the largest, their indicator of missing values, and an indicator of
        each category, of missing values too.
    factor : ndarray of int, shape (n_terms,)
        The number of the column that a term is of.
    nominal : ndarray of bool, shape (n_terms,)
        Whether it is an indicator of a category.
    names : list of hashable
        Names of the columns.
    """

    values: np.ndarray
    factor: np.ndarray
    nominal: np.ndarray
    names: list

    @classmethod
    def of(cls, X: pd.DataFrame, space: Any, columns: Sequence[Hashable]) -> "DesignMatrix":
        """Return the design of some columns of X.

        Shapes: `X` (n_rows, n_columns).
        """
        parts, factor, nominal = [np.empty((len(X), 0))], [], []
        for j, name in enumerate(columns):
            is_number = space[name].kind == "numeric"
            part = _numbers(X[name]) if is_number else _indicators(space[name].encode(X[name]))
            parts.append(part)
            factor += [j] * part.shape[1]
            nominal += [not is_number] * part.shape[1]
        return cls(
            np.hstack(parts),
            factor=np.array(factor, dtype=int),
            nominal=np.array(nominal, dtype=bool),
            names=list(columns),
        )


def _numbers(series):
    """Return a number scaled to 1, missing ones at the median, and their indicator, if any."""
    x = series.to_numpy(dtype=np.float64, na_value=np.nan)
    is_missing = np.isnan(x)
    if is_missing.all():
        return np.empty((len(x), 0))
    largest = np.abs(x[~is_missing]).max()
    x = np.where(is_missing, np.median(x[~is_missing] / (largest or 1)), x / (largest or 1))
    return np.column_stack([x, is_missing]) if is_missing.any() else x[:, None]


def _indicators(codes):
    """Return one indicator for each code, missing values included."""
    number, distinct = pd.factorize(np.where(codes < 0, MISSING, codes), sort=True)
    return (number[:, None] == np.arange(len(distinct))).astype(float)
