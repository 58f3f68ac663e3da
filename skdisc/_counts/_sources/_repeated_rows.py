"""A table of counts as a table of people: each row as often as it says."""

from collections.abc import Hashable, Sequence
from functools import partial

import numpy as np
import pandas as pd

from skdisc._counts._sources._source import Source, TablePart, sliced
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
        return sliced(int(self._ends[-1]), "people", partial(self._rows, list(columns)))

    def _rows(self, columns, start, end):
        positions = np.searchsorted(self._ends, np.arange(start, end), side="right")
        yield self._frame[columns].iloc[positions].reset_index(drop=True)
