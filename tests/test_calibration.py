"""A small part of the calibration benchmark: verdicts keep their level and find what is there."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skdisc import all_detectors

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from benchmarks.calibration import oracle, page, store  # noqa: E402
from benchmarks.calibration.detectors import configurations  # noqa: E402
from benchmarks.calibration.measure import FOUND, WORLDS, measure  # noqa: E402

sys.path.remove(str(ROOT))

KNOWN = configurations()


def rows(detector, world, n, start=500):
    """Return the rows of one cell; an error of the detector is one of the test."""
    found = [measure(KNOWN[detector], WORLDS[world], seed) for seed in range(start, start + n)]
    assert not any(row["error"] for row in found), found[0]["error"]
    return found


def share(detector, world, n):
    return np.mean([row["verdict"] == FOUND for row in rows(detector, world, n)])


def test_every_detector_has_a_world_in_which_its_null_holds():
    drawn = {name: world.draw(0) for name, world in WORLDS.items() if world.kind == "null"}
    for one in (KNOWN[name] for name in all_detectors()):
        word = one.kind().null
        able = [
            name
            for name, people in drawn.items()
            if not one.unable(WORLDS[name], people) and word not in WORLDS[name].fails
        ]
        assert able, one.name


def test_the_baseline_finds_the_planted_group():
    found = rows("baseline", "n = 5,000, gap .20", 3)
    assert all(row["first"] for row in found)


def test_the_baseline_is_the_two_proportion_test_within_a_context():
    people = WORLDS["n = 5,000, gap .20"].draw(0)
    X, y = people.X, people.y
    (top, *_) = oracle.search(X, y, ["sex"]).groups
    assert top == {"sex": "F", "town": "u"}
    assert not oracle.search(X[["town"]], y, ["sex"]).groups


def test_rows_are_kept_once_and_the_file_is_whole(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "rows.parquet"
    one = {"detector": "A", "world": "coin", "seed": 0, "verdict": "old"}
    store.append(path, [one, one | {"seed": 1}])
    store.append(path, [one | {"verdict": "new"}])
    assert store.load(path)[["seed", "verdict"]].to_numpy().tolist() == [[1, "old"], [0, "new"]]
    assert not path.with_suffix(".new").exists()


def test_a_cell_fails_by_the_exact_test():
    verdicts = [FOUND] * 30 + [""] * 170
    table = pd.DataFrame({"seed": range(200), "verdict": verdicts})
    table = table.assign(detector="DivExplorer", world="coin", error="", null="contextual")
    held = page.judged(page.null_cells(table))
    assert held["failed"].tolist() == [True]
    assert page.failing(table) == {("DivExplorer", "coin")}
    true_gap = page.judged(page.null_cells(table.assign(world="correlated")))
    assert not len(true_gap)
