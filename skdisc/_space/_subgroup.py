"""Group, Predicate and Subgroup: the only way to name a group of people."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np

from skdisc._utils._validation import plain


def _order(value):
    """Numbers before text before a missing value."""
    kind = "" if isinstance(value, Real) else type(value).__name__
    return (value is None, kind, 0 if value is None else value)


def _of_kind(kind, values):
    """Return the values that a column of this kind may hold: Arrow looks for no others."""
    known = [v for v in values if v is not None]
    if kind == "b":
        return [bool(v) for v in known if v in (0, 1)]
    return [+v for v in known if not isinstance(v, str)] if kind in "iuf" else known


def _literal(value):
    """Write a value for a query, in which backslashes and backticks confuse pandas."""
    return repr(value).replace("\\\\", "\\x5c").replace("`", "\\x60")


def _text(end):
    return str(end) if isinstance(end, int) else f"{end:.15g}"


@dataclass(frozen=True)
class Predicate:
    """A condition on one column: one of several values, or an interval.

    Make one with `equals`, `isin`, `between` or `is_missing`. Two predicates on the same column
    are joined by ``&``.

    Parameters
    ----------
    column : hashable
        Name of the column.
    values : tuple or None
        The allowed values; None inside it stands for a missing value. None: an interval.
    low, high : float
        The interval's ends; infinite where open-ended. A missing value lies in no interval.
    low_closed, high_closed : bool
        Whether the ends belong to it.

    Examples
    --------
    >>> print(Predicate.equals("sex", "F"), "/", Predicate.between("age", 25, 45))
    sex = 'F' / 25 < age <= 45
    >>> print(Predicate.between("age", 25, 45) & Predicate.between("age", 30, 99))
    30 < age <= 45
    """

    column: object
    values: tuple | None = None
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
                    f"infinite where it is open-ended, got {end}={value!r}."
                )
            whole = value.is_integer() and abs(value) < 2**53
            object.__setattr__(self, end, int(value) if whole else value)
        object.__setattr__(self, "low_closed", self.low_closed and self.low > -math.inf)
        object.__setattr__(self, "high_closed", self.high_closed or self.high == math.inf)

    @classmethod
    def isin(cls, column, values):
        """The column has one of `values`; None among them stands for a missing value."""
        return cls(column, tuple(values))

    @classmethod
    def equals(cls, column, value):
        """The column has this value."""
        return cls(column, (value,))

    @classmethod
    def is_missing(cls, column):
        """The column is missing."""
        return cls(column, (None,))

    @classmethod
    def between(cls, column, low=-math.inf, high=math.inf, closed="right"):
        """The column lies between `low` and `high`; `closed` is right, left, both or neither."""
        if closed not in ("right", "left", "both", "neither"):
            raise ValueError(
                f"closed must be 'right', 'left', 'both' or 'neither', got {closed!r}."
            )
        return cls(column, None, low, high, closed in ("left", "both"), closed in ("right", "both"))

    def mask(self, X):
        """Say which rows of a DataFrame satisfy the predicate, a bool array of shape (n_rows,)."""
        if self.column not in X.columns:
            raise KeyError(
                f"The predicate '{self}' needs the column {self.column!r}. "
                f"Columns: {list(X.columns)!r}."
            )
        column = X[self.column]
        if self.values is not None:
            inside = column.isin(_of_kind(column.dtype.kind, self.values))
            if None in self.values:
                inside = inside | column.isna()
        elif self._is_open:
            inside = column.notna()
        else:
            above = column >= self.low if self.low_closed else column > self.low
            below = column <= self.high if self.high_closed else column < self.high
            inside = above & below
        return inside.to_numpy(dtype=bool, na_value=False)

    @property
    def _is_open(self):
        """Whether it is an interval without ends, which holds for all but missing values."""
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

    def to_query(self):
        """Return the predicate in the language of ``DataFrame.query(..., engine="python")``."""
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
        known = [v for v in self.values if v is not None]
        if known or not self.values:
            one = len(known) == 1
            parts.append(
                f"{name} == {_literal(known[0])}" if one else f"{name} in {_literal(known)}"
            )
        if None in self.values:
            parts.append(f"{name}.isna()")
        return " or ".join(parts)

    def to_dict(self):
        """Return the predicate as plain JSON types; `from_dict` undoes it."""
        if self.values is not None:
            return {"column": self.column, "in": list(self.values)}
        ends = {"low": self.low, "high": self.high}
        ends = {name: None if math.isinf(end) else end for name, end in ends.items()}
        return {"column": self.column, **ends, "closed": [self.low_closed, self.high_closed]}

    @classmethod
    def from_dict(cls, data):
        """Undo `to_dict`."""
        if "in" in data:
            return cls.isin(data["column"], data["in"])
        low = -math.inf if data["low"] is None else data["low"]
        high = math.inf if data["high"] is None else data["high"]
        return cls(data["column"], None, low, high, *data["closed"])


class Group(ABC):
    """A named group of people, which a finding can be about.

    `Subgroup`, a conjunction of predicates, is one kind. Another kind, such as a linear threshold,
    is a subclass with `mask`, ``__str__``, `to_dict`, `from_dict` and a ``kind`` of its own, the
    word by which `from_dict` recognizes it in a file. Groups are immutable and hashable.

    Attributes
    ----------
    kind : str
        Stands in `to_dict` under ``"kind"``.
    predicates : tuple of Predicate
        The conditions of a conjunction; empty for any other kind.
    """

    kind: ClassVar[str]
    predicates: ClassVar[tuple] = ()
    _kinds: ClassVar[dict] = {}

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        if "kind" not in vars(cls):
            raise TypeError(f"The group class {cls.__name__} needs a kind of its own, a str.")
        Group._kinds[cls.kind] = cls

    @abstractmethod
    def mask(self, X):
        """Return a boolean mask of the rows of a DataFrame that belong to the group."""

    @abstractmethod
    def __str__(self):
        """Return the group as people write it."""

    @abstractmethod
    def to_dict(self):
        """Return the group as plain JSON types, with its ``"kind"``."""

    @classmethod
    def from_dict(cls, data):
        """Return the group that `to_dict` wrote; of an unknown kind, a group that is only a name.

        A file never runs code: only kinds of classes that are imported already are known.
        """
        known = Group._kinds.get(data.get("kind", "conjunction"))
        return StoredGroup(data) if known is None else known.from_dict(data)


@dataclass(frozen=True)
class Subgroup(Group):
    """People who satisfy all of several predicates, at most one per column.

    Parameters
    ----------
    predicates : iterable of Predicate
        Those on the same column are joined. None at all: everyone.

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
    predicates: tuple = ()

    def __post_init__(self):
        by_column = {}
        for p in self.predicates:
            by_column[p.column] = by_column[p.column] & p if p.column in by_column else p
        ordered = sorted(by_column.values(), key=lambda p: (str(p.column), type(p.column).__name__))
        object.__setattr__(self, "predicates", tuple(ordered))

    def mask(self, X):
        """Say which rows of a DataFrame belong to the group, a bool array of shape (n_rows,)."""
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

    def to_query(self):
        """Return the group in the language of ``DataFrame.query(..., engine="python")``."""
        parts = [p.to_query() for p in self.predicates]
        joined = " and ".join(f"({p})" if " or " in p else p for p in parts)
        return joined or "index == index or index != index"

    def to_dict(self):
        """Return the group as plain JSON types; `from_dict` undoes it."""
        return {"predicates": [p.to_dict() for p in self.predicates]}

    @classmethod
    def from_dict(cls, data):
        """Undo `to_dict`."""
        return cls([Predicate.from_dict(p) for p in data["predicates"]])


class StoredGroup(Group):
    """A group read from a file whose kind is not known here: it has a name, but no members.

    Parameters
    ----------
    data : dict
        What was read; ``"text"`` is the name.
    """

    kind = "stored"

    def __init__(self, data):
        self.data = data

    def mask(self, X):
        """Refuse: the class that knows the members is not imported."""
        raise TypeError(
            f"The group '{self}' is of the kind {self.data.get('kind')!r}, which is not known: "
            "import the module that defines it before reading the result."
        )

    def __str__(self):
        return str(self.data.get("text", self.data.get("kind")))

    def __eq__(self, other):
        return isinstance(other, StoredGroup) and self.data == other.data

    def __hash__(self):
        return hash(str(self))

    def to_dict(self):
        """Return what was read."""
        return self.data

    @classmethod
    def from_dict(cls, data):
        """Return a group with the name that was read."""
        return cls(data)
