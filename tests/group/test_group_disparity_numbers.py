"""GroupDisparity on numbers in y: Welch's test, permutations, margins as shares of the mean."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from skewed_pay import oracle
from sklearn.linear_model import LinearRegression

from skdisc import Rule
from skdisc.group import GroupDisparity
from skdisc.measures import wasserstein_distance_report


def pay(n=400, seed=0, gap=0.0, spread=0.5):
    """Return people and skewed pay, lower by `gap` standard deviations in the group "f"."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], n, p=[0.4, 0.6]), "town": rng.choice(4, n)})
    y = np.exp(10 + spread * rng.normal(size=n))
    return X, y - gap * y.std() * (X["sex"] == "f").to_numpy()


def compared(X, y, **more):
    kept = {"protected": "sex", "output": "value", "reference": "m", "random_state": 0}
    return GroupDisparity(**(kept | more)).fit(X, y).result_


@settings(deadline=None, max_examples=15)
@given(
    y=st.lists(st.integers(-50, 10**6).map(float), min_size=12, max_size=40),
    split=st.integers(4, 8),
)
def test_means_are_compared_by_the_oracle(y, split):
    y = np.array(y)
    X = pd.DataFrame({"sex": np.where(np.arange(len(y)) < split, "f", "m")})
    one, other = y[:split], y[split:]
    if min(np.ptp(one), np.ptp(other)) == 0:
        return
    (finding,) = compared(X, y)
    gap, p_value, low, high = oracle(one, other, (one, other))
    assert finding.effect == pytest.approx(gap)
    assert finding.p_value == pytest.approx(p_value)
    row = compared(X, y).findings.table.iloc[0]
    step = (high - low) / 1000 if np.isfinite(low) else 0
    assert [row["ci_low"], row["ci_high"]] == pytest.approx([low, high], abs=step)


@pytest.mark.slow
@settings(deadline=None, max_examples=10)
@given(seed=st.integers(0, 10**6), scale=st.sampled_from([1e-3, 7.0, 1e6]))
def test_the_unit_does_not_matter(seed, scale):
    X, y = pay(300, seed, gap=0.2)
    one, other = compared(X, y), compared(X, scale * y)
    assert one.verdict == other.verdict
    assert other[0].p_value == pytest.approx(one[0].p_value, rel=1e-6)
    assert other[0].effect == pytest.approx(scale * one[0].effect, rel=1e-6)
    (a, b) = (r.tables["family"].iloc[0] for r in (one, other))
    assert (b["upper"], b["n"]) == (pytest.approx(scale * a["upper"]), a["n"])


def test_the_margin_is_a_share_of_the_mean():
    X, y = pay(20_000)
    result = compared(X, y)
    assert result.verdict == "no disparity found"
    assert result.tables["family"]["measure"].tolist() == ["mean"]
    assert result.answer.relevant_gap == pytest.approx(0.05 * y.mean(), rel=0.05)
    assert result.answer.ratio is None
    few = compared(X, y, rule=Rule(relevant_gap="1%"))
    assert few.verdict == "insufficient evidence"
    assert compared(X, y, rule=Rule(relevant_gap=0.5 * y.std())).verdict == "no disparity found"
    assert compared(*pay(20_000, gap=0.1)).verdict == "disparity found"


@pytest.mark.slow
def test_quantiles_spreads_and_distances_may_be_named():
    rng = np.random.default_rng(0)
    X, _ = pay(1000)
    y = rng.normal(size=1000) * np.where(X["sex"] == "f", 3.0, 1.0)
    names = ["standardized_mean_difference", "quantile_difference", "wasserstein_distance"]
    table = compared(X, y, measures=names).tables["measures"].set_index("measure")
    assert table.loc[names[:2], "p_adjusted"].min() > 0.05
    assert table.loc[names[2], "p_adjusted"] == pytest.approx(0.003)
    own = wasserstein_distance_report(
        None, y, protected=X["sex"], reference="m", pos_label=None, permutations=99
    )
    assert table.loc[names[2], "estimate"] == pytest.approx(own["estimate"].iloc[0])
    assert table.loc[names[2], "test"] == "permutation test"
    # the means agree, and yet the distributions differ
    assert compared(X, y, measures=names).verdict == "disparity found"
    assert compared(X, y).verdict != "disparity found"


def test_new_rows_held_out_rows_and_weights():
    X, y = pay(2000, gap=0.4)
    detector = GroupDisparity(protected=["sex"], output="value").fit(X, y)
    assert detector.audit(*pay(2000, 1, gap=0.4)).verdict == "disparity found"
    assert detector.audit(*pay(2000, 1, gap=-0.4)).n_found == 0
    assert detector.score(*pay(2000, 2, gap=0.4)) > 0
    assert compared(X, y, confirm=0.5, random_state=1).n_found == 1
    n = np.random.default_rng(0).integers(1, 4, size=300)
    few, own = X.iloc[:300], y[:300]
    often = GroupDisparity(protected="sex", output="value", reference="m", weights="frequency")
    again = often.fit(few, own, sample_weight=n).result_
    at = np.repeat(np.arange(300), n)
    assert again[0].p_value == pytest.approx(compared(X.iloc[at], y[at])[0].p_value)


@pytest.mark.parametrize(
    ("more", "y", "model", "message"),
    [
        ({}, None, None, "give y, and no model"),
        ({}, "numbers", LinearRegression(), "give y, and no model"),
        ({}, "texts", None, "y is not numeric"),
        ({"preset": "four_fifths"}, "numbers", None, "about decisions, not numbers"),
        ({"measures": ["impact_ratio"]}, "numbers", None, "impact_ratio"),
    ],
)
def test_what_is_wrong_is_said(more, y, model, message):
    X, numbers = pay(100)
    y = {None: None, "numbers": numbers, "texts": ["high"] * 100}[y]
    detector = GroupDisparity(protected="sex", output="value", **more)
    with pytest.raises(ValueError, match=message):
        detector.fit(X, y, model)


@pytest.mark.statistics
def test_of_equal_means_one_in_twenty_differs_and_relevant_gaps_are_not_excluded():
    found = [compared(*pay(120, seed, spread=0.8)).verdict for seed in range(100)]
    assert stats.binom.sf(found.count("disparity found") - 1, 100, 0.05) > 0.01
    excluded = 0
    for seed in range(50):
        X, y = pay(800, seed, gap=0.31)  # 0.3 standard deviations of all people
        checked = compared(X, y, rule=Rule(relevant_gap=0.3 * y.std())).tables["family"]
        excluded += bool(checked["upper"].iloc[0] <= 0.3 * y.std())
    assert stats.binom.sf(excluded - 1, 50, 0.05) > 0.01
