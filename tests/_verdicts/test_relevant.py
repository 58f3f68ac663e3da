"""The gap that matters follows from the outcomes, and is never rounded up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdisc._verdicts._relevant import (
    NUMBER,
    PROBABILITY,
    RATE,
    relevant_gap,
    relevant_gap_of,
    rounded_down,
)


@pytest.mark.parametrize(("share", "gap"), [(0.4, 0.097), (0.1, 0.06), (0.02, 0.028), (0.5, 0.1)])
def test_gaps_of_rates(share, gap):
    for kind in (RATE, PROBABILITY):
        assert relevant_gap(None, kind=kind, mean=share).size == gap
        assert relevant_gap(None, kind=kind, mean=1 - share).size == gap
        assert relevant_gap(0.3, kind=kind, mean=share).size == 0.3
        assert f"{share:.2g}" in relevant_gap(None, kind=kind, mean=share).source


@given(st.floats(1e-6, 1 - 1e-6))
def test_the_default_is_at_most_a_fifth_of_a_deviation_and_nearly_so(share):
    exact, gap = 0.2 * np.sqrt(share * (1 - share)), relevant_gap(None, kind=RATE, mean=share)
    assert exact * 0.9 <= gap.size <= exact * (1 + 1e-8)
    assert gap.size == float(f"{gap.size:.2g}")


@given(st.integers(10, 99), st.integers(-6, 6))
def test_two_digits_stay_as_they_are(digits, exponent):
    value = float(f"{digits}e{exponent}")
    assert rounded_down(value) == value
    assert rounded_down(value * 1.009) == value


def test_gaps_of_numbers():
    assert relevant_gap(None, kind=NUMBER, mean=2500).size == 120
    assert relevant_gap("3%", kind=NUMBER, mean=2500).size == 75
    assert relevant_gap(" .5 % ", kind=NUMBER, mean=2500).size == 12
    assert relevant_gap(400, kind=NUMBER, mean=2500).size == 400
    assert relevant_gap(400, kind=NUMBER, mean=-1).size == 400
    for asked in (None, "5%"):
        for mean in (0, -3.0, np.nan):
            gap = relevant_gap(asked, kind=NUMBER, mean=mean)
            assert np.isnan(gap.size)
            assert "set relevant_gap in the unit of the outcome" in gap.problem


def test_what_is_no_gap_of_rates_is_refused():
    for kind, name in ((RATE, "rates"), (PROBABILITY, "probabilities")):
        with pytest.raises(ValueError, match=f"'5%' is a share of a mean.*here are {name}"):
            relevant_gap("5%", kind=kind, mean=0.4)
        with pytest.raises(ValueError, match=r"relevant_gap=1\.5 is no gap of rates"):
            relevant_gap(1.5, kind=kind, mean=0.4)


@pytest.mark.parametrize("asked", [None, 0.1])
def test_equal_outcomes_answer_nothing(asked):
    for value, kind in ((0, RATE), (1, RATE), (0.3, PROBABILITY), (7.0, NUMBER)):
        gap = relevant_gap_of(asked, [value] * 9, kind=kind)
        assert gap.problem == "all outcomes are equal"
    assert relevant_gap_of(asked, [], kind=RATE).problem == "there are no outcomes"
    assert relevant_gap_of(asked, [np.nan], kind=RATE).problem == "there are no outcomes"


def test_the_share_is_that_of_the_people_whom_the_measure_is_about():
    y = np.array([1, 1, 0, 0, 0, np.nan, 1])
    weight = np.array([2, 1, 2, 2, 3, 50, 0])
    assert relevant_gap_of(None, y, kind=RATE).size == 0.1
    assert (
        relevant_gap_of(None, y, kind=RATE, weight=weight).size
        == relevant_gap(None, kind=RATE, mean=0.3).size
    )
    assert relevant_gap_of(None, [10.0, 30.0], kind=NUMBER, mean=10.0).size == 0.5
    assert relevant_gap_of(None, [10.0, 30.0], kind=NUMBER).size == 1.0
    only = relevant_gap_of(None, y, kind=RATE, weight=[1, 1, 0, 0, 0, 1, 1])
    assert only.problem == "all outcomes are equal"
