"""Predicates and subgroups: an algebra, a mask, a query and a text that agree."""

import json
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from columns import DTYPES, example, frames, known
from hypothesis import given, settings
from hypothesis import strategies as st

from skdisc import FeatureSpace, Predicate, Subgroup
from skdisc._results._findings import GroupFindings, findings_from_dict
from skdisc._space._subgroup import Group

few = settings(max_examples=25)
CLOSED = ["left", "right", "both", "neither"]

X = pd.DataFrame(
    {
        "age": [25, 30, 45, 46, 99],
        "income": [0.5, np.nan, 2.0, -1.0, 2.5],
        "sex": ["F", "M", None, "it's", "F"],
        "two words": pd.array([1, None, 3, 1, 2], dtype="Int64"),
    }
)


@st.composite
def predicates(draw, frame):
    """Draw a predicate on a column of the frame, of values that occur and of others."""
    name = draw(st.sampled_from(list(frame)))
    values = [v for v in known(frame[name]) if v is not None]
    kind = frame[name].dtype.kind
    is_number = kind in "biuf"
    if draw(st.booleans()):
        if not is_number:
            return Predicate.between(name)
        ends = st.sampled_from([*values, -3.5, 7])
        low = draw(ends | st.just(-math.inf))
        high = draw(ends | st.just(math.inf))
        return Predicate.between(name, low, high, draw(st.sampled_from(CLOSED)))
    unseen = [] if kind == "b" else [12345] if is_number else ["unseen"]
    return Predicate.isin(name, draw(st.lists(st.sampled_from([*values, *unseen, None]))))


def is_nullable(name):
    return name[0] in "IF" or name == "boolean" or name.endswith("[pyarrow]")


@st.composite
def some(draw, n, of=predicates):
    """Draw a frame and n predicates, or subgroups, of it.

    One frame has either Arrow's dtypes or pandas' nullable ones, whose masks pandas cannot join.
    """
    arrow = draw(st.booleans())
    names = [n for n in DTYPES if not is_nullable(n) or n.endswith("[pyarrow]") == arrow]
    frame = draw(frames(names=names, rows=6, max_columns=3))
    return frame, [draw(of(frame)) for _ in range(n)]


def subgroups(frame):
    return st.lists(predicates(frame), max_size=3).map(Subgroup)


# The mask says what the predicate says


def satisfies(predicate, value):
    """Say the same, one value at a time."""
    if predicate.values is not None:
        return value in predicate.values
    if value is None:
        return False
    if (predicate.low, predicate.high) == (-math.inf, math.inf):
        return True
    above = value >= predicate.low if predicate.low_closed else value > predicate.low
    below = value <= predicate.high if predicate.high_closed else value < predicate.high
    return above and below


@few
@given(some(1))
def test_mask_is_what_the_values_say(drawn):
    frame, (p,) = drawn
    mask = p.mask(frame)
    assert mask.dtype == bool
    assert mask.tolist() == [satisfies(p, v) for v in known(frame[p.column])]


@few
@given(some(2))
def test_mask_of_both_is_both_masks(drawn):
    frame, (a, b) = drawn
    assert np.array_equal((a & b).mask(frame), a.mask(frame) & b.mask(frame))


@few
@given(some(3))
def test_and_of_predicates_is_an_algebra(drawn):
    _, (a, b, c) = drawn
    assert a & a == a
    assert a & b == b & a
    assert (a & b) & c == a & (b & c)
    assert hash(a & b) == hash(b & a)


@few
@given(some(3, subgroups))
def test_and_of_subgroups_is_an_algebra(drawn):
    frame, (a, b, c) = drawn
    assert np.array_equal((a & b).mask(frame), a.mask(frame) & b.mask(frame))
    assert a & a == a
    assert a & b == b & a
    assert (a & b) & c == a & (b & c)
    assert a & Subgroup() == a
    assert hash(a & b) == hash(b & a)
    assert str(a & b) == str(b & a)


@few
@given(some(4))
def test_a_subgroup_is_the_and_of_its_predicates_in_any_order(drawn):
    frame, parts = drawn
    group = Subgroup(parts)
    assert np.array_equal(group.mask(frame), np.logical_and.reduce([p.mask(frame) for p in parts]))
    assert group == Subgroup(parts[::-1]) == Subgroup(parts[2:]) & Subgroup(parts[:2])
    assert len(group) == len({p.column for p in parts})
    mixed = parts[0] & Subgroup(parts[1:])
    assert mixed == Subgroup(parts[1:]) & parts[0] == group


@few
@given(some(2))
def test_equal_predicates_have_equal_masks_and_texts(drawn):
    frame, (a, b) = drawn
    if a == b:
        assert hash(a) == hash(b)
        assert str(a) == str(b)
        assert np.array_equal(a.mask(frame), b.mask(frame))
    elif a.column == b.column and not np.array_equal(a.mask(frame), b.mask(frame)):
        assert str(a) != str(b)


