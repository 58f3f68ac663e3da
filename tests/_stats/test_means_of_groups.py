"""Means of groups against the rest: Welch's test, with and without weights."""

import numpy as np
import pytest
from scipy import stats

from skdisc._stats._means import Means, mean_and_error, moment_columns

rng = np.random.default_rng(0)
half = rng.normal(0, 1.3, 30)
VALUES = np.concatenate([2.2 + half[:10], 2.2 - half[:10], 3 + half[10:], 3 - half[10:]])  # no skew
GROUP = np.arange(60) < 20
CENTER = 1.5


def sums(values, weights, is_weighted):
    return moment_columns(weights, values - CENTER, is_weighted).sum(axis=-1)


def means(weights, is_weighted, **more):
    one = sums(VALUES[GROUP], weights[GROUP], is_weighted)[:, None]
    return Means(one, sums(VALUES, weights, is_weighted), CENTER, **more)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_equal_weights_give_the_test_of_scipy(is_weighted):
    found = means(np.ones(60), is_weighted)
    expected = stats.ttest_ind(VALUES[GROUP], VALUES[~GROUP], equal_var=False)
    low, high = expected.confidence_interval(0.9)
    row = found.contrast(0.1).iloc[0]
    assert row["p_value"] == pytest.approx(expected.pvalue)
    assert [row["ci_low"], row["ci_high"]] == pytest.approx([low, high])
    sides = VALUES[GROUP].mean(), VALUES[~GROUP].mean()
    assert [row["outcome"], row["outcome_rest"]] == pytest.approx(sides)
    assert found.z()[0] == pytest.approx(expected.statistic)
    everyone = found.compare(0.1).iloc[0]
    assert everyone["effect"] == pytest.approx(sides[0] - VALUES.mean())
    share = (~GROUP).mean()
    assert [everyone["ci_low"], everyone["ci_high"]] == pytest.approx([share * low, share * high])
    own, every = (stats.sem(v) for v in (VALUES[GROUP], VALUES))
    t = abs(sides[0] - VALUES.mean()) / np.hypot(own, every)
    assert everyone["t"] == pytest.approx(t)
    assert found.enough.tolist() == [False]  # 20 rows


def test_the_variance_of_a_weighted_mean_is_linearized():
    weights = rng.uniform(0.5, 3, 60)
    mean, error, size = mean_and_error(sums(VALUES, weights, True)[:, None])
    expected = np.average(VALUES, weights=weights)
    assert mean[0] + CENTER == pytest.approx(expected)
    k = weights.sum() ** 2 / (weights**2).sum()
    square = (weights**2 * (VALUES - expected) ** 2).sum() / weights.sum() ** 2 * k / (k - 1)
    assert error[0] == pytest.approx(np.sqrt(square))
    assert size[0] == pytest.approx((weights**2).sum() ** 2 / (weights**4).sum())


def test_clusters_inflate_the_error():
    plain, clustered = means(np.ones(60), False), means(np.ones(60), False, inflation=4.0)
    assert clustered.gap == pytest.approx(plain.gap)
    assert clustered.z() == pytest.approx(plain.z() / 2)


def test_outcomes_are_means_and_not_distances_from_the_center():
    table = means(np.ones(60), False).compare(0.1).iloc[0]
    sides = VALUES[GROUP].mean(), VALUES[~GROUP].mean()
    assert [table["outcome"], table["outcome_rest"]] == pytest.approx(sides)


def test_one_heavy_row_leaves_hardly_a_degree_of_freedom():
    values, weights = np.array([1.0, 2.0]), np.array([1.0, 1e-3])
    size = mean_and_error(sums(values, weights, True)[:, None])[2]
    assert size[0] == pytest.approx((1 + 1e-6) ** 2 / (1 + 1e-12), abs=1e-12)


def test_cohens_d_is_that_of_scipy_with_equal_weight_of_both_variances():
    own, rest = VALUES[GROUP], VALUES[~GROUP]
    spread = np.sqrt((own.var(ddof=1) + rest.var(ddof=1)) / 2)
    expected = (own.mean() - rest.mean()) / spread
    assert means(np.ones(60), False).cohens_d() == pytest.approx(expected)


@pytest.mark.parametrize(("level", "power", "inflation"), [(0.05, 0.8, 1), (0.01, 0.9, 4)])
def test_the_detectable_gap_is_found_with_the_power_asked(level, power, inflation):
    """A normal statistic whose mean is the gap over its error exceeds the upper quantile."""
    gap = means(np.ones(60), False, inflation=inflation).min_detectable_gap(level, power)
    error = np.sqrt(inflation * VALUES.var(ddof=1) * (1 / 20 + 1 / 40))
    chance = stats.norm(gap / error).sf(stats.norm.isf(level / 2))
    assert chance == pytest.approx([power])
