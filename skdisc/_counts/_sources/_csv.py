"""CSV files, read piece by piece as `read_table` reads them whole."""

from collections.abc import Hashable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from skdisc._counts._sources._files import mark_of_file, same_columns
from skdisc._counts._sources._source import ROWS, Source, TablePart
from skdisc._utils._tables import CsvFile, TableNote, TableOptions, check_cells
from skdisc._utils._tables._number_texts import NumberTexts, date_values, file_mark
from skdisc._utils._tables._read_table import date_note, number_format
from skdisc._utils._validation import of_numbers

_ROWS = ROWS // 4  # text is larger than its numbers


class CsvSource(Source):
    """CSV files with the same columns, of any separator and encoding, also compressed.

    All files are read once before anything else, to learn of what type each column is: what is
    a number in every row, true or false in every row, or text. Columns of text are understood as
    `read_table` understands them.

    `notes`: what was decided in reading. Raises ValueError if a file is no table, or files have
    other columns.
    """

    def __init__(self, paths: list[Path], options: TableOptions | None):
        self._options = TableOptions() if options is None else options
        self._files = [CsvFile(p, self._options) for p in paths]
        names = {str(f.path): f.columns for f in self._files}
        same_columns({path: dict.fromkeys(columns, "nothing") for path, columns in names.items()})
        self.columns = list(names[str(paths[0])])
        self.notes: list[TableNote] = list(dict.fromkeys(n for f in self._files for n in f.notes))
        self._types, self._numbers, self._dates = {}, {}, {}
        self._learn()

    def _learn(self):
        """Learn the dtype of each column, and how numbers and dates are read from texts."""
        kinds, texts = self._kinds_and_texts()
        mixed = [
            n
            for n, column_kinds in kinds.items()
            if "text" in column_kinds and len(_kinds_of_values(column_kinds)) > 1
        ]
        texts |= self._texts_of(mixed)
        separators = {f.separator for f in self._files}
        separator = separators.pop() if len(separators) == 1 else None
        mark, is_sure = file_mark(texts, self._options.decimal, separator)
        if mark == "," and is_sure and self._options.decimal is None:
            fractions = [
                n
                for n, column_kinds in kinds.items()
                if _kinds_of_values(column_kinds) >= {"numbers"}
            ]
            fractions = [n for n in fractions if n not in texts and n not in self._options.text]
            grouped = self._texts_of(fractions)
            texts |= {
                name: column_kinds
                for name, column_kinds in grouped.items()
                if column_kinds.are_numbers and column_kinds.differ and not column_kinds.only["."]
            }
        for name in self.columns:
            is_text = name in texts or name in self._options.text
            self._types[name] = str if is_text else _dtype(kinds[name])
            if name in texts:
                self._decide(name, texts[name], mark, is_sure)

    def _decide(self, name, texts, mark, is_sure):
        """Decide how the texts of a column are read."""
        number, note = number_format(name, texts, mark, is_sure, self._options)
        self.notes += [] if note is None else [note]
        if number is not None:
            self._numbers[name] = number
        elif texts.date_form is not None:
            self._dates[name] = texts.date_form
            self.notes.append(date_note(name))

    def _kinds_and_texts(self):
        """Return the kinds of value of each column, and what the texts of its pieces are."""
        kinds = {name: set() for name in self.columns}
        texts: dict[Hashable, NumberTexts] = {}
        n_missing = dict.fromkeys(self.columns, 0)
        for file in self._files:
            for piece in file.pieces(_ROWS):
                check_cells(piece, file.path.name)
                for name in self.columns:
                    column = self._options.without_missing(piece[name], everywhere=False)
                    column_kinds = _kinds(column)
                    kinds[name] |= column_kinds
                    n_missing[name] += int(column.isna().sum())
                    if "text" in column_kinds and name not in self._options.text:
                        texts.setdefault(name, NumberTexts()).add(column)
        for name, column_kinds in texts.items():  # also in pieces that hold no text
            column_kinds.n_missing = n_missing[name]
        return kinds, texts

    def _texts_of(self, names):
        """Return what the texts of some columns are, read as text in all pieces."""
        texts = {name: NumberTexts() for name in names}
        for file in self._files if names else []:
            for piece in file.pieces(_ROWS, columns=names, dtype=dict.fromkeys(names, str)):
                for name in names:
                    texts[name].add(self._options.without_missing(piece[name], everywhere=False))
        return texts

    def parts(self, columns: Sequence[Hashable], compact: bool) -> list[TablePart]:
        """Return one part for each file."""
        del compact
        names = list(columns)
        return [
            TablePart(str(f.path), partial(self._frames, f, names), partial(mark_of_file, f.path))
            for f in self._files
        ]

    def _frames(self, file, names):
        """Yield pieces of a file."""
        dtypes = {n: self._types[n] for n in names if self._types[n] is not None}
        with_missing_texts = {n for n in names if n in self._options.missing_in}
        dtypes = {n: t for n, t in dtypes.items() if t is str or n not in with_missing_texts}
        for piece in file.pieces(_ROWS, columns=names, dtype=dtypes):
            piece = piece.reset_index(drop=True)[names]
            for name in with_missing_texts:
                piece[name] = self._options.without_missing(piece[name], everywhere=False)
                if self._types[name] not in (None, str):
                    piece[name] = piece[name].astype(self._types[name])
            for name in names:
                if name in self._numbers:
                    piece[name] = self._numbers[name].read(piece[name])
                elif name in self._dates:
                    piece[name] = date_values(piece[name], self._dates[name])
            yield piece


def _kinds_of_values(kinds):
    """Return the kinds of a column but missing values."""
    return kinds - {"missing"}


def _kinds(series):
    """Return the kinds of a piece of a column: integers, numbers, booleans, text and missing."""
    present = series.dropna()
    kinds = {"missing"} if len(present) < len(series) else set()
    if len(present):
        if of_numbers(series.dtype):
            kinds.add("integers" if series.dtype.kind in "iu" else "numbers")
        else:
            is_boolean = pd.api.types.infer_dtype(present) == "boolean"
            kinds.add("booleans" if is_boolean else "text")
    return kinds


def _dtype(kinds):
    """Return the dtype of a column: str, a dtype of NumPy, or None for what pandas infers."""
    value_kinds = _kinds_of_values(kinds)
    if not value_kinds <= {"integers", "numbers"}:
        return None if value_kinds == {"booleans"} else str
    if not value_kinds:
        return None
    return np.dtype(np.int64 if kinds == {"integers"} else np.float64)
