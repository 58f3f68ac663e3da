"""Means of skewed numbers: Hall's and Welch's test against a scalar oracle, levels, refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from skewed_pay import larger, oracle, skewness

from skdisc._stats._means import Means, Welch, moment_columns, too_skewed

seeds = st.integers(0, 999)


def means_of(values, group, context=None, side=None, weight=None, **more):
    """`Means` of one group among the others of its context."""
    weighted = weight is not None
    columns = moment_columns(np.ones(len(values)) if weight is None else weight, values, weighted)
    context = np.ones(len(values), bool) if context is None else context
    own = columns[:, group & context].sum(axis=1)[:, None]
    sides = None
    if side is not None:
        sides = tuple(columns[:, m].sum(axis=1)[:, None] for m in (side, ~side))
    return Means(own, columns[:, context].sum(axis=1)[:, None], sides=sides, **more)


@given(seed=seeds, spread=st.sampled_from([0.1, 0.5, 1.0]), n=st.sampled_from([30, 60, 400]))
def test_a_group_in_its_context_equals_the_scalar_oracle(seed, spread, n):
    rng = np.random.default_rng(seed)
    values = np.exp(spread * rng.normal(size=5 * n))
    side, context = rng.random(5 * n) < 0.3, rng.random(5 * n) < 0.4
    values[side & context] *= rng.choice([0.7, 1.0, 1.5])
    a, b = values[side & context], values[~side & context]
    gap, p, low, high = oracle(a, b, (values[side], values[~side]))
    row = means_of(values, side, context, side).contrast(0.05).iloc[0]
    assert row["effect"] == pytest.approx(gap)
    assert row["p_value"] == pytest.approx(p, rel=1e-6)
    step = (high - low) / 1000 if np.isfinite(low) else 0
    assert [row["ci_low"], row["ci_high"]] == pytest.approx([low, high], abs=step)


@given(seed=seeds)
def test_numbers_without_skew_have_welchs_test_and_nearly_so_symmetric_ones(seed):
    rng = np.random.default_rng(seed)
    half, group = rng.normal(size=400), np.tile(np.arange(400) < 120, 2)
    exact = np.concatenate([half, -half]) + 0.1 * group
    found, theirs = (
        means_of(exact, group),
        stats.ttest_ind(exact[group], exact[~group], equal_var=False),
    )
    assert found.p_value()[0] == pytest.approx(theirs.pvalue)
    drawn = rng.normal(size=800) + 0.1 * group
    found, theirs = (
        means_of(drawn, group),
        stats.ttest_ind(drawn[group], drawn[~group], equal_var=False),
    )
    assert found.z()[0] == pytest.approx(theirs.statistic, abs=0.1)


@given(
    seed=seeds,
    spread=st.floats(0.1, 1.5),
    level=st.sampled_from([0.2, 0.05, 0.001]),
    sizes=st.tuples(st.integers(5, 300), st.integers(5, 300)),
    shift=st.floats(-2, 2),
)
def test_p_value_and_interval_agree_about_zero(seed, spread, level, sizes, shift):
    rng = np.random.default_rng(seed)
    values = np.exp(spread * rng.normal(size=sum(sizes)))
    group = np.arange(sum(sizes)) < sizes[0]
    values[group] += shift
    found = means_of(values, group)
    low, high = found.contrast(level)[["ci_low", "ci_high"]].iloc[0]
    p = found.p_value()[0]
    if abs(p - level) > 1e-6:
        assert (p <= level) == (not low <= 0 <= high)
    assert not np.isnan([low, high, p]).any()
    one_sided = found.p_value("greater" if found.gap[0] > 0 else "less")[0]
    assert p == pytest.approx(min(1, 2 * one_sided), rel=1e-9) or p >= one_sided
    statistic = abs(found.z()[0])
    assert 2 * stats.norm.sf(statistic) <= p + 1e-9  # t has heavier tails


def test_intervals_of_smaller_levels_are_wider_until_they_are_infinite():
    rng = np.random.default_rng(3)
    values, group = np.exp(rng.normal(size=900)), np.arange(900) < 300
    levels = [0.5, 0.2, 0.1, 0.05, 0.01, 1e-3, 1e-6, 1e-12]
    found = [means_of(values, group).contrast(s).iloc[0] for s in levels]
    assert (np.diff([f["ci_low"] for f in found[:6]]) < 0).all()
    assert (np.diff([f["ci_high"] for f in found[:6]]) > 0).all()
    assert (found[-1]["ci_low"], found[-1]["ci_high"]) == (-np.inf, np.inf)
    assert means_of(values, group).interval(1e-12)[1].tolist() == [np.inf]


def test_a_refused_comparison_says_how_many_people_it_needs():
    rng = np.random.default_rng(0)
    values = np.exp(rng.normal(size=5000))
    side, context = np.arange(5000) < 1000, np.arange(5000) % 25 == 0
    found = means_of(values, side, context, side)
    row = found.contrast(0.002).iloc[0]
    z, g = stats.norm.isf(0.001), larger(skewness(values[side]), skewness(values[side & context]))
    needed = (g * (2 * z**2 + 1) / 6) ** 2
    text = row["test"]
    assert text.startswith("too skewed to compare means of 40 people: about ")
    assert text.endswith("are needed; ask about logarithms")
    assert int(text.split("about ")[1].split()[0]) == pytest.approx(needed, rel=0.15)
    assert row["p_value"] > 0.002
    assert (row["ci_low"], row["ci_high"]) == (-np.inf, np.inf)
    logs = means_of(np.log(values), side, context, side).contrast(0.002).iloc[0]
    assert logs["test"] == "Welch's and Hall's test, group against rest"
    assert np.isfinite(logs["ci_low"])


def test_the_side_that_adds_most_skewness_is_named():
    one, other = (1.0, 1.0, 500, 0.01), (1.0, 9.0, 80, 0.9)
    (text,) = too_skewed(one, other, 0.05)
    assert "of 80 people" in text
    assert too_skewed(one, (1.0, 9.0, 80, 0.01), 0.05).tolist() == [""]


def test_numbers_whose_cubes_overflow_are_refused_and_not_nan():
    values, group = np.linspace(1, 2, 80) * 1e120, np.arange(80) < 40
    row = means_of(values, group).contrast(0.05).iloc[0]
    assert row["test"] == "how skewed the numbers of 40 people are is unknown; change the unit"
    assert (row["p_value"], row["ci_low"], row["ci_high"]) == (1.0, -np.inf, np.inf)


def test_equal_weights_of_any_unit_change_nothing():
    rng = np.random.default_rng(5)
    values, group = np.exp(0.5 * rng.normal(size=300)), np.arange(300) < 90
    plain = means_of(values, group).contrast(0.05).iloc[0]
    for unit in (1e-3, 1.0, 50.0):
        weighted = means_of(values, group, weight=np.full(300, unit)).contrast(0.05).iloc[0]
        for name in ("p_value", "ci_low", "ci_high"):
            assert weighted[name] == pytest.approx(plain[name], rel=1e-6)


def test_a_weighted_mean_is_as_skewed_as_what_people_contribute_to_it():
    rng = np.random.default_rng(6)
    values, weight, group = rng.normal(size=400), rng.lognormal(0, 1, 400), np.arange(400) < 100
    found = means_of(values, group, weight=weight)._against_rest()
    third, variance = [], []
    for at in (group, ~group):
        w, y = weight[at], values[at]
        share, k = w / w.sum(), w.sum() ** 2 / (w**2).sum()
        e = share * (y - share @ y)
        variance.append((e**2).sum() * k / (k - 1))
        third.append(((e**3).sum() * k**2 / ((k - 1) * (k - 2)), k))
    own = [t / v**1.5 * np.sqrt(k) for (t, k), v in zip(third, variance, strict=True)]
    together = np.average(own, weights=[k for _, k in third])
    kept = [
        larger(g, together) * v**1.5 / np.sqrt(k)
        for g, (_, k), v in zip(own, third, variance, strict=True)
    ]
    assert found.skewness[0] == pytest.approx((kept[0] - kept[1]) / sum(variance) ** 1.5)


def test_clusters_leave_means_as_skewed_as_those_of_fewer_people():
    """A household of four equal people is one person."""
    rng = np.random.default_rng(7)
    values, group = np.exp(rng.normal(size=400)), np.arange(400) < 120
    one = means_of(values, group)._against_rest()
    four = means_of(np.repeat(values, 4), np.repeat(group, 4), inflation=4.0)._against_rest()
    assert four.skewness == pytest.approx(one.skewness, rel=0.03)
    assert four.error == pytest.approx(one.error, rel=0.02)
    alone = means_of(values, group, inflation=np.array([np.inf]))
    assert alone.contrast(0.05)[["ci_low", "ci_high"]].iloc[0].tolist() == [-np.inf, np.inf]
    assert alone.p_value().tolist() == [1.0]


def test_two_people_show_nothing_of_skewness_but_their_side_does():
    values = np.concatenate([[1.0, 2.0], np.exp(np.random.default_rng(1).normal(size=98))])
    group = np.arange(100) < 2
    assert (
        means_of(values, group).too_skewed(0.05)[0].startswith("too skewed to compare means of 2")
    )


def _false_finds(spreads, n_context, gap, runs, rng, alpha=0.05):
    """Share of runs in which any of 25 contexts differs at the level alpha / 25, by both tests."""
    n, found = 25 * n_context, np.zeros(2)
    for _ in range(runs):
        woman = np.arange(n) % 5 == 0
        spread = np.where(woman, *spreads)
        pay = np.exp(spread * rng.normal(size=n) - spread**2 / 2) * (1 + gap * woman)
        columns = moment_columns(np.ones(n), pay, False)
        total = columns.reshape(5, 25, -1).sum(axis=-1)
        own = (columns * woman).reshape(5, 25, -1).sum(axis=-1)
        sides = tuple(np.tile(columns[:, m].sum(axis=1), (25, 1)).T for m in (woman, ~woman))
        ours = Means(own, total, sides=sides)
        w = ours._against_rest()
        p = ours.p_value(), Welch(w.gap, w.error, w.df).p_value()
        found += [(v <= alpha / 25).any() for v in p]
    return found / runs


@pytest.mark.parametrize("spreads", [(1.0, 0.3), (0.7, 0.4), (1.0, 1.0)])
@pytest.mark.parametrize("n_context", [150, 600])  # 30 and 120 women, as detectors ask for
def test_equal_means_of_skewed_pay_are_rarely_found(spreads, n_context):
    rng = np.random.default_rng(n_context)
    ours, welch = _false_finds(spreads, n_context, 0.0, 120, rng)
    assert ours <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 120)
    assert ours <= welch
    if spreads == (1.0, 0.3):
        assert welch > 0.2


def test_power_at_equal_spreads_is_nearly_that_of_welch():
    """Women earn a fifth less; 400 of 2,000 people, standard deviation of the log .5."""
    rng, found = np.random.default_rng(0), np.zeros(2)
    for _ in range(200):
        pay = np.exp(0.5 * rng.normal(size=2000))
        group = np.arange(2000) < 400
        pay[group] *= 0.9
        ours = means_of(pay, group)
        w = ours._against_rest()
        found += [ours.p_value()[0] <= 0.05, Welch(w.gap, w.error, w.df).p_value()[0] <= 0.05]
    assert found[1] > 150
    assert found[0] >= found[1] - 6


@pytest.mark.slow
@pytest.mark.parametrize(("spreads", "least"), [((1.0, 0.3), 0.92), ((0.3, 1.0), 0.93)])
def test_one_sided_bounds_of_skewed_pay_cover(spreads, least):
    """Of 60 women among 300 people, with the skewness of 1,600 women; at the level of a bound."""
    rng, covered, refused = np.random.default_rng(1), np.zeros(2), 0
    for _ in range(600):
        pay = [
            np.exp(k * rng.normal(size=m) - k * k / 2)
            for k, m in zip(spreads, (1600, 6400), strict=True)
        ]
        values = np.concatenate(pay)
        woman = np.arange(8000) < 1600
        context = np.isin(np.arange(8000), np.r_[:60, 1600:1840])
        row = means_of(values, woman, context, woman).contrast(0.1).iloc[0]
        covered += [row["ci_low"] <= 0, row["ci_high"] >= 0]
        refused += np.isinf(row["ci_high"])
    assert (covered / 600).min() > least
    assert refused < 600


def test_thousands_of_contexts_take_no_loop():
    rng = np.random.default_rng(0)
    sums = np.abs(rng.normal(1, 0.1, (5, 20_000))) * np.array([[500.0], [0], [500], [500], [900]])
    found = Means(sums, 2 * sums.sum(axis=1) + 1000, sides=(2 * sums, 3 * sums))
    assert found.p_value().shape == (20_000,)
