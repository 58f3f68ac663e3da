"""Columns of many values, each of few people, on which group and outcome both depend."""

import numpy as np
import pandas as pd
import pytest

from skdisc.individual import SituationTesting
from skdisc.individual._situation_testing._mean_gap import too_fine


def people(seed, n_towns, n=1500, gap=0.0):
    """Women live where few are hired; within a town all are hired alike but for the gap."""
    rng = np.random.default_rng(seed)
    town = rng.integers(n_towns, size=n)
    level = town / (n_towns - 1)
    is_woman = rng.random(n) < 0.75 - 0.5 * level
    X = pd.DataFrame({"sex": np.where(is_woman, "F", "M"), "town": [f"t{i}" for i in town]})
    return X, (rng.random(n) < 0.3 + 0.4 * level - gap * is_woman).astype(int)


def compared(X, y, **more):
    return SituationTesting(protected="sex", random_state=0, **more).fit(X, y).result_


def test_a_gap_within_towns_is_found():
    result = compared(*people(0, 150, gap=0.2))
    assert result.verdict == "disparity found"
    row = result.tables["gaps"].iloc[0]
    assert row["ci_low"] < -0.2 < row["ci_high"]


@pytest.mark.slow
def test_pairs_of_small_groups_are_not_compared_across_towns():
    X, y = people(0, 150)
    X["race"] = np.random.default_rng(1).choice(list("abc"), len(X), p=[0.6, 0.3, 0.1])
    result = SituationTesting(protected=["sex", "race"], random_state=0).fit(X, y).result_
    gaps = result.tables["gaps"]
    is_small = gaps["n_group"] + gaps["n_reference"] < 5 * 100
    assert is_small.any()
    assert gaps.loc[is_small, "p_value"].isna().all()


@pytest.mark.slow
@pytest.mark.parametrize("gap", [0.0, 0.2])
def test_too_many_towns_for_so_few_people_are_named(gap):
    result = compared(*people(0, 500, gap=gap))
    assert result.verdict == "insufficient evidence"
    assert "too many values of 'town'" in result.reason
    assert result.tables["gaps"][["ci_low", "p_value"]].isna().all(axis=None)
    assert not result.n_found


@pytest.mark.slow
def test_an_identifier_is_no_column_of_towns():
    X, y = people(0, 20, gap=0.2)
    named = X.assign(name=[f"p{i}" for i in range(len(X))])
    assert too_fine(named[["name"]], named[["name"]]) == ""
    assert compared(named, y).verdict == "disparity found"
