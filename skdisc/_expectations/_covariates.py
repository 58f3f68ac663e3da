"""Covariates: the legitimate columns, as numbers and as codes of categories."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from skdisc._space._column import infer_kind, numbers
from skdisc._utils._frequency import count
from skdisc._utils._hashing import ranks_by_content, ranks_of_codes, without_direction

PEOPLE_PER_VALUE = 10  # from which a value of a number has an effect of its own


@dataclass(frozen=True)
class Covariates:
    """The columns that expectations are learned from.

    `is_number`: the others are categories. `values`: floats with NaN where a number is missing, or
    codes of categories from 0, where missing is a category, too.
    """

    names: list
    is_number: list
    values: list
    n_rows: int

    @classmethod
    def of(cls, X: pd.DataFrame, space: Any = None) -> "Covariates":
        """Return the covariates of a table.

        `space`: says which columns are numbers; None: their dtypes do. Shapes: `X` (n_rows,
        n_columns).
        """
        is_number, values = [], []
        for name in X:
            kind = infer_kind(X[name]) if space is None else space[name].kind
            is_number.append(kind == "numeric")
            if is_number[-1]:
                values.append(numbers(X[name]))
            else:
                values.append(_codes_of(X[name]))
        return cls(list(X), is_number, values, len(X))

    def __len__(self) -> int:
        return len(self.names)

    def take(self, rows: np.ndarray, columns: Sequence[int] | None = None) -> "Covariates":
        """Return the covariates of some rows, a mask or positions, in an order of the columns."""
        order = range(len(self)) if columns is None else columns
        return Covariates(
            names=[self.names[j] for j in order],
            is_number=[self.is_number[j] for j in order],
            values=[self.values[j][rows] for j in order],
            n_rows=len(np.arange(self.n_rows)[rows]),
        )

    def beside(self, name: Hashable, values: np.ndarray, *, is_number: bool = True) -> "Covariates":
        """Return the covariates with one more: numbers, or codes of categories."""
        return Covariates(
            names=[*self.names, name],
            is_number=[*self.is_number, is_number],
            values=[*self.values, np.asarray(values, dtype=float if is_number else np.intp)],
            n_rows=self.n_rows,
        )

    def table(self) -> np.ndarray:
        """Return all columns as floats, shape (n_rows, n_columns)."""
        if not self.values:
            return np.zeros((self.n_rows, 0))
        return np.column_stack(self.values).astype(float)

    def sizes(self) -> list[int]:
        """Return the number of categories of each column, missing included; 0 for numbers."""
        return [
            0 if is_number else int(x.max(initial=-1)) + 1
            for x, is_number in zip(self.values, self.is_number, strict=True)
        ]


def _categories(series: pd.Series) -> pd.Index:
    """Return the categories that occur, sorted where they can be."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        present = np.unique(series.cat.codes)
        return series.cat.categories[present[present >= 0]]
    categories = pd.Index(pd.unique(series.dropna()))
    try:
        return categories.sort_values()
    except TypeError:  # values of several types
        return categories[np.argsort([f"{type(v)} {v}" for v in categories], kind="stable")]


def _codes_of(series: pd.Series) -> np.ndarray:
    """Return the position of each value among those that occur; missing: after the last."""
    categories = _categories(series)
    if isinstance(series.dtype, pd.CategoricalDtype):
        series = series.astype(object)
    codes = categories.get_indexer(pd.Index(series))
    return np.where(series.isna().to_numpy(), len(categories), codes)


def dense(codes: np.ndarray) -> np.ndarray:
    """Number the distinct values of an array from 0, in their order."""
    return np.unique(codes, return_inverse=True)[1].reshape(-1)


def sums_over_cells(codes: np.ndarray, n_cells: int, planes: np.ndarray) -> np.ndarray:
    """Return the sums over cells of each column of planes, shape (n_cells, n)."""
    if planes.shape[1] == 1:
        return np.bincount(codes, planes[:, 0], n_cells)[:, None]
    ones, ends = _one_per_row(len(codes))
    indicators = sparse.csc_array((ones, codes.astype(np.int32), ends), (n_cells, len(codes)))
    return indicators @ planes


@lru_cache(maxsize=2)
def _one_per_row(n):
    """Return the values and the ends of the columns of a sparse matrix with a 1 in each of them."""
    return np.ones(n), np.arange(n + 1, dtype=np.int32)


def shared_values(x: np.ndarray, people: np.ndarray | None = None) -> np.ndarray:
    """Return codes of the values that at least ten people share; -1 for the others.

    Also continuous numbers have such values, as salaries heaped at 30,000. Missing is a value.

    `people`: number of people of each row; None: 1.
    """
    values, code = np.unique(x, return_inverse=True)
    is_shared = count(code, len(values), people) >= PEOPLE_PER_VALUE
    is_shared |= np.isnan(values)  # a curve cannot say what to expect of a missing number
    return np.where(is_shared[code], np.cumsum(is_shared)[code] - 1, -1)


def canonical_order(
    covariates: Covariates,
    targets: np.ndarray,
    weight: np.ndarray | None = None,
    people: np.ndarray | None = None,
    cluster: np.ndarray | None = None,
) -> tuple[np.ndarray, list[int]]:
    """Return an order of rows and one of columns that depend on what rows hold alone.

    What is drawn in these orders, and sums of floats, are then the same for every order of the
    table, and for all names of parts and categories. Rows and columns are ordered by hashes; parts
    and categories count as their ranks by people and outcomes.

    `targets`, of shape (n_rows, 1 + n_parts): outcomes, and memberships in parts.
    """
    n = covariates.n_rows
    mass = np.ones(n) if people is None else people.astype(float)
    y = without_direction(targets[:, 0], people)
    of_parts = ranks_by_content(targets[:, 1:].T @ mass, targets[:, 1:].T @ (mass * y))
    with np.errstate(over="ignore"):
        outcome_hash = np.zeros(n, dtype=np.uint64)
        ranks = [] if weight is None else [dense(weight)]  # whatever the unit of weights
        for plane in [y, *targets[:, 1:].T[np.argsort(of_parts)], *ranks]:
            outcome_hash = _mixed(
                outcome_hash * np.uint64(31) + _mixed(np.asarray(plane, dtype=float))
            )
        times = np.uint64(1) if people is None else people.astype(np.uint64)
        hashes = [
            _mixed(x if is_number else ranks_of_codes(x, mass * y, mass))
            for x, is_number in zip(covariates.values, covariates.is_number, strict=True)
        ]
        keys = [
            (not is_number, int((_mixed(h ^ outcome_hash) * times).sum(dtype=np.uint64)))
            for h, is_number in zip(hashes, covariates.is_number, strict=True)
        ]
        columns = sorted(range(len(covariates)), key=keys.__getitem__)
        row = outcome_hash
        for j in columns:
            row = _mixed(row * np.uint64(31) + hashes[j])
        if cluster is None:
            return np.argsort(row, kind="stable"), columns
        of_cluster = np.zeros(int(cluster.max(initial=-1)) + 1, dtype=np.uint64)
        np.add.at(of_cluster, cluster, _mixed(row) * times)
        return np.lexsort((row, of_cluster[cluster])), columns


def _mixed(values: np.ndarray) -> np.ndarray:
    """Return hashes of an array of numbers, of 64 bits each."""
    return pd.util.hash_array(np.ascontiguousarray(values), categorize=False)


def names_of(names: Sequence[Hashable]) -> str:
    """Return column names, in words."""
    return " × ".join(repr(str(name)) for name in names)
