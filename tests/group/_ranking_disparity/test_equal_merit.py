"""Exposure at equal merit: by hand, where exposure and merit part, levels and coverage."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from skdisc.group import RankingDisparity
from skdisc.group._ranking_disparity._equal_merit import merit_table, treatment_ratio
from skdisc.group._ranking_disparity._exposure_gap import Side
from skdisc.group._ranking_disparity._ranked_list import RankedList

PERSON = st.tuples(st.integers(0, 3), st.booleans(), st.booleans())


def ranked(score, group, relevant):
    """Return one list, best first."""
    order = np.argsort(-score, kind="stable")
    side = Side(RankedList.of(score[order], "log"), group[order], ~group[order])
    return [side], [relevant[order]]


@given(st.lists(PERSON, min_size=4, max_size=12))
def test_one_list_is_that_by_hand(people):
    score, group, relevant = (np.array(column) for column in zip(*people, strict=True))
    assume(all((relevant & side).any() for side in (group, ~group)))
    sides, merit = ranked(score.astype(float), group, relevant)
    worth, group, relevant = sides[0].ranked.value, sides[0].group, merit[0]
    row = merit_table(sides, merit, 0.05, np.random.default_rng(0)).iloc[0]
    own, other = (worth[relevant & side].mean() for side in (group, ~group))
    assert row["gap"] == pytest.approx(own - other)
    assert row["ratio"] == pytest.approx(own / other)
    one, two = (worth[side].mean() / relevant[side].mean() for side in (group, ~group))
    assert row["treatment_ratio"] == pytest.approx(one / two)
    assert treatment_ratio(sides, merit) == row["treatment_ratio"]


def drawn(rng, n=120, gap=0.0, better=0.3):
    """Return a list in which the group is relevant more often, and placed lower by `gap`."""
    group = rng.random(n) < 0.4
    relevant = rng.random(n) < 0.3 + better * group
    return ranked(rng.normal(size=n) + 1.5 * relevant - gap * group, group, relevant)


@pytest.mark.statistics
def test_level_and_coverage_among_relevant_people():
    rng, n = np.random.default_rng(0), 60
    truth = np.mean([row_of(rng, 0.8, draws=False) for _ in range(1000)])
    found = np.mean([row_of(rng, 0.0)["p_value"] <= 0.05 for _ in range(n)])
    assert found <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / n)
    rows = [row_of(rng, 0.8) for _ in range(n)]
    covered = np.mean([row["ci_low"] <= truth <= row["ci_high"] for row in rows])
    assert covered >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / n)
    assert np.mean([row["p_value"] <= 0.05 for row in rows]) > 0.2


def row_of(rng, gap, draws=True):
    """Return the row of one list, or only its gap."""
    sides, merit = drawn(rng, gap=gap)
    if draws:
        return merit_table(sides, merit, 0.05, rng).iloc[0]
    worth, group, relevant = sides[0].ranked.value, sides[0].group, merit[0]
    return worth[group & relevant].mean() - worth[~group & relevant].mean()


def test_equal_exposure_can_be_unequal_at_equal_merit():
    rng = np.random.default_rng(3)
    n = 600
    group = rng.random(n) < 0.5
    relevant = rng.random(n) < np.where(group, 0.7, 0.3)
    score = rng.normal(size=n) + 2 * relevant - 0.8 * group
    X = pd.DataFrame({"sex": np.where(group, "f", "m"), "score": score})
    detector = RankingDisparity(
        protected="sex", reference={"sex": "m"}, output="value", random_state=0
    )
    result = detector.fit(X, relevant.astype(int), model=lambda X: X["score"]).result_
    row = result.tables["merit"].iloc[0]
    assert abs(result[0].effect) < 0.05
    assert row["ci_high"] < 0
    assert row["p_value"] < 0.05
    assert row["treatment_ratio"] < 0.6
    assert result.to_frame()["merit_gap"].item() == row["gap"]


def test_without_relevant_people_on_both_sides_there_is_nothing_to_compare():
    group = np.array([True, False, True])
    sides, merit = ranked(np.arange(3.0), group, group)
    assert merit_table(sides, merit, 0.05, np.random.default_rng(0)) is None
