"""The rules that several rooms share: two proportions, two means, and draws within groups."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from skdisc import _stats
from skdisc._stats._means import MEANS_TEST, Means, Welch, moment_columns
from skdisc._stats._proportions import EXACT_TEST, SCORE_TEST, names_of_tests
from skdisc._stats._rates import (
    AGAINST_REST,
    N_CELLS,
    RATES,
    GroupTally,
    hits_and_trials,
    rate_values,
)


def test_small_expected_counts_take_the_mid_p_value():
    table = x1, n1, x0, n0 = np.array([(56, 70, 48, 80), (8, 10, 1, 6), (5, 10, 5, 10)]).T
    p_value, is_exact = _stats.proportions_test(*table)
    assert is_exact.tolist() == [False, True, False]  # 5 expected are enough
    np.testing.assert_array_equal(p_value[~is_exact], _stats.score_test(*table)[1][~is_exact])
    assert p_value[1] == _stats.fisher(x1[1], n1[1], x0[1], n0[1], mid=True)


def test_far_tails_are_those_of_enumeration():
    """Normal tails are too small by a factor of 4 to 17 at 1e-5 if some 5 to 20 are expected."""
    n1, n0, drawn = 200, 9800, 500  # 10 expected
    x1 = np.arange(19, 41)
    p_value, is_exact = _stats.proportions_test(x1, n1, drawn - x1, n0)
    weights = {t: comb(n1, t) * comb(n0, drawn - t) for t in range(n1 + 1)}
    total = sum(weights.values())
    for x, p, exact in zip(x1.tolist(), p_value, is_exact, strict=True):
        own = weights[x]
        beyond = sum(w for w in weights.values() if w < own)
        expected = (2 * beyond + sum(w for w in weights.values() if w == own)) / (2 * total)
        normal = _stats.score_test(x, n1, drawn - x, n0)[1]
        assert exact == (normal < 1e-3)
        assert p == pytest.approx(expected if exact else normal, rel=1e-9)
    assert p_value[-1] > 1e4 * _stats.score_test(40, n1, drawn - 40, n0)[1]
    assert not _stats.proportions_test(200, 1000, 1000, 9000)[1]  # 120 expected: normal tails


@pytest.mark.parametrize("table", [(0, 3, 0, 4), (3, 3, 4, 4)])
def test_nothing_to_test_in_equal_decisions(table):
    assert _stats.proportions_test(*table) == (1.0, False)


def test_fractions_take_the_score_test_and_empty_groups_are_undefined():
    p_value, is_exact = _stats.proportions_test([0.5, 0], [2, 0], [1, 1], [2, 2])
    assert p_value[0] == _stats.score_test(0.5, 2, 1, 2)[1]
    assert np.isnan(p_value[1])
    assert not is_exact.any()


def test_measures_and_subgroups_apply_one_rule():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 12, (40, N_CELLS))
    total = counts[:20].sum(axis=0) + counts[20:].sum(axis=0)
    tally = GroupTally.joined(
        [GroupTally(*hits_and_trials(counts, m), *hits_and_trials(total, m)) for m in RATES]
    )
    x1, n1 = np.stack([hits_and_trials(counts, m) for m in RATES], axis=1)
    x0, n0 = np.stack([hits_and_trials(total - counts, m) for m in RATES], axis=1)
    p_value, is_exact = _stats.proportions_test(x1, n1, x0, n0)
    np.testing.assert_array_equal(tally.p_value(), p_value.ravel())
    np.testing.assert_array_equal(tally.test(), names_of_tests(is_exact.ravel(), AGAINST_REST))
    assert set(names_of_tests(is_exact).ravel()) == {EXACT_TEST, SCORE_TEST}


@pytest.mark.parametrize("measure", RATES)
def test_the_mean_of_rate_values_is_the_rate(measure):
    cell = np.repeat(np.arange(N_CELLS), [2, 3, 5, 7])
    x, n = hits_and_trials(np.bincount(cell), measure)
    values = rate_values(cell, measure)
    assert np.nanmean(values) == x / n
    assert np.sum(~np.isnan(values)) == n


def moments(y):
    return y.mean(), y.var(ddof=1), len(y)


def test_welch_equals_scipy():
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.4, 1, 12), rng.normal(0, 2, 30)
    ours, theirs = Welch.of(moments(a), moments(b)), stats.ttest_ind(a, b, equal_var=False)
    assert ours.p_value() == pytest.approx(theirs.pvalue)
    assert ours.interval(0.1) == pytest.approx(tuple(theirs.confidence_interval(0.9)))
    for alternative in ("greater", "less"):
        expected = stats.ttest_ind(a, b, equal_var=False, alternative=alternative).pvalue
        assert ours.p_value(alternative) == pytest.approx(expected)
        sign = 1 if alternative == "greater" else -1
        expected = stats.ttest_ind(a - sign * 0.2, b, equal_var=False, alternative=alternative)
        assert ours.p_value(alternative, 0.2) == pytest.approx(expected.pvalue)


def test_groups_against_the_rest_take_the_same_test():
    rng = np.random.default_rng(1)
    half, inside = rng.normal(size=45), np.tile(rng.random((4, 45)) < 0.4, 2)
    y = np.concatenate([half, -half])  # no skew in any group
    columns = moment_columns(np.ones(90), y, False)
    means = Means(np.array([columns[:, m].sum(axis=1) for m in inside]).T, columns.sum(axis=1))
    expected = [Welch.of(moments(y[m]), moments(y[~m])).p_value() for m in inside]
    assert means.p_value() == pytest.approx(expected)


@given(st.integers(1, 6), st.integers(1, 6), st.booleans())
def test_constants_have_the_p_value_of_all_permutations(n, m, is_greater):
    values = np.repeat([1.0, 0.0] if is_greater else [0.0, 1.0], [n, m])
    dealt = [values[list(chosen)].mean() for chosen in combinations(range(n + m), n)]
    extreme = {"greater": np.greater_equal, "less": np.less_equal}
    welch = Welch.of((values[0], 0.0, n), (values[-1], 0.0, m)).with_exact_p(n, m, 1.0)
    for side, is_extreme in extreme.items():
        assert welch.p_value(side) == pytest.approx(np.mean(is_extreme(dealt, values[0])))
    assert welch.p_value() == pytest.approx(min(1, 2 / len(dealt)))
    assert welch.p_value(threshold=2.0) == welch.p_value("greater", 2.0) == 1
    assert np.isnan(welch.interval(0.05)).all()


@given(
    st.floats(0.1, 1e6),
    st.floats(1.1, 3),
    st.integers(12, 60),
    st.integers(12, 60),
    st.booleans(),
)
def test_equal_numbers_have_no_skewness_by_rounding(value, ratio, n, m, is_weighted):
    y, is_group = np.repeat([value, value * ratio], [n, m]), np.arange(n + m) < n
    weight = np.where(np.arange(n + m) % 3, 1.0, 0.7) if is_weighted else np.ones(n + m)
    center = np.average(y, weights=weight)
    columns = moment_columns(weight, y - center, is_weighted)
    means = Means(columns[:, is_group].sum(axis=1)[:, None], columns.sum(axis=1), center)
    row = means.contrast(0.05).iloc[0]
    assert row["test"] == MEANS_TEST
    assert row.p_value < 1e-4
    assert np.isnan(row.ci_low)


def test_constant_samples_are_undefined_and_constant_groups_are_permuted():
    ours = Welch.of((1.0, 0.0, 5), (0.0, 0.0, 5))
    assert np.isnan([ours.p_value(), *ours.interval(0.05)]).all()
    y = np.repeat([1.0, 0.0], 5)
    columns = moment_columns(np.ones(10), y, False)
    means = Means(columns[:, :5].sum(axis=1)[:, None], columns.sum(axis=1))
    row = means.compare(0.05).iloc[0]
    assert (row.p_value, row.effect) == (pytest.approx(2 / 252), 0.5)  # dealt in 252 ways
    assert np.isnan([row.ci_low, row.ci_high]).all()
    y[:] = 1.0
    columns = moment_columns(np.ones(10), y, False)
    means = Means(columns[:, :5].sum(axis=1)[:, None], columns.sum(axis=1))
    row = means.compare(0.05).iloc[0]
    assert (row.p_value, row.ci_low, row.ci_high, row.effect) == (1, 0, 0, 0)


def test_one_rule_of_percentiles():
    values = np.random.default_rng(0).permutation(np.arange(1.0, 1000.0))
    assert _stats.percentiles(np.append(values, np.nan), 0.05) == (25, 975)
    assert np.isnan(_stats.percentiles(np.array([np.nan]), 0.05)).all()


def test_tables_are_drawn_within_groups():
    table = np.array([[[3.0, 2.0], [1.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]]])[None]
    drawn = _stats.resample_counts(table, 500, np.random.default_rng(0))
    assert drawn.shape == (500, 1, 2, 2, 2)
    np.testing.assert_allclose(drawn.sum(axis=(-1, -2))[:, 0], [[10, 0]] * 500)
    assert drawn[:, 0, 0].mean(axis=0) == pytest.approx(table[0, 0], abs=0.3)


def test_positions_are_drawn_within_groups():
    groups = np.array(["a", "b", "a", "c"])
    draw = _stats.resampler(groups, np.random.default_rng(0))
    for _ in range(20):
        np.testing.assert_array_equal(groups[draw()], groups)
