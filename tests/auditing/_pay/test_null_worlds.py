"""Worlds of pay without a gap, and with one of exactly 5 %: how often a state is named wrongly."""

import numpy as np
import pytest

from skdisc.auditing._pay._gaps import ABOVE, OPEN, PaidPeople, mean_gaps, states

_RATES, _SPREADS = np.array([15, 20, 28, 45]), np.array([0.12, 0.15, 0.2, 0.3])


def world(n, seed, gap):
    """Return pay by grade, tenure (along a curve) and chance, with a few salaries far above.

    Women of the second grade lack the gap.
    """
    draw = np.random.default_rng(seed)
    is_woman, grade = draw.random(n) < 0.5, draw.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])
    tenure = 25 * draw.beta(1.5, 2.5, n)
    pay = _RATES[grade] * (1 + 0.25 * (1 - np.exp(-tenure / 6)))
    pay *= np.exp(draw.normal(0, 1, n) * _SPREADS[grade])
    top = draw.random(n) < 0.01
    pay[top] *= draw.uniform(2, 4, top.sum())
    pay = np.where(is_woman & (grade == 1), (1 - gap) * pay, pay)
    return pay, PaidPeople(is_woman, ~is_woman, np.ones(n)), grade


@pytest.mark.statistics
@pytest.mark.parametrize("n", [300, 1000, 5000])
def test_states_are_wrong_as_seldom_as_the_level_says(n):
    above = differ = named = 0
    for seed in range(100):
        pay, people, grade = world(n, seed, 0.0)
        gaps = mean_gaps(pay, people, 0.05 / 4, grade, 4)
        above += (states(gaps, 0.05) == ABOVE).any()
        differ += ((gaps.low > 0) | (gaps.high < 0)).any()
        pay, people, grade = world(n, seed + 1000, 0.05)
        gaps = mean_gaps(pay, people, 0.05 / 4, grade, 4)
        named += states(gaps, 0.05)[1] != OPEN
    most = 100 * (0.05 + 2 * np.sqrt(0.05 * 0.95 / 100))
    assert above <= most
    assert differ <= most
    assert named <= most


@pytest.mark.statistics
def test_a_planted_gap_is_found_with_its_size():
    found = 0
    for seed in range(40):
        pay, people, grade = world(8000, seed, 0.15)
        gaps = mean_gaps(pay, people, 0.05 / 4, grade, 4)
        found += states(gaps, 0.05)[1] == ABOVE
        assert abs(gaps.gap[1] - 0.15) < 0.06
    assert found >= 36
