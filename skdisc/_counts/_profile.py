"""Profile: what a first pass over a table learns of its columns. Profiles of parts add up."""

import json
from collections.abc import Hashable, Sequence
from dataclasses import astuple, dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd

from skdisc._counts._schema import CountsSchema
from skdisc._utils._files import written
from skdisc._utils._frequency import summed_over_equal
from skdisc._utils._inputs import distinct_values
from skdisc._utils._validation import of_numbers, plain

_MOST_NUMBERS = 2**18  # distinct numbers that are kept before they are rounded
_MOST_CATEGORIES = 100_000
_SIGN = np.int64(2**63 - 1)


@dataclass(frozen=True)
class Numbers:
    """How often each number of a column occurs; numbers are rounded up once they are too many.

    Rounding keeps the leading bits of each number, and no more is rounded than needed, so the
    result depends neither on the order of the rows nor on how they were divided.

    Attributes
    ----------
    keys : ndarray of int64, shape (n_distinct,)
        The numbers in increasing order, as integers of the same order.
    n : ndarray of int64, shape (n_distinct,)
        How often each occurs.
    dropped : int
        Number of trailing bits that were dropped, 0 if the counts are exact.
    step : int
        Greatest common divisor of the differences; 0 for a single number, -1 for fractions.
    """

    keys: np.ndarray
    n: np.ndarray
    dropped: int
    low: float
    high: float
    step: int

    @classmethod
    def of(cls, values: np.ndarray) -> "Numbers":
        """Count numbers, a float array without missing values that is not empty."""
        distinct, n = np.unique(values + 0.0, return_counts=True)  # -0.0 is 0.0
        return cls(
            _ordered(distinct),
            n.astype(np.int64),
            dropped=0,
            low=float(distinct[0]),
            high=float(distinct[-1]),
            step=_step_of(distinct),
        )._rounded()

    def __add__(self, other: "Numbers") -> "Numbers":
        dropped = max(self.dropped, other.dropped)
        keys = np.concatenate([_drop(self.keys, dropped), _drop(other.keys, dropped)])[None]
        keys, n = summed_over_equal(keys, np.concatenate([self.n, other.n]))
        low, high = min(self.low, other.low), max(self.high, other.high)
        step = -1
        if self.step >= 0 and other.step >= 0:
            step = int(np.gcd.reduce([self.step, other.step, int(self.low) - int(other.low)]))
        return Numbers(keys[0], n, dropped, low, high, abs(step) if step != -1 else -1)._rounded()

    @property
    def values(self) -> np.ndarray:
        """The numbers in increasing order; where rounded, none is below a number it stands for."""
        return _numbers_of(self.keys)

    def _rounded(self):
        """Drop as few trailing bits as make the distinct numbers few enough."""
        if len(self.keys) <= _MOST_NUMBERS:
            return self
        few, many = 52, self.dropped
        while few - many > 1:
            middle = (few + many) // 2
            enough = np.count_nonzero(np.diff(_drop(self.keys, middle))) < _MOST_NUMBERS
            few, many = (middle, many) if enough else (few, middle)
        keys, n = summed_over_equal(_drop(self.keys, few)[None], self.n)
        return replace(self, keys=keys[0], n=n, dropped=few)


@dataclass(frozen=True)
class ColumnProfile:
    """What is known of one column.

    `categories`: the values of a column that is not numeric. `order`: all categories of an ordered
    column.
    """

    n_missing: int = 0
    numbers: Numbers | None = None
    categories: frozenset | None = None
    order: tuple | None = None

    @classmethod
    def of(cls, series: pd.Series) -> "ColumnProfile":
        """Learn a column; a column without values is compatible with every other."""
        present = series.dropna()
        n_missing = len(series) - len(present)
        if isinstance(series.dtype, pd.CategoricalDtype) and series.dtype.ordered:
            return cls(n_missing, order=tuple(map(plain, series.dtype.categories)))
        if not len(present):
            return cls(n_missing)
        if of_numbers(series.dtype):
            values = present.to_numpy(dtype=np.float64)
            if np.isinf(values).any():
                raise ValueError(f"The column {series.name!r} holds infinite numbers.")
            return cls(n_missing, Numbers.of(values))
        values = present
        if isinstance(present.dtype, pd.CategoricalDtype):
            values = present.cat.remove_unused_categories().cat.categories
        return cls(n_missing, categories=frozenset(map(plain, distinct_values(values))))

    def __add__(self, other: "ColumnProfile") -> "ColumnProfile":
        kinds = {p._kind for p in (self, other)} - {None}
        if len(kinds) > 1 or (self.order and other.order and self.order != other.order):
            raise _Mixed
        joined = [
            reduce(lambda a, b: a + b if isinstance(a, Numbers) else a | b, parts)
            if (parts := [v for v in (getattr(self, name), getattr(other, name)) if v is not None])
            else None
            for name in ("numbers", "categories")
        ]
        return ColumnProfile(self.n_missing + other.n_missing, *joined, self.order or other.order)

    @property
    def _kind(self):
        parts = {"numbers": self.numbers, "categories": self.categories, "order": self.order}
        return next((name for name, value in parts.items() if value is not None), None)


