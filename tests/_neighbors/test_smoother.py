"""NearestSmoother: the means of `NeighborSums` as a matrix, and its transpose."""

import numpy as np
import pytest

from skdisc._neighbors._neighbor_sums import NeighborSums
from skdisc._neighbors._smoother import NearestSmoother


@pytest.mark.parametrize("decimals", [0, 1, 9])
@pytest.mark.parametrize("limit", [0.25, np.inf])
def test_means_are_those_of_the_sums(decimals, limit):
    rng = np.random.default_rng(0)
    points, values = rng.normal(size=(200, 2)).round(decimals), rng.normal(size=(200, 2))
    near = NearestSmoother(points, 7, limit=limit)
    own = np.arange(200)
    sums, weight = NeighborSums(points, values).query(
        points, [7], row_of_point=own, max_distance=limit
    )
    assert near.n_neighbors == pytest.approx(weight[:, 0])
    some = weight[:, 0] > 0
    assert near.means(values)[some] == pytest.approx(sums[some, 0] / weight[some])
    matrix = near.means(np.eye(200))
    assert (np.diag(matrix) == 0).all()
    assert near.spread(values) == pytest.approx(matrix.T @ values)


def test_reach_is_the_distance_to_the_kth_other_row():
    rng = np.random.default_rng(1)
    points = rng.integers(0, 9, (150, 2)).astype(float)
    distance = np.abs(points[:, None] - points).sum(axis=2)
    np.fill_diagonal(distance, np.inf)
    for k in (1, 6):
        found = NeighborSums(points, np.ones((150, 1))).reach(k)
        assert found == pytest.approx(np.sort(distance, axis=1)[:, k - 1], abs=1e-6)


def test_people_who_share_no_feature_have_no_neighbors():
    def far(a, b):
        return np.where((a[:, :1] > 0) & (b[:, 0] > 0), np.abs(a[:, :1] - b[:, 0]), np.inf)

    points = np.array([[0.0], [1.0], [2.0], [4.0]])
    near = NearestSmoother(points, 2, metric=far)
    assert near.n_neighbors.tolist() == [0, 2, 2, 2]
    assert near.means(points).ravel().tolist() == [0, 3, 2.5, 1.5]
