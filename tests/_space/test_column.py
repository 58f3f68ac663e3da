"""A column's values become codes and come back, whatever its dtype."""

import math

import numpy as np
import pandas as pd
import pytest
from columns import DTYPES, EXACT, INEXACT, NUMERIC, example, known, series
from hypothesis import given, settings
from hypothesis import strategies as st

from skdisc._space._codes import MISSING, UNSEEN
from skdisc._space._column import Column, _order_statistics, infer_kind
from skdisc._utils._validation import plain

few = settings(max_examples=15)
every_dtype = pytest.mark.parametrize("name", DTYPES)


def all_codes(column):
    """Every code, of a large domain a few hundred."""
    codes = np.unique(np.linspace(0, column.size - 1, min(column.size, 300)).round())
    return np.concatenate([[MISSING] if column.missing else [], codes]).astype(np.int64)


def assert_same(got, wanted):
    """The same values and dtype; None and NaN are both missing."""
    assert got.dtype == wanted.dtype
    got = pd.Series(got, dtype=got.dtype)
    assert known(got) == known(wanted)


@pytest.mark.parametrize("name", EXACT)
@few
@given(data=st.data())
def test_decode_undoes_encode(name, data):
    values = data.draw(series(name))
    column = Column.from_series(values)
    codes = column.encode(values)
    assert codes.dtype == np.int64
    assert_same(column.decode(codes), values)
    assert ((codes == MISSING) == values.isna()).all()


@pytest.mark.parametrize("name", INEXACT)
@few
@given(data=st.data())
def test_fractions_are_moved_to_the_nearest_step(name, data):
    values = data.draw(series(name))
    column = Column.from_series(values)
    decoded = column.decode(column.encode(values))
    assert decoded.dtype == values.dtype
    decoded = pd.Series(decoded)
    x, y = (s.to_numpy(dtype=float, na_value=np.nan) for s in (values, decoded))
    assert np.array_equal(np.isnan(x), np.isnan(y))
    error = np.abs(x - y)[~np.isnan(x)]
    ulp = 4e-7 if "32" in name else 1e-15
    assert (error <= column.step / 2 + ulp * np.nanmax(np.abs(x))).all()
    assert np.nanmin(y) == np.nanmin(x)
    assert np.nanmax(y) <= np.nanmax(x)


@every_dtype
@few
@given(data=st.data())
def test_encode_undoes_decode(name, data):
    values = data.draw(series(name))
    column = Column.from_series(values)
    codes = all_codes(column)
    again = column.encode(pd.Series(column.decode(codes)))
    assert again.tolist() == codes.tolist()


@every_dtype
@few
@given(data=st.data())
def test_a_value_makes_a_slot_and_comes_back(name, data):
    values = data.draw(series(name))
    column = Column.from_series(values)
    for value, code in zip(known(values), column.encode(values), strict=True):
        slot = column.slot(value)
        assert column.read_slot(slot) == value
        if column.kind != "numeric":
            assert slot == ("?" if value is None else str(code))


@every_dtype
def test_kind(name):
    _, _, make = DTYPES[name]
    kind = infer_kind(make([example(name)]))
    if name in ("category ordered", "category of numbers"):
        assert kind == "ordinal"
    else:
        assert kind == ("numeric" if name in NUMERIC else "nominal")


@pytest.mark.parametrize("dtype", ["float64", "Int64", "object", "category", "double[pyarrow]"])
def test_all_missing(dtype):
    values = pd.Series([None, None], name="a", dtype=dtype)
    column = Column.from_series(values)
    assert (column.kind, column.size, column.missing) == ("nominal", 0, True)
    assert column.probes == (MISSING,)
    assert column.encode(values).tolist() == [MISSING, MISSING]
    decoded = column.decode([MISSING])
    assert decoded.dtype == values.dtype
    assert pd.isna(decoded).all()


