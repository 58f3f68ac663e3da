"""Tails of the scores of few people: exact ones, and worlds in which the fit is wrong."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from known_expectations import known_residuals
from numpy.testing import assert_allclose
from scipy import optimize, special, stats

from skdisc._space._feature_space import FeatureSpace
from skdisc._space._items import make_items
from skdisc.subgroup import DisparityPursuit
from skdisc.subgroup._disparity_pursuit import _tails
from skdisc.subgroup._disparity_pursuit._context_groups import ContextGroups
from skdisc.subgroup._disparity_pursuit._orthogonal_scores import Scores


def deviate(coefficient, mean, people, total, rest=0.0):
    """Return the deviate of one sum."""
    rows = (np.asarray(v, dtype=float) for v in (coefficient, mean, people))
    sums = _tails.Sums(*rows, np.array([len(mean)]), np.array([rest]))
    return _tails.tail_deviates(sums, np.array([total]))[0][0]


def test_tails_are_those_of_all_possible_outcomes():
    """Of 16 people, nine of ten within a tenth: sums as coarse as those of equal people differ."""
    y = (np.arange(2**16)[:, None] >> np.arange(16)) & 1
    ratios = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        a, e = rng.uniform(0.5, 1.5, 16) * rng.choice([-1, 1], 16), rng.uniform(0.2, 0.8, 16)
        p, sums = np.prod(np.where(y, e, 1 - e), axis=1), (y - e) @ a
        for z in (2, 2.5, 3, 3.5):
            total = z * np.sqrt(a**2 @ (e * (1 - e)))
            beyond = sums >= total
            if beyond.sum() > 100:
                found = special.ndtr(-deviate(a, e, np.ones(16), total))
                ratios.append(found / p[beyond].sum())
    assert len(ratios) > 60
    assert np.mean(np.abs(np.array(ratios) - 1) <= 0.1) >= 0.9
    assert ratios == pytest.approx(np.ones(len(ratios)), rel=0.3)


def test_what_many_people_with_little_weight_add_is_normal():
    """The same tails whether each of them is counted or their variance."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        a, e = rng.uniform(0.5, 1.5, 16) * rng.choice([-1, 1], 16), rng.uniform(0.2, 0.8, 16)
        more, their = rng.uniform(-0.1, 0.1, 500), rng.uniform(0.05, 0.95, 500)
        rest = more**2 @ (their * (1 - their))
        for z in (-4, -2, 2, 3, 4, 6):
            total = z * np.sqrt(a**2 @ (e * (1 - e)) + rest)
            each = deviate([*a, *more], [*e, *their], np.ones(516), total)
            assert deviate(a, e, np.ones(16), total, rest) == pytest.approx(each, rel=0.03)
        assert abs(deviate(a, e, np.ones(16), total) - each) > 0.2


@pytest.mark.parametrize(("n", "e"), [(25, 0.5), (40, 0.9), (100, 0.03), (500, 0.2)])
def test_tails_of_equal_people_are_binomial(n, e):
    """Within the steps of the binomial distribution; exact where all have the outcome, or none."""
    for k in range(n + 1):
        sign = 1 if k > n * e else -1
        beyond = stats.binom.sf(k, n, e) if sign > 0 else stats.binom.cdf(k - 1, n, e)
        upto = beyond + stats.binom.pmf(k, n, e)
        if 1e-12 < upto < 0.05:
            p = special.ndtr(-sign * deviate([1.0], [e], [n], k - n * e))
            assert (p == pytest.approx(upto)) if k in (0, n) else (beyond < p < upto)