# JSON


@few
@given(some(3))
def test_json_round_trip(drawn):
    _, parts = drawn
    for thing in (*parts, Subgroup(parts)):
        text = json.dumps(thing.to_dict(), allow_nan=False)
        again = type(thing).from_dict(json.loads(text))
        assert again == thing
        assert str(again) == str(thing)


def test_json_is_plain():
    group = Predicate.between("age", -math.inf, 30, "both") & Predicate.isin("sex", ["F", None])
    assert group.to_dict() == {
        "predicates": [
            {"column": "age", "low": None, "high": 30, "closed": [False, True]},
            {"column": "sex", "in": ["F", None]},
        ]
    }


def test_numpy_values_become_python_values():
    p = Predicate.isin(np.str_("a"), [np.int64(3), np.float32(0.5), np.bool_(False)])
    assert [type(v) for v in p.values] == [bool, float, int]
    assert json.dumps(p.to_dict()) == '{"column": "a", "in": [false, 0.5, 3]}'
    ends = Predicate.between("a", np.float64(1), np.int8(2))
    assert [type(ends.low), type(ends.high)] == [int, int]


# Queries


def rows(frame, query):
    return frame.query(query, engine="python").index.tolist()


@settings(max_examples=50)
@given(some(2))
def test_query_finds_the_rows_of_the_mask(drawn):
    frame, parts = drawn
    for thing in (*parts, Subgroup(parts)):
        assert rows(frame, thing.to_query()) == np.flatnonzero(thing.mask(frame)).tolist()


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=3))
def test_query_with_any_text(values):
    frame = pd.DataFrame({"a b": [*values, "other", None]})
    p = Predicate.isin("a b", values)
    assert rows(frame, p.to_query()) == np.flatnonzero(p.mask(frame)).tolist()


@pytest.mark.parametrize("name", ["a b", "class", "a.b", "a-b", "1st", "größe", "a$", "index", "@"])
def test_query_with_any_name(name):
    frame = pd.DataFrame({name: [1, 2, None], "other": [1, 1, 1]})
    group = Subgroup([Predicate.isin(name, [1, None]), Predicate.between("other", 0, 1)])
    assert rows(frame, group.to_query()) == [0, 2]


@pytest.mark.parametrize("column", ["a`b", 3, ("a", "b")])
def test_a_name_that_no_query_can_hold(column):
    message = r"cannot be named in a query\. Use mask\(X\) instead"
    with pytest.raises(ValueError, match=message):
        Predicate.equals(column, 1).to_query()


@pytest.mark.parametrize("index", [[0, 1, 2, 3, 4], list("abcde"), [0.5, None, 2, None, 1]])
def test_query_of_everyone(index):
    frame = X.set_axis(index, axis=0)
    assert len(frame.query(Subgroup().to_query(), engine="python")) == 5
    frame = X.assign(index=[1, None, 2, None, 3])
    assert len(frame.query(Subgroup().to_query(), engine="python")) == 5


# Intervals


@pytest.mark.parametrize(
    ("closed", "mask", "text"),
    [
        ("right", [0, 1, 1, 0, 0], "25 < age <= 45"),
        ("left", [1, 1, 0, 0, 0], "25 <= age < 45"),
        ("both", [1, 1, 1, 0, 0], "25 <= age <= 45"),
        ("neither", [0, 1, 0, 0, 0], "25 < age < 45"),
    ],
)
def test_closed(closed, mask, text):
    p = Predicate.between("age", 25, 45, closed)
    assert p.mask(X).astype(int).tolist() == mask
    assert str(p) == text
    assert str(Predicate.from_dict(p.to_dict())) == text


@pytest.mark.parametrize("closed", CLOSED)
def test_open_ends_hold_all_but_missing(closed):
    p = Predicate.between("income", closed=closed)
    assert p == Predicate.between("income")
    assert p.mask(X).tolist() == [True, False, True, True, True]
    assert Predicate.between("sex").mask(X).tolist() == [True, True, False, True, True]
    assert Predicate.between("sex", closed=closed) & Predicate.isin("sex", ["F", None]) == (
        Predicate.equals("sex", "F")
    )
    low = Predicate.between("age", high=30, closed=closed)
    assert low.low_closed is False
    assert Predicate.between("age", low=30, closed=closed).high_closed is True


@pytest.mark.parametrize("a", CLOSED)
@pytest.mark.parametrize("b", CLOSED)
def test_intervals_with_a_common_end(a, b):
    frame = pd.DataFrame({"age": [1, 2, 3]})
    first, second = Predicate.between("age", 1, 3, a), Predicate.between("age", 1, 3, b)
    assert np.array_equal((first & second).mask(frame), first.mask(frame) & second.mask(frame))