class _Mixed(Exception):  # noqa: N818 - turned into a ValueError that names the column
    """Two parts of a column are of different kinds."""


@dataclass(frozen=True)
class Profile:
    """What a pass over a table learns of its columns; profiles of its parts are added up.

    Attributes
    ----------
    n_rows : int
    columns : dict of ColumnProfile, by name

    Examples
    --------
    >>> first, second = pd.DataFrame({"age": [30, 40]}), pd.DataFrame({"age": [50]})
    >>> both = Profile.of(first) + Profile.of(second)
    >>> print(both.columns["age"].numbers.values)
    [30. 40. 50.]
    """

    n_rows: int
    columns: dict

    @classmethod
    def of(cls, frame: pd.DataFrame, columns: Sequence[Hashable] | None = None) -> "Profile":
        """Learn the columns of a table, or of a part of it.

        `columns`: None: all. Raises ValueError if a column holds infinite numbers.
        """
        names = list(frame.columns if columns is None else columns)
        return cls(len(frame), {name: ColumnProfile.of(frame[name]) for name in names})

    def __add__(self, other: "Profile") -> "Profile":
        if list(self.columns) != list(other.columns):
            raise ValueError(
                f"The parts of a table must have the same columns, got {list(self.columns)!r} and "
                f"{list(other.columns)!r}."
            )
        columns: dict[Any, ColumnProfile] = {}
        for name, column in self.columns.items():
            try:
                columns[name] = column + other.columns[name]
            except _Mixed:
                raise ValueError(
                    f"The column {name!r} has numbers in one part of the table and text in "
                    "another, or other ordered categories. Convert it to one type."
                ) from None
            if len(columns[name].categories or ()) > _MOST_CATEGORIES:
                raise ValueError(
                    f"The column {name!r} has more than {_MOST_CATEGORIES:,} categories, as names "
                    "and numbers of people do. Leave it out with columns=, or group its values."
                )
        return Profile(self.n_rows + other.n_rows, columns)

    def write(self, path: Any) -> None:
        """Write the profile to a file, whole or not at all."""
        columns, arrays = [], {}
        for i, (name, column) in enumerate(self.columns.items()):
            kinds = [list(v) if v is not None else None for v in (column.categories, column.order)]
            ends = None
            if column.numbers is not None:
                arrays[f"keys {i}"], arrays[f"n {i}"], *ends = astuple(column.numbers)
            columns.append([name, column.n_missing, *kinds, ends])
        with written(path) as file:
            np.savez(file, about=json.dumps([self.n_rows, columns]), **arrays)

    @classmethod
    def read(cls, path: Any) -> "Profile":
        """Return the profile of a file written by `write`."""
        columns = {}
        with np.load(path, allow_pickle=False) as file:
            n_rows, entries = json.loads(str(file["about"]))
            for i, (name, n_missing, categories, order, ends) in enumerate(entries):
                numbers = ends and Numbers(file[f"keys {i}"], file[f"n {i}"], *ends)
                categories = None if categories is None else frozenset(categories)
                order = None if order is None else tuple(order)
                columns[name] = ColumnProfile(n_missing, numbers, categories, order)
        return cls(n_rows, columns)

    def schema(self, **settings: Any) -> CountsSchema:
        """Fix the columns of a table of counts; `settings` are those of `CountsSchema.of`."""
        return CountsSchema.of(self, **settings)


def _ordered(values):
    """Return floats as integers of the same order."""
    bits = values.view(np.int64)
    return np.where(bits >= 0, bits, bits ^ _SIGN)


def _numbers_of(keys):
    return np.where(keys >= 0, keys, keys ^ _SIGN).view(np.float64)


def _drop(keys, n_bits):
    """Round keys up to multiples of 2 ** n_bits."""
    mask = np.int64(2**n_bits - 1)
    return (keys + mask) & ~mask if n_bits else keys


def _step_of(distinct):
    """Return the greatest common divisor of the differences of whole numbers, else -1."""
    if max(abs(distinct[0]), abs(distinct[-1])) >= 2**53 or (distinct != np.rint(distinct)).any():
        return -1
    return int(np.gcd.reduce(np.diff(distinct).astype(np.int64))) if len(distinct) > 1 else 0
