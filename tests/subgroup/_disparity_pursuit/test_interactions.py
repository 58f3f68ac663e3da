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


def pursued(X, y, nuisance="boosting"):
    detector = DisparityPursuit(protected=["sex", "race"], nuisance=nuisance, random_state=0)
    return detector.fit(X, y).result_


def crosses(note):
    """Return whether a note says that town and work were crossed."""
    return "adjusted for, too" in note and "'town'" in note and "'work'" in note


@pytest.mark.slow
@pytest.mark.parametrize("nuisance", ["boosting", "additive"])
@pytest.mark.parametrize("follow", ["sex", "race"])
def test_who_lives_where_columns_agree_is_not_treated_differently(follow, nuisance):
    """Main effects alone would find a disparity in nearly all of them."""
    results = [pursued(*people(seed, follow, 0.15), nuisance) for seed in range(3)]
    assert sum(len(result) > 0 for result in results) == 0
    assert all(any(crosses(note) for note in result.notes) for result in results)


def test_no_cells_are_needed_where_protected_columns_follow_none():
    results = [pursued(*people(seed, None, 0), "additive") for seed in range(3)]
    assert sum(any(crosses(note) for note in result.notes) for result in results) <= 1


def test_zip_codes_stored_as_numbers_are_no_disparity(data_dir):
    """Outcome and share of women follow 100 codes without any order in them; sex adds nothing."""
    path = data_dir / "strangers" / "zip_codes.csv"
    if not path.is_file():
        pytest.skip(f"no {path}")
    X = pd.read_csv(path)
    detector = DisparityPursuit(protected="sex", pos_label="yes", nuisance="additive")
    result = detector.fit(X, X.pop("hired")).result_
    assert not len(result)
    women = result.tables["comparable"].set_index("group").loc["sex = 'f'"]
    assert women["ci_low"] < 0 < women["ci_high"]
    assert any("'zip' looks like a code" in note for note in result.notes)
