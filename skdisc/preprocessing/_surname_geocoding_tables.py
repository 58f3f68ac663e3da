"""Tables of people by name or place, and how names and places are compared."""

import re
import unicodedata
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import pandas as pd

from skdisc._utils._validation import is_number

_SUFFIXES = {"JR", "SR", "II", "III", "IV"}
_LETTERS = str.maketrans({"Ø": "O", "Ł": "L", "Đ": "D", "Ð": "D", "Æ": "AE", "Œ": "OE", "Þ": "TH"})


def name_key(name: Any) -> str:
    """Return what is compared of a name: capital letters without accents, blanks and suffixes.

    `name`: anything else is turned into text. Returns a str: "" if there is no letter or digit.
    """
    text = unicodedata.normalize("NFKD", str(name).upper()).translate(_LETTERS)
    words = ["".join(filter(str.isalnum, word)) for word in re.split(r"[\s,.]+", text)]
    words = [word for word in words if word]
    while len(words) > 1 and words[-1] in _SUFFIXES:
        del words[-1]
    return "".join(words)


def place_key(place: Any) -> str:
    """Return what is compared of a place: capital text without outer blanks; 7.0 is 7."""
    if is_number(place) and float(place).is_integer():
        return str(int(place))
    return str(place).strip().upper()


def people_table(
    table: pd.DataFrame, what: str, key: Callable, groups: list[Hashable] | None, prior: float
) -> pd.DataFrame:
    """Return the numbers of people by key and group, including the prior.

    Parameters
    ----------
    table : DataFrame
        Numbers of people; index: names or places, columns: groups.
    what : str
        Name of the parameter, for messages.
    key : callable
        Rows with the same key are added up.
    groups : list or None
        The columns it must have, in any order; None: any.
    prior : float
        This many people with the composition of the table are added to each row, which is the
        mean of a Dirichlet posterior of the row's composition.

    Raises
    ------
    ValueError
        If the table does not hold numbers of people, or the groups differ.
    """
    if not isinstance(table, pd.DataFrame):
        raise ValueError(
            f"{what} is {table if table is None else type(table).__name__}: pass a DataFrame of "
            "numbers of people, one row for each name or place, one column for each group."
        )
    groups = list(table.columns) if groups is None else groups
    if len(groups) < 2 or len(set(groups)) < len(groups):
        raise ValueError(
            f"{what} has {len(groups)} column(s), {groups!r}: one for each of two or more groups "
            "is needed. Names and places belong into the index: set_index."
        )
    if len(table.columns) != len(groups) or set(table.columns) != set(groups):
        raise ValueError(
            f"{what} has the columns {list(table.columns)!r}, but the groups of surnames are "
            f"{groups!r}. All tables must have the same groups."
        )
    if table.index.hasnans:
        raise ValueError(
            f"{what} has a missing name in its index. `pandas.read_csv` reads the names NA and "
            "Null as missing: pass keep_default_na=False."
        )
    counts = _numbers(table[groups], what)
    counts = counts.groupby([key(name) for name in table.index]).sum()
    counts = counts[counts.sum(axis=1) > 0]  # a row of nobody is no row
    share = counts.sum() / counts.to_numpy().sum()
    return counts + prior * share


def _numbers(table, what):
    """Return the table as floats; raise if it does not hold numbers of people."""
    for group in table.columns:
        if not pd.api.types.is_numeric_dtype(table[group].dtype):
            raise ValueError(
                f"{what} has text in column {group!r} ({table[group].dtype}): numbers of people "
                "are needed. Where a table suppresses small numbers, fill them in."
            )
    x = table.to_numpy(dtype=float, na_value=np.nan)
    wrong = np.argwhere(~(np.isfinite(x) & (x >= 0)))
    if len(wrong):
        row, column = wrong[0]
        raise ValueError(
            f"{what} holds {x[row, column]} in row {table.index[row]!r}, column "
            f"{table.columns[column]!r}: numbers of people are finite and not negative."
        )
    empty = [group for group, n in zip(table.columns, x.sum(axis=0), strict=True) if not n > 0]
    if empty:
        raise ValueError(f"{what} has nobody in column {empty[0]!r}. Drop the group everywhere.")
    total, is_whole = x.sum(axis=1), (x == np.round(x)).all()
    for whole in (1, 100):
        if not is_whole and np.allclose(total, whole, atol=0.01 * whole):
            raise ValueError(
                f"Every row of {what} adds up to {whole}, so it holds shares: numbers of people "
                "are needed. Multiply each row by its number of people."
            )
    return pd.DataFrame(x, columns=table.columns)
