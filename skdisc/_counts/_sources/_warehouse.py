"""Tables in a database or a warehouse, by Ibis: counting is the work of the engine."""

import re
import sqlite3
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skdisc._counts._counts import Counts, decisions_by_row
from skdisc._counts._profile import ColumnProfile, Profile
from skdisc._counts._running_total import RunningTotal
from skdisc._counts._sources._arrow import frame_of, without_unnamed_index
from skdisc._counts._sources._row_sample import allocated, stack
from skdisc._counts._sources._source import ROWS, Source, TablePart
from skdisc._utils._optional import require
from skdisc._utils._shared_sections import with_sections
from skdisc._utils._validation import check_column, check_names

_VALUES = 2**17  # distinct values that are fetched at once


class IbisSource(Source):
    """An Ibis table. What is learned and counted of it is grouped by the engine.

    A profile fetches the distinct values of each column and how often each occurs. Only
    `map_add` with a function of one's own fetches rows.
    """

    can_keep = False

    def __init__(self, table: Any):
        self._table, self.columns = table, without_unnamed_index(table.columns)

    def parts(self, columns: Sequence[Hashable], compact: bool) -> list[TablePart]:
        """Return the table as one part, which is fetched in batches."""
        del compact
        rows = partial(_fetched, self._table.select(list(columns)), ROWS)
        return [TablePart("the query", rows, _no_mark)]

    def n_rows(self) -> int:
        """Return the number of rows, which the engine counts."""
        return int(self._table.count().to_pyarrow().as_py())

    @with_sections(Source.profile.__doc__)
    def profile(self, columns: Sequence[Hashable] | None = None, checkpoint: Any = None) -> Profile:
        """Return what the engine tells of the columns: distinct values with their counts.

        Raises ValueError if a column is unknown or holds infinite numbers, the table has no rows,
        or a checkpoint is given.
        """
        if checkpoint is not None:
            _no_mark()
        columns = self.columns if columns is None else list(columns)
        check_names("columns", columns, self.columns)
        n_rows = self.n_rows()
        if not n_rows:
            raise ValueError("The table has no rows.")
        profiles = {name: self._profile_of(name, n_rows) for name in columns}
        return Profile(n_rows, profiles)

    def _profile_of(self, name, n_rows):
        """Return the profile of a column from its distinct values."""
        column, total = self._table[name], RunningTotal()
        if column.type().is_temporal():
            check_column(pd.Series([], name=name, dtype="datetime64[ns]"))
        grouped = self._table.group_by(value=column).agg(n=self._table.count())
        for counts in _fetched(grouped, _VALUES):
            values = counts["value"].rename(name)
            check_column(values)
            total.add(Profile(n_rows, {name: _weighted(values, counts["n"].to_numpy())}))
        return total.value.columns[name]

    def _counted(self, schema, decide, reads, checkpoint, max_cells):
        """Return the counts of a schema; bins are found and cells are counted by the engine."""
        if checkpoint is not None:
            _no_mark()
        groups, table = {}, self._table
        for i, column in enumerate(schema.parts):
            if column is not schema.decision or decide is None:
                check_names("columns", [column.name], self.columns)
                in_engine = column.kind == "bins" and column.name not in reads
                values = table[column.name]
                groups[f"part{i}"] = _bin_of(values, column.cuts) if in_engine else values
        check_names("columns", reads, self.columns)
        groups |= {f"read{i}": table[name] for i, name in enumerate(reads)}
        query, total = table.group_by(**groups).agg(n=table.count()), RunningTotal()
        for cells in _fetched(query, ROWS):
            codes = []
            for i, column in enumerate(schema.parts):
                if f"part{i}" not in groups:
                    rows = cells[[f"read{j}" for j in range(len(reads))]].set_axis(reads, axis=1)
                    values = pd.Series(decisions_by_row(decide, rows), name=column.name)
                else:
                    values = cells[f"part{i}"].rename(column.name)
                in_engine = column.kind == "bins" and column.name not in reads
                codes.append(column.checked(_codes(values)) if in_engine else column.encode(values))
            total.add(Counts.of_codes(schema, codes, cells["n"].to_numpy()).limited(max_cells))
        if total.value is None:
            raise ValueError("The table has no rows.")
        return total.value

    @with_sections(Source.sample.__doc__)
    def sample(
        self,
        n: int,
        by: Sequence[Hashable] = (),
        random_state: int = 0,
        columns: Sequence[Hashable] | None = None,
    ) -> pd.DataFrame:
        """Return a sample of rows without replacement, stratified in proportion.

        The engine puts the rows in the order of all their values; positions in that order are
        drawn here, and only the rows at these positions are fetched.
        """
        columns, by = list(self.columns if columns is None else columns), list(by)
        check_names("columns", [*columns, *by], self.columns)
        ibis, position = _ibis(), "position"
        while position in self.columns:
            position += "_"
        table = self._table.select(list(dict.fromkeys([*by, *columns])))
        order = ibis.row_number().over(order_by=[table[c] for c in table.columns])
        table = table.mutate(**{position: order.cast("int64")})
        ends = {"first": table[position].min(), "n": table[position].count()}
        strata = table.aggregate(by=[table[c].name(f"by{i}") for i, c in enumerate(by)], **ends)
        strata = strata[["first", "n"]].order_by("first").to_pyarrow().to_pylist()
        drawn = _positions([(s["first"], s["n"]) for s in strata if s["n"]], n, random_state)
        drawn_positions = self.like(pd.DataFrame({position: drawn}))
        rows = table.semi_join(drawn_positions, position).order_by(position).select(columns)
        return stack(list(_fetched(rows, ROWS)))

    def like(self, frame: pd.DataFrame) -> Any:
        """Return a DataFrame as an Ibis table."""
        pa = require("pyarrow", extra="ibis", purpose="Reading a table of a database")
        return _ibis().memtable(pa.Table.from_pandas(frame, preserve_index=False))