def test_categories_are_those_seen_unless_they_are_ordered():
    values = pd.Series(pd.Categorical(["b", "a"], categories=["c", "b", "a"]))
    assert Column.from_series(values).values == ("b", "a")
    assert Column.from_series(values.cat.as_ordered()).values == ("c", "b", "a")


def test_unseen_values():
    column = Column.from_series(pd.Series(["a", "b", "a"], name="x"))
    assert column.encode(pd.Series(["b", "z", None])).tolist() == [1, UNSEEN, MISSING]
    with pytest.raises(ValueError, match=r"The column 'x' has no value with the code -2"):
        column.decode([0, UNSEEN])


def test_numbers_out_of_bounds_are_moved_to_the_bounds():
    column = Column.from_series(pd.Series([10, 20, 40]))
    assert column.encode(pd.Series([-5, 10, 26, 99, np.nan])).tolist() == [0, 0, 2, 3, MISSING]


def test_a_missing_number_needs_a_dtype_that_can_hold_it():
    whole = Column.from_series(pd.Series([1, 2], name="x"))
    with pytest.raises(ValueError, match=r"The column 'x' has no value with the code -1"):
        whole.decode([MISSING])
    assert np.isnan(Column.from_series(pd.Series([0.5, 2])).decode([MISSING])).all()


def test_a_number_column_refuses_text():
    column = Column.from_series(pd.Series([1, 2], name="x"))
    with pytest.raises(ValueError, match=r"The column 'x' is numeric, but holds other values"):
        column.encode(pd.Series(["a", "b"], name="x"))


@given(st.lists(st.integers(-(10**6), 10**6), min_size=2, unique=True))
def test_the_step_of_whole_numbers_is_their_greatest_common_one(values):
    column = Column.from_series(pd.Series(values))
    gaps = np.diff(sorted(values)).tolist()
    assert (column.low, column.high, column.step) == (min(values), max(values), math.gcd(*gaps))
    assert all(isinstance(end, int) for end in (column.low, column.high, column.step))


def test_other_numbers_have_a_hundred_steps():
    column = Column.from_series(pd.Series([0.5, 2.0, 10.5]))
    assert (column.low, column.high, column.step, column.size) == (0.5, 10.5, 0.1, 101)


@given(
    st.lists(st.integers(0, 100), min_size=2, unique=True),
    st.integers(-50, 0),
    st.integers(100, 150),
)
def test_given_bounds_keep_every_value(values, low, high):
    values = pd.Series(values)
    column = Column.from_series(values, bounds=(low, high))
    assert (column.low, column.high) == (low, high)
    assert (column.decode(column.encode(values)) == values).all()


def test_bounds_and_step_of_whole_numbers_stay_whole():
    values = pd.Series([2, 4], name="x")
    column = Column.from_series(values, bounds=(0.5, 9.5), step=1)
    assert (column.low, column.high, column.size) == (1, 9, 9)
    with pytest.raises(ValueError, match=r"'x' holds integers \(int64\).*step=0.5"):
        Column.from_series(values, step=0.5)
    assert Column.from_series(values.astype(float), step=0.5).size == 5


@pytest.mark.parametrize(
    ("bounds", "step"),
    [((5, 1), None), ((0, math.inf), None), ((math.nan, 1), None), (None, 0), (None, -1)],
)
def test_bounds_and_step_must_make_sense(bounds, step):
    with pytest.raises(
        ValueError, match=r"'x' needs finite bounds low <= high and a step > 0, got"
    ):
        Column.from_series(pd.Series([1.0, 2.5], name="x"), bounds=bounds, step=step)


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([np.nan], name="x"),
        pd.Series(pd.Categorical([1, 2]), name="x"),
    ],
)
def test_a_column_that_cannot_be_numeric(values):
    with pytest.raises(ValueError, match=r"The column 'x' \(.*\) cannot be numeric"):
        Column.from_series(values, kind="numeric")


