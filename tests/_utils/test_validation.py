"""The checks of what users hand in, one by one; tests/test_bad_input.py tries them through fit."""

import datetime

import numpy as np
import pandas as pd
import pytest
from columns import DTYPES, example
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning

from skdisc import FeatureSpace
from skdisc._utils._favorable import favorable_labels
from skdisc._utils._inputs import sorted_unique
from skdisc._utils._validation import (
    cast_if_lossless,
    check_decisions,
    check_frame,
    check_labels,
    check_missing,
    check_protected,
    check_varied,
    is_favorable,
)

X = pd.DataFrame({"age": [20, 30, 40], "sex": ["F", "M", None]}, index=[7, 7, 9])


class Estimator(BaseEstimator):
    """The least that check_frame needs."""

    estimator = None
    allow_nan = True

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.allow_nan
        return tags


def fitted(frame=X, is_frame=True):
    estimator = Estimator()
    read, _ = check_frame(estimator, frame, reset=True)
    estimator.space_ = FeatureSpace.from_frame(read, is_frame=is_frame)
    return estimator


# Frames


def test_a_frame_gets_a_fresh_index_and_is_not_touched():
    estimator = Estimator()
    frame, is_frame = check_frame(estimator, X, reset=True)
    assert is_frame
    assert frame.index.tolist() == [0, 1, 2]
    assert X.index.tolist() == [7, 7, 9]
    assert estimator.n_features_in_ == 2
    assert estimator.feature_names_in_.tolist() == ["age", "sex"]


def test_a_frame_is_not_copied():
    whole = pd.DataFrame({"age": np.arange(100), "sex": 1}, index=np.arange(100)[::-1])
    before = whole.copy()
    frame = check_frame(Estimator(), whole, reset=True)[0]
    assert np.shares_memory(frame["age"].to_numpy(), whole["age"].to_numpy())
    frame["age"] = 0
    pd.testing.assert_frame_equal(whole, before)


def test_an_array_becomes_a_frame_of_the_right_dtypes():
    array = np.array([[1, "a", 0.5], [2, "b", None]], dtype=object)
    frame, is_frame = check_frame(Estimator(), array, reset=True)
    assert not is_frame
    assert list(frame) == ["x0", "x1", "x2"]
    assert frame["x0"].dtype == np.int64
    assert frame["x1"].tolist() == ["a", "b"]
    assert frame["x2"].dtype == np.float64


@pytest.mark.parametrize("make", [list, np.array, lambda rows: np.array(rows, dtype=float)])
def test_rows_of_numbers(make):
    frame, _ = check_frame(Estimator(), make([[1, 2], [3, 4]]), reset=True)
    assert frame.to_numpy().tolist() == [[1, 2], [3, 4]]


def test_other_libraries_frames():
    class Table:
        def to_pandas(self):
            return X

    frame, is_frame = check_frame(Estimator(), Table(), reset=True)
    assert is_frame
    assert list(frame) == ["age", "sex"]


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_passes(name):
    _, _, make = DTYPES[name]
    column = make([example(name)] * 2)
    frame, _ = check_frame(Estimator(), column.to_frame("a"), reset=True)
    assert frame["a"].dtype == column.dtype


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pd.Series([1, "a"], dtype=object), r"'a' \(object\) mixes or holds .* \(int, str\): each"),
        (pd.Series([True, "a", None], dtype=object), r"\(bool, str\).* X\['a'\]\.astype\(str\)"),
        (pd.Series([1.5, "a"], dtype=object), r"\(float, str\)"),
        (pd.Series([{}, {}]), r"\(dict\): each argument must be a string, a boolean or a number"),
        (pd.Series([datetime.date(2020, 1, 1)] * 2), r"\(date\)"),
        (pd.Series([b"a", b"b"]), r"\(bytes\)"),
        (pd.Series(pd.interval_range(0, 9, 2)), r"'a' \(interval.* mixes or holds .* \(Interval\)"),
        (pd.Series(pd.Categorical([1, "a"])), r"\(int, str\)"),
        (pd.Series(pd.period_range("2020", periods=2)), r"'a' \(period\[.\S*\]\)"),
        (pd.Series(pd.to_datetime(["2020", "2021"])), r"'a' holds dates \(datetime64\[.*\]\)"),
        (
            pd.Series(pd.to_timedelta([1, 2])),
            r"'a' holds dates \(timedelta64\[.*Turn it into a num",
        ),
        (pd.Series([1, 2], dtype="timestamp[ns][pyarrow]"), r"'a' holds dates \(timestamp"),
        (pd.Series([1, 2], dtype=pd.SparseDtype(int)), r"'a' is sparse.* Pass dense data"),
    ],
)
def test_dtypes_that_are_refused(column, message):
    with pytest.raises(TypeError, match=message):
        check_frame(Estimator(), column.to_frame("a"), reset=True)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1, np.inf]),
        pd.Series([1, -np.inf], dtype="float32"),
        pd.Series([1, np.inf], dtype="Float64"),
        pd.Series([1, np.inf], dtype="double[pyarrow]"),
        pd.Series([1, np.inf], dtype=object),
        pd.Series(pd.Categorical([1.0, np.inf])),
    ],
)
def test_infinity(column):
    message = r"Input X contains infinity: column 'a', row 1\. Replace it by a number or by a miss"
    with pytest.raises(ValueError, match=message):
        check_frame(Estimator(), column.to_frame("a"), reset=True)


