"""Equivalence: the error at the margin, and the power to exclude what is not there."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from skdisc import _stats
from skdisc._verdicts._candidates import smallest_ratio, smallest_ratio_of_gap

GAP, RATIO = 0.05, 0.8


def inside(x1, n1, x0, n0):
    """Whether two tests of level .05 exclude the relevant gap, and whether the relevant ratio."""
    low, high = _stats.newcombe(x1, n1, x0, n0, _stats.level_of_two_tests(0.05))
    ratio = smallest_ratio(x1, n1, x0, n0, 0.05)
    return (low > -GAP) & (high < GAP), ratio > RATIO


def chance(p1, n1, p0, n0):
    """Exact chance that gap and ratio are inside, over all tables of any weight."""
    x1, x0 = (np.arange(*stats.binom.interval(1 - 1e-9, n, p)) for n, p in ((n1, p1), (n0, p0)))
    gap_inside, ratio_inside = inside(x1[:, None], n1, x0, n0)
    mass = stats.binom.pmf(x1, n1, p1)[:, None] * stats.binom.pmf(x0, n0, p0)
    return mass[gap_inside & ratio_inside].sum()


@pytest.mark.parametrize("p0", [0.02, 0.1, 0.2, 0.3, 0.5, 0.8, 0.97])
@pytest.mark.parametrize("n1", [200, 2000])
def test_the_error_at_the_margin_is_at_most_the_level(p0, n1):
    rare = min(p0, 1 - p0)
    by_ratio = [rare * RATIO - rare, rare / RATIO - rare]
    margins = [m if p0 == rare else -m for m in by_ratio] + [-GAP, GAP]
    for margin in margins:
        if 0 < p0 + margin < 1:
            assert chance(p0 + margin, n1, p0, 3 * n1) <= 0.062


@pytest.mark.parametrize("p0", [0.05, 0.2, 0.3, 0.5, 0.8])
def test_the_people_needed_exclude_what_is_not_there(p0):
    n1 = int(_stats.people_needed(min(p0, 1 - p0), GAP, RATIO))
    assert 0.75 < chance(p0, n1, p0, 100 * n1) < 0.97  # either end is missed once in ten
    assert chance(p0, n1 // 2, p0, 50 * n1) < 0.75


def test_twice_the_margin_is_never_called_equal():
    assert chance(0.4, 2000, 0.3, 6000) < 1e-6
    assert chance(0.02 * RATIO**2, 20_000, 0.02, 20_000) < 1e-4
    gap_inside, ratio_inside = inside(5, 1000, 20, 1000)  # .5 % against 2 %
    assert gap_inside
    assert not ratio_inside


def test_ratios_are_those_of_the_rarer_outcome():
    x1, n1, x0, n0 = 700, 800, 900, 1000
    ratio = smallest_ratio(x1, n1, x0, n0, 0.05)
    assert ratio == smallest_ratio(n1 - x1, n1, n0 - x0, n0, 0.05)
    assert ratio < (1 - x0 / n0) / (1 - x1 / n1) < RATIO < x1 / n1 / (x0 / n0)


def test_nothing_is_known_about_nobody():
    gap_inside, ratio_inside = inside(np.array([0, 0]), np.array([0, 50]), 0, np.array([10, 40]))
    assert not gap_inside[0]
    assert not ratio_inside.any()


def test_people_needed_takes_the_harder_of_gap_and_ratio():
    assert _stats.people_needed(0.02, GAP) == pytest.approx(8427, abs=2)
    assert _stats.people_needed(0.02, GAP, 0) == pytest.approx(67, abs=1)
    assert np.isinf(_stats.people_needed(0.0, GAP))
    assert _stats.people_needed(0.5, GAP, 0) == _stats.people_needed(0.5, GAP)


def test_a_compared_size_has_the_variance_of_the_difference():
    n1, n0 = np.array([1, 7, 400.0]), np.array([30, 7, 10**9])
    assert 1 / _stats.compared_size(n1, n0) == pytest.approx(1 / n1 + 1 / n0)
    assert (_stats.compared_size([0, 5], [0, 0]) == 0).all()


def chance_by_differences(p1, n1, p0, n0):
    """Exact chance that an interval of the difference excludes the relevant ratio."""
    x1, x0 = (np.arange(*stats.binom.interval(1 - 1e-9, n, p)) for n, p in ((n1, p1), (n0, p0)))
    rates = (x1 / n1)[:, None], x0 / n0
    ends = _stats.newcombe(x1[:, None], n1, x0, n0, _stats.level_of_two_tests(0.05))
    excluded = smallest_ratio_of_gap(rates[0] - rates[1], *ends, rates[0]) > RATIO
    mass = stats.binom.pmf(x1, n1, p1)[:, None] * stats.binom.pmf(x0, n0, p0)
    return mass[excluded].sum()


@pytest.mark.parametrize("p0", [0.02, 0.1, 0.3, 0.5])
@pytest.mark.parametrize("sizes", [(200, 600), (2000, 6000), (6000, 2000)])
@pytest.mark.parametrize("swapped", [False, True])
def test_differences_exclude_ratios_at_most_at_the_level(p0, sizes, swapped):
    lower = RATIO * p0
    rates = (p0, lower) if swapped else (lower, p0)
    assert chance_by_differences(rates[0], sizes[0], rates[1], sizes[1]) <= 0.055
    others = 1 - np.array(rates)  # the rarer outcome is the other one
    assert chance_by_differences(others[0], sizes[0], others[1], sizes[1]) <= 0.055


def test_differences_exclude_ratios_where_there_are_none():
    n1 = int(1.3 * _stats.people_needed(0.3, 1, RATIO))
    assert chance_by_differences(0.3, n1, 0.3, 100 * n1) > 0.75
    assert chance_by_differences(0.3, n1 // 4, 0.3, 25 * n1) < 0.1


@given(
    rate=st.floats(0, 1),
    gap=st.floats(-0.5, 0.5),
    half=st.floats(1e-6, 0.5),
    ratio=st.floats(0.1, 0.95),
)
def test_ratios_of_differences_do_not_depend_on_names(rate, gap, half, ratio):
    other = np.clip(rate - gap, 0, 1)
    gap = rate - other
    excluded = smallest_ratio_of_gap(gap, gap - half, gap + half, rate) > ratio
    if not np.isclose(rate + other, 1):
        of_rest = smallest_ratio_of_gap(-gap, -gap - half, -gap + half, 1 - rate) > ratio
        assert excluded == of_rest
    swapped = smallest_ratio_of_gap(-gap, -gap - half, -gap + half, other) > ratio
    assert excluded == swapped
    if excluded:
        p, q = (rate, other) if rate + other <= 1 else (1 - rate, 1 - other)
        assert ratio < p / q < 1 / ratio


def test_an_unknown_difference_excludes_no_ratio():
    assert not (smallest_ratio_of_gap(np.nan, np.nan, np.nan, 0.3) > 0).any()
    assert not (smallest_ratio_of_gap(0, -1e-9, 1e-9, 0.0) > 0).any()
