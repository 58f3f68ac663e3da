"""Columns and labels named by the text of an option."""

from typing import Any

import numpy as np
import pandas as pd

from skdisc._utils._favorable import are_codes
from skdisc._utils._inputs import counts_of_values, rows_in_words
from skdisc._utils._validation import check_protected, closest, is_number, listed, plain

_LABELS = ("--target", "--predictions", "--decision", "--label")
_BOOLEANS = {True: ("true", "1", "1.0"), False: ("false", "0", "0.0")}
_MANY_VALUES = 20  # of a column of numbers that is no class
_FEW = 10  # rows; values of fewer people are not listed
_UNNAMED = "Unnamed: "  # what pandas calls columns without a name


def option_of(name):
    """Return the option of the command line that a name stands for."""
    return f"--{name.replace('_', '-')}"


def texts_in(text):
    """Return the texts between the commas of another one."""
    return [part.strip() for part in text.split(",") if part.strip()]


def distinct_values(columns):
    """Return the values of several columns, each once."""
    return [plain(v) for v in dict.fromkeys(v for c in columns for v in c.dropna().unique())]


def columns_named(option, text, names):
    """Return the list of columns named by a text.

    `option`: the option that the text was passed to, for messages. `text`: one name, or several
    separated by commas. `names`: names of all columns. Raises ValueError if a column does not
    exist; the message suggests the closest name.
    """
    if not text:
        return []
    columns = [text] if text in names else texts_in(text)
    try:
        return check_protected(columns, names)
    except ValueError as error:
        message = str(error).replace("protected=", "").replace("column of X", "column of the file")
        n = sum(str(name).startswith(_UNNAMED) for name in names)
        title = (
            f" {n} of {len(names)} columns {'has' if n == 1 else 'have'} no name: the first row "
            "may be a title. Delete the rows above the names of columns."
        )
        raise ValueError(f"{option}: {message}{title * (n > 0)}") from None


def column_named(option, text, names):
    """Return the one column named by a text."""
    if not text:
        raise ValueError(f"{option} is missing; it names one of the columns {names!r}.")
    columns = columns_named(option, text, names)
    if len(columns) != 1:
        raise ValueError(f"{option} must name one column, got {text!r}. Columns: {names!r}.")
    return columns[0]


def labels_named(option, text, *columns, of_rows=True):
    """Return the labels named by a text, in the type of the columns.

    Parameters
    ----------
    option : str
        The option that the text was passed to, for messages.
    text : str
        One label, or several separated by commas; numbers are read as numbers.
    of_rows : bool, default=True
        Whether the columns have a value for each row, and not each value once.

    Raises
    ------
    ValueError
        If a label does not occur; the message lists the labels that ten rows share.
    """
    values = distinct_values(columns)
    whole = any(names_label(v, text) for v in values)
    texts = [text] if whole else [t.strip() for t in text.split(",")]
    missing = [t for t in texts if not any(names_label(v, t) for v in values)]
    if missing:
        shared, shown = _shared_values(columns, of_rows)
        raise ValueError(
            f"{option} {missing[0]!r} does not occur in {columns[0].name!r}"
            f"{closest(missing[0], shared)} {shown}."
        )
    # in the order of the text, whatever that of the rows is
    return list(dict.fromkeys(v for t in texts for v in values if names_label(v, t)))


def check_favorable(option, favorable, column):
    """Raise ValueError if a column of decisions has no favorable one, or none follows from it.

    `favorable` is None if none is named; values 0 and 1, -1 and 1, and booleans need none.
    """
    values = [plain(v) for v in column.dropna().unique()]
    if favorable is None and not are_codes(values):
        shown = _shared_values([column])[1]
        raise ValueError(f"--favorable is missing; it names a value of {column.name!r}. {shown}.")
    if favorable is not None and not any(v in favorable for v in values):
        shown = _shared_values([column])[1]
        named = ", ".join(map(str, favorable))
        raise ValueError(
            f"{option} {column.name!r} has no favorable value ({named}). {shown}. "
            "Write decisions and labels with the same values."
        )


def _shared_values(columns, of_rows=True):
    """Return the values that enough rows share to be named, and a sentence on all of them."""
    counts = counts_of_values(pd.concat([c.dropna() for c in columns]))
    least = _FEW if of_rows else 0
    shared, n = [plain(v) for v, times in counts.items() if times >= least], len(counts)
    if n > _MANY_VALUES and all(is_number(plain(v)) for v in counts.index):
        return [], f"It holds {n:,} different numbers: compare it with a limit first"
    shown = f"Its values: {listed(list(map(str, shared)))}" if shared else "Its values are rare"
    if shared and n > len(shared):
        shown += f", and {n - len(shared):,} of fewer than {_FEW} rows"
    return shared, shown


def check_complete(option, column):
    """Raise ValueError if a column named by an option has missing values."""
    n = int(column.isna().sum())
    if n:
        rows = rows_in_words(n)
        more = ", or add --drop-unlabeled" if option in _LABELS else ""
        raise ValueError(f"{option} {column.name!r} is missing in {rows}. Drop these rows{more}.")


def names_label(value: Any, text: str) -> bool:
    """Return True if a label is what a text says: as text, as a number, or as true or false."""
    if str(value) == text:
        return True
    if isinstance(value, (bool, np.bool_)):  # a file says TRUE where Python says True
        return text.strip().casefold() in _BOOLEANS[bool(value)]
    try:
        return not isinstance(value, str) and float(value) == float(text)
    except (TypeError, ValueError):
        return False
