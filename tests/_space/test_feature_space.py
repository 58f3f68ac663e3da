"""A FeatureSpace says which people are possible: codes, rows and keys of one another."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from columns import DTYPES, EXACT, frames, known, texts
from hypothesis import given, settings
from hypothesis import strategies as st

from skdisc import FeatureSpace, Predicate, Subgroup
from skdisc._space._codes import MISSING
from skdisc._space._column import Column
from skdisc._space._feature_space import MAX_COMBOS
from skdisc._space._keys import couple, split

few = settings(max_examples=20)
PLAIN = ["int64", "int8", "uint16", "float64", "float32"]


def loan(**options):
    domains = {"income": (0, 99), "sex": ["F", "M"], "race": ["a", "b", "c"], "age": (18, 90)}
    return FeatureSpace.from_domains(domains, **options)


@pytest.fixture(name="X")
def people():
    return pd.DataFrame(
        {
            "age": [30, 45, 61, 30],
            "income": [1.5, np.nan, 0.25, 3.0],
            "sex": ["F", "M", None, "F"],
            "grade": pd.Categorical(["lo", "hi", "lo", "mid"], ["lo", "mid", "hi"], ordered=True),
            "veteran": [True, False, False, True],
        }
    )


def assert_same_rows(got, wanted):
    assert list(got.columns) == list(wanted.columns)
    assert got.dtypes.tolist() == wanted.dtypes.tolist()
    for name in wanted:
        assert known(got[name]) == known(wanted[name])


# Rows and codes


@few
@given(frames(names=EXACT))
def test_decode_undoes_encode(X):
    space = FeatureSpace.from_frame(X)
    codes = space.encode(X)
    assert codes.shape == X.shape
    assert codes.dtype == np.int64
    assert_same_rows(space.decode(codes), X)


@few
@given(frames())
def test_encode_undoes_decode(X):
    space = FeatureSpace.from_frame(X)
    codes = space.sample(20, np.random.default_rng(0))
    assert np.array_equal(space.encode(space.decode(codes)), codes)


@few
@given(frames(names=PLAIN))
def test_decoding_all_columns_at_once_or_one_by_one_is_the_same(X):
    space = FeatureSpace.from_frame(X)
    codes = space.encode(X)
    together = space.decode(codes)
    for j, column in enumerate(space.columns):
        wanted = column.decode(codes[:, j])
        assert together[column.name].dtype == wanted.dtype
        assert together[column.name].tolist() == pytest.approx(wanted.tolist(), nan_ok=True)


def test_text_that_pandas_would_turn_into_its_own_dtype_stays_object():
    X = pd.DataFrame({"a": pd.Series(["x", "y"], dtype=object), "b": [1, 2]})
    space = FeatureSpace.from_frame(X)
    assert space.decode(space.encode(X))["a"].dtype == object


def test_a_code_that_stands_for_nothing_is_refused():
    numbers = FeatureSpace.from_domains({"a": (0, 5), "b": (0, 5)})
    with pytest.raises(ValueError, match=r"The column 'b' has no value with the code -1"):
        numbers.decode(np.array([[0, -1]]))
    with pytest.raises(ValueError, match=r"The column 'sex' has no value with the code -2"):
        loan().decode(np.array([[0, -2, 0, 0]]))


def test_no_rows(X):
    space = FeatureSpace.from_frame(X, protected=["sex"])
    empty = space.encode(X.iloc[:0])
    assert empty.shape == (0, 5)
    assert_same_rows(space.decode(empty), X.iloc[:0])
    assert len(space.variants(empty, space.combos())) == 0
    assert space.indv_keys(X.iloc[:0]) == []
    assert space.sample(0, np.random.default_rng(0)).shape == (0, 5)


# Drawing


@few
@given(frames(), st.integers(0, 2**31))
def test_a_sample_stays_inside(X, seed):
    space = FeatureSpace.from_frame(X)
    codes = space.sample(50, np.random.default_rng(seed))
    drawn = space.decode(codes)
    for j, column in enumerate(space.columns):
        assert (codes[:, j] < column.size).all()
        assert (codes[:, j] >= (MISSING if column.missing else 0)).all()
        values = {v for v in known(drawn[column.name]) if v is not None}
        if column.kind == "numeric":
            assert all(column.low <= v <= column.high for v in values)
        else:
            assert values <= set(column.values)


def test_a_sample_is_uniform_and_reaches_everything():
    space = FeatureSpace.from_domains({"a": (0, 3), "b": ["x", None], "c": [True, False]})
    codes = space.sample(40_000, np.random.default_rng(0))
    _, counts = np.unique(codes, axis=0, return_counts=True)
    assert len(counts) == 4 * 2 * 2
    assert np.abs(counts - 2500).max() < 5 * np.sqrt(2500)
    again = space.sample(40_000, np.random.default_rng(0))
    assert np.array_equal(codes, again)


# Protected combinations


def test_combos_are_all_of_them():
    space = loan(protected=["race", "sex"])
    wanted = [[race, sex] for race in range(3) for sex in range(2)]
    assert space.combos().tolist() == wanted
    assert loan().combos().shape == (1, 0)


def test_combos_include_missing():
    X = pd.DataFrame({"sex": ["F", None], "a": [1, 2]})
    space = FeatureSpace.from_frame(X, protected=["sex"])
    assert space.combos().tolist() == [[0], [MISSING]]


def test_too_many_combos_are_refused():
    domains = {name: list(range(400)) for name in "abc"}
    space = FeatureSpace.from_domains(domains, protected=["a", "b"])
    message = r"\['a', 'b'\] have \[400, 400\] values.* 160,000 .* at most 10,000 .* Protect fewer"
    with pytest.raises(ValueError, match=message):
        space.combos()
    assert MAX_COMBOS == 10_000
    assert len(FeatureSpace.from_domains(domains, protected=["a"]).combos()) == 400


def naive_variants(space, codes, combos):
    rows = []
    for row in codes:
        for combo in combos:
            row = row.copy()
            row[space.p_index] = combo
            rows.append(row)
    return space.decode(np.array(rows, dtype=np.int64).reshape(-1, len(space)))


@pytest.mark.parametrize("names", [PLAIN[:1], PLAIN, list(DTYPES)], ids=["one", "plain", "all"])
@few
@given(data=st.data())
def test_variants_are_those_made_one_by_one(names, data):
    X = data.draw(frames(min_columns=2, rows=5, names=names))
    chosen = data.draw(st.lists(st.sampled_from(list(X)), unique=True, max_size=2))
    space = FeatureSpace.from_frame(X, protected=chosen, max_probes=3)
    codes, combos = space.encode(X), space.combos()
    got = space.variants(codes, combos)
    assert_same_rows(got, naive_variants(space, codes, combos))
    assert got.index.tolist() == list(range(len(X) * len(combos)))


@pytest.mark.parametrize(
    ("domain", "step", "dtype"),
    [
        ((-3, 4), 1, "int64"),
        ((240, 244), 1, "uint8"),
        ((0.1, 1.3), 0.3, "float64"),
        ((0.1, 9.7), 0.3, "float32"),
        ((2, 30), 7, "float32"),
        ((2.0, 30.0), 7.0, "float32"),
        ((-1500, 1500), 7, "float16"),
        ((0, 2**24), 2**20, "float32"),
        ((2.0**24 - 9, 2.0**24 - 2), 1.0, "float32"),  # the last numbers of which it has all
        ((2.0**24 - 9, 2.0**24 + 9), 1.0, "float32"),
        ((-(2.0**24), 2.0**24 - 1), 2.0**20 + 1, "float32"),
        ((-1500.0, 1500.0), 7.0, "float16"),
        ((0.0, 9.0), 1e5, "float16"),  # a step that it does not have
        ((0.0, 3_999_999_999.0), 2e9, "float64"),  # the last step is taken for the bound
    ],
)
def test_numbers_are_those_of_each_column(domain, step, dtype):
    columns = [
        Column(name, "numeric", np.dtype(dtype), low=domain[0], high=domain[1] + i, step=step)
        for i, name in enumerate("ab")
    ]
    space = FeatureSpace(columns, ["a"])
    beyond = 3  # steps above the highest value: an array is no stricter than a column
    codes = np.stack([np.arange(space["a"].size + beyond)] * 2, axis=1)
    got = space.numbers(codes)
    assert got.dtype == dtype
    assert np.array_equal(got.T, [c.decode(codes[:, 0]) for c in columns])
    assert space.numbers(codes - 1) is None


@pytest.mark.parametrize("other", [["x", "y"], [1, None], [1.5, 2.5]], ids=str)
def test_columns_of_several_dtypes_are_no_array_of_numbers(other):
    X = pd.DataFrame({"a": [1, 2], "b": other})
    space = FeatureSpace.from_frame(X, protected=["a"])
    assert space.numbers(space.encode(X)) is None


def test_huge_whole_numbers_are_decoded_one_column_at_a_time():
    ids = pd.DataFrame({"a": [1, 2**63 + 4, 5], "b": [7, 8, 2**62 + 1]}).astype("uint64")
    for X in (ids, ids[["b"]].astype("int64")):
        space = FeatureSpace.from_frame(X, protected=["b"])
        assert space.numbers(space.encode(X)) is None
        space.variants(space.encode(X)[:1] * 0, space.combos())


def test_variants_leave_the_codes_alone():
    space = loan(protected=["sex"])
    codes = space.sample(5, np.random.default_rng(0))
    before = codes.copy()
    space.variants(codes, space.combos())
    assert np.array_equal(codes, before)


# 64-bit keys


def test_equal_rows_have_equal_keys_and_others_do_not():
    space = FeatureSpace.from_domains({"a": (0, 9), "b": (0, 9), "c": ["x", None]})
    grid = np.array([[a, b, c] for a in range(10) for b in range(10) for c in (-1, 0)])
    keys = space.key(grid)
    assert keys.dtype == np.uint64
    assert len(np.unique(keys)) == len(grid)
    assert np.array_equal(space.key(grid[::-1]), keys[::-1])
    part = space.key(grid, np.array([0]))
    assert len(np.unique(part)) == 10


def test_the_key_of_the_rest_does_not_see_protected_columns():
    space = loan(protected=["sex", "age"])
    codes = space.sample(100, np.random.default_rng(0))
    other = codes.copy()
    other[:, space.p_index] = 0
    assert np.array_equal(space.key(codes, space.np_index), space.key(other, space.np_index))
    assert space.np_index.tolist() == [0, 2]
    assert space.p_index.tolist() == [1, 3]


# Text keys


@few
@given(frames())
def test_keys_of_rows_can_be_read_back(X):
    space = FeatureSpace.from_frame(X)
    keys = space.indv_keys(X)
    assert len(keys) == len(X)
    columns = {name: known(X[name]) for name in X}
    for i, key in enumerate(keys):
        assert space.read_indv_key(key) == {name: v[i] for name, v in columns.items()}


def test_keys_are_made_of_codes(X):
    space = FeatureSpace.from_frame(X)
    assert space.indv_keys(X) == ["30|1.5|0|0|1", "45|?|1|2|0", "61|0.25|?|0|0", "30|3|0|1|1"]


@given(st.lists(texts, min_size=1, max_size=4), st.lists(texts, min_size=1, max_size=4))
def test_keys_of_unknown_values_can_be_read_back(seen, new):
    space = FeatureSpace.from_frame(pd.DataFrame({"a": seen, "b": [-1.5] * len(seen)}))
    rows = pd.DataFrame({"a": new, "b": np.arange(len(new)) * -0.5})
    keys = space.indv_keys(rows)
    assert [space.read_indv_key(k) for k in keys] == rows.to_dict("records")
    first, last = split(couple(keys[0], keys[-1]), "-")
    assert (first, last) == (keys[0], keys[-1])


def test_a_key_of_another_space():
    with pytest.raises(ValueError, match=r"'1\|2' has 2 slots; the space has 4 columns"):
        loan().read_indv_key("1|2")
    with pytest.raises(ValueError, match=r"'\*' has 1 slots; the space has 4 columns"):
        loan().read_subgroup_key("*")


@st.composite
def subgroups(draw, X):
    predicates = []
    for name in draw(st.lists(st.sampled_from(list(X)), unique=True)):
        values = [v for v in known(X[name]) if v is not None]
        if pd.api.types.is_float_dtype(X[name].dtype) and draw(st.booleans()):
            ends = sorted(draw(st.lists(st.sampled_from([-np.inf, *values, np.inf]), min_size=2)))
            low, high = min(ends[0], 1e9), max(ends[-1], -1e9)
            closed = draw(st.sampled_from(["left", "right", "both", "neither"]))
            predicates.append(Predicate.between(name, low, high, closed))
        else:
            chosen = draw(st.lists(st.sampled_from([*values, None]), max_size=3))
            predicates.append(Predicate.isin(name, chosen))
    return Subgroup(predicates)


@few
@given(st.data())
def test_keys_of_subgroups_can_be_read_back(data):
    X = data.draw(frames())
    space = FeatureSpace.from_frame(X)
    group = data.draw(subgroups(X))
    key = space.subgroup_key(group)
    assert len(split(key)) == len(space)
    again = space.read_subgroup_key(key)
    assert again == group
    assert np.array_equal(again.mask(X), group.mask(X))


@given(st.lists(texts, max_size=3))
def test_keys_of_subgroups_with_unknown_values(values):
    space = FeatureSpace.from_frame(pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}))
    group = Subgroup([Predicate.isin("a", [*values, "x"])])
    assert space.read_subgroup_key(space.subgroup_key(group)) == group


def test_keys_of_subgroups_are_made_of_codes():
    space = loan()
    assert space.subgroup_key(Subgroup()) == "*|*|*|*"
    group = Predicate.equals("sex", "M") & Predicate.between("age", -5, 30.5)
    assert space.subgroup_key(group) == r"*|1|*|(\-5,30.5]"
    either = Subgroup([Predicate.isin("race", ["c", "a", None]), Predicate.isin("sex", [])])
    assert space.subgroup_key(either) == "*|{}|{0,2,?}|*"
    assert space.subgroup_key(Subgroup([Predicate.equals("income", -3)])) == r"\-3|*|*|*"


def test_a_subgroup_on_another_column_is_refused():
    group = Subgroup([Predicate.equals("town", "A")])
    with pytest.raises(ValueError, match=r"\['town'\], not among the columns \['income', "):
        loan().subgroup_key(group)


# The object


def test_names_positions_and_columns():
    space = loan(protected=["age", "sex", "age"], immutable="race")
    assert space.names == ("income", "sex", "race", "age")
    assert space.protected == ("age", "sex")
    assert space.immutable == ("race",)
    assert len(space) == 4
    assert space["race"].values == ("a", "b", "c")
    assert loan(protected="sex").protected == ("sex",)
    assert "sex: nominal[2]" in repr(space)
    with pytest.raises(KeyError, match=r"no column 'town'\. Columns: "):
        space["town"]


def test_equality_copy_and_pickle():
    space = loan(protected=["sex"])
    for again in (loan(protected=["sex"]), copy.deepcopy(space), pickle.loads(pickle.dumps(space))):
        assert again == space
    assert space != loan()
    assert space != loan(protected=["sex"], immutable=["age"])
    assert space != loan(protected=["sex"], is_frame=False)
    assert space != "space"
    with pytest.raises(TypeError, match="unhashable"):
        hash(space)


@few
@given(frames())
def test_spaces_of_equal_data_are_equal(X):
    assert FeatureSpace.from_frame(X) == FeatureSpace.from_frame(X.iloc[::-1])


def test_from_frame_takes_kinds_bounds_and_steps(X):
    space = FeatureSpace.from_frame(
        X, kinds={"age": "nominal"}, bounds={"income": (0, 10)}, steps={"income": 0.25}
    )
    assert space["age"].values == (30, 45, 61)
    assert (space["income"].low, space["income"].high, space["income"].size) == (0, 10, 41)
    assert space["sex"].missing
    assert not space["age"].missing


@pytest.mark.parametrize("what", ["kinds", "bounds", "steps"])
def test_from_frame_refuses_unknown_columns(X, what):
    with pytest.raises(ValueError, match=rf"{what} names \['town'\], not among the columns"):
        FeatureSpace.from_frame(X, **{what: {"town": (0, 1)}})


def test_from_frame_refuses_other_mistakes(X):
    with pytest.raises(ValueError, match=r"kinds must be among \('nominal', .* got \{'age': 'x'\}"):
        FeatureSpace.from_frame(X, kinds={"age": "x"})
    with pytest.raises(ValueError, match=r"Two columns have the same name"):
        FeatureSpace.from_frame(X[["age", "sex", "age"]])
    with pytest.raises(ValueError, match=r"The columns \['age', .* have no possible value"):
        FeatureSpace.from_frame(X.iloc[:0])


@pytest.mark.parametrize("what", ["protected", "immutable"])
def test_unknown_protected_columns_are_refused(what):
    with pytest.raises(ValueError, match=rf"{what} names \['town'\], not among the columns"):
        loan(**{what: ["sex", "town"]})


@pytest.mark.parametrize("domains", [{}, None, [("a", (0, 1))], "ab"])
def test_domains_must_be_a_dict(domains):
    with pytest.raises(ValueError, match=r"domains must be a non-empty dict .* got "):
        FeatureSpace.from_domains(domains)


def test_from_domains():
    order = pd.CategoricalDtype(["lo", "hi"], ordered=True)
    space = FeatureSpace.from_domains({"a": (0, 1), "b": range(0, 9, 4), "c": order, "d": ["x"]})
    assert [c.kind for c in space.columns] == ["numeric", "numeric", "ordinal", "nominal"]
    assert [c.size for c in space.columns] == [2, 3, 2, 1]
    assert space.decode(np.array([[1, 2, 1, 0]])).iloc[0].tolist() == [1, 8, "hi", "x"]


def test_max_probes_reaches_the_columns():
    assert len(loan(protected="age", max_probes=5).combos()) == 5
    ages = pd.DataFrame({"age": range(100)})
    assert len(FeatureSpace.from_frame(ages, protected="age", max_probes=7).combos()) == 7


# A space given by the user meets data


def test_adapt_takes_order_and_container_from_the_data():
    given = loan(protected=["race"], immutable=["age", "race"])
    X = pd.DataFrame({"sex": ["F", "M"], "age": [20, 30], "income": [1, 2]})
    learned = FeatureSpace.from_frame(X, protected=["sex"], is_frame=False)
    space = given.adapt(learned)
    assert space.names == ("sex", "age", "income")
    assert space.protected == ("sex",)
    assert space.immutable == ("age",)
    assert not space.is_frame
    assert space["age"] == given["age"]


def test_adapt_keeps_the_directions_of_known_columns():
    given = loan(monotone={"age": 1})
    assert given.adapt(given).monotone == {"age": 1}
    fewer = FeatureSpace.from_frame(pd.DataFrame({"sex": ["F", "M"]}))
    assert given.adapt(fewer).monotone == {}


def test_adapt_refuses_a_space_that_lacks_columns():
    learned = FeatureSpace.from_frame(pd.DataFrame({"sex": ["F", "M"], "town": ["A", "B"]}))
    with pytest.raises(ValueError, match=r"The space passed lacks the columns \['town'\] of X"):
        loan().adapt(learned)


def test_adapt_refuses_missing_values_that_the_space_has_not():
    X = pd.DataFrame({"sex": ["F", None], "age": [20, 30]})
    learned = FeatureSpace.from_frame(X)
    with pytest.raises(ValueError, match=r"\['sex'\] of X have missing values.* Impute them"):
        loan().adapt(learned)
    given = FeatureSpace.from_domains({"sex": ["F", "M", None], "age": (0, 99)})
    assert given.adapt(learned)["sex"].missing
