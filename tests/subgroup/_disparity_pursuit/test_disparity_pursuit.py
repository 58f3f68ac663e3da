"""DisparityPursuit: oracles, exact identities, and planted causes."""

import itertools
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from known_expectations import known_residuals
from scipy import special

from skdisc import Limits, Rule
from skdisc._space._feature_space import FeatureSpace
from skdisc._space._items import make_items
from skdisc._space._subgroup import Predicate, Subgroup
from skdisc.datasets import make_discrimination
from skdisc.group import GroupDisparity
from skdisc.subgroup import Bins, DisparityPursuit, DivExplorer
from skdisc.subgroup._disparity_pursuit import _causes, _context_groups, _orthogonal_scores, _run
from skdisc.subgroup._disparity_pursuit._context_groups import ContextGroups
from skdisc.subgroup._disparity_pursuit._orthogonal_scores import Scores
from skdisc.subgroup._disparity_pursuit._search import pursue
from skdisc.subgroup._disparity_pursuit._threshold import Level

PROTECTED = ["sex", "race"]
ROOMS = {  # what effects are proportional to, at an expected chance
    "difference": np.ones_like,
    "odds ratio": lambda e: e * (1 - e),
    "ratio": lambda e: e,
    "ratio of the opposite outcome": lambda e: 1 - e,
}


