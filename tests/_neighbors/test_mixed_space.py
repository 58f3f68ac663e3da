"""Neighbours are exact, and do not depend on the order of the rows."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from skdisc._neighbors._mixed_space import MixedSpace, Neighbors


def brute(pool, points, k, own=None):
    """Return the weight of every row of the pool as a neighbour, shape (m, n)."""
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
    found = dense(*Neighbors(pool).query(pool, k, own=own), 120)
    assert found == pytest.approx(brute(pool, pool, k, own))
    points = rng.random((10, width))
    assert dense(*Neighbors(pool).query(points, k), 120) == pytest.approx(brute(pool, points, k))


def test_every_person_has_k_neighbours_and_is_none_of_them():
    pool = np.zeros((50, 1))
    index, weight = Neighbors(pool).query(pool, 3, own=np.arange(50))
    assert weight.sum(axis=1) == pytest.approx(3)
    assert not np.any((index == np.arange(50)[:, None]) & (weight > 0))


def test_distance_of_mixed_columns():
    X = pd.DataFrame({"age": [20, 60, 40], "job": ["a", "b", "b"], "same": [1, 1, 1]})
    points = MixedSpace(X).encode(X)
    distance = cdist(points, points, "cityblock")
    assert distance[0] == pytest.approx([0, 2, 1.5])
    assert distance[1, 2] == pytest.approx(0.5)
    assert MixedSpace(X, scale="std").encode(X)[:, 0] == pytest.approx(
        X["age"] / X["age"].std(ddof=0)
    )


def test_wording():
    with pytest.raises(ValueError, match=r"have missing values \(NaN\)"):
        MixedSpace(pd.DataFrame({"a": [1, np.nan]}))
    with pytest.raises(ValueError, match="scale must be"):
        MixedSpace([[1]], scale="x")
    with pytest.raises(ValueError, match="between 1 and 1, got 2"):
        Neighbors(np.zeros((2, 1))).query(np.zeros((2, 1)), 2, own=[0, 1])