def test_intervals_that_do_not_meet():
    none = Predicate.between("age", 0, 10) & Predicate.between("age", 50, 60)
    assert not none.mask(X).any()
    assert Predicate.from_dict(none.to_dict()) == none


@pytest.mark.parametrize(
    ("low", "high", "what"),
    [
        (math.nan, 1, "low=nan"),
        (1, math.nan, "high=nan"),
        (math.inf, math.inf, "low=inf"),
        (-math.inf, -math.inf, "high=-inf"),
    ],
)
def test_ends_must_be_numbers(low, high, what):
    with pytest.raises(ValueError, match=rf"The ends of an interval of column 'age'.* got {what}"):
        Predicate.between("age", low, high)


def test_closed_must_be_known():
    with pytest.raises(ValueError, match=r"closed must be 'right', 'left', .* got 'up'"):
        Predicate.between("age", 1, 2, "up")


# Values


def test_missing_is_a_value():
    p = Predicate.isin("sex", ["F", None])
    assert p.mask(X).tolist() == [True, False, True, False, True]
    assert Predicate.is_missing("sex").mask(X).tolist() == [False, False, True, False, False]
    assert Predicate.is_missing("two words").mask(X).tolist() == [False, True, False, False, False]
    for gone in (np.nan, pd.NA, pd.NaT):
        assert Predicate.equals("sex", gone) == Predicate.is_missing("sex")
    assert Predicate.isin("sex", []).mask(X).tolist() == [False] * 5


@pytest.mark.parametrize("name", DTYPES)
def test_missing_of_every_dtype(name):
    _, can_miss, make = DTYPES[name]
    if not can_miss:
        return
    value = example(name)
    frame = pd.DataFrame({"x": make([value, None])})
    assert Predicate.is_missing("x").mask(frame).tolist() == [False, True]
    assert Predicate.equals("x", value).mask(frame).tolist() == [True, False]
    assert Predicate.isin("x", [None, value]).mask(frame).all()
    assert Predicate.between("x").mask(frame).tolist() == [True, False]


@pytest.mark.parametrize("dtype", ["int64[pyarrow]", "bool[pyarrow]", "Int64", "float64"])
def test_text_never_equals_a_number(dtype):
    frame = pd.DataFrame({"x": pd.Series([1, 0], dtype=dtype)})
    assert Predicate.isin("x", ["1", 1]).mask(frame).tolist() == [True, False]


def test_text_lies_in_no_interval():
    p = Predicate.isin("income", ["x", 2, None])
    assert p & Predicate.between("income", 0, 9) == Predicate.equals("income", 2)
    assert Predicate.between("income", 0, 9) & p == Predicate.equals("income", 2)


def test_values_that_are_equal_count_once():
    assert Predicate.isin("a", [1, 1.0, True]) == Predicate.equals("a", 1)
    a, b = Predicate.isin("a", [1, True, 2]), Predicate.isin("a", [2, 1.0])
    assert a == b
    assert a & b == b & a == a


def test_order_of_values_does_not_matter():
    p = Predicate.isin("a", ["b", 2, None, "a", 1.5, 10])
    assert p.values == (1.5, 2, 10, "a", "b", None)
    assert p == Predicate.isin("a", [None, 10, "a", 1.5, 2, "b"])


def test_a_predicate_is_its_values_not_its_name():
    assert Predicate.equals("a", "1") != Predicate.equals("a", 1)
    assert Predicate.equals("a", 1) != Predicate.equals("b", 1)
    assert Predicate.equals("a", 1) != Predicate.between("a", 1, 1, "both")
    assert len({Predicate.equals("a", v) for v in (1, 1.0, "1", None)}) == 3


# Text


@pytest.mark.parametrize(
    ("thing", "text"),
    [
        (Predicate.equals("sex", "F"), "sex = 'F'"),
        (Predicate.equals("n", 3), "n = 3"),
        (Predicate.equals("sex", "missing"), "sex = 'missing'"),
        (Predicate.is_missing("sex"), "sex is missing"),
        (Predicate.isin("sex", ["M", "F", None]), "sex in {'F', 'M', missing}"),
        (Predicate.isin("sex", []), "sex in {}"),
        (Predicate.between("age", low=30), "age > 30"),
        (Predicate.between("age", low=30, closed="left"), "age >= 30"),
        (Predicate.between("age", high=30), "age <= 30"),
        (Predicate.between("age", high=30, closed="neither"), "age < 30"),
        (Predicate.between("age"), "age is not missing"),
        (Predicate.between("age", 0.1 + 0.2, 1.0), "0.3 < age <= 1"),
        (Predicate.between("id", 10**14, 10**15), "100000000000000 < id <= 1000000000000000"),
        (Subgroup(), "everyone"),
        (Subgroup([Predicate.equals("b", 1), Predicate.equals("a", 2)]), "a = 2 and b = 1"),
    ],
)
def test_text(thing, text):
    assert str(thing) == text


