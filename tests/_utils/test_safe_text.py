"""Texts are shown, not acted upon; their columns are those of a terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdisc._utils._safe_text import clean, clean_lines, columns, wrap


def test_control_characters_are_replaced_everywhere():
    document = {"a\x1b[2J": ["\u202ebad\ud800", 1, None, ("\x9b", True)]}
    assert clean(document) == {"a\ufffd[2J": ["\ufffdbad\ufffd", 1, None, ["\ufffd", True]]}


@given(st.text(st.characters()))
def test_clean_text_is_one_line_that_can_be_written(text):
    shown = clean(text)
    assert clean(shown) == shown
    assert len(shown.splitlines()) <= 1
    shown.encode("utf-8")


def test_lines_of_code_stay_lines():
    assert clean_lines("if a:\r\n\tb = '\x1b'  \n") == "if a:\n    b = '\ufffd'\n"


@pytest.mark.parametrize(
    ("text", "expected"), [("abc", 3), ("日本", 4), ("e\u0301", 1), ("\u200d", 0), ("é–", 2)]
)
def test_columns(text, expected):
    assert columns(text) == expected


def test_wrapping_breaks_only_words_that_are_too_long():
    assert wrap("one two three", 7) == ["one two", "three"]
    assert wrap("a abcdefghij b", 4) == ["a", "abcd", "efgh", "ij b"]
    assert wrap("日本語", 4) == ["日本", "語"]
    assert wrap("", 4) == []
