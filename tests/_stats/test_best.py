"""Comparisons of all pairs against scipy's studentized range, and their level."""

import numpy as np
import pytest
from scipy import stats

from skdisc import _stats


@pytest.mark.parametrize("k", [3, 10, 50])
def test_it_is_the_studentized_range(k):
    p_value = np.array([0.9, 0.3, 0.01, 1e-4, 1e-8])
    q = np.sqrt(2) * stats.norm.isf(p_value / 2)
    expected = np.maximum(stats.studentized_range.sf(q, k, np.inf), p_value)
    np.testing.assert_allclose(_stats.best_p_value(p_value, k), expected, rtol=1e-6)
    level = 2 * stats.norm.sf(stats.studentized_range.isf(0.05, k, np.inf) / np.sqrt(2))
    assert _stats.best_p_value(level, k) == pytest.approx(0.05, rel=1e-6)


def test_far_tails_are_those_of_bonferroni():
    p_value = np.array([1e-20, 1e-100, 1e-300])
    pairs = 12 * 11 / 2
    np.testing.assert_allclose(_stats.best_p_value(p_value, 12), pairs * p_value, rtol=0.01)


def test_two_groups_and_ends():
    p_value = np.array([0.0, 0.2, 1.0, np.nan])
    np.testing.assert_array_equal(_stats.best_p_value(p_value, 2), p_value)
    np.testing.assert_array_equal(_stats.best_p_value(p_value[[0, 2, 3]], 4), p_value[[0, 2, 3]])


@pytest.mark.statistics
@pytest.mark.parametrize("k", [2, 8, 30])
@pytest.mark.parametrize("rate", [0.02, 0.3])
def test_equal_groups_against_the_best_of_them(k, rate):
    rng = np.random.default_rng(k)
    n = np.maximum((4000 * 0.85 ** np.arange(k)).astype(int), 20)
    found = 0
    for x in rng.binomial(n, rate, (400, k)):
        best = np.argmax(x / n)
        p_value, _ = _stats.proportions_test(x, n, x[best], n[best])
        found += np.nanmin(_stats.best_p_value(np.delete(p_value, best), k)) <= 0.05
    assert found / 400 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 400)