def scores_of(y, mean, n=400, cluster=None):
    """Return the scores of women in towns, of whom there are few in each."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "town": rng.choice(list("uvwx"), n)})
    items = make_items(X, FeatureSpace.from_frame(X, protected=["sex"]), list(X), ["sex"], 4)
    groups = ContextGroups.mined(items, 10, 2, lambda n: n)
    shares = np.broadcast_to(groups.is_part.mean(axis=1)[:, None], groups.is_part.shape)
    return Scores(groups, known_residuals(y(X, rng), mean, groups.is_part, shares, cluster))


def lower_in_u(X, rng):
    here = (X["sex"] == "F") & (X["town"] == "u")
    return (rng.random(len(X)) < np.where(here, 0.05, 0.5)).astype(float)


def _too_much(tilt, f, e, score):
    return f @ (special.expit(special.logit(e) + tilt * f) - e) - score


def test_scores_of_few_people_have_the_tails_of_their_context():
    """The shift and the tilt by root finding, one candidate at a time."""
    scores = scores_of(lower_in_u, np.full(400, 0.4))
    y = scores.residuals.raw
    given_ = scores.adjusted_for([])
    misfit = ((y - 0.4) ** 2).mean() / (0.4 * 0.6)
    assert misfit > 1
    at = np.flatnonzero(np.abs(given_.z) > _tails.FROM)
    assert len(at)
    for i in at:
        inside = scores.candidates.context_mask(i)
        f, outcome = scores.regressors([i])[0][inside], y[inside]
        e = np.full(len(f), outcome.mean())
        score = given_.z[i] * np.sqrt(given_.variance[i])
        tilt = optimize.brentq(_too_much, -30, 30, args=(f, e, score))
        p = special.expit(special.logit(e) + tilt * f)
        cumulant = np.log(1 - e + e * np.exp(tilt * f)).sum() - tilt * f @ e
        w = np.sqrt(2 * (tilt * score - cumulant))
        u = abs(tilt) * np.sqrt(f**2 @ (p * (1 - p)))
        size = w + np.log(u / w) / w
        seen, expected = f**2 @ (outcome - 0.4) ** 2, f**2 @ (p * (1 - p) + (p - e) ** 2)
        error = np.sqrt(f**4 @ (p * (1 - p) * (1 - 2 * e) ** 2))
        size /= np.sqrt(max(seen / expected if seen > expected + 2 * error else 1, misfit))
        np.testing.assert_allclose(given_.deviate[i], np.sign(score) * size, rtol=1e-5)
    assert np.abs(given_.deviate[at]).max() > np.abs(given_.z[at]).max()


@pytest.mark.parametrize(("error", "misfit"), [(0.0, 1.0), (0.1, (0.24 + 0.01) / (0.24 - 0.01))])
def test_a_fit_that_errs_about_all_is_known_by_their_outcomes(error, misfit):
    """By so little that the people of one context do not show it."""
    mean = np.where(np.arange(100_000) % 2, 0.4 - error, 0.4 + error)
    scores = scores_of(lambda X, rng: (rng.random(len(X)) < 0.4).astype(float), mean, len(mean))
    assert scores.residuals.misfit(scores.residuals.outcome) == pytest.approx(misfit, rel=0.005)


def test_other_scores_are_normal():
    """Numbers, people in clusters, many people, and scores that are no evidence."""
    scores = scores_of(lambda X, rng: lower_in_u(X, rng) + rng.normal(size=len(X)), 0.4)
    np.testing.assert_allclose(
        scores.adjusted_for([]).deviate, scores.adjusted_for([]).z, rtol=1e-12
    )
    scores = scores_of(lower_in_u, 0.4, cluster=np.arange(400) // 2)
    np.testing.assert_allclose(
        scores.adjusted_for([]).deviate, scores.adjusted_for([]).z, rtol=1e-12
    )
    scores = scores_of(lower_in_u, 0.4, n=10 * _tails.MOST)
    np.testing.assert_allclose(
        scores.adjusted_for([]).deviate, scores.adjusted_for([]).z, rtol=1e-12
    )
    scores = scores_of(lower_in_u, 0.4)
    none = np.abs(scores.adjusted_for([]).z) <= _tails.FROM
    np.testing.assert_allclose(
        scores.adjusted_for([]).deviate[none], scores.adjusted_for([]).z[none], rtol=1e-12
    )


@pytest.mark.statistics
@pytest.mark.parametrize("world", ["points count elsewhere only", "rare in all but one town"])
def test_nothing_is_found_where_main_effects_are_wrong_about_a_context(world):
    """In town u, expectations are wrong for each person, and minorities are small."""
    found = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame({"race": rng.choice(list("abc"), 1500, p=[0.9, 0.05, 0.05])})
        X["town"] = rng.choice(list("uvw"), 1500)
        X["points"] = rng.integers(0, 4, 1500)
        in_u = X["town"] == "u"
        if world == "points count elsewhere only":
            p = np.where(in_u, 0.5, 0.05 + 0.3 * X["points"])
        else:
            p = np.where(in_u & (X["points"] == 3), 0.7, 0.02)
        y = (rng.random(1500) < p).astype(int)
        detector = DisparityPursuit(
            protected=["race"], nuisance="additive", pos_label=1, random_state=seed
        )
        found += detector.fit(X, y).result_.n_found > 0
    assert found <= 5  # P(more) = 0.014 at level 0.05, 0.84 where a fifth are found


@pytest.fixture
def undersampled():
    """People of whom few with the outcome are in the sample, and weigh more: nothing planted."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"sex": rng.choice(["F", "M"], 8000), "race": rng.choice(list("aaabbc"), 8000)}
    )
    X["race"] = rng.choice(list("aaabbc"), 8000)
    y = (rng.random(8000) < 0.3).astype(int)
    kept = rng.random(8000) < np.where(y == 1, 0.05, 0.5)
    return X[kept].reset_index(drop=True), y[kept], np.where(y == 1, 20.0, 2.0)[kept]


def test_weights_that_depend_on_the_outcome_are_no_disparity(undersampled):
    """A group of whom nobody with the outcome was sampled varies as much as others do."""
    X, y, weight = undersampled
    detector = DisparityPursuit(protected=["sex", "race"], random_state=0)
    result = detector.fit(X, y, sample_weight=weight).result_
    assert result.verdict == "insufficient evidence"


def test_chances_among_the_sampled(undersampled):
    """Scores are those of the weighted residuals, and vary as over samples of such weights."""
    _, y, weight = undersampled
    scores = scores_of(lambda X, rng: y, 0.3, len(y))
    root = np.sqrt(weight)
    r = scores.residuals
    r = replace(r, outcome=r.outcome * root, parts=r.parts * root, root=root, raw=r.raw * root)
    scores = Scores(scores.candidates, r)
    q, size = r.sampled(r.outcome)
    sampled = 0.3 * 0.05 / (0.3 * 0.05 + 0.7 * 0.5)
    assert_allclose(size * (y - q), y - 0.3)
    assert_allclose(q, sampled)
    variance = 400 * 0.49 * sampled + 4 * 0.09 * (1 - sampled)  # of w (y - p)
    assert_allclose(r.implied(r.outcome) * weight, variance)
