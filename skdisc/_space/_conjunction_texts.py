"""Texts of conjunctions: of many of the same conditions, and the conditions of a text."""

import re
from collections.abc import Sequence

import numpy as np

from skdisc._space._codes import PAD
from skdisc._space._subgroup import Predicate


class ConjunctionTexts:
    """The texts of conjunctions of some conditions, as those of a `Subgroup`, made once for each.

    Examples
    --------
    >>> texts = ConjunctionTexts([Predicate.equals("sex", "F"), Predicate.equals("age", 30)])
    >>> texts.of(np.array([[0, 1], [PAD, 0], [PAD, PAD]])).tolist()
    ["age = 30 and sex = 'F'", "sex = 'F'", 'everyone']
    """

    def __init__(self, predicates: Sequence[Predicate]) -> None:
        keys = [(str(p.column), type(p.column).__name__) for p in predicates]
        order = sorted(range(len(keys)), key=keys.__getitem__)
        self._place = np.empty(len(order), dtype=np.int64)  # of each condition in a `Subgroup`
        self._place[order] = np.arange(len(order))
        first = np.array([str(predicates[i]) for i in order], dtype=object)
        self._texts = first, " and " + first  # at the start of a text, and later

    def of(self, conjunctions: np.ndarray) -> np.ndarray:
        """Return the text of each conjunction, an object array, without a loop over them.

        Shapes: `conjunctions` (n, max_len), numbers of conditions, padded by PAD anywhere.
        """
        n, texts = len(self._place), np.full(len(conjunctions), "", dtype=object)
        places = np.sort(np.append(self._place, n)[conjunctions], axis=1)  # PAD finds the last
        for i, column in enumerate(places.T):
            has_item = np.flatnonzero(column < n)
            texts[has_item] += self._texts[min(i, 1)][column[has_item]]
        return np.where((conjunctions == PAD).all(axis=1), "everyone", texts)


def conditions_in(text: str) -> list[str]:
    """Return the texts of the conditions of a `Subgroup`, from its text.

    Examples
    --------
    >>> conditions_in("dept = 'Bed and breakfast' and sex = 'F'")
    ["dept = 'Bed and breakfast'", "sex = 'F'"]
    >>> conditions_in("spouse's age > 30 and pay and bonus in {1, 2}")
    ["spouse's age > 30", 'pay and bonus in {1, 2}']
    """
    starts, ends = [0], []
    for match in _QUOTED_VALUE_OR_AND.finditer(text):
        condition = text[starts[-1] : match.start()]
        if match["and"] and _COMPARES.search(_LOW_END.sub("", condition)):
            ends.append(match.start())
            starts.append(match.end())
    return [text[start:end] for start, end in zip(starts, [*ends, len(text)], strict=True)]


# "and" within a quoted value, or before a column is compared with anything, is no end.
_QUOTED_VALUE_OR_AND = re.compile(
    r"""(?:= |\{|, )(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(?P<and> and )"""
)
_LOW_END = re.compile(r"^[-+.e\d]+ <=? (?![-+.e\d]+$)")  # of an interval, before the column
_COMPARES = re.compile(r" (?:=|in|[<>]=?) | is (?:not )?missing$")
