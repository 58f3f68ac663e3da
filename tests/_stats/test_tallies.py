"""Rates of groups and clusters, number by number."""

import numpy as np
import pytest
from scipy import stats

from skdisc._stats import ratio_interval
from skdisc._stats._designs import design_chi2
from skdisc._stats._rates import RATES, GroupTally, check_metrics, posterior


def test_the_posterior_is_that_of_a_flat_prior():
    mean, variance = posterior(np.array([3, 0]), np.array([10, 4]))
    for i, (x, n) in enumerate([(3, 10), (0, 4)]):
        law = stats.beta(x + 1, n - x + 1)
        assert [mean[i], variance[i]] == pytest.approx([law.mean(), law.var()])


def test_all_metrics_are_those_that_can_be_computed():
    assert check_metrics("all", True, True) == list(RATES)
    assert check_metrics("all", False, True) == check_metrics("all", True, False)
    assert check_metrics("selection_rate", False, True) == ["selection_rate"]
    assert check_metrics(list(RATES)[:2], True, True) == list(RATES)[:2]


def test_enough_is_five_of_the_rarer_outcome_in_the_smaller_side():
    x, n = np.array([10, 5, 5, 400]), np.array([50, 49, 450, 450])
    tally = GroupTally(x, n, np.array([50, 50, 50, 440]), np.full(4, 500))
    assert tally.enough.tolist() == [True, False, True, True]


def test_the_statistic_of_independent_rows():
    y, group = np.array([1.0, 1, 0, 1, 0, 0]), np.array([0, 0, 0, 1, 1, 1])
    # deviations of 1/2 that add up to 1/2 in a group, each counted 6 / 5 times
    assert design_chi2(y, np.ones(6), group, 2)[0] == pytest.approx(0.25 / (6 / 16 * 6 / 5))
    twice = design_chi2(np.repeat(y, 2), np.ones(12), np.repeat(group, 2), 2, np.arange(12) // 2)
    assert twice[0] == pytest.approx(0.25 / (6 / 16 * 6 / 5))


def test_ratio_of_a_group_in_which_all_have_the_outcome():
    low, high = ratio_interval(10, 10, 5, 10)
    assert 1 < low < 2 < high
    inverse = ratio_interval(5, 10, 10, 10)
    assert inverse == pytest.approx((1 / high, 1 / low))
    assert ratio_interval(0, 10, 5, 10)[0] == 0


def test_the_posterior_t_compares_a_group_with_all_rows():
    """With a flat prior, by the law of Beta; NaN for a group without trials."""
    tally = GroupTally(np.array([3, 0]), np.array([10, 0]), 12, 60)
    own, everyone = stats.beta(4, 8), stats.beta(13, 49)
    t = abs(own.mean() - everyone.mean()) / np.sqrt(own.var() + everyone.var())
    assert tally.compare(0.05)["t"].tolist() == pytest.approx([t, np.nan], nan_ok=True)


@pytest.mark.parametrize(
    ("events", "is_enough"), [(24, False), (25, True), (35, True), (36, False)]
)
def test_five_events_and_five_others_are_expected_on_the_smaller_side(events, is_enough):
    """The smaller side has 12 of 60 people: 5 of 12 events are expected from 25 of 60 on."""
    tally = GroupTally(np.array([6, events - 6]), np.array([12, 48]), events, 60)
    assert tally.enough.tolist() == [is_enough] * 2
