"""Items: which rows they hold, and that their predicates say the same."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from published import DivExplorer

from skdisc import FeatureSpace
from skdisc._space._bins import Bins
from skdisc._space._items import count_items, make_items
from skdisc._space._subgroup import Predicate


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


@pytest.mark.slow
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


def everything(seed=0, n=300, gone=0.1):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": np.round(rng.gamma(3, 10, n), 1),
            "grade": pd.Categorical(rng.choice(list("abcde"), n), list("abcde"), ordered=True),
            "town": rng.choice(list("pqrstu"), n).astype(object),
        }
    )
    X = X.mask(rng.random(X.shape) < gone)
    return X, FeatureSpace.from_frame(X)


@pytest.mark.parametrize("how", ["quantile", "width", "tree", "edges"])
@pytest.mark.parametrize("weighted", [False, True])
def test_larger_items_hold_the_rows_of_those_they_join(how, weighted):
    X, space = everything()
    rng = np.random.default_rng(1)
    cuts = {"edges": {"age": [20, 35.5, 60]}} if how == "edges" else {"how": how}
    bins = Bins(5, **cuts, nested=True, taxonomy={"town": [["p", "q"], ["p", "q", "r"]]})
    weight = rng.integers(1, 4, len(X)).astype(float) if weighted else None
    guide = np.where(rng.random(len(X)) < 0.1, np.nan, X["age"] + rng.normal(0, 20, len(X)) > 30)
    items = make_items(X, space, list(X.columns), ["town"], bins, weight, guide, 20)
    masks = items.masks(range(len(items.predicates)))
    for predicate, mask in zip(items.predicates, masks, strict=True):
        assert predicate.mask(X).tolist() == mask.tolist()
    for i, parts in items.joined.items():
        assert (masks[parts].sum(axis=0) == masks[i]).all()
        assert len(set(items.feature[[i, *parts]])) == 1
    assert {str(items.predicates[i]) for i in items.joined} >= {
        "town in {'p', 'q'}",
        "town in {'p', 'q', 'r'}",
        "grade in {'a', 'b'}",
        "grade in {'c', 'd', 'e'}",
    }
    kinds = {items.predicates[i].column for i in items.joined}
    assert kinds == {"age", "grade", "town"}
    assert items.counts(np.zeros(len(X), int), 1)[:, 0].tolist() == masks.sum(axis=1).tolist()
    size = rng.random(len(X))
    np.testing.assert_allclose(items.sums([size])[:, 0], masks @ size)
    assert items.on(X).codes.tolist() == items.codes.tolist()
    assert (items.unjoined().codes >= 0).all()
    assert len(items.unjoined().predicates) == len(items.predicates) - len(items.joined)


@pytest.mark.parametrize("nested", [False, True])
def test_unions_are_all_runs_of_neighboring_bins(nested):
    X, space = everything()
    bins = Bins(8, unions=True, nested=nested)
    items = make_items(X, space, list(X.columns), ["town"], bins)
    ages = {p for i in items.joined if (p := items.predicates[i]).column == "age"}
    assert len(ages) == 8 * 9 // 2 - 8 - 1  # not single bins, nor all of them
    ends = sorted({end for p in ages for end in (p.low, p.high)})
    runs = {(low, high) for i, low in enumerate(ends) for high in ends[i + 2 :]}
    assert {(p.low, p.high) for p in ages} == runs - {(-np.inf, np.inf)}
    masks = items.masks(range(len(items.predicates)))
    for i, parts in items.joined.items():
        assert (masks[parts].sum(axis=0) == masks[i]).all()
    assert not {items.predicates[i].column for i in items.joined} & {"town"}  # has no order


def test_width_edges_and_missing_values():
    X = pd.DataFrame({"n": [0.0, 1, 2, 3, 9, 10, np.nan]})
    space = FeatureSpace.from_frame(X)
    texts = [str(p) for p in make_items(X, space, ["n"], [], Bins(4, how="width")).predicates]
    assert texts == ["n <= 2.5", "2.5 < n <= 5", "5 < n <= 7.5", "n > 7.5", "n is missing"]
    given = make_items(X, space, ["n"], [], Bins(9, edges={"n": [2, 9]}))
    assert [str(p) for p in given.predicates] == ["n <= 2", "2 < n <= 9", "n > 9", "n is missing"]
    assert given.codes.tolist() == [[0, 0, 0, 1, 1, 2, 3]]


@given(seed=st.integers(0, 999), n=st.integers(5, 60), least=st.integers(1, 10))
def test_the_first_split_of_a_tree_is_the_best_of_all(seed, n, least):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"n": rng.integers(0, 15, n).astype(float)})
    y = rng.random(n).round(2)
    items = make_items(
        X, FeatureSpace.from_frame(X), ["n"], [], Bins(2, how="tree"), guide=y, least=least
    )
    if X["n"].nunique() <= 2:
        return

    def error(cut):
        sides = [y[X["n"] <= cut], y[X["n"] > cut]]
        if min(map(len, sides)) < least:
            return np.inf
        return sum(((s - s.mean()) ** 2).sum() for s in sides)

    best = min(map(error, np.unique(X["n"])[:-1]))
    if np.isinf(best):
        assert len(items.predicates) == 1
    else:
        assert error(items.predicates[0].high) == pytest.approx(best)


def test_a_tree_keeps_all_its_nodes_as_nested_intervals():
    x = np.repeat(np.arange(8.0), 10)
    X = pd.DataFrame({"n": x})
    y = np.select([x < 2, x < 4], [0.0, 0.3], 1.0)
    bins = Bins(3, how="tree", nested=True)
    items = make_items(X, FeatureSpace.from_frame(X), ["n"], [], bins, guide=y)
    assert [str(p) for p in items.predicates] == ["n <= 1", "1 < n <= 3", "n > 3", "n <= 3"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n": 1}, "at least 2"),
        ({"how": "guess"}, "'quantile', 'width' or 'tree'"),
        ({"edges": {"n": [3, 1]}}, "must increase"),
        ({"edges": {"n": []}}, "finite numbers"),
        ({"edges": {"g": [1]}}, r"numeric columns only \(\['n'\]\); 'g' is not one"),
        ({"edges": {"z": [1]}}, "'z' is not one"),
        ({"taxonomy": {"n": [[1, 2]]}}, "columns of categories"),
        ({"taxonomy": {"g": [["a", "z"]]}}, "no value 'z'"),
    ],
)
def test_wrong_bins_are_refused(settings, message):
    X = pd.DataFrame({"g": list("ab") * 40, "n": np.arange(80)})
    with pytest.raises(ValueError, match=message):
        DivExplorer(protected="g", n_bins=Bins(**settings)).fit(X, X["n"] > 30)


@pytest.mark.parametrize(
    ("values", "merged"), [(["p"], False), (["p", "q"], True), (["p", "q", "r"], False)]
)
def test_a_level_of_a_taxonomy_joins_some_values_but_not_all(values, merged):
    X = pd.DataFrame({"town": list("pqr") * 10})
    space = FeatureSpace.from_frame(X)
    items = make_items(X, space, ["town"], ["town"], Bins(4, taxonomy={"town": [values]}))
    assert len(items.predicates) == 3 + merged
    found = [p for p in items.predicates if len(p.values) > 1]
    assert [set(p.values) for p in found] == [set(values)] * merged


def test_bins_with_arrays_of_edges_are_equal_to_bins_with_lists():
    with_array = Bins(edges={"age": np.array([20.0, 30.0])})
    assert with_array == Bins(edges={"age": [20.0, 30.0]})
    assert with_array != Bins(edges={"age": [20.0, 40.0]})


@given(tables(), st.booleans())
def test_items_name_and_find_groups_as_the_groups_do(X, nested):
    space = FeatureSpace.from_frame(X, protected="name")
    bins = Bins(4, nested=nested)
    items = make_items(X, space, [*X.columns[::-1]], ["name"], bins)
    rng, conjunctions, groups = np.random.default_rng(0), np.full((20, 5), -1), []
    for i in range(20):
        columns = rng.permutation(len(X.columns))[: rng.integers(0, 4)]
        own = [np.flatnonzero(items.feature == j) for j in columns]
        numbers = [int(rng.choice(some)) for some in own if len(some)]
        group = items.subgroup([*numbers, -1])
        groups.append(str(group))
        conjunctions[i, 1 : len(numbers) + 1] = numbers
        assert items.name_of([*numbers, -1]) == str(group)
        assert (items.rows_of(group, X) == group.mask(X)).all()
    assert items.names_of(conjunctions).tolist() == groups
    unknown = items.subgroup(numbers) & Predicate.equals("flag", "neither")
    assert not items.rows_of(unknown, X).any()


@pytest.mark.parametrize("how", ["quantile", "width", "tree"])
@pytest.mark.parametrize("seed", range(5))
def test_edges_are_as_short_as_divide_the_rows_alike(how, seed):
    """Rounded edges put every row where the edges as computed would, and no digit is too many."""
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.integers(-6, 7)
    x = rng.choice([rng.normal(0, scale, 300), rng.gamma(2, scale, 300), rng.random(300) / 3])
    X = pd.DataFrame({"a": np.append(x, x[:50])})
    guide = (X["a"] + rng.normal(0, np.std(x), len(X)) > np.median(x)).to_numpy(float)
    space = FeatureSpace.from_frame(X)
    items = make_items(X, space, ["a"], [], Bins(4, how=how), guide=guide, least=20)
    values, cuts = np.unique(x), [p.high for p in items.predicates if np.isfinite(p.high)]
    assert len(cuts) > 1
    if how == "quantile":
        exact = np.quantile(X["a"], [0.25, 0.5, 0.75], method="lower")
        assert np.array_equal(items.codes[0], np.searchsorted(np.unique(exact), X["a"]))
    for j, predicate in enumerate(items.predicates):
        assert np.array_equal(predicate.mask(X), items.codes[0] == j)
    for cut in cuts:
        low, high = values[values <= cut].max(), values[values > cut].min()
        digits = len(f"{abs(cut):.15e}".split("e")[0].replace(".", "").rstrip("0"))
        unit = 10.0 ** (math.floor(math.log10(abs(cut))) - max(digits - 2, 1))
        if digits > 2:  # with one digit less, no number lies between the values
            assert math.ceil(low / unit) * unit > high * (1 - 1e-12 * np.sign(high))


def test_edges_that_arithmetic_leaves_with_fifteen_digits_are_short():
    """Bins of equal width of whole numbers, and ages in days, are named by two or three digits."""
    rng = np.random.default_rng(0)
    days = rng.integers(18 * 365, 65 * 365, 60)
    X = pd.DataFrame({"age": days / 365.25, "year": 0.1 * rng.integers(180, 320, 60)})
    items = make_items(X, FeatureSpace.from_frame(X), ["age", "year"], [], Bins(3, how="width"))
    for predicate in items.predicates:
        assert len(str(predicate)) <= len("33.3 < year <= 44.4"), predicate


def test_whole_edges_stay():
    """Whole numbers are edges as they are, though others would have fewer digits."""
    X = pd.DataFrame({"pay": np.arange(60) * 1234})
    items = make_items(X, FeatureSpace.from_frame(X), ["pay"], [], 2)
    assert [str(p) for p in items.predicates] == ["pay <= 35786", "pay > 35786"]
