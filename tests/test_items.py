"""Items: which rows they hold, and that their predicates say the same."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdisc import FeatureSpace
from skdisc._items import count_items, make_items
from skdisc.subgroup import DivExplorer


@st.composite
def tables(draw):
    n = draw(st.integers(1, 40))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    columns = {
        "name": rng.choice(list("abcd"), n).astype(object),
        "flag": rng.choice([True, False], n),
        "whole": rng.integers(0, draw(st.integers(1, 50)), n),
        "number": np.round(rng.normal(size=n), draw(st.integers(0, 3))),
        "kind": pd.Categorical(
            rng.choice(list("xyz"), n), list("xyzw"), ordered=draw(st.booleans())
        ),
    }
    X = pd.DataFrame(columns)
    if draw(st.booleans()):
        gone = rng.random(X.shape) < 0.3
        X = X.astype({"flag": "boolean", "whole": "Int64"}).mask(gone)
    return X


@given(X=tables(), n_bins=st.integers(2, 6))
def test_every_row_has_one_item_per_column_and_the_predicate_agrees(X, n_bins):
    space = FeatureSpace.from_frame(X)
    items = make_items(X, space, list(X.columns), ["whole", "kind"], n_bins)
    masks = items.masks(range(len(items.predicates)))
    for predicate, mask in zip(items.predicates, masks, strict=True):
        assert predicate.mask(X).tolist() == mask.tolist()
    for j in range(X.shape[1]):
        assert (masks[items.feature == j].sum(axis=0) == 1).all()
    assert [p.column for p in np.array(items.predicates)[items.protected]] == [
        c for c in ("whole", "kind") for p in items.predicates if p.column == c
    ]
    assert (np.diff(items.feature) >= 0).all()
    cell = np.arange(len(X)) % 3
    expected = [np.bincount(cell[m], minlength=3).tolist() for m in masks]
    assert items.counts(cell, 3).tolist() == expected
    for column in ("whole", "number"):
        own = [p for p in items.predicates if p.column == column and p.values != (None,)]
        assert len(own) <= n_bins


def test_quantile_bins_are_even_and_their_edges_are_values():
    X = pd.DataFrame({"n": np.arange(100)})
    items = make_items(X, FeatureSpace.from_frame(X), ["n"], [], 4)
    assert [str(p) for p in items.predicates] == [
        "n <= 24",
        "24 < n <= 49",
        "49 < n <= 74",
        "n > 74",
    ]
    heavy = pd.DataFrame({"n": [0] * 90 + [*range(1, 11)]})
    items = make_items(heavy, FeatureSpace.from_frame(heavy), ["n"], [], 4)
    assert [str(p) for p in items.predicates] == ["n <= 0", "n > 0"]


def test_few_numbers_are_values_of_their_own():
    X = pd.DataFrame({"n": [0.5, 1.0, np.nan, 3.0]})
    items = make_items(X, FeatureSpace.from_frame(X), ["n"], [], 4)
    texts = ["n = 0.5", "n = 1", "n = 3", "n is missing"]
    assert [str(p) for p in items.predicates] == texts


def test_values_that_fit_did_not_see_belong_to_no_item():
    space = FeatureSpace.from_frame(pd.DataFrame({"g": list("ab")}))
    items = make_items(pd.DataFrame({"g": list("abca")}), space, ["g"], ["g"], 4)
    assert items.codes.tolist() == [[0, 1, -1, 0]]
    assert items.counts(np.zeros(4, int), 1).tolist() == [[2], [1]]


def test_patterns_are_counted_by_the_items_they_hold():
    X = pd.DataFrame({"g": list("ab"), "h": list("uv")})
    items = make_items(X, FeatureSpace.from_frame(X), ["g", "h"], ["g"], 4)
    tested = np.array([[0, -1], [1, -1], [0, 2], [0, 3], [2, -1]])
    assert count_items(items, tested, tested[2:3]) == {"g=a": (3, 1), "g=b": (1, 0)}


def test_a_column_with_a_value_per_row_costs_no_row_of_bits_each():
    n = 40_000  # 40,000 masks of 40,000 rows would be 1.6 GB
    X = pd.DataFrame({"id": [f"p{i}" for i in range(n)], "sex": np.resize(["F", "M"], n)})
    y = (np.arange(n) % 3 == 0) | (X["sex"] == "F")
    result = DivExplorer(protected="sex").fit(X, y).result_
    assert result.n_tested == 2
    assert result.excluded.empty


def test_features_and_protected_columns_must_meet():
    X = pd.DataFrame({"g": list("ab") * 50, "h": list("uuvv") * 25})
    y = X["g"] == "a"
    detector = DivExplorer(protected="g", features=["h"])
    with pytest.raises(ValueError, match=r"features=\['h'\] has no protected column"):
        detector.fit(X, y)
    free = detector.set_params(must_include=None).fit(X, y).result_
    assert {str(g) for g in free.findings.subgroups} == {"h = 'u'", "h = 'v'"}
    both = DivExplorer(protected="g", min_support=0.01).fit(X, y).result_
    assert all("g = " in str(g) for g in both.findings.subgroups)
    assert both.n_tested == 6
    everything = DivExplorer(protected="g", must_include=None, min_support=0.01).fit(X, y).result_
    assert everything.n_tested == 8
