"""Predicate, Subgroup and Group: conditions, and groups of people."""

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from numbers import Number, Real
from typing import ClassVar, Self

import numpy as np
import pandas as pd

from skdisc._utils._inputs import of_intervals, refuse_twice
from skdisc._utils._validation import plain

_TIMES = (datetime, timedelta, np.datetime64, np.timedelta64)


def _order(value):
    """Return a sort key: numbers first, then text, then a missing value."""
    kind = "" if isinstance(value, Real) else type(value).__name__
    return (value is None, kind, 0 if value is None else value)


def _of_kind(kind, values):
    """Return the values that a column of this kind can hold."""
    present = [v for v in values if v is not None]
    if kind == "b":
        return [bool(v) for v in present if v in (0, 1)]
    if kind in "mM":  # pandas 2 reads other values, such as texts, as times
        return [v for v in present if isinstance(v, _TIMES)]
    return [+v for v in present if isinstance(v, Number)] if kind in "iuf" else present


def _has_value(column, values):
    """Return which rows of a column have one of several values, whatever their types."""
    comparable = _of_kind(column.dtype.kind, values)
    if of_intervals(column.dtype):
        column = column.cat.rename_categories(str)
    try:
        return column.isin(comparable)
    except (TypeError, ValueError, OverflowError):  # Arrow compares values of its own type only
        return column.astype(object).isin(comparable)


def _literal(value):
    """Return a value as text in a query, without the backslashes and backticks pandas rejects."""
    return repr(value).replace("\\\\", "\\x5c").replace("`", "\\x60")


def _text(end):
    """Return the end of an interval as text."""
    return str(end) if isinstance(end, int) else f"{end:.15g}"


