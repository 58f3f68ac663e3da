"""How a file is read: what a user asks for, and notes on what was decided."""

import codecs
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import pandas as pd

from skdisc._utils._validation import closest, is_number, of_numbers

MISSING = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null")  # not "None"
_SEPARATORS = {"tab": "\t", "\\t": "\t"}


@dataclass(frozen=True)
class TableOptions:
    """How the file of a table is read. What is None is detected.

    Parameters
    ----------
    encoding : str or None
        Encoding of a CSV or SPSS file, such as "cp1252".
    separator : str or None
        One character between the cells of a CSV file.
    decimal : {".", ","} or None
        The decimal mark of numbers that are text.
    missing : tuple of str
        Texts (or numbers, as text) that mean "missing" in all columns.
    missing_in : dict from column to tuple of str
        The same for single columns.
    text : tuple of str
        Columns that stay text, whatever they look like.
    sheet : str or None
        The sheet of a spreadsheet.

    Raises
    ------
    ValueError
        If an encoding is unknown, or a mark is not one character.
    """

    encoding: str | None = None
    separator: str | None = None
    decimal: str | None = None
    missing: tuple = ()
    missing_in: Mapping = field(default_factory=dict)
    text: tuple = ()
    sheet: str | None = None

    def __post_init__(self):
        separator = _SEPARATORS.get(self.separator, self.separator)
        object.__setattr__(self, "separator", separator)
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except (LookupError, ValueError):
                raise ValueError(
                    f"--encoding {self.encoding!r} is unknown. Common ones: utf-8, cp1252 (Western "
                    "Europe), cp1250 (Central Europe), cp1251 (Cyrillic), utf-16, shift_jis, gbk."
                ) from None
        if separator is not None and (len(separator) != 1 or separator in '"\r\n'):
            raise ValueError(f"--sep must be one character, or tab; got {self.separator!r}.")
        if self.decimal not in (None, ".", ","):
            raise ValueError(f"--decimal must be '.' or ',', got {self.decimal!r}.")

    def to_dict(self) -> dict:
        """Return what is set, in JSON types."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        set_values = {name: value for name, value in values.items() if value}
        if "missing_in" in set_values:
            set_values["missing_in"] = {c: list(texts) for c, texts in self.missing_in.items()}
        return {name: list(v) if isinstance(v, tuple) else v for name, v in set_values.items()}

    @classmethod
    def from_dict(cls, data: dict) -> "TableOptions":
        """Return the options of a dict made by `to_dict`."""
        several = {n: tuple(data[n]) for n in ("missing", "text") if n in data}
        by_column = {c: tuple(texts) for c, texts in data.get("missing_in", {}).items()}
        return cls(**{**data, **several, "missing_in": by_column})

    def check_columns(self, names: list) -> None:
        """Raise ValueError if an option names a column that the table does not have."""
        present = list(map(str, names))
        for option, columns in (("--missing", self.missing_in), ("--text", self.text)):
            for name in columns:
                if name not in present:
                    raise ValueError(
                        f"{option} names {name!r}, which is no column{closest(name, present)} "
                        f"Columns: {', '.join(map(repr, present[:20]))}."
                    )

    def without_missing(self, column: pd.Series, *, everywhere: bool) -> pd.Series:
        """Return a column in which the texts that mean "missing" are missing.

        `everywhere`: whether those of all columns count, too; a CSV reader has taken them out.
        """
        texts = {*self.missing_in.get(str(column.name), ()), *(self.missing if everywhere else ())}
        if not texts or column.dtype.kind in "mM":
            return column
        numbers = {n for n in map(_number, texts) if n is not None}
        if of_numbers(column.dtype):
            return column.mask(column.isin(numbers)) if numbers else column
        values = pd.unique(column.dropna())
        missing_texts = [
            v
            for v in values
            if str(v).strip() in texts or (is_number(v) and not isinstance(v, str) and v in numbers)
        ]
        return column.mask(column.isin(missing_texts)) if missing_texts else column


@dataclass(frozen=True)
class TableNote:
    """One thing that was decided in reading a table, or noticed in it.

    Attributes
    ----------
    column : str or None
        None for the whole file.
    seen : str
        What was found there.
    done : str
        How it was read, or what it does to the answers; empty for a hint.
    option : str
        The option of the command line that changes it.
    above : bool
        Whether it may change an answer, and stands above the answers.
    """

    column: str | None
    seen: str
    done: str
    option: str
    above: bool = False

    def __str__(self):
        what = "" if self.column is None else f"{self.column!r}: "
        done = f" {self.done}" if self.done else ""
        return f"{what}{self.seen};{done} ({self.option})" if done else f"{what}{self.seen}"

    def to_dict(self) -> dict[str, Any]:
        """Return the note in JSON types."""
        return dict(vars(self))


def _number(text):
    try:
        return float(text)
    except ValueError:
        return None
