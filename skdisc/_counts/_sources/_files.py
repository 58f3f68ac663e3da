"""Parquet files, read row group by row group."""

import json
from collections.abc import Hashable, Sequence
from functools import partial
from typing import Any

from skdisc._counts._sources._arrow import frame_of, kind_of, without_unnamed_index
from skdisc._counts._sources._source import ROWS, Source, TablePart
from skdisc._utils._optional import require


class ParquetSource(Source):
    """Parquet files with the same columns: one, a list of them, or a folder.

    Only the columns that are needed are read. Folders named ``column=value`` are a column.

    `paths`: files, or a folder; also remote ones (``s3://``, ``gs://``), as pyarrow understands
    them. Raises OSError if a file cannot be read. Raises ValueError if there is no file, or files
    have other columns or types.
    """

    def __init__(self, paths: Any):
        dataset = require("pyarrow.dataset", extra="io", purpose="Reading Parquet")
        paths = [str(p) for p in paths] if isinstance(paths, list) else str(paths)
        fragments = dataset.dataset(paths, format="parquet", partitioning="hive").get_fragments()
        self._files = [
            _ParquetFile(f, dataset.get_partition_keys(f.partition_expression))
            for f in sorted(fragments, key=lambda f: f.path)
        ]
        if not self._files:
            raise ValueError(f"There is no Parquet file in {paths!r}.")
        same_columns({f.path: f.kinds for f in self._files})
        self.columns = list(self._files[0].kinds)

    def parts(self, columns: Sequence[Hashable], compact: bool) -> list[TablePart]:
        """Return runs of row groups."""
        return [part for file in self._files for part in file.parts(list(columns), compact)]


class _ParquetFile:
    """A fragment of a dataset, with the values that its folders' names give to all its rows."""

    def __init__(self, fragment, constants):
        self.path, self._fragment, self._constants = fragment.path, fragment, constants
        try:
            self._sizes = [group.num_rows for group in fragment.row_groups]
            schema = fragment.physical_schema
        except (OSError, ValueError) as error:
            raise OSError(f"{self.path!r} cannot be read as a Parquet file: {error}") from error
        index = _index_columns(schema)
        stored = sorted(schema, key=lambda field: field.name not in index)
        kinds = {f.name: kind_of(f.type) for f in stored}
        kinds = {name: kinds[name] for name in without_unnamed_index(kinds)}
        self.kinds = kinds | {n: _CONSTANT_KIND[type(v)] for n, v in constants.items()}
        self._text = [f.name for f in stored if str(f.type) in ("string", "large_string")]

    def parts(self, columns, compact):
        """Return runs of row groups of about the same number of rows."""
        runs, n = [], 0
        for group, size in enumerate(self._sizes):
            if not runs or n + size > ROWS:
                runs.append([])
                n = 0
            runs[-1].append(group)
            n += size
        return [
            TablePart(
                f"{self.path}, row groups {run[0]} to {run[-1]}",
                partial(self._frames, run, columns, compact),
                partial(self._mark, run),
            )
            for run in runs
        ]

    def _frames(self, row_groups, columns, compact):
        parquet = require("pyarrow.parquet", extra="io", purpose="Reading Parquet")
        stored = [name for name in columns if name not in self._constants]
        with self._fragment.open() as opened:
            file = parquet.ParquetFile(opened, read_dictionary=self._text if compact else None)
            batches = file.iter_batches(ROWS, row_groups, stored, use_threads=False)
            while True:
                try:
                    batch = next(batches, None)
                except (OSError, ValueError) as error:
                    raise OSError(f"{self.path!r} cannot be read: {error}") from error
                if batch is None:
                    return
                yield frame_of(batch).assign(**self._constants)[columns]

    def _mark(self, row_groups):
        info = self._fragment.filesystem.get_file_info(self.path)
        return f"{self.path} {info.size} {info.mtime_ns} {row_groups}"


_CONSTANT_KIND = {int: "numbers", float: "numbers", str: "text", bool: "booleans"}


def _index_columns(schema):
    """Return the names of the columns that are a pandas index."""
    described = (schema.metadata or {}).get(b"pandas")
    index = json.loads(described)["index_columns"] if described else []
    return [name for name in index if isinstance(name, str)]


def same_columns(kinds: dict) -> None:
    """Raise a ValueError if files have other columns, or columns of other kinds.

    `kinds`: for each file, the kind of each column; the kind "nothing" goes with all.
    """
    (first, kind_of), *other_files = kinds.items()
    kind_of = dict(kind_of)
    for path, kinds_of_file in other_files:
        if set(kinds_of_file) != set(kind_of):
            odd = sorted(set(kinds_of_file) ^ set(kind_of), key=str)[0]
            has, lacks = (path, first) if odd in kinds_of_file else (first, path)
            raise ValueError(f"{has!r} has the column {odd!r}, {lacks!r} has not.")
        for name, kind in kinds_of_file.items():
            if "nothing" not in (kind, kind_of[name]) and kind != kind_of[name]:
                raise ValueError(
                    f"The column {name!r} holds {kind} in {path!r} and {kind_of[name]} in a file "
                    f"before it, e.g. {first!r}. Convert it to one type."
                )
            kind_of[name] = kind if kind_of[name] == "nothing" else kind_of[name]


def mark_of_file(path: Any) -> str:
    """Return text that changes when a file does."""
    state = path.stat()
    return f"{path} {state.st_size} {state.st_mtime_ns}"
