"""Weighted means and rates: linearized variances by hand, Welch's test, and levels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from skdisc._stats._effective_tally import EffectiveTally
from skdisc._stats._means import Means, moment_columns

DESIGNS = ["lognormal", "one in 50 weighs 50", "10:1 by outcome", "events undersampled"]


def sums_of(y, w, center=0.0):
    return moment_columns(w, y - center, is_weighted=True).sum(axis=-1)


def sample(design, n, rate, rng, runs):
    y = (rng.random((runs, n)) < rate).astype(float)
    if design == "lognormal":
        return y, np.exp(rng.normal(size=y.shape))
    if design == "one in 50 weighs 50":
        return y, np.where(rng.random(y.shape) < 0.02, 50.0, 1.0)
    if design == "events undersampled":  # one event in ten is drawn, and weighs 10
        y = (rng.random(y.shape) < rate * 0.1 / (rate * 0.1 + 1 - rate)).astype(float)
    return y, np.where(y == 1, 10.0, 1.0)


def tally_of(y, w, n1):
    sums, total = sums_of(y[:, :n1], w[:, :n1]), sums_of(y, w)
    return EffectiveTally.of_sums(sums, total)


@given(seed=st.integers(0, 999), unit=st.sampled_from([1e-3, 1.0, 1e4]))
def test_the_variance_is_the_linearized_one(seed, unit):
    rng = np.random.default_rng(seed)
    y, w = rng.normal(3, 2, 60), rng.gamma(1, 1, 60) + 0.1
    inside = np.arange(60) < 25
    means = Means(sums_of(y[inside], unit * w[inside], 3)[:, None], sums_of(y, unit * w, 3), 3.0)
    errors = []
    for at in (inside, ~inside):
        share = w[at] / w[at].sum()
        kish = 1 / (share**2).sum()
        mean = share @ y[at]
        errors.append((share**2 * (y[at] - mean) ** 2).sum() * kish / (kish - 1))
    error = np.sqrt(sum(errors))
    gap = np.average(y[inside], weights=w[inside]) - np.average(y[~inside], weights=w[~inside])
    assert means.gap[0] == pytest.approx(gap)
    assert means.error[0] == pytest.approx(error)


def test_equal_weights_are_welchs_test():
    rng = np.random.default_rng(0)
    y, w = rng.normal(size=40), np.full(80, 7.0)
    y = np.concatenate([y[:15], -y[:15], y[15:], -y[15:]]) + 0.2 * (np.arange(80) < 30)  # no skew
    means = Means(sums_of(y[:30], w[:30])[:, None], sums_of(y, w))
    expected = stats.ttest_ind(y[:30], y[30:], equal_var=False)
    assert means.p_value()[0] == pytest.approx(expected.pvalue)
    low, high = expected.confidence_interval(0.95)
    assert means.contrast(0.05).loc[0, ["ci_low", "ci_high"]].tolist() == pytest.approx([low, high])


def test_weights_of_one_have_the_sizes_of_the_sample():
    rng = np.random.default_rng(0)
    y, w = (rng.random((1, 300)) < 0.3).astype(float), np.ones((1, 300))
    tally = tally_of(y, w, 100)
    assert tally.size[0] == pytest.approx(100, rel=0.15)  # the smaller of two estimates
    assert tally.size[0] <= 100.0001
    assert tally.gap[0] == pytest.approx(y[0, :100].mean() - y[0, 100:].mean())
    other = tally_of(y, 1e4 * w, 100)
    np.testing.assert_allclose(other.p_value(), tally.p_value())
    np.testing.assert_allclose(other.size, tally.size)


def test_empty_and_constant_groups():
    y, w = np.zeros((1, 40)), np.r_[np.ones(20), np.full(20, 3.0)][None]
    assert tally_of(y, w, 10).p_value()[0] == 1
    assert tally_of(y, w, 10).size[0] == pytest.approx(4)  # 10 over the 2.5 that count as one
    assert np.isnan(tally_of(y, w, 40).p_value()[0])
    y[0, 20:] = 1
    tally = tally_of(y, w, 20)  # no event inside, nothing else outside
    assert tally.p_value()[0] < 1e-4
    assert np.isfinite(tally.contrast(0.05)[["ci_low", "ci_high"]].to_numpy()).all()


@pytest.mark.statistics
@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize(("rate", "n1", "n0"), [(0.3, 300, 1500), (0.05, 1000, 4000)])
def test_weighted_rates_keep_their_level_and_cover(design, rate, n1, n0):
    runs = 1000
    y, w = sample(design, n1 + n0, rate, np.random.default_rng(0), runs)
    tally = tally_of(y, w, n1)
    error = np.sqrt(0.05 * 0.95 / runs)
    assert 0.015 <= np.mean(tally.p_value() <= 0.05) <= 0.05 + 2 * error
    table = tally.contrast(0.05)
    assert np.mean((table["ci_low"] <= 0) & (table["ci_high"] >= 0)) >= 0.93