def test_complex_numbers():
    with pytest.raises(ValueError, match=r"Complex data not supported: column 'a' is complex128"):
        check_frame(Estimator(), pd.DataFrame({"a": [1j, 2]}), reset=True)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (X.iloc[:0], r"Found array with 0 sample\(s\) \(shape=\(0, 2\)\) while a minimum of 1"),
        (X[[]], r"Found array with 0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1"),
        (X[["age", "sex", "age"]], r"several columns named \['age'\]\. Rename or drop all but one"),
    ],
)
def test_shapes_that_are_refused(frame, message):
    with pytest.raises(ValueError, match=message):
        check_frame(Estimator(), frame, reset=True)


def test_names_of_two_kinds():
    with pytest.raises(TypeError, match="all input features have string names"):
        check_frame(Estimator(), X.rename(columns={"age": 1}), reset=True)


def test_missing_values_that_the_estimator_does_not_take():
    estimator = Estimator()
    estimator.allow_nan = False
    message = r"Input X contains NaN: column 'sex' has missing values, which Estimator does not acc"
    with pytest.raises(ValueError, match=message):
        check_frame(estimator, X, reset=True)


# Frames after fit


def test_the_same_columns_pass():
    frame, _ = check_frame(fitted(), X[:1], reset=False)
    assert list(frame) == ["age", "sex"]


@pytest.mark.parametrize("frame", [X[["sex", "age"]], X[["age"]], X.assign(town="A")])
def test_other_columns_than_at_fit(frame):
    with pytest.raises(ValueError, match=r"feature names should match|features"):
        check_frame(fitted(), frame, reset=False)


@pytest.mark.parametrize("names", [[1, 0], [0, 5]])
def test_other_columns_whose_names_are_numbers(names):
    estimator = fitted(X.set_axis([0, 1], axis=1))
    message = r"X must have the columns of fit, in their order: \[0, 1\]; got \[\d, \d\]\. Select"
    with pytest.raises(ValueError, match=message):
        check_frame(estimator, X.set_axis(names, axis=1), reset=False)


def test_arrays_are_named_as_at_fit():
    array = X.to_numpy(dtype=object)
    frame, _ = check_frame(fitted(array, is_frame=False), array, reset=False)
    assert list(frame) == ["x0", "x1"]
    with pytest.warns(UserWarning, match="X has feature names, but"):
        frame, _ = check_frame(fitted(array, is_frame=False), X, reset=False)
    assert list(frame) == ["x0", "x1"]
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        frame, _ = check_frame(fitted(), array, reset=False)
    assert list(frame) == ["age", "sex"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"age": "old"}, r"Column 'age' held numbers at fit \(int64\) and is \w+ now\. Convert it"),
        (
            {"age": pd.Categorical([1, 2, 3])},
            r"'age' held numbers at fit \(int64\) and is category",
        ),
        ({"sex": 1}, r"Column 'sex' held text at fit \(\w+\) and is int64 now"),
    ],
)
def test_columns_that_hold_something_else_now(change, message):
    with pytest.raises(ValueError, match=message):
        check_frame(fitted(), X.assign(**change), reset=False)


@pytest.mark.parametrize(
    "change",
    [{"age": 2.5}, {"age": np.nan}, {"age": True}, {"sex": np.nan}, {"sex": "new"}, {"sex": None}],
)
def test_columns_that_may_differ(change):
    frame, _ = check_frame(fitted(), X.assign(**change), reset=False)
    assert len(frame) == 3


# Labels


@pytest.mark.parametrize(
    "y",
    [
        [1, 0, 1],
        (1, 0, 1),
        np.array([1, 0, 1]),
        np.array([1, 0, 1], dtype=object),
        np.array([True, False, True]),
        pd.Series([1.0, 0.0, 1.0]),
        pd.Series([True, False, True], dtype="boolean"),
        pd.Series([1, 0, 1], dtype="Int64"),
        pd.Series([1, 0, 1], dtype="int64[pyarrow]"),
        pd.Series([1, 0, 1], dtype="category", index=[5, 5, 5]),
        pd.Series([True, False, True], dtype="bool[pyarrow]"),
        pd.array([1, 0, 1], dtype="Int64"),
        pd.Categorical([1, 0, 1]),
        pd.Index([1, 0, 1]),
    ],
)
def test_labels_of_every_container(y):
    labels = check_labels(y, 3)
    assert isinstance(labels, np.ndarray)
    assert labels.tolist() == [1, 0, 1]
    assert check_decisions(labels) == [0, 1]
    assert is_favorable(labels, [1]).tolist() == [True, False, True]


