"""The conditions of a group are read from its text, whatever columns and values are called."""

from hypothesis import given
from hypothesis import strategies as st

from skdisc._space._conjunction_texts import conditions_in
from skdisc._space._subgroup import Predicate, Subgroup

COLUMNS = ["sex", "race and sex", "spouse's age", "x'y'z", "R and D's and more", 'a "b"', "and", 3]
TEXTS = ["Bed and breakfast", "O'Brien", "a and b's", "\"q\" and 'r'", "\\", "x = 'y' and z", ""]
values = st.one_of(st.sampled_from([*TEXTS, None, 1, 2.5, True]), st.text(max_size=5))
several = st.lists(values, min_size=1, max_size=3, unique_by=repr)


@st.composite
def predicates(draw, column):
    if draw(st.booleans()):
        return Predicate(column, values=tuple(draw(several)))
    low, high = draw(st.sampled_from([(-2.5, 3e20), (4, float("inf")), (-float("inf"), 9)]))
    return Predicate(column, low=low, high=high)


@given(st.data(), st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=4, unique=True))
def test_the_conditions_of_a_text_are_those_of_the_group(data, columns):
    group = Subgroup([data.draw(predicates(column)) for column in columns])
    assert conditions_in(str(group)) == [str(predicate) for predicate in group.predicates]
