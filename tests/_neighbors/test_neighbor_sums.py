"""Sums over neighbors are those of brute force, whatever finds them."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from skdisc._neighbors._neighbor_sums import NeighborSums


def by_hand(pool, values, points, k, own=None, limit=np.inf, metric="cityblock"):
    """Return sums and weights from the whole matrix of distances."""
    distance = cdist(points, pool, metric)
    if own is not None:
        distance[np.arange(len(points)), own] = np.inf
    distance[distance > limit] = np.inf
    bound = np.sort(distance, axis=1)[:, k - 1 : k]
    with np.errstate(invalid="ignore"):
        inside = distance < bound - 1e-9
        tied = np.isfinite(distance) & (np.abs(distance - bound) <= 1e-9)
    left = (k - inside.sum(1, keepdims=True)) / np.maximum(tied.sum(1, keepdims=True), 1)
    weight = inside + tied * left
    return weight @ values, weight.sum(axis=1)


def mixed(n, rng, levels=4):
    """Return points with two numbers, one of them coarse, and one category as indicators."""
    category = np.eye(3)[rng.integers(0, 3, n)] / 2
    numbers = np.column_stack([rng.integers(0, levels, n) / levels, rng.random(n).round(1)])
    return np.hstack([numbers, category])


NOMINAL = np.array([False, False, True, True, True])


@pytest.mark.parametrize("algorithm", ["auto", "cells", "tree", "blocks", "brute"])
@pytest.mark.parametrize("limit", [np.inf, 0.3])
def test_every_algorithm_gives_the_sums_of_brute_force(algorithm, limit):
    rng = np.random.default_rng(0)
    pool, values = mixed(300, rng), rng.integers(0, 2, (300, 2)).astype(float)
    found = NeighborSums(pool, values, nominal=NOMINAL, algorithm=algorithm)
    for points, own in ((pool, np.arange(300)), (mixed(50, rng, 7), None)):
        sums, weight = found.query(points, [1, 7, 60], row_of_point=own, max_distance=limit)
        for i, k in enumerate([1, 7, 60]):
            by = by_hand(pool, values, points, k, own, limit)
            assert sums[:, i] == pytest.approx(by[0])
            assert weight[:, i] == pytest.approx(by[1])


@pytest.mark.parametrize(
    "metric", ["euclidean", "chebyshev", lambda a, b: cdist(a, b, "sqeuclidean")]
)
def test_other_metrics(metric):
    rng = np.random.default_rng(1)
    pool, values = rng.integers(0, 5, (80, 2)).astype(float), rng.random((80, 1))
    sums, _ = NeighborSums(pool, values, metric=metric).query(pool, [9], row_of_point=np.arange(80))
    name = "sqeuclidean" if callable(metric) else metric
    expected = by_hand(pool, values, pool, 9, np.arange(80), metric=name)[0]
    assert sums[:, 0] == pytest.approx(expected)


def test_a_radius_counts_everybody_inside():
    pool = np.array([[0.0], [1.0], [2.0], [9.0]])
    found = NeighborSums(pool, np.ones((4, 1)))
    sums, weight = found.query([[0.5], [20.0]], [4], max_distance=1.5)
    assert sums[:, 0, 0].tolist() == weight[:, 0].tolist() == [3, 0]


def test_wide_points_and_people_at_one_place():
    rng = np.random.default_rng(2)
    pool, values = rng.integers(0, 2, (60, 25)) / 2.0, rng.random((60, 1))
    assert NeighborSums(pool, values).search.algorithm == "brute"
    same = NeighborSums(np.zeros((30, 2)), np.eye(30)[:, :1])
    sums, weight = same.query(np.zeros((30, 2)), [5], row_of_point=np.arange(30))
    assert weight[:, 0] == pytest.approx(5)
    assert sums[:, 0, 0] == pytest.approx([0] + [5 / 29] * 29)


def test_wording():
    with pytest.raises(ValueError, match="algorithm must be one of"):
        NeighborSums(np.zeros((2, 1)), np.zeros((2, 1)), algorithm="x")
