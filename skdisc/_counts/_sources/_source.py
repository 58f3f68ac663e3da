"""Sources: tables that are read part by part, and never held as a whole."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import joblib
import pandas as pd

from skdisc._counts._cell_limit import MOST_CELLS
from skdisc._counts._counts import Counts
from skdisc._counts._profile import Profile
from skdisc._counts._running_total import RunningTotal
from skdisc._counts._schema import CountsSchema, decision_of
from skdisc._counts._sources._checkpoint import Checkpoint
from skdisc._counts._sources._row_sample import DrawnRows, allocated, sizes_of
from skdisc._utils._validation import check_column, check_names

ROWS = 2**19  # rows that are held at once: 50 MB of 12 numeric columns


@dataclass(frozen=True)
class TablePart:
    """A part of a table that is read on its own.

    Attributes
    ----------
    name : str
        How errors call it.
    frames : callable
        Returns an iterator of its rows as DataFrames.
    mark : callable
        Returns text that changes when the content of the part does.
    """

    name: str
    frames: Callable
    mark: Callable

    def add_up(self, function: Callable) -> Any:
        """Return the sum of what `function` returns for its frames, None if it has no rows."""
        total = RunningTotal()
        try:
            for frame in self.frames():
                if len(frame):
                    total.add(function(frame))
        except Exception as error:
            error.add_note(f"This happened in {self.name}.")
            raise
        return total.value


class Source(ABC):
    """A table of any size, which is read part by part.

    `can_keep`: whether what was counted can be kept for a run that goes on where another ended.
    """

    columns: list
    can_keep = True  # whether checkpoints are possible

    @abstractmethod
    def parts(self, columns: Sequence[Hashable], compact: bool) -> list[TablePart]:
        """Return the parts of the table.

        `columns`: the columns to read. `compact`: whether text may come as unordered categories,
        which is cheaper.
        """

    def only(self, columns: Sequence[Hashable]) -> "Source":
        """Return the source with some of its columns."""
        check_names("columns", columns, self.columns)
        less = copy(self)
        less.columns, less._whole = list(columns), self  # which may hold files that end with it
        return less

    def n_rows(self) -> int:
        """Return the number of rows."""
        return self.map_add(len, self.columns[:1], compact=True)

    def like(self, frame: pd.DataFrame) -> Any:
        """Return a DataFrame as the kind of table that the source was made of."""
        return frame

    def map_add(
        self,
        function: Callable,
        columns: Sequence[Hashable] | None = None,
        *,
        compact: bool = False,
        checkpoint: Any = None,
    ) -> Any:
        """Apply a function to every part of the table, and add up what it returns.

        Parameters
        ----------
        function : callable
            Takes a DataFrame; the sum of what it returns must not depend on the order.
        columns : sequence of column names, default=None
            The columns to read; None: all.
        compact : bool, default=False
            Whether text may come as unordered categories, which is cheaper.
        checkpoint : Checkpoint, default=None
            Keeps the sums of groups of parts, for a run that goes on where this one ended.

        Raises
        ------
        ValueError
            If a column is unknown, or the table has no rows.
        """
        columns = self.columns if columns is None else list(columns)
        check_names("columns", columns, self.columns)
        parts, total = self.parts(columns, compact), RunningTotal()
        add_up = partial(self._add_up, function)
        groups = [parts] if checkpoint is None else checkpoint.groups(parts)
        for group in groups:
            total.add(add_up(group) if checkpoint is None else checkpoint.sum_of(group, add_up))
        if total.value is None:
            raise ValueError("The table has no rows.")
        return total.value

    def _add_up(self, function, parts):
        """Return the sum over some parts, None if they have no rows."""
        total = RunningTotal()
        for part in parts:
            total.add(part.add_up(function))
        return total.value

    def profile(self, columns: Sequence[Hashable] | None = None, checkpoint: Any = None) -> Profile:
        """Return what a pass over the table learns of its columns.

        `columns`: None: all. `checkpoint`: a folder that keeps what was learned, for a run that
        goes on where this one ended. Raises TypeError if a column holds dates, or values of several
        types. Raises ValueError if a column is unknown or holds infinite numbers, or the table has
        no rows.
        """
        stored = None
        if checkpoint is not None:
            stored = Checkpoint(checkpoint, f"profile {columns}", Profile.read, Profile.write)
        return self.map_add(_profile_of, columns, compact=True, checkpoint=stored)

    def count(
        self,
        schema: CountsSchema,
        decide: Callable | None = None,
        *,
        classes: Sequence | None = None,
        reads: Sequence[Hashable] | None = None,
        checkpoint: Any = None,
        max_cells: int | None = MOST_CELLS,
    ) -> Counts:
        """Return how often each cell of a schema occurs.

        A model that reads only columns which are counted value by value is asked once about each
        distinct row of the whole table, and otherwise once about each distinct row of a part.

        Parameters
        ----------
        decide : callable, default=None
            A model: returns a label for each row of a DataFrame.
        classes : sequence, default=None
            What `decide` may return; None: the classes of the label.
        reads : sequence of column names, default=None
            The columns that `decide` reads; None: those of the schema.
        checkpoint : str or Path, default=None
            A folder that keeps what was counted, for a run that goes on where this one ended.
        max_cells : int or None, default=20_000_000
            The largest number of distinct cells; None: any.

        Raises
        ------
        ValueError
            If a column is unknown or has a value that the schema does not have, if what the model
            returns or the table does not fit, or if there are more cells.
        """
        count = partial(self._counted, checkpoint=checkpoint, max_cells=max_cells)
        if decide is None:
            return count(schema, None, [])
        if classes is None and schema.label is None:
            raise ValueError("classes= must name what the model may return, as there is no label.")
        decision = decision_of(schema.label.values if classes is None else classes)
        reads = list(schema.names if reads is None else reads)
        exact = {column.name for column in schema.columns if column.is_exact}
        if exact.issuperset(reads):
            counts = count(replace(schema, decision=None), None, [])
            return counts.decided(decide, decision, reads)
        return count(replace(schema, decision=decision), decide, reads)

    def _counted(self, schema, decide, reads, checkpoint, max_cells):
        """Return the counts of a schema, part by part."""
        stored = None
        if checkpoint is not None:
            what = f"{json.dumps(schema.to_dict(), default=str)} {reads} {_mark_of(decide)}"
            stored = Checkpoint(checkpoint, what, Counts.read, Counts.to_parquet)
        function = partial(
            _counts_of, schema=schema, decide=decide, reads=reads, max_cells=max_cells
        )
        columns = [c.name for c in schema.parts if decide is None or c is not schema.decision]
        columns = list(dict.fromkeys([*columns, *reads]))
        return self.map_add(function, columns, compact=decide is None, checkpoint=stored)

    def sample(
        self,
        n: int,
        by: Sequence[Hashable] = (),
        random_state: int = 0,
        columns: Sequence[Hashable] | None = None,
    ) -> pd.DataFrame:
        """Return a sample of rows without replacement, stratified in proportion.

        Each combination of values of `by` has its share of the sample, rounded, and at least one
        row. Which rows are drawn depends on how the table is divided into parts.

        `n`: number of rows; all rows if there are no more. `columns`: the columns of the sample;
        None: all. The result has shape (n_drawn, n_columns). Raises ValueError if a column is
        unknown, or the table has no rows.
        """
        columns = self.columns if columns is None else list(columns)
        sizes = self.map_add(partial(sizes_of, by=by), by or columns[:1], compact=True)
        size = allocated(sizes, n)
        draw = partial(DrawnRows.of, by=by, size=size, random_state=random_state)
        needed = list(dict.fromkeys([*columns, *by]))
        return self.map_add(draw, needed).frame[columns]


def _counts_of(frame, max_cells, **options):
    return Counts.of_frame(frame, **options).limited(max_cells)


def _mark_of(decide):
    """Return text that changes when a model does."""
    try:
        return joblib.hash(decide)
    except Exception as error:
        raise ValueError(
            f"checkpoint= needs a model that can be told from another, and {decide!r} cannot be "
            f"pickled ({error}). Pass a method of the model or a function of a module."
        ) from error


def _profile_of(frame: pd.DataFrame) -> Profile:
    for name in frame.columns:
        check_column(frame[name])
    return Profile.of(frame)


def sliced(n_rows: int, what: str, rows: Callable) -> list[TablePart]:
    """Return a table in parts of `ROWS` rows; ``rows(start, end)`` yields those of one part."""
    parts = []
    for start in range(0, n_rows, ROWS):
        end = min(start + ROWS, n_rows)
        part = partial(rows, start, end)
        parts.append(TablePart(f"{what} {start} to {end - 1}", part, partial(_content_of, part)))
    return parts


def _content_of(rows):
    """Return text that tells the content of rows."""
    (frame,) = rows()
    return f"{[*frame.columns]} {pd.util.hash_pandas_object(frame, index=False).sum()}"
