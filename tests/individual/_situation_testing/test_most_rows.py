"""Situation tests take a stated sample where most pairs of rows would have to be compared."""

import math

import numpy as np
import pandas as pd
import pytest

from skdisc import Limits
from skdisc.individual import CounterfactualSituationTesting, Similarity, SituationTesting
from skdisc.individual._situation_testing import _base

SETTINGS = {"protected": "sex", "n_neighbors": 5, "pos_label": 1, "random_state": 0}


def people(values=12, n=1200):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], n, p=[0.3, 0.7])})
    X["job"], X["town"] = (rng.integers(0, values, n).astype(str) for _ in range(2))
    X["x"], X["y"] = rng.integers(0, 5, n), rng.integers(0, 9, n)
    y = X["x"] + rng.normal(0, 1, n) - (X["sex"] == "F") > 1.5
    return X, y.astype(int)


@pytest.mark.every(6)
@pytest.mark.parametrize("kind", [SituationTesting, CounterfactualSituationTesting])
@pytest.mark.parametrize(
    ("settings", "values", "is_sampled"),
    [
        ({}, 12, True),
        ({}, 3, False),  # few coordinates
        ({"features": ["job", "x"]}, 40, False),  # many, but few combinations of categories
        ({"features": ["job", "x"], "similarity": Similarity(metric="euclidean")}, 40, True),
        ({"features": ["job"]}, 40, True),
        ({"similarity": Similarity(metric="gower")}, 3, True),
        ({"similarity": Similarity(metric="hvdm")}, 12, False),
        ({"similarity": Similarity(metric="propensity")}, 12, False),
        ({"limits": Limits(rows=math.inf)}, 12, False),
        ({"limits": Limits(rows=300)}, 3, True),
        ({"complainants": np.arange(50)}, 12, False),
        ({"similarity": Similarity(metric="alvarez2023")}, 12, False),
    ],
)
def test_auto_samples_where_pairs_are_compared(monkeypatch, kind, settings, values, is_sampled):
    monkeypatch.setattr(_base, "_MOST", 400)
    X, y = people(values)
    test = kind(**SETTINGS, **settings).fit(X, y)
    rows = test.sampled_rows_
    assert (rows is not None) == is_sampled
    assert any("(limits.rows)" in note for note in test.result_.notes) == is_sampled
    if is_sampled:
        assert len(rows) == settings.get("limits", Limits(rows=400)).rows
        alone = kind(**SETTINGS, **settings | {"limits": Limits(rows=math.inf)}).fit(
            X.iloc[rows], y.iloc[rows]
        )
        for name in ("people", "gaps"):
            mine, theirs = (t.result_.tables[name] for t in (test, alone))
            pd.testing.assert_frame_equal(mine, theirs)
