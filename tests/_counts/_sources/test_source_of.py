"""A table is the same from wherever it is read, and however it is divided."""

import tempfile
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tables_anywhere import cells, everywhere, facts, tables

from skdisc._counts._counts import Counts
from skdisc._counts._profile import Profile
from skdisc._counts._sources import _csv, _files, _source, _warehouse, source_of

pytestmark = pytest.mark.filterwarnings("ignore:fetch_:DeprecationWarning")  # Ibis with DuckDB 1.5


@contextmanager
def parts_of(size):
    """Read all tables in parts of a few rows."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (_source, _files, _warehouse):
            patch.setattr(module, "ROWS", size)
        patch.setattr(_csv, "_ROWS", size)
        patch.setattr(_warehouse, "_VALUES", size)
        yield


@pytest.mark.slow
@settings(max_examples=8, phases=[Phase.generate])
@given(frame=tables(), size=st.integers(1, 50))
def test_a_profile_is_the_same_from_everywhere(frame, size):
    expected = facts(Profile.of(frame), frame.columns)
    with parts_of(size), tempfile.TemporaryDirectory() as folder:
        for name, source in everywhere(frame, folder, size):
            for got, known in zip(facts(source.profile(), frame.columns), expected, strict=True):
                assert got == known, name


@pytest.mark.slow
@settings(max_examples=6, phases=[Phase.generate])
@given(frame=tables(), size=st.integers(1, 50), n_bins=st.integers(2, 5))
def test_counts_and_decisions_are_the_same_from_everywhere(frame, size, n_bins):
    frame["y"] = np.arange(len(frame)) % 3 % 2
    options = {"columns": list(frame.columns)[:-1], "label": "y", "n_bins": n_bins}
    models = [{}, {"decide": by_values, "reads": ["text", "category"], "classes": [0, 1]}]
    models += [{"decide": by_numbers, "reads": ["number"], "classes": ["no", "yes"]}]
    expected = [cells(Counts.of(frame, **options, **model)) for model in models]
    with parts_of(size), tempfile.TemporaryDirectory() as folder:
        for name, source in everywhere(frame, folder, size):
            for model, known in zip(models, expected, strict=True):
                assert cells(Counts.of(source, **options, **model)) == known, name


def by_values(rows):
    return (rows["text"].eq("a") | rows["category"].eq("u")).to_numpy(int)


def by_numbers(rows):
    return np.where(rows["number"].gt(0.1), "yes", "no")


def shown(series):
    return series.astype(object).where(series.notna(), "missing").tolist()


@pytest.mark.slow
@pytest.mark.every(3)
@pytest.mark.parametrize("by", [[], ["category"], ["text", "truth"]])
def test_a_sample_has_rows_of_the_table_in_proportion(tmp_path, by):
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "i": range(600),
            "category": draw.choice(["u", "v", "w"], 600, p=[0.7, 0.29, 0.01]),
            "text": [None if i % 5 == 0 else "a" for i in range(600)],
            "truth": draw.random(600) < 0.5,
        }
    )
    strata = frame.groupby(by, dropna=False).size() if by else pd.Series([600])
    with parts_of(100):
        for name, source in everywhere(frame, tmp_path, 100):
            sample = source.sample(60, by, 3)
            pd.testing.assert_frame_equal(sample, source.sample(60, by, 3))
            rows = frame.loc[sample["i"]]
            assert not rows.index.duplicated().any(), name
            for column in ("category", "text"):
                assert shown(sample[column]) == shown(rows[column]), name
            drawn = rows.groupby(by, dropna=False).size() if by else pd.Series([len(rows)])
            assert len(drawn) == len(strata)
            assert (drawn - strata / 10).abs().max() <= 1, name
            assert len(source.sample(999)) == 600
            assert set(source.sample(60, by, 4)["i"]) != set(rows.index)


@pytest.mark.statistics
def test_every_row_is_drawn_equally_often():
    frame = pd.DataFrame({"i": np.arange(200), "g": ["u"] * 150 + ["v"] * 50})
    times = np.zeros(200)
    with parts_of(30):
        for seed in range(200):
            times[source_of(frame).sample(20, ["g"], seed)["i"]] += 1
    assert times.sum() == 4000
    chi_squared = ((times - 20) ** 2 / 18).sum()  # with 198 degrees: P(more than 270) = .0005,
    assert chi_squared < 270  # nearly 1 where a quarter of the rows is drawn 1.5 times as often


def test_results_come_back_as_the_kind_that_came_in(tmp_path):
    frame = pd.DataFrame({"i": [1, 2], "t": ["a", None]})
    kinds = {"polars": "polars.", "polars, lazy": "polars.lazyframe", "Arrow": "pyarrow."}
    kinds |= {"DuckDB": "ibis.", "Dask": "dask"}
    for name, source in everywhere(frame, tmp_path, 2):
        back = source.like(frame)
        assert type(back).__module__.startswith(kinds.get(name, "pandas")), name
        assert facts(source_of(back).profile(), frame) == facts(Profile.of(frame), frame), name


def test_a_folder_without_tables_and_a_database_without_a_table(tmp_path):
    with pytest.raises(ValueError, match=r"The folder '.*' has no file of a table"):
        source_of(tmp_path)
    with pytest.raises(ValueError, match=r"'duckdb:///x\.db' names no table"):
        source_of("duckdb:///x.db")
