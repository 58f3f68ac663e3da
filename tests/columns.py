"""Hypothesis strategies for columns of every dtype that a frame may hold."""

import numpy as np
import pandas as pd
from hypothesis import strategies as st

SPECIAL = r"\|-*,{}()[]?= '`" + '"'
characters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
texts = st.text(characters | st.sampled_from(SPECIAL), max_size=6)
integers = st.integers(-(2**40), 2**40) | st.integers(-5, 5)
small = st.integers(-100, 100)
floats = st.floats(-1e6, 1e6) | st.integers(-20, 20).map(float)
floats32 = st.floats(-(2.0**20), 2.0**20, width=32)
halves = st.integers(-50, 50).map(lambda i: i / 2)


def _plain(dtype):
    return lambda values: pd.Series(values, dtype=dtype)


def _category(ordered):
    def make(values):
        known = sorted({v for v in values if v is not None}, key=lambda v: (len(v), v))
        unused = "never " + "".join(known)
        dtype = pd.CategoricalDtype([*known[::-1], unused], ordered=ordered)
        return pd.Series(values, dtype=dtype)

    return make


def _number_category(values):
    known = sorted({v for v in values if v is not None})
    return pd.Series(values, dtype=pd.CategoricalDtype(known, ordered=True))


# name: values, whether they can be missing, how to make the Series
DTYPES = {
    "int64": (integers, False, _plain("int64")),
    "int8": (small, False, _plain("int8")),
    "uint16": (st.integers(0, 500), False, _plain("uint16")),
    "float64": (floats, True, _plain("float64")),
    "float32": (floats32, True, _plain("float32")),
    "bool": (st.booleans(), False, _plain("bool")),
    "object text": (texts, True, _plain(object)),
    "object bool": (st.booleans(), True, _plain(object)),
    "object int": (small, True, _plain(object)),
    "str": (texts, True, _plain(pd.Series(["text"]).dtype)),
    "string[python]": (texts, True, _plain("string[python]")),
    "string[pyarrow]": (texts, True, _plain("string[pyarrow]")),
    "category": (texts, True, _category(ordered=False)),
    "category ordered": (texts, True, _category(ordered=True)),
    "category of numbers": (small, True, _number_category),
    "Int64": (integers, True, _plain("Int64")),
    "Float64": (floats, True, _plain("Float64")),
    "Float32": (floats32, True, _plain("Float32")),
    "boolean": (st.booleans(), True, _plain("boolean")),
    "int64[pyarrow]": (integers, True, _plain("int64[pyarrow]")),
    "double[pyarrow]": (floats, True, _plain("double[pyarrow]")),
    "bool[pyarrow]": (st.booleans(), True, _plain("bool[pyarrow]")),
}
TEXT = {"object text", "str", "string[python]", "string[pyarrow]", "category", "category ordered"}
INEXACT = ["float64", "float32", "Float64", "Float32", "double[pyarrow]"]
EXACT = [name for name in DTYPES if name not in INEXACT]
NUMERIC = {*INEXACT, "int64", "int8", "uint16", "Int64", "int64[pyarrow]"}


def example(name):
    """Return a value that a column of this dtype can hold."""
    return "a" if name in TEXT else 1


@st.composite
def series(draw, name, min_size=1, max_size=12, column="a"):
    """Draw a Series of this dtype with at least one known value, possibly with missing ones."""
    values, can_miss, make = DTYPES[name]
    cells = values | st.none() if can_miss else values
    drawn = draw(st.lists(cells, min_size=min_size, max_size=max_size))
    if all(v is None for v in drawn):
        drawn.append(draw(values))
    return make(drawn).rename(column)


@st.composite
def frames(draw, min_columns=1, max_columns=4, rows=8, names=tuple(DTYPES)):
    """Draw a DataFrame whose columns have dtypes among `names`."""
    chosen = draw(st.lists(st.sampled_from(names), min_size=min_columns, max_size=max_columns))
    columns = {}
    for i, name in enumerate(chosen):
        values, can_miss, make = DTYPES[name]
        cells = st.lists(values | st.none() if can_miss else values, min_size=rows, max_size=rows)
        known = cells.filter(lambda drawn: any(v is not None for v in drawn))
        columns[f"c{i} {name}"] = make(draw(known))
    return pd.DataFrame(columns)


def known(column):
    """Return the values of a Series as Python objects, None where missing."""
    gone = column.isna()
    cells = [None if g else v for v, g in zip(column.tolist(), gone, strict=True)]
    return [v.item() if isinstance(v, np.generic) else v for v in cells]
