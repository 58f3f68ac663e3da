"""On which scale effects are the same for all: worlds in which each scale is the true one."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import expit, logit

from skdisc._space._feature_space import FeatureSpace
from skdisc._space._items import make_items
from skdisc.subgroup import DisparityPursuit
from skdisc.subgroup._disparity_pursuit._adjustment import Residuals
from skdisc.subgroup._disparity_pursuit._context_groups import ContextGroups
from skdisc.subgroup._disparity_pursuit._orthogonal_scores import Scores

AFTER = {
    "difference": lambda p: p - 0.08,
    "odds ratio": lambda p: expit(logit(p) - 0.45),
    "ratio": lambda p: 0.85 * p,
    "ratio of the opposite outcome": lambda p: 1 - 1.2 * (1 - p),
}
COLUMNS = {"sex": "FM", "race": "aabbb", "town": "uvwx", "work": "klm", "edu": "pqr"}


def people(scale, seed, n=50_000):
    """Return people with chances of .1 to .9, of whom women have lower ones."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({name: rng.choice(list(values), n) for name, values in COLUMNS.items()})
    points = {"u": 0, "v": 4, "w": 8, "x": 12, "k": 0, "l": 2, "m": 4, "p": 0, "q": 1, "r": 2}
    p = sum(X[c].map(points) for c in ("town", "work", "edu")).to_numpy() / 18 * 0.8 + 0.1
    p = np.where(X["sex"] == "F", AFTER[scale](p), p)
    return X, (rng.random(n) < p).astype(int)


def found(scale, seed):
    settings = {"nuisance": "additive", "n_bootstrap": 0, "random_state": 0}
    X, y = people(scale, seed)
    result = DisparityPursuit(protected=["sex", "race"], **settings).fit(X, y).result_
    return {str(g) for g in result.findings.subgroups}, result.findings.table["scale"].iloc[0]


@pytest.mark.parametrize("scale", AFTER)
def test_on_its_own_scale_one_cause_explains_all(scale, monkeypatch):
    groups, scales = zip(*(found(scale, seed) for seed in range(4)), strict=True)
    assert sum(len(g) for g in groups) <= 5
    assert all(g & {"sex = 'F'", "sex = 'M'"} for g in groups)
    assert scales.count(scale) >= 3
    if scale.startswith("ratio"):
        monkeypatch.setattr(Scores, "on_best_scale", lambda self, groups: self.on("odds ratio"))
        assert sum(len(found(scale, seed)[0]) for seed in range(4)) > 5


def scored(seed, n=300):
    """Return scores with known expectations, and the expected chances."""
    rng = np.random.default_rng(seed)
    X, e = people("difference", seed, n)[0], rng.uniform(0.05, 0.95, n)
    items = make_items(X, FeatureSpace.from_frame(X, protected=["sex"]), list(X), ["sex"], 4)
    groups = ContextGroups.mined(items, 10, 2, lambda n: n)
    shares = np.broadcast_to(groups.is_part.mean(axis=1)[:, None], groups.is_part.shape)
    y = (rng.random(n) < e).astype(float)
    return Scores(groups, Residuals.of_known(y, e, groups.is_part, shares)), e


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000))
def test_the_best_scale_leaves_least(seed):
    scores, e = scored(seed)
    chosen = np.random.default_rng(seed).permutation(len(scores.candidates))[:3].tolist()
    f, r, lost = scores.regressors(chosen), scores.residuals.outcome, {}
    rooms = [np.ones(len(e)), e * (1 - e), e, 1 - e]
    for scale, v in zip(scores.residuals.scales, rooms, strict=True):
        slope = np.linalg.pinv((f * v) @ f.T) @ (f @ r)
        lost[scale] = ((r - v * (slope @ f)) ** 2).sum()
        fit = scores.on(scale).fit(chosen)
        assert_allclose(fit.slope, slope)
        assert_allclose(fit.outcome, r - v * (slope @ f))
        one = scores.on(scale).fit(chosen[:1])
        assert_allclose(one.effect, (f[0] @ r) / (f[0] @ f[0]))  # on every scale
    best = scores.on_best_scale(chosen)
    assert lost[best.scale] == pytest.approx(min(lost.values()))
    assert scores.loss(chosen) == pytest.approx(min(lost.values()))
    assert best.on(scores.scale).room is scores.room


def test_effects_on_numbers_are_differences():
    scores, e = scored(0)
    r = scores.residuals
    numbers = Residuals.of_known(e + 0.1, e, scores.candidates.is_part, r.parts)
    assert list(numbers.scales) == ["difference"]
    assert list(r.scales) == list(AFTER)


@pytest.mark.parametrize("seed", range(4))
def test_where_all_have_the_same_chance_scales_are_equal(seed):
    X, y = people("ratio", seed, n=2000)
    y = np.where((X["sex"] == "F") & (np.arange(len(X)) % 3 > 0), 0, y)
    settings = {"protected": ["sex", "race"], "adjust_for": None, "random_state": 0}
    for order in (np.arange(len(X)), np.random.default_rng(seed).permutation(len(X))):
        result = DisparityPursuit(**settings).fit(X.iloc[order], y[order]).result_
        assert set(result.findings.table["scale"]) == {"difference"}


@pytest.mark.parametrize("scale", ["odds ratio", "ratio"])
def test_other_rows_are_measured_on_the_scale_that_was_found(scale):
    X, y = people(scale, 0)
    half = DisparityPursuit(
        protected=["sex", "race"], nuisance="additive", n_bootstrap=0, confirm=0.5, random_state=0
    )
    assert set(half.fit(X, y).result_.findings.table["scale"]) == {scale}
    again = half.audit(*people("difference", 1)).findings.table["scale"]
    assert set(again) == {scale}
