"""Frames and parameters become strict JSON and come back."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from columns import DTYPES, frames, known
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from skdisc import FeatureSpace
from skdisc._utils._json import describe, frame_from_dict, frame_to_dict, jsonable


def through_json(frame):
    return frame_from_dict(json.loads(json.dumps(frame_to_dict(frame), allow_nan=False)))


def assert_same(got, wanted):
    assert list(got.columns) == list(wanted.columns)
    assert len(got) == len(wanted)
    for name in wanted:
        assert str(got[name].dtype) == str(wanted[name].dtype)
        if isinstance(wanted[name].dtype, pd.CategoricalDtype):
            assert got[name].dtype == wanted[name].dtype
        assert known(got[name]) == known(wanted[name])


@settings(max_examples=30)
@given(frames(names=sorted(DTYPES)))
def test_a_frame_of_any_dtypes_comes_back(X):
    assert_same(through_json(X), X)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_infinite_and_missing_numbers_come_back(dtype):
    X = pd.DataFrame({"a": np.array([np.inf, -np.inf, np.nan, 1.5], dtype=dtype)})
    again = through_json(X)["a"]
    assert again.dtype == dtype
    assert np.array_equal(again, X["a"], equal_nan=True)


def test_no_rows_keep_their_dtypes():
    X = pd.DataFrame({name: make([]) for name, (_, _, make) in DTYPES.items() if "cat" not in name})
    assert_same(through_json(X), X)


def test_names_that_are_no_text():
    X = pd.DataFrame([[1, 2.0]], columns=[0, 7])
    assert_same(through_json(X), X)
    assert frame_to_dict(X)["columns"] == [0, 7]


def test_categories_keep_their_order_and_the_unused():
    X = pd.DataFrame({"a": pd.Categorical(["b", None], ["c", "b", "a"], ordered=True)})
    again = through_json(X)["a"]
    assert again.cat.categories.tolist() == ["c", "b", "a"]
    assert again.cat.ordered


def test_text_written_by_another_pandas():
    data = {"columns": ["a"], "dtypes": ["str"], "data": [["x", None]]}
    assert known(frame_from_dict(data)["a"]) == ["x", None]


numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers()
json_values = st.recursive(
    st.none() | st.booleans() | numbers | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=40)
@given(json_values)
def test_what_is_json_stays_as_it_is(value):
    assert jsonable(value) == value
    json.dumps(jsonable(value), allow_nan=False)


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (math.nan, None),
        (pd.NA, None),
        (math.inf, "inf"),
        (-np.inf, "-inf"),
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        ((1, (2, np.nan)), [1, [2, None]]),
        ([["a"], ["b", "c"]], [["a"], ["b", "c"]]),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (np.array(5), 5),
        ({"b", "a", "c"}, ["a", "b", "c"]),
        ({1: {"x": np.int8(2)}}, {"1": {"x": 2}}),
        (len, "len"),
        (LogisticRegression(C=2), "LogisticRegression(C=2)"),
        (RandomForestClassifier(3), "RandomForestClassifier(n_estimators=3)"),
        (np.random.RandomState(0), "RandomState"),
        (object(), "object"),
    ],
)
def test_what_is_no_json(value, wanted):
    assert jsonable(value) == wanted
    json.dumps(jsonable(value), allow_nan=False)


def test_containers_that_are_parameters_are_described():
    assert jsonable(make_pipeline(LogisticRegression())).startswith("Pipeline(")
    space = FeatureSpace.from_domains({"a": (0, 5), "b": ["x"]}, protected=["b"])
    assert jsonable({"space": space}) == {"space": repr(space)}
    assert jsonable(pd.Series([1, 2])) == repr(pd.Series([1, 2]))


def test_no_address_in_memory():
    class Thing:
        pass

    assert describe(Thing()) == "Thing"
    assert describe(lambda x: x) == "<lambda>"
    assert " at 0x" not in describe(np.random.default_rng(0))