def people(seed, n=600, gap=0.0):
    """Sex = F in town u is `gap` lower; y depends on town and work."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], n),
            "race": rng.choice(["a", "b", "c"], n),
            "town": rng.choice(["u", "v", "w"], n),
            "work": rng.choice(["x", "y"], n),
        }
    )
    here = ((X["sex"] == "F") & (X["town"] == "u")).to_numpy()
    p = 0.5 + 0.15 * (X["town"] == "v") + 0.1 * (X["work"] == "x") - gap * here
    p = p.to_numpy()
    return X, (rng.random(n) < p).astype(int), p


def known(X, y, p, depth=2, cluster=None, least=20):
    """Return the scores with known expectations."""
    items = make_items(X, FeatureSpace.from_frame(X, protected=PROTECTED), list(X), PROTECTED, 4)
    groups = ContextGroups.mined(items, least, depth, lambda n: n)
    shares = np.broadcast_to(groups.is_part.mean(axis=1)[:, None], groups.is_part.shape)
    return Scores(groups, known_residuals(y, p, groups.is_part, shares, cluster))


def regressor(scores, X, y, p, i):
    group = scores.candidates.groups[i]
    part = Subgroup([q for q in group.predicates if q.column in PROTECTED]).mask(X)
    context = Subgroup([q for q in group.predicates if q.column not in PROTECTED]).mask(X)
    return context * (part - part.mean())


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.booleans(), st.sampled_from([3, 10_000]))
def test_sums_over_cells_give_those_over_rows(seed, is_centered, at_once):
    with (
        patch.object(_context_groups, "_CELLS", at_once),
        patch.object(_orthogonal_scores, "_BLOCK", at_once),
    ):
        check_sums(seed, is_centered)


def check_sums(seed, is_centered):
    X, y, p = people(seed, n=200)
    rng = np.random.default_rng(seed)
    scores, root = known(X, y, p), rng.uniform(0.5, 2, len(y))
    scores = Scores(
        scores.candidates,
        replace(
            scores.residuals,
            outcome=rng.normal(size=len(y)),
            parts=rng.normal(size=scores.d.shape),
            root=root,
            is_centered=is_centered,
        ),
    )
    F = scores.regressors(range(len(scores.candidates)))
    chosen = sorted(rng.choice(len(F), 3, replace=False).tolist())
    values, share = rng.random(len(y)), rng.normal(size=3)
    squares, beside = scores._products(chosen, values)
    np.testing.assert_allclose(squares, F**2 @ values, rtol=1e-9)
    np.testing.assert_allclose(beside, (F * values) @ F[chosen].T, atol=1e-9)
    squares, beside = scores._products(chosen, values, chosen)
    np.testing.assert_allclose(squares, F[chosen] ** 2 @ values, rtol=1e-9)
    np.testing.assert_allclose(beside, (F[chosen] * values) @ F[chosen].T, atol=1e-9)
    np.testing.assert_allclose(scores.combined(chosen, share), share @ F[chosen], atol=1e-12)
    r, f = scores.residuals.outcome, F[chosen]
    score = scores.along((r - scores.room * (scores.adjusted_for(chosen).slopes @ f))[None])[0]
    np.testing.assert_allclose(scores.adjusted_for(chosen).score, score, atol=1e-9)
    if is_centered:
        np.testing.assert_allclose(F @ root, 0, atol=1e-9)
    some, factors = rng.permutation(len(y))[:90], rng.normal(size=(90, 4))
    c, planes = scores.candidates, scores.d[:, some].astype(np.float32)
    sums = c.over_groups(planes, factors.astype(np.float32), some)
    own = [(c.context_mask(g)[some] * scores.d[c.part[g]][some]) @ factors for g in range(len(c))]
    np.testing.assert_allclose(sums, own, atol=1e-4)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.booleans(), st.sampled_from([None, *ROOMS]))
def test_joint_fits_are_those_of_least_squares_with_sandwich_errors(seed, clusters, scale):
    X, y, p = people(seed, n=200)
    rng = np.random.default_rng(seed)
    y = rng.normal(p) if scale is None else y
    scale = scale or "difference"
    v = ROOMS[scale](p)
    cluster = rng.integers(40, size=len(y)) if clusters else None
    if clusters:
        cluster = np.unique(cluster, return_inverse=True)[1]
    scores = known(X, y, p, cluster=cluster)
    chosen = rng.choice(len(scores.candidates), 3, replace=False).tolist()
    F = np.column_stack([regressor(scores, X, y, p, i) for i in chosen])
    assume(np.linalg.matrix_rank(F) == len(chosen))
    how = {"cov_type": "HC0"}
    if clusters:
        correct = {"groups": cluster, "use_correction": False}
        how = {"cov_type": "cluster", "cov_kwds": correct}
    usual = np.diag(v @ F**2 / (F**2).sum(axis=0))
    fit, expected = scores.on(scale).fit(chosen), sm.WLS(y - p, v[:, None] * F, 1 / v).fit(**how)
    np.testing.assert_allclose(fit.effect, usual @ expected.params, rtol=1e-9)
    covariance = usual @ expected.cov_params() @ usual
    np.testing.assert_allclose(fit.covariance, covariance, rtol=1e-9, atol=1e-15)
    if scale == "difference":
        np.testing.assert_allclose(fit.effect, sm.OLS(y - p, F).fit().params, rtol=1e-9)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.booleans(), st.sampled_from(list(ROOMS)))
def test_scores_beside_a_fit_are_those_of_orthogonalized_regressors(seed, clusters, scale):
    X, y, p = people(seed, n=200)
    rng = np.random.default_rng(seed)
    cluster = np.arange(len(y)) // 4 if clusters else None
    scores = known(X, y, p, cluster=cluster)
    chosen = rng.choice(len(scores.candidates), 2, replace=False).tolist()
    beside = scores.on(scale).adjusted_for(chosen)
    F, v = np.column_stack([regressor(scores, X, y, p, i) for i in chosen]), ROOMS[scale](p)
    inverse = np.linalg.pinv(F.T @ (v[:, None] * F))
    left = y - p - v * (F @ inverse @ F.T @ (y - p))
    for i in np.flatnonzero(beside.is_estimable):
        own = regressor(scores, X, y, p, i)
        f = own - F @ inverse @ F.T @ (v * own)
        u = f * left
        if clusters:
            u = np.bincount(cluster, u)
        mean = np.clip(y - left, 0, 1)
        variance = max((u**2).sum(), f**2 @ (mean * (1 - mean)))
        np.testing.assert_allclose(beside.z[i], u.sum() / np.sqrt(variance), rtol=1e-8)
        expected = f @ left / (own @ (v * f)) * (v @ own**2) / (own @ own)
        np.testing.assert_allclose(beside.effect[i], expected, rtol=1e-8)


@pytest.mark.parametrize("is_given", [False, True])
def test_sums_over_contexts_are_those_of_masks(is_given):
    X, y, p = people(3, n=300)
    groups = known(X, y, p).candidates
    if is_given:
        groups = ContextGroups.of_groups(list(groups.groups)[::7], PROTECTED, X)
    plane = np.random.default_rng(0).normal(size=(len(groups.is_part), len(X)))
    contexts = [
        Subgroup([q for q in g.predicates if q.column not in PROTECTED]) for g in groups.groups
    ]
    masks = np.array([context.mask(X) for context in contexts])
    own = plane[groups.part]
    values = np.random.default_rng(1).normal(size=(2, len(X)))
    found = groups.over_groups(plane, values.T)
    np.testing.assert_allclose(found, (own * masks) @ values.T, atol=1e-12)
    at = np.arange(0, len(X), 3)
    single = [a.astype(np.float32) for a in (plane[:, at], values[:, at].T)]
    some = groups.over_groups(*single, at)
    assert some.dtype == np.float32
    np.testing.assert_allclose(some, (own * masks)[:, at] @ values[:, at].T, atol=1e-4)
    for i in (0, len(groups) - 1):
        np.testing.assert_array_equal(groups.context_mask(i), masks[i])


@pytest.mark.slow
def test_from_many_rows_on_trees_are_larger():
    from skdisc._expectations import Covariates
    from skdisc._expectations._out_of_fold import MANY_PEOPLE, Trees, draw_folds, out_of_fold

    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(8, size=(MANY_PEOPLE, 3)), columns=list("abc")).astype(float)
    p = rng.uniform(0.05, 0.95, size=(8, 8, 8))[tuple(X.to_numpy(int).T)]
    y, sex = rng.random(MANY_PEOPLE) < p, rng.random(MANY_PEOPLE) < p
    left = []
    for n in (MANY_PEOPLE - 1, MANY_PEOPLE):
        targets = np.column_stack([y, sex])[:n].astype(float)
        folds = draw_folds(n, 1, np.random.default_rng(0))
        expected = out_of_fold(Trees(Covariates.of(X[:n])), targets, folds)
        missed = (p[:n, None] - expected).T
        left.append([np.mean(m**2) for m in missed])
        bias = np.mean(missed[0] * missed[1])
        assert bias > 0
        left[-1].append(bias)
    assert (np.array(left[1]) < 0.6 * np.array(left[0])).all()


def criteria(scores, subsets, critical):
    """Twice the log likelihood lost, as explained by each set of k groups, plus their prices."""
    f, r = scores.regressors(range(len(scores.candidates))), scores.residuals.outcome
    at = np.array(subsets, dtype=int)
    inverse = np.linalg.pinv((f @ f.T)[at[:, :, None], at[:, None, :]], hermitian=True)
    explained = np.einsum("si,sij,sj->s", (f @ r)[at], inverse, (f @ r)[at])
    return len(r) * np.log1p(-explained / (r @ r)) + critical**2 * at.shape[1]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_the_causes_are_the_best_subset_where_effects_are_strong(seed):
    X, y, p = people(seed, n=800)
    here = ((X["sex"] == "F") & (X["town"] == "u")).to_numpy()
    there = ((X["race"] == "a") & (X["work"] == "x")).to_numpy()
    rng = np.random.default_rng(seed)
    y = p - 0.9 * here + 0.8 * there + rng.normal(0, 0.3, len(y))
    scores = known(X, y, p)
    level = Level(scores, 0, rng, borrow=False)
    found = pursue(scores, level, 0.05, lambda: True)
    c = level.largest_z(0.05)
    best = 0.0  # of no group
    for k in range(1, 4):
        subsets = list(itertools.combinations(range(len(scores.candidates)), k))
        best = min(best, criteria(scores, subsets, c).min())
    assert criteria(scores, [found.groups], c)[0] < best + c**2 / 2
    assert len(found.groups) >= 2


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000))
def test_weights_spread_the_level_by_columns_only(seed):
    X, y, p = people(seed, n=300)
    again = np.random.default_rng(seed).permutation(y)
    weights = []
    for outcome in (y, again):
        scores = known(X, outcome, p)
        given_ = scores.adjusted_for([])
        level = Level(scores, 0, np.random.default_rng(0), borrow=True)
        weights.append(np.exp(level.log_weights(given_)))
        np.testing.assert_allclose(weights[-1][:, given_.is_estimable].mean(), 1)
    np.testing.assert_allclose(*weights)
    groups = scores.candidates.groups
    named = np.array([sum(p.column in PROTECTED for p in g.predicates) for g in groups])
    assert set(named) == {1, 2}
    ratio = weights[0] / (scores.information * np.exp(-2.0 * named))
    np.testing.assert_allclose(ratio, ratio[0, 0])
    flat = Level(scores, 0, np.random.default_rng(0), borrow=False)
    assert not flat.log_weights(given_).any()


@pytest.mark.slow
def test_of_clear_groups_a_part_comes_before_a_whole_with_a_smaller_score():
    """All women have more information than those of the town, and so more evidence sometimes."""
    n_more_evidence = 0
    for seed in range(40):
        X, y, p = people(seed, n=2000, gap=0.1)
        town, women = (X["town"] == "u").to_numpy(), (X["sex"] == "F").to_numpy()
        scores = known(X, y, p + 0.1 * town * (women - 0.5))
        level = Level(scores, 99, np.random.default_rng(0), borrow=True)
        given_, groups = scores.adjusted_for([]), scores.candidates.groups
        evidence, weights = level.evidence(given_)
        is_clear = evidence > level.critical(given_, weights, 0.4)
        step = pursue(scores, level, 0.4, lambda: True).steps[0]
        if is_clear.any():
            rank = np.where(is_clear, evidence - np.log(scores.information), -np.inf)
            assert (step.action, step.group) == ("enter", int(np.argmax(rank)))
            n_more_evidence += str(groups[int(np.argmax(evidence))]) != str(groups[step.group])
    assert n_more_evidence


@pytest.mark.slow
# Trees keep gradients as float32, so they do not learn exactly the reverse of the reverse.
@pytest.mark.parametrize(("nuisance", "rtol"), [("additive", 1e-12), ("boosting", 1e-3)])
def test_mirror_images_are_tested_once_and_named_by_the_side_treated_worse(nuisance, rtol):
    X, y, _ = people(1, n=3000, gap=0.3)
    pursuit = DisparityPursuit(protected=PROTECTED, nuisance=nuisance, random_state=0)
    result = pursuit.set_params(pos_label=1).fit(X, y).result_
    assert str(result[0].subject) == "sex = 'F' and town = 'u'"
    assert result[0].effect < 0
    other = pursuit.set_params(pos_label=0).fit(X, y).result_
    assert str(other[0].subject) == "sex = 'M' and town = 'u'"
    np.testing.assert_allclose(other[0].effect, result[0].effect, rtol=rtol)
    sizes = result[0].support + other[0].support
    assert sizes == (X["town"] == "u").sum()


@pytest.mark.slow
def test_parts_of_each_gap_add_up_to_it():
    X, y, _ = people(2, n=2000, gap=0.3)
    tables = DisparityPursuit(protected=PROTECTED, random_state=0).fit(X, y).result_.tables
    gaps, equal = tables["gaps"], tables["comparable"].set_index("group")
    ends = ["effect", "ci_low", "ci_high"]
    for name, own in gaps.groupby("group"):
        parts = own[~own["kind"].isin(["gap", "cause"])]["amount"].sum()
        remains = own.loc[own["kind"] == "equal", ["amount", "ci_low", "ci_high"]].to_numpy()[0]
        np.testing.assert_array_equal(remains, equal.loc[name, ends].to_numpy(dtype=float))
        inside = X[name.split(" = ")[0]] == name.split("'")[1]
        gap = y[inside].mean() - y[~inside].mean()
        np.testing.assert_allclose([parts, own["amount"].iloc[0]], gap, atol=1e-9)
    assert (gaps["kind"] == "cause").any()


def part_time(seed, n=2000):
    """Women, most of whom are part-time, are .10 less often accepted; hours do not matter."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], n)
    part = rng.random(n) < np.where(sex == "F", 0.85, 0.12)
    X = pd.DataFrame({"sex": sex, "hours": np.where(part, "part", "full")})
    X["town"] = rng.choice(list("abc"), n)
    return X, (rng.random(n) < 0.5 - 0.1 * (sex == "F")).astype(int)