@dataclass(frozen=True)
class Predicate:
    """A condition on one column: one of several values, or an interval.

    Predicates are made by `equals`, `isin`, `between` or `is_missing`. The operator ``&`` returns
    the conjunction of two predicates.

    Parameters
    ----------
    column : hashable
        Name of the column.
    values : tuple or None
        The allowed values, where None stands for a missing value. If `values` itself is None, the
        predicate is an interval.
    low, high : float
        Ends of the interval; infinite if it is open-ended. Missing values are in no interval.
    low_closed, high_closed : bool
        Whether the ends belong to the interval.

    Raises
    ------
    ValueError
        If an end of an interval is not a number.

    Examples
    --------
    >>> print(Predicate.equals("sex", "F"), "/", Predicate.between("age", 25, 45))
    sex = 'F' / 25 < age <= 45
    >>> print(Predicate.between("age", 25, 45) & Predicate.between("age", 30, 99))
    30 < age <= 45
    """

    column: Hashable
    values: Sequence | None = None
    low: float = -math.inf
    high: float = math.inf
    low_closed: bool = False
    high_closed: bool = True

    def __post_init__(self):
        object.__setattr__(self, "column", plain(self.column))
        if self.values is not None:
            ordered = sorted(map(plain, self.values), key=_order)
            object.__setattr__(self, "values", tuple(dict.fromkeys(ordered)))
            return
        for end, nowhere in (("low", math.inf), ("high", -math.inf)):
            value = float(getattr(self, end))
            if math.isnan(value) or value == nowhere:
                raise ValueError(
                    f"The ends of an interval of column {self.column!r} must be numbers, or "
                    f"infinite for an open end; got {end}={value!r}."
                )
            whole = value.is_integer() and abs(value) < 2**53
            object.__setattr__(self, end, int(value) if whole else value)
        object.__setattr__(self, "low_closed", self.low_closed and self.low > -math.inf)
        object.__setattr__(self, "high_closed", self.high_closed or self.high == math.inf)

    @classmethod
    def isin(cls, column: Hashable, values: Iterable) -> Self:
        """Return the condition that a column has one of `values`; None stands for missing."""
        return cls(column, tuple(values))

    @classmethod
    def equals(cls, column: Hashable, value: object) -> Self:
        """Return the condition that a column has a value."""
        return cls(column, (value,))

    @classmethod
    def is_missing(cls, column: Hashable) -> Self:
        """Return the condition that a column is missing."""
        return cls(column, (None,))

    @classmethod
    def between(
        cls,
        column: Hashable,
        low: float = -math.inf,
        high: float = math.inf,
        closed: str = "right",
    ) -> Self:
        """Return the condition that a column lies in an interval.

        Parameters
        ----------
        column : hashable
        low, high : float, default=-inf, inf
        closed : {"right", "left", "both", "neither"}, default="right"
            The ends that belong to the interval.

        Returns
        -------
        Predicate

        Raises
        ------
        ValueError
            If an end is not a number, or `closed` is unknown.
        """
        if closed not in ("right", "left", "both", "neither"):
            raise ValueError(
                f"closed must be 'right', 'left', 'both' or 'neither', got {closed!r}."
            )
        return cls(column, None, low, high, closed in ("left", "both"), closed in ("right", "both"))

    def mask(self, X: pd.DataFrame) -> np.ndarray:
        """Return a boolean mask of the rows that satisfy the predicate.

        Parameters
        ----------
        X : DataFrame of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of bool, shape (n_rows,)

        Raises
        ------
        KeyError
            If X does not have the column.
        ValueError
            If X has several columns of its name.
        TypeError
            If the predicate is an interval and the column does not hold numbers.
        """
        if self.column not in X.columns:
            raise KeyError(
                f"The predicate '{self}' needs the column {self.column!r}. "
                f"Columns: {list(X.columns)!r}."
            )
        column = X[self.column]
        if column.ndim > 1:
            refuse_twice(X)
        if self.values is not None:
            inside = _has_value(column, self.values)
            if None in self.values:
                inside = inside | column.isna()
        elif self._is_open:
            inside = column.notna()
        else:
            inside = self._between(column)
        return inside.to_numpy(dtype=bool, na_value=False)

    def _between(self, column):
        """Return which rows of a column lie in the interval."""
        try:
            above = column >= self.low if self.low_closed else column > self.low
            below = column <= self.high if self.high_closed else column < self.high
        except TypeError as error:
            raise TypeError(
                f"The predicate '{self}' compares numbers, and column {self.column!r} holds "
                f"{column.dtype}. Use Predicate.isin with the values that are meant."
            ) from error
        return above & below

    @property
    def _is_open(self):
        """Whether the predicate is an interval without ends, which excludes missing values only."""
        return self.values is None and self.low == -math.inf and self.high == math.inf

    def __and__(self, other):
        if isinstance(other, Subgroup):
            return Subgroup([self]) & other
        if not isinstance(other, Predicate):
            return NotImplemented
        if other.column != self.column:
            return Subgroup([self, other])
        if self.values is not None and other.values is not None:
            return Predicate.isin(self.column, [v for v in self.values if v in other.values])
        if self.values is not None:
            return Predicate.isin(self.column, [v for v in self.values if other._holds(v)])
        if other.values is not None:
            return other & self
        low, low_open = max((self.low, not self.low_closed), (other.low, not other.low_closed))
        high, high_closed = min((self.high, self.high_closed), (other.high, other.high_closed))
        return Predicate(self.column, None, low, high, not low_open, high_closed)

    def _holds(self, value):
        """Return True if a value lies in the interval."""
        if value is None or isinstance(value, str) or self._is_open:
            return value is not None and self._is_open
        above = value >= self.low if self.low_closed else value > self.low
        return above and (value <= self.high if self.high_closed else value < self.high)

    def __str__(self):
        name = str(self.column)
        if self.values is None:
            return self._interval_text(name)
        texts = ["missing" if v is None else repr(v) for v in self.values]
        if len(texts) == 1:
            return f"{name} is missing" if self.values[0] is None else f"{name} = {texts[0]}"
        return f"{name} in {{{', '.join(texts)}}}"

    def _interval_text(self, name):
        if self._is_open:
            return f"{name} is not missing"
        if self.high == math.inf:
            return f"{name} {'>=' if self.low_closed else '>'} {_text(self.low)}"
        right = f"{name} {'<=' if self.high_closed else '<'} {_text(self.high)}"
        if self.low == -math.inf:
            return right
        return f"{_text(self.low)} {'<=' if self.low_closed else '<'} {right}"

    def to_query(self) -> str:
        """Return the predicate as an expression for ``DataFrame.query(..., engine="python")``.

        Raises
        ------
        ValueError
            If the name of the column cannot be written in a query.
        """
        if not isinstance(self.column, str) or "`" in self.column:
            raise ValueError(
                f"The column {self.column!r} cannot be named in a query. Use mask(X) instead."
            )
        name = f"`{self.column}`"
        if self._is_open:
            return f"{name}.notna()"
        parts = []
        if self.values is None:
            if self.low > -math.inf:
                parts.append(f"{name} {'>=' if self.low_closed else '>'} {self.low!r}")
            if self.high < math.inf:
                parts.append(f"{name} {'<=' if self.high_closed else '<'} {self.high!r}")
            return " and ".join(parts)
        present = [v for v in self.values if v is not None]
        if present or not self.values:
            one = len(present) == 1
            parts.append(
                f"{name} == {_literal(present[0])}" if one else f"{name} in {_literal(present)}"
            )
        if None in self.values:
            parts.append(f"{name}.isna()")
        return " or ".join(parts)

    def to_dict(self) -> dict:
        """Return the predicate as a dict of JSON types, the inverse of `from_dict`."""
        if self.values is not None:
            return {"column": self.column, "in": list(self.values)}
        ends = {"low": self.low, "high": self.high}
        ends = {name: None if math.isinf(end) else end for name, end in ends.items()}
        return {"column": self.column, **ends, "closed": [self.low_closed, self.high_closed]}

    @classmethod
    def from_dict(cls, data: dict) -> Self:
        """Return a predicate from a dict made by `to_dict`."""
        if "in" in data:
            return cls.isin(data["column"], data["in"])
        low = -math.inf if data["low"] is None else data["low"]
        high = math.inf if data["high"] is None else data["high"]
        return cls(data["column"], None, low, high, *data["closed"])


