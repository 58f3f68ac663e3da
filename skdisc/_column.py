"""The domain of one column: what its values may be, as integers that a search can step through."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from skdisc import _keys

MISSING, UNSEEN = -1, -2
KINDS = ("nominal", "ordinal", "numeric")


def plain(value):
    """Return a NumPy scalar as the Python object it stands for; any missing marker as None."""
    if value is None or value is pd.NA or value is pd.NaT or value != value:
        return None
    return value.item() if isinstance(value, np.generic) else value


@dataclass(frozen=True)
class Column:
    """One column of a `FeatureSpace`.

    Codes are 0 … `size` - 1: positions in `values` (nominal, ordinal), or steps of `step` above
    `low` (numeric). -1 stands for a missing value, -2 for a category that was never seen.

    Parameters
    ----------
    name : hashable
        Name of the column.
    kind : {"nominal", "ordinal", "numeric"}
        Nominal values have no order; every other value is a neighbour. The neighbours of an
        ordinal or numeric value are the next ones.
    values : tuple
        The categories, in code order; empty for a numeric column.
    low, high, step : int or float
        Bounds (both included) and resolution of a numeric column, in units of the column.
    missing : bool
        Whether a missing value is one of the values.
    dtype : dtype
        What `decode` gives back.
    probes : tuple of int
        The codes to try when the column is protected: all of them, or a selection.
    """

    name: object
    kind: str
    dtype: object
    values: tuple = ()
    low: float = 0
    high: float = 0
    step: float = 1
    missing: bool = False
    probes: tuple = ()

    @property
    def size(self):
        """Number of codes, missing not counted."""
        if self.kind != "numeric":
            return len(self.values)
        return int(np.floor((self.high - self.low) / self.step + 1e-9)) + 1

    def encode(self, series):
        """Return the codes of a Series; a numeric value is moved to the nearest step in bounds."""
        if self.kind == "numeric":
            x = series.to_numpy(dtype=np.float64, na_value=np.nan)
            gone = np.isnan(x)
            codes = np.rint((np.where(gone, self.low, x) - self.low) / self.step)
            codes = np.clip(codes, 0, self.size - 1).astype(np.int64)
            return np.where(gone, MISSING, codes)
        position, uniques = pd.factorize(series, use_na_sentinel=True)
        code_of = {value: code for code, value in enumerate(self.values)}
        table = np.array([code_of.get(plain(u), UNSEEN) for u in uniques] + [MISSING], dtype=np.int64)
        return table[position]

    def decode(self, codes):
        """Return the values of `codes`, an array of the column's dtype."""
        codes = np.asarray(codes)
        if self.kind == "numeric":
            x = self.low + self.step * codes
            if isinstance(self.dtype, np.dtype) and not self.missing:
                return x.astype(self.dtype, copy=False)
            x = np.where(codes == MISSING, np.nan, x)
            return pd.array(x, dtype=self.dtype) if self.is_extension else x.astype(self.dtype)
        return self._table.take(codes)

    @property
    def is_extension(self):
        """Whether the column's dtype is one of pandas' own."""
        return not isinstance(self.dtype, np.dtype)

    @property
    def _table(self):
        """The categories in code order with the missing value last, where code -1 finds it."""
        if self.is_extension:
            return pd.array([*self.values, None], dtype=self.dtype)
        if self.dtype == object or self.missing:
            table = np.empty(len(self.values) + 1, dtype=object)
            table[:-1] = self.values
            table[-1] = np.nan
            return table
        return np.array([*self.values, self.values[0]], dtype=self.dtype)

    def slot(self, value):
        r"""Return the text of a value inside a key: code, number, ``?`` or ``=text``."""
        value = plain(value)
        if value is None:
            return _keys.MISSING
        if self.kind == "numeric":
            return _keys.number(value)
        if value in self.values:
            return str(self.values.index(value))
        return "=" + _keys.escape(str(value))

    def read_slot(self, text):
        """Undo `slot`; the text of a value that the space does not know comes back as str."""
        if text == _keys.MISSING:
            return None
        if text.startswith("="):
            return _keys.unescape(text[1:])
        number = _keys.read_number(text)
        return number if self.kind == "numeric" else self.values[number]

    def text(self, code):
        """Return the value of a code as people write it."""
        if code == MISSING:
            return "missing"
        return str(plain(self.decode(np.array([code]))[0]))

    @classmethod
    def from_series(cls, series, *, kind=None, bounds=None, step=None, max_probes=20):
        """Learn the domain of a Series: its values, or its bounds and its step.

        The step of whole numbers is the greatest common divisor of their differences, so every
        value seen can be represented; other numbers get a hundredth of their range.
        """
        kind = kind or infer_kind(series)
        missing = bool(series.isna().any())
        if kind != "numeric":
            values = _categories(series)
            probes = tuple(range(len(values))) + ((MISSING,) if missing else ())
            return cls(series.name, kind, series.dtype, values, missing=missing, probes=probes)
        x = np.unique(series.dropna().to_numpy(dtype=np.float64))
        low, high = (x[0], x[-1]) if bounds is None else bounds
        whole = bool(np.all(x == np.rint(x))) and float(low).is_integer()
        if step is None:
            gaps = np.diff(x)
            if whole:
                step = int(np.gcd.reduce(gaps.astype(np.int64))) if len(gaps) else 1
            else:
                step = (high - low) / 100 or 1.0
        if whole and float(step).is_integer():
            low, high, step = int(low), int(high), int(step)
        column = cls(series.name, kind, series.dtype, (), low, high, step, missing)
        return column.with_probes(column.encode(series), max_probes)

    @classmethod
    def from_domain(cls, name, domain, max_probes=20):
        """Make the domain of a column from ``(low, high)``, a range, or a sequence of values."""
        if isinstance(domain, range):
            column = cls.from_series(pd.Series([domain[0], domain[-1]], name=name), step=domain.step)
        elif isinstance(domain, pd.CategoricalDtype):
            column = cls.from_series(pd.Series(pd.Categorical([], dtype=domain), name=name))
        elif isinstance(domain, tuple) and len(domain) == 2 and not isinstance(domain[0], str):
            low, high = domain
            if not low <= high:
                raise ValueError(f"The bounds of column {name!r} must be (low, high) with low <= high, got {domain!r}.")
            step = 1 if isinstance(low, int) and isinstance(high, int) else (high - low) / 100 or 1.0
            column = cls.from_series(pd.Series([low, high], name=name), step=step)
        else:
            values = pd.Series(list(domain), name=name)
            column = cls(name, "nominal", values.dtype, tuple(plain(v) for v in domain if plain(v) is not None),
                         missing=bool(values.isna().any()))
        return column.with_probes(np.arange(column.size), max_probes)

    def with_probes(self, codes, max_probes):
        """Return the column with all its codes as probes, or that many quantiles of `codes`."""
        if self.size <= max_probes or self.kind == "nominal":
            probes = range(self.size)
        else:
            seen = np.asarray(codes)
            seen = seen[seen >= 0] if len(seen) else np.arange(self.size)
            probes = np.unique(np.quantile(seen, np.linspace(0, 1, max_probes), method="nearest"))
        return replace(self, probes=(*(int(p) for p in probes), *((MISSING,) if self.missing else ())))


def infer_kind(series):
    """Return the kind of a column from its dtype: ordered categories, numbers, or names."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        return "ordinal" if series.dtype.ordered else "nominal"
    if pd.api.types.is_bool_dtype(series.dtype) or not pd.api.types.is_numeric_dtype(series.dtype):
        return "nominal"
    return "numeric"


def _categories(series):
    """Return the categories that occur (or that an ordered dtype declares), in a fixed order."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        seen = set(series.dropna().unique()) if not series.dtype.ordered and len(series) else None
        return tuple(plain(c) for c in series.dtype.categories if seen is None or c in seen)
    values = [plain(v) for v in series.dropna().unique()]
    try:
        return tuple(sorted(values))
    except TypeError:
        return tuple(sorted(values, key=str))
