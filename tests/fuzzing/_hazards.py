"""Hostile tables: small ones, most of them with one or two things that users' tables can have."""

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

_ROWS = (40, 40, 40, 60, 25, 12)
MARKUP = ("<b>&amp;</b>", "<script>alert(1)")
_ODD_NAMES = (
    *("Outcome", "row", "", " ", "sex = F", "a\nb", "größe", "=1+1", 7, "n", "a$b$_{"),
    MARKUP[0],
)
_TEXT = (
    *("", " ", "naïve", "日本", "a\x00b", "e\u0301", "\u202eabc", "nan", "=1+1", "x" * 300),
    MARKUP[1],
)


@dataclass
class HostileTable:
    """Arguments of one case.

    Parameters
    ----------
    X : DataFrame of shape (n_rows, n_columns)
    y : array-like of shape (n_rows,)
        Decisions.
    labels : array-like of shape (n_rows,)
        True labels, for measures.
    protected : list
        Names of protected columns.
    weight, groups : array-like of shape (n_rows,) or None
    hazards : list of str
        What was done to them.
    """

    X: Any
    y: Any
    labels: Any
    protected: Any
    weight: Any = None
    groups: Any = None
    hazards: list = field(default_factory=list)


def pick(rng, values):
    """Return one of the values, as it is."""
    return values[int(rng.integers(len(values)))]


def hostile_table(rng, *, most=2, kinds=("X", "y", "weight", "protected"), only=None):
    """Return a `HostileTable` with at most `most` hazards of the given kinds, and names."""
    table = calm_table(rng)
    known = [(k, name) for k in kinds for name in HAZARDS[k] if only is None or name in only]
    for _ in range(min(most, pick(rng, [0, 0, 1, 1, 1, 2]))):
        kind, name = pick(rng, known)
        with (
            suppress(Exception),
            np.errstate(all="ignore"),
        ):  # two that exclude each other: the first stays
            HAZARDS[kind][name](table, rng)
            table.hazards.append(f"{kind}: {name}")
    return table


def calm_table(rng):
    """Return a table of a few rows without any hazard."""
    n = pick(rng, _ROWS)
    X = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], n),
            "town": rng.choice(["a", "b", "c"], n),
            "income": rng.integers(0, 20, n),
            "score": rng.normal(size=n).round(3),
        }
    )
    if rng.random() < 0.4:
        X["town"] = X["town"].astype("category")
    X = X[list(rng.permutation(X.columns)[:3])]
    if "sex" not in X:
        X["sex"] = rng.choice(["F", "M"], n)
    protected = ["sex", "town"] if "town" in X and rng.random() < 0.3 else ["sex"]
    chance = 0.3 + 0.4 * (X["sex"] == "M").to_numpy()
    y, labels = ((rng.random(n) < chance).astype(int) for _ in range(2))
    for decided in (y, labels):
        decided[: min(n, 2)] = [0, 1][:n]
    weight = rng.integers(1, 4, n).astype(float) if rng.random() < 0.2 else None
    groups = rng.integers(0, 8, n) if rng.random() < 0.1 else None
    return HostileTable(X, y, labels, protected, weight, groups)


def _column(values):
    """Return a hazard that puts values, a function of (n, rng), into one column."""

    def apply(table, rng):
        X = table.X.copy()
        X[pick(rng, list(X.columns))] = values(len(X), rng)
        table.X = X

    return apply


def _cells(*cells):
    """Return a hazard that puts cells into some rows of one column, whatever it holds."""

    def apply(table, rng):
        at = int(rng.integers(table.X.shape[1]))
        column = table.X.iloc[:, at].astype(object).to_numpy(copy=True)
        for i in np.flatnonzero(rng.random(len(column)) < 0.3):
            column[i] = pick(rng, cells)
        columns = [table.X.iloc[:, i] for i in range(table.X.shape[1])]
        columns[at] = pd.Series(column, table.X.index, name=table.X.columns[at])
        whole = pd.concat(columns, axis=1)
        table.X = whole.infer_objects() if rng.random() < 0.7 else whole

    return apply


def _numbers(*numbers, dtype=float):
    return _column(lambda n, rng: np.array([pick(rng, numbers) for _ in range(n)], dtype=dtype))


def _renamed(table, rng):
    names, at = list(table.X.columns), int(rng.integers(table.X.shape[1]))
    new = pick(rng, _ODD_NAMES)
    table.protected = [new if p == names[at] else p for p in table.protected]
    names[at] = new
    table.X = table.X.set_axis(names, axis=1)


def _doubled(table, rng):
    table.X = pd.concat([table.X, table.X.iloc[:, [int(rng.integers(table.X.shape[1]))]]], axis=1)


