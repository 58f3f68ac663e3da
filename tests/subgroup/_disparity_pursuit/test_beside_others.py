"""Scores beside all groups of a fit but one, with the variances of the fit, and exact ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from test_disparity_pursuit import known, people
from test_scales import AFTER, scored

from skdisc.subgroup._disparity_pursuit import _search
from skdisc.subgroup._disparity_pursuit._search import pursue
from skdisc.subgroup._disparity_pursuit._threshold import Level


def chosen_of(scores, seed):
    testable = np.flatnonzero(scores.testable)
    return np.random.default_rng(seed).choice(testable, 3, replace=False).tolist()


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.booleans(), st.sampled_from([None, 60]))
def test_the_own_score_is_exact_on_every_scale(seed, is_weighted, n_clusters):
    scores = scored(seed, is_weighted=is_weighted, n_clusters=n_clusters)[0]
    groups = chosen_of(scores, seed)
    for own in groups:
        others = [g for g in groups if g != own]
        for scale in AFTER:
            alone = scored(seed, is_weighted=is_weighted, n_clusters=n_clusters)[0].on(scale)
            check_exact(scores.on(scale), alone.adjusted_for(others), own, groups)


def check_exact(scores, exact, own, groups):
    """Compare with the scores of others that were never on another scale."""
    others = [g for g in groups if g != own]
    nearly = scores.nearly_adjusted_for(others, groups)
    second = int(np.argmax(np.abs(nearly.z)))
    for beside in (
        scores.adjusted_for_others(own, others),
        scores.with_exact_variance(nearly, own),
    ):
        beside = scores.with_exact_variance(beside, second)
        assert beside.groups == exact.groups
        assert_allclose(beside.score, exact.score, atol=1e-9)
        assert_allclose(beside.information, exact.information)
        for at in (own, second):
            assert beside.is_estimable[at] == exact.is_estimable[at]
            assert_allclose(beside.variance[at], exact.variance[at])
            assert_allclose(beside.z[at], exact.z[at], atol=1e-9)
            assert_allclose(beside.deviate[at], exact.deviate[at], atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(
    st.integers(0, 10_000), st.booleans(), st.sampled_from([None, 60]), st.sampled_from([*AFTER])
)
def test_the_other_variances_are_those_that_the_fit_leaves(seed, is_weighted, n_clusters, scale):
    scores = scored(seed, is_weighted=is_weighted, n_clusters=n_clusters)[0].on(scale)
    groups, r = chosen_of(scores, seed), scores.residuals
    left, F = scores.fit(groups).outcome, scores.regressors(range(len(scores.candidates)))
    noise = r.by_cluster(np.eye(len(left)) * r.noise(left)).T  # by cluster and row
    others = groups[1:]
    beside, f = scores.nearly_adjusted_for(others, groups), F[others]
    share = (F * scores.room) @ f.T @ np.linalg.pinv((f * scores.room) @ f.T)
    free = F - share @ f
    shown = ((free @ noise.T) ** 2).sum(axis=1)
    variance = np.maximum(shown, free**2 @ r.implied(left))
    assert_allclose(beside.variance, variance, rtol=1e-9, atol=1e-9 * variance.max())
    assert_allclose(beside.score, free @ (r.outcome - scores.room * (beside.slopes @ f)), atol=1e-9)


@pytest.mark.every(6)
@pytest.mark.parametrize("most", [2, 50])
@pytest.mark.parametrize("seed", range(6))
def test_where_a_search_ends_no_cause_is_due_to_chance_or_surpassed(seed, most):
    """Of all candidates, exact scores are asked, which the search has of few."""
    X, _, p = people(seed, n=4000)
    women, rng = X["sex"] == "F", np.random.default_rng(seed)
    harm = 0.1 * women + 0.2 * (women & (X["town"] == "u")) + 0.2 * (X["race"] == "c")
    y = (rng.random(len(X)) < p - harm.to_numpy()).astype(int)
    scores = known(X, y, p, depth=3)
    level = Level(scores, 200, rng, borrow=False)
    found = pursue(scores, level, 0.05, lambda: True, most)
    scores = scores.on(found.final.scale)
    assert 2 <= len(found.groups) <= most
    for own, p_adjusted in zip(found.groups, found.p_adjusted, strict=True):
        exact = scores.adjusted_for([g for g in found.groups if g != own])
        evidence, weights = level.evidence(exact)
        assert level.p_adjusted(evidence[own], exact, weights)[0] == pytest.approx(p_adjusted)
        assert p_adjusted <= 0.05
        evidence[~_search._stands_alone(exact, found.initial)] = -np.inf
        assert evidence.max() <= max(evidence[own], found.critical)
