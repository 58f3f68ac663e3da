"""`read_table`: a file in, its table and what was decided in reading it out."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from skdisc._utils._optional import require
from skdisc._utils._tables._csv_files import PARTS, CsvFile
from skdisc._utils._tables._note_texts import NOTE_TEXTS
from skdisc._utils._tables._number_texts import (
    HINT,
    NumberFormat,
    NumberTexts,
    date_values,
    file_mark,
)
from skdisc._utils._tables._options import TableNote, TableOptions
from skdisc._utils._tables._spreadsheets import (
    LABELED,
    LINES,
    SPREADSHEETS,
    read_labeled,
    read_lines,
    read_spreadsheet,
)

WHOLE = (*SPREADSHEETS, *LABELED, *LINES)  # files that are read whole
TABLES = (*PARTS, *WHOLE)
_MOST_BYTES = 4_000_000_000  # of text, after decompression
_MOST_CHARACTERS = 100_000  # of a cell
_FEW = 10  # rows; texts of fewer are not printed


class ReadTable(NamedTuple):
    """A table, and what was decided in reading it."""

    frame: pd.DataFrame
    notes: list


def read_table(path, options=None) -> ReadTable:
    """Read a table from a file, by the end of its name.

    CSV (``.csv``, ``.tsv``, also ``.gz``; comma, semicolon, tab or bar; UTF-8, UTF-16 and what can
    only be cp1252), Parquet, spreadsheets (``.xlsx``, ``.xls``, ``.ods``), Stata (``.dta``), SPSS
    (``.sav``) and JSON Lines (``.jsonl``). Empty cells and NA, N/A, NaN and NULL in their usual
    spellings are missing; the word None is text. Numbers that are written as text (45,123, 76,4 %,
    $5) are read as numbers where all cells of a column are, but for one text in at most 5 % of
    the cells, which counts as missing.

    `options`: TableOptions. Raises ImportError if a package is missing, with the extra that
    installs it. Raises ValueError if the file does not exist, is not a table, is ambiguous (several
    sheets, an encoding that cannot be told), or has two columns of the same name.
    """
    path, options = Path(path), TableOptions() if options is None else options
    if not path.is_file():
        raise ValueError(f"There is no file {str(path)!r}.")
    name, csv_file = path.name.lower(), None
    if name.endswith(".parquet"):
        frame, notes = _parquet(path), []
    elif name.endswith(SPREADSHEETS):
        frame, notes = read_spreadsheet(path, options, _MOST_BYTES)
    elif name.endswith(LABELED):
        frame, notes = read_labeled(path, options)
    elif name.endswith(LINES):
        frame, notes = read_lines(path, options, _MOST_BYTES)
    elif name.endswith(PARTS):
        csv_file = CsvFile(path, options, _MOST_BYTES)
        frame, notes = csv_file.read(), list(csv_file.notes)
    else:
        raise ValueError(
            f"{path.name!r} cannot be read as a table; its name must end in one of "
            f"{', '.join(TABLES)}."
        )
    if not len(frame):
        raise ValueError(f"{path.name!r} has names of columns, but no rows.")
    frame.columns = [c if isinstance(c, str) else str(c) for c in frame.columns]
    options.check_columns(list(frame.columns))
    check_cells(frame, path.name)
    if options.missing_in or (options.missing and csv_file is None):
        for column in frame:
            frame[column] = options.without_missing(frame[column], everywhere=csv_file is None)
    return ReadTable(*_understood(frame, notes, options, csv_file))


def _understood(frame, notes, options, csv_file):
    """Return the frame with numbers and dates in place of their texts, and more notes."""
    learned = {}
    for name in frame.columns:
        if name not in options.text and _holds_text(frame[name]):
            learned[name] = texts = NumberTexts()
            texts.add(frame[name])
    separator = None if csv_file is None else csv_file.separator
    mark, is_sure = file_mark(learned, options.decimal, separator)
    if csv_file is not None and mark == "," and is_sure:
        more, columns_read_anew = grouped_by_points(csv_file, frame, options)
        learned |= more
        frame = frame.assign(**columns_read_anew)
    for name, texts in learned.items():
        number, note = number_format(name, texts, mark, is_sure, options)
        notes += [note] if note is not None else []
        if number is not None:
            frame[name] = number.read(frame[name])
        elif texts.date_form is not None:
            try:
                frame[name] = date_values(frame[name], texts.date_form)
            except ValueError:
                continue  # texts of this form that are no dates
            notes.append(date_note(name))
    return frame, notes


def number_format(
    name, texts: NumberTexts, mark: str, is_sure: bool, options: TableOptions
) -> tuple[NumberFormat | None, TableNote | None]:
    """Return how the texts of a column are read as numbers, and a note or a hint; each may be None.

    `texts`: what was learned of the column. `mark` ({".", ","}): the decimal mark of the file.
    `is_sure`: whether the numbers of the file tell the mark.
    """
    decimal_mark = texts.mark or mark
    if options.decimal is not None and decimal_mark != options.decimal:
        observation = NOTE_TEXTS["other mark"].format(mark=repr(decimal_mark))
        option = f"--decimal {decimal_mark}"
        return None, TableNote(name, observation, NOTE_TEXTS["read as text"], option)
    if not texts.are_numbers:
        if HINT <= texts.share < 1 and not texts.n_codes:
            observation = NOTE_TEXTS["some numbers"].format(n=_percent(texts.share))
            option = NOTE_TEXTS["counts as missing"].format(option=f"--missing '{name}=TEXT'")
            return None, TableNote(name, observation, NOTE_TEXTS["read as text"], option)
        return None, None
    unit = next((u for u in texts.units if u), "")
    kind = {"": "read as numbers", "%": "read as percent"}.get(unit, "read without unit")
    done = NOTE_TEXTS[kind].format(value=unit.upper())
    observation = NOTE_TEXTS["decimal mark" if texts.only or texts.differ else "numbers"]
    observation = observation.format(mark=repr(decimal_mark))
    if texts.mark is None and texts.differ and not is_sure:
        other_mark = "." if decimal_mark == "," else ","
        marks = {"mark": repr(decimal_mark), "value": repr(other_mark)}
        observation = NOTE_TEXTS["two marks"].format(**marks)
        done = NOTE_TEXTS["with mark"].format(start=done, mark=repr(decimal_mark))
    missing = texts.missing_text
    if missing is not None:
        kind = "missing text" if texts.n_others >= _FEW else "one missing text"
        text = NOTE_TEXTS[kind + " once" * (texts.n_others == 1)]
        done = text.format(start=done, value=repr(missing), n=f"{texts.n_others:,}")
    option = NOTE_TEXTS["keeps text"].format(option=f"--text {name!r}")
    if texts.differ and not is_sure:
        option = f"--decimal {'.' if decimal_mark == ',' else ','}"
        option = NOTE_TEXTS["other reading"].format(option=option)
    whole = texts.is_whole and missing is None and not texts.n_missing
    return NumberFormat(decimal_mark, missing, whole), TableNote(name, observation, done, option)


def date_note(name) -> TableNote:
    """Return the note about a column of dates."""
    return TableNote(
        name,
        NOTE_TEXTS["dates"],
        NOTE_TEXTS["dates not compared"],
        NOTE_TEXTS["derived age"].format(
            option=f"--derive 'age={name}@YYYY-MM-DD'", value=f"--text {name!r}"
        ),
    )


def grouped_by_points(csv_file, frame, options) -> tuple[dict, Mapping]:
    """Return columns that were read as fractions, where a point stands between groups of digits.

    In a file with decimal commas, 2.590 is two thousand five hundred and ninety if all numbers of
    the column have groups of three digits.

    Returns `columns`: their texts.
    """
    floats = [c for c in frame.select_dtypes("float") if c not in options.text]
    if not floats or options.decimal is not None:
        return {}, {}
    texts, learned = csv_file.read(floats, as_text=floats), {}
    for name in floats:
        column_texts = NumberTexts()
        column_texts.add(texts[name])
        if column_texts.are_numbers and column_texts.differ and not column_texts.only["."]:
            learned[name] = column_texts
    return learned, {name: texts[name] for name in learned}


def check_cells(frame, name) -> None:
    """Raise ValueError about a cell with a text that is too long to be one value."""
    for column in frame.columns:
        if not _holds_text(frame[column]):
            continue
        longest = max(map(len, map(str, frame[column].dropna().tolist())), default=0)
        if longest > _MOST_CHARACTERS:
            raise ValueError(
                f"{name!r} has a text of {longest:,.0f} characters in the column {column!r}; "
                f"{_MOST_CHARACTERS:,} are allowed. Leave the column out of the file."
            )


def _holds_text(column):
    """Return whether a column holds text, and is not a category."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return False
    if isinstance(column.dtype, pd.StringDtype):
        return True
    if column.dtype != object:
        return False
    return pd.api.types.infer_dtype(column, skipna=True) in ("string", "mixed-integer", "mixed")


def _parquet(path):
    """Return the table of a Parquet file; a named index is a column."""
    require("pyarrow", extra="io", purpose="Reading Parquet")
    try:
        frame = pd.read_parquet(path)
    except (OSError, ValueError, OverflowError) as error:
        raise ValueError(f"{path.name!r} could not be read as Parquet: {error}") from error
    return frame.reset_index() if frame.index.names != [None] else frame


def _percent(share):
    """Return a share below 1 in percent; 99.96 % is not 100 %."""
    return f"{min(share, 0.999):.1%}".removesuffix("%").removesuffix(".0")
