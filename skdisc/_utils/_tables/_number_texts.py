"""Numbers and dates that are written as text: which columns hold them, and how they are read.

What a column holds is learned from the counts of its texts, and what is learned of parts of a table
adds up, so that a table that is read part by part is understood as one that is read whole.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

_CURRENCIES = r"[$€£¥₹₽₩₺]|\b(?:USD|EUR|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CZK|Kr|kr|zł)\b\.?"
_SPACES = r" \u00a0\u2009\u202f'’"  # between groups of three digits, besides the other mark
_MINUS = r"\-−–"  # in a class of characters


def _pattern(decimal):
    """Return the pattern of a number with this decimal mark."""
    thousands = rf"\{'.' if decimal == ',' else ','}{_SPACES}"
    grouped = rf"[1-9]\d{{0,2}}(?:(?P<mark>[{thousands}])\d{{3}}(?:(?P=mark)\d{{3}})*)"
    fraction = rf"(?:\{decimal}\d*)?"
    body = rf"(?:{grouped}{fraction}|\d+{fraction}|\{decimal}\d+)(?:[eE][+-]?\d{{1,3}})?"
    currency = f"(?P<before>{_CURRENCIES})?"
    after = f"(?P<after>%|{_CURRENCIES})?"
    return re.compile(
        rf"(?P<open>\()?(?P<sign>[+{_MINUS}])?{currency}\s*(?P<minus>[{_MINUS}])?"
        rf"(?P<body>{body})\s*{after}(?(open)\))"
    )


_NUMBER = {mark: _pattern(mark) for mark in ".,"}
_CODE = re.compile(r"0\d+")  # a number has no leading zero
_DATES = {  # the order of day, month and year, and the pattern
    "ymd": re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?:[ T][\d:.+Z-]+)?"),
    "dmy": re.compile(r"(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})"),
    "slash": re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})"),
}
_FEW_DATES = 50  # different dates that may be categories, such as months
_KEPT = 3  # texts that are not numbers and are remembered
_TRIED = 10_000  # texts after which a column without any number is not looked at any further
SHARE = 0.05  # of the cells that may hold the one text that is not a number
HINT = 0.8  # of the cells that are numbers, from which a hint is useful


@dataclass
class NumberTexts:
    """What the texts of a column are, as far as numbers and dates go; parts add up.

    Attributes
    ----------
    n : int
        Cells that are not missing.
    n_numbers : int
        How many of these cells are numbers under one of the two decimal marks.
    only : Counter
        By decimal mark, cells that are numbers under that mark alone.
    differ : int
        Cells that are numbers under both marks, and not the same.
    others : Counter
        A few of the texts that are not numbers, and how many cells have them.
    units : Counter
        Percent signs and currencies, "" for none.
    n_codes : int
        Cells of digits with a leading zero.
    dates : Counter
        By form, cells that are dates.
    """

    n: int = 0
    n_numbers: int = 0
    only: Counter = field(default_factory=Counter)
    differ: int = 0
    others: Counter = field(default_factory=Counter)
    n_others: int = 0
    units: Counter = field(default_factory=Counter)
    n_codes: int = 0
    is_whole: bool = True
    dates: Counter = field(default_factory=Counter)
    distinct_dates: set = field(default_factory=set)
    n_missing: int = 0

    def add(self, column: pd.Series) -> None:
        """Learn the texts of a column, or of a part of it."""
        present = column.dropna()
        self.n_missing += len(column) - len(present)
        if self.n > _TRIED and not self.n_numbers and not self.dates:
            self.n += len(present)
            self.n_others += len(present)
            return
        counts = Counter(str(text).strip() for text in present.tolist())
        self.n += len(present)
        n_to_learn = len(present)
        for i, (text, count) in enumerate(counts.items()):
            if i == _TRIED and not self.n_numbers and not self.dates:
                self.n_others += n_to_learn
                return
            self._learn(text, count)
            n_to_learn -= count

    def _learn(self, text, count):
        """Learn one text that `count` cells have."""
        values = {mark: _value(text, mark) for mark in ".,"}
        under = [mark for mark, value in values.items() if value is not None]
        if _CODE.fullmatch(text):
            self.n_codes += count
        if not under:
            form = next((f for f, pattern in _DATES.items() if pattern.fullmatch(text)), None)
            if form is not None:
                self.dates[form] += count
                if len(self.distinct_dates) <= _FEW_DATES:
                    self.distinct_dates.add(text)
            self.n_others += count
            if text in self.others or len(self.others) < _KEPT:
                self.others[text] += count
            return
        self.n_numbers += count
        self.units[values[under[0]][1]] += count
        if len(under) == 1:
            self.only[under[0]] += count
        elif values["."] != values[","]:
            self.differ += count
        self.is_whole &= all(values[mark][0].is_integer() for mark in under)

    @property
    def missing_text(self) -> str | None:
        """The one text that is not a number, if it is rare and has no digit (as "90+" has)."""
        if len(self.others) != 1 or self.n_others != next(iter(self.others.values())):
            return None
        text = next(iter(self.others))
        rare = self.n_others <= SHARE * (self.n + self.n_missing)
        return text if rare and not any(c.isdigit() for c in text) else None

    @property
    def are_numbers(self) -> bool:
        """Whether all texts are numbers of one kind, but perhaps for one text."""
        units = set(self.units)
        one_unit = len(units) == 1 or (len(units - {""}) == 1 and "%" not in units)
        all_numbers = self.n_numbers > 0 and (not self.n_others or self.missing_text is not None)
        return all_numbers and one_unit and len(self.only) < 2 and not self.n_codes

    @property
    def mark(self) -> str | None:
        """The decimal mark that the texts allow; None if they allow both."""
        return next(iter(self.only), None)

    @property
    def date_form(self) -> str | None:
        """The form of a column of many different dates."""
        is_date = len(self.dates) == 1 and sum(self.dates.values()) == self.n
        return next(iter(self.dates)) if is_date and len(self.distinct_dates) > _FEW_DATES else None

    @property
    def share(self) -> float:
        """Share of the cells that are numbers."""
        return self.n_numbers / self.n if self.n else 0.0


@dataclass(frozen=True)
class NumberFormat:
    """How the texts of a column are read as numbers.

    Attributes
    ----------
    mark : {".", ","}
        The decimal mark.
    missing : str or None
        The text that means "missing".
    whole : bool
        Whether all are whole numbers, none missing.
    """

    mark: str
    missing: str | None = None
    whole: bool = False

    def read(self, column: pd.Series) -> pd.Series:
        """Return the numbers of a column of texts."""
        codes, texts = pd.factorize(column)
        values = [_value(str(text).strip(), self.mark) for text in texts]
        numbers = np.array([*(np.nan if v is None else v[0] for v in values), np.nan])[codes]
        dtype = np.int64 if self.whole else np.float64
        return pd.Series(numbers.astype(dtype), index=column.index, name=column.name)


def file_mark(learned: dict, option: str | None, separator: str | None) -> tuple[str, bool]:
    """Return the decimal mark of a file, and whether its numbers tell it.

    `option`: what the user says. `separator`: between cells; a semicolon is used where the comma is
    the decimal mark.
    """
    if option is not None:
        return option, True
    marks = {texts.mark for texts in learned.values() if texts.are_numbers} - {None}
    if len(marks) == 1:
        return marks.pop(), True
    return ("," if separator == ";" else "."), False


def date_values(column: pd.Series, form: str) -> pd.Series:
    """Return texts of one form as dates.

    Raises ValueError if a text is no date, or slashes do not tell the day from the month.
    """
    texts = column.astype("string").str.strip()
    if form == "slash":
        parts = texts.str.extract(r"(\d{1,2})/(\d{1,2})/(\d{4})").astype("Float64")
        first, second = parts[0].max(), parts[1].max()
        if first > 12 and second > 12:
            raise ValueError(f"{column.name!r} has dates that cannot be: {first}/{second}")
        if first <= 12 and second <= 12:
            raise ValueError(f"{column.name!r}: its dates do not tell the day from the month")
        form = "%d/%m/%Y" if first > 12 else "%m/%d/%Y"
    formats = {"ymd": "ISO8601", "dmy": "%d.%m.%Y"}
    made = pd.to_datetime(texts, format=formats.get(form, form), errors="coerce", utc=form == "ymd")
    made = made.dt.tz_localize(None) if made.dt.tz is not None else made
    wrong = made.isna() & texts.notna()
    if wrong.any():
        raise ValueError(f"{column.name!r} has {int(wrong.sum())} texts that are no dates")
    return made.rename(column.name)


def _value(text, mark):
    """Return the number that a text is under a decimal mark, and its unit; None if it is none."""
    match = _NUMBER[mark].fullmatch(text)
    if match is None or (match["open"] and (match["sign"] or match["minus"])):
        return None
    if match["sign"] and match["minus"]:
        return None
    if match["before"] and match["after"]:
        return None
    digits = match["body"]
    if match["mark"]:
        digits = digits.replace(match["mark"], "")
    value = float(digits.replace(mark, "."))
    is_negative = match["open"] or match["minus"] or (match["sign"] or "+") != "+"
    unit = (match["before"] or match["after"] or "").rstrip(".").casefold()
    return (-value if is_negative else value), unit
