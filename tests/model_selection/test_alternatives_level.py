"""How often a search for alternatives claims something false, in the worlds of its benchmark."""

import sys
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
from benchmarks import alternatives as worlds  # noqa: E402

sys.path.remove(str(ROOT))


@pytest.mark.statistics
def test_null_worlds():
    for row in worlds.nulls(60, 2000, [20]):
        assert row["claims"] <= row["limit"], row


@pytest.mark.statistics
def test_recipes_that_are_alike():
    for row in worlds.recipes(40, 500, 20):
        assert row["claims"] <= row["limit"], row


@pytest.mark.statistics
def test_what_is_planted_is_found_and_nothing_false():
    (row,) = worlds.power(20, [2000], ["easy"])
    assert row["found"] >= 0.7
    assert row["false"] <= 0.15


@pytest.mark.slow
def test_the_benchmark_writes_its_figures(tmp_path):
    worlds.main([str(tmp_path), "--sets", "1", "--most", "1", "--n", "700"])
    null, power, recipe, of_recipe = (
        pd.read_csv(tmp_path / f"{n}.csv") for n in ("null", "power", "recipe", "recipe-power")
    )
    assert set(of_recipe["what"]) == {"power of a recipe"}
    assert null["world"].tolist() == list(worlds.WORLDS)
    assert set(power["world"]) == {"easy", "hard"}
    assert recipe["world"].tolist() == list(worlds.RECIPES)
