"""Exact tests of many tables: probabilities are accurate at any size, and computed once."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdisc import _stats
from skdisc._stats import _exact_tests, _proportions


def margins(n1, n0, drawn):
    functions = _exact_tests._functions(n1 + n0, n_tables=1)
    return _exact_tests._FixedMargins(*(np.array([n]) for n in (n1, n0, drawn)), *functions)


@st.composite
def large_margins(draw, most):
    n1, n0 = (draw(st.integers(1, most)) for _ in range(2))
    return n1, n0, draw(st.integers(0, n1 + n0))


@given(large_margins(3000))
def test_probabilities_are_those_of_whole_numbers(sizes):
    n1, n0, drawn = sizes
    x1 = np.arange(max(0, drawn - n0), min(n1, drawn) + 1)[:: max(1, n1 // 50)]
    ways = comb(n1 + n0, drawn)
    exact = [float(Fraction(comb(n1, t) * comb(n0, drawn - t), ways)) for t in x1.tolist()]
    np.testing.assert_allclose(margins(*sizes).mass(x1), exact, rtol=1e-12, atol=1e-300)


@given(large_margins(10**8), st.integers(0, 200))
def test_probabilities_add_up_to_one_at_any_size(sizes, n1):
    """Differences of log factorials would be wrong by 1e-8 and more here."""
    n0, drawn = sizes[1], min(sizes[2], n1 + sizes[1])
    mass = margins(n1, n0, drawn).mass(np.arange(n1 + 1))
    assert mass.sum() == pytest.approx(1, abs=1e-12)


@given(large_margins(10**5))
def test_few_events_or_groups_of_few_have_one_distribution(sizes):
    """The first group among those drawn is as probable as those drawn among the first group."""
    n1, n0, drawn = sizes
    x1 = np.arange(min(n1, drawn, 30) + 1)
    other = margins(drawn, n1 + n0 - drawn, n1).mass(x1)
    np.testing.assert_allclose(margins(*sizes).mass(x1), other, rtol=1e-11, atol=1e-300)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("mid", [False, True])
def test_functions_of_all_numbers_beforehand_change_nothing(alternative, mid, monkeypatch):
    rng = np.random.default_rng(0)
    n1, n0 = rng.integers(1, 400, (2, 300))
    x1, x0 = rng.binomial(n1, 0.2), rng.binomial(n0, 0.3)
    p_values = []
    for worth in (0, 10**9):
        monkeypatch.setattr(_exact_tests, "_WORTH", worth)
        p_values.append(_stats.fisher(x1, n1, x0, n0, alternative, mid))
    np.testing.assert_array_equal(*p_values)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_as_many_tables_at_once_as_one_likes(alternative, monkeypatch):
    rng = np.random.default_rng(0)
    n1, n0 = rng.integers(1, 60, (2, 500))
    x1, x0 = rng.binomial(n1, 0.2), rng.binomial(n0, 0.3)
    p_values = []
    for at_once in (7, 10**9):
        monkeypatch.setattr(_exact_tests, "AT_ONCE", at_once)
        monkeypatch.setattr(_proportions, "AT_ONCE", at_once)
        fisher = _stats.fisher(x1, n1, x0, n0, alternative)
        p_values.append([fisher, *_proportions.proportions_test(x1, n1, x0, n0)])
    np.testing.assert_array_equal(*p_values)


@given(st.lists(st.tuples(*[st.sampled_from([0, 1, 2, 2**31, 2**61])] * 4), max_size=9))
def test_distinct_tables_are_the_first_of_each(tables):
    first, inverse = _exact_tests.distinct(np.array(tables, dtype=np.int64).reshape(-1, 4).T)
    assert [tables[first[i]] for i in inverse] == tables
    assert [tables[i] for i in first] == list(dict.fromkeys(tables))


def test_the_most_extreme_and_the_most_probable_tables_together():
    """Sums that end at once and sums of many terms do not disturb each other."""
    n, x1 = 400, np.array([0, 100, 200, 201, 300, 400])
    together = _stats.fisher(x1, n, n - x1, n)
    alone = [_stats.fisher(x, n, n - x, n) for x in x1]
    np.testing.assert_array_equal(together, alone)
    assert together[2] == pytest.approx(1, abs=1e-12)
    assert together[0] == together[5] == pytest.approx(float(Fraction(2, comb(2 * n, n))), rel=1e-9)
