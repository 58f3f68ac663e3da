"""FlipTest in clusters: membership is drawn by clusters, and the net of flips knows them."""

import numpy as np
import pandas as pd
import pytest

from skdisc.individual import FlipTest
from skdisc.individual._fliptest._flipsets import _draws


def households(seed, n=200):
    """Return people decided alike in a household of one race, which has nothing to do with it."""
    rng, house = np.random.default_rng(seed), np.repeat(np.arange(n // 5), 5)
    X = pd.DataFrame({"race": rng.choice(list("bw"), n // 5)[house], "x": rng.normal(size=n)})
    return X, (rng.random(n) < rng.choice([0.02, 0.98], n // 5)[house]).astype(int), house


def flips(**more):
    given = {"protected": "race", "pos_label": 1, "outcome": "y", "random_state": 0}
    return FlipTest(**given, **more)


@pytest.mark.statistics
def test_households_keep_the_level():
    told, untold = 0, 0
    for seed in range(20):
        X, y, house = households(seed)
        test = flips(n_permutations=39)
        told += test.fit(X, y, groups=house).result_.verdict == "disparity found"
        untold += test.fit(X, y).result_.verdict == "disparity found"
    assert told <= 3  # P(more) = 0.02 at level 0.05
    assert untold >= 5


def test_whole_clusters_change_sides():
    rows, n_one = np.arange(100), 45
    house = rows // 5
    draws = _draws(house, rows, n_one)
    assert draws.is_shared
    for seed in range(5):
        is_one = draws.permuted(rows < n_one, np.random.default_rng(seed)).reshape(20, 5)
        assert (is_one == is_one[:, :1]).all()
        assert is_one.sum() == n_one
    assert _draws(None, rows, n_one) is _draws(np.zeros(100), rows, n_one) is None


def test_pairs_are_the_same_and_the_p_value_larger():
    X, y, house = households(0)
    own, plain = (flips(n_permutations=39).fit(X, y, groups=g).result_ for g in (house, None))
    pairs = [r.tables["transported"][["row", "partner", "weight"]] for r in (own, plain)]
    pd.testing.assert_frame_equal(*pairs)
    first, second = (r.tables["flipsets"].iloc[0] for r in (own, plain))
    assert first["p_value"] > second["p_value"]
    assert first["spread"] > second["spread"]
