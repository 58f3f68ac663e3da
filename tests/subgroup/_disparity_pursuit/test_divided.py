"""Two causes that first enter as the one group that they have in common."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from known_expectations import known_residuals

from skdisc._space._feature_space import FeatureSpace
from skdisc._space._items import make_items
from skdisc.subgroup import DisparityPursuit
from skdisc.subgroup._disparity_pursuit import _search
from skdisc.subgroup._disparity_pursuit._context_groups import ContextGroups
from skdisc.subgroup._disparity_pursuit._orthogonal_scores import Scores

CAUSES = {"race = 'a' and work = 'k'", "race = 'a' and town = 'u'"}


def people(seed, n=2000, gap=0.25):
    """People of race a have a lower rate in town u, and in work k."""
    rng = np.random.default_rng(seed)
    values = {"race": "abcd", "town": "uvwx", "work": "kmn", "edu": "pqr"}
    X = pd.DataFrame({name: rng.choice(list(v), n) for name, v in values.items()})
    rate = 0.7 - gap * (X["race"] == "a") * ((X["town"] == "u") + 1 * (X["work"] == "k"))
    return X, (rng.random(n) < rate.to_numpy()).astype(int)


def pursued(X, y):
    given = {"protected": "race", "nuisance": "additive", "n_resamples": 0, "random_state": 0}
    return DisparityPursuit(**given).fit(X, y).result_


def scored(X, y):
    items = make_items(X, FeatureSpace.from_frame(X, protected=["race"]), list(X), ["race"], 4)
    groups = ContextGroups.mined(items, 10, 3, lambda n: n)
    shares = np.broadcast_to(groups.is_part.mean(axis=1)[:, None], groups.is_part.shape)
    return Scores(groups, known_residuals(y, np.full(len(y), 0.5), groups.is_part, shares))


def test_a_group_with_more_evidence_than_its_two_causes_gives_way_to_them(monkeypatch):
    X, y = people(5)
    result = pursued(X, y)
    assert {str(g) for g in result.findings.subgroups} == CAUSES
    assert result.tables["path"]["action"].tolist() == ["enter", "divide", "divide", "end"]
    assert (result.findings.table["p_adjusted"] <= 0.05).all()
    path = result.tables["path"]
    assert (path["evidence"] > path["critical"]).tolist() == [True, True, True, False]
    assert path["p_adjusted"].notna().tolist() == [True, False, False, True]
    monkeypatch.setattr(_search._Search, "_divided", lambda *given: None)
    both = "race = 'a' and town = 'u' and work = 'k'"  # these are affected twice
    assert [str(g) for g in pursued(X, y).findings.subgroups] == [both]


@pytest.mark.parametrize("seed", range(6))
def test_one_cause_is_not_divided(seed):
    X, y = people(seed, gap=0.0)
    y = np.where((X["race"] == "a") & (np.random.default_rng(seed).random(len(X)) < 0.4), 0, y)
    found = pursued(X, y)
    assert "race = 'a'" in {str(g) for g in found.findings.subgroups}
    assert "divide" not in set(found.tables["path"]["action"])


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 2))
def test_the_best_pair_explains_most_of_all_pairs(seed, n_others):
    scores = scored(*people(seed, n=300))
    chosen = np.random.default_rng(seed).permutation(len(scores.candidates))
    others, near = chosen[:n_others].tolist(), chosen[n_others : n_others + 8]
    pair = _search._best_pair(scores, scores.adjusted_for(others), near)

    def left(two):
        f = scores.regressors([*others, *two]).T
        r = scores.residuals.outcome
        return ((r - f @ np.linalg.lstsq(f, r, rcond=None)[0]) ** 2).sum()

    def differ(two):
        f = scores.regressors([*others, *two]).T
        q = f[:, -2:] - f[:, :n_others] @ np.linalg.lstsq(f[:, :n_others], f[:, -2:], rcond=None)[0]
        return (q[:, 0] @ q[:, 1]) ** 2 < 0.89 * (q[:, 0] @ q[:, 0]) * (q[:, 1] @ q[:, 1])

    least = min(left(two) for two in itertools.combinations(near, 2) if differ(two))
    assert left(pair) <= least * (1 + 1e-9)


def test_equal_regressors_are_no_pair():
    scores = scored(*people(0, n=400))
    assert _search._best_pair(scores, scores.adjusted_for([]), np.array([1, 1])) is None
    assert _search._best_pair(scores, scores.adjusted_for([]), np.array([1])) is None