@pytest.mark.slow
def test_a_column_that_does_not_matter_takes_nothing_of_a_gap():
    gaps = []
    for seed in range(20):
        X, y = part_time(seed)
        detector = DisparityPursuit(protected="sex", nuisance="additive", random_state=0).fit(X, y)
        table = detector.result_.tables["gaps"]
        gaps.append(table[table["group"] == "sex = 'F'"].set_index("kind"))
    remains = pd.DataFrame([g.loc["equal"] for g in gaps])
    covered = (remains["ci_low"] <= -0.1) & (remains["ci_high"] >= -0.1)
    assert covered.sum() >= 16  # of 20 at 95 %: fewer has a chance of .003
    through = [g.loc["column", "amount"].sum() for g in gaps]
    assert abs(np.mean(through)) < 0.02


def test_causes_are_parts_of_what_remains_at_equal_columns():
    """A cause that is the whole group is all that remains; one in a half of the towns a half."""
    X, y = part_time(0, n=20_000)
    table = DisparityPursuit(protected="sex", random_state=0).fit(X, y).result_.tables["gaps"]
    own = table[table["group"] == "sex = 'F'"].set_index("kind")["amount"]
    assert own["cause"] == pytest.approx(own["equal"])
    rng = np.random.default_rng(1)
    X["town"] = rng.choice(["east", "west"], len(X))
    y = rng.random(len(X)) < 0.5 - 0.2 * ((X["sex"] == "F") & (X["town"] == "east"))
    table = DisparityPursuit(protected="sex", random_state=0).fit(X, y.astype(int)).result_.tables
    own = table["gaps"][table["gaps"]["group"] == "sex = 'M'"].set_index("kind")["amount"]
    assert own["equal"] == pytest.approx(0.1, abs=0.03)
    assert own["cause"] == pytest.approx(own["equal"], abs=0.03)


