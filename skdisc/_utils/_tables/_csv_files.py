"""CSV files: encoding, separator, names, and their rows, whole or piece by piece."""

import csv
import warnings
from collections import Counter
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path

import pandas as pd

from skdisc._utils._tables._encoding import NotText, encoding_of, opened
from skdisc._utils._tables._note_texts import NOTE_TEXTS
from skdisc._utils._tables._options import MISSING, TableNote, TableOptions

PARTS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet")  # what is read part by part
_READ = {"skipinitialspace": True, "index_col": False, "keep_default_na": False}
if pd.__version__.startswith("2."):  # from version 3 on, every number is read exactly
    _READ["float_precision"] = "round_trip"


class CsvFile:
    """A CSV file: with any separator, encoding and decimal mark, perhaps compressed by gzip.

    `most_bytes`: the largest size after decompression. `notes`: about encoding and separator.
    Raises ValueError if it is not a table, has two columns of the same name, or its encoding cannot
    be told.
    """

    def __init__(self, path, options=None, most_bytes=None):
        self.path, self.options = Path(path), TableOptions() if options is None else options
        self.notes, self._most_bytes = [], most_bytes
        with self.told():
            self.encoding = self._encoding()
            self.columns, self.separator = self._header()
        twice = sorted(name for name, n in Counter(self.columns).items() if n > 1)
        if twice:
            raise ValueError(
                f"{self.path.name!r} has several columns named {twice!r}. Rename all but one of "
                "each."
            )
        self.options.check_columns(self.columns)

    def _encoding(self):
        """Return the encoding: as set in the options, or as detected from the bytes."""
        option = self.options.encoding
        if option is not None:
            with opened(self.path) as file:  # the mark of UTF-8 is no part of a name
                is_marked = file.read(3) == b"\xef\xbb\xbf"
            is_utf8 = option.lower().replace("-", "").replace("_", "") == "utf8"
            return "utf-8-sig" if is_marked and is_utf8 else option
        encoding = encoding_of(self.path, self._most_bytes)
        if encoding != "utf-8-sig":
            done = NOTE_TEXTS["read as encoding West" if encoding == "cp1252" else "read as"]
            parts = NOTE_TEXTS["not UTF-8"], done.format(value=encoding)
            self.notes.append(TableNote(None, *parts, NOTE_TEXTS["other encoding"]))
        return encoding

    @property
    def _text(self):
        """How the file is opened as text, with the ends of lines as they are."""
        return {"encoding": self.encoding, "newline": ""}

    def _header(self):
        """Return the column names and the separator that splits the header into most parts."""
        marks = [self.options.separator] if self.options.separator else (",", ";", "\t", "|")
        rows = []
        for mark in marks:
            # A name of 131,072 characters: it is not this separator.
            with opened(self.path, "rt", **self._text) as file, suppress(csv.Error):
                rows.append((next(csv.reader(file, delimiter=mark), []), mark))
        names, separator = max(rows, key=lambda row: len(row[0]), default=([], ","))
        return [name.strip() for name in names], separator

    @cached_property
    def _how(self):
        """Arguments of `pandas.read_csv` that are the same for all readings."""
        missing = [*MISSING, *self.options.missing]
        more = {"sep": self.separator, "na_values": missing}
        return _READ | more | {"decimal": self.options.decimal or "."}

    def read(self, columns=None, *, as_text=()):
        """Return the rows as a DataFrame.

        `columns`: the columns to read; None: all. `as_text`: columns that are not read as numbers.
        """
        dtype = dict.fromkeys([*as_text, *self.options.text], str)
        if columns is not None:
            dtype = {name: kind for name, kind in dtype.items() if name in columns}
        with self.told(), opened(self.path, "rt", **self._text) as file:
            # Whole columns: pieces of one column would be of several types, 1 beside "1".
            return pd.read_csv(file, usecols=columns, dtype=dtype, low_memory=False, **self._how)

    def pieces(self, n_rows, *, columns=None, dtype=None):
        """Yield the rows as DataFrames of at most `n_rows` rows.

        `columns`: the columns to read; None: all. `dtype`: the dtypes of some columns; others are
        inferred for each piece on its own. Raises ValueError if the file is not a table.
        """
        dtype = dict.fromkeys(self.options.text, str) | (dtype or {})
        if columns is not None:
            dtype = {name: kind for name, kind in dtype.items() if name in columns}
        how = self._how | {"usecols": columns, "dtype": dtype}
        with self.told():
            file = opened(self.path, "rt", **self._text)
        with file:
            with self.told():
                pieces = pd.read_csv(file, chunksize=n_rows, low_memory=False, **how)
            while True:
                with self.told():
                    piece = next(pieces, None)
                if piece is None:
                    return
                yield piece

    @contextmanager
    def told(self):
        """Turn what goes wrong in reading into a ValueError that names the file."""
        name = self.path.name
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", pd.errors.ParserWarning)  # rows too long
                yield
        except pd.errors.ParserWarning as error:
            raise ValueError(
                f"{name!r} has rows with more values than the header has names, perhaps "
                "a separator at their ends. Remove it, or name every column."
            ) from error
        except NotText as error:
            raise ValueError(
                f"{name!r} is not in UTF-8, and its encoding cannot be told: {error}. Pass "
                "--encoding (encoding=), such as cp1252, cp1250, mac_roman, cp850 or shift_jis, or "
                "save it as UTF-8 (in a spreadsheet, 'CSV UTF-8')."
            ) from error
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{name!r} is not in {error.encoding}: byte {error.object[error.start]:#x} means "
                "nothing there. Pass another --encoding (encoding=)."
            ) from error
        except pd.errors.EmptyDataError as error:
            raise ValueError(
                f"{name!r} is empty. Its first line must name the columns, and each other line "
                "is a row."
            ) from error
        except (pd.errors.ParserError, EOFError, OSError, UnicodeError) as error:
            raise ValueError(f"{name!r} could not be read as a CSV file: {error}") from error
        except ValueError as error:
            if str(error).startswith("it has"):
                raise ValueError(f"{name!r} cannot be read: {error}.") from error
            raise
