"""KeyIndex numbers keys as a dict would; the multipliers are the same everywhere."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdisc._utils._hashing import (
    KeyIndex,
    NumberedColumns,
    at_ranks,
    canonical_order,
    canonical_rank,
    distinct,
    multipliers,
    numbers_of,
    one_numbering,
    row_hashes,
)

GOLDEN = 0x9E3779B97F4A7C15
FIXED = [
    *(10925120930794071629, 1631194422193795709),
    *(9646485175121510873, 5232788331475421427),
]
few = st.integers(1, 8)
many = st.integers(1, 2**64 - 1).filter(lambda key: key != GOLDEN)


class Oracle:
    """The same with a dict, one key after the other."""

    def __init__(self):
        self.numbers = {}

    def add(self, keys):
        ids, first = [], []
        for key in keys:
            first.append(key not in self.numbers)
            ids.append(self.numbers.setdefault(key, len(self.numbers)))
        return ids, first


def compare(batches, **room):
    index, oracle = KeyIndex(**room), Oracle()
    for batch in batches:
        ids, first = index.add(np.array(batch, dtype=np.uint64))
        expected_ids, expected_first = oracle.add(batch)
        assert ids.tolist() == expected_ids
        assert first.tolist() == expected_first
        assert len(index) == len(oracle.numbers)


@given(st.lists(st.lists(few | many, max_size=30), max_size=6))
def test_same_numbers_as_a_dict(batches):
    compare(batches)


@given(st.data())
def test_same_numbers_when_all_keys_want_the_same_slot(data):
    inverse = pow(GOLDEN, -1, 2**64)  # keys whose product with GOLDEN has the same upper bits
    crowded = st.integers(1, 200).map(lambda low: low * inverse % 2**64)
    compare(data.draw(st.lists(st.lists(crowded, max_size=60), max_size=5)))


@pytest.mark.parametrize("sizes", [(5000, 5000), (1, 4000, 1, 9000), (2048, 1), (2047, 1, 1)])
def test_same_numbers_while_the_table_grows(sizes):
    rng = np.random.default_rng(0)
    batches = [rng.integers(1, 6000, size=n).tolist() for n in sizes]
    for room in ({}, {"room": 1}, {"room": 3000}, {"room": 20_000}):
        compare(batches, **room)


def test_ids_survive_growing():
    index = KeyIndex()
    keys = np.random.default_rng(1).integers(1, 2**63, size=3000).astype(np.uint64)
    before, _ = index.add(keys)
    index.add(np.arange(1, 50_001, dtype=np.uint64))
    after, first = index.add(keys)
    assert np.array_equal(before, after)
    assert not first.any()


def test_the_order_of_first_visits_does_not_depend_on_batches():
    keys = np.random.default_rng(2).integers(1, 500, size=2000).astype(np.uint64)
    whole = KeyIndex().add(keys)
    index = KeyIndex()
    parts = [index.add(part) for part in np.array_split(keys, 37)]
    assert np.array_equal(whole[0], np.concatenate([ids for ids, _ in parts]))
    assert np.array_equal(whole[1], np.concatenate([first for _, first in parts]))


def test_nothing_to_add():
    index = KeyIndex()
    ids, first = index.add(np.empty(0, dtype=np.uint64))
    assert (len(ids), len(first), len(index)) == (0, 0, 0)
    assert ids.dtype == np.int64
    assert first.dtype == bool


def test_key_zero_is_a_key():
    index = KeyIndex()
    ids, first = index.add(np.array([0, 7, 0], dtype=np.uint64))
    assert ids.tolist() == [0, 1, 0]
    assert first.tolist() == [True, True, False]


def test_given_keys_are_left_alone():
    keys = np.array([0, 1, 2], dtype=np.uint64)
    KeyIndex().add(keys)
    assert keys.tolist() == [0, 1, 2]


def test_multipliers_are_fixed():
    assert multipliers(4).tolist() == FIXED
    assert multipliers(2).tolist() == FIXED[:2]
    assert multipliers(0).tolist() == []


def test_multipliers_are_odd_and_distinct():
    many = multipliers(1000)
    assert many.dtype == np.uint64
    assert (many % 2 == 1).all()
    assert len(np.unique(many)) == 1000


def test_the_canonical_order_does_not_depend_on_the_order_of_the_rows():
    X = pd.DataFrame({"a": np.arange(50) % 7, "b": list("xyzuv") * 10})
    shuffled = X.iloc[np.random.default_rng(0).permutation(50)]
    one, other = (f.iloc[canonical_order(f)].to_numpy() for f in (X, shuffled))
    assert (one == other).all()
    assert (np.argsort(canonical_rank(X)) == canonical_order(X)).all()


@pytest.mark.parametrize("n_values", [1, 80, 50_000])
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint64, np.float64])
def test_distinct_numbers_are_those_of_a_sort(n_values, dtype):
    """Both ways: a few values that stand for many rows, and values seen only after the first."""
    x = np.random.default_rng(0).integers(0, n_values, 100_000).astype(dtype)
    x[:5_000] = 1
    x[-3:] = 0, 7, 100
    got = distinct(x)
    assert got.dtype == x.dtype
    assert np.array_equal(got, np.unique(x))


COLUMNS = {
    "text": list("abca"),
    "gaps": ["a", None, "b", "a"],
    "numbers": [1, 2.5, None, 3],
    "flags": [True, None, False, True],
    "equal": [1, True, "1", 1.0],
    "tuples": [(1, 2), "x", (1, 2), None],
    "empty": [None] * 4,
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("dtype", [None, object])
def test_hashes_of_numbered_columns_are_those_of_the_rows(name, dtype):
    frame = pd.DataFrame({"n": range(4), "own": pd.Series(COLUMNS[name], dtype=dtype)})
    frame["kind"] = frame["n"].astype("category")
    assert NumberedColumns(frame).hashes().tolist() == row_hashes(frame).tolist()


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("dtype", [None, object])
def test_hashes_of_rows_are_those_of_pandas(name, dtype):
    frame = pd.DataFrame({"n": range(4), "own": pd.Series(COLUMNS[name], dtype=dtype)})
    frame["kind"] = frame["n"].astype("category")
    expected = pd.util.hash_pandas_object(frame, index=False)
    assert row_hashes(frame).tolist() == expected.tolist()


def test_rows_taken_keep_their_numbers_and_hashes():
    frame = pd.DataFrame({"town": ["u", None, "v", "u"], "age": [30, 40, 40, 50]})
    columns, at = NumberedColumns(frame), np.array([3, 1])
    _, values = columns["town"]
    part = columns.taken(at, frame.iloc[at])
    assert "town" in part
    assert "age" not in part
    assert [None if i < 0 else part["town"][1][i] for i in part["town"][0]] == ["u", None]
    assert part["town"][1] is values
    assert part.hashes().tolist() == row_hashes(frame)[at].tolist()


@given(st.lists(st.integers(0, 2**64 - 1) | st.sampled_from([0, 7, 2**63]), min_size=1), st.data())
def test_rows_at_ranks_are_those_of_a_stable_sort(keys, data):
    keys = np.array(keys, dtype=np.uint64)
    ranks = data.draw(st.lists(st.integers(0, len(keys) - 1)))
    expected = np.argsort(keys, kind="stable")[np.array(ranks, dtype=int)]
    assert at_ranks(keys, np.array(ranks, dtype=int)).tolist() == expected.tolist()


@pytest.mark.parametrize("values", [["a", None, "b", "a"], [2.5, np.nan, 2.5, 1.0], [1, 0, 1, 1]])
@pytest.mark.parametrize("dtype", [None, object, "category"])
def test_columns_are_numbered_once_where_they_share_values(values, dtype):
    X = pd.DataFrame({"x": pd.Series(values, dtype=dtype), "other": pd.Series(values[::-1])})
    number, found = numbers_of(X["x"])
    with one_numbering():
        first = numbers_of(X["x"])
        with one_numbering():  # as a detector does in an audit
            assert numbers_of(X["x"])[0] is first[0]
        assert numbers_of(X["other"])[0].tolist() != number.tolist()
        assert numbers_of(X["x"].iloc[:2])[0].tolist() == number[:2].tolist()
        assert first[0].tolist() == number.tolist()
        assert list(first[1]) == list(found)
        for k in range(50):  # places in memory that are free again hold no values of before
            again = pd.Series([k, k + 1, k])
            assert list(numbers_of(again)[1]) == [k, k + 1]
    assert numbers_of(X["x"])[0] is not first[0]
