"""Blocks of similar rows give the neighbors of brute force, ties included."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from skdisc._neighbors._block_search import BlockSearch, similar_order
from skdisc._neighbors._mixed_space import MixedSpace
from skdisc._neighbors._nearest import NearestSearch
from skdisc._neighbors._neighbor_sums import NeighborSums
from skdisc._neighbors._smoother import NearestSmoother
from skdisc.individual import SituationTesting


def sorted_by_hand(pool, points, width, power):
    """Return distances and positions, equally near rows in the order of the pool."""
    distance = cdist(points, pool, "cityblock" if power == 1 else "sqeuclidean")
    order = np.argsort(distance, axis=1, kind="stable")[:, :width]
    distance = np.take_along_axis(distance, order, axis=1)
    return (distance if power == 1 else np.sqrt(distance)), order


@st.composite
def worlds(draw):
    """Draw mixed points whose distances are exact in floating point, and which are the nominal."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, n_numbers = draw(st.integers(1, 150)), draw(st.integers(0, 4))
    levels, weight = draw(st.sampled_from([1, 2, 8, 64])), 2.0 ** rng.integers(-2, 3, n_numbers)
    columns = [rng.integers(0, levels + 1, (n, n_numbers)) / levels * weight]
    sizes = draw(st.lists(st.sampled_from([1, 2, 3, 9, 40]), min_size=not n_numbers, max_size=12))
    for size in sizes:  # value 0 of some rows is unknown: no indicator at all
        columns.append(np.eye(size + 1)[rng.integers(draw(st.booleans()), size + 1, n), 1:] / 2)
    points = np.hstack(columns)
    return points, np.arange(points.shape[1]) >= n_numbers, rng


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(worlds(), st.sampled_from([1, 2]), st.integers(1, 200), st.sampled_from([1, 3, 64]))
def test_blocks_are_brute_force_in_any_world(world, power, width, size):
    points, nominal, rng = world
    pool = points[rng.integers(0, len(points), len(points))]  # duplicates, and points left out
    width = min(width, len(pool))
    distance, index = BlockSearch(pool, nominal, power, size=size).nearest(points, width)
    by_hand = sorted_by_hand(pool, points, width, power)
    np.testing.assert_array_equal(distance, by_hand[0])
    np.testing.assert_array_equal(index, by_hand[1])
    limit = float(np.quantile(distance, 0.5))
    cut, index = BlockSearch(pool, nominal, power, size=size).nearest(points, width, limit)
    near = distance <= limit
    np.testing.assert_array_equal(cut[near], distance[near])
    np.testing.assert_array_equal(index[near], by_hand[1][near])
    assert (cut[~near] >= distance[~near]).all()
    largest = BlockSearch(pool, nominal, power).nearest(points, width, np.finfo(float).max)
    np.testing.assert_array_equal(largest[0], distance)


def wide_table(n, rng, n_columns=130):
    """Return a table whose categories need more bits than a byte counts."""
    columns = {f"c{j}": rng.integers(0, 2 + j % 4, n).astype(str) for j in range(n_columns)}
    return pd.DataFrame(columns | {"x": rng.random(n), "y": rng.integers(0, 9, n)})


@pytest.mark.parametrize("power", [1, 2])
def test_wide_tables_and_threads(power):
    rng = np.random.default_rng(0)
    X = wide_table(400, rng)
    space = MixedSpace(X)
    points = space.encode(X)
    searches = [
        BlockSearch(points, space.nominal, power, n_jobs=jobs, size=size)
        for jobs, size in [(None, 64), (3, 64), (1, 17)]
    ]
    first, *others = (search.nearest(points, 9) for search in searches)
    assert first[0] == pytest.approx(sorted_by_hand(points, points, 9, power)[0])
    for distance, index in others:
        np.testing.assert_allclose(distance, first[0], rtol=1e-15)
        np.testing.assert_array_equal(index, first[1])


def test_more_differing_bits_than_a_byte_counts():
    named = np.repeat([0, 1], [30, 10])  # 150 categories, all of which differ: 300 bits
    points = np.tile(np.eye(2)[named] / 2, 150)
    distance, index = BlockSearch(points, np.ones(300, bool), size=8).nearest(points, 40)
    assert distance[0].tolist() == [0.0] * 30 + [150.0] * 10
    assert index[0].tolist() == list(range(40))


def test_numbers_alone():
    points = np.random.default_rng(1).normal(size=(700, 25))
    search = NearestSearch(points, metric="euclidean")
    assert search.algorithm == "blocks"
    assert search.nearest(points, 5)[0] == pytest.approx(sorted_by_hand(points, points, 5, 2)[0])


def test_similar_points_are_adjacent_and_none_is_lost():
    rng = np.random.default_rng(2)
    points = np.hstack([np.eye(8)[rng.integers(0, 8, 800)] / 2, rng.random((800, 1)) / 100])
    order = similar_order(points, np.arange(9) < 8, 16)
    assert sorted(order) == list(range(800))
    category = points[order, :8].argmax(axis=1)
    assert (np.diff(category) != 0).sum() == 7
    assert similar_order(np.empty((0, 3)), np.zeros(3, bool)).tolist() == []
    assert sorted(similar_order(np.ones((300, 2)), np.zeros(2, bool))) == list(range(300))


@pytest.mark.parametrize("metric", ["cityblock", "euclidean"])
@pytest.mark.parametrize("limit", [np.inf, 2.5])
def test_sums_and_smoothers_are_those_of_brute_force(monkeypatch, metric, limit):
    rng = np.random.default_rng(3)
    X = wide_table(600, rng, 12)[["c0", "c1", "c2", "c3", "c6", "c7", "c11", "y"]]
    X["d"] = rng.integers(0, 9, 600).astype(str)
    space, values = MixedSpace(X), rng.integers(0, 2, (600, 2)).astype(float)
    points, own = space.encode(X), np.arange(600)
    found = {}
    for algorithm in ("blocks", "brute"):
        how = {"nominal": space.nominal, "metric": metric, "algorithm": algorithm}
        sums = NeighborSums(points, values, **how)
        monkeypatch.setattr(NearestSearch, "_choose", lambda self, nominal, a=algorithm: a)
        near = NearestSmoother(points, 15, limit=limit, nominal=space.nominal, metric=metric)
        found[algorithm] = [
            *sums.query(points, [1, 15, 40, 300], row_of_point=own, max_distance=limit),
            sums.reach(15),
            near.means(values),
            near.spread(values),
            near.n_neighbors,
        ]
    for mine, theirs in zip(*found.values(), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-12)


@pytest.mark.slow
def test_situation_testing_beyond_twenty_coordinates(monkeypatch):
    rng = np.random.default_rng(4)
    X = wide_table(1500, rng, 14)
    y = (X["c0"] == "1") & (rng.random(1500) < 0.6) | (X["x"] > 0.6)
    test = SituationTesting(protected="c0", pos_label=True, n_neighbors=[5, 15])
    tables = [test.fit(X, y).result_.tables]
    tables.append(test.set_params(n_jobs=2).fit(X, y).result_.tables)
    monkeypatch.setattr(NearestSearch, "_choose", lambda self, nominal: "brute")
    tables.append(test.set_params(n_jobs=None).fit(X, y).result_.tables)
    assert tables[0]["counts"]["gap"].sum() > 0
    for name in ("people", "gaps", "balance"):
        pd.testing.assert_frame_equal(tables[0][name], tables[1][name])
        pd.testing.assert_frame_equal(tables[0][name], tables[2][name], rtol=1e-9)
