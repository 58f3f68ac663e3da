"""FairNaiveBayes: no pattern is left, the likelihood is the largest, published figures."""

import numpy as np
import pandas as pd
import pytest
from pattern_models import SETS, every_pattern, random_model
from scipy.optimize import check_grad
from sklearn.exceptions import ConvergenceWarning
from sklearn.naive_bayes import CategoricalNB

from skdisc import Rule
from skdisc.subgroup import DiscriminationPatterns, FairNaiveBayes
from skdisc.subgroup._patterns._fair_naive_bayes import _Problem


def people(seed=0, n=2000):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], n),
            "race": rng.choice(list("abc"), n),
            "town": rng.choice(list("uvw"), n),
            "points": rng.normal(size=n),
        }
    )
    odds = X["points"] + 1.2 * (X["sex"] == "M") - 0.8 * (X["race"] == "a") + rng.normal(size=n)
    return X, np.where(odds > 0.3, "yes", "no")


@pytest.mark.parametrize("delta", [0.2, 0.05, 0.01])
def test_no_pattern_is_left(delta):
    X, y = people()
    model = FairNaiveBayes(protected=["sex", "race"], delta=delta).fit(X, y)
    worst = max(abs(d) for *_, d in every_pattern(model._nb))
    assert worst <= delta
    assert model.max_discrimination_ == pytest.approx(worst, rel=1e-9)
    assert worst > 0.9 * delta  # the constraint binds: no more is given up than needed
    assert model.n_iter_ > 0


def test_patterns_in_its_own_model_are_those_that_the_detector_counts():
    X, y = people()
    shared = {"protected": ["sex", "race"], "delta": 0.02}
    plain = FairNaiveBayes(**shared, max_iter=0)
    with pytest.warns(ConvergenceWarning, match="After 0 rounds there are still patterns"):
        plain.fit(X, y)
    counted = DiscriminationPatterns(
        **shared,
        pos_label="yes",
        min_support=0.0,
        max_predicates=None,
        rule=Rule(correction="none", significance=1 - 1e-12),
    ).fit(X, y)
    assert counted.result_.n_found == sum(abs(d) > 0.02 for *_, d in every_pattern(plain._nb))
    best = counted.result_[0].effect
    assert plain.max_discrimination_ == pytest.approx(abs(best), rel=1e-12)


def test_short_patterns_only():
    X, y = people()
    model = FairNaiveBayes(protected=["sex", "race"], delta=0.05, max_predicates=1).fit(X, y)
    sizes = dict.fromkeys(range(1, 5), 0.0)
    for x, context, d in every_pattern(model._nb):
        n = len(x) + len(context)
        sizes[n] = max(sizes[n], abs(d))
    assert sizes[1] <= 0.05 < sizes[4]


def test_without_constraints_it_is_naive_bayes():
    X, y = people()
    codes = X.assign(points=(X["points"] > X["points"].median()) * 1)
    codes = codes.apply(lambda c: pd.factorize(c, sort=True)[0])
    model = FairNaiveBayes(protected="sex", delta=0.999).fit(codes, y)
    assert (model.n_iter_, model.n_constraints_) == (0, 0)
    peer = CategoricalNB(alpha=1.0).fit(codes, y)
    np.testing.assert_allclose(model.predict_proba(codes), peer.predict_proba(codes))
    assert np.array_equal(model.predict(codes), peer.predict(codes))


@pytest.mark.slow
def test_no_fair_model_nearby_is_more_likely():
    X, y = people()
    model = FairNaiveBayes(protected="sex", delta=0.05, smoothing=0.0).fit(X, y)
    items = model._items.on(X)
    counts = items.counts((y == "yes").astype(int), 2).T
    rng = np.random.default_rng(0)
    problem = _Problem(model._nb, counts, np.bincount(y == "yes"), 0.05)
    v = np.append(model._nb.log_p.ravel(), model._nb.log_odds)
    best = problem._loss(v)[0]
    fair = 0
    for _ in range(400):
        near = v + rng.normal(scale=10 ** rng.uniform(-4, -1), size=len(v))
        other = problem._model(near)
        if max(abs(d) for *_, d in every_pattern(other)) <= 0.05:
            fair += 1
            assert problem._loss(near)[0] > best - 1e-6  # what keeping off the limit costs
    assert fair > 20


def test_derivatives():
    nb = random_model([2, 3, 2], 2, 0)
    counts = np.random.default_rng(0).integers(1, 50, (2, 7)).astype(float)
    problem = _Problem(nb, counts, np.array([60, 40]), 0.1)
    problem.x = np.array([[0, -1], [1, 3], [-1, 4]])
    problem.y = np.array([[-1, 2, 5], [-1, -1, 6], [0, -1, -1]])
    v = np.append(nb.log_p.ravel(), nb.log_odds) + 0.1
    assert check_grad(lambda v: problem._loss(v)[0], lambda v: problem._loss(v)[1], v) < 1e-5
    for i in range(3):
        value = lambda v, i=i: problem._discrimination(v)[i]  # noqa: E731
        slope = lambda v, i=i: problem._slopes(v)[i]  # noqa: E731
        assert check_grad(value, slope, v) < 1e-6


def test_missing_values_and_frames():
    X, y = people()
    X.loc[::7, "race"] = None
    model = FairNaiveBayes(protected="race", delta=0.05).fit(X, y)
    assert max(abs(d) for *_, d in every_pattern(model._nb)) <= 0.05
    unseen = X.assign(town="never seen")
    assert model.predict_proba(unseen).shape == (len(X), 2)
    assert model.max_discrimination_ <= 0.05


def test_wrong_targets_are_refused():
    X, _ = people(n=30)
    with pytest.raises(ValueError, match="y has one class only"):
        FairNaiveBayes(protected="sex").fit(X, np.zeros(30))
    with pytest.raises(ValueError, match=r"needs protected=\[\.\.\.\]"):
        FairNaiveBayes().fit(X, np.arange(30) % 2)


@pytest.mark.parametrize(
    ("name", "likelihood"),
    [("compas", -207_395), ("adult", -228_763), ("german", -12_635)],
)
def test_published_likelihoods(load, name, likelihood):
    frame = load(f"fairnb/{name}")
    target, sensitive = SETS[name]
    y = frame.pop(target)
    model = FairNaiveBayes(protected=sensitive, delta=0.1, smoothing=0.0).fit(frame, y)
    assert model.max_discrimination_ <= 0.1
    assert model.log_likelihood_ == pytest.approx(likelihood, abs=1.5)