# Mistakes


def test_a_column_that_is_not_there():
    with pytest.raises(KeyError, match=r"'town = 'A'' needs the column 'town'\. Columns: \['age'"):
        Predicate.equals("town", "A").mask(X)


@pytest.mark.parametrize("thing", [Predicate.equals("a", 1), Subgroup()])
def test_and_with_something_else(thing):
    with pytest.raises(TypeError, match="unsupported operand"):
        thing & 1


def test_frozen():
    with pytest.raises(AttributeError):
        Predicate.equals("a", 1).column = "b"
    with pytest.raises(AttributeError):
        Subgroup().predicates = ()


def test_everyone_is_a_subgroup_and_true():
    assert len(Subgroup()) == 0
    assert Subgroup()
    assert Subgroup().mask(X).tolist() == [True] * 5
    assert Subgroup.from_dict(Subgroup().to_dict()) == Subgroup()


def test_names_of_every_kind():
    frame = pd.DataFrame([[1, 2]], columns=[0, "0"])
    group = Subgroup([Predicate.equals("0", 2), Predicate.equals(0, 1)])
    assert group.mask(frame).tolist() == [True]
    assert group == Subgroup([Predicate.equals(0, 1), Predicate.equals("0", 2)])


def test_columns_are_plain_and_ends_that_differ_look_different():
    assert type(Predicate.between(np.int64(2), 1, 2).column) is int
    low, high = (Predicate.between("pay", e, e + 1) for e in (1e12 + 0.25, 1e12 + 0.5))
    assert str(low) != str(high)
    assert str(Predicate.between("x", 0.1 + 0.2)) == "x > 0.3"


@dataclass(frozen=True)
class LinearThreshold(Group):
    """People whose weighted sum of columns exceeds a threshold."""

    kind = "linear threshold"
    columns: tuple
    weights: tuple
    threshold: float

    def mask(self, X):
        return X[list(self.columns)].to_numpy() @ np.array(self.weights) > self.threshold

    def __str__(self):
        terms = [f"{w:g} * {c}" for c, w in zip(self.columns, self.weights, strict=True)]
        return f"{' + '.join(terms)} > {self.threshold:g}"

    def to_dict(self):
        own = {"columns": list(self.columns), "weights": list(self.weights)}
        return {"kind": self.kind, "text": str(self), **own, "threshold": self.threshold}

    @classmethod
    def from_dict(cls, data):
        return cls(tuple(data["columns"]), tuple(data["weights"]), data["threshold"])


def test_a_group_that_is_no_conjunction_can_be_a_finding():
    X = pd.DataFrame({"a": [0.0, 1.0, 2.0], "b": [1.0, 1.0, 1.0]})
    group, space = LinearThreshold(("a", "b"), (1.0, 2.0), 2.5), FeatureSpace.from_frame(X)
    assert group.mask(X).tolist() == [False, True, True]
    key = space.subgroup_key(group)
    assert key.startswith("~")
    with pytest.raises(ValueError, match="not a conjunction"):
        space.read_subgroup_key(key)
    table = pd.DataFrame({"outcome": [0.5], "effect": [-0.2], "support": [2]})
    findings = GroupFindings([group], table, space.names, [key])
    again = findings_from_dict(json.loads(json.dumps(findings.to_dict())))
    assert again.subgroups == (group,)
    conditions, results = again.parts()
    assert conditions.isna().all(axis=None)
    assert results["subgroup_key"].tolist() == [key]
    assert [g for f in again.expand() for g in f.subgroups] == [group]


def test_a_group_of_an_unknown_kind_is_a_name_and_runs_nothing():
    data = {"kind": "of another package", "text": "people near the river", "module": "os"}
    group = Group.from_dict(data)
    assert str(group) == "people near the river"
    assert group == Group.from_dict(group.to_dict())
    assert hash(group) == hash(Group.from_dict(data))
    with pytest.raises(TypeError, match="of the unknown kind 'of another package'"):
        group.mask(pd.DataFrame())


def test_a_kind_of_group_needs_a_word_for_files():
    with pytest.raises(TypeError, match="needs its own kind"):
        type("Nameless", (Group,), {})


def test_a_query_names_finite_ends_only():
    age = Predicate("age", low=-np.inf, high=30)
    assert age.to_query() in ("`age` <= 30", "`age` < 30")
    assert Predicate("age", low=20).to_query() in ("`age` > 20", "`age` >= 20")
