"""Comparisons with the best group: corrected for the choice of the best."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdisc import Rule, _stats, measures
from skdisc.exceptions import UndefinedMeasureWarning
from skdisc.group import GroupDisparity


def sample(seed, n_groups, n=1000, rate=0.3, **columns):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"race": [f"g{i:02}" for i in rng.integers(0, n_groups, n)], **columns})
    return X, (rng.random(n) < rate).astype(int)


def test_p_values_are_those_of_the_range():
    X, y = sample(0, 6)
    settings = {"protected": "race", "measures": ["mean_difference"], "reference": "best"}
    table = GroupDisparity(**settings).fit(X, y).result_.to_frame("measures")
    wanted = _stats.best_p_value(table["p_value"].to_numpy(), 6)
    assert table["p_adjusted"].to_numpy() == pytest.approx(wanted)
    named = table["reference"].iloc[0].split("'")[1]
    fixed = GroupDisparity(**settings | {"reference": named}).fit(X, y).result_
    plain = fixed.to_frame("measures")
    for name in ("estimate", "ci_low", "ci_high", "p_value"):
        assert plain[name].tolist() == table[name].tolist()
    assert (plain["p_adjusted"] < table["p_adjusted"]).all()


def test_columns_and_measures_are_corrected_together():
    X, y = sample(1, 4)
    X["sex"] = np.random.default_rng(2).choice(["f", "m"], len(X))
    settings = {
        "protected": ["race", "sex"],
        "reference": "best",
        "rule": Rule(correction="bonferroni"),
    }
    table = GroupDisparity(**settings).fit(X, y).result_.to_frame("measures")
    for attribute, k in (("race", 4), ("sex", 2), ("race & sex", 8)):
        rows = table[table["attribute"] == attribute]
        wanted = np.minimum(1, 6 * _stats.best_p_value(rows["p_value"].to_numpy(), k))
        assert rows["p_adjusted"].to_numpy() == pytest.approx(wanted)


def test_a_p_value_of_zero_stays():
    X = pd.DataFrame({"race": np.repeat(["a", "b", "c"], 4000)})
    y = np.repeat([1, 0, 1], 4000)
    table = GroupDisparity(protected="race", reference="best").fit(X, y).result_.to_frame()
    assert (table["p_adjusted"] == 0).sum() >= 1
    assert table["p_adjusted"].notna().all()


@pytest.mark.statistics
@pytest.mark.parametrize(("n_groups", "preset"), [(2, None), (10, "four_fifths"), (30, "ll144")])
def test_equal_groups_are_seldom_found(n_groups, preset):
    found = 0
    settings = {"protected": "race", "preset": preset, "reference": "best", "pos_label": 1}
    for seed in range(40):
        found += (
            GroupDisparity(measures=["impact_ratio"], **settings)
            .fit(*sample(seed, n_groups))
            .result_.n_found
            > 0
        )
    assert found <= 6  # .05 of 40, and three standard errors


def counted(**counts):
    """Rows of groups, each with its number of selected people and its size."""
    race = [name for name, (_, n) in counts.items() for _ in range(n)]
    y = [int(i < x) for x, n in counts.values() for i in range(n)]
    return pd.DataFrame({"race": race}), np.array(y)


FEW = {"Black": (280, 1000), "White": (500, 1500), "Other": (3, 3)}


@pytest.mark.parametrize("settings", [{"preset": "four_fifths"}, {"reference": "best"}])
def test_three_of_three_people_are_no_reference(settings):
    X, y = counted(**FEW)
    result = GroupDisparity(protected="race", **settings).fit(X, y).result_
    table = result.to_frame("measures")
    assert set(table["reference"]) == {"race = 'White'"}
    assert set(table["n_reference"]) == {1500}
    family = result.tables["family"]
    assert set(family["reference"]) == {"race = 'White'"}
    if "preset" in settings:
        table = result.tables["impact_ratios"].set_index("group")
        assert table.loc["race = 'White'", ["n", "note"]].tolist() == [1500, "reference"]
        black, other = (table.loc[f"race = '{name}'"] for name in ("Black", "Other"))
        assert black["impact_ratio"] == pytest.approx(0.28 * 3)
        assert (black["n_reference"], black["note"]) == (1500, "")
        assert other["note"] == "too small to be the reference"


def test_a_few_people_more_do_not_change_the_answer():
    without = {name: n for name, n in FEW.items() if name != "Other"}
    answers = [
        GroupDisparity(protected="race", preset="four_fifths").fit(*counted(**groups)).result_
        for groups in (FEW, without)
    ]
    assert answers[0].verdict == answers[1].verdict == "disparity found"


def test_the_best_of_a_small_table_has_ten_people():
    X, y = counted(a=(20, 50), b=(15, 45), c=(5, 5))
    table = GroupDisparity(protected="race", preset="four_fifths").fit(X, y).result_
    assert set(table.to_frame("measures")["reference"]) == {"race = 'a'"}
    with pytest.warns(UndefinedMeasureWarning, match="race=c"):
        ratio = measures.impact_ratio(None, y, protected=X["race"], reference="best", min_size=10)
    assert ratio == pytest.approx((15 / 45) / (20 / 50))


def test_the_best_where_all_groups_are_small_is_the_largest():
    X, y = counted(**{f"g{i:02}": (1, 3) for i in range(60)} | {"last": (1, 4)})
    table = GroupDisparity(protected="race", reference="best").fit(X, y).result_
    assert set(table.to_frame("measures")["reference"]) == {"race = 'last'"}
    report = measures.impact_ratio_report(None, y, protected=X["race"], reference="best")
    assert set(report["reference"]) == {"last"}


@given(groups=st.lists(st.tuples(st.integers(1, 200), st.floats(0, 1)), min_size=2, max_size=6))
def test_the_reference_is_the_best_of_the_large_groups(groups):
    counts = {f"g{i}": (round(rate * n), n) for i, (n, rate) in enumerate(groups)}
    X, y = counted(**counts)
    report = measures.mean_difference_report(None, y, protected=X["race"], reference="best")
    large = {g: x / n for g, (x, n) in counts.items() if n >= 0.02 * len(y)}
    chosen = report["reference"].iloc[0]
    assert chosen in large
    assert large[chosen] == max(large.values())