def test_bounds_stand_in_for_missing_values():
    column = Column.from_series(pd.Series([np.nan]), kind="numeric", bounds=(0, 9))
    assert (column.low, column.high, column.step, column.missing) == (0, 9, 1, True)
    assert column.probes == (*range(10), MISSING)


@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_numbers_beyond_exact_floats(dtype):
    values = pd.Series([2**60, 2**60 + 2**57, 2**61], dtype=dtype)
    column = Column.from_series(values)
    codes = column.encode(values)
    assert codes[0] == 0
    assert (np.diff(codes) > 0).all()
    assert column.encode(pd.Series(column.decode(codes))).tolist() == codes.tolist()


@pytest.mark.parametrize("dtype", ["float64", "float32", "Float32", "double[pyarrow]"])
def test_neighboring_floats_do_not_share_a_value(dtype):
    values = [1e6 + 0.5, 1e6 + 0.75] if "32" in dtype else [1e15 + 0.5, 1e15 + 2]
    column = Column.from_series(pd.Series(values, dtype=dtype))
    codes = all_codes(column)
    assert column.encode(pd.Series(column.decode(codes))).tolist() == codes.tolist()


def test_a_kind_may_be_forced():
    codes = pd.Series([3, 1, 3, 2])
    column = Column.from_series(codes, kind="nominal")
    assert (column.kind, column.values) == ("nominal", (1, 2, 3))
    assert_same(column.decode(column.encode(codes)), codes)
    assert Column.from_series(codes, kind="ordinal").values == (1, 2, 3)
    fractions = pd.Series([0.5, np.nan, 2.0])
    assert_same((c := Column.from_series(fractions, kind="nominal")).decode([0, -1, 1]), fractions)
    assert c.missing
    flags = pd.Series([True, False, True])
    numeric = Column.from_series(flags, kind="numeric")
    assert_same(numeric.decode(numeric.encode(flags)), flags)


@pytest.mark.parametrize(
    ("domain", "kind", "values"),
    [
        ((17, 20), "numeric", [17, 18, 19, 20]),
        ((np.int64(1), np.int32(3)), "numeric", [1, 2, 3]),
        ((0.0, 1.0), "numeric", [i / 100 for i in range(101)]),
        ((2, 2), "numeric", [2]),
        (range(0, 10, 4), "numeric", [0, 4, 8]),
        (range(9, 0, -4), "numeric", [1, 5, 9]),
        (["F", "M"], "nominal", ["F", "M"]),
        (("F", "M"), "nominal", ["F", "M"]),
        (["M", "F", "M"], "nominal", ["M", "F"]),
        ((True, False), "nominal", [True, False]),
        ([3, 1], "nominal", [3, 1]),
        (["a", None], "nominal", [None, "a"]),
        ([1.5, np.nan], "nominal", [None, 1.5]),
        (np.array(["x", "y"]), "nominal", ["x", "y"]),
        (pd.CategoricalDtype(["lo", "hi"], ordered=True), "ordinal", ["lo", "hi"]),
        (pd.CategoricalDtype(["p", "q"]), "nominal", ["p", "q"]),
    ],
)
def test_from_domain(domain, kind, values):
    column = Column.from_domain("x", domain)
    assert column.kind == kind
    assert known(pd.Series(column.decode(all_codes(column)))) == pytest.approx(values)
    if column.size <= 20:
        assert sorted(column.probes) == all_codes(column).tolist()


@pytest.mark.parametrize(
    "domain",
    [[], [None], range(0), "FM", {"F", "M"}, {"F": 1}, 5, None, pd.CategoricalDtype()],
)
def test_a_domain_that_is_none(domain):
    with pytest.raises(ValueError, match=r"The domain of column 'x' must be .* got "):
        Column.from_domain("x", domain)


@pytest.mark.parametrize("domain", [(5, 1), (0.0, math.inf), (math.nan, 1.0)])
def test_a_domain_with_bad_bounds(domain):
    with pytest.raises(ValueError, match=r"'x' needs finite bounds low <= high"):
        Column.from_domain("x", domain)


