"""A database counts itself: what is fetched are cells, and no text of a user becomes SQL."""

from pathlib import Path

import duckdb
import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables_anywhere import cells, facts

from skdisc._counts._counts import Counts
from skdisc._counts._profile import Profile
from skdisc._counts._sources import _warehouse, source_of

pytestmark = pytest.mark.filterwarnings("ignore:fetch_:DeprecationWarning")  # Ibis with DuckDB 1.5
HOSTILE = [
    "n",
    "value",
    "first",
    "position",
    "part0",
    "read0",
    'a"b',
    "a'; drop table t; --",
    "ä .",
]


@pytest.fixture
def stored(tmp_path):
    """Store a table in a file of DuckDB, and return its address."""

    def store(frame, name="t"):
        with duckdb.connect(tmp_path / "base.db") as connection:
            connection.register("given", pa.Table.from_pandas(frame, preserve_index=False))
            connection.execute(f'create table "{name}" as select * from given')
        return f"duckdb:///{tmp_path / 'base.db'}::{name}"

    return store


def people(n=400):
    draw = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "sex": draw.choice(["f", "m"], n),
            "income": draw.normal(size=n),
            "grade": draw.integers(0, 3, n),
            "y": draw.integers(0, 2, n),
        }
    )


def test_only_cells_are_fetched(stored, monkeypatch):
    frame, fetched, fetch = people(), [], _warehouse._fetched
    source = source_of(stored(frame))

    def recorded(query, size):
        for rows in fetch(query, size):
            fetched.append(rows)
            yield rows

    monkeypatch.setattr(_warehouse, "_fetched", recorded)
    schema = source.profile().schema(label="y")
    assert all(list(rows) == ["value", "n"] for rows in fetched)
    del fetched[:]
    counts = source.count(schema)
    (rows,) = fetched
    assert len(rows) == len(counts.n) == 48
    assert sorted(rows["part1"].unique()) == [0, 1, 2, 3]
    assert not rows.isin(frame["income"].tolist()).any(axis=None)
    assert cells(counts) == cells(Counts.of(frame, label="y"))


@settings(max_examples=15)
@given(
    cuts=st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=6, unique_by=lambda x: x + 0.0),
)
def test_bins_found_by_the_engine_are_exact(cuts):
    ends = np.array(cuts)
    frame = pd.DataFrame({"x": [*ends, *np.nextafter(ends, -np.inf), *np.nextafter(ends, np.inf)]})
    frame.loc[len(frame)] = np.nan
    table = ibis.memtable(pa.Table.from_pandas(frame, preserve_index=False))
    expected = Counts.of(frame, n_bins=2 * len(cuts))
    assert cells(Counts.of(table, n_bins=2 * len(cuts))) == cells(expected)


def test_narrow_whole_and_decimal_numbers_have_the_bins_of_their_values():
    table = pa.table(
        {
            "narrow": pa.array(np.linspace(0, 1, 50, dtype=np.float32)),
            "whole": pa.array(range(2**53 - 50, 2**53), pa.int64()),
            "unsigned": pa.array([None, *range(1, 50)], pa.uint16()),
            "decimal": pa.array(np.arange(50) / 8).cast(pa.decimal128(10, 3)),
        }
    )
    expected = Counts.of(table, n_bins=7)
    assert cells(Counts.of(ibis.memtable(table), n_bins=7)) == cells(expected)


def test_no_name_and_no_value_becomes_sql(stored):
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({name: draw.choice(HOSTILE, 60) for name in HOSTILE})
    frame["x; --"] = draw.normal(size=60)
    address = stored(people(), "u; drop table t; --")
    source = source_of(stored(frame))
    assert facts(source.profile(), frame) == facts(Profile.of(frame), frame)
    assert cells(Counts.of(source)) == cells(Counts.of(frame))
    model = {
        "decide": lambda rows: rows["x; --"].gt(0) | rows["n"].eq("n"),
        "classes": [False, True],
    }
    model["reads"] = ["x; --", "n"]
    assert cells(Counts.of(source, **model)) == cells(Counts.of(frame, **model))
    assert len(source.sample(9, HOSTILE[:2])) >= 9
    assert source_of(address).map_add(len) == 400
    assert source.map_add(len) == 60


def test_missing_values_of_either_kind_are_one():
    table = pa.table({"x": pa.array([1.0, None, np.nan, 2.0, None], from_pandas=False)})
    source = source_of(ibis.memtable(table))
    assert source.profile().columns["x"].n_missing == 3
    assert Counts.of(source).n.tolist() == [1, 1, 3]


def test_an_address_opens_what_is_there_and_makes_nothing(stored, tmp_path, monkeypatch):
    address = stored(people())
    monkeypatch.chdir(tmp_path)
    assert source_of("duckdb:///base.db::t").map_add(len) == 400
    assert source_of("duckdb:///base.db::main.t").map_add(len) == 400
    with pytest.raises(ValueError, match=r"no file 'other\.db'"):
        source_of("duckdb:///other.db::t")
    assert not Path("other.db").exists()
    with pytest.raises(ValueError, match=r"no table 'u'; it has \['t'\]"):
        source_of(address[:-1] + "u")
    connection = source_of(address)._table.get_backend()
    with pytest.raises(duckdb.Error, match="read-only"):
        connection.raw_sql("drop table t")


def test_what_cannot_be_done_is_said(stored, tmp_path):
    frame = people().assign(day=pd.Timestamp("2020-02-03"))
    source = source_of(stored(frame))
    with pytest.raises(TypeError, match="'day' holds dates"):
        source.profile()
    schema = source.profile(["sex", "y"]).schema(label="y")
    with pytest.raises(ValueError, match="counts in one query"):
        source.count(schema, checkpoint=tmp_path)
    with pytest.raises(ValueError, match=r"names \['z'\]"):
        source.profile(["z"])
    empty = source_of(ibis.memtable(pa.Table.from_pandas(frame[:0])))
    for act in (
        lambda: empty.profile(["sex"]),
        lambda: empty.count(schema),
        lambda: empty.sample(3),
    ):
        with pytest.raises(ValueError, match="no rows"):
            act()
    with pytest.raises(ValueError, match="has the value 'f', which the schema"):
        source.count(Profile.of(frame[frame["sex"] == "m"]).schema(columns=["sex"]))
