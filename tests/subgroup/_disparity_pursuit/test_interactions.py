"""Interactions of legitimate columns that protected columns follow are no disparities."""

import numpy as np
import pandas as pd
import pytest

from skdisc.subgroup import DisparityPursuit


def people(seed, follow, strength=0.1, n=1500):
    """People of whom some live where two columns agree, on which outcomes depend a little."""
    rng = np.random.default_rng(seed)
    town, work = rng.choice(["u", "v"], n), rng.choice(["u", "v"], n)
    agree = np.where(town == work, 1, -1)
    follows = rng.random(n) < 0.5 + 0.3 * agree
    X = pd.DataFrame({"town": town, "work": work, "points": rng.normal(size=n).round(2)})
    X["sex"] = np.where(follows if follow == "sex" else rng.random(n) < 0.5, "F", "M")
    X["race"] = rng.choice(list("abcde"), n)
    if follow == "race":
        X.loc[follows & (rng.random(n) < 0.8), "race"] = "f"
    return X, (rng.random(n) < 0.5 + strength * agree).astype(int)


def pursued(X, y, nuisance="auto"):
    detector = DisparityPursuit(protected=["sex", "race"], nuisance=nuisance, random_state=0)
    return detector.fit(X, y).result_


@pytest.mark.parametrize("follow", ["sex", "race"])
def test_who_lives_where_columns_agree_is_not_treated_differently(follow):
    results = [pursued(*people(seed, follow, 0.15)) for seed in range(6)]
    assert sum(len(result) > 0 for result in results) <= 2
    # main effects alone take it for a disparity
    assert sum(len(pursued(*people(seed, follow, 0.15), "additive")) > 0 for seed in range(6)) >= 4


def test_the_result_says_what_interacts():
    result = pursued(*people(0, "sex", strength=0.02))
    (note,) = [note for note in result.notes if "nuisance='auto'" in note]
    assert "of a protected column out of fold" in note
    assert note.endswith("took 'boosting'.")


def test_main_effects_stay_where_protected_columns_follow_none():
    notes = [" ".join(pursued(*people(seed, None, strength=0)).notes) for seed in range(6)]
    assert sum("took 'additive'" in note for note in notes) >= 5
