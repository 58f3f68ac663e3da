"""Columns of a regression: scaled numbers, indicators of categories and of what is missing."""

import numpy as np
import pandas as pd
import pytest

from skdisc import FeatureSpace, Predicate
from skdisc._space._design_matrix import DesignMatrix
from skdisc._space._items import make_items
from skdisc._space._scales import _exact
from skdisc.subgroup import Bins

X = pd.DataFrame(
    {
        "pay": [-8.0, 4.0, np.nan, 2.0],
        "town": ["b", None, "a", "b"],
        "none": [0.0, 0.0, 0.0, 0.0],
    }
)
SPACE = FeatureSpace.from_frame(X)


def test_terms_and_the_columns_that_they_are_of():
    design = DesignMatrix.of(X, SPACE, ["pay", "town", "none"])
    assert design.values[:, 0].tolist() == [-1.0, 0.5, 0.25, 0.25]  # the median of three is 2
    assert design.values[:, 1].tolist() == [0, 0, 1, 0]
    assert design.factor.tolist() == [0, 0, 1, 1, 1, 2]
    assert design.nominal.tolist() == [False, False, True, True, True, False]
    missing_a_b = [[0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert design.values[:, 2:5].tolist() == missing_a_b
    assert design.values[:, 5].tolist() == [0] * 4


def test_whole_numbers_are_computed_in_their_own_type_as_far_as_it_is_exact():
    scale = np.array([[0.0, 2.0**24, 1.0], [-5.0, 7.0, 2.0]])
    assert _exact(scale, np.dtype("float32")) == np.float32
    assert _exact(scale * 2, np.dtype("float32")) == np.float64
    assert _exact(scale / 2, np.dtype("float32")) == np.float64


def test_the_ends_of_an_interval_are_whole_where_they_can_be():
    ends = Predicate.between("pay", 1000, 2000.5)
    assert isinstance(ends.low, int)
    assert isinstance(ends.high, float)
    assert isinstance(Predicate.between("pay", 0, 2.0**53).high, float)


def test_a_domain_is_whole_if_both_ends_are():
    space = FeatureSpace.from_domains({"x": (0, 1.5), "y": (0, 15)})
    assert space["x"].high == 1.5
    assert isinstance(space["y"].high, int)


@pytest.mark.parametrize("edges", [[1.0, np.inf], [np.nan, 2.0], []])
def test_edges_are_finite(edges):
    with pytest.raises(ValueError, match="edges of 'pay' must be finite numbers"):
        Bins(edges={"pay": edges})


def test_without_a_word_there_are_four_bins():
    assert Bins().n == 4


def test_items_with_the_same_rows_count_once_and_those_of_all_rows_never():
    rows = pd.DataFrame({"a": list("uvuv"), "b": list("xyxy"), "c": list("zzzz")})
    items = make_items(rows, FeatureSpace.from_frame(rows), ["a", "b", "c"], [], 4)
    kept = items.distinct(np.arange(len(items.predicates)))
    assert [str(items.predicates[i]) for i in kept] == ["a = 'u'", "a = 'v'"]


def test_items_are_walked_by_the_names_of_columns_and_shown_by_the_first_column():
    rows = pd.DataFrame({"z": list("uvuv"), "b": list("xyxy"), "s": list("ffmm")})
    for order in (["z", "b", "s"], ["s", "b", "z"]):
        items = make_items(rows[order], FeatureSpace.from_frame(rows[order]), order, ["s"], 4)
        pairs = zip(*items.walk(np.arange(len(items.predicates)), distinct=True), strict=True)
        named = [tuple(str(items.predicates[i]) for i in pair) for pair in pairs]
        shown = ["z = 'u'", "z = 'v'"] if order[0] == "z" else ["b = 'x'", "b = 'y'"]
        assert named[:2] == [("s = 'f'", "s = 'f'"), ("s = 'm'", "s = 'm'")]
        assert named[2:] == [("b = 'x'", shown[0]), ("b = 'y'", shown[1])]
