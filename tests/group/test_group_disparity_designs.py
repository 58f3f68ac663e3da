"""GroupDisparity with weights, clusters and held-out rows, and intervals of what it selected."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdisc import measures
from skdisc.group import GroupDisparity

FOUND, NOTHING, UNSURE = "disparity found", "no disparity found", "insufficient evidence"


def sample(seed, n=600, gap=0.2):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "race": rng.choice(list("abc"), n)})
    X["points"] = rng.random(n)
    y = (rng.random(n) < 0.5 - gap * (X["sex"] == "f")).astype(int)
    return X, y, rng


def columns(result, *names):
    return result.to_frame().set_index(["subject", "measure"])[list(names)].sort_index()


@pytest.mark.slow
@settings(max_examples=8)
@given(st.integers(0, 999))
def test_frequencies_are_repeated_rows(seed):
    X, y, rng = sample(seed, 200)
    times = rng.integers(1, 4, 200)
    rows = np.repeat(np.arange(200), times)
    detector = GroupDisparity(protected=["sex", "race"], weights="frequency", pos_label=1)
    counted = detector.fit(X, y, sample_weight=times).result_
    long = detector.fit(X.iloc[rows].reset_index(drop=True), y[rows]).result_
    names = ["effect", "ci_low", "ci_high", "p_value", "p_adjusted", "support"]
    pd.testing.assert_frame_equal(columns(counted, *names), columns(long, *names))
    assert (counted.verdict, counted.reason) == (long.verdict, long.reason)
    tables = (r.to_frame("family") for r in (counted, long))
    pd.testing.assert_frame_equal(*tables)


def test_equal_weights_do_nothing():
    X, y, _ = sample(0)
    detector = GroupDisparity(protected="sex")
    plain = detector.fit(X, y).result_
    assert detector.fit(X, y, sample_weight=np.full(len(X), 0.3)).result_ == plain


def test_probability_weights_are_those_of_the_measures_and_have_no_unit():
    X, y, rng = sample(0)
    w = rng.lognormal(size=len(X))
    detector = GroupDisparity(protected="sex", reference="m", measures=["mean_difference"])
    result = detector.fit(X, y, sample_weight=w).result_
    row = measures.mean_difference_report(
        None, y, protected=X["sex"], reference="m", sample_weight=w
    ).iloc[0]
    assert result[0].effect == pytest.approx(-row.estimate)
    assert (result[0].ci_low, result[0].ci_high) == pytest.approx((-row.ci_high, -row.ci_low))
    assert result[0].p_value == pytest.approx(row.p_value)
    small = detector.fit(X, y, sample_weight=1e-3 * w).result_
    pd.testing.assert_frame_equal(small.to_frame("family"), result.to_frame("family"))
    again = detector.audit(X, y, sample_weight=w)
    assert again[0].effect == pytest.approx(result[0].effect)


@pytest.mark.parametrize("preset", [None, "four_fifths"])
def test_rows_repeated_in_clusters_of_their_own_add_no_evidence(preset):
    X, y, _ = sample(1, 200, gap=0.3)
    rows = np.repeat(np.arange(200), 5)
    detector = GroupDisparity(protected="sex", preset=preset, measures=["impact_ratio"])
    plain = detector.fit(X, y, groups=np.arange(200)).result_
    X5, y5 = X.iloc[rows].reset_index(drop=True), y[rows]
    five = detector.fit(X5, y5, groups=rows).result_
    naive = detector.fit(X5, y5).result_
    for name in ("p_value", "ci_low", "ci_high"):
        assert five.to_frame()[name].iloc[0] == pytest.approx(plain.to_frame()[name].iloc[0])
    assert naive[0].p_value < 0.1 * five[0].p_value
    with pytest.raises(ValueError, match=r"groups has missing values"):
        detector.fit(X, y, groups=[None] * 200)


def test_rows_that_are_dropped_lose_weight_and_cluster():
    X, y, rng = sample(2, 300)
    w, home = rng.lognormal(size=300), np.arange(300) // 3
    X.loc[5:8, "sex"] = None
    w[20:30] = 0
    detector = GroupDisparity(protected="sex", missing="drop", pos_label=1)
    result = detector.fit(X, y, sample_weight=w, groups=home).result_
    kept = X["sex"].notna() & (w > 0)
    alone = detector.fit(
        X[kept].reset_index(drop=True), y[kept], sample_weight=w[kept], groups=home[kept]
    ).result_
    names = ["effect", "ci_low", "ci_high", "p_value"]
    pd.testing.assert_frame_equal(columns(result, *names), columns(alone, *names))


def test_held_out_rows_confirm():
    X, y, _ = sample(3, 3000)
    detector = GroupDisparity(protected=["sex", "race"], confirm=0.5, random_state=0)
    result = detector.fit(X, y).result_
    first = result.to_frame().iloc[0]
    assert result.verdict == FOUND
    assert first["held_out_p_adjusted"] <= 0.05
    assert any("on 1500 others" in note for note in result.notes)
    assert first["effect"] != first["held_out_effect"]
    shifted = X.assign(points=0.0)
    fair = detector.fit(shifted, np.tile([0, 1], 1500)).result_
    assert fair.verdict != FOUND


def test_held_out_rows_keep_clusters_and_copies_whole():
    from skdisc.group._group_disparity_people import ComparedPeople

    X, y, rng = sample(4, 300)
    home = np.arange(300) // 3
    out = ComparedPeople(X, y, groups=home).held_out(0.4, rng)
    assert (np.bincount(home, out) % 3 == 0).all()
    twice = pd.concat([X, X[:100]], ignore_index=True)
    out = ComparedPeople(twice, np.r_[y, y[:100]]).held_out(0.4, rng)
    assert (out[:100] == out[300:]).all()
    coarse = ComparedPeople(X[["sex"]], y).held_out(0.5, rng)
    assert coarse.sum() == 150


def test_selected_rows_have_wider_intervals_and_agree_with_the_verdict():
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"race": [f"g{i:02}" for i in rng.integers(0, 12, 6000)]})
    y = (rng.random(6000) < 0.5 - 0.2 * (X["race"] == "g03")).astype(int)
    detector = GroupDisparity(protected="race", reference="rest", measures=["mean_difference"])
    result = detector.fit(X, y).result_
    frame = result.to_frame()
    n_found = result.n_found
    assert n_found < 12
    level = 0.05 * n_found / 12
    assert frame["ci_significance"].tolist() == pytest.approx([level] * 12)
    for i, row in enumerate(frame.itertuples()):
        assert (row.ci_low > 0 or row.ci_high < 0) == (i < n_found)
    assert any("false coverage rate" in note for note in result.notes)


@pytest.mark.statistics
def test_few_of_the_selected_intervals_miss():
    """Of 1,000 rows, a twelfth .05 lower: the mean share of selected intervals that miss."""
    missed, n_seeds = 0.0, 60
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame({"race": [f"g{i:02}" for i in rng.integers(0, 12, 1000)]})
        low = X["race"] == "g03"
        y = (rng.random(1000) < 0.5 - 0.05 * low).astype(int)
        detector = GroupDisparity(protected="race", reference="rest", measures=["mean_difference"])
        result = detector.fit(X, y).result_
        chosen = result.to_frame()[: max(1, result.n_found)]
        truth = np.where(chosen["subject"] == "race = 'g03'", -0.05, 0.05 / 12)
        wrong = (chosen["ci_low"] > truth) | (chosen["ci_high"] < truth)
        missed += wrong.sum() / max(1, len(chosen))
    assert missed <= 8  # .05 of 60, and three standard errors


@pytest.mark.parametrize("clusters", [None, np.arange(600) // 2])
def test_intervals_of_selected_rows_are_those_of_measures_at_their_level(clusters):
    X, y, _ = sample(0)
    X, names = X.drop(columns="points"), ["mean_difference", "impact_ratio"]
    detector = GroupDisparity(protected=["sex", "race"], measures=names, reference="rest")
    shown = detector.fit(X, y, groups=clusters).result_.to_frame()
    level = shown["ci_significance"].iloc[0]
    chosen = [getattr(measures, name) for name in names]
    how = {"measures": chosen, "reference": "rest", "significance": level, "intersections": 2}
    table = measures.disparities(None, y, protected=X, groups=clusters, **how)
    ends = table[["ci_low", "ci_high"]].to_numpy()
    is_gap = table["measure"].to_numpy() == "mean_difference"
    ends = np.where(is_gap[:, None], -ends[:, ::-1], ends - 1)
    assert level < 0.05
    assert sorted(shown[["ci_low", "ci_high"]].to_numpy().tolist()) == sorted(ends.tolist())
