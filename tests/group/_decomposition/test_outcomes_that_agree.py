"""Intervals of a few people of whom all have the same outcome allow for the other one."""

import numpy as np
import pandas as pd
import pytest

from skdisc._stats._agreement import hidden_variance
from skdisc.group import EffectDecomposition, OaxacaBlinder


@pytest.mark.parametrize("is_rare", [False, True])
@pytest.mark.parametrize(
    ("detector", "part"),
    [
        (OaxacaBlinder(protected="race", random_state=0), "unexplained part"),
        (EffectDecomposition(protected="race", random_state=0), "direct effect"),
    ],
    ids=["OaxacaBlinder", "EffectDecomposition"],
)
def test_intervals_contain_the_truth(detector, part, is_rare):
    """Some 24 people of race c have the outcome with a chance of .05; others with .45."""
    n_in_agreement = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        race = rng.choice(["a", "b", "c"], 600, p=[0.7, 0.26, 0.04])
        X = pd.DataFrame({"race": race, "town": rng.choice(["t0", "t1", "t2"], 600)})
        y = (rng.random(600) < np.where(race == "c", 0.05, 0.45)).astype(int)
        if y[race == "c"].any():
            continue
        n_in_agreement += 1
        table = detector.fit(X, y if is_rare else 1 - y).result_.to_frame()
        row = table[(table["subject"].map(str) == "race = 'c'") & (table["measure"] == part)]
        low, high = sorted((1 if is_rare else -1) * row[["ci_low", "ci_high"]].to_numpy().ravel())
        assert low <= 0.05 - 0.45 <= high
        assert high < 0
    assert n_in_agreement >= 5


def test_nothing_is_hidden_of_outcomes_that_differ_or_of_numbers():
    inside = np.array([True, True, False, False])
    factor, sides = np.array([0.5, 0.5, -0.5, -0.5]), (inside, ~inside)
    shown = np.zeros(4)
    assert hidden_variance(np.array([0.0, 1.0, 1.0, 0.0]), sides, factor, shown) == 0
    assert hidden_variance(np.array([7.0, 7.0, 1.0, 0.0]), sides, factor, shown) == 0
    chance = 2 / (2 + 4)
    one_side = hidden_variance(np.array([0.0, 0.0, 1.0, 0.0]), sides, factor, shown)
    assert one_side == pytest.approx(chance * (1 - chance) / 2)
    both = hidden_variance(np.array([0.0, 0.0, 1.0, 1.0]), sides, factor, shown)
    assert both == pytest.approx(2 * one_side)
    assert hidden_variance(np.zeros(4), sides, factor, np.ones(4)) == 0  # more is shown
