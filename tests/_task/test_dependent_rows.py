"""Copies and alike neighbors are noticed, and rows that are equal by nature are not."""

import numpy as np
import pandas as pd
import pytest

from skdisc._task._dependent_rows import _times, alike_neighbors, repeated_rows
from skdisc._utils._hashing import one_numbering
from skdisc.subgroup import DivExplorer


def people(n, rng):
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "race": rng.choice(list("abc"), n)})
    X["points"] = rng.normal(size=n).round(2)
    return X, rng.integers(0, 2, n)


@pytest.mark.parametrize("times", [2, 5])
def test_rows_given_several_times(times):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = people(200, rng)
        at = rng.permutation(np.repeat(np.arange(200), times))
        assert f"occurs {times} times" in repeated_rows(X.iloc[at], y[at])[0]


def test_some_rows_given_twice():
    for seed in range(20):
        X, y = people(1000, np.random.default_rng(seed))
        X["points"] = np.random.default_rng(seed).normal(size=1000)
        at = np.r_[np.arange(1000), np.arange(50)]
        assert "50 rows are copies" in repeated_rows(X.iloc[at], y[at])[0]


@pytest.mark.parametrize("n", [30, 300, 3000])
@pytest.mark.parametrize("points", ["none", "ages", "hundreds", "many"])
def test_coarse_rows_repeat_by_nature(n, points):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = people(n, rng)
        if points == "none":
            X = X.drop(columns="points")
        elif points == "many":  # two thirds of the values occur, some twice
            X["points"] = rng.integers(0, n, n)
        else:
            X["points"] = rng.integers(0, {"ages": 60, "hundreds": 700}[points], n)
        assert repeated_rows(X, y) == []
        assert repeated_rows(X, None) == []


def test_missing_values_and_types():
    X = pd.DataFrame({"a": [None, "x", 1, np.nan] * 10, "b": np.repeat(np.arange(20), 2)})
    assert repeated_rows(X.iloc[:0], None) == []
    assert repeated_rows(pd.concat([X, X]), None)


def test_the_note_reaches_the_result_unless_copies_are_said():
    X, y = people(200, np.random.default_rng(0))
    at = np.repeat(np.arange(200), 5)
    noted = DivExplorer(protected="sex").fit(X.iloc[at], y[at]).result_.notes
    assert any("seem to be copies" in note for note in noted)
    said = DivExplorer(protected="sex", weights="frequency")
    said.fit(X, y, sample_weight=np.full(200, 5))
    assert not any("copies" in note for note in said.result_.notes)


@pytest.mark.parametrize("n_values", [2, 1000, 2**31])
def test_rows_are_counted_whatever_the_number_of_values(n_values):
    rng = np.random.default_rng(0)
    codes = [np.append(rng.choice([0, 1, n_values - 1], 500), n_values - 1) for _ in range(6)]
    expected = pd.DataFrame(np.transpose(codes)).value_counts()
    np.testing.assert_array_equal(np.sort(_times(codes)), np.sort(expected))


WORLDS = ["all twice", "hundreds", "some twice", "half are one", "text", "fine", "fine twice"]


@pytest.mark.parametrize("world", WORLDS)
def test_what_a_sample_excludes_is_no_note_of_all_rows(world, monkeypatch):
    """Tables of many rows get the notes that they get without the shortcut."""
    rng = np.random.default_rng(0)
    X, y = people(4000, rng)
    at = np.arange(4000)
    if "fine" in world:
        X["points"] = rng.integers(0, 1200, 4000)
    if world in ("all twice", "fine twice"):
        at = rng.permutation(np.repeat(at, 2))
    elif world == "some twice":
        X["points"] = rng.normal(size=4000)
        at = np.r_[at, at[:200]]
    elif world == "half are one":
        X["points"] = np.where(np.arange(4000) < 1900, 0.0, rng.normal(size=4000))
        X["race"] = X["race"].where(X["points"] != 0, X.index.astype(str))
        at = np.r_[at, at[2000:2200]]
    elif world == "text":
        X["race"] = X["race"] + rng.integers(0, 1500, 4000).astype(str)
    rows = X.iloc[at]
    with one_numbering():
        found = repeated_rows(rows, y[at])
        assert repeated_rows(rows, y[at]) == found
    monkeypatch.setattr("skdisc._task._dependent_rows._may_be_copies", lambda *columns: True)
    assert found == repeated_rows(rows, y[at])
    assert bool(found) == ("twice" in world)


def households(n, seed=0):
    """Return outcomes of people, five of each household in turn, mostly alike."""
    rng = np.random.default_rng(seed)
    return (rng.random(n) < rng.choice([0.2, 0.8], n // 5).repeat(5)).astype(int)


def points(n):
    return pd.DataFrame({"points": np.random.default_rng(9).normal(size=n)})


def test_outcomes_that_are_alike_in_neighboring_rows_are_noted():
    for seed in range(20):
        y = households(1000, seed)
        (note,) = alike_neighbors(points(1000), y)
        assert "neighboring rows are alike" in note
        assert alike_neighbors(points(1000), np.where(y, "yes", "no"))
        assert not alike_neighbors(points(1000), np.random.default_rng(seed).permutation(y))


def test_sorted_rows_trends_and_few_rows_are_no_households():
    rng, X = np.random.default_rng(0), points(5000)
    for seed in range(20):
        y = np.random.default_rng(seed).integers(2, size=5000)
        assert not alike_neighbors(X, y)
        assert not alike_neighbors(X, np.sort(y))
        assert not alike_neighbors(X, (rng.random(5000) < np.linspace(0.1, 0.9, 5000)).astype(int))
    assert not alike_neighbors(points(195), households(195))
    assert not alike_neighbors(points(1000), np.ones(1000))
    assert not alike_neighbors(points(1000), rng.normal(size=1000).cumsum())
    assert not alike_neighbors(points(1000), None)


def test_people_who_are_alike_in_all_columns_are_no_household():
    rng = np.random.default_rng(0)
    times, y = rng.integers(1, 6, size=400), rng.integers(2, size=400)
    X, y = points(400).loc[np.arange(400).repeat(times)], y.repeat(times)
    assert not alike_neighbors(X, y)
    assert alike_neighbors(points(len(y)), y)


def test_sorted_copies_of_unlike_numbers_are_no_household():
    # 300 combinations in any order: 225 favorable ones of two rows each, 75 others of ten
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(300)
        y = (np.arange(300) < 225).astype(int)[order]
        times = np.where(y == 1, 2, 10)
        X = points(300).loc[order.repeat(times)].reset_index(drop=True)
        assert not alike_neighbors(X, y.repeat(times))
