"""Sources of tables: frames, files, warehouses and clusters, read part by part."""

from collections.abc import Sequence
from glob import glob, has_magic
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from skdisc._counts._sources._source import Source
from skdisc._utils._tables import PARTS, WHOLE, TableOptions, read_table

__all__ = ["Source", "source_of"]

_DATABASES = ("duckdb://", "sqlite://", "postgres://", "postgresql://", "mysql://")


def source_of(data: Any, options: TableOptions | None = None) -> Source:
    """Return a table as a source, which is read part by part.

    Parameters
    ----------
    data : DataFrame, str, Path, list of paths, or table
        - a pandas DataFrame, or any frame that narwhals reads (polars, also lazy; Arrow; Modin);
        - a Parquet or CSV file, a folder of them, a pattern such as ``"data/*.parquet"``, a list
          of files, or the address of a remote Parquet file or folder (``s3://bucket/table``);
        - an Ibis table, or the address of a table in a database: ``duckdb:///file.db::table``;
        - a Dask DataFrame;
        - a source.
        A spreadsheet, a file of Stata or SPSS, or JSON Lines is read whole.
    options : TableOptions, default=None
        How files are read; None: as they tell themselves.

    Raises
    ------
    ImportError
        If a package is missing, with the extra that installs it.
    TypeError
        If it is none of these.
    ValueError
        If there is no such file or table, or files have other columns.
    """
    if isinstance(data, Source):
        return data
    if isinstance(data, str | Path):
        return _of_address(data, options)
    if isinstance(data, Sequence) and all(isinstance(p, (str, Path)) for p in data):
        return _of_files([Path(p) for p in data], data, options)
    if isinstance(data, pd.DataFrame):
        return _module("_in_memory").FrameSource(data)
    library = {c.__module__.partition(".")[0] for c in type(data).__mro__}
    if "dask" in library and hasattr(data, "to_delayed"):
        return _module("_dask_collection").DaskSource(data)
    if "ibis" in library and hasattr(data, "group_by"):
        return _module("_warehouse").IbisSource(data)
    source = _module("_in_memory").frame_source(data)
    if source is None:
        raise TypeError(
            f"{type(data).__name__} is no table that can be read. Pass a pandas, polars, Arrow or "
            "Dask frame, an Ibis table, or the path of a Parquet or CSV file."
        )
    return source


def _module(name):
    """Import a kind of source only when it is needed."""
    return import_module(f"skdisc._counts._sources.{name}")


def _of_address(address, options):
    """Return the source of a path, a pattern of paths, or the address of a table."""
    text = str(address)
    if "://" in text:
        if "::" in text:
            return _module("_warehouse").connected(text)
        if text.startswith(_DATABASES):
            shown = _module("_warehouse").without_password(text)
            raise ValueError(f"{shown!r} names no table. Write it as {shown}::TABLE.")
        return _module("_files").ParquetSource(text)
    path = Path(address)
    if path.is_dir():
        files = [p for p in sorted(path.rglob("*")) if p.is_file() and p.name.endswith(PARTS)]
        files = [p for p in files if not _is_hidden(p.relative_to(path))]
        if not files:
            raise ValueError(f"The folder {text!r} has no file of a table: {', '.join(PARTS)}.")
        return _of_files(files, text, options)
    if not path.exists() and has_magic(text):
        return _of_files(sorted(map(Path, glob(text, recursive=True))), text, options)
    return _of_files([path], text, options)


def _is_hidden(path):
    """Return True for files that engines keep next to the files of a table."""
    return any(part.startswith((".", "_")) for part in path.parts)


def _of_files(paths, address, options):
    """Return the source of files, all of Parquet or all of CSV, or of one that is read whole."""
    absent = [str(p) for p in paths if not p.is_file()]
    if absent or not paths:
        raise ValueError(
            f"There is no file {absent[0] if absent else address!r}. X takes a table, or paths of "
            "Parquet or CSV files."
        )
    if len(paths) == 1 and paths[0].name.lower().endswith(WHOLE):
        return _module("_in_memory").FrameSource(read_table(paths[0], options).frame)
    kinds = {p.name.lower().endswith(".parquet") for p in paths}
    odd = [str(p) for p in paths if not p.name.lower().endswith(PARTS)]
    if odd or len(kinds) > 1:
        raise ValueError(
            f"{(odd or list(map(str, paths)))[0]!r} cannot be read: all files must be Parquet, or "
            f"all CSV, with names that end in one of {', '.join(PARTS)}."
        )
    if kinds == {True}:
        return _module("_files").ParquetSource(paths)
    return _module("_csv").CsvSource(paths, options)
