"""On which scale effects are the same for all: worlds in which each scale is the true one."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from known_expectations import known_residuals
from numpy.testing import assert_allclose
from scipy.special import expit, logit

from skdisc._space._feature_space import FeatureSpace
from skdisc._space._items import make_items
from skdisc.subgroup import DisparityPursuit
from skdisc.subgroup._disparity_pursuit import _causes, _run
from skdisc.subgroup._disparity_pursuit._context_groups import ContextGroups
from skdisc.subgroup._disparity_pursuit._expectations import adjust
from skdisc.subgroup._disparity_pursuit._fits import errors
from skdisc.subgroup._disparity_pursuit._orthogonal_scores import Scores
from skdisc.subgroup._disparity_pursuit._threshold import STEEPNESS, Level
from skdisc.subgroup._estimation._outcomes import Counted

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
    settings = {"nuisance": "additive", "n_resamples": 0, "random_state": 0}
    X, y = people(scale, seed)
    result = DisparityPursuit(protected=["sex", "race"], **settings).fit(X, y).result_
    return {str(g) for g in result.findings.subgroups}, result.findings.table["scale"].iloc[0]


@pytest.mark.slow
@pytest.mark.parametrize("scale", AFTER)
def test_on_its_own_scale_one_cause_explains_all(scale, monkeypatch):
    groups, scales = zip(*(found(scale, seed) for seed in range(4)), strict=True)
    assert sum(len(g) for g in groups) <= 5
    assert all(g & {"sex = 'F'", "sex = 'M'"} for g in groups)
    assert scales.count(scale) >= 3
    if scale.startswith("ratio"):
        monkeypatch.setattr(Scores, "on_best_scale", lambda self, groups: self.on("odds ratio"))
        assert sum(len(found(scale, seed)[0]) for seed in range(4)) > 5


def scored(seed, n=300, is_weighted=False, n_clusters=None):
    """Return scores with known expectations, and the expected chances."""
    rng = np.random.default_rng(seed)
    X, e = people("difference", seed, n)[0], rng.uniform(0.05, 0.95, n)
    items = make_items(X, FeatureSpace.from_frame(X, protected=["sex"]), list(X), ["sex"], 4)
    groups = ContextGroups.mined(items, 10, 2, lambda n: n)
    shares = np.broadcast_to(groups.is_part.mean(axis=1)[:, None], groups.is_part.shape)
    y = (rng.random(n) < e).astype(float)
    cluster = None if n_clusters is None else np.arange(n) % n_clusters
    known = known_residuals(y, e, groups.is_part, shares, cluster)
    root = np.sqrt(rng.uniform(0.5, 3, n)) if is_weighted else np.ones(n)
    scaled = {name: root * getattr(known, name) for name in ("outcome", "parts", "raw")}
    return Scores(groups, replace(known, root=root, **scaled)), e


@pytest.mark.parametrize("scale", AFTER)
@pytest.mark.parametrize("n_clusters", [None, 40])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_errors_and_changes_are_those_of_weighted_least_squares(scale, n_clusters, is_weighted):
    """The jackknife (HC3), by clusters, and the one-step estimate of the effect on members."""
    scores = scored(1, 300, is_weighted, n_clusters)[0].on(scale)
    c, r, v = scores.candidates, scores.residuals, scores.room
    chosen = np.random.default_rng(0).permutation(len(c))[:3].tolist()
    f = scores.regressors(chosen)
    inverse = np.linalg.inv((f * v) @ f.T)
    slope, room = inverse @ (f @ r.outcome), (f**2 @ v) / (f**2).sum(axis=1)
    left = r.outcome - v * (slope @ f)
    influence, leverage = (inverse @ f) * left, v * np.einsum("ki,kl,li->i", f, inverse, f)
    if n_clusters:
        of = np.eye(n_clusters)[r.cluster]
        influence, leverage = influence @ of, leverage @ of
    fit = scores.fit(chosen)
    assert_allclose(fit.effect, slope * room)
    assert_allclose(np.diag(fit.covariance), (influence**2).sum(axis=1) * room**2)
    error = np.sqrt(((influence / np.maximum(1 - leverage, 0.05)) ** 2).sum(axis=1)) * room
    assert_allclose(errors(scores, fit, 0.05)[0], error)
    weight = r.root**2
    for flipped in (False, True):
        table = _causes.estimates(scores, chosen, 0.05, np.full(3, flipped))
        for k, group in enumerate(chosen):
            here, part = c.context_mask(group), c.is_part[c.part[group]]
            members, share = here & (part != flipped), part - r.parts[c.part[group]] / r.root
            share = np.clip(1 - share if flipped else share, 0.02, 0.98)
            effect = slope[k] * v * (-1 if flipped else 1)
            balance = np.where(members, 1, np.where(here, -share / (1 - share), 0))
            total = (balance * weight) @ (left / r.root + effect * members)
            assert table["change"][k] == pytest.approx(total / weight[members].sum())


def test_parts_of_gaps_are_those_of_the_mean_effect_on_every_scale():
    scores = scored(2, 2000)[0].on("ratio")
    c, part = scores.candidates, "sex = 'F'"
    groups = [g for g in range(len(c)) if c.context[g] == 0][:1]
    inside = c.is_part[c.part[groups[0]]]
    equal = _causes.at_equal_columns(scores, {part: inside}, 0.05)
    names = [c.groups[groups[0]]]
    table = _causes.parts_of_gaps(scores, groups, names, {part: inside}, equal, 0.05)
    amount = table.set_index("kind")["amount"]
    assert amount["cause"] == pytest.approx(scores.fit(groups).effect[0])
    assert amount["equal"] == pytest.approx(equal["effect"].item())
    assert amount.drop(["gap", "cause"]).sum() == pytest.approx(amount["gap"])


def test_contexts_fare_as_they_do_without_what_causes_add():
    X, y = people("ratio", 0, n=2000)
    items = make_items(X, FeatureSpace.from_frame(X, protected=["sex"]), list(X), ["sex"], 4)
    groups = ContextGroups.mined(items, 10, 3, lambda n: n)
    columns = [c for c in X if c != "sex"]
    rows = Counted(X, np.where(y, 3, 0), ["selection_rate"])
    space = FeatureSpace.from_frame(X, protected=["sex"])
    left = adjust(rows, groups.is_part, space, columns, "additive", np.random.default_rng(0))
    scores = Scores(groups, left).on("ratio")
    level = Level(scores, 0, np.random.default_rng(0), borrow=True)
    group = int(np.flatnonzero(groups.context == 0)[0])
    beside, r = scores.adjusted_for([group]), scores.residuals
    own = beside.slopes[0] * scores.indicators([group]) * scores.room
    fare = r.outcome - r.learned.residual(own.T)[:, 0]
    noise = np.sqrt(np.mean(r.noise(r.outcome) ** 2))
    total = np.array([fare[groups.context_mask(i)].sum() for i in range(len(groups))])
    expected = np.clip(total / (noise * np.sqrt(level._free[groups.context])), -4, 4)
    assert np.abs(expected).max() > 1
    unknown = np.isinf(level._free[groups.context])
    assert 0 < unknown.sum() < len(unknown)
    log_weights = np.where(unknown, 1.5, STEEPNESS * expected)
    assert_allclose(level._by_context(beside)[0], log_weights, atol=1e-9)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_last_fit_is_on_the_best_scale(k, monkeypatch):
    """Also where the search ends because it has enough causes."""
    seen = []
    search = _run.pursue

    def pursued(scores, *given_):
        seen.append((scores, search(scores, *given_)))
        return seen[-1][1]

    monkeypatch.setattr(_run, "pursue", pursued)
    X, y = people("ratio", 1, n=20_000)
    if k > 1:
        more = (X["town"] == "x") & (X["sex"] == "M") & (X["work"] == "m")
        y = np.where(more & (np.random.default_rng(1).random(len(y)) < 0.45), 0, y)
    settings = {"nuisance": "additive", "n_resamples": 0, "random_state": 0}
    DisparityPursuit(protected=["sex", "race"], k=k, **settings).fit(X, y)
    scores, found_ = seen[0]
    assert len(found_.groups) == min(k, 2)
    assert found_.final.scale == scores.on_best_scale(found_.groups).scale != "difference"


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["difference", "ratio"])
def test_a_column_with_few_people_for_each_value_does_not_change_the_scale(scale):
    """Chances expected from their own outcomes would be near 0 and 1."""
    for seed in range(3):
        X, y = people(scale, 300 + seed)
        values = np.random.default_rng(seed).integers(len(X) // 10, size=len(X))
        X["zip"] = values.astype(str)
        settings = {"nuisance": "additive", "n_resamples": 0, "random_state": 0}
        result = DisparityPursuit(protected=["sex", "race"], **settings).fit(X, y).result_
        assert result.findings.table["scale"].tolist() == [scale]


@pytest.mark.slow
def test_rare_outcomes_have_scales():
    rng = np.random.default_rng(2)
    X = people("difference", 1, n=300_000)[0]
    chance = 0.0002 * np.exp(0.75 * X["town"].map({"u": 0, "v": 1, "w": 2, "x": 3}))
    chance = np.where(X["sex"] == "F", 0.2 * chance, chance)
    y = (rng.random(len(X)) < chance).astype(int)
    settings = {"nuisance": "additive", "n_resamples": 0, "random_state": 0}
    result = DisparityPursuit(protected=["sex", "race"], **settings).fit(X, y).result_
    assert [str(g) for g in result.findings.subgroups] in (["sex = 'F'"], ["sex = 'M'"])
    assert result.findings.table["scale"][0] in ("ratio", "odds ratio")


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
    numbers = known_residuals(e + 0.1, e, scores.candidates.is_part, r.parts)
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
        protected=["sex", "race"], nuisance="additive", n_resamples=0, confirm=0.5, random_state=0
    )
    assert set(half.fit(X, y).result_.findings.table["scale"]) == {scale}
    again = half.audit(*people("difference", 1)).findings.table["scale"]
    assert set(again) == {scale}