@pytest.mark.slow
def test_the_planted_groups_are_found_and_hundreds_of_shadows_are_not():
    made = make_discrimination(n_pairs=3, null_fraction=0, bias=2.5, random_state=0)
    detector = DisparityPursuit(protected=made.protected, max_predicates=4, random_state=0)
    result = detector.fit(made.data, made.target).result_
    planted = [set(str(g).split(" and ")) for g in made.truth.groups["subgroup_a"]]
    found = [set(str(g).split(" and ")) for g in result.findings.subgroups]
    assert len(found) == len(planted)
    assert all(g in planted for g in found)
    assert (result.tables["shadows"]["z_beside"].abs() < 4).all()
    assert len(result.tables["shadows"]) > 20


@pytest.mark.slow
def test_what_runs_through_a_column_is_found_if_it_is_not_adjusted_for():
    made = make_discrimination(
        n_pairs=2, null_fraction=0, bias=3.0, bias_in="proxy", n_background=3000, random_state=1
    )
    protected = list(made.protected)
    adjusted = DisparityPursuit(protected=protected, random_state=0).fit(made.data, made.target)
    assert not adjusted.result_.n_found
    gaps = adjusted.result_.tables["gaps"]
    gaps = gaps[gaps["kind"] == "column"]
    largest = gaps.loc[gaps["amount"].abs().idxmax(), "part"]
    assert largest == "Proxy_X"
    others = [c for c in made.data if c not in protected and c != "Proxy_X"]
    free = DisparityPursuit(protected=protected, adjust_for=others, random_state=0)
    assert free.fit(made.data, made.target).result_.n_found >= 1


