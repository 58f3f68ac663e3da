"""Learned audits where a legitimate column has many values, each of few people."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from skdisc.subgroup import MultiaccuracyAudit
from skdisc.subgroup._learned._centering import Centering


def people(seed, n_towns, n=2000, gap=0.0):
    """Women live where few are hired; within a town all are hired alike but for the gap."""
    rng = np.random.default_rng(seed)
    town = rng.integers(n_towns, size=n)
    level = town / (n_towns - 1)
    is_woman = rng.random(n) < 0.75 - 0.5 * level
    X = pd.DataFrame({"sex": np.where(is_woman, "F", "M"), "town": [f"t{i}" for i in town]})
    X["points"] = rng.normal(size=n).round(1)
    return X, (rng.random(n) < 0.3 + 0.4 * level - gap * is_woman).astype(int)


def audited(X, y, nuisance="linear"):
    given = {"nuisance": nuisance, "witness": "linear", "random_state": 0}
    return MultiaccuracyAudit(protected="sex", **given).fit(X, y).result_


@pytest.mark.statistics
def test_what_goes_with_a_town_is_not_found():
    results = [audited(*people(seed, 75, 1000), nuisance="boosting") for seed in range(4)]
    z = [result.tables["witness"]["z"][0] for result in results]
    assert np.mean(z) < 0.5  # 1.4 unless main effects are taken out: trees know few towns


def test_a_gap_within_towns_is_found():
    assert audited(*people(0, 100, gap=0.25)).verdict == "disparity found"


def test_too_many_values_are_a_reason():
    result = audited(*people(0, 800))
    assert result.verdict == "insufficient evidence"
    assert "too many values" in result.reason


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_free_functions_and_residuals_are_those_of_least_squares(seed):
    rng = np.random.default_rng(seed)
    n, k = 60, 3
    numbers = np.column_stack([rng.normal(size=n), pd.get_dummies(rng.integers(4, size=n))])
    share, values = rng.dirichlet(np.ones(k), n), rng.normal(size=(n, k))
    c = Centering(rng.normal(size=n), rng.integers(k, size=n), share, numbers.astype(float))
    design = np.column_stack([np.ones(n), c.numbers])
    for ours, raw in ((c.free(values), c.center(values)), (c.left, c.residual)):
        assert_allclose(ours, raw - design @ np.linalg.lstsq(design, raw, rcond=None)[0], atol=1e-9)
    assert_allclose(c.freedom, 1 - np.linalg.matrix_rank(design) / n)
