"""SharedValues: the values that enough people have, so that none of them is recognized by one."""

import re
from collections.abc import Hashable, Iterable
from functools import cached_property
from numbers import Real

import numpy as np
import pandas as pd

from skdisc._utils._frequency import count
from skdisc._utils._hashing import NumberedColumns
from skdisc._utils._validation import plain

MIN_CELL = 10
WITHHELD = "(withheld)"
_MOST = 1000  # values kept per column
_LITERAL = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^\s,{}'\"]+"
_OTHERS = re.compile(r"\(\d+ withheld\)")


class SharedValues:
    """The values of each column that enough people share.

    Parameters
    ----------
    values : dict
        Maps the name of a column, as text, to its values; columns that are left out are not judged.
    """

    def __init__(self, values: dict[str, list]) -> None:
        self.values = values
        self._known = {name: set(map(_key, own)) for name, own in values.items()}

    @classmethod
    def of(
        cls,
        X: pd.DataFrame,
        min_cell: int = MIN_CELL,
        columns: Iterable[Hashable] | None = None,
        frequency: np.ndarray | None = None,
        numbered: NumberedColumns | None = None,
    ) -> "SharedValues":
        """Return the values that at least `min_cell` people have, of all or some columns.

        `frequency` is the number of people of each row, shape (n_rows,); None: 1. `numbered` has
        the values as numbers, if they are known.
        """
        values, numbered = {}, numbered or NumberedColumns(X)
        for name in X.columns if columns is None else columns:
            values[str(name)] = _most_frequent(*numbered[name], min_cell, frequency)
        return cls(values)

    def has(self, column: Hashable, value: object) -> bool:
        """Return whether a value is shared; a missing value is."""
        known = self._known.get(str(column))
        return known is None or plain(value) is None or _key(plain(value)) in known

    def shown(self, column: Hashable, value: object) -> object:
        """Return a value as it may be shown: others are rounded to one digit, or withheld."""
        if self.has(column, value):
            return value
        if not isinstance(value, Real) or isinstance(value, bool):
            return WITHHELD
        rounded = float(f"{float(value):.0e}")
        return rounded if isinstance(value, float) else int(rounded)

    def describe(self, text: str) -> bool:
        """Return whether a text names only values that are shared, in "column = 'value'"."""
        for match in self._conditions.finditer(text):
            known, end = self._texts[match[1]], match.end()
            if "in" in match[2]:
                end = text.find("}", match.end())
            else:
                literal = re.compile(_LITERAL).match(text, match.end())
                end = -1 if literal is None else literal.end()
            found = re.findall(_LITERAL, text[match.end() : end]) if end >= 0 else [""]
            if not all(f in known or _OTHERS.fullmatch(f.strip("'")) for f in found):
                return False
        return True

    @cached_property
    def _texts(self):
        """The literals of the shared values of each column."""
        return {
            name: {f(v) for v in own for f in (repr, str)} | {"missing"}
            for name, own in self.values.items()
        }

    @cached_property
    def _conditions(self):
        """What begins a condition on one of the columns."""
        names = "|".join(re.escape(name) for name in sorted(self.values, key=len, reverse=True))
        return re.compile(rf"(?<!\w)({names or '(?!)'})( ?:?= ?| in \{{)")


def _most_frequent(number, values, min_cell, frequency):
    """Return the values that enough people have, the most frequent ones first."""
    n = count(number.astype(np.intp) + 1, len(values) + 1, frequency)[1:]
    order = np.argsort(-n, kind="stable")
    order = order[n[order] >= min_cell][:_MOST]
    return [plain(v) for v in values[order]]


def _key(value):
    """Return a value such that True is not 1."""
    return (isinstance(value, bool), value)
