"""E-values: expectations by enumeration, validity along streams, delay, e-BH."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import binom, norm

from skdisc.monitoring import DisparityMonitor
from skdisc.monitoring import _e_values as e
from skdisc.monitoring._confidence_sequences import gap_sequence, rate_sequence

BETS = np.array(DisparityMonitor().gaps)
GAPS = np.concatenate([-BETS, BETS])
sizes, rate = st.integers(1, 5), st.floats(0.02, 0.98)


@given(n=st.tuples(sizes, sizes), predicted=rate, true=rate)
def test_blocks_expect_at_most_one_where_rates_are_equal(n, predicted, true):
    total = 0.0
    for x in product(range(n[0] + 1), range(n[1] + 1)):
        probability = binom.pmf(x[0], n[0], true) * binom.pmf(x[1], n[1], true)
        total += probability * np.exp(
            e.log_e_of_block(np.array(n), np.array(x), np.array([predicted]), GAPS)
        )
    assert (total <= 1 + 1e-9).all()


@given(p=st.lists(rate, min_size=2, max_size=2), predicted=rate)
def test_people_of_a_group_may_differ(p, predicted):
    """Two people of one group, one of the other with their mean rate: by enumeration."""
    own, total = np.mean(p), 0.0
    for a, b, c in product((0, 1), repeat=3):
        chance = np.prod([q if v else 1 - q for q, v in zip((*p, own), (a, b, c), strict=True)])
        block = np.array([2, 1]), np.array([a + b, c]), np.array([predicted]), GAPS
        total += chance * np.exp(e.log_e_of_block(*block))
    assert (total <= 1 + 1e-9).all()


def test_blocks_expect_more_than_one_under_the_gap_bet_on():
    n, rates = np.array([3, 3]), np.array([0.5])
    total = 0.0
    for x in product(range(4), repeat=2):
        chance = binom.pmf(x[0], 3, 0.55) * binom.pmf(x[1], 3, 0.45)
        total += chance * e.log_e_of_block(n, np.array(x), rates, np.array([0.1]))[0]
    assert total > 0


def test_a_block_needs_both_groups_and_25_people():
    people = np.array([[40, 0], [23, 1], [24, 1], [12, 13], [1, 500]])
    assert e.is_complete(people).tolist() == [False, False, True, True, True]


def test_parts_of_a_first_block_add_up():
    rng = np.random.default_rng(0)
    for n, x in (([100, 40], [30, 5]), ([9, 2], [9, 0]), ([1, 1], [1, 0]), ([500, 1], [3, 1])):
        parts = list(e.parts_of_first(np.array(n), np.array(x), rng))
        np.testing.assert_array_equal(np.sum(parts, axis=0), [n, x])
        assert all(part[0].all() and (part[1] <= part[0]).all() for part in parts)


def test_pairs_are_means_of_parts_and_their_order_does_not_matter():
    rng = np.random.default_rng(0)
    a, b = rng.random(5), rng.random(17)
    d = e.paired((a, b), np.random.default_rng(1))
    assert len(d) == 5
    again = e.paired((a[::-1], rng.permutation(b)), np.random.default_rng(1))
    np.testing.assert_array_equal(d, again)
    twin = e.paired((a, rng.random(5)), np.random.default_rng(1))
    assert twin.mean() < 1


@given(values=st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=1, max_size=4))
def test_bets_on_differences_are_martingales(values):
    """Given the differences so far, the next factor has mean 1 over plus and minus any d."""
    _, sums = e.log_e_of_pairs(np.array(values), np.zeros(3))
    for d in (0.2, 1.0):
        factors = [np.exp(e.log_e_of_pairs(np.array([s * d]), sums)[0]) for s in (-1, 1)]
        np.testing.assert_allclose(np.mean(factors, axis=0), 1, atol=1e-12)


def test_bets_do_not_depend_on_how_differences_arrive():
    d = np.random.default_rng(0).uniform(-1, 1, 50)
    whole, sums = e.log_e_of_pairs(d, np.zeros(3))
    first, between = e.log_e_of_pairs(d[:20], np.zeros(3))
    second, end = e.log_e_of_pairs(d[20:], between)
    np.testing.assert_allclose(first + second, whole, atol=1e-12)
    np.testing.assert_allclose(end, sums)


def e_bh_by_definition(values, weight, level):
    weighted = np.sort(np.exp(values) * weight)[::-1]
    k = max([k for k, v in enumerate(weighted, 1) if v >= 1 / (level * k)], default=0)
    return set(np.argsort(-np.exp(values) * weight, kind="stable")[:k])


@given(
    values=st.lists(st.floats(-5, 12), min_size=1, max_size=8), level=st.sampled_from([0.05, 0.2])
)
def test_e_bh_is_that_of_its_definition(values, level):
    values = np.array(values)
    weight = np.arange(1, len(values) + 1) / np.arange(1, len(values) + 1).sum()
    adjusted = e.e_bh(values, weight)
    assert (adjusted <= 1).all()
    expected = e_bh_by_definition(values, weight, level)
    if np.abs(adjusted - level).min() > 1e-9:
        assert set(np.flatnonzero(adjusted <= level)) == expected


def streams(rng, n_streams, batches, rates, share):
    """Return log wealths over time, shape (n_batches, n_streams), of blocks of equal arrivals."""
    memory, log_e = np.zeros((2, n_streams)), np.zeros((n_streams, len(GAPS)))
    waiting, course = np.zeros((n_streams, 2, 2)), []
    for size, (rate_a, rate_b) in zip(batches, rates, strict=True):
        n_a = rng.binomial(size, share, n_streams)
        n = np.stack([n_a, size - n_a], axis=1)
        waiting += np.stack([n, rng.binomial(n, [rate_a, rate_b])], axis=2)
        done = e.is_complete(waiting[:, :, 0])
        people, favorable = waiting[done, :, 0], waiting[done, :, 1]
        predicted = e.predicted_rates(*memory[:, done])
        log_e[done] += e.log_e_of_block(people, favorable, predicted, GAPS)
        seen = memory[:, done] + [people.sum(axis=1), favorable.sum(axis=1)]
        memory[:, done] = e.remembered(*seen)
        waiting[done] = 0
        course.append(logsumexp(log_e, axis=1) - np.log(len(GAPS)))
    return np.array(course)


@pytest.mark.statistics
@pytest.mark.parametrize("size", [1, 50, 5000])
@pytest.mark.parametrize("drifts", [False, True])
def test_alarms_where_rates_are_equal_keep_the_level_at_all_times(size, drifts):
    n_batches = {1: 3000, 50: 400, 5000: 20}[size]
    course = 0.3 + 0.2 * np.sin(np.linspace(0, 9, n_batches)) * drifts
    rates = np.stack([course, course], axis=1)
    rng = np.random.default_rng(size + drifts)
    log_wealth = streams(rng, 300, [size] * n_batches, rates, 0.3)
    alarms = (log_wealth.max(axis=0) >= np.log(20)).mean()
    assert alarms <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 300)  # .1: fails with probability .93


@pytest.mark.statistics
@pytest.mark.parametrize(("rate", "gap", "share"), [(0.3, 0.1, 0.2), (0.1, 0.05, 0.5)])
def test_the_delay_is_that_of_a_fixed_test(rate, gap, share):
    rates = rate + gap / 2, rate - gap / 2
    shares = share, 1 - share
    variance = sum(p * (1 - p) / s for p, s in zip(rates, shares, strict=True))
    fixed = (norm.ppf(0.975) + norm.ppf(0.8)) ** 2 * variance / gap**2
    n_batches = int(4 * fixed / 50)
    rng = np.random.default_rng(0)
    log_wealth = streams(rng, 300, [50] * n_batches, [rates] * n_batches, share)
    first = np.argmax(log_wealth >= np.log(20), axis=0)
    first = np.where((log_wealth >= np.log(20)).any(axis=0), (first + 1) * 50, np.inf)
    assert np.median(first) <= 1.3 * fixed


@given(n=st.integers(1, 10**9), share=st.floats(0, 1))
def test_sequences_contain_the_rate_and_mirror(n, share):
    x = np.floor(n * share)
    low, high = rate_sequence(np.array([n]), np.array([x]), 0.05)
    assert 0 <= low[0] <= x / n + 1e-12
    assert x / n - 1e-12 <= high[0] <= 1
    other = rate_sequence(np.array([n]), np.array([n - x]), 0.05)
    np.testing.assert_allclose(other[0], 1 - high, atol=1e-9)


def test_nobody_is_everything():
    assert [float(v) for v in rate_sequence(np.zeros(()), np.zeros(()), 0.05)] == [0, 1]
    ends = gap_sequence(np.array([0, 5]), np.array([0, 2]), 0.05)
    assert ends["ci_low"] < -0.5 < 0.9 < ends["ci_high"] + 0.2
    assert ends["ratio_low"] == 0


@pytest.mark.statistics
@pytest.mark.parametrize("p", [0.01, 0.1, 0.5])
def test_sequences_hold_at_all_times(p):
    rng = np.random.default_rng(0)
    steps = np.unique(np.geomspace(1, 20_000, 60).astype(int))
    x = np.cumsum(rng.binomial(np.diff(steps, prepend=0)[:, None], p, (len(steps), 300)), axis=0)
    low, high = rate_sequence(np.broadcast_to(steps[:, None], x.shape), x, 0.05)
    missed = ((low > p) | (high < p)).any(axis=0).mean()
    assert missed <= 0.05
    width, exact = (high - low)[-1].mean(), 2 * 1.96 * np.sqrt(p * (1 - p) / 20_000)
    assert width < 2.5 * exact
