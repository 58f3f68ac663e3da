"""The options that say how a file is read, for all commands that read one."""

import argparse
from pathlib import Path

from skdisc._counts._sources import Source, source_of
from skdisc._utils._safe_text import clean
from skdisc._utils._tables import ReadTable, TableOptions
from skdisc._utils._tables._reading import Reading
from skdisc.cli._arguments import option_of, texts_in

FILE = ("encoding", "sep", "decimal", "sheet")  # what depends on the file, not on the question


def add_reading(command: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    group = command.add_argument_group("how the file is read (the default: as it tells itself)")
    add = group.add_argument
    add("--encoding", metavar="NAME", help="of a text file, such as cp1252")
    add("--sep", metavar="CHAR", help="between the cells of a CSV file; tab is one")
    add("--decimal", choices=(".", ","), help="decimal mark of numbers")
    add("--sheet", metavar="NAME", help="sheet of a spreadsheet")
    add(
        "--missing",
        action="append",
        default=[],
        metavar="TEXTS",
        help="texts that mean 'missing' (n.a.,-), or those of one column (Alter=999); repeatable",
    )
    add("--text", default="", metavar="COLS", help="columns that stay text, as codes do")
    add(
        "--derive",
        action="append",
        default=[],
        metavar="AGE=COL@DAY",
        help="age from a date of birth: 'age=date_of_birth@2026-01-01'; repeatable",
    )
    add("--counts", metavar="COL", help="column with the number of people of each row")
    add("--drop-unlabeled", action="store_true", help="leave out rows without a label or decision")


def reading_of(arguments: argparse.Namespace) -> Reading:
    """Return how the options say that a file is read."""
    everywhere, by_column = [], {}
    for text in arguments.missing:
        column, equals, texts = text.partition("=")
        several = [t.strip() for t in (texts if equals else text).split(",")]
        if equals:
            by_column.setdefault(column.strip(), []).extend(several)
        else:
            everywhere += several
    options = TableOptions(
        encoding=arguments.encoding,
        separator=arguments.sep,
        decimal=arguments.decimal,
        missing=tuple(everywhere),
        missing_in={column: tuple(texts) for column, texts in by_column.items()},
        text=tuple(texts_in(arguments.text)),
        sheet=arguments.sheet,
    )
    derive, counts = getattr(arguments, "derive", []), getattr(arguments, "counts", None)
    return Reading(options, tuple(derive), counts)


def refuse_nothing(data: str) -> None:
    """Raise ValueError for a name of a file that is empty."""
    if not data.strip():
        raise ValueError("DATA is empty; it names a file, a folder, a pattern or an address.")


def source_in(data: str, reading: Reading) -> Source:
    """Return a table that is counted part by part.

    Raises ValueError if an option needs the whole table.
    """
    refuse_nothing(data)
    if reading.derive:
        raise ValueError("--derive needs all rows, but the table is counted part by part.")
    if reading.counts is not None:
        from skdisc._counts._sources._repeated_rows import RepeatedRows

        if not Path(data).is_file():
            raise ValueError("--counts takes a single file.")
        return RepeatedRows(*Reading(reading.options).read(data), reading.counts)
    source = source_of(data, reading.options)
    if reading.options.to_dict() and not hasattr(source, "notes"):
        raise ValueError(
            f"{option_of(next(iter(reading.options.to_dict())))} is about CSV files, "
            "and the table is none. Change it where it lies."
        )
    return source


def read_in(data: str, reading: Reading) -> ReadTable:
    """Return the table of a file, and notes."""
    refuse_nothing(data)
    return reading.read(data)


def lines_of(notes: list) -> list[str]:
    """Return notes in lines, with a heading; none without notes."""
    if not notes:
        return []
    return ["How the file was read:", *(f"  - {clean(str(note))}" for note in notes), ""]