class Group(ABC):
    """A named group of people, the subject of findings about groups.

    `Subgroup`, a conjunction of predicates, is one kind of group. Another kind, such as a linear
    threshold, is a subclass with `mask`, ``__str__``, `to_dict`, `from_dict` and its own ``kind``,
    by which `from_dict` recognizes it in a file. Groups are immutable and hashable.

    Attributes
    ----------
    kind : str
        The value of ``"kind"`` in `to_dict`.
    predicates : tuple of Predicate
        The conditions of a conjunction; empty for other kinds.

    Examples
    --------
    A group that is no conjunction, the people with a low sum of points:

    >>> class LowPoints(Group):
    ...     kind = "low points"
    ...
    ...     def __init__(self, most):
    ...         self.most = most
    ...
    ...     def mask(self, X):
    ...         return (X.sum(axis=1) <= self.most).to_numpy()
    ...
    ...     def __str__(self):
    ...         return f"points <= {self.most}"
    ...
    ...     def to_dict(self):
    ...         return {"kind": self.kind, "most": self.most}
    ...
    ...     @classmethod
    ...     def from_dict(cls, data):
    ...         return cls(data["most"])
    >>> group = Group.from_dict({"kind": "low points", "most": 5})
    >>> print(group, group.mask(pd.DataFrame({"a": [1, 4], "b": [3, 4]})))
    points <= 5 [ True False]
    """

    kind: ClassVar[str]
    predicates: Sequence[Predicate] = ()
    _kinds: ClassVar[dict] = {}

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        if "kind" not in vars(cls):
            raise TypeError(f"The group class {cls.__name__} needs its own kind, a str.")
        Group._kinds[cls.kind] = cls

    @abstractmethod
    def mask(self, X: pd.DataFrame) -> np.ndarray:
        """Return a boolean mask of the rows of a DataFrame that belong to the group."""

    @abstractmethod
    def __str__(self):
        """Return the group as readable text."""

    @abstractmethod
    def to_dict(self) -> dict:
        """Return the group as a dict of JSON types, with its ``"kind"``."""

    @classmethod
    def from_dict(cls, data: dict) -> "Group":
        """Return a group from a dict made by `to_dict`; if its kind is unknown, only its name.

        Reading never runs code: the known kinds are those of the classes already imported.
        """
        group_class = Group._kinds.get(data.get("kind", "conjunction"))
        return StoredGroup(data) if group_class is None else group_class.from_dict(data)


