"""SharedValues: the values that enough people have, so that none of them is recognized by one."""

import ast
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
_LITERAL = re.compile(  # what repr makes of texts, numbers and truth values
    r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|(?:missing|nan|True|False)(?!\w)"
    r"|-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?!\w|\.\d)"
)
_END = r"(?=$|[,;:)\]}]|\.(?:\s|$)| and | \()"  # of a value without quotes
_OTHERS = re.compile(r"\(\d+ withheld\)")


class SharedValues:
    """The values of each column that enough people share.

    `values`: maps the name of a column, as text, to its values; columns that are left out are not
    judged.
    """

    def __init__(self, values: dict[str, list]) -> None:
        self.values = values
        self._shared = {
            name: set(map(_key, column_values)) for name, column_values in values.items()
        }

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
        shared = self._shared.get(str(column))
        return shared is None or plain(value) is None or _key(plain(value)) in shared

    def shown(self, column: Hashable, value: object) -> object:
        """Return a value as it may be shown: others are rounded to one digit, or withheld."""
        if self.has(column, value):
            return value
        value = plain(value)  # a NumPy number of single precision is no float
        if not isinstance(value, Real) or isinstance(value, bool):
            return WITHHELD
        rounded = float(f"{float(value):.0e}")
        return rounded if isinstance(value, float) else int(rounded)

    def describe(self, text: str) -> bool:
        """Return whether a text names only values that are shared, in "column = 'value'".

        Conditions are read back into the values that they name, as `Predicate` prints them, so the
        same value is found whether a column holds it as 1, 1.0 or True. What cannot be read counts
        as a value that few have.
        """
        for match in self._conditions.finditer(text):
            name, sign = match[1], match[2]
            if sign.endswith("{"):
                values = _listed_values(text, match.end())
                if values is None or not all(self._names(name, v) for v in values):
                    return False
            elif not self._is_named_at(name, text, match.end()):
                return False
        return True

    def counted(self, text: str) -> str:
        """Return a text; what stands before its colon if values follow that few share.

        How many groups there are tells nobody who is in them.
        """
        return text if self.describe(text) else text.partition(":")[0]

    def reason(self, text: str, min_cell: int) -> str:
        """Return the reason of an answer, or a general one if it names values that few share."""
        return text if self.describe(text) else f"groups of fewer than {min_cell} people are open"

    def _is_named_at(self, name, text, start):
        """Return whether a text has a shared value of a column at a position."""
        literal = _LITERAL.match(text, start)
        if literal is not None and self._names(name, _value(literal)):
            return True
        return self._bare_texts[name].match(text, start) is not None

    def _names(self, name, value):
        """Return whether a value that a text names is shared; so is how many are withheld."""
        return (isinstance(value, str) and bool(_OTHERS.fullmatch(value))) or self.has(name, value)

    @cached_property
    def _bare_texts(self):
        """What matches the shared values of each column where a text has no quotes around them.

        The end of such a value shows only by what follows: "Black Caribbean" is not "Black".
        """
        return {
            name: _any_of([str(v) for v in column_values])
            for name, column_values in self.values.items()
        }

    @cached_property
    def _conditions(self):
        """What begins a condition on one of the columns."""
        names = "|".join(re.escape(name) for name in sorted(self.values, key=len, reverse=True))
        return re.compile(rf"(?<!\w)({names or '(?!)'})( ?:?= ?| in \{{)")


def _any_of(texts):
    """Return a pattern of whole texts, the longest first."""
    texts = sorted(texts, key=len, reverse=True)
    return re.compile(rf"(?:{'|'.join(map(re.escape, texts)) or '(?!)'}){_END}")


def _listed_values(text, start):
    """Return the values of a list in braces, from its first one on; None if it cannot be read."""
    values = []
    while (literal := _LITERAL.match(text, start)) is not None:
        values.append(_value(literal))
        start = literal.end()
        if text.startswith("}", start):
            return values
        if not text.startswith(", ", start):
            return None
        start += 2
    return None


def _value(literal):
    """Return the value that a match of `_LITERAL` stands for; None for a missing one."""
    return None if literal[0] in ("missing", "nan") else ast.literal_eval(literal[0])


def _most_frequent(number, values, min_cell, frequency):
    """Return the values that enough people have, the most frequent ones first."""
    n = count(number.astype(np.intp) + 1, len(values) + 1, frequency)[1:]
    order = np.argsort(-n, kind="stable")
    order = order[n[order] >= min_cell][:_MOST]
    return [plain(v) for v in values[order]]


def _key(value):
    """Return a value such that True is not 1."""
    return (isinstance(value, bool), value)
