"""A file as the rows of people: how it is read, and what is made of its columns and rows."""

import re
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from skdisc._utils._tables._note_texts import NOTE_TEXTS
from skdisc._utils._tables._number_texts import _DATES, date_values
from skdisc._utils._tables._options import TableNote, TableOptions
from skdisc._utils._tables._read_table import ReadTable, read_table
from skdisc._utils._validation import closest

_MOST_PEOPLE = 2_000_000  # rows that a table of counts is repeated to in memory
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class Reading:
    """How a file becomes a table with a row for each person.

    `derive`: columns of ages, as in "age=date_of_birth@2026-01-01". `counts`: the column with the
    number of people of each row.
    """

    options: TableOptions = field(default_factory=TableOptions)
    derive: tuple = ()
    counts: str | None = None

    def read(self, path) -> ReadTable:
        """Return the table of a file, and notes.

        Raises ValueError if the file cannot be read, or an option does not fit it.
        """
        frame, notes = read_table(path, self.options)
        for text in self.derive:
            frame, note = with_age(frame, text)
            notes = [n for n in notes if n.column != note.column] + [note]
        if self.counts is not None:
            frame, note = repeated(frame, self.counts)
            notes = [*notes, note]
        return ReadTable(frame, notes)

    def to_dict(self) -> dict:
        """Return what is set, in JSON types."""
        more = {"derive": list(self.derive), "counts": self.counts}
        return self.options.to_dict() | {name: value for name, value in more.items() if value}

    @classmethod
    def from_dict(cls, data: dict) -> "Reading":
        """Return the reading of a dict made by `to_dict`."""
        more = {"derive": tuple(data.get("derive", ())), "counts": data.get("counts")}
        options = {n: v for n, v in data.items() if n not in more}
        return cls(TableOptions.from_dict(options), **more)


def with_age(frame: pd.DataFrame, text: str) -> tuple[pd.DataFrame, TableNote]:
    """Return a table with an age in place of a date of birth.

    `text`: "age=date_of_birth@2026-01-01", or with another column of dates behind the @. Raises
    ValueError if the text is not of this form, a column does not exist or holds no dates, or
    someone was born after the day at which their age is asked for.
    """
    name, equals, rest = text.partition("=")
    born, separator, day = rest.rpartition("@")
    name, born, day = name.strip(), born.strip(), day.strip()
    if not (name and equals and born and separator and day):
        raise ValueError(f"--derive {text!r} is not of the form age=date_of_birth@2026-01-01.")
    if name in frame:
        raise ValueError(f"--derive {name!r} is a column already. Take another name.")
    birth = _dates_of(frame, born)
    if _ISO.fullmatch(day):
        try:
            date = pd.Series(pd.Timestamp(day), index=frame.index)
        except ValueError as error:
            raise ValueError(f"--derive: {day!r} is not a day: {error}") from None
    else:
        date = _dates_of(frame, day)
    has_age = birth.notna() & date.notna()
    before = (date.dt.month < birth.dt.month) | (
        (date.dt.month == birth.dt.month) & (date.dt.day < birth.dt.day)
    )
    age = (date.dt.year - birth.dt.year - before.astype(int)).where(has_age)
    if (age < 0).any():
        raise ValueError(
            f"--derive: {int((age < 0).sum()):,} people were born after {day} by {born!r}. Check "
            "the dates, or take a later day."
        )
    place = list(frame.columns).index(born)
    frame = frame.drop(columns=born)
    frame.insert(place, name, age.astype(np.int64) if has_age.all() else age)
    done = NOTE_TEXTS["age"].format(value=repr(name), mark=day)
    return frame, TableNote(born, NOTE_TEXTS["dates of birth"], done, NOTE_TEXTS["another day"])


def _dates_of(frame, name):
    """Return a column as dates."""
    if name not in frame:
        raise ValueError(
            f"--derive: there is no column {name!r}{closest(name, frame.columns)} Columns: "
            f"{list(frame.columns)!r}."
        )
    column = frame[name]
    if column.dtype.kind == "M":
        return column.dt.tz_localize(None) if column.dt.tz is not None else column
    if column.map(lambda v: hasattr(v, "year"), na_action="ignore").dropna().all():
        return pd.to_datetime(column)
    texts = column.dropna().astype(str).str.strip()
    forms = [f for f, p in _DATES.items() if texts.map(lambda t, p=p: bool(p.fullmatch(t))).all()]
    if len(texts) and forms:
        try:
            return date_values(column, forms[0])
        except ValueError as error:
            raise ValueError(f"--derive: {error}. Write dates as 2026-01-31.") from None
    raise ValueError(f"--derive: {name!r} holds no dates such as 2026-01-31 or 31.01.2026.")


def numbers_of_people(frame: pd.DataFrame, name: str) -> np.ndarray:
    """Return the numbers of people of a table of counts, an array of int64.

    Raises ValueError if the column does not exist, or holds anything but whole numbers >= 0.
    """
    if name not in frame:
        raise ValueError(
            f"--counts: there is no column {name!r}{closest(name, frame.columns)} Columns: "
            f"{list(frame.columns)!r}."
        )
    n = pd.to_numeric(frame[name], errors="coerce")
    if n.isna().any() or (n < 0).any() or (n % 1 != 0).any() or n.sum() > 2**53:
        raise ValueError(
            f"--counts {name!r} must hold whole numbers of people, 0 or more, in every row."
        )
    if not n.any():
        raise ValueError(f"--counts {name!r} counts nobody.")
    return n.to_numpy(np.int64)


def repeated(frame: pd.DataFrame, name: str) -> tuple[pd.DataFrame, TableNote]:
    """Return a table of counts with a row for each person.

    Raises ValueError if the column holds anything but whole numbers, or there are too many people.
    """
    n = numbers_of_people(frame, name)
    if n.sum() > _MOST_PEOPLE:
        raise ValueError(
            f"--counts: {n.sum():,} people are more than {_MOST_PEOPLE:,}, which are repeated in "
            "memory. Add --by-parts."
        )
    rows = frame.drop(columns=name).iloc[np.repeat(np.arange(len(n)), n)].reset_index(drop=True)
    done = NOTE_TEXTS["people in rows"].format(people=f"{n.sum():,}", n=f"{len(frame):,}")
    return rows, TableNote(name, NOTE_TEXTS["counts"], done, NOTE_TEXTS["without counts"])
