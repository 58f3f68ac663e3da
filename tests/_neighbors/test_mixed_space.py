"""Coordinates of mixed columns, and their distance."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from skdisc._neighbors._mixed_space import MixedSpace


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
