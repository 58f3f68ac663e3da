"""Statistics against scipy, published values, exact enumeration, and the laws they must keep."""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import stats

from skdisc import _stats

LEVELS = (0.01, 0.05, 0.1, 0.5)
ALTERNATIVES = ("two-sided", "greater", "less")
METHODS = ("bh", "by", "holm", "bonferroni", "none")


def all_counts(largest, smallest=1):
    """Every pair x, n with smallest <= n <= largest."""
    return np.array([(x, n) for n in range(smallest, largest + 1) for x in range(n + 1)]).T


def all_tables(largest):
    """Every table x1, n1, x0, n0 whose groups have 1 to `largest` members."""
    pairs = all_counts(largest).T
    return np.array([(*one, *other) for one, other in product(pairs, pairs)]).T


@st.composite
def counts(draw, largest=80, whole=True):
    n = draw(st.integers(1, largest))
    return draw(st.integers(0, n) if whole else st.sampled_from([0.0, n]) | st.floats(0.001, n)), n


tables = st.tuples(counts(), counts()).map(lambda pair: (*pair[0], *pair[1]))
weighted_tables = st.tuples(counts(whole=False), counts(whole=False)).map(
    lambda pair: (*pair[0], *pair[1])
)
significances = st.floats(0.001, 0.5)
p_values = arrays(
    float,
    array_shapes(max_dims=2, max_side=8),
    elements=st.floats(0, 1, allow_subnormal=False) | st.just(float("nan")),
)


# Intervals of one proportion


