"""Neighbors are exact, ties are shared, and the order of the rows does not matter."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from skdisc._neighbors._nearest import NearestSearch, between, places, shares, slack
from skdisc._neighbors._neighbor_shares import NeighborShares
from skdisc._neighbors._neighbor_sums import NeighborSums


def brute(pool, points, k, own=None):
    """Return the weight of every row of the pool as a neighbor, shape (m, n)."""
    distance = cdist(points, pool, "cityblock")
    if own is not None:
        distance[np.arange(len(points)), own] = np.inf
    bound = np.sort(distance, axis=1)[:, k - 1 : k]
    inside, tied = distance < bound - 1e-9, np.abs(distance - bound) <= 1e-9
    return inside + tied * (k - inside.sum(1, keepdims=True)) / tied.sum(1, keepdims=True)


def dense(index, weight, n):
    found = np.zeros((len(index), n))
    np.add.at(found, (np.arange(len(index))[:, None], index), weight)
    return found


@pytest.mark.parametrize("width", [2, 30])
@pytest.mark.parametrize("k", [1, 5, 40])
def test_brute_force_agrees(width, k):
    rng = np.random.default_rng(width)
    pool = rng.integers(0, 3 if width == 2 else 2, (120, width)).astype(float)
    own = np.arange(120)
    found = dense(*NeighborShares(pool).query(pool, k, row_of_point=own), 120)
    assert found == pytest.approx(brute(pool, pool, k, own))
    points = rng.random((10, width))
    assert dense(*NeighborShares(pool).query(points, k), 120) == pytest.approx(
        brute(pool, points, k)
    )


def test_every_person_has_k_neighbors_and_is_none_of_them():
    pool = np.zeros((50, 1))
    index, weight = NeighborShares(pool).query(pool, 3, row_of_point=np.arange(50))
    assert weight.sum(axis=1) == pytest.approx(3)
    assert not np.any((index == np.arange(50)[:, None]) & (weight > 0))


@pytest.mark.parametrize("k", [1, 4, 30])
def test_sums_and_shares_agree(k):
    rng = np.random.default_rng(k)
    pool, points = (rng.integers(0, 4, (n, 2)).astype(float) for n in (150, 20))
    values = rng.random((150, 2))
    index, share = NeighborShares(pool).query(points, k)
    listed = (values[index] * share[..., None]).sum(axis=1)
    sums, weight = NeighborSums(pool, values).query(points, [k])
    assert listed == pytest.approx(sums[:, 0])
    assert share.sum(axis=1) == pytest.approx(weight[:, 0])
    by_distance = shares(NeighborSums(pool, values).distances(points), k)
    assert by_distance == pytest.approx(dense(index, share, 150))


def test_shares_of_places():
    distance = np.array([3.0, 0.0, 1.0, 3.0 + 1e-10, 9.0])
    assert shares(distance, 3).tolist() == [0.5, 1, 1, 0.5, 0]
    distance[2:] = np.inf
    assert shares(distance, 3).tolist() == [1, 1, 0, 0, 0]
    assert shares(distance, 9).tolist() == [1, 1, 0, 0, 0]
    assert slack(np.array([0.0, np.inf])).tolist() == [1e-9, 1e-9]


@pytest.mark.parametrize("algorithm", ["tree", "cells", "brute"])
def test_every_search_finds_the_same_distances(algorithm):
    rng = np.random.default_rng(0)
    nominal = np.array([False, True, True])
    pool = np.column_stack([rng.random(80), np.eye(2)[rng.integers(0, 2, 80)] / 2])
    found = NearestSearch(pool, nominal, algorithm=algorithm)
    assert found.algorithm == algorithm
    distance, index = found.nearest(pool[:9], 12)
    expected = np.sort(between(pool[:9], pool, "cityblock"), axis=1)[:, :12]
    assert distance == pytest.approx(expected)
    assert between(pool[:9], pool, "cityblock")[np.arange(9)[:, None], index] == (
        pytest.approx(distance)
    )


@pytest.mark.parametrize(
    ("n", "n_cells", "n_numbers", "chosen"),
    [
        *((900, 4, 1, "cells"), (100, 12, 3, "cells"), (100, 40, 1, "brute")),
        *((900, 40, 1, "blocks"), (1000, 40, 1, "cells"), (1000, 40, 2, "blocks")),
        *((5000, 70, 1, "blocks"), (900, 2, 0, "tree"), (900, 40, 0, "blocks")),
    ],
)
def test_cells_are_searched_one_by_one_if_they_hold_enough_rows(n, n_cells, n_numbers, chosen):
    rng = np.random.default_rng(0)
    cell = np.eye(n_cells)[np.arange(n) % n_cells] / 2
    pool = np.hstack([cell, rng.random((n, n_numbers))])
    found = NearestSearch(pool, np.arange(pool.shape[1]) < n_cells)
    assert found.algorithm == chosen
    distance, _ = found.nearest(pool[:30], 20)
    expected = np.sort(between(pool[:30], pool, "cityblock"), axis=1)[:, :20]
    assert distance == pytest.approx(expected)


def test_places_number_distinct_points():
    place, first = places(np.array([[1.0, 2], [3, 4], [1, 2]]))
    assert place.tolist() == [0, 1, 0]
    assert first.tolist() == [0, 1]
    assert places(np.empty((3, 0)))[0].tolist() == [0, 0, 0]


def test_wording():
    with pytest.raises(ValueError, match="between 1 and 1, got 2"):
        NeighborShares(np.zeros((2, 1))).query(np.zeros((2, 1)), 2, row_of_point=[0, 1])
