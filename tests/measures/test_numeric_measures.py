"""Measures of decisions that are numbers: standardized means, quantiles, whole distributions."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from skewed_pay import oracle

from skdisc import measures as m

NUMBERS = {"reference": 0, "pos_label": None}
SMD, QUANTILE = m.standardized_mean_difference, m.quantile_difference
DISTANCE = m.wasserstein_distance
ALL = [SMD, QUANTILE, DISTANCE]


def numbers(seed, sizes=(80, 50), spread=2.0, gap=0.5, ties=False):
    """Return numbers of a reference (0) and of a group (1) that has `gap` less."""
    rng = np.random.default_rng(seed)
    s = np.repeat([0, 1], sizes)
    y = rng.normal(size=len(s)) * np.where(s, spread, 1) - gap * s
    return (np.round(2 * y) if ties else y), s


def row(measure, y, s, **how):
    return measure.report(None, y, protected=s, **NUMBERS, **how).iloc[0]


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_standardized_means_are_cohens_and_hedges(seed, ties):
    """The exact factor of Hedges is close to the usual approximation, 1 - 3 / (4 m - 1)."""
    y, s = numbers(seed, ties=ties)
    a, b = y[s == 0], y[s == 1]
    t = stats.ttest_ind(a, b).statistic  # with the pooled variance
    d = t * np.sqrt(1 / len(a) + 1 / len(b))
    assert SMD(None, y, protected=s, **NUMBERS) == pytest.approx(d)
    factor = SMD(None, y, protected=s, hedges=True, **NUMBERS) / d
    assert factor == pytest.approx(1 - 3 / (4 * 128 - 1), rel=1e-5)
    assert row(SMD, y, s).p_value == pytest.approx(oracle(a, b, (a, b))[1])


def test_the_interval_of_equal_standardized_means_is_that_of_means():
    y, s = numbers(0)
    y = y - np.where(s, y[s == 1].mean(), y[s == 0].mean())
    means = row(m.mean_difference, y, s)
    scale = np.sqrt((79 * y[s == 0].var(ddof=1) + 49 * y[s == 1].var(ddof=1)) / 128)
    found = row(SMD, y, s)
    assert (found.ci_low, found.ci_high) == pytest.approx(
        (means.ci_low / scale, means.ci_high / scale)
    )


@pytest.mark.slow
def test_the_error_of_standardized_means_is_that_of_the_jackknife():
    y, s = numbers(1, (400, 300), spread=1, gap=1)
    y = np.exp(y / 4)  # skewed: the mean goes with the variance
    without = np.arange(len(y))
    left_out = [
        SMD(None, y[without != i], protected=s[without != i], **NUMBERS) for i in range(len(y))
    ]
    parts = [np.array(left_out)[s == k] for k in (0, 1)]
    error = np.sqrt(sum((len(p) - 1) / len(p) * ((p - p.mean()) ** 2).sum() for p in parts))
    found = row(SMD, y, s)
    half = (found.ci_high - found.ci_low) / 2 / 1.965
    assert half == pytest.approx(error, rel=0.03)  # by skewness, one end is farther


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("q", [0.1, 0.25, 0.5, 0.9])
def test_quantiles_are_those_of_numpy_and_weights_are_rows(q, ties):
    y, s = numbers(2, (80, 48), ties=ties)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    for times in (np.ones(len(y), dtype=int), weight):
        parts = [np.repeat(y[s == k], times[s == k]) for k in (0, 1)]
        a, b = (np.quantile(p, q, method="averaged_inverted_cdf") for p in parts)
        for kind in ("probability", "frequency"):
            how = {"sample_weight": times, "weights": kind, "quantile": q}
            assert QUANTILE(None, y, protected=s, **NUMBERS, **how) == pytest.approx(a - b)


def test_the_interval_of_quantiles_is_that_of_order_statistics_in_quadrature():
    y, s = numbers(5, (83, 47))
    y, limits = np.exp(y), []
    for k in (0, 1):
        part = np.sort(y[s == k])
        n = len(part)
        low, high = n * 0.7 + np.array([-1, 1]) * stats.norm.ppf(0.975) * np.sqrt(n * 0.21)
        limits.append((part[int(np.ceil(low)) - 1], np.quantile(part, 0.7), part[int(high)]))
    found = row(QUANTILE, y, s, quantile=0.7)
    at = [np.quantile(y[s == k], 0.7, method="averaged_inverted_cdf") for k in (0, 1)]
    (low0, _, high0), (low1, _, high1) = limits
    assert found.estimate - found.ci_low == pytest.approx(np.hypot(at[0] - low0, high1 - at[1]))
    assert found.ci_high - found.estimate == pytest.approx(np.hypot(high0 - at[0], at[1] - low1))


def test_the_distance_from_everyone_is_a_share_of_that_from_the_rest():
    y, s = numbers(0, (90, 30))
    rest, everyone = (
        DISTANCE.report(None, y, protected=s, pos_label=None, reference=name, n_resamples=99)
        for name in ("rest", "overall")
    )
    for column in ("estimate", "ci_low", "ci_high"):
        assert everyone[column][0] == pytest.approx(rest[column][0] * 30 / 120)


def test_the_test_of_quantiles_is_its_interval():
    """The interval of the level that the p-value names ends at 0."""
    for seed in range(20):
        y, s = numbers(seed, ties=bool(seed % 2))
        found = row(QUANTILE, y, s)
        assert (found.p_value < 0.05) == (not found.ci_low <= 0 <= found.ci_high)
        if 1e-6 < found.p_value < 1:
            for factor, inside in ((0.99, True), (1.01, False)):
                again = row(QUANTILE, y, s, significance=found.p_value * factor)
                assert (again.ci_low <= 0 <= again.ci_high) == inside


@pytest.mark.parametrize("ties", [False, True])
def test_the_distance_is_that_of_scipy(ties):
    y, s = numbers(3, ties=ties)
    weight = np.random.default_rng(0).random(len(y)) + 0.1
    for w in (np.ones(len(y)), weight):
        parts = (y[s == 0], y[s == 1], w[s == 0], w[s == 1])
        found = DISTANCE(None, y, protected=s, sample_weight=w, **NUMBERS)
        assert found == pytest.approx(stats.wasserstein_distance(*parts))


def test_another_spread_is_seen_by_the_distance_alone():
    y, s = numbers(0, (400, 400), spread=3, gap=0)
    y = y - np.where(s, y[s == 1].mean(), y[s == 0].mean())
    assert row(SMD, y, s).p_value > 0.99
    assert row(QUANTILE, y, s).p_value > 0.05
    assert row(QUANTILE, y, s, quantile=0.9).p_value < 0.001
    found = row(DISTANCE, y, s, permutations=199, n_resamples=99)
    assert (found.p_value, found.test) == (0.005, "permutation test")
    assert 0 < found.ci_low < found.estimate < found.ci_high


def test_permutations_and_replicates_come_from_the_seed():
    y, s = numbers(0)
    how = {"permutations": 49, "n_resamples": 49}
    first, again, other = (row(DISTANCE, y, s, random_state=k, **how) for k in (0, 0, 1))
    pd.testing.assert_series_equal(first, again)
    assert other.estimate == first.estimate
    assert other.ci_low != first.ci_low


def test_a_monetary_unit_changes_differences_and_no_p_value():
    y, s = numbers(4)
    for measure, unit in ((SMD, 1), (QUANTILE, 100), (DISTANCE, 100)):
        how = {"permutations": 49, "n_resamples": 49} if measure is DISTANCE else {}
        there, here = row(measure, y, s, **how), row(measure, 100 * y + 7, s, **how)
        columns = ["estimate", "ci_low", "ci_high"]
        assert list(here[columns]) == pytest.approx([unit * v for v in there[columns]])
        assert here.p_value == pytest.approx(there.p_value)


def test_constants_have_no_standard_deviation():
    s = np.repeat([0, 1], 30)
    found = row(SMD, 0.1 + 0.2 * s, s)
    assert found.excluded
    assert "nothing varies" in found.reason
    assert np.isnan(found.p_value)
    assert row(QUANTILE, 0.1 + 0.2 * s, s).estimate == pytest.approx(-0.2)
    assert row(QUANTILE, 0.1 + 0.2 * s, s).p_value < 1e-6
    assert row(QUANTILE, np.ones(60), s).p_value == 1
    found = row(DISTANCE, np.ones(60), s, permutations=19)
    assert (found.estimate, found.p_value) == (0, 1)
    assert np.isnan(found.ci_high)


@pytest.mark.parametrize("size", [1, 2])
def test_a_group_of_two_is_no_evidence(size):
    y, s = np.append(np.arange(40.0), [90.0, 91.0][:size]), np.repeat([0, 1], [40, size])
    found = row(QUANTILE, y, s)
    assert (found.ci_low, found.ci_high) == (-np.inf, np.inf)
    assert found.p_value > 0.05
    found = row(DISTANCE, y, s, permutations=99)
    assert found.p_value >= 0.01
    assert found.ci_high == np.inf if size == 1 else found.ci_high > found.estimate
    found = row(SMD, y, s)
    assert np.isnan(found.ci_low) == np.isnan(found.p_value) == (size == 1)


@pytest.mark.parametrize("measure", ALL)
def test_classes_are_refused(measure):
    with pytest.raises(ValueError, match=r"numeric decisions, got classes\. Pass pos_label=None"):
        measure(None, [0, 1, 1, 0], protected=list("aabb"))


@pytest.mark.parametrize("quantile", [0, 1, -0.5, "median"])
def test_no_quantile(quantile):
    with pytest.raises(ValueError, match="'quantile' parameter of quantile_difference must be"):
        QUANTILE(None, [1.5, 2], protected=["a", "b"], quantile=quantile)


def test_tables_hold_these_measures_for_numbers_only():
    y, s = numbers(0)
    names = {measure.__name__ for measure in ALL}
    assert names <= set(m.disparities(None, y, protected=s, n_resamples=0)["measure"])
    assert not names & set(m.disparities(None, s, protected=s, n_resamples=0)["measure"])


def test_scorers_take_predicted_numbers():
    class Pay:
        def predict(self, X):
            return X["pay"].to_numpy()

    y, s = numbers(0)
    X = pd.DataFrame({"pay": y, "sex": s})
    for measure in ALL:
        scorer = m.get_scorer(f"neg_abs_{measure.__name__}", protected="sex")
        assert scorer(Pay(), X) == pytest.approx(-abs(measure(None, y, protected=s)))


def test_bootstrap_samples_keep_the_fractions_of_weights():
    """Light rows differ here; without them the area under the curve would be one half."""
    rng = np.random.default_rng(0)
    s, light = np.arange(400) % 2, rng.random(400) < 0.5
    y = rng.normal(size=400) + 3 * light * (s == 0)
    found = row(m.area_under_curve, y, s, sample_weight=np.where(light, 0.9, 1.1))
    assert found.ci_low > 0.6
    assert found.ci_high > found.estimate + 0.03


WORLDS = {  # gap, spread of the group, sizes
    "equal": (0, 1, (60, 40)),
    "unequal variances": (1, 3, (150, 40)),
    "unequal variances, large group": (1, 3, (40, 150)),
}


def share(measure, world, truth, n_seeds=200, **how):
    """Return the share of seeds whose interval covers the truth."""
    gap, spread, sizes = WORLDS[world]
    ties = how.pop("ties", False)
    covered = 0
    for seed in range(n_seeds):
        found = row(measure, *numbers(seed, sizes, spread, gap, ties), **how)
        covered += found.ci_low - 1e-9 <= truth <= found.ci_high + 1e-9
    return covered / n_seeds


@pytest.mark.statistics
@pytest.mark.parametrize("world", WORLDS)
def test_intervals_of_standardized_means_cover(world):
    gap, spread, (n0, n1) = WORLDS[world]
    scale = np.sqrt((n0 - 1 + (n1 - 1) * spread**2) / (n0 + n1 - 2))
    assert share(SMD, world, gap / scale) >= 0.91


@pytest.mark.statistics
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("world", WORLDS)
def test_intervals_of_quantiles_cover(world, q, ties):
    gap, spread, _ = WORLDS[world]
    at = stats.norm.ppf(q) * np.array([1, spread]) - [0, gap]
    at = np.round(2 * at) if ties else at
    assert share(QUANTILE, world, at[0] - at[1], quantile=q, ties=ties) >= 0.91


def in_clusters(rng):
    """Return equal distributions in clusters of five, half of the variance between them."""
    groups = np.repeat(np.arange(60), 5)
    y = rng.normal(size=60)[groups] + rng.normal(size=300)
    return y, (groups >= 35) * 1, {"groups": groups}


def oversampled(rng):
    """Return normal numbers of which the large ones are drawn more often; the group has 1 less."""
    y, s = rng.normal(0.5, 1, 300), np.arange(300) % 2
    return y - s, s, {"sample_weight": np.exp(-0.5 * y)}


@pytest.mark.statistics
@pytest.mark.parametrize(("design", "truth"), [(in_clusters, 0), (oversampled, 1)])
@pytest.mark.parametrize(
    ("measure", "how"), [(SMD, {}), (QUANTILE, {}), (QUANTILE, {"quantile": 0.9})]
)
def test_intervals_cover_in_designs(measure, how, design, truth):
    covered = 0
    for seed in range(150):
        y, s, more = design(np.random.default_rng(seed))
        found = row(measure, y, s, **more, **how)
        covered += found.ci_low <= truth <= found.ci_high
    assert covered / 150 >= 0.89


@pytest.mark.statistics
@pytest.mark.parametrize("ties", [False, True])
def test_permutations_of_the_distance_keep_their_level(ties):
    """At the level .05, with heavy tails: at most .05 and three standard errors of 200 seeds."""
    found, covered = 0, 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        y, s = rng.standard_t(3, 60), np.repeat([0, 1], [40, 20])
        y = np.round(y) if ties else y
        how = {"permutations": 39, "n_resamples": 39, "random_state": seed}
        table = row(DISTANCE, y, s, **how)
        found += table.p_value <= 0.05
        covered += table.ci_low == 0
    assert found / 200 <= 0.1
    assert covered / 200 >= 0.91
