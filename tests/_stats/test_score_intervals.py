"""Score statistics and intervals of two proportions against numerical likelihood."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import optimize, stats
from statsmodels.stats.proportion import confint_proportions_2indep

from skdisc import _stats

whole = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
tables = st.tuples(whole, whole).map(lambda pair: (*pair[0], *pair[1]))


def z_by_likelihood(x1, n1, x0, n0, gap):
    def minus_log_likelihood(p):
        return -stats.binom.logpmf(x1, n1, p + gap) - stats.binom.logpmf(x0, n0, p)

    bounds = max(0, -gap) + 1e-12, min(1, 1 - gap) - 1e-12
    p = optimize.minimize_scalar(minus_log_likelihood, bounds=bounds, method="bounded").x
    error = np.sqrt((p + gap) * (1 - p - gap) / n1 + p * (1 - p) / n0)
    return (x1 / n1 - x0 / n0 - gap) / error


def test_the_constrained_estimate_maximizes_the_likelihood():
    rng = np.random.default_rng(0)
    n1, n0 = rng.integers(5, 200, (2, 60))
    x1, x0 = rng.integers(1, n1), rng.integers(1, n0)
    gap = rng.uniform(-0.9, 0.9, 60)
    expected = [z_by_likelihood(*one) for one in zip(x1, n1, x0, n0, gap, strict=True)]
    np.testing.assert_allclose(_stats.score_z(x1, n1, x0, n0, gap), expected, rtol=1e-4)


@given(tables)
def test_without_a_gap_it_is_the_score_test(table):
    np.testing.assert_allclose(_stats.score_z(*table), _stats.score_test(*table)[0], atol=1e-9)


@given(tables, st.sampled_from([0.001, 0.05, 0.3]))
def test_the_ends_are_the_gaps_that_are_just_rejected(table, significance):
    x1, n1, x0, n0 = table
    low, high = _stats.score_interval(*table, significance)
    assert -1 <= low <= x1 / n1 - x0 / n0 <= high <= 1
    critical = stats.norm.isf(significance / 2)
    ends = [(end, z) for end, z in ((low, critical), (high, -critical)) if abs(end) < 1 - 1e-9]
    for end, z in ends:
        assert _stats.score_z(*table, end) == pytest.approx(z, abs=1e-5)
    swapped = _stats.score_interval(x0, n0, x1, n1, significance)
    np.testing.assert_allclose(swapped, (-high, -low), atol=1e-9)


def test_score_interval_as_published():
    """Newcombe 1998, table II, method 5 (Mee), whose constrained estimate it is."""
    interval = _stats.score_interval(56, 70, 48, 80)
    np.testing.assert_allclose(interval, (0.0533, 0.3377), atol=5.1e-5)


@given(tables, st.sampled_from([0.001, 0.05, 0.3]), st.floats(1e-12, 1))
def test_the_interval_agrees_with_any_p_value_about_zero(table, significance, p_value):
    assume(_stats.score_test(*table)[0] != 0)  # else no interval excludes the estimate, 0
    low, high = _stats.score_interval(*table, significance, p_value)
    assert (low <= 0 <= high) == (p_value >= significance)
    mid = _stats.fisher(*table, mid=True)
    low, high = _stats.score_interval(*table, mid, mid)
    assert low <= 0 <= high


def test_the_p_value_of_the_score_test_changes_nothing():
    table = np.array([(8, 10, 1, 6), (30, 100, 50, 90), (0, 9, 3, 8)]).T
    own = _stats.score_interval(*table, 0.05, _stats.score_test(*table)[1])
    np.testing.assert_allclose(own, _stats.score_interval(*table, 0.05), atol=1e-12)


def test_each_table_has_its_own_level_and_undefined_is_nan():
    low, high = _stats.score_interval([3, 3, 0], [10, 10, 0], 5.5, 20, [0.05, 0.2, 0.05])
    assert low[0] < low[1] < high[1] < high[0]
    assert np.isnan([low[2], high[2]]).all()


@pytest.mark.statistics
@pytest.mark.parametrize("k", [10, 25])
def test_coverage_of_the_score_interval(k):
    x, p = np.arange(k + 1), np.linspace(0.02, 0.98, 25)
    mass = stats.binom.pmf(x, k, p[:, None])
    low, high = _stats.score_interval(x[:, None], k, x, k)
    gap = p[:, None] - p
    held = (low <= gap[..., None, None]) & (gap[..., None, None] <= high)
    coverage = np.einsum("ax,by,abxy->ab", mass, mass, held)
    assert 0.945 < coverage.mean() < 0.96
    assert coverage.min() > 0.90


def test_ratio_interval_is_close_to_the_score_interval_of_large_samples():
    rng = np.random.default_rng(0)
    n1, n0 = rng.integers(500, 3000, (2, 20))
    x1, x0 = rng.binomial(n1, 0.2), rng.binomial(n0, 0.3)
    low, high = _stats.ratio_interval(x1, n1, x0, n0)
    for i in range(20):
        expected = confint_proportions_2indep(
            x1[i], n1[i], x0[i], n0[i], compare="ratio", method="score", correction=False
        )
        np.testing.assert_allclose((low[i], high[i]), expected, rtol=0.003)


def test_ratio_intervals_of_nothing():
    low, high = _stats.ratio_interval([0, 3, 0, 0], [9, 9, 9, 0], [3, 0, 0, 1], 9)
    np.testing.assert_array_equal(low == 0, [True, False, False, False])
    np.testing.assert_array_equal(np.isinf(high), [False, True, False, False])
    assert np.isnan([low[2:], high[2:]]).all()


def test_ends_of_a_ratio_without_events():
    low, high = _stats.ratio_interval([0, 3, 0, 0], [10, 10, 10, 0], [3, 0, 0, 3], [10] * 4)
    assert low[0] == 0
    assert 0 < high[0] < np.inf
    assert (0 < low[1] < np.inf, high[1]) == (True, np.inf)
    assert np.isnan([low[2], high[2]]).all()
    assert np.isnan([low[3], high[3]]).all()
