"""Groups named by values: one column or several, values and predicates, what is not known."""

import pytest

from skdisc import Predicate
from skdisc._space._named_groups import named_group, named_values

KNOWN = [Predicate.equals("sex", "f"), Predicate.equals("sex", "m"), Predicate.is_missing("sex")]


def test_one_value_is_enough_for_one_column():
    assert named_values("group", "f", ["sex"]) == {"sex": "f"}
    assert named_values("group", {"sex": "f"}, ["sex", "race"]) == {"sex": "f"}


@pytest.mark.parametrize(
    ("given", "message"),
    [("f", r"group='f' is one value.*\['sex', 'race'\]"), ({"age": 3}, "group .*'age'")],
)
def test_columns_must_be_clear(given, message):
    with pytest.raises(ValueError, match=message):
        named_values("group", given, ["sex", "race"])


def test_a_value_names_the_predicate_with_this_value_alone():
    assert named_group("group", "sex", "m", KNOWN) == KNOWN[1]
    assert named_group("group", "sex", float("nan"), KNOWN) == KNOWN[2]
    either = Predicate.isin("sex", ["f", "m"])
    assert named_group("group", "sex", either, KNOWN) is either


def test_other_values_are_refused_with_those_there_are():
    ranges = [Predicate.between("age", 0, 30), Predicate.between("age", 30, 60)]
    with pytest.raises(
        ValueError, match=r"reference must be one of \['0 < age <= 30', .*'age'.*17"
    ):
        named_group("reference", "age", 17, ranges)