def test_without_adjusting_members_are_compared_with_the_others_in_the_context():
    X, y, _ = people(3, n=2000, gap=0.3)
    detector = DisparityPursuit(protected=PROTECTED, adjust_for=None, random_state=0).fit(X, y)
    first = detector.result_[0]
    assert str(first.subject) == "sex = 'F' and town = 'u'"
    if detector.result_.n_found == 1:
        town = (X["town"] == "u").to_numpy()
        women = (X["sex"] == "F").to_numpy()
        gap = y[town & women].mean() - y[town & ~women].mean()
        assert first.effect == pytest.approx(gap, abs=1e-9)


def test_rows_in_clusters_say_less():
    X, y, _ = people(4, n=500, gap=0.5)
    five = pd.concat([X] * 5, ignore_index=True), np.tile(y, 5)
    groups = np.tile(np.arange(500), 5)
    settings_ = {"protected": PROTECTED, "nuisance": "additive", "random_state": 0}
    alone = DisparityPursuit(**settings_).fit(X, y).result_
    told = DisparityPursuit(**settings_).fit(*five, groups=groups).result_
    assert [str(f.subject) for f in told] == [str(f.subject) for f in alone]
    np.testing.assert_allclose(told[0].effect, alone[0].effect, rtol=1e-9)
    width = [
        (r[0].ci_high - r[0].ci_low) / special.ndtri((1 + r.findings.table["level"].iloc[0]) / 2)
        for r in (told, alone)
    ]
    assert width[0] == pytest.approx(width[1], rel=0.05)


