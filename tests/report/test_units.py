"""Gaps, bounds and means on the first page: in points, in a unit, or as ratios."""

import math
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdisc.report._first_page._units import (
    Points,
    Ratios,
    Texts,
    Units,
    group_name,
    have_spellings,
    in_a_row,
    labels_named,
    units_of,
)

ENGLISH = import_module("skdisc.report._first_page.languages.en")
TEXTS = Texts(ENGLISH, False)


def share_of(text):
    """Return the share of a text such as "12.6 %", that holds nothing else."""
    share, _, rest = text.replace("\u00a0", " ").replace(",", "").partition(" %")
    assert not rest
    return float(share) / 100


@given(size=st.floats(1e-5, 1.0))
def test_a_bound_in_points_is_never_told_smaller_than_it_is(size):
    """A bound of a hundredth of a point was told as 0.0 points."""
    points = float(Points(TEXTS, {}).bound(size).removesuffix(" points"))
    assert 100 * size - 1e-6 <= points <= 100 * size + 0.1 + 1e-6


@given(size=st.floats(1e-3, 1e6), mean=st.floats(1e-2, 1e6))
def test_a_bound_is_never_told_smaller_than_it_is(size, mean):
    share = share_of(Units(TEXTS, {"mean": mean}).bound(size))
    assert share >= size / mean * (1 - 1e-6) - 1e-9
    assert share <= size / mean + 0.0011


@given(size=st.floats(1e-4, 3))
def test_a_bound_of_logarithms_is_the_larger_share(size):
    share = share_of(Ratios(TEXTS, {}).bound(size))
    assert share >= math.expm1(size) * (1 - 1e-6) - 1e-9 > -math.expm1(-size) * (1 - 1e-6) - 2e-9


def test_a_gap_is_a_share_of_those_compared_with():
    assert share_of(Units(TEXTS, {"mean": 95.0}).gap(8.0, 100.0)) == 0.08
    assert Units(TEXTS, {"mean": -3.0}).gap(8.0, -2.0) == "8.00"  # no share of a debt


def test_ends_of_ratios_are_those_of_either_side():
    ratios = Ratios(TEXTS, {})
    less, more = (share_of(ratios.end(math.log(1.25), is_less, None)) for is_less in (True, False))
    assert (less, more) == (0.2, 0.25)


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        (None, Points),
        ({"output": "value", "scale": "difference"}, Units),
        ({"output": "value", "scale": "log"}, Ratios),
        ({"output": "probability", "scale": "difference"}, Points),
        ({"output": "probability", "scale": "log"}, Ratios),
    ],
)
def test_units_follow_from_the_outcome(outcome, kind):
    about = {} if outcome is None else {"outcome": outcome}
    assert type(units_of({"about": about}, TEXTS)) is kind


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_less_and_more_change_places(language):
    """Of prices, the worse off pay more."""
    module = import_module(f"skdisc.report._first_page.languages.{language}")
    plain, turned = (Texts(module, is_less_better) for is_less_better in (False, True))
    assert plain.ALSO_LESS == turned.ALSO_MORE != plain.ALSO_MORE == turned.ALSO_LESS
    assert plain.STATES is turned.STATES


@pytest.mark.parametrize(
    ("group", "german"),
    [
        ("sex = 'female'", "sex = 'female'"),
        ("grade = 'G2' and sex = 'female'", "grade = 'G2' und sex = 'female'"),
        ("unit = 'R and D' and 6 < tenure <= 12", "unit = 'R and D' und 6 < tenure <= 12"),
        ('name = "O\'Neil and Co" and a = 1', 'name = "O\'Neil and Co" und a = 1'),
        ("sex is missing and grade is not missing", "sex fehlt und grade fehlt nicht"),
    ],
)
def test_names_of_groups_are_in_a_language(group, german):
    """What joins conditions is a word of the language; values stay as they are."""
    texts = Texts(import_module("skdisc.report._first_page.languages.de"), False)
    assert group_name(texts, group) == german
    assert group_name(TEXTS, group) == group
    assert group_name(texts, None) is None


def test_names_in_a_row():
    assert in_a_row(["a"]) == "a"
    assert in_a_row(["a", 1], " und ") == "a und 1"
    assert in_a_row(["a", "b", "c"]) == "a, b and c"


@pytest.mark.parametrize(
    ("kind", "outcome", "least"),
    [
        (Points, {}, 0.4),
        (Units, {"mean": 95.0}, 95.0),
        (Units, {"mean": -3.0}, math.inf),  # nothing tells what would be much
        (Ratios, {}, math.log(2)),
    ],
)
def test_a_bound_may_be_too_wide_to_say_anything(kind, outcome, least):
    units = kind(TEXTS, outcome)
    assert not units.is_too_wide(None)
    assert not units.is_too_wide(min(0.99 * least, 1e9))
    assert math.isinf(least) or units.is_too_wide(least)


def test_an_end_of_a_range_has_its_unit_where_it_is_asked_for():
    assert Points(TEXTS, {}).end(0.014, True, None) == "1.4"
    assert Points(TEXTS, {}).end(0.014, True, None, with_unit=True) == "1.4 points"
    for units in (Units(TEXTS, {"mean": 95.0}), Ratios(TEXTS, {})):
        assert units.end(0.5, True, 50.0, with_unit=True) == units.end(0.5, True, 50.0)


@pytest.mark.parametrize(
    ("labels", "named", "several"),
    [
        (["Yes", "yes", "yes "], "Yes, also in other spellings", True),
        (["yes ", "hired", "YES"], "yes, hired, also in other spellings", True),
        (["yes", "hired"], "yes, hired", False),
        (["yes "], "'yes '", False),  # "yes" may be another value
        ([1], "1", False),
    ],
)
def test_labels_are_named_in_one_spelling(labels, named, several):
    assert labels_named(TEXTS, labels) == named
    assert have_spellings(labels) == several