def _rows(n):
    def apply(table, rng):
        table.X, table.y, table.labels = table.X.iloc[:n], table.y[:n], table.labels[:n]
        table.weight = None if table.weight is None else table.weight[:n]
        table.groups = None if table.groups is None else table.groups[:n]

    return apply


def _shuffled_index(table, rng):
    table.X = table.X.set_axis(rng.permutation(len(table.X)), axis=0)


def _repeated_index(table, rng):
    table.X = table.X.set_axis(np.zeros(len(table.X), dtype=int), axis=0)


def _as_array(table, rng):
    positions = [i for i, c in enumerate(table.X.columns) if c in table.protected]
    table.X, table.protected = table.X.to_numpy(), positions


def _other_dtypes(table, rng):
    backend = pick(rng, ["numpy_nullable", "pyarrow"])
    table.X = table.X.convert_dtypes(dtype_backend=backend)


def _set(name, value):
    """Return a hazard that sets an argument to value, or to what value(table, rng) returns."""

    def apply(table, rng):
        setattr(table, name, value(table, rng) if callable(value) else value)

    return apply


def _labels(make):
    """Return a hazard that makes new decisions, and labels, of the old ones."""

    def apply(table, rng):
        which = pick(rng, ["y", "labels", "both"])
        for name in ("y", "labels"):
            if which in (name, "both"):
                setattr(table, name, make(getattr(table, name), rng))

    return apply


def _mapped(*labels):
    return _labels(lambda y, rng: np.array([labels[int(v) % len(labels)] for v in y]))


def _weights(*values):
    return _set("weight", lambda t, rng: np.array([pick(rng, values) for _ in range(len(t.X))]))


def _permuted(y, rng):
    return pd.Series(y, rng.permutation(len(y)))


