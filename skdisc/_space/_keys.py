r"""Text keys of people, groups and couples: slots joined by ``|``, couples joined by ``-``.

A slot is ``*`` (no condition), ``?`` (missing), a number (the code of a category, or the value of a
numeric column), ``=text`` (a value that is not in the space), ``{a,b}`` (one of several) or
``(low,high]`` (an interval). Within a slot, ``\``, ``|``, ``-``, ``*``, ``,`` and brackets that
belong to a value are escaped by a backslash, so every key can be parsed.
"""

import re

FREE, MISSING = "*", "?"
_SPECIAL = re.compile(r"([\\|\-*,{}()\[\]?])")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def escape(text):
    r"""Escape the characters that have a meaning in a key by a backslash.

    Examples
    --------
    >>> print(escape("a|b-c"), escape("-5"))
    a\|b\-c \-5
    """
    return _SPECIAL.sub(r"\\\1", text)


def unescape(text):
    """Return the text that was escaped by `escape`."""
    return _ESCAPED.sub(r"\1", text)


def join(slots, separator="|"):
    """Join escaped slots to a key."""
    return separator.join(slots)


def split(key, separator="|"):
    r"""Split a key at the separators that are not escaped.

    Examples
    --------
    >>> split(r"1|\-5|*"), split(r"1|\-5-2|\-5", "-")
    (['1', '\\-5', '*'], ['1|\\-5', '2|\\-5'])
    """
    parts, start, i = [], 0, 0
    while i < len(key):
        if key[i] == "\\":
            i += 1
        elif key[i] == separator:
            parts.append(key[start:i])
            start = i + 1
        i += 1
    return [*parts, key[start:]]


def number(value):
    r"""Return a number as a slot: integers without a decimal point, floats without rounding.

    Examples
    --------
    >>> print(number(3.0), number(-2), number(0.1))
    3 \-2 0.1
    """
    value = float(value)
    return escape(str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value))


def read_number(text):
    """Return the number in a slot made by `number`; integers as int."""
    text = unescape(text)
    return int(text) if re.fullmatch(r"-?\d+", text) else float(text)


def interval(low, high, low_closed, high_closed):
    r"""Return an interval as a slot.

    Examples
    --------
    >>> print(interval(-1, 2.5, False, True))
    (\-1,2.5]
    """
    return f"{'(['[low_closed]}{number(low)},{number(high)}{')]'[high_closed]}"


def read_interval(text):
    """Return the interval in a slot made by `interval`."""
    low, high = map(read_number, split(text[1:-1], ","))
    return low, high, text[0] == "[", text[-1] == "]"


def one_of(slots):
    """Return several slots as one; a single slot is returned unchanged."""
    return slots[0] if len(slots) == 1 else "{" + join(slots, ",") + "}"


def read_one_of(text):
    """Return the slots joined by `one_of`."""
    inside = text[1:-1] if text[:1] == "{" else text
    return split(inside, ",") if inside else []


def couple(first, second):
    """Return the key of a couple from the keys of its two rows."""
    return f"{first}-{second}"
