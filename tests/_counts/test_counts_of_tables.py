"""Counts are those of a group-by, add up, and come back from a file."""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables_anywhere import cells, facts, tables

from skdisc._counts import _counts
from skdisc._counts._counts import Counts
from skdisc._counts._profile import Profile
from skdisc._counts._sources import source_of


def grouped(frame, schema):
    """Count the cells as pandas does."""
    codes = pd.DataFrame({i: part.encode(frame[part.name]) for i, part in enumerate(schema.parts)})
    return codes.groupby(list(codes)).size().sort_index()


@given(frame=tables(), seed=st.integers(0, 9), n_bins=st.integers(2, 5))
def test_counts_are_a_group_by_and_add_up(frame, seed, n_bins):
    frame["y"] = np.arange(len(frame)) % 2
    schema = Profile.of(frame).schema(protected="category", label="y", n_bins=n_bins)
    counts, expected = Counts.of_frame(frame, schema), grouped(frame, schema)
    found = np.column_stack([counts.codes, counts.label])
    np.testing.assert_array_equal(found, np.array(expected.index.tolist()))
    np.testing.assert_array_equal(counts.n, expected)
    place = np.random.default_rng(seed).integers(0, 3, len(frame))
    parts = [Counts.of_frame(part, schema) for _, part in frame.groupby(place)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_counts, "_PIECE", 1 + seed)
        assert cells(Counts.sum(parts)) == cells(counts) == cells(Counts.sum(parts[::-1]))


@pytest.mark.parametrize("piece", [1, 7, 2**18])
def test_more_columns_than_one_number_holds(piece, monkeypatch):
    monkeypatch.setattr(_counts, "_PIECE", piece)
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(draw.integers(0, 9, (500, 40))).add_prefix("c")
    frame.iloc[:, :15] = 1  # many cells with the same leading number
    frame = pd.concat([frame, frame[:99]], ignore_index=True)
    schema = Profile.of(frame).schema(n_bins=9)
    counts = Counts.of_frame(frame[:300], schema) + Counts.of_frame(frame[300:], schema)
    assert len(counts.keys) > 1
    expected = grouped(frame, schema)
    np.testing.assert_array_equal(counts.codes, np.array(expected.index.tolist()))
    np.testing.assert_array_equal(counts.n, expected)


def test_frequencies_are_repeated_rows():
    frame = pd.DataFrame({"a": ["x", "y", "x"], "b": [1, 2, 1]})
    schema, n = Profile.of(frame).schema(), np.array([3, 1, 2])
    repeated = frame.loc[frame.index.repeat(n)]
    assert cells(Counts.of_frame(frame, schema, n=n)) == cells(Counts.of_frame(repeated, schema))


@pytest.mark.slow
@given(frame=tables(most=10))
def test_a_file_gives_them_back(frame):
    counts, profile = Counts.of(frame, protected="text"), Profile.of(frame)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.counts"
        counts.to_parquet(path)
        assert cells(Counts.read(path)) == cells(counts)
        profile.write(path)
        assert facts(Profile.read(path), frame) == facts(profile, frame)


def test_other_files_and_other_schemas_are_refused(tmp_path):
    frame = pd.DataFrame({"a": ["x", "y", "x"]})
    frame.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"t\.parquet' is no file of counts"):
        Counts.read(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="same schema; these differ in the values of 'a'"):
        Counts.of(frame) + Counts.of(frame[:1])
    with pytest.raises(ValueError, match=r"protected columns, \['a'\] and \[\]"):
        Counts.of(frame, protected="a") + Counts.of(frame)
    schema = Profile.of(frame[:1]).schema()
    with pytest.raises(ValueError, match="'a' has the value 'y', which the schema"):
        Counts.of_frame(frame, schema)
    with pytest.raises(ValueError, match="classes= must name"):
        Counts.of(frame, decide=len)


@pytest.mark.parametrize("n_parts", [1, 7])
def test_the_questions_are_the_distinct_rows(n_parts, monkeypatch):
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"s": draw.choice(["f", "m"], 900), "k": draw.integers(0, 4, 900), "x": draw.random(900)}
    )
    frame["y"] = draw.integers(0, 2, 900)
    monkeypatch.setattr("skdisc._counts._sources._source.ROWS", -(-900 // n_parts))
    seen = []

    def decide(rows):
        seen.append(rows.copy())
        return ((rows["s"] == "f") & (rows["k"] > 1)).to_numpy().astype(int)

    counts = Counts.of(source_of(frame), decide=decide, reads=["s", "k"], label="y")
    (rows,) = seen
    assert len(rows) == 8
    assert not rows.duplicated().any()
    expected = Counts.of(frame.assign(decision=decide(frame)), label="y", decision="decision")
    assert cells(counts)[1:] == cells(expected)[1:]
    del seen[:]
    in_parts = Counts.of(frame, decide=decide, label="y", reads=["s", "k", "x"])
    assert cells(in_parts)[1:] == cells(expected)[1:]
    assert (len(seen), sum(map(len, seen))) == (n_parts, 900)


@pytest.mark.parametrize("parts", [1, 3])
def test_too_many_cells_are_refused_with_advice_that_works(parts, tmp_path):
    """The columns with most values are named with what is left, exactly, of what was counted."""
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"zip": draw.integers(0, 300, 2000).astype(str), "b": draw.integers(0, 3, 2000)}
    )
    frame["a"], frame["age"] = draw.choice(["x", "y"], 2000), draw.integers(0, 90, 2000)
    for i in range(parts):
        frame.iloc[i::parts].to_parquet(tmp_path / f"{i}.parquet")
    how = {"protected": "a", "n_bins": 6, "max_cells": 500}
    with pytest.raises(ValueError, match="more than 500 combinations") as caught:
        Counts.of(tmp_path, **how)
    if parts == 1:
        bins = Profile.of(frame).schema(n_bins=6).columns[3].encode(frame["age"])
        halves = frame.assign(age=bins // 2).drop_duplicates()
        without = frame.assign(age=bins).drop(columns="zip").drop_duplicates()
        assert (
            f"'zip' ({frame['zip'].nunique()} values; without it {len(without):,} combinations)"
            in str(caught.value)
        )
        assert f"'age' (6 bins; with 3 bins {len(halves):,} combinations" in str(caught.value)
    counts = Counts.of(tmp_path, columns=["b", "a", "age"], **how)
    assert len(counts.n) <= 500
    whole = Counts.of(tmp_path, **(how | {"max_cells": 2000}))
    assert whole.n_people == 2000


def test_the_repr_is_short_and_names_no_value():
    frame = pd.DataFrame({"name": ["Ada", "Ben", "Ada"], "hired": [0, 1, 0]})
    shown = repr(Counts.of(frame, protected="name", label="hired"))
    assert shown == "Counts(3 people in 2 cells of ['name'], protected=['name'], label='hired')"


def test_the_smaller_limit_of_two_tables_is_that_of_their_sum():
    frame = pd.DataFrame({"a": ["x", "y", "y"]})
    count = Counts.of(frame, protected="a")
    smaller, larger = count.limited(10), count.limited(20)
    for total in (smaller + larger, larger + smaller, smaller + count.limited(None)):
        assert total.max_cells == 10
    assert (count.limited(None) + count.limited(None)).max_cells is None