@pytest.mark.parametrize("dtype", [object, "str", "string", "category", "string[pyarrow]"])
def test_labels_of_text(dtype):
    labels = check_labels(pd.Series(["yes", "no", "yes"], dtype=dtype), 3)
    assert labels.tolist() == ["yes", "no", "yes"]
    assert check_decisions(labels) == ["no", "yes"]


@pytest.mark.parametrize(
    "y",
    [
        [1, None, 0, None],
        [1, np.nan, 0, 1],
        pd.Series([1, None, 0, 1], dtype="Int64"),
        pd.Series(["a", None, "b", "a"]),
        pd.Series(["a", None, "b", "a"], dtype="category"),
        np.array(["a", np.nan, "b", "a"], dtype=object),
        pd.array([True, None, False, None], dtype="boolean"),
    ],
)
def test_missing_labels(y):
    message = (
        r"Input y contains NaN: \d label\(s\) are missing, the first in row 1\. Drop these rows"
    )
    with pytest.raises(ValueError, match=message):
        check_labels(y, 4)


def test_labels_of_other_shapes():
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[3, 2\]"):
        check_labels([1, 0], 3)
    with pytest.raises(ValueError, match="should be a 1d array"):
        check_labels(np.ones((3, 2)), 3)
    with pytest.warns(DataConversionWarning, match="column-vector"):
        assert check_labels(np.ones((3, 1)), 3).shape == (3,)
    with pytest.raises(ValueError, match="Input y contains infinity"):
        check_labels([1, np.inf], 2)


@pytest.mark.parametrize("dtype", [float, object])
def test_continuous_labels(dtype):
    labels = check_labels(np.array([0.25, 0.5, 1.75], dtype=dtype))
    message = (
        r"y holds continuous values, e\.g\. 0\.25; .*Compare it with a threshold first: y >= t"
    )
    with pytest.raises(ValueError, match=message):
        check_decisions(labels)


def test_one_class():
    with pytest.raises(ValueError, match=r"y has one class \('a'\) in 2 rows: no decision differs"):
        check_decisions(np.array(["a", "a"]))
    assert check_decisions(np.array(["a", "a"]), least_classes=1) == ["a"]


def test_sorted_unique():
    assert sorted_unique([2, 1, 2]) == [1, 2]
    assert sorted_unique(np.array(["b", 1, "a"], dtype=object)) == [1, "a", "b"]
    assert [type(v) for v in sorted_unique(np.array([1.0, 0.0]))] == [float, float]


# Protected columns


@pytest.mark.parametrize(
    ("given", "resolved"),
    [
        (None, []),
        ("sex", ["sex"]),
        (["race", "sex"], ["race", "sex"]),
        (1, ["sex"]),
        ([-1, "age"], ["race", "age"]),
        (-3, ["age"]),
        (np.array(["sex"]), ["sex"]),
        (np.array([2]), ["race"]),
        (("sex", 1, "sex"), ["sex"]),
    ],
)
def test_protected(given, resolved):
    assert check_protected(given, ["age", "sex", "race"]) == resolved


def test_names_come_before_positions():
    assert check_protected([1], [5, 0, 1]) == [1]
    assert check_protected([2], [5, 0, 1]) == [1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("sxe", r"protected='sxe' is not a column of X; did you mean 'sex'\? Columns: \['age', "),
        (["sex", "town"], r"protected='town' is not a column of X\. Columns: \['age', 'sex'\]"),
        (2, r"protected=2 is not a column of X\. Columns"),
        (-3, r"protected=-3 is not a column of X"),
        ([True], r"protected=True is not a column of X"),
        ([], r"protected must name at least one column, got \[\]\. Columns: \['age', 'sex'\]"),
    ],
)
def test_protected_that_is_not_there(given, message):
    with pytest.raises(ValueError, match=message):
        check_protected(given, ["age", "sex"])


def test_what_is_named_in_the_message():
    with pytest.raises(ValueError, match=r"^features='town' is not a column"):
        check_protected("town", ["age"], what="features")


