"""Counts: how often each cell of columns, label and decision occurs in a table of any size."""

import json
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import pandas as pd

from skdisc._counts._cell_limit import MOST_CELLS, check_cells
from skdisc._counts._running_total import RunningTotal
from skdisc._counts._schema import CountedColumn, CountsSchema
from skdisc._utils._files import written
from skdisc._utils._frequency import summed_over_equal
from skdisc._utils._json import loaded, placed
from skdisc._utils._optional import require

_KEY_SIZE = 2**62  # codes of as many columns as fit are one number
_FEW_CELLS = 2**20  # so few possible cells are counted without sorting
_PIECE = 2**18  # cells that are added up at once


@dataclass(frozen=True, eq=False)
class Counts:
    """How often each cell occurs; the counts of parts of a table add up to those of the table.

    Attributes
    ----------
    schema : CountsSchema
    keys : ndarray of int64, shape (n_words, n_cells)
        The codes of each cell as one number, or some; in increasing order.
    n : ndarray of int64, shape (n_cells,)
        Number of people in each cell.
    max_cells : int or None
        The number of cells that sums may have; None: any.

    Examples
    --------
    >>> from skdisc._counts._profile import Profile
    >>> table = pd.DataFrame({"sex": ["f", "m", "f"], "hired": [0, 1, 0]})
    >>> schema = Profile.of(table).schema(protected="sex", label="hired")
    >>> counts = Counts.of_frame(table, schema) + Counts.of_frame(table, schema)
    >>> counts.codes.tolist(), counts.label.tolist(), counts.n.tolist()
    ([[0], [1]], [0, 1], [4, 2])
    """

    schema: CountsSchema
    keys: np.ndarray
    n: np.ndarray
    max_cells: int | None = None

    @classmethod
    def of(
        cls,
        data: Any,
        *,
        decide: Callable | None = None,
        classes: Sequence | None = None,
        reads: Sequence[Hashable] | None = None,
        checkpoint: Any = None,
        schema: CountsSchema | None = None,
        max_cells: int = MOST_CELLS,
        **settings: Any,
    ) -> "Counts":
        """Count a table of any size in two passes.

        Parameters
        ----------
        data : table, path or source
            What `source_of` understands.
        decide : callable, default=None
            A model: returns a label for each row of a DataFrame.
        classes : sequence, default=None
            What `decide` may return; None: the classes of the label.
        reads : sequence of column names, default=None
            The columns that `decide` reads; None: those that are counted.
        checkpoint : str or Path, default=None
            A folder that keeps what was counted, for a run that goes on where this one ended.
        schema : CountsSchema, default=None
            That of other counts, to which these can then be added; without further settings.
        max_cells : int, default=20_000_000
            The largest number of distinct cells. Each takes 16 bytes, and while they are added up
            about 100 in all.
        **settings
            Of `CountsSchema.of`: `protected`, `label`, `decision`, `columns`, `n_bins`.

        Raises
        ------
        ValueError
            If the table has no rows, a column is unknown or cannot be counted, or there are more
            than `max_cells` distinct cells; the message says which columns to coarsen.
        """
        from skdisc._counts._sources import source_of

        source = source_of(data)
        count = partial(
            source.count,
            decide=decide,
            classes=classes,
            reads=reads,
            checkpoint=checkpoint,
            max_cells=max_cells,
        )
        if schema is not None:
            return count(schema)
        columns = settings.get("columns")
        if columns is not None:
            protected = settings.get("protected", ())
            protected = [protected] if isinstance(protected, str) else list(protected)
            ends = [settings.get(end) for end in ("label", "decision")]
            names = [*columns, *protected, *(e for e in ends if e is not None)]
            columns = list(dict.fromkeys(names))
        return count(source.profile(columns, checkpoint).schema(**settings))

    @classmethod
    def of_frame(
        cls,
        frame: pd.DataFrame,
        schema: CountsSchema,
        decide: Callable | None = None,
        *,
        reads: Sequence[Hashable] | None = None,
        n: np.ndarray | None = None,
    ) -> "Counts":
        """Count the rows of a DataFrame.

        Parameters
        ----------
        frame : DataFrame
        schema : CountsSchema
            With the classes of the decision if there is a model.
        decide : callable, default=None
            Returns the decision of each row of a DataFrame. It gets every distinct row once.
        reads : sequence of column names, default=None
            The columns that `decide` reads; None: those of the schema.
        n : ndarray of int64, shape (n_rows,), default=None
            How many people each row stands for; None: one.

        Raises
        ------
        ValueError
            If a value is none of the schema.
        """
        codes = []
        for column in schema.parts:
            if column is schema.decision and decide is not None:
                values = decisions_by_row(decide, frame[list(reads or schema.names)])
                codes.append(column.encode(pd.Series(values, name=column.name)))
            else:
                codes.append(column.encode(frame[column.name]))
        return cls.of_codes(schema, codes, n)

    @classmethod
    def of_codes(
        cls, schema: CountsSchema, codes: Sequence[np.ndarray], n: np.ndarray | None = None
    ) -> "Counts":
        """Count rows given by the codes of each column of `schema.parts`, label and decision."""
        keys = np.stack([_packed(codes, run) for run in _words(schema.parts)])
        if n is None and len(keys) == 1 and keys[0].max(initial=0) < _FEW_CELLS:
            counts = np.bincount(keys[0])
            cells = np.flatnonzero(counts)
            return cls(schema, cells[None].astype(np.int64), counts[cells].astype(np.int64))
        n = np.ones(keys.shape[1], dtype=np.int64) if n is None else np.asarray(n, np.int64)
        keys, n = summed_over_equal(keys, n)
        return cls(schema, keys, n)

    def __add__(self, other: "Counts") -> "Counts":
        if self.schema != other.schema:
            raise ValueError(
                f"Counts can be added only if they have the same schema; these differ in "
                f"{self.schema.difference(other.schema)}. Count the second table with "
                "schema=first.schema."
            )
        # Piece by piece of the keys, so that no copy of all cells is held beside the sum.
        pieces = [
            summed_over_equal(np.concatenate([a.keys, b.keys], axis=1), np.concatenate([a.n, b.n]))
            for a, b in zip(*_aligned(self, other), strict=True)
        ]
        keys, n = zip(*pieces, strict=True)
        limits = [c.max_cells for c in (self, other) if c.max_cells is not None]
        whole = replace(self, keys=np.concatenate(keys, axis=1), n=np.concatenate(n))
        return whole.limited(min(limits, default=None))

    def __repr__(self) -> str:
        s = self.schema
        parts = [f"{self.n_people:,} people in {len(self.n):,} cells of {list(s.names)}"]
        parts += [f"protected={list(s.protected)}"] if s.protected else []
        ends = {"label": s.label, "decision": s.decision}
        parts += [f"{name}={column.name!r}" for name, column in ends.items() if column is not None]
        return f"Counts({', '.join(parts)})"

    def limited(self, max_cells: int | None) -> "Counts":
        """Return the counts with a limit on the number of cells; a ValueError if they have more."""
        counts = replace(self, max_cells=max_cells)
        check_cells(counts)
        return counts

    def _slices(self, ends):
        """Return the cells in pieces, given by the leading keys with which new ones begin."""
        bounds = [0, *np.searchsorted(self.keys[0], ends), len(self.n)]
        return [replace(self, keys=self.keys[:, a:b], n=self.n[a:b]) for a, b in pairwise(bounds)]

    @classmethod
    def sum(cls, counts: Iterable["Counts"]) -> "Counts":
        """Return the sum of counts of the same schema, at least one."""
        total = RunningTotal()
        for part in counts:
            total.add(part)
        return total.value

    @property
    def codes(self) -> np.ndarray:
        """Codes of the columns, shape (n_cells, n_columns), of the least unsigned type."""
        most = max((c.size for c in self.schema.columns), default=1) - 1
        codes = self.part_codes()[: len(self.schema.columns)]
        return np.stack(codes, axis=1).astype(np.min_scalar_type(max(most, 0)))

    @property
    def label(self) -> np.ndarray | None:
        """Codes of the labels, None without."""
        return self._outcome(self.schema.label)

    @property
    def decision(self) -> np.ndarray | None:
        """Codes of the decisions, None without."""
        return self._outcome(self.schema.decision)

    @property
    def n_people(self) -> int:
        """Number of people."""
        return int(self.n.sum())

    def frame(self) -> pd.DataFrame:
        """Return the cells as rows, without label and decision; bins by one number of each."""
        columns, codes = self.schema.columns, self.part_codes()
        return pd.DataFrame(
            {
                c.name: c.decode(column_codes, categorical=True)
                for c, column_codes in zip(columns, codes, strict=False)
            },
            copy=False,
        )

    def outcomes(self, column: CountedColumn | None) -> np.ndarray | None:
        """Return the label or the decision of each cell; None for no column."""
        codes = self._outcome(column)
        return None if codes is None else column.decode(codes).to_numpy()

    def arguments(self) -> dict:
        """Return what functions of `skdisc.measures` take, with a row for each cell.

        >>> from skdisc._counts._profile import Profile
        >>> from skdisc.measures import mean_difference
        >>> table = pd.DataFrame({"sex": ["f", "f", "m", "m"], "hired": [0, 1, 1, 1]})
        >>> schema = Profile.of(table).schema(protected="sex", decision="hired")
        >>> mean_difference(**Counts.of_frame(table, schema).arguments(), reference="m")
        0.5

        Returns
        -------
        dict
            y_true (None without labels), y_pred (labels where there are no decisions), protected,
            sample_weight, and weights="frequency". Options of a measure that are columns of the
            table, such as its strata, are columns of `frame`.

        Raises
        ------
        ValueError
            If neither labels nor decisions, or no protected columns, were counted.
        """
        schema = self.schema
        if not schema.protected or (schema.label is None and schema.decision is None):
            raise ValueError("Measures need protected= and label= or decision=, when counting.")
        label, decision = self.outcomes(schema.label), self.outcomes(schema.decision)
        y_true, y_pred = (None, label) if decision is None else (label, decision)
        protected = self.frame()[list(schema.protected)]
        return {
            "y_true": y_true,
            "y_pred": y_pred,
            "protected": protected,
            "sample_weight": self.n,
            "weights": "frequency",
        }

    def _outcome(self, column):
        """Return the codes of an outcome."""
        if column is None:
            return None
        position = next(i for i, part in enumerate(self.schema.parts) if part is column)
        return self.part_codes()[position]

    def part_codes(self) -> list:
        """Return the codes of all parts of the schema, a list of arrays."""
        codes = []
        for keys, run in zip(self.keys, _words(self.schema.parts), strict=True):
            rest, run_codes = keys, []
            for _, size in reversed(run):
                rest, code = np.divmod(rest, size)
                run_codes.append(code)
            codes += reversed(run_codes)
        return codes

    def decided(
        self, decide: Callable, column: CountedColumn, reads: Sequence[Hashable] | None = None
    ) -> "Counts":
        """Return the counts with decisions; `decide` is asked once about each distinct row.

        Parameters
        ----------
        decide : callable
            Returns the decision of each row of a DataFrame.
        column : CountedColumn
            The column of decisions.
        reads : sequence of column names, default=None
            The columns that `decide` reads, which must be exact; None: all.
        """
        names = self.schema.names
        positions = [names.index(name) for name in (names if reads is None else reads)]
        codes = self.part_codes()
        frame = pd.DataFrame(
            {names[i]: self.schema.columns[i].decode(codes[i]) for i in positions}, copy=False
        )
        decision = column.encode(pd.Series(decisions_by_row(decide, frame), name=column.name))
        return Counts.of_codes(replace(self.schema, decision=column), [*codes, decision], self.n)

    def undecided(self) -> "Counts":
        """Return the counts without the decisions."""
        schema = replace(self.schema, decision=None)
        return Counts.of_codes(schema, self.part_codes()[: len(schema.parts)], self.n)

    def to_parquet(self, path: Any) -> None:
        """Write the counts to a Parquet file, with their schema, whole or not at all."""
        pa = require("pyarrow", extra="io", purpose="Writing counts")
        parquet = require("pyarrow.parquet", extra="io", purpose="Writing counts")
        columns = {f"key {i}": keys for i, keys in enumerate(self.keys)}
        table = pa.table({**columns, "n": self.n})
        schema = json.dumps(self.schema.to_dict())
        with written(path) as file:
            parquet.write_table(table.replace_schema_metadata({"skdisc": schema}), file)

    @classmethod
    def read(cls, path: Any) -> "Counts":
        """Return the counts of a file written by `to_parquet`.

        Raises
        ------
        ValueError
            If it is another kind of file, or its numbers are impossible; the message names the
            place.
        """
        parquet = require("pyarrow.parquet", extra="io", purpose="Reading counts")
        try:
            table = parquet.read_table(path)
        except (OSError, ValueError) as error:
            raise ValueError(f"{str(path)!r} cannot be read as Parquet: {error}") from error
        schema = (table.schema.metadata or {}).get(b"skdisc")
        if schema is None:
            raise ValueError(f"{str(path)!r} is no file of counts.")
        with placed(str(path)):
            with placed("schema"):
                counts_schema = CountsSchema.from_dict(
                    loaded(schema.decode(), "a schema of counts")
                )
            *keys, n = (c.to_numpy() for c in table.columns)
            counts = cls(counts_schema, np.stack(keys), n)
            counts._check()
            return counts

    def _check(self):
        """Raise ValueError if keys or numbers of people do not fit the schema."""
        for name, values in (("n", self.n), *((f"key {i}", k) for i, k in enumerate(self.keys))):
            if values.dtype != np.int64:
                raise ValueError(f"{name} must be whole numbers, got {values.dtype}")
        if (self.n < 0).any() or self.n.sum(dtype=float) > _KEY_SIZE:
            raise ValueError("n must be numbers of people, 0 or more")
        runs = _words(self.schema.parts)
        if len(runs) != len(self.keys):
            raise ValueError(f"there are {len(self.keys)} keys, and the schema takes {len(runs)}")
        for i, (keys, run) in enumerate(zip(self.keys, runs, strict=True)):
            size = prod(size for _, size in run)
            if len(keys) and not (keys.min() >= 0 and keys.max() < size):
                raise ValueError(f"key {i} must be from 0 to {size - 1}, as the schema has values")
        order = np.lexsort(self.keys[::-1])
        is_new = (np.diff(self.keys[:, order], axis=1) != 0).any(axis=0)
        if (np.diff(order) != 1).any() or not is_new.all():
            raise ValueError("keys must increase, each cell once")