@pytest.mark.parametrize("significance", LEVELS)
@pytest.mark.parametrize(("name", "method"), [("wilson", "wilson"), ("clopper_pearson", "exact")])
def test_intervals_equal_scipy(name, method, significance):
    x, n = np.hstack([all_counts(12), [[0, 37, 500, 99_999], [1000, 1000, 1000, 100_000]]])
    low, high = getattr(_stats, name)(x, n, significance)
    expected = [
        stats.binomtest(a, b).proportion_ci(1 - significance, method)
        for a, b in zip(x, n, strict=True)
    ]
    np.testing.assert_allclose(low, [e.low for e in expected], rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(high, [e.high for e in expected], rtol=1e-10, atol=1e-14)
    assert set(low[x == 0]) == {0.0}
    assert set(high[x == n]) == {1.0}


@given(counts(whole=False), significances)
def test_wilson_bounds_solve_the_score_equation(pair, significance):
    x, n = pair
    assume(0.01 < x < n - 0.01)
    z2 = stats.chi2.isf(significance, 1)
    for bound in _stats.wilson(x, n, significance):
        assert (x / n - bound) ** 2 * n / (bound * (1 - bound)) == pytest.approx(z2, rel=1e-6)


@given(counts(whole=False), significances, st.sampled_from(["wilson", "clopper_pearson"]))
def test_intervals_hold_the_share_and_mirror(pair, significance, name):
    x, n = pair
    interval = getattr(_stats, name)
    low, high = interval(x, n, significance)
    assert 0 <= low <= x / n + 1e-12
    assert x / n - 1e-12 <= high <= 1
    assert low < high
    np.testing.assert_allclose(interval(n - x, n, significance), (1 - high, 1 - low), atol=1e-9)
    wider = interval(x, n, significance / 2)
    assert wider[0] <= low + 1e-12
    assert high <= wider[1] + 1e-12


@pytest.mark.statistics
@pytest.mark.parametrize("n", [5, 20, 60])
def test_coverage_of_one_proportion(n):
    x, p = np.arange(n + 1), np.linspace(0.005, 0.995, 199)[:, None]
    mass = stats.binom.pmf(x, n, p)

    def coverage(interval):
        low, high = interval(x, n)
        return (mass * ((low <= p) & (p <= high))).sum(axis=1)

    exact, score = coverage(_stats.clopper_pearson), coverage(_stats.wilson)
    assert exact.min() >= 0.95
    assert score.min() >= 0.82  # it dips near 0 and 1
    assert abs(score.mean() - 0.95) < 0.01
    assert score.mean() < exact.mean()


# Difference of two proportions


@pytest.mark.parametrize(
    ("table", "interval"),  # Newcombe 1998, table II, method 10
    [
        ((56, 70, 48, 80), (0.0524, 0.3339)),
        ((9, 10, 3, 10), (0.1705, 0.8090)),
        ((6, 7, 2, 7), (0.0582, 0.8062)),
        ((5, 56, 0, 29), (-0.0381, 0.1926)),
        ((0, 10, 0, 20), (-0.1611, 0.2775)),
        ((0, 10, 0, 10), (-0.2775, 0.2775)),
        ((10, 10, 0, 20), (0.6791, 1.0)),
        ((10, 10, 0, 10), (0.6075, 1.0)),
    ],
)
def test_newcombe_as_published(table, interval):
    np.testing.assert_allclose(_stats.newcombe(*table), interval, atol=5.1e-5)


@given(weighted_tables, significances)
def test_newcombe_holds_the_gap_and_is_antisymmetric(table, significance):
    x1, n1, x0, n0 = table
    low, high = _stats.newcombe(*table, significance)
    gap = x1 / n1 - x0 / n0
    assert -1 - 1e-12 <= low <= gap <= high <= 1 + 1e-12
    assert low < high
    assert _stats.newcombe(x0, n0, x1, n1, significance) == (-high, -low)


@pytest.mark.statistics
@pytest.mark.parametrize("k", [15, 30])
def test_coverage_of_newcombe(k):
    """Exact coverage over a 50 x 50 grid: near 0.95 on average, and never far below."""
    x, p = np.arange(k + 1), np.linspace(0.01, 0.99, 50)
    mass = stats.binom.pmf(x, k, p[:, None])
    low, high = _stats.newcombe(x[:, None], k, x, k)
    gap = p[:, None] - p
    held = (low <= gap[..., None, None]) & (gap[..., None, None] <= high)
    coverage = np.einsum("ax,by,abxy->ab", mass, mass, held)
    assert 0.945 < coverage.mean() < 0.96
    assert coverage.min() > 0.90


def test_score_test_is_the_chi2_test():
    table = x1, n1, x0, n0 = all_tables(6)
    z, p_value = _stats.score_test(*table)
    mixed = (x1 + x0 > 0) & (x1 + x0 < n1 + n0)
    for i in np.flatnonzero(mixed):
        cells = [[x1[i], n1[i] - x1[i]], [x0[i], n0[i] - x0[i]]]
        expected = stats.chi2_contingency(cells, correction=False)
        assert z[i] ** 2 == pytest.approx(expected.statistic, abs=1e-12)
        assert p_value[i] == pytest.approx(expected.pvalue, rel=1e-10)
    assert set(z[~mixed]) == {0.0}
    assert set(p_value[~mixed]) == {1.0}
    np.testing.assert_array_equal(np.sign(z[mixed]), np.sign(x1 * n0 - x0 * n1)[mixed])


@given(weighted_tables)
def test_score_test_is_antisymmetric(table):
    x1, n1, x0, n0 = table
    z, p_value = _stats.score_test(*table)
    assert _stats.score_test(x0, n0, x1, n1) == pytest.approx((-z, p_value), rel=1e-6, abs=1e-9)
    assert 0 <= p_value <= 1


# Fisher's test


def masses(n1, n0, drawn):
    """Hypergeometric probabilities as exact fractions, by count of the first group."""
    support = range(max(0, drawn - n0), min(n1, drawn) + 1)
    return {t: Fraction(comb(n1, t) * comb(n0, drawn - t), comb(n1 + n0, drawn)) for t in support}


def fisher_by_enumeration(x1, n1, x0, n0, alternative, mid):
    mass = masses(n1, n0, x1 + x0)
    extremity = {
        "two-sided": lambda t: -mass[t],
        "greater": lambda t: t,
        "less": lambda t: -t,
    }[alternative]
    own = extremity(x1)
    beyond = sum(f for t, f in mass.items() if extremity(t) > own)
    equal = sum(f for t, f in mass.items() if extremity(t) == own)
    return float(beyond + (equal / 2 if mid else equal))


@pytest.mark.parametrize("mid", [False, True])
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_fisher_equals_enumeration(alternative, mid):
    x1, n1, x0, n0 = table = all_tables(8)
    expected = [
        fisher_by_enumeration(*map(int, one), alternative, mid) for one in zip(*table, strict=True)
    ]
    np.testing.assert_allclose(
        _stats.fisher(x1, n1, x0, n0, alternative, mid), expected, rtol=1e-12, atol=0
    )


@pytest.mark.parametrize("mid", [False, True])
def test_fisher_does_not_depend_on_the_other_tables(mid):
    together = _stats.fisher(*all_tables(4), mid=mid)
    alone = [_stats.fisher(*one, mid=mid) for one in all_tables(4).T]
    np.testing.assert_array_equal(together, alone)


def test_fisher_never_exceeds_one():
    """At the mode, where both tails make up everything, rounding must not show."""
    n1, n0 = np.random.default_rng(0).integers(1000, 3000, (2, 2000))
    x1, x0 = n1 // 2, n0 // 2
    p_value = _stats.fisher(x1, n1, x0, n0)
    assert p_value.max() == 1


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("size", [50, 3000, 1_000_000])
def test_fisher_equals_scipy(alternative, size):
    rng = np.random.default_rng(size)
    n1, n0 = rng.integers(size // 5, size, (2, 60))
    x1, x0 = rng.binomial(n1, 0.3), rng.binomial(n0, 0.3)
    cells = np.array([[x1, n1 - x1], [x0, n0 - x0]])
    expected = [stats.fisher_exact(cells[..., i], alternative).pvalue for i in range(60)]
    np.testing.assert_allclose(_stats.fisher(x1, n1, x0, n0, alternative), expected, rtol=1e-9)


def test_fisher_sees_ties_in_large_balanced_tables():
    """With equal groups every table has an equally probable mirror image: twice the upper tail."""
    n, x1, x0 = 20_000, 6_100, 6_000
    twice = 2 * _stats.fisher(x1, n, x0, n, "greater")
    assert _stats.fisher(x1, n, x0, n) == pytest.approx(twice, rel=1e-12)
    twice = 2 * _stats.fisher(x1, n, x0, n, "greater", mid=True)
    assert _stats.fisher(x1, n, x0, n, mid=True) == pytest.approx(twice, rel=1e-7)


@given(tables, st.booleans())
def test_fisher_mirrors(table, mid):
    x1, n1, x0, n0 = table
    swapped = (x0, n0, x1, n1)
    both = _stats.fisher(*table, mid=mid)
    assert both == pytest.approx(_stats.fisher(*swapped, mid=mid), rel=1e-9)
    assert both == pytest.approx(_stats.fisher(n1 - x1, n1, n0 - x0, n0, mid=mid), rel=1e-9)
    less = _stats.fisher(*table, alternative="less", mid=mid)
    greater = _stats.fisher(*swapped, alternative="greater", mid=mid)
    assert less == pytest.approx(greater, rel=1e-9)


@given(tables, st.sampled_from(ALTERNATIVES))
def test_levels_of_fisher(table, alternative):
    """Under equality p-values are small no more often than they say; mid-p is 1/2 on average."""
    x1, n1, x0, n0 = table
    mass = masses(n1, n0, x1 + x0)
    t, f = np.array(list(mass)), np.array([float(value) for value in mass.values()])
    exact = _stats.fisher(t, n1, x1 + x0 - t, n0, alternative)
    mid = _stats.fisher(t, n1, x1 + x0 - t, n0, alternative, mid=True)
    assert f @ mid == pytest.approx(0.5, rel=1e-9)
    assert np.all(mid <= exact)
    assert np.all(mid[f > 1e-12] < exact[f > 1e-12])
    for p in exact:
        assert f[exact <= p * (1 + 1e-9)].sum() <= p * (1 + 1e-6)


def test_fisher_broadcasts_and_repeats():
    p_value = _stats.fisher(np.arange(4)[:, None], 3, [1, 1, 5], [4, 4, 9])
    assert p_value.shape == (4, 3)
    np.testing.assert_array_equal(p_value[:, 0], p_value[:, 1])
    assert p_value[3, 2] == _stats.fisher(3, 3, 5, 9)
    assert len(set(p_value[:, 2])) > 1


def test_fisher_refuses_what_it_cannot_do():
    with pytest.raises(ValueError, match="whole counts, got fractions; score_test"):
        _stats.fisher(1.5, 3, 1, 3)
    with pytest.raises(ValueError, match=r"one of \('two-sided', 'greater', 'less'\), got 'both'"):
        _stats.fisher(1, 3, 1, 3, alternative="both")


# What is undefined


TWO_GROUPS = [_stats.newcombe, _stats.score_test, _stats.fisher]


@pytest.mark.parametrize("interval", [_stats.wilson, _stats.clopper_pearson])
def test_a_rate_of_nobody_is_undefined(interval):
    bounds = np.array(interval([0, 0, np.nan, 1], [0, 4, 4, np.nan]))
    np.testing.assert_array_equal(np.isnan(bounds), [[True, False, True, True]] * 2)
    assert np.isnan(interval(0, 0)).all()


@pytest.mark.parametrize("function", TWO_GROUPS)
def test_a_comparison_with_nobody_is_undefined(function):
    outcome = np.atleast_2d(function([0, 1, 1, np.nan], [0, 2, 2, 2], [1, 0, 1, 1], [2, 0, 2, 2]))
    np.testing.assert_array_equal(np.isnan(outcome), [[True, True, False, True]] * len(outcome))
    assert np.isnan(function(0, 0, 1, 2)).all()


@pytest.mark.parametrize("function", TWO_GROUPS)
def test_no_table_is_an_empty_answer(function):
    assert np.shape(function([], [], [], [])) in {(0,), (2, 0)}


@pytest.mark.parametrize(
    ("x", "n", "shown"),
    [(3, 2, "x=3.0, n=2.0"), (-1, 2, "x=-1.0, n=2.0"), ([1, 1], [2, 0], "x=1.0, n=0.0")],
)
@pytest.mark.parametrize(
    "function",
    [
        _stats.wilson,
        _stats.clopper_pearson,
        *(lambda x, n, f=f: f(1, 2, x, n) for f in TWO_GROUPS),
        *(lambda x, n, f=f: f(x, n, 1, 2) for f in TWO_GROUPS),
    ],
)
def test_impossible_counts_are_refused(function, x, n, shown):
    with pytest.raises(ValueError, match=f"0 <= x <= n, got {shown}"):
        function(x, n)


def test_rounding_errors_of_weighted_counts_are_forgiven():
    n = sum([0.1] * 3)  # 0.30000000000000004
    assert _stats.wilson(n, 0.3)[1] == 1
    assert _stats.wilson(-1e-17, 0.3)[0] == 0
    assert _stats.score_test(n, 0.3, 0.2, 0.2) == (0, 1)


# Multiplicity


@given(p_values)
@example(np.array([0.01, 0.01, 0.04, 0.5]))
def test_false_discovery_rate_equals_scipy(p):
    given_ = p[~np.isnan(p)]
    for method in ("bh", "by"):
        expected = stats.false_discovery_control(given_, method=method) if given_.size else given_
        np.testing.assert_allclose(_stats.adjust(p, method)[~np.isnan(p)], expected, rtol=1e-12)


@given(p_values, st.integers(0, 9))
def test_family_wise_error_by_definition(p, untested):
    """Hypothesis i is rejected at level a by the step-down procedure exactly when p_adj <= a."""
    m = int(np.sum(~np.isnan(p))) + untested
    bonferroni, holm = (_stats.adjust(p, method, n_tests=m) for method in ("bonferroni", "holm"))
    tested = np.flatnonzero(~np.isnan(p))
    worst = 0.0
    for rank, i in enumerate(sorted(tested, key=lambda i: p.flat[i])):
        worst = max(worst, p.flat[i] * (m - rank))
        assert holm.flat[i] == pytest.approx(min(1, worst), rel=1e-12)
        assert bonferroni.flat[i] == pytest.approx(min(1, m * p.flat[i]), rel=1e-12)


@given(p_values, st.sampled_from(METHODS), st.integers(0, 20))
def test_hypotheses_not_given_count_as_one(p, method, untested):
    n_tests = int(np.sum(~np.isnan(p))) + untested
    padded = _stats.adjust(np.append(p, np.ones(untested)), method)
    expected = padded[: p.size].reshape(p.shape)
    np.testing.assert_allclose(_stats.adjust(p, method, n_tests), expected, rtol=1e-12)


@given(p_values, st.sampled_from(METHODS), st.integers(0, 20), st.randoms(use_true_random=False))
def test_laws_of_adjusted_p_values(p, method, untested, random):
    before = p.copy()
    tested = ~np.isnan(p)
    n_tests = int(tested.sum()) + untested
    adjusted = _stats.adjust(p, method, n_tests)
    np.testing.assert_array_equal(p, before)
    assert adjusted.shape == p.shape
    np.testing.assert_array_equal(np.isnan(adjusted), ~tested)
    assert np.all(adjusted[tested] >= p[tested])
    assert np.all(adjusted[tested] <= 1)
    assert np.all(np.diff(adjusted[tested][np.argsort(p[tested])]) >= 0)
    order = random.sample(range(p.size), p.size)
    shuffled = _stats.adjust(p.ravel()[order], method, n_tests)
    np.testing.assert_array_equal(shuffled, adjusted.ravel()[order])


@given(p_values)
def test_order_of_the_methods(p):
    none, bh, by, holm, bonferroni = (
        np.nan_to_num(_stats.adjust(p, m)) for m in ("none", "bh", "by", "holm", "bonferroni")
    )
    slack = 1 + 1e-12
    assert np.all(none <= bh * slack)
    assert np.all(bh <= holm * slack)
    assert np.all(holm <= bonferroni * slack)
    assert np.all(bh <= by * slack)


@pytest.mark.statistics
def test_adjusting_keeps_the_false_discovery_rate():
    """90 true and 10 false hypotheses: q = 0.2 gives at most 0.2 x 90 % false discoveries."""
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(300):
        z = rng.standard_normal(100)
        z[:10] += 3
        found = _stats.adjust(2 * stats.norm.sf(np.abs(z))) <= 0.2
        assert found[:10].any()
        shares.append(found[10:].sum() / found.sum())
    assert 0.13 < np.mean(shares) < 0.18 + 3 * np.std(shares) / np.sqrt(300)


def test_adjust_says_what_is_allowed():
    with pytest.raises(ValueError, match=r"'bh', 'by', 'holm', 'bonferroni', 'none'\), got 'fdr'"):
        _stats.adjust([0.1], "fdr")
    with pytest.raises(ValueError, match="at least the 2 p-values given, got 1"):
        _stats.adjust([0.1, np.nan, 0.2], n_tests=1)
    with pytest.raises(ValueError, match=r"must lie in \[0, 1\], got 0.1 to 1.2"):
        _stats.adjust([0.1, 1.2])


@pytest.mark.parametrize("method", METHODS)
def test_adjust_takes_one_none_or_undefined_only(method):
    assert _stats.adjust(0.2, method) == 0.2
    assert _stats.adjust([], method).shape == (0,)
    assert np.isnan(_stats.adjust([np.nan, np.nan], method)).all()


# Bootstrap


def test_bootstrap_draws_each_row_for_a_row_of_its_group():
    groups = np.array(["a", "b", "a", "c", "b", "a"])
    seen = np.zeros((6, 6))

    def statistic(index):
        np.testing.assert_array_equal(groups[index], groups)
        np.add.at(seen, (np.arange(6), index), 1)
        return 0.0

    _stats.bootstrap(statistic, groups, n_resamples=3000, rng=np.random.default_rng(0))
    same = groups[:, None] == groups
    assert np.all(seen[~same] == 0)
    share = (same / same.sum(axis=1, keepdims=True))[same]
    deviation = np.abs(seen[same] / 3000 - share)
    assert np.all(deviation <= 4 * np.sqrt(share * (1 - share) / 3000))


@pytest.mark.parametrize(
    ("n_resamples", "significance", "low", "high"),
    [
        (999, 0.05, 25, 975),
        (999, 0.1, 50, 950),
        (199, 0.05, 5, 195),
        (9, 0.05, 1, 9),
        (1, 0.5, 1, 1),
    ],
)
def test_bootstrap_takes_the_kth_from_each_end(n_resamples, significance, low, high):
    values = iter(np.random.default_rng(0).permutation(np.arange(1, n_resamples + 1)))
    interval = _stats.bootstrap(
        lambda index: next(values),
        [0, 1],
        n_resamples=n_resamples,
        significance=significance,
        rng=np.random.default_rng(0),
    )
    assert interval == (low, high, n_resamples)


def test_bootstrap_leaves_out_what_is_undefined():
    values = iter([np.nan, 3, -np.inf, np.nan, 2, np.inf, 1])
    interval = _stats.bootstrap(
        lambda index: next(values), [0], n_resamples=7, rng=np.random.default_rng(0)
    )
    assert interval == (-np.inf, np.inf, 5)
    ratio = np.zeros(2)
    interval = _stats.bootstrap(
        lambda index: ratio[index][0] / ratio[index][1], [0, 0], rng=np.random.default_rng(0)
    )
    assert np.isnan(interval[:2]).all()
    assert interval[2] == 0


def test_bootstrap_depends_on_the_generator_only():
    y = np.random.default_rng(1).normal(size=40)
    first, again, other = (
        _stats.bootstrap(
            lambda index: y[index].mean(),
            np.arange(40) % 3,
            n_resamples=99,
            rng=np.random.default_rng(s),
        )
        for s in (5, 5, 6)
    )
    assert first == again
    assert first != other


def test_bootstrap_resamples_within_groups_only():
    """The gap of two groups without spread of their own has no spread at all."""
    y = np.repeat([3.0, 1.0, 1.0], [5, 2, 4])
    groups = np.repeat([7, 9, 2], [5, 2, 4])
    gap = _stats.bootstrap(
        lambda index: y[index][:5].mean() - y[index][5:].mean(),
        groups,
        n_resamples=50,
        rng=np.random.default_rng(0),
    )
    assert gap == (2, 2, 50)


def test_bootstrap_agrees_with_theory():
    """For a gap of two means the interval is the normal one, up to Monte-Carlo error."""
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1], [300, 500])
    y = np.where(groups == 0, rng.normal(0, 2, 800), rng.normal(1, 1, 800))
    low, high, _ = _stats.bootstrap(
        lambda index: y[index][:300].mean() - y[index][300:].mean(),
        groups,
        n_resamples=1999,
        rng=rng,
    )
    gap = y[:300].mean() - y[300:].mean()
    error = np.sqrt(y[:300].var() / 300 + y[300:].var() / 500)
    assert (high + low) / 2 == pytest.approx(gap, abs=0.15 * error)
    assert high - low == pytest.approx(2 * 1.96 * error, rel=0.08)