@pytest.mark.slow
def test_numbers_and_probabilities_are_outcomes():
    X, _, p = people(5, n=1500, gap=0.3)
    pay = 3000 + 1000 * p + np.random.default_rng(0).normal(0, 200, len(p))
    here = ((X["sex"] == "F") & (X["town"] == "u")).to_numpy()
    result = DisparityPursuit(protected=PROTECTED, output="value").fit(X, pay).result_
    assert str(result[0].subject) == "sex = 'F' and town = 'u'"
    assert result[0].ci_low < -300 < result[0].ci_high

    class Model:
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            woman = ((X["sex"] == "F") & (X["town"] == "u")).to_numpy()
            rate = 0.6 - 0.2 * woman + 0.1 * (X["work"] == "x").to_numpy()
            return np.column_stack([1 - rate, rate])

        def predict(self, X):
            return (self.predict_proba(X)[:, 1] > 0.5).astype(int)

    audited = DisparityPursuit(protected=PROTECTED, output="probability").fit(X, None, Model())
    assert str(audited.result_[0].subject) == "sex = 'F' and town = 'u'"
    assert audited.result_[0].effect == pytest.approx(-0.2, abs=0.02)
    assert here.sum() == audited.result_[0].support


@pytest.mark.slow
def test_held_out_rows_confirm_a_cause():
    X, y, _ = people(6, n=3000, gap=0.3)
    detector = DisparityPursuit(protected=PROTECTED, confirm=0.5, random_state=0).fit(X, y)
    table = detector.result_.findings.table
    assert table["held_out_p_adjusted"].iloc[0] < 0.05
    assert detector.result_.verdict == "disparity found"
    X_new, y_new, _ = people(7, n=3000, gap=0.3)
    again = detector.audit(X_new, y_new)
    assert again[0].p_adjusted < 0.05
    assert again[0].ci_low < -0.3 < again[0].ci_high


@pytest.mark.slow
def test_shadows_of_another_result_are_explained():
    X, y, _ = people(8, n=4000, gap=0.3)
    causes = DisparityPursuit(protected=PROTECTED, random_state=0).fit(X, y)
    other = DivExplorer(protected=PROTECTED, pos_label=1, k=20).fit(X, y).result_
    told = causes.explain_by(other, X)
    assert len(told) == len(other)
    by = told.set_index("group")
    whole = by.loc["sex = 'F'"]
    assert whole["explained"] == pytest.approx(-0.1, abs=0.05)
    assert whole["cause"] == "sex = 'F' and town = 'u'"
    assert abs(whole["left"]) < abs(whole["effect"])


@pytest.mark.slow
@pytest.mark.parametrize("reference", ["largest", "rest", "overall", {"sex": "M"}])
def test_a_gap_is_explained_from_those_it_is_compared_with(reference):
    X, y, _ = people(8, n=4000, gap=0.3)
    causes = DisparityPursuit(protected="sex", random_state=0).fit(X, y)
    other = GroupDisparity(protected="sex", pos_label=1, reference=reference).fit(X, y).result_
    told = causes.explain_by(other, X)
    got = told[told["measure"] == "mean_difference"].iloc[0]
    effect = causes.result_.findings.table["effect"].to_numpy()
    members = np.array([g.mask(X) for g in causes.result_.findings.subgroups])
    added, inside = effect @ members, (X["sex"] == got["group"][-2]).to_numpy()
    others = np.ones(len(X), bool) if reference == "overall" else ~inside
    assert abs(got["explained"]) > 0.01
    assert got["explained"] == pytest.approx(added[inside].mean() - added[others].mean())


@pytest.mark.slow
@pytest.mark.parametrize("how", ["quantile", "tree"])
def test_numeric_columns_have_bins(how):
    X, y, _ = people(9, n=4000)
    rng = np.random.default_rng(9)
    X["age"] = rng.uniform(20, 60, len(X))
    old = ((X["age"] > 50) & (X["sex"] == "F")).to_numpy()
    y = np.where(old, rng.random(len(X)) < 0.1, y)
    bins = Bins(4, how=how, nested=how == "quantile")
    confirm = 0.5 if how == "tree" else None
    detector = DisparityPursuit(
        protected=["sex"], n_bins=bins, confirm=confirm, random_state=0
    ).fit(X, y)
    first = detector.result_[0].subject
    assert Predicate.equals("sex", "F") in first.predicates
    age = next(p for p in first.predicates if p.column == "age")
    assert 45 <= age.low <= 55