def _aligned(first, second):
    """Return two counts in pieces of the same ranges of keys, for the sake of memory."""
    ends = np.unique(max(first.keys[0], second.keys[0], key=len)[_PIECE::_PIECE])
    return first._slices(ends), second._slices(ends)


def decisions_by_row(decide: Callable, rows: pd.DataFrame) -> np.ndarray:
    """Return the decisions of a model, which is asked once about each distinct row."""
    numbers = [pd.factorize(rows[name], use_na_sentinel=False)[0] for name in rows]
    sizes = [int(number.max(initial=0)) + 1 for number in numbers]
    words = [_packed(numbers, run) for run in _runs(sizes)]
    order = np.lexsort(words[::-1])
    differs = np.zeros(len(rows), dtype=bool)
    differs[:1] = True
    for word in words:
        differs[1:] |= word[order][1:] != word[order][:-1]
    place = np.empty(len(rows), dtype=np.int64)
    place[order] = np.cumsum(differs) - 1
    distinct = rows.iloc[order[differs]].reset_index(drop=True)
    return np.asarray(decide(distinct))[place]


def _words(parts):
    """Return runs of columns whose codes fit into one number: lists of (position, size)."""
    return _runs([max(part.size, 1) for part in parts])


def _runs(sizes):
    runs, room = [], 0
    for position, size in enumerate(sizes):
        if room < size:
            runs.append([])
            room = _KEY_SIZE
        runs[-1].append((position, size))
        room //= size
    return runs


def _packed(codes, run):
    """Return the codes of some columns as one number, the first column the leading one."""
    key = np.zeros(len(codes[0]), dtype=np.int64)
    for position, size in run:
        key *= size
        key += codes[position]
    return key