# What a sample could have shown


@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
@pytest.mark.parametrize(("n1", "n0", "rate"), [(300, 300, 0.5), (150, 600, 0.4), (800, 400, 0.2)])
def test_the_detectable_gap_is_shown_with_that_power(n1, n0, rate, power):
    """Exact power of the score test at that gap, the pooled rate being as given."""
    gap = _stats.min_detectable_gap(n1, n0, rate, power=power)
    p1, p0 = rate + gap * n0 / (n1 + n0), rate - gap * n1 / (n1 + n0)
    x1, x0 = np.arange(n1 + 1)[:, None], np.arange(n0 + 1)
    shown = _stats.score_test(x1, n1, x0, n0)[1] <= 0.05
    mass = stats.binom.pmf(x1, n1, p1) * stats.binom.pmf(x0, n0, p0)
    assert mass[shown].sum() == pytest.approx(power, abs=0.03)


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.floats(0.01, 0.99), significances)
def test_laws_of_the_detectable_gap(n1, n0, rate, significance):
    def gap(*sizes, rate=rate, **level):
        return _stats.min_detectable_gap(*sizes, rate, **{"significance": significance, **level})

    assert gap(n1, n0) > 0
    assert gap(n1, n0) == gap(n0, n1) == pytest.approx(gap(n1, n0, rate=1 - rate))
    assert gap(4 * n1, 4 * n0) == pytest.approx(gap(n1, n0) / 2)
    assert gap(n1, n0, power=0.9) > gap(n1, n0)
    assert gap(n1, n0, significance=significance / 2) > gap(n1, n0)


