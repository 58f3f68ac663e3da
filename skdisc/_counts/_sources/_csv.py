"""CSV files, read piece by piece as `read_table` reads them whole."""

from collections.abc import Hashable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from skdisc._counts._sources._files import mark_of_file, same_columns
from skdisc._counts._sources._source import ROWS, Source, TablePart
from skdisc._utils._io import csv_columns, csv_pieces
from skdisc._utils._validation import of_numbers

_ROWS = ROWS // 4  # text is larger than its numbers


class CsvSource(Source):
    """CSV files with the same columns, of any separator, also compressed.

    All files are read once before anything else, to learn of what type each column is: what is
    a number in every row, true or false in every row, or text.

    Parameters
    ----------
    paths : list of Path

    Raises
    ------
    ValueError
        If a file is no table, or files have other columns.
    """

    def __init__(self, paths: list[Path]):
        self._paths = paths
        names = {str(p): list(next(csv_pieces(p, 1)).columns) for p in paths}
        same_columns({path: dict.fromkeys(found, "nothing") for path, found in names.items()})
        self.columns = names[str(paths[0])]
        self._commas, self._types = self._learn()

    def _learn(self):
        """Return the columns with decimal commas, and the dtype of each column."""
        kinds = {name: set() for name in self.columns}
        commas = {name: set() for name in self.columns}
        for path in self._paths:
            for decimal, found in ((".", kinds), (",", commas)):
                if decimal == "." or csv_columns(path)[1] == ";":
                    for piece in csv_pieces(path, _ROWS, decimal=decimal):
                        for name in self.columns:
                            found[name] |= _kinds(piece[name])
        by_comma = [
            n
            for n in self.columns
            if "text" in kinds[n] and isinstance(_dtype(commas[n]), np.dtype)
        ]
        return by_comma, {n: _dtype((commas if n in by_comma else kinds)[n]) for n in self.columns}

    def parts(self, columns: Sequence[Hashable], compact: bool) -> list[TablePart]:
        """Return one part for each file."""
        del compact
        dtypes = {name: self._types[name] for name in columns}
        return [
            TablePart(str(p), partial(self._frames, p, dtypes), partial(mark_of_file, p))
            for p in self._paths
        ]

    def _frames(self, path, dtypes):
        """Yield pieces of a file; columns with decimal commas are read beside the others."""
        readers = []
        for decimal in ".,":
            names = [n for n in dtypes if (n in self._commas) == (decimal == ",")]
            given = {n: dtypes[n] for n in names if dtypes[n] is not None}
            if names:
                readers.append(csv_pieces(path, _ROWS, columns=names, dtype=given, decimal=decimal))
        for pieces in zip(*readers, strict=True):
            yield pd.concat([p.reset_index(drop=True) for p in pieces], axis=1)[[*dtypes]]


def _kinds(series):
    """Return the kinds of a piece of a column: integers, numbers, booleans, text and missing."""
    known = series.dropna()
    found = {"missing"} if len(known) < len(series) else set()
    if len(known):
        if of_numbers(series.dtype):
            found.add("integers" if series.dtype.kind in "iu" else "numbers")
        else:
            is_boolean = pd.api.types.infer_dtype(known) == "boolean"
            found.add("booleans" if is_boolean else "text")
    return found


def _dtype(kinds):
    """Return the dtype of a column: str, a dtype of NumPy, or None for what pandas infers."""
    known = kinds - {"missing"}
    if not known <= {"integers", "numbers"}:
        return None if known == {"booleans"} else str
    if not known:
        return None
    return np.dtype(np.int64 if kinds == {"integers"} else np.float64)