def connected(address: str) -> IbisSource:
    """Return the table of an address such as ``duckdb:///file.db::table``.

    `address`: what `ibis.connect` takes, two colons, and a table, perhaps after its schema and a
    period. Files of DuckDB and SQLite are opened for reading only, and relative to the working
    folder after three slashes. Raises ValueError if there is no such file or table.
    """
    database, _, name = address.rpartition("::")
    kind, _, path = database.partition(":///")
    if kind in ("duckdb", "sqlite"):
        if not Path(path).is_file():
            raise ValueError(f"There is no file {path!r}.")
        connection = _read_only(kind, path)
    else:
        ibis = _ibis()
        try:
            connection = ibis.connect(database)
        except Exception as error:  # of any library of a database
            message = str(error).replace(database, without_password(database))
            if password := _password_of(database):
                message = message.replace(password, "***")
            raise ValueError(f"{without_password(database)!r}: {message}") from None
    schema, _, table = name.rpartition(".")
    tables = connection.list_tables(database=schema or None)
    if table not in tables:
        shown = without_password(database)
        raise ValueError(f"{shown!r} has no table {name!r}; it has {tables!r}.")
    return IbisSource(connection.table(table, database=schema or None))


def _read_only(kind, path):
    """Return a connection that cannot change a file of DuckDB or SQLite."""
    if kind == "duckdb":
        return _ibis().duckdb.connect(path, read_only=True)
    uri = f"{Path(path).absolute().as_uri()}?mode=ro"
    return _ibis().sqlite.from_connection(sqlite3.connect(uri, uri=True))


def without_password(address: str) -> str:
    """Return an address without the password in it."""
    password = _password_of(address)
    return address.replace(f":{password}@", ":***@", 1) if password else address


def _password_of(address):
    match = re.match(r"[\w+.-]+://[^/?#]*?:(?P<password>.*)@", address)
    return match["password"] if match else None


def _bin_of(values, cuts):
    """Return the number of the bin of each value; cuts are passed as text, which is exact."""
    ibis, is_missing = _ibis(), values.isnull()
    is_nan = require("ibis.expr.operations", extra="ibis", purpose="Counting in a database").IsNan
    if values.type().is_floating() and values.get_backend().has_operation(is_nan):
        is_missing |= values.isnan()
    values = values.cast("float64")
    cases = [(values <= ibis.literal(repr(c)).cast("float64"), i) for i, c in enumerate(cuts)]
    return ibis.cases((is_missing, ibis.null().cast("int64")), *cases, else_=len(cuts))


def _codes(bins):
    """Return bins as codes, -1 where they are missing."""
    return bins.fillna(-1).to_numpy(np.int64)


def _positions(strata, n, random_state):
    """Return the positions of a sample from strata, given as first positions and sizes."""
    if not strata:
        raise ValueError("The table has no rows.")
    size = allocated(Counter(dict(strata)), n)
    draw = np.random.default_rng(random_state)
    drawn = [first + draw.choice(n_rows, size[first], replace=False) for first, n_rows in strata]
    return np.sort(np.concatenate(drawn))


def _weighted(values, n):
    """Return the profile of a column from its distinct values and the counts of each."""
    has_value = values.notna().to_numpy()
    made, missing = ColumnProfile.of(values[has_value]), int(n[~has_value].sum())
    if made.numbers is not None:
        distinct = values[has_value].to_numpy(np.float64) + 0.0
        position = np.unique(distinct, return_inverse=True)[1]
        counts = np.bincount(position, weights=n[has_value]).astype(np.int64)
        made = replace(made, numbers=replace(made.numbers, n=counts))
    return replace(made, n_missing=missing)


def _fetched(query: Any, size: int) -> Iterator[pd.DataFrame]:
    """Yield the rows of a query as DataFrames of at most `size` rows."""
    for batch in query.to_pyarrow_batches(chunk_size=size):
        if batch.num_rows:
            yield frame_of(batch)


def _no_mark():
    raise ValueError(
        "A warehouse counts in one query, of which nothing can be kept. Leave checkpoint= out."
    )


def _ibis():
    return require("ibis", extra="ibis", purpose="Reading a table of a database")
