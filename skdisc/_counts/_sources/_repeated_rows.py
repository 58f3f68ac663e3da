"""A table of counts as a table of people: each row as often as it says."""

from collections.abc import Hashable, Sequence
from functools import partial

import numpy as np
import pandas as pd

from skdisc._counts._sources._source import Source, TablePart, slices
from skdisc._utils._tables._reading import numbers_of_people


class RepeatedRows(Source):
    """A DataFrame whose rows stand for numbers of people, which are never held at once.

    `name`: the column of the numbers.
    """

    def __init__(self, frame: pd.DataFrame, notes: list, name: str):
        self._n, self.notes = numbers_of_people(frame, name), list(notes)
        self._frame, self._ends = frame.drop(columns=name), np.cumsum(self._n)
        self.columns = list(self._frame.columns)

    def parts(self, columns: Sequence[Hashable], compact: bool) -> list[TablePart]:
        """Return slices of the people."""
        del compact
        parts = []
        for start, end in slices(int(self._ends[-1])):
            rows = partial(self._rows, start, end, list(columns))
            parts.append(TablePart(f"people {start} to {end - 1}", rows, partial(_mark_of, rows)))
        return parts

    def _rows(self, start, end, columns):
        positions = np.searchsorted(self._ends, np.arange(start, end), side="right")
        yield self._frame[columns].iloc[positions].reset_index(drop=True)


def _mark_of(rows):
    """Return text that tells the content of rows."""
    (frame,) = rows()
    return f"{[*frame.columns]} {pd.util.hash_pandas_object(frame, index=False).sum()}"