_DAYS = pd.date_range("2020-01-01", periods=9)
_ENDS = np.array([2**64 - 1, 2**64 - 2], dtype="uint64")
_CELLS = {
    "NaN": (np.nan,),
    "None": (None,),
    "pd.NA": (pd.NA,),
    "inf": (np.inf, -np.inf),
    "text among others": _TEXT,
    "mixed types": (1, "1", 1.5, True),
    "lists": ([1], [], {}),
    "bytes": (b"a",),
    "decimals": (Decimal("1.5"),),
    "days": (date(2020, 1, 1),),
    "complex": (1j,),
    "huge integers": (10**30, -(10**30)),
    "booleans": (True, False),
}
_COLUMNS = {
    "all missing": _column(lambda n, rng: np.full(n, np.nan)),
    "all None": _column(lambda n, rng: np.full(n, None)),
    "constant": _column(lambda n, rng: np.full(n, pick(rng, [1, "a"]))),
    "huge numbers": _numbers(1.7e308, -1.7e308, 1e300, 0.0),
    "denormal numbers": _numbers(5e-324, -5e-324, 0.0, 1e-310),
    "signed zeros": _numbers(0.0, -0.0),
    "uint64": _numbers(2**64 - 1, 2**64 - 2, 2**63, 0, dtype="uint64"),
    "int64": _numbers(2**63 - 1, -(2**63), 0, dtype="int64"),
    "int8": _numbers(127, -128, 0, dtype="int8"),
    "float16": _numbers(65504, 6e-8, 0, dtype="float16"),
    "unicode": _column(lambda n, rng: [pick(rng, _TEXT) for _ in range(n)]),
    "categories unused": _column(
        lambda n, rng: pd.Categorical(rng.choice(list("FM"), n), ["Z", "M", "F", "A"])
    ),
    "ordered categories": _column(
        lambda n, rng: pd.Categorical(rng.integers(0, 3, n), [2, 0, 1], ordered=True)
    ),
    "categories of nothing": _column(lambda n, rng: pd.Categorical([None] * n, ["a"])),
    "intervals": _column(lambda n, rng: pd.cut(rng.integers(0, 9, n), [-1, 3, 6, 9])),
    "dates": _column(lambda n, rng: rng.choice(_DAYS, n)),
    "durations": _column(lambda n, rng: rng.choice(_DAYS - _DAYS[0], n)),
    "periods": _column(lambda n, rng: pd.Series(rng.choice(_DAYS, n)).dt.to_period("M").array),
    "all different": _column(lambda n, rng: [f"id{i}" for i in range(n)]),
    "sparse": _column(lambda n, rng: pd.arrays.SparseArray(rng.integers(0, 2, n))),
    "nullable": _column(lambda n, rng: pd.array([pick(rng, [1, 2, None]) for _ in range(n)])),
    "booleans only": _column(lambda n, rng: rng.integers(0, 2, n).astype(bool)),
}
HAZARDS = {
    "X": {
        **{name: _cells(*cells) for name, cells in _CELLS.items()},
        **_COLUMNS,
        "odd name": _renamed,
        "two columns of one name": _doubled,
        "no rows": _rows(0),
        "one row": _rows(1),
        "two rows": _rows(2),
        "three rows": _rows(3),
        "index in another order": _shuffled_index,
        "index of one label": _repeated_index,
        "array": _as_array,
        "other dtypes": _other_dtypes,
        "no columns": lambda t, rng: setattr(t, "X", t.X.iloc[:, :0]),
        "list of lists": lambda t, rng: setattr(t, "X", t.X.to_numpy().tolist()),
        "no table": lambda t, rng: setattr(t, "X", pick(rng, [None, 5, "X", [], np.zeros(3)])),
    },
    "y": {
        "one class": _labels(lambda y, rng: np.ones_like(y)),
        "text": _mapped("no", "yes"),
        "booleans": _labels(lambda y, rng: np.asarray(y).astype(bool)),
        "1 and 2": _mapped(1, 2),
        "-1 and 1": _mapped(-1, 1),
        "floats": _mapped(0.0, 1.0),
        "continuous": _labels(lambda y, rng: rng.normal(size=len(y))),
        "huge scores": _labels(lambda y, rng: rng.choice([1.7e308, -1.7e308, 0.0], len(y))),
        "tiny scores": _labels(lambda y, rng: rng.choice([5e-324, 1e-310, 0.0], len(y))),
        "three classes": _labels(lambda y, rng: rng.integers(0, 3, len(y))),
        "NaN": _mapped(0.0, np.nan),
        "inf": _mapped(0.0, np.inf),
        "None": _labels(lambda y, rng: np.array([None, 1], dtype=object)[np.asarray(y, int)]),
        "mixed": _labels(lambda y, rng: np.array(["0", 1], dtype=object)[np.asarray(y, int)]),
        "uint64": _labels(lambda y, rng: np.where(np.asarray(y) == 1, *_ENDS)),
        "bytes": _mapped(b"n", b"y"),
        "too short": _labels(lambda y, rng: y[:-1]),
        "nothing": _labels(lambda y, rng: y[:0]),
        "absent": _labels(lambda y, rng: None),
        "column": _labels(lambda y, rng: np.reshape(y, (-1, 1))),
        "two columns": _labels(lambda y, rng: np.column_stack([y, y])),
        "Series in another order": _labels(_permuted),
        "category": _labels(lambda y, rng: pd.Series(pd.Categorical(y, [2, 1, 0]))),
        "nullable": _labels(lambda y, rng: pd.array(np.asarray(y), dtype="Int64")),
        "number": _labels(lambda y, rng: 1),
        "name": _labels(lambda y, rng: "y"),
    },
    "weight": {
        "huge": _weights(1e308, 1.0),
        "all huge": _weights(1e308),
        "all zero": _weights(0.0),
        "some zero": _weights(0.0, 1.0),
        "denormal": _weights(5e-324, 1.0),
        "NaN": _weights(np.nan, 1.0),
        "inf": _weights(np.inf, 1.0),
        "negative": _weights(-1.0, 1.0),
        "far apart": _weights(1e-50, 1e50),
        "many people": _weights(10**15, 1),
        "text": _weights("a"),
        "booleans": _weights(True, False),
        "too long": _set("weight", lambda t, rng: np.ones(len(t.X) + 1)),
        "two columns": _set("weight", lambda t, rng: np.ones((len(t.X), 2))),
        "number": _set("weight", 2.0),
        "name": _set("weight", "weight"),
        "groups missing": _set("groups", lambda t, rng: np.full(len(t.X), np.nan)),
        "groups mixed": _set("groups", lambda t, rng: [1, "a"] * (len(t.X) // 2)),
        "one group": _set("groups", lambda t, rng: np.zeros(len(t.X))),
        "groups too short": _set("groups", lambda t, rng: np.arange(len(t.X) // 2)),
    },
    "protected": {
        "unknown": _set("protected", ["gender"]),
        "none": _set("protected", None),
        "empty": _set("protected", []),
        "position": _set("protected", [0]),
        "beyond": _set("protected", [99]),
        "number": _set("protected", 1.5),
        "all": _set("protected", lambda t, rng: list(getattr(t.X, "columns", [0]))),
        "twice": _set("protected", ["sex", "sex"]),
        "text": _set("protected", "sex"),
        "nested": _set("protected", [["sex"]]),
        "missing": _set("protected", [None]),
        "dict": _set("protected", {"sex": "F"}),
        "numeric": _set("protected", ["income"]),
    },
}
