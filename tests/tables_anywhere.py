"""One table from every source: frames of several libraries, files, a database and a cluster."""

from pathlib import Path

import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st

from skdisc._counts._sources import source_of

NUMBERS = st.floats(-1e300, 1e300) | st.sampled_from([-0.0, 0.1, 2.5])
VALUES = {
    "whole number": st.integers(-(2**53), 2**53) | st.integers(-3, 3),
    "number": NUMBERS,
    "narrow number": st.floats(width=32, allow_nan=False, allow_infinity=False),
    "text": st.sampled_from(["a", "b", "'; drop table t; --", '"', "ä", "x x"]),
    "category": st.sampled_from(["u", "v", "w"]),
    "truth": st.booleans(),
}
DTYPES = {"narrow number": "float32", "category": "category"}


@st.composite
def tables(draw, kinds=tuple(VALUES), least=1, most=40):
    """Draw a table with columns of all kinds, whose values are perhaps missing."""
    n, made = draw(st.integers(least, most)), {}
    for kind in kinds:
        values = draw(st.lists(VALUES[kind], min_size=n, max_size=n))
        gone = draw(st.lists(st.booleans(), min_size=n, max_size=n) | st.just([False] * n))
        made[kind] = _series(kind, [None if g else v for v, g in zip(values, gone, strict=True)])
    return pd.DataFrame(made)


def _series(kind, values):
    """Return a column as pandas has it, of nullable types where numbers or truths are missing."""
    if kind in DTYPES:
        return pd.Series(values, dtype=DTYPES[kind])
    nullable = {"whole number": "Int64", "number": "float64", "truth": "boolean"}.get(kind)
    dtype = nullable if nullable == "float64" or None in values else {"truth": bool}.get(kind)
    return pd.Series(values, dtype=dtype or ("int64" if kind == "whole number" else object))


def _parquet(frame, folder, size, **options):
    for i, start in enumerate(range(0, len(frame), size)):
        frame.iloc[start : start + size].to_parquet(folder / f"{i:03}.parquet", **options)
    return folder


def _hive(frame, folder, size):
    """Write the table in folders named after a column."""
    pieces = dict(list(frame.assign(hive=frame.index % 2).groupby("hive")))
    for value, piece in pieces.items():
        (folder / f"hive={value}").mkdir()
        _parquet(piece.drop(columns="hive"), folder / f"hive={value}", size)
    return folder


def _csv(frame, folder, size):
    """Write the table as text, where narrow numbers would be shortened."""
    del size
    wide = {n: "float64" for n in frame if frame[n].dtype == "float32"}
    frame.astype(wide).to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


def _duckdb(frame, folder, size):
    del size
    with duckdb.connect(folder / "t.db") as connection:
        connection.register("given", pa.Table.from_pandas(frame, preserve_index=False))
        connection.execute('create table "t; drop table t" as select * from given')
    return f"duckdb:///{folder / 't.db'}::t; drop table t"


MAKERS = {
    "polars": lambda frame, *_: pl.from_pandas(frame),
    "polars, lazy": lambda frame, *_: pl.from_pandas(frame).lazy(),
    "Arrow": lambda frame, *_: pa.Table.from_pandas(frame),
    "Parquet": _parquet,
    "Parquet in row groups": lambda f, to, size: _parquet(f, to, len(f), row_group_size=size),
    "Parquet of another order": lambda f, to, size: _parquet(f[::-1], to, size),
    "Parquet by folders": _hive,
    "CSV": _csv,
    "DuckDB": _duckdb,
    "Dask": lambda frame, _, size: dd.from_pandas(frame, npartitions=-(-len(frame) // size)),
}


def everywhere(frame, folder, size):
    """Yield the name and the source of a table from everywhere, with parts of `size` rows."""
    for name, make in MAKERS.items():
        place = Path(folder) / name
        place.mkdir(parents=True)
        yield name, source_of(make(frame, place, size))


def facts(profile, columns):
    """Return a profile as values that can be compared."""
    found = [profile.n_rows]
    for name in columns:
        column = profile.columns[name]
        numbers = column.numbers and {
            k: v.tolist() if isinstance(v, np.ndarray) else v
            for k, v in vars(column.numbers).items()
        }
        found.append((name, column.n_missing, column.categories, column.order, numbers))
    return found


def cells(counts):
    """Return counts as values that can be compared."""
    ends = [end if end is None else end.tolist() for end in (counts.label, counts.decision)]
    return counts.schema, counts.codes.tolist(), *ends, counts.n.tolist()