def test_varied():
    check_varied(X, ["age", "sex"])
    with pytest.raises(
        ValueError, match=r"'sex' has one value only \('F'\): there is no other group"
    ):
        check_varied(pd.DataFrame({"sex": ["F", "F"]}), ["sex"])
    with pytest.raises(ValueError, match=r"'sex' has one value only \(None\)"):
        check_varied(pd.DataFrame({"sex": [np.nan, np.nan]}), ["sex"])
    check_varied(pd.DataFrame({"sex": ["F", None]}), ["sex"])
    with pytest.raises(ValueError, match=r"Found 1 sample \(n_samples = 1\).*Pass more rows"):
        check_varied(X[:1], [])


def test_missing_protected_values():
    assert check_missing(X, ["sex"], "category").tolist() == [True, True, True]
    assert check_missing(X, ["sex"], "drop").tolist() == [True, True, False]
    assert check_missing(X, ["age"], "raise").tolist() == [True, True, True]
    assert check_missing(X, [], "raise").tolist() == [True, True, True]
    message = r"1 of 3 rows have a missing value in .*\['sex'\].*missing='category'"
    with pytest.raises(ValueError, match=message):
        check_missing(X, ["sex"], "raise")


# The favorable label


@pytest.mark.parametrize(
    ("pos_label", "classes", "wanted"),
    [
        (None, [0, 1], ([1], True)),
        (None, [-1, 1], ([1], True)),
        (None, [False, True], ([True], True)),
        (None, [0], ([1], True)),
        ("high", [1, 2, 3], ([3], False)),
        ("low", [1, 2, 3], ([1], False)),
        ("low", ["high", "low"], (["low"], False)),
        (None, None, ([1], True)),
        (None, [], ([1], True)),
        (0, [0, 1], ([0], False)),
        (True, [0, 1], ([1], False)),
        ("yes", ["no", "yes"], (["yes"], False)),
        (["c", "a"], ["a", "b", "c"], (["a", "c"], False)),
        ({"c", "a"}, ["a", "b", "c"], (["a", "c"], False)),
        (np.array([2, 1]), [0, 1, 2], ([1, 2], False)),
        (pd.Series(["a"]), ["a", "b"], (["a"], False)),
        ("anything", None, (["anything"], False)),
        ({"b", "a"}, None, (["a", "b"], False)),
        ("only", ["only"], (["only"], False)),
        ("the other", ["only"], (["the other"], False)),
        (1, [0], ([1], False)),
    ],
)
def test_favorable_labels(pos_label, classes, wanted):
    assert favorable_labels(pos_label, classes) == wanted


@pytest.mark.parametrize(
    ("pos_label", "classes", "message"),
    [
        (2, [0, 1], r"pos_label=2 never occurs\. Labels: \[0, 1\]"),
        ("1", [0, 1], r"pos_label='1' never occurs; did you mean 1\? Labels: \[0, 1\]"),
        (["yes", "mabye"], ["maybe", "no", "yes"], r"'mabye' never occurs; did you mean 'maybe'\?"),
        ([0, 1], [0, 1], r"pos_label=\[0, 1\] names every label \[0, 1\]: no decision is unf"),
        ([], [0, 1], r"pos_label must name at least one label, got \[\]"),
        ([], None, r"pos_label must name at least one label, got \[\]"),
    ],
)
def test_favorable_labels_that_are_none(pos_label, classes, message):
    with pytest.raises(ValueError, match=message):
        favorable_labels(pos_label, classes)


@pytest.mark.parametrize(
    ("labels", "favorable", "wanted"),
    [
        ([0, 1, 2], [1], [False, True, False]),
        ([0, 1, 2], [0, 2], [True, False, True]),
        ([0.0, 1.0], [1], [False, True]),
        ([True, False], [1], [True, False]),
        (["a", "b"], ["a"], [True, False]),
        (np.array(["a", "b", "c"], dtype=object), ["a", "c"], [True, False, True]),
        (["a", "b"], [1], [False, False]),
    ],
)
def test_is_favorable(labels, favorable, wanted):
    got = is_favorable(labels, favorable)
    assert got.dtype == bool
    assert got.tolist() == wanted


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1.0, 2.0], "int64"),
        ([1.0, None], "Int64"),
        (["a", None], pd.CategoricalDtype(["a", "b"])),
        ([True, False], "int64"),
    ],
)
def test_a_lossless_cast_keeps_every_value(values, dtype):
    values = pd.Series(values)
    cast = cast_if_lossless(values, dtype)
    assert cast.dtype == dtype
    assert cast.isna().tolist() == values.isna().tolist()
    assert cast.dropna().tolist() == values.dropna().tolist()


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1.5, 2.0], "int64"),
        ([1.0, None], "int64"),
        (["a", "c"], pd.CategoricalDtype(["a", "b"])),
        (["a", "c"], "float64"),
        ([0.1], "float32"),
    ],
)
def test_a_cast_that_would_change_a_value_is_not_made(values, dtype):
    assert cast_if_lossless(pd.Series(values), dtype) is None