def test_a_huge_domain_costs_nothing():
    column = Column.from_domain("income", (0, 10**12))
    assert column.size == 10**12 + 1
    assert len(column.probes) == 20
    assert (column.probes[0], column.probes[-1]) == (0, 10**12)


def test_few_values_are_all_probed():
    assert Column.from_series(pd.Series([1, 5, 3])).probes == (0, 1, 2)
    assert Column.from_series(pd.Series(["b", None, "a"])).probes == (0, 1, MISSING)
    names = pd.Series([f"n{i:02}" for i in range(50)])
    assert Column.from_series(names).probes == tuple(range(50))


def test_many_ordered_values_are_probed_at_quantiles_of_the_data():
    ages = pd.Series([18] * 90 + list(range(18, 118)))
    column = Column.from_series(ages, max_probes=5)
    assert column.decode(column.probes).tolist() == [18, 22, 70, 117]
    order = pd.CategoricalDtype(range(100), ordered=True)
    grades = pd.Series([0] * 300 + list(range(100)), dtype=order)
    assert Column.from_series(grades, max_probes=5).probes == (0, 99)


@given(st.lists(st.integers(0, 500), min_size=1), st.integers(2, 30))
def test_probes_are_codes_within_the_domain(values, max_probes):
    column = Column.from_series(pd.Series(values), max_probes=max_probes)
    assert set(column.probes) <= set(range(column.size))
    assert len(set(column.probes)) == len(column.probes) <= max(max_probes, column.size)
    assert {0, column.size - 1} <= set(column.probes)


@pytest.mark.parametrize("value", ["new", "", "=", "a|b-c*", "?", "{x,y}", "(1,2]", "\\"])
def test_a_value_that_the_space_does_not_know_comes_back_as_text(value):
    column = Column.from_series(pd.Series(["a", "b"]))
    slot = column.slot(value)
    assert slot.startswith("=")
    assert column.read_slot(slot) == value


@pytest.mark.parametrize("slot", ["2", "17", r"\-1", r"\-2"])
def test_a_slot_with_a_code_that_stands_for_nothing(slot):
    column = Column.from_series(pd.Series(["a", "b"], name="x"))
    with pytest.raises(ValueError, match=r"The column 'x' has no value with the code -?\d+"):
        column.read_slot(slot)


def test_text():
    column = Column.from_series(pd.Series([0.0, 0.1, None, 0.7]))
    assert [column.text(c) for c in (0, 30, MISSING)] == ["0", "0.21", "missing"]
    assert Column.from_series(pd.Series([3, 7])).text(1) == "7"
    assert Column.from_series(pd.Series([True, False])).text(0) == "False"
    assert Column.from_series(pd.Series(["x y", None])).text(0) == "x y"


@pytest.mark.parametrize("gone", [None, np.nan, pd.NA, pd.NaT, np.float64("nan")])
def test_plain_makes_every_missing_marker_none(gone):
    assert plain(gone) is None


@pytest.mark.parametrize("value", [np.int8(3), np.float32(0.5), np.str_("a"), np.bool_(True)])
def test_plain_makes_python_objects(value):
    assert plain(value) == value
    assert type(plain(value)) in (int, float, str, bool)


@few
@given(st.data())
def test_columns_are_equal_when_they_were_learned_from_equal_values(data):
    name = data.draw(st.sampled_from(list(DTYPES)))
    values = data.draw(series(name, max_size=5))
    column = Column.from_series(values)
    assert column == Column.from_series(values[::-1])
    other = Column.from_series(values.rename("b"))
    assert column != other


@pytest.mark.parametrize("largest", [0, 1, 90, 10**12])
def test_order_statistics_are_those_of_a_sort(largest):
    """The codes are counted where they are dense, and sorted where they are not."""
    codes = np.random.default_rng(largest).integers(0, largest + 1, 1000)
    ranks = np.arange(1000)
    assert np.array_equal(_order_statistics(codes, ranks), np.sort(codes))
