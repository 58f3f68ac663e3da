"""Weights and clusters: frequencies are repeated rows, probabilities have no unit."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from skdisc import measures as m
from skdisc.measures._formula._catalogue import CATALOGUE

STRATA = ("unexplained_difference", "conditional_impact_ratio", "cochran_mantel_haenszel_test")
NO_DESIGN = ("regression_slope_test", "rank_test")
NAMES = [
    name
    for name in CATALOGUE
    if hasattr(getattr(m, name, None), "plan")
    and (
        name in STRATA
        or not any(p.default is p.empty for p in getattr(m, name).plan.options.values())
    )
]
FEW = {"n_resamples": 19}


def sample(seed, n=300):
    rng = np.random.default_rng(seed)
    s, t, z = rng.choice(list("abc"), n), rng.integers(0, 2, n), rng.integers(0, 2, n)
    return t, (rng.random(n) < 0.3 + 0.2 * t).astype(int), s, z


def report(name, rows, z, **how):
    t, y, s = rows
    more = {"explanatory": z} if name in STRATA else {}
    more |= {"pos_label": None} if CATALOGUE[name].target == ("numeric",) else {}
    return getattr(m, name).report(t, y, protected=s, **FEW, **(more | how))


@pytest.mark.every(6)
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=5)
@given(data=st.data())
def test_frequencies_are_repeated_rows(name, data):
    *rows, z = sample(data.draw(st.integers(0, 99)), 60)
    weight = np.array(data.draw(st.lists(st.integers(0, 3), min_size=60, max_size=60)))
    weight[:9] = np.maximum(weight[:9], 1)
    weight[np.unique(rows[2], return_index=True)[1]] = 1  # every group is there
    again = np.repeat(np.arange(60), weight)
    counted = report(name, rows, z, sample_weight=weight, weights="frequency")
    long = report(name, [v[again] for v in rows], z[again])
    pd.testing.assert_frame_equal(counted, long)


@pytest.mark.parametrize("numeric", [False, True])
@pytest.mark.parametrize("name", [n for n in NAMES if n not in NO_DESIGN])
def test_neither_the_unit_of_weights_nor_repetitions_within_clusters_matter(name, numeric):
    """Rows repeated in clusters of their own have the intervals of weighted rows."""
    *rows, z = sample(0)
    if numeric and "numeric" not in CATALOGUE[name].target:
        return
    how = {"pos_label": None} if numeric and not CATALOGUE[name].needs_labels else {}
    weight = np.random.default_rng(1).integers(1, 4, 300)
    weighted = report(name, rows, z, sample_weight=weight, **how)
    scaled = report(name, rows, z, sample_weight=1e-3 * weight, **how)
    pd.testing.assert_frame_equal(weighted, scaled)
    again = np.repeat(np.arange(300), weight)
    long = report(name, [v[again] for v in rows], z[again], groups=again, **how)
    for column in ("estimate", "p_value"):
        assert long[column].to_numpy() == pytest.approx(weighted[column], nan_ok=True)
    if name in ("mean_difference", "impact_ratio", "odds_ratio", "equal_opportunity"):
        assert long["ci_low"].to_numpy() == pytest.approx(weighted["ci_low"])


@pytest.mark.parametrize("name", [n for n in NAMES if n not in NO_DESIGN])
def test_rows_of_weight_0_are_nobody(name):
    *rows, z = sample(0)
    weight = np.where(np.arange(300) < 100, 0.5 + np.arange(300) % 7, 0)
    few = report(name, [v[:100] for v in rows], z[:100], sample_weight=weight[:100])
    pd.testing.assert_frame_equal(report(name, rows, z, sample_weight=weight), few)


@pytest.mark.parametrize("name", [n for n in NAMES if n not in NO_DESIGN])
def test_equal_weights_do_nothing(name):
    """Nor among the rows that count: those of a weight above 0 and a known group."""
    t, y, s, z = sample(0)
    s = np.where(np.arange(300) < 20, None, s)
    plain = report(name, [t, y, s], z, missing="drop")
    weight = np.where(np.arange(300) < 20, 3.0, 0.1)
    equal = report(name, [t, y, s], z, missing="drop", sample_weight=weight)
    pd.testing.assert_frame_equal(equal, plain)


@pytest.mark.parametrize("name", NO_DESIGN)
def test_tests_of_counts_refuse_designs(name):
    *rows, z = sample(0)
    with pytest.raises(ValueError, match=r"neither groups nor probability weights"):
        report(name, rows, z, groups=np.arange(300))


def test_what_is_no_design_is_refused():
    t, y, s, _ = sample(0)
    how = {"protected": s}
    with pytest.raises(ValueError, match=r"must be whole numbers; got 0.5"):
        m.mean_difference(None, y, sample_weight=np.full(300, 0.5), weights="frequency", **how)
    with pytest.raises(ValueError, match=r"weights must be one of"):
        m.mean_difference(None, y, weights="importance", **how)
    with pytest.raises(ValueError, match=r"groups has missing values"):
        m.mean_difference(None, y, groups=[None] * 300, **how)
    with pytest.raises(ValueError, match=r"permutation tests support neither"):
        m.mean_difference_report(None, y, groups=t, permutations=9, **how)
    with pytest.raises(ValueError, match=r"protected number takes neither"):
        m.correlation(None, y, protected=np.arange(300.0), groups=t)


def test_rates_of_groups_have_intervals_between_clusters():
    _, y, s, _ = sample(0)
    five = np.repeat(np.arange(300), 5)
    plain = m.group_rates(None, y, protected=s)
    naive = m.group_rates(None, y[five], protected=s[five])
    right = m.group_rates(None, y[five], protected=s[five], groups=five)
    width = [t["ci_high"] - t["ci_low"] for t in (plain, naive, right)]
    assert (width[1] < 0.5 * width[0]).all()
    assert width[2].to_numpy() == pytest.approx(width[0], rel=0.02)


def weighted_worlds(rng, n=1000):
    """Yield outcome, group and weight of five designs in which both groups have equal rates."""
    s, y = rng.choice(["f", "m"], n), rng.random(n) < 0.3
    yield "lognormal", y, s, rng.lognormal(0, 1, n)
    yield "small unit", y, s, 1e-3 * rng.lognormal(0, 1, n)
    yield "one in 50 weighs 50", y, s, np.where(rng.random(n) < 0.02, 50.0, 1.0)
    yield "10 to 1 by outcome", y, s, np.where(y, 10.0, 1.0)
    many = rng.random(10 * n) < 0.1
    kept = ~many | (rng.random(10 * n) < 0.1)
    kept &= rng.random(10 * n) < 0.1
    yield (
        "events undersampled",
        many[kept],
        rng.choice(["f", "m"], kept.sum()),
        np.where(many[kept], 10.0, 1.0),
    )


@pytest.mark.statistics
def test_weighted_rates_keep_level_and_coverage():
    rejected, covered, n_seeds = {}, {}, 150
    for seed in range(n_seeds):
        for name, y, s, w in weighted_worlds(np.random.default_rng(seed)):
            how = {"protected": s, "sample_weight": w, "reference": "m", "pos_label": True}
            row = m.mean_difference_report(None, y, **how).iloc[0]
            rejected[name] = rejected.get(name, 0) + (row.p_value <= 0.05)
            covered[name] = covered.get(name, 0) + (row.ci_low <= 0 <= row.ci_high)
    assert max(rejected.values()) <= 16, rejected  # .05 of 150, and three standard errors
    assert min(covered.values()) >= 134, covered


@pytest.mark.statistics
def test_households_keep_level():
    rejected = {"mean_difference": 0, "mutual_information": 0}
    for seed in range(100):
        rng = np.random.default_rng(seed)
        home = np.repeat(np.arange(200), 5)
        s = rng.choice(["f", "m"], 200)[home] if seed % 2 else rng.choice(["f", "m"], 1000)
        y = rng.random(1000) < rng.beta(0.6, 1.4, 200)[home]
        for name in rejected:
            how = {"protected": s, "groups": home, "pos_label": True, "n_resamples": 0}
            row = getattr(m, name).report(None, y, **how).iloc[0]
            rejected[name] += row.p_value <= 0.05
    assert max(rejected.values()) <= 12, rejected


def test_few_effective_events_take_fishers_test():
    """Two sick households of 20: four people each, who count as little more than one."""
    house = np.repeat(np.arange(40), 4)
    s, y = np.where(house < 20, "f", "m"), np.isin(house, (0, 1)).astype(int)
    table = m.mean_difference_report(None, y, protected=s, groups=house)
    row = table.iloc[0]
    assert "Fisher's exact test" in str(row["test"])
    assert row["p_value"] == pytest.approx(stats.fisher_exact([[2, 18], [0, 20]])[1], abs=0.25)
    plain = m.mean_difference_report(None, y, protected=s).iloc[0]
    assert plain["test"] == "mid-p exact test"
    assert plain["p_value"] < 0.01 < 0.05 < row["p_value"]


@pytest.mark.statistics
def test_heavy_rows_and_few_events_keep_the_level():
    rng, found = np.random.default_rng(0), 0
    for _ in range(200):
        s, y = rng.choice(["f", "m"], 1000), rng.random(1000) < 0.02
        weight = np.where(rng.random(1000) < 0.02, 50.0, 1.0)
        table = m.mean_difference_report(None, y, protected=s, sample_weight=weight)
        found += table["p_value"].iloc[0] <= 0.05
    assert found <= 16  # 0.05 + 2 standard errors; 20 with mid-p values
