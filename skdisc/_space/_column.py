"""Column: the domain of one column, with integer codes that a search can step through."""

from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral

import numpy as np
import pandas as pd

from skdisc._space import _keys
from skdisc._space._codes import MISSING, UNSEEN
from skdisc._utils._hashing import distinct, numbers_of
from skdisc._utils._inputs import distinct_values, in_order
from skdisc._utils._validation import is_number, of_numbers, plain

KINDS = ("nominal", "ordinal", "numeric")
_SEQUENCES = (list, tuple, np.ndarray, pd.Series, pd.Index, pd.api.extensions.ExtensionArray)


@dataclass(frozen=True)
class Column:
    """One column of a `FeatureSpace`.

    Codes are 0 … `size` - 1: positions in `values` (nominal, ordinal), or steps of `step` above
    `low` (numeric). -1 stands for a missing value, -2 for a category that did not occur at fit.

    Parameters
    ----------
    name : hashable
        Name of the column.
    kind : {"nominal", "ordinal", "numeric"}
        Nominal values have no order; all other values are neighbors. The neighbors of an ordinal or
        numeric value are the adjacent ones.
    values : tuple
        The categories in the order of codes; empty for a numeric column.
    low, high, step : int or float
        Bounds (included) and resolution of a numeric column, in units of the column.
    missing : bool
        Whether the column can be missing.
    dtype : dtype
        The dtype of `decode`.
    probes : tuple of int
        The codes to test if the column is protected: all codes, or a selection.

    Raises
    ------
    ValueError
        If bounds and step of a numeric column are inconsistent.
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

    def __post_init__(self):
        if self.kind != "numeric":
            return
        ends = (self.low, self.high, self.step)
        if not (np.isfinite(ends).all() and self.low <= self.high and self.step > 0):
            raise ValueError(
                f"The numeric column {self.name!r} needs finite bounds low <= high and a step > 0, "
                f"got low={self.low!r}, high={self.high!r}, step={self.step!r}."
            )
        if self.is_whole and not (float(self.low).is_integer() and float(self.step).is_integer()):
            raise ValueError(
                f"The column {self.name!r} holds integers ({self.dtype}), so its bounds and its "
                f"step must be integers; got low={self.low!r}, step={self.step!r}."
            )

    @property
    def size(self):
        """Number of codes, without the code of missing values."""
        if self.kind != "numeric":
            return len(self.values)
        return int(np.floor((self.high - self.low) / self.step + 1e-9)) + 1

    @property
    def least(self):
        """The smallest code: that of missing values if the column can be missing."""
        return MISSING if self.missing else 0

    @property
    def is_extension(self):
        """Whether the dtype is an extension dtype of pandas."""
        return not isinstance(self.dtype, np.dtype)

    @property
    def is_plain(self):
        """Whether the values are a NumPy array without missing values."""
        return not self.is_extension and not self.missing

    @property
    def is_whole(self):
        """Whether the dtype holds integers only."""
        return self.dtype.kind in "iu"

    def encode(self, series, numbered=None):
        """Return the codes of a Series; numbers are rounded to the nearest step within bounds.

        `numbered` has the values as numbers, if they are known (`NumberedColumns`).
        """
        if self.kind == "numeric":
            with np.errstate(over="ignore"):  # of new values far beyond the ends
                codes = np.rint((numbers(series) - self.low) / self.step)
            np.clip(codes, 0, self.size - 1, out=codes)
            codes[np.isnan(codes)] = MISSING
            return codes.astype(np.int64)
        if isinstance(series.dtype, pd.CategoricalDtype):
            position, uniques = series.cat.codes.to_numpy(), series.cat.categories
        else:
            position, uniques = numbers_of(series) if numbered is None else numbered[self.name]
        code_of = {value: code for code, value in enumerate(self.values)}
        table = [code_of.get(plain(u), UNSEEN) for u in uniques]
        return np.array([*table, MISSING], dtype=np.int64)[position]

    def decode(self, codes):
        """Return the values of `codes` as an array of the column's dtype.

        Raises ValueError if a code is that of an unseen category, or of a missing value that the
        dtype cannot represent.
        """
        codes = np.asarray(codes)
        lowest = codes.min(initial=0)
        can_miss = self.missing or self.is_extension or self.dtype.kind in "fO"
        if lowest < (MISSING if can_miss else 0):
            raise self._no_value(lowest)
        if self.kind != "numeric":
            return self._table.take(codes)
        x = self.low + self.step * codes.astype(np.int64, copy=False)
        if x.dtype.kind == "f":
            x = np.minimum(x, self.high)  # rounding can exceed the bound
        if lowest == MISSING:
            x = np.where(codes == MISSING, np.nan, x)
        if self.is_extension:
            return pd.array(x, dtype=self.dtype)
        return x.astype(self.dtype, copy=False)

    @cached_property
    def _table(self):
        """The categories in the order of codes, followed by a missing value for the code -1."""
        if isinstance(self.dtype, pd.CategoricalDtype):
            return categorical([*self.values, None], self.dtype)
        if self.is_extension:
            return pd.array([*self.values, None], dtype=self.dtype)
        if self.dtype.kind == "f":
            return np.array([*self.values, np.nan], dtype=self.dtype)
        if self.dtype != object and not self.missing:
            return np.array(self.values, dtype=self.dtype)
        table = np.empty(len(self.values) + 1, dtype=object)
        table[:] = [*self.values, np.nan]
        return table

    def slot(self, value):
        r"""Return the slot of a value in a key: code, number, ``?`` or ``=text``."""
        value = plain(value)
        if value is None:
            return _keys.MISSING
        if self.kind == "numeric":
            return _keys.number(value)
        if value in self.values:
            return str(self.values.index(value))
        return "=" + _keys.escape(str(value))

    def read_slot(self, text):
        """Return the value of a slot made by `slot`; values that are not in the space are str."""
        if text == _keys.MISSING:
            return None
        if text.startswith("="):
            return _keys.unescape(text[1:])
        number = _keys.read_number(text)
        if self.kind == "numeric":
            return number
        if number not in range(self.size):
            raise self._no_value(number)
        return self.values[number]

    def _no_value(self, code):
        """Return the error for a code without a value."""
        return ValueError(f"The column {self.name!r} has no value with the code {code}.")

    def condition(self, predicate):
        """Return the slot of a predicate on this column in a key; None stands for no condition."""
        if predicate is None:
            return _keys.FREE
        if predicate.values is not None:
            return _keys.one_of([self.slot(v) for v in predicate.values])
        p = predicate
        return _keys.interval(p.low, p.high, p.low_closed, p.high_closed)

    def read_condition(self, text):
        """Return the arguments of `Predicate` after the column, from a slot made by `condition`."""
        if text[:1] in ("(", "["):
            return None, *_keys.read_interval(text)
        return (tuple(self.read_slot(s) for s in _keys.read_one_of(text)),)

    def text(self, code):
        """Return the value of a code as readable text."""
        if code == MISSING:
            return "missing"
        value = plain(self.decode(np.array([code]))[0])
        return f"{value:.12g}" if isinstance(value, float) else str(value)

    @classmethod
    def from_series(
        cls, series, *, kind=None, bounds=None, step=None, max_probes=20, numbered=None
    ):
        """Learn the domain of a Series: its values, or its bounds and its step.

        The step of integers is the greatest common divisor of their differences, so that all values
        can be represented. The step of other numbers is a hundredth of their range.
        """
        kind = kind or infer_kind(series)
        values, ends = (), {}
        if kind == "numeric":
            ends = lattice(series, bounds, step)
        else:
            values = categories(series, numbered)
        if numbered is not None and series.name in numbered:
            missing = bool((numbered[series.name][0] < 0).any())
        else:
            missing = can_miss(series.dtype) and bool(series.isna().any())
        column = cls(plain(series.name), kind, series.dtype, values, **ends, missing=missing)
        many = kind != "nominal" and column.size > max_probes
        return column.with_probes(max_probes, column.encode(series) if many else ())

    @classmethod
    def from_domain(cls, name, domain, max_probes=20):
        """Return the column of a domain: ``(low, high)``, a range, or a sequence of values."""
        if isinstance(domain, pd.CategoricalDtype) and domain.categories is not None:
            values = pd.Series(pd.Categorical([], dtype=domain), name=name)
            return cls.from_series(values, max_probes=max_probes)
        if isinstance(domain, range) and domain:
            low, high, step = min(domain), max(domain), abs(domain.step)
        elif isinstance(domain, tuple) and len(domain) == 2 and all(map(is_number, domain)):
            whole = all(isinstance(end, Integral) for end in domain)
            low, high = map(int if whole else float, domain)
            step = 1 if whole else (high - low) / 100 or 1.0
        else:
            return cls._from_values(name, domain).with_probes(max_probes)
        dtype = np.dtype(np.int64 if isinstance(step, int) else np.float64)
        return cls(name, "numeric", dtype, (), low, high, step).with_probes(max_probes)

    @classmethod
    def _from_values(cls, name, domain):
        """Return the nominal column of a sequence of values."""
        values = dict.fromkeys(map(plain, domain)) if isinstance(domain, _SEQUENCES) else {}
        if not values.keys() - {None}:
            raise ValueError(
                f"The domain of column {name!r} must be (low, high), a non-empty range or list of "
                f"values, or a CategoricalDtype; got {domain!r}."
            )
        present = tuple(v for v in values if v is not None)
        return cls(name, "nominal", pd.Series(list(values)).dtype, present, missing=None in values)

    def with_probes(self, max_probes, codes=()):
        """Return the column with all codes as probes, or with `max_probes` quantiles of `codes`."""
        if self.size <= max_probes or self.kind == "nominal":
            probes = range(self.size)
        else:
            present, shares = np.asarray(codes), np.linspace(0, 1, max_probes)
            present = present[present >= 0]
            if len(present):
                # Faster than np.quantile.
                nearest = np.rint(shares * (len(present) - 1)).astype(np.intp)
                probes = np.unique(_order_statistics(present, nearest))
            else:
                probes = np.unique(np.rint(shares * (self.size - 1)))
        missing = (MISSING,) if self.missing else ()
        return replace(self, probes=(*map(int, probes), *missing))


def _order_statistics(codes, ranks):
    """Return the elements of the sorted codes at the ranks; counted where the codes are dense."""
    if codes.max() >= 4 * len(codes):
        return np.sort(codes)[ranks]
    return np.searchsorted(np.cumsum(np.bincount(codes)), ranks, side="right")


def categorical(values, dtype):
    """Return values as a Categorical of a dtype; intervals may be their texts, None is missing."""
    code_of = {plain(value): code for code, value in enumerate(dtype.categories)}
    return pd.Categorical.from_codes([code_of.get(plain(v), -1) for v in values], dtype=dtype)


def infer_kind(series):
    """Return the kind of a column by its dtype: ordinal, numeric or nominal.

    A column of numbers that are all missing is nominal without values.
    """
    if isinstance(series.dtype, pd.CategoricalDtype):
        return "ordinal" if series.dtype.ordered else "nominal"
    if not of_numbers(series.dtype):
        return "nominal"
    has_values = series.notna().any() if can_miss(series.dtype) else len(series)
    return "numeric" if has_values else "nominal"


def can_miss(dtype):
    """Return whether a column of a dtype can have missing values."""
    return not isinstance(dtype, np.dtype) or dtype.kind not in "biu"


def numbers(series):
    """Return a Series as floats, with NaN for missing values."""
    if series.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: column {series.name!r} is {series.dtype}.")
    try:
        if not can_miss(series.dtype):
            return series.to_numpy().astype(np.float64)
        return series.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"The column {series.name!r} is numeric, but holds other values ({error}). Convert it "
            "to the dtype that it had at fit, or pass its kind in kinds=."
        ) from error


def lattice(series, bounds, step):
    """Return low, high and step of a numeric column."""
    dtype = series.dtype
    x = distinct(numbers(series.dropna() if can_miss(dtype) else series))
    if isinstance(dtype, pd.CategoricalDtype) or (not len(x) and bounds is None):
        raise ValueError(
            f"The column {series.name!r} ({dtype}) cannot be numeric: a numeric column needs "
            "numbers, or bounds if all values are missing."
        )
    low, high = (float(end) for end in ((x[0], x[-1]) if bounds is None else bounds))
    if dtype.kind in "iu":
        low, high = np.ceil(low), min(np.floor(high), largest_float(dtype))
    near = float(np.max(np.abs([low, high, *x[:1], *x[-1:]])))
    whole = near < 2**53 and float(low).is_integer() and bool(np.all(x == np.rint(x)))
    if step is None and whole:
        gaps = np.diff(x).astype(np.int64)
        step = int(np.gcd.reduce([*gaps, int(x[0] - low)])) if len(gaps) else 1
    elif step is None:
        step = max((high - low) / 100, 4 * _spacing(near, dtype))
        step = max(np.rint(step), 1.0) if dtype.kind in "iu" else step
    if whole and float(step).is_integer():
        low, high, step = int(low), int(high), int(step)
    return {"low": low, "high": high, "step": step}


def _spacing(value, dtype):
    """Return the distance from a number to the next one in a dtype."""
    dtype = getattr(dtype, "numpy_dtype", dtype)
    value = dtype.type(value) if dtype.kind == "f" else np.float64(value)
    return float(value - np.nextafter(value, dtype.type(0))) or float(np.spacing(value))


def largest_float(dtype):
    """Return the largest float that an integer dtype holds."""
    most = np.iinfo(getattr(dtype, "subtype", getattr(dtype, "numpy_dtype", dtype))).max
    return most if float(most) <= most else float(np.nextafter(float(most), 0))


def categories(series, numbered=None):
    """Return the categories that occur, or all categories of an ordered dtype, in a fixed order."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        every = tuple(map(plain, series.dtype.categories))
        if series.dtype.ordered or not len(series):
            return every
        n = np.bincount(series.cat.codes.to_numpy().astype(np.int64) + 1)[1:]  # without missing
        return tuple(every[i] for i in np.flatnonzero(n))
    if numbered is None:
        series = series.dropna()
    return tuple(in_order(map(plain, distinct_values(series, numbered))))
