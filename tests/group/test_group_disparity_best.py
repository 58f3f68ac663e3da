"""Comparisons with the best group: corrected for the choice of the best."""

import numpy as np
import pandas as pd
import pytest

from skdisc import Rule, _stats
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
