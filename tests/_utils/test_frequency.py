"""Counts, quantiles and random splits of rows that stand for many people."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdisc._utils._frequency import (
    count,
    hold_out,
    lower_quantiles,
    median,
    people_in,
    permuted,
    quantiles,
)

frequencies = st.lists(st.integers(1, 30), min_size=1, max_size=20).map(np.array)


@given(frequencies, st.integers(2, 9), st.randoms())
def test_quantiles_and_median_are_those_of_repeated_values(frequency, n, random):
    x = np.array([random.choice([0.5, 1.0, -2.0, 7.25, 9.0]) for _ in frequency])
    share, again = np.arange(1, n) / n, np.repeat(x, frequency)
    expected = np.quantile(again, share, method="lower")
    assert np.array_equal(lower_quantiles(x, share, frequency), expected)
    assert median(x, frequency) == np.median(again) == median(again)


def test_counts_are_exact_where_floats_are_not():
    frequency = np.array([2**53 + 1, 1, 2**60 + 3])
    index = np.array([0, 0, 2])
    assert count(index, 4, frequency).tolist() == [2**53 + 2, 0, 2**60 + 3, 0]
    assert people_in(index == 0, frequency) == 2**53 + 2


@pytest.mark.statistics
def test_the_people_held_out_have_the_hypergeometric_law():
    frequency, share, rng = np.array([6, 3, 1, 2]), 0.4, np.random.default_rng(0)
    drawn = np.array([hold_out(frequency, share, rng) for _ in range(20_000)])
    assert (drawn.sum(axis=1) == 5).all()
    assert ((drawn >= 0) & (drawn <= frequency)).all()
    p = frequency / 12
    covariance = 5 * (7 / 11) * (np.diag(p) - np.outer(p, p))
    assert np.allclose(drawn.mean(axis=0), 5 * p, atol=0.04)
    assert np.allclose(np.cov(drawn.T), covariance, atol=0.04)


def test_ten_billion_people_are_split():
    frequency = np.full(12, 10**9)
    out = hold_out(frequency, 0.25, np.random.default_rng(0))
    assert out.sum() == 3 * 10**9
    assert len(set(out)) > 6


@pytest.mark.slow
def test_permuted_values_have_the_law_of_permuted_people():
    values, frequency = np.array([0.0, 1.0, 1.0, 2.5]), np.array([6, 3, 1, 2])
    rng = np.random.default_rng(0)
    drawn = np.array([permuted(values, frequency, rng) for _ in range(20_000)])
    np.testing.assert_allclose(drawn @ frequency, 9.0)
    people = np.repeat(values, frequency)
    spread = people.var() * (12 - frequency) / 11 / frequency  # drawn without replacement
    assert np.allclose(drawn.mean(axis=0), 0.75, atol=0.03)
    assert np.allclose(drawn.var(axis=0), spread, rtol=0.04)
    lone = np.mean(drawn[:, 2][:, None] == np.array([0.0, 1.0, 2.5]), axis=0)
    assert np.allclose(lone, [0.5, 4 / 12, 2 / 12], atol=0.015)


def test_rows_of_one_person_each_are_permuted():
    values = np.random.default_rng(0).random(50)
    for frequency in (None, np.ones(50, dtype=np.int64)):
        again = permuted(values, frequency, np.random.default_rng(1))
        assert sorted(again) == sorted(values)
        assert (again != values).any()


@given(frequencies, st.integers(2, 9), st.randoms())
def test_interpolated_quantiles_are_those_of_repeated_values(frequency, n, random):
    x = np.array([random.choice([0.5, 1.0, -2.0, 7.25, 9.0]) for _ in frequency])
    share = np.arange(n + 1) / n
    expected = np.quantile(np.repeat(x, frequency), share)
    np.testing.assert_allclose(quantiles(x, share, frequency), expected, atol=1e-9)
