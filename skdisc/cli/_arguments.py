"""Columns and labels named by the text of an option."""

from skdisc._utils._validation import check_protected, plain


def columns_named(option, text, names):
    """Return the list of columns named by a text.

    Parameters
    ----------
    option : str
        The option that the text was passed to, for messages.
    text : str
        One name, or several separated by commas.
    names : list
        Names of all columns.

    Raises
    ------
    ValueError
        If a column does not exist; the message suggests the closest name.
    """
    if not text:
        return []
    wanted = [text] if text in names else [t.strip() for t in text.split(",") if t.strip()]
    try:
        return check_protected(wanted, names)
    except ValueError as error:
        message = str(error).replace("protected=", "").replace("column of X", "column of the file")
        raise ValueError(f"{option}: {message}") from None


def column_named(option, text, names):
    """Return the one column named by a text."""
    if not text:
        raise ValueError(f"{option} is missing; it names one of the columns {names!r}.")
    found = columns_named(option, text, names)
    if len(found) != 1:
        raise ValueError(f"{option} must name one column, got {text!r}. Columns: {names!r}.")
    return found[0]


def labels_named(option, text, *columns):
    """Return the labels named by a text, in the type of the columns.

    Parameters
    ----------
    option : str
        The option that the text was passed to, for messages.
    text : str
        One label, or several separated by commas; numbers are read as numbers.
    *columns : Series

    Raises
    ------
    ValueError
        If a label does not occur; the message lists the labels that do.
    """
    values = [plain(v) for v in dict.fromkeys(v for c in columns for v in c.dropna().unique())]
    whole = any(_reads(v, text) for v in values)
    wanted = [text] if whole else [t.strip() for t in text.split(",")]
    missing = [t for t in wanted if not any(_reads(v, t) for v in values)]
    if missing:
        shown = ", ".join(map(str, values[:10])) + (", …" if len(values) > 10 else "")
        raise ValueError(
            f"{option} {missing[0]!r} does not occur in {columns[0].name!r}. Its values: {shown}."
        )
    return [v for v in values if any(_reads(v, t) for t in wanted)]


def check_complete(option, column):
    """Raise ValueError if a column named by an option has missing values."""
    n = int(column.isna().sum())
    if n:
        rows = "1 row" if n == 1 else f"{n:,} rows"
        raise ValueError(f"{option} {column.name!r} is missing in {rows}. Drop these rows.")


def _reads(value, text):
    """Return True if a label equals the text, as text or as a number."""
    if str(value) == text:
        return True
    try:
        return not isinstance(value, str) and float(value) == float(text)
    except (TypeError, ValueError):
        return False