@pytest.mark.slow
def test_an_effect_below_the_least_is_none():
    X, y, _ = people(10, n=4000, gap=0.3)
    given_ = {"protected": PROTECTED, "random_state": 0}
    assert DisparityPursuit(rule=Rule(min_effect=0.1), **given_).fit(X, y).result_.n_found == 1
    assert DisparityPursuit(rule=Rule(min_effect=0.4), **given_).fit(X, y).result_.n_found == 0


@pytest.mark.slow
def test_no_disparity_is_a_claim_about_the_size_of_effects():
    X, y, _ = people(11, n=20_000)
    result = DisparityPursuit(protected=["sex"], max_predicates=1, random_state=0).fit(X, y).result_
    assert result.verdict == "no disparity found"
    few = DisparityPursuit(protected=["sex"], random_state=0).fit(X[:200], y[:200]).result_
    assert few.verdict == "insufficient evidence"


def test_wrong_settings_are_named():
    X, y, _ = people(12, n=100)
    with pytest.raises(ValueError, match="protected"):
        DisparityPursuit().fit(X, y)
    with pytest.raises(ValueError, match="names protected columns"):
        DisparityPursuit(protected="sex", adjust_for=["sex", "town"]).fit(X, y)
    with pytest.raises(ValueError, match="give y, and no model"):
        DisparityPursuit(protected="sex", output="value").fit(X, y, lambda X: np.ones(len(X)))


@pytest.mark.statistics
def test_intervals_of_given_groups_cover():
    group = Subgroup([Predicate.equals("sex", "F"), Predicate.equals("town", "u")])
    covered, changes = 0, 0
    for seed in range(120):
        X, y, _ = people(seed, n=800, gap=0.2)
        scores = adjusted(X, y, group)
        table = _causes.estimates(scores, [0], 0.05).iloc[0]
        covered += table["ci_low"] <= -0.2 <= table["ci_high"]
        changes += table["change_low"] <= -0.2 <= table["change_high"]
    assert 107 <= covered < 120  # 0.95, 3 standard errors of 120 runs
    assert 107 <= changes < 120


def adjusted(X, y, group):
    from skdisc.subgroup._disparity_pursuit._expectations import adjust
    from skdisc.subgroup._estimation._outcomes import Counted

    rows = Counted(X, np.where(y == 1, 3, 0), ["selection_rate"])
    groups = ContextGroups.of_groups([group], PROTECTED, X)
    space = FeatureSpace.from_frame(X, protected=PROTECTED)
    residuals = adjust(
        rows, groups.is_part, space, ["town", "work"], "additive", np.random.default_rng(0)
    )
    return Scores(groups, residuals)


@pytest.mark.statistics
@pytest.mark.parametrize("borrow", [True, False])
def test_nothing_is_found_where_legitimate_columns_explain_all(borrow):
    """Sex goes with town and work, outcomes depend on both: the marginal gap is large."""
    found = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, _, _ = people(seed, n=1000)
        share = 0.3 + 0.3 * (X["town"] == "u") + 0.2 * (X["work"] == "x")
        X["sex"] = np.where(rng.random(1000) < share, "F", "M")
        p = 0.3 + 0.4 * (X["town"] == "u") + 0.2 * (X["work"] == "x")
        y = (rng.random(1000) < p).astype(int)
        detector = DisparityPursuit(
            protected=PROTECTED, nuisance="additive", borrow=borrow, random_state=seed
        )
        found += detector.fit(X, y).result_.n_found > 0
    assert found <= 5  # P(more) = 0.014 at level 0.05, 0.84 where a fifth are found


@pytest.mark.slow
def test_a_search_without_time_to_search_says_so(monkeypatch):
    learn = _run._adjusted

    def slowly(detector, task, *given):
        learned = learn(detector, task, *given)
        task.budget.max_seconds = 0.0
        return learned

    monkeypatch.setattr(_run, "_adjusted", slowly)
    X, y, _ = people(3, n=400, gap=0.4)
    detector = DisparityPursuit(protected=PROTECTED, limits=Limits(seconds=1000), n_resamples=19)
    result = detector.fit(X, y).result_
    assert result.stopped_by == "seconds"
    assert not len(result.findings)
    assert result.verdict == "insufficient evidence"
    assert result.reason.startswith("the time budget ended while ")
    assert not any("no longer do" in note for note in result.notes)
