"""Texts from data made safe to show: control characters replaced, and widths counted."""

import re
import unicodedata

# Controls, directions that reorder what follows, halves of surrogate pairs, tags and noncharacters.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufff9-\ufffb"
    "\ufffe\uffff\U000e0000-\U000e007f]"
)
_SPACE = re.compile(r"\s+")
UNKNOWN = "\ufffd"


def clean(value):
    """Return a value of JSON types in which each text is one line without control characters.

    Terminals, pages and editors would act upon control characters instead of showing them; they
    are replaced by U+FFFD. Runs of white space become one space.
    """
    if isinstance(value, str):
        return _UNSAFE.sub(UNKNOWN, _SPACE.sub(" ", value).strip())
    if isinstance(value, dict):
        return {clean(str(key)): clean(v) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean(v) for v in value]
    return value


def clean_lines(text):
    """Return a text of several lines without control characters; tabs become four spaces."""
    lines = text.expandtabs(4).replace("\r\n", "\n").split("\n")
    return "\n".join(_UNSAFE.sub(UNKNOWN, line.replace("\r", UNKNOWN)).rstrip() for line in lines)


def columns(text):
    """Return how many columns of a terminal a text takes: wide characters two, marks none."""
    return len(text) if text.isascii() else sum(map(_columns_of, text))


def _columns_of(character):
    """Return the columns that one character takes."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def wrap(text, width):
    """Return the lines of a text, each of at most `width` columns; only longer words are broken."""
    lines, line = [], ""
    for word in text.split(" "):
        while True:
            longer = f"{line} {word}" if line else word
            if columns(longer) <= width:
                line = longer
                break
            if line:
                lines.append(line)
                line = ""
                continue
            head = _head(word, width)
            lines.append(head)
            word = word[len(head) :]
    return [*lines, line] if line else lines


def _head(word, width):
    """Return the longest beginning of a word that fits into `width` columns, or one character."""
    n_columns = 0
    for i, character in enumerate(word):
        n_columns += _columns_of(character)
        if n_columns > width:
            return word[: max(i, 1)]
    return word
