"""Frames that are there already: pandas, and all that narwhals knows, eager and lazy."""

import shutil
import tempfile
import weakref
from collections.abc import Hashable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from skdisc._counts._sources._arrow import frame_of, without_unnamed_index
from skdisc._counts._sources._files import ParquetSource
from skdisc._counts._sources._source import Source, TablePart, sliced
from skdisc._utils._optional import require
from skdisc._utils._validation import refuse_doubles


class FrameSource(Source):
    """An eager frame: pandas, polars, an Arrow table, Modin or what else narwhals reads."""

    def __init__(self, frame: Any):
        self._frame, self._is_pandas = frame, isinstance(frame, pd.DataFrame)
        if self._is_pandas:
            refuse_doubles(frame)
        if not self._is_pandas:
            self._frame = _narwhals().from_native(frame, eager_only=True)
        self.columns = without_unnamed_index(self._frame.columns)

    def parts(self, columns: Sequence[Hashable], compact: bool) -> list[TablePart]:
        """Return slices of the table."""
        del compact
        return sliced(len(self._frame), "rows", partial(self._rows, list(columns)))

    def _rows(self, columns, start, end):
        if self._is_pandas:
            yield self._frame.iloc[start:end][columns].reset_index(drop=True)
            return
        rows = self._frame[start:end].select(columns)
        if rows.implementation.is_pandas_like():
            yield rows.to_pandas().reset_index(drop=True)
        else:
            yield frame_of(rows.to_arrow())

    def like(self, frame: pd.DataFrame) -> Any:
        """Return a DataFrame as a frame of the same library."""
        return frame if self._is_pandas else native_of(frame, self._frame.implementation)


class LazySource(ParquetSource):
    """A lazy frame of polars or a relation of DuckDB, run once into a temporary Parquet file.

    The file is in a folder of its own, which only this user may read, and is removed with the
    source.
    """

    def __init__(self, frame: Any):
        lazy = _narwhals().from_native(frame)
        self._implementation = lazy.implementation
        folder = tempfile.mkdtemp(prefix="skdisc-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        path = Path(folder) / "table.parquet"
        lazy.sink_parquet(path)
        super().__init__([path])

    def like(self, frame: pd.DataFrame) -> Any:
        """Return a DataFrame as a frame of the same library, a lazy one for polars."""
        native = native_of(frame, self._implementation)
        return native.lazy() if self._implementation.is_polars() else native


def frame_source(frame: Any) -> Source | None:
    """Return the source of a frame that narwhals knows, None if it knows none."""
    nw = _narwhals()
    wrapped = nw.from_native(frame, pass_through=True)
    if isinstance(wrapped, nw.DataFrame):
        return FrameSource(frame)
    if isinstance(wrapped, nw.LazyFrame):
        return LazySource(frame)
    return None


def native_of(frame: pd.DataFrame, implementation: Any) -> Any:
    """Return a DataFrame as one of another library of narwhals."""
    nw = _narwhals()
    if implementation.is_pandas():
        return frame
    if implementation.is_modin():
        return implementation.to_native_namespace().DataFrame(frame)
    table = nw.from_native(frame, eager_only=True).to_arrow()
    if implementation.is_pyarrow() or implementation.is_duckdb():
        return table
    return nw.from_arrow(table, backend=implementation).to_native()


def _narwhals():
    return require("narwhals", extra="io", purpose="Reading frames other than pandas")
