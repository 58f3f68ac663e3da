"""Schema: the columns of a table of counts, with fixed categories and bins."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skdisc._space._bins import Bins
from skdisc._space._feature_space import names_once
from skdisc._utils._inputs import in_order
from skdisc._utils._json import check_types, placed
from skdisc._utils._validation import check_names, of_numbers, plain

_MOST_CLASSES = 1000
_FEW_CUTS = 32


@dataclass(frozen=True)
class CountedColumn:
    """One column of a table of counts: categories, numbers one by one, or bins of numbers.

    Codes are positions in `values`, or numbers of bins; the last code is that of missing values.

    Attributes
    ----------
    kind : {"nominal", "ordinal", "number", "bins"}
    values : tuple
        Categories or numbers in order; for bins, a number of each bin.
    cuts : tuple of float
        The upper ends of all bins but the last, which belong to the bin below.
    low, high, step : int or float
        Range and step of a numeric column.
    missing : bool
        Whether values are missing.
    """

    name: Hashable
    kind: str
    values: tuple
    cuts: tuple = ()
    low: float = 0
    high: float = 0
    step: float = 1
    missing: bool = False

    @property
    def size(self) -> int:
        """Number of codes."""
        return len(self.values) + self.missing

    @property
    def is_exact(self) -> bool:
        """Whether codes tell all values apart."""
        return self.kind != "bins"

    def encode(self, series: pd.Series) -> np.ndarray:
        """Return the codes of a column, an int64 array.

        Raises ValueError if a value is none of the schema.
        """
        return self.checked(self._bin(series) if self.kind == "bins" else self._find(series))

    def checked(self, codes: np.ndarray) -> np.ndarray:
        """Return codes with that of missing values in place of -1.

        Raises ValueError if there is none.
        """
        is_missing = codes < 0
        if is_missing.any():
            codes[is_missing] = len(self.values)
            if not self.missing:
                raise ValueError(f"The column {self.name!r} has missing values; the schema none.")
        return codes

    def _bin(self, series):
        x = series.to_numpy(dtype=np.float64, na_value=np.nan)
        if len(self.cuts) <= _FEW_CUTS:
            codes = np.zeros(len(x), dtype=np.int64)
            for cut in self.cuts:
                codes += x > cut
        else:
            codes = np.searchsorted(self.cuts, x)
        codes[np.isnan(x)] = -1
        return codes

    def _find(self, series):
        if isinstance(series.dtype, pd.CategoricalDtype):
            position, uniques = series.cat.codes.to_numpy(), series.cat.categories
            occurs = np.bincount(position + 1, minlength=len(uniques) + 1)[1:] > 0
        else:
            position, uniques = pd.factorize(series, use_na_sentinel=True)
            occurs = np.ones(len(uniques), dtype=bool)
        code_of = {value: code for code, value in enumerate(self.values)}
        table = [code_of.get(plain(u), -1) for u in uniques]
        for value, code, value_occurs in zip(uniques, table, occurs, strict=True):
            if code < 0 and value_occurs:
                raise ValueError(
                    f"The column {self.name!r} has the value {plain(value)!r}, which the schema "
                    "does not have. Make the schema from all of the table."
                )
        return np.array([*table, -1], dtype=np.int64)[position]

    def decode(self, codes: np.ndarray, *, categorical: bool = False) -> pd.Series:
        """Return values, one number for each bin; categories as such or as text."""
        positions = np.where(codes < len(self.values), codes, -1)
        if self.kind in ("number", "bins"):
            x = np.array([*self.values, np.nan])[positions]
            whole = self.kind == "number" and not self.missing and self.step >= 1
            whole = whole and max(map(abs, self.values), default=0) < 2**63
            return pd.Series(x.astype(np.int64) if whole else x, name=self.name)
        if self.kind == "ordinal" or categorical:
            kinds = pd.CategoricalDtype(list(self.values), ordered=self.kind == "ordinal")
            return pd.Series(pd.Categorical.from_codes(positions, dtype=kinds), name=self.name)
        table = pd.Series([*self.values, None] if self.missing else list(self.values))
        return (
            table.take(positions if self.missing else codes)
            .set_axis(range(len(positions)))
            .rename(self.name)
        )

    def to_dict(self) -> dict:
        """Return the column in JSON types."""
        return {**vars(self), "values": list(self.values), "cuts": list(self.cuts)}

    @classmethod
    def from_dict(cls, data: dict) -> "CountedColumn":
        """Return the column of a dict made by `to_dict`; ValueError if it is impossible."""
        column = cls(**{**data, "values": tuple(data["values"]), "cuts": tuple(data["cuts"])})
        numbers = (int, float)
        check_types(vars(column), {"missing": bool, "low": numbers, "high": numbers})
        check_types(vars(column), {"step": numbers})
        if column.kind not in ("nominal", "ordinal", "number", "bins"):
            raise ValueError(f"the kind of {column.name!r} is {column.kind!r}")
        is_numeric = column.kind in ("number", "bins")
        check_types(dict(enumerate(column.cuts)), dict.fromkeys(range(len(column.cuts)), numbers))
        kinds = numbers if is_numeric else (str, bool, *numbers)
        check_types(dict(enumerate(column.values)), dict.fromkeys(range(len(column.values)), kinds))
        if len(set(column.values)) != len(column.values) or list(column.cuts) != sorted(
            column.cuts
        ):
            raise ValueError(f"{column.name!r} has a value twice, or cuts that do not increase")
        if column.kind == "bins" and len(column.values) != len(column.cuts) + 1:
            raise ValueError(f"{column.name!r} must have one bin more than cuts")
        return column


@dataclass(frozen=True)
class CountsSchema:
    """The columns of a table of counts."""

    columns: tuple
    protected: tuple = ()
    label: CountedColumn | None = None
    decision: CountedColumn | None = None

    @classmethod
    def of(
        cls,
        profile: Any,
        *,
        protected: Sequence[Hashable] | Hashable = (),
        label: Hashable | None = None,
        decision: Hashable | None = None,
        columns: Sequence[Hashable] | None = None,
        n_bins: int | Mapping | Bins = 4,
    ) -> "CountsSchema":
        """Fix categories and bins.

        Parameters
        ----------
        profile : Profile
            Profile of the whole table.
        columns : sequence of column names, default=None
            The columns that may define groups; None: all but label and decision.
        n_bins : int, dict or Bins, default=4
            Number of quantile bins of a column with more distinct numbers.

        Raises
        ------
        ValueError
            If a column is unknown, or label or decision have missing values or too many classes.
        """
        available, outcomes = list(profile.columns), [n for n in (label, decision) if n is not None]
        protected = names_once(protected)
        if columns is None:
            columns = [name for name in available if name not in outcomes]
        columns = list(dict.fromkeys([*columns, *protected]))
        for what, names in (("columns", columns), ("protected", protected)):
            check_names(what, names, available)
        check_names("label or decision", outcomes, available)
        bins = Bins.of(n_bins)
        if bins.how == "tree":
            raise ValueError("Bins(how='tree') are fitted to outcomes; counts need fixed bins.")
        check_names("n_bins", {**(bins.numbers or {}), **(bins.edges or {})}, columns)
        made = [_column(n, profile.columns[n], bins.most(n), bins) for n in columns]
        label, decision = (
            None if name is None else _outcome(name, profile.columns[name])
            for name in (label, decision)
        )
        return cls(tuple(made), protected, label, decision)

    def difference(self, schema: "CountsSchema") -> str:
        """Return in words where another schema differs."""
        if self.names != schema.names:
            return f"their columns, {list(self.names)} and {list(schema.names)}"
        if self.protected != schema.protected:
            return f"their protected columns, {list(self.protected)} and {list(schema.protected)}"
        ends = [(self.label, schema.label), (self.decision, schema.decision)]
        columns = [*zip(self.columns, schema.columns, strict=True), *ends]
        return f"the values of {next((a or b).name for a, b in columns if a != b)!r}"

    @property
    def names(self) -> list:
        """Names of the columns that may define groups."""
        return [c.name for c in self.columns]

    @property
    def parts(self) -> tuple:
        """All columns with codes: columns of groups, the label, the decision."""
        return (*self.columns, *(c for c in (self.label, self.decision) if c is not None))

    @property
    def edges(self) -> dict:
        """The cuts of binned columns, by name."""
        return {c.name: list(c.cuts) for c in self.columns if c.cuts}

    def to_dict(self) -> dict:
        """Return the schema in JSON types."""
        ends = {
            n: c and c.to_dict() for n, c in (("label", self.label), ("decision", self.decision))
        }
        columns = [c.to_dict() for c in self.columns]
        return {"columns": columns, "protected": list(self.protected), **ends}

    @classmethod
    def from_dict(cls, data: dict) -> "CountsSchema":
        """Return the schema of a dict made by `to_dict`."""
        columns = []
        for i, column in enumerate(data["columns"]):
            with placed(f"columns[{i}]"):
                columns.append(CountedColumn.from_dict(column))
        outcomes = {}
        for name in ("label", "decision"):
            with placed(name):
                column = data[name]
                outcomes[name] = None if column is None else CountedColumn.from_dict(column)
        schema = cls(tuple(columns), tuple(data["protected"]), **outcomes)
        with placed("protected"):
            check_names("protected", schema.protected, schema.names)
        if len(set(schema.names)) != len(schema.names):
            raise ValueError("two columns have one name")
        return schema


def _column(name, profile, n_bins, bins):
    """Return the CountedColumn of a column of groups."""
    missing = profile.n_missing > 0
    if profile.numbers is None:
        if name in (bins.edges or {}):
            raise ValueError(f"edges may be given for numeric columns only; {name!r} is not one.")
        kind = "nominal" if profile.order is None else "ordinal"
        return CountedColumn(name, kind, _categories(profile), missing=missing)
    numbers, cuts = profile.numbers, (bins.edges or {}).get(name)
    ends = _ends(numbers)
    values = numbers.values
    if cuts is None and len(values) <= n_bins:
        return CountedColumn(name, "number", tuple(values.tolist()), (), **ends, missing=missing)
    if cuts is None:
        cuts = _cuts(numbers, n_bins, bins.how)
    cuts = tuple(map(float, cuts))
    top = float(np.nextafter(cuts[-1], np.inf)) if cuts else numbers.high  # no one's own number
    return CountedColumn(name, "bins", (*cuts, top), cuts, **ends, missing=missing)


def _cuts(numbers, n, how):
    """Return the cuts of quantile or equal-width bins, as `Bins` defines them."""
    share = np.arange(1, n) / n
    if how == "width":
        cuts = numbers.low + share * (numbers.high - numbers.low)
    else:
        ends = np.cumsum(numbers.n)
        positions = np.floor((ends[-1] - 1) * share).astype(np.int64)
        cuts = numbers.values[np.searchsorted(ends, positions, side="right")]
    cuts = np.unique(cuts)
    return cuts[cuts < numbers.high]


def _ends(numbers):
    """Return low, high and step of a numeric column."""
    low, high, step = numbers.low, numbers.high, numbers.step
    if step < 0:
        near = float(max(abs(low), abs(high)))
        return {"low": low, "high": high, "step": max((high - low) / 100, 4 * np.spacing(near))}
    return {"low": int(low), "high": int(high), "step": max(step, 1)}


def _categories(profile):
    values = profile.order if profile.order is not None else profile.categories or ()
    if profile.order is not None:
        return tuple(values)
    return tuple(in_order(values))


def _outcome(name, profile):
    """Return the CountedColumn of labels or decisions."""
    if profile.n_missing:
        raise ValueError(
            f"The column {name!r} has {profile.n_missing:,} missing values. Drop them."
        )
    if profile.numbers is not None:
        numbers = profile.numbers
        values = tuple(int(v) if v.is_integer() else v for v in numbers.values.tolist())
        if len(values) > _MOST_CLASSES:
            raise ValueError(
                f"The column {name!r} has {len(values):,} distinct numbers: counts are for classes."
            )
        return CountedColumn(name, "number", values, (), **_ends(numbers))
    return CountedColumn(name, "nominal", _categories(profile))


def decision_of(values: Sequence) -> CountedColumn:
    """Return the column of decisions with some classes."""
    values = tuple(map(plain, values))
    is_number = of_numbers(pd.Series(list(values)).dtype)
    return CountedColumn("decision", "number" if is_number else "nominal", values)
