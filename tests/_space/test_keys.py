"""Text keys can be read back, whatever the values hold."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdisc._space import _keys

SPECIAL = r"\|-*,{}()[]?="
texts = st.text(st.characters() | st.sampled_from(SPECIAL), max_size=8)
finite = st.floats(allow_nan=False, allow_infinity=False)


@given(texts)
def test_escape_round_trip(text):
    assert _keys.unescape(_keys.escape(text)) == text


@given(texts)
def test_no_character_with_a_meaning_stays_bare(text):
    rest = _keys.escape(text).replace("\\\\", "")  # escaped backslashes, then the others
    for i, character in enumerate(rest):
        if character in r"|-*,{}()[]?":
            assert rest[i - 1] == "\\"


@given(st.lists(texts, min_size=1), st.sampled_from("|-,"))
def test_split_undoes_join(values, separator):
    slots = [_keys.escape(v) for v in values]
    assert _keys.split(_keys.join(slots, separator), separator) == slots


@given(st.lists(texts, min_size=1), st.lists(texts, min_size=1))
def test_a_couple_splits_into_its_two_keys(mine, theirs):
    keys = [_keys.join(map(_keys.escape, row)) for row in (mine, theirs)]
    assert _keys.split(_keys.couple(*keys), "-") == keys


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (3.0, "3"),
        (-2, r"\-2"),
        (0.1, "0.1"),
        (-0.0, "0"),
        (1e-7, r"1e\-07"),
        (1e300, "1e+300"),
        (10**14, "100000000000000"),
        (math.inf, "inf"),
        (-math.inf, r"\-inf"),
    ],
)
def test_numbers_are_written_plainly(value, text):
    assert _keys.number(value) == text
    assert _keys.read_number(text) == value


@given(st.integers(-(2**53), 2**53) | finite)
def test_numbers_round_trip(value):
    again = _keys.read_number(_keys.number(value))
    assert again == value
    if abs(value) < 1e15:
        assert isinstance(again, int) == float(value).is_integer()


@given(finite, finite, st.booleans(), st.booleans())
def test_intervals_round_trip(low, high, low_closed, high_closed):
    text = _keys.interval(low, high, low_closed, high_closed)
    assert _keys.read_interval(text) == (low, high, low_closed, high_closed)
    assert text[0] == ("[" if low_closed else "(")
    assert text[-1] == ("]" if high_closed else ")")
    assert _keys.split(text) == [text]  # it fits into a slot


def test_open_ends_round_trip():
    assert _keys.interval(-math.inf, 5, False, True) == r"(\-inf,5]"
    assert _keys.read_interval(r"(\-inf,inf)") == (-math.inf, math.inf, False, False)


@given(st.lists(texts.map(lambda t: "=" + _keys.escape(t)), max_size=4))
def test_several_values_round_trip(slots):
    text = _keys.one_of(slots)
    assert _keys.read_one_of(text) == slots
    assert (text[0] == "{") == (len(slots) != 1)