@dataclass(frozen=True)
class Subgroup(Group):
    """The people who satisfy a conjunction of predicates, with at most one per column.

    Parameters
    ----------
    predicates : iterable of Predicate
        Predicates on the same column are combined. Without predicates, the group contains
        everyone.

    Examples
    --------
    >>> women = Subgroup([Predicate.equals("sex", "F")])
    >>> group = women & Predicate.between("age", 25, 45)
    >>> print(group, len(group))
    25 < age <= 45 and sex = 'F' 2
    >>> group.to_query()
    "`age` > 25 and `age` <= 45 and `sex` == 'F'"
    """

    kind = "conjunction"
    predicates: Sequence[Predicate] = ()

    def __post_init__(self):
        by_column = {}
        for p in self.predicates:
            by_column[p.column] = by_column[p.column] & p if p.column in by_column else p
        ordered = sorted(by_column.values(), key=lambda p: (str(p.column), type(p.column).__name__))
        object.__setattr__(self, "predicates", tuple(ordered))

    def mask(self, X: pd.DataFrame) -> np.ndarray:
        """Return a boolean mask of the rows that belong to the group.

        Parameters
        ----------
        X : DataFrame of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of bool, shape (n_rows,)

        Raises
        ------
        KeyError
            If X does not have a column of the group.
        """
        inside = np.ones(len(X), dtype=bool)
        for p in self.predicates:
            inside &= p.mask(X)
        return inside

    def __and__(self, other):
        if not isinstance(other, (Predicate, Subgroup)):
            return NotImplemented
        more = other.predicates if isinstance(other, Subgroup) else (other,)
        return Subgroup(self.predicates + more)

    def __len__(self):
        return len(self.predicates)

    def __bool__(self):
        return True

    def __str__(self):
        return " and ".join(map(str, self.predicates)) or "everyone"

    def to_query(self) -> str:
        """Return the group as an expression for ``DataFrame.query(..., engine="python")``.

        Raises
        ------
        ValueError
            If the name of a column cannot be written in a query.
        """
        parts = [p.to_query() for p in self.predicates]
        joined = " and ".join(f"({p})" if " or " in p else p for p in parts)
        return joined or "index == index or index != index"

    def to_dict(self) -> dict:
        """Return the group as a dict of JSON types, the inverse of `from_dict`."""
        return {"predicates": [p.to_dict() for p in self.predicates]}

    @classmethod
    def from_dict(cls, data: dict) -> Self:
        """Return a group from a dict made by `to_dict`."""
        return cls([Predicate.from_dict(p) for p in data["predicates"]])


class StoredGroup(Group):
    """A group of an unknown kind that was read from a file: it has a name, but no members.

    `data`: the content of the file; ``"text"`` is the name.
    """

    kind = "stored"

    def __init__(self, data):
        self.data = data

    def mask(self, X):
        """Raise TypeError, because the class that defines the members is not imported."""
        raise TypeError(
            f"The group '{self}' is of the unknown kind {self.data.get('kind')!r}. Import the "
            "module that defines this kind before reading the result."
        )

    def __str__(self):
        return str(self.data.get("text", self.data.get("kind")))

    def __eq__(self, other):
        return isinstance(other, StoredGroup) and self.data == other.data

    def __hash__(self):
        return hash(str(self))

    def to_dict(self):
        """Return the content of the file."""
        return self.data

    @classmethod
    def from_dict(cls, data):
        """Return a group with the content of a file."""
        return cls(data)