def test_the_detectable_gap_of_nothing_is_undefined():
    gap = _stats.min_detectable_gap([0, 5, 5, 5, 5], [5, 0, 5, 5, 5], [0.5, 0.5, 0, 1, 0.5])
    np.testing.assert_array_equal(np.isnan(gap), [True, True, True, True, False])
    assert np.isnan(_stats.min_detectable_gap(0, 5, 0.5))


@given(st.integers(1, 10**6), significances)
def test_the_detectable_share_is_missed_with_that_probability(n, significance):
    share = _stats.min_detectable_share(n, significance)
    assert 0 < share < 1
    assert stats.binom.pmf(0, n, share) == pytest.approx(significance, rel=1e-6)
    # It is what the one-sided exact interval leaves open when no test hits.
    upper = _stats.clopper_pearson(0, n, 2 * significance)[1]
    assert share == pytest.approx(upper, rel=1e-6)


def test_the_detectable_share_of_nothing_is_undefined():
    np.testing.assert_array_equal(
        np.isnan(_stats.min_detectable_share([0, 1, np.nan])), [True, False, True]
    )
    assert np.isnan(_stats.min_detectable_share(0))


def test_false_coverage_level():
    assert _stats.false_coverage_level(10, 1000) == pytest.approx(0.0005)
    assert (
        _stats.false_coverage_level(10, 10, 0.1) == _stats.false_coverage_level(12, 10, 0.1) == 0.1
    )
    assert _stats.false_coverage_level(0, 100) == _stats.false_coverage_level(1, 100)
    assert _stats.false_coverage_level(0, 0) == 0.05


@pytest.mark.statistics
def test_intervals_of_what_was_chosen_miss_as_seldom_as_they_say():
    """The largest 1 to 20 of 200 effects, all 0 or some not; a share .05 of those shown misses."""
    rng, missed = np.random.default_rng(0), []
    truth = np.r_[np.zeros(180), np.full(20, 3.0)]
    for _ in range(400):
        z = rng.normal(truth)
        shown = np.flatnonzero(_stats.adjust(2 * stats.norm.sf(np.abs(z))) <= 0.05)
        level = _stats.false_coverage_level(len(shown), 200)
        half = stats.norm.isf(level / 2)
        missed.append(np.sum(np.abs(z - truth)[shown] > half) / max(1, len(shown)))
    assert np.mean(missed) <= 0.05 + 2 * np.std(missed) / 20
