"""Spreadsheets, files of Stata and SPSS, and JSON Lines, read whole."""

import json
import zipfile

import pandas as pd

from skdisc._utils._optional import require
from skdisc._utils._tables._encoding import opened
from skdisc._utils._tables._note_texts import NOTE_TEXTS
from skdisc._utils._tables._options import MISSING, TableNote

SPREADSHEETS = (".xlsx", ".xls", ".ods")
LABELED = (".dta", ".sav")
LINES = (".jsonl", ".jsonl.gz", ".ndjson")
_PIECE = 2**20


def read_spreadsheet(path, options, most_bytes):
    """Return the one sheet of a spreadsheet, or the one that the options name, and notes.

    Raises ValueError if the file is not a spreadsheet, is too large when unpacked, or has several
    sheets.
    """
    require("python_calamine", extra="tables", purpose="Reading spreadsheets")
    _refuse_bombs(path, most_bytes)
    missing = [*MISSING, *options.missing]
    missing_options = {"keep_default_na": False, "na_values": missing}
    try:
        with pd.ExcelFile(path, engine="calamine") as book:
            names = [options.sheet] if options.sheet is not None else book.sheet_names
            if unknown := [name for name in names if name not in book.sheet_names]:
                sheets = ", ".join(map(repr, book.sheet_names))
                raise _SheetError(f"has no sheet {unknown[0]!r}. Its sheets: {sheets}.")
            dtype = dict.fromkeys(options.text, str)
            sheets = {
                n: pd.read_excel(book, sheet_name=n, dtype=dtype, **missing_options) for n in names
            }
    except _SheetError as error:
        raise ValueError(f"{path.name!r} {error}") from None
    except Exception as error:  # a foreign file: whatever is wrong with it
        raise ValueError(f"{path.name!r} could not be read as a spreadsheet: {error}") from error
    full = {name: sheet for name, sheet in sheets.items() if len(sheet) and len(sheet.columns)}
    if len(full) > 1:
        raise ValueError(
            f"{path.name!r} has several sheets: {', '.join(map(repr, full))}. Name one: "
            f"--sheet {next(iter(full))!r}"
        )
    name, frame = next(iter(full.items()), (names[0], sheets[names[0]]))
    notes = []
    if len(names) > 1:
        done = NOTE_TEXTS["sheet"].format(value=repr(name))
        notes.append(TableNote(None, NOTE_TEXTS["other sheets"], done, "--sheet"))
    empty = [c for c in frame.columns if str(c).startswith("Unnamed: ") and frame[c].isna().all()]
    return frame.drop(columns=empty).dropna(how="all").reset_index(drop=True), notes


class _SheetError(ValueError):
    """A spreadsheet does not have the sheet that is wanted."""


def _refuse_bombs(path, most_bytes):
    """Raise ValueError if a file that is a ZIP archive is too large when it is unpacked."""
    if not zipfile.is_zipfile(path):
        return
    too_large = ValueError(
        f"{path.name!r} unpacks to more than {most_bytes / 1e9:g} GB, and is not read. Save the "
        "table as CSV or Parquet."
    )
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > most_bytes:
                raise too_large
            size = 0
            for entry in archive.infolist():
                with archive.open(entry) as file:  # what an archive says of its sizes can be wrong
                    while piece := file.read(_PIECE):
                        size += len(piece)
                        if size > most_bytes:
                            raise too_large
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise ValueError(f"{path.name!r} could not be read as a spreadsheet: {error}") from error


def read_labeled(path, options):
    """Return the table of a Stata or SPSS file, with the labels of values in place of codes.

    A column whose labels leave out some of its values keeps its numbers: these are counts or
    measurements of which a few are named.

    Raises ValueError if the file cannot be read.
    """
    pyreadstat = require("pyreadstat", extra="tables", purpose="Reading files of Stata and SPSS")
    read = pyreadstat.read_dta if path.suffix.lower() == ".dta" else pyreadstat.read_sav
    encoding = {} if options.encoding is None else {"encoding": options.encoding}
    try:
        frame, metadata = read(str(path), **encoding)
    except Exception as error:  # a foreign file: whatever is wrong with it
        raise ValueError(f"{path.name!r} could not be read: {error}") from error
    notes = []
    for name, labels in (metadata.variable_value_labels or {}).items():
        values = frame[name].dropna().unique()
        if not len(values):
            continue
        lacking = [v for v in values if v not in labels]
        if not lacking and len(set(labels.values())) == len(labels) and name not in options.text:
            kinds = [labels[v] for v in sorted(labels) if v in values]
            frame[name] = pd.Categorical(frame[name].map(labels), categories=kinds)
        elif len(lacking) < len(values):
            counts = {"n": len(values) - len(lacking), "total": len(values)}
            parts = NOTE_TEXTS["some labels"].format(**counts), NOTE_TEXTS["read as numbers"]
            notes.append(TableNote(name, *parts, f"--missing '{name}=CODE'"))
    return _whole(frame), notes


def _whole(frame):
    """Return a frame in which floats that are all whole numbers, none missing, are integers."""
    return frame.astype(
        {
            name: "int64"
            for name in frame.select_dtypes("float")
            if frame[name].notna().all()
            and (frame[name] % 1 == 0).all()
            and frame[name].abs().max() < 2**53
        }
    )


def read_lines(path, options, most_bytes):
    """Return the table of a file of JSON objects, one a line.

    Raises ValueError if the file is too large, or a line is not an object.
    """
    encoding, text = options.encoding or "utf-8-sig", bytearray()
    with opened(path) as file:
        while piece := file.read(_PIECE):  # a single read claims memory for its limit at once
            text += piece
            if len(text) > most_bytes:
                raise ValueError(f"{path.name!r} has more than {most_bytes / 1e9:g} GB of text.")
    rows: list = []
    try:
        for line in text.decode(encoding).split("\n"):
            if line.strip():
                rows.append(json.loads(line))
                if not isinstance(rows[-1], dict):
                    raise ValueError("it is no object")
    except (ValueError, RecursionError) as error:
        reason = f"object {len(rows) + 1:,}: {error}"
        raise ValueError(f"{path.name!r} could not be read as JSON Lines: {reason}") from error
    frame = pd.DataFrame(rows)
    nested = [c for c in frame if frame[c].map(lambda v: isinstance(v, (dict, list))).any()]
    if nested:
        raise ValueError(
            f"{path.name!r} has objects or lists in {nested[0]!r}: each value must be a text, a "
            "number, true, false or null."
        )
    return frame, []
