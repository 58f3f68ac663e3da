"""The sample of rows for detectors that cannot take all of them."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.linear_model import LogisticRegression

from skdisc import Limits
from skdisc._blackbox._blackbox import BlackBox
from skdisc._space._feature_space import FeatureSpace
from skdisc._task._sampled_rows import _allocated, sampled_rows
from skdisc.causal import StructuralCausalModel
from skdisc.individual import (
    CounterfactualFairness,
    CounterfactualSituationTesting,
    FlipTest,
    SituationTesting,
)
from skdisc.subgroup import FACTS


def people(n=600, seed=0):
    rng = np.random.default_rng(seed)
    town = rng.choice(["a", "b", "rare"], n, p=[0.7, 0.28, 0.02])
    X = pd.DataFrame({"town": town, "sex": rng.choice(["F", "M"], n), "x": rng.normal(size=n)})
    X["job"] = rng.choice(["low", "high"], n)
    noise = rng.normal(0, 0.5, n)
    return X, (X["x"] + (X["sex"] == "M") + (X["job"] == "high") + noise > 0.8).astype(int)


def drawn(X, y, n, protected=("town",), seed=0, floor=1000):
    space = FeatureSpace.from_frame(X, protected=list(protected))
    return sampled_rows(X, y, n, space, np.random.default_rng(seed), floor)


@pytest.mark.parametrize("n", [1, 7, 100, 2500, 9_999])
@pytest.mark.parametrize("sizes", [[10_000], [9000, 990, 10], [1] * 100 + [9900], [2000] * 5])
def test_the_allocation_is_whole_and_possible(sizes, n):
    sizes = np.array(sizes)
    wanted = _allocated(sizes, n, 1000)
    assert wanted.sum() == n
    assert ((wanted >= 0) & (wanted <= sizes)).all()
    floor = np.minimum(sizes, min(1000, n // (2 * len(sizes))))
    assert (wanted >= floor).all()


def test_groups_above_the_floor_keep_their_ratio():
    a, b, c = _allocated(np.array([600_000, 300_000, 50]), 9000, 1000)
    assert c == 50
    assert a / b == pytest.approx(2, rel=1e-3)


def test_the_same_people_whatever_the_order_of_rows():
    X, y = people()
    y = y.to_numpy()
    first = drawn(X, y, 100)
    order = np.random.default_rng(1).permutation(len(X))
    again = drawn(X.iloc[order].reset_index(drop=True), y[order], 100)
    assert (first.drawn[order] == again.drawn).all()
    assert not (first.drawn == drawn(X, y, 100, seed=1).drawn).all()


@pytest.mark.slow
def test_rows_are_equally_likely_within_groups_even_copies():
    X, y = people(120)
    X = pd.concat([X, X.iloc[:60]], ignore_index=True)  # copies are rows of their own
    y = np.concatenate([y, y[:60]])
    n_draws = 400
    samples = [drawn(X, y, 60, seed=seed) for seed in range(n_draws)]
    often = np.sum([s.drawn for s in samples], axis=0)
    for town in ("a", "b"):
        share = samples[0].share[X["town"][samples[0].drawn] == town]
        assert np.ptp(share) == 0
        low, high = binom.interval(1 - 1e-5, n_draws, share[0])
        assert often[X["town"] == town].min() >= low
        assert often[X["town"] == town].max() <= high


def test_shares_make_the_sample_unbiased():
    X, y = people(4000)
    means = []
    for seed in range(60):
        sample = drawn(X, y.to_numpy(), 300, seed=seed)
        assert not sample.is_even
        assert (X["town"][sample.drawn] == "rare").sum() == min(50, (X["town"] == "rare").sum())
        means.append(np.average(y[sample.drawn], weights=1 / sample.share))
    error = np.std(means) / np.sqrt(len(means))
    assert abs(np.mean(means) - y.mean()) < 4 * error


def test_protected_numbers_are_cut():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.normal(size=1000), "x": rng.normal(size=1000)})
    sample = drawn(X, None, 100, ["age"])
    counts = pd.qcut(X["age"], 4).cat.codes[sample.drawn].value_counts()
    assert counts.max() - counts.min() <= 2


DETECTORS = [
    SituationTesting(n_neighbors=5),
    CounterfactualSituationTesting(n_neighbors=5),
    CounterfactualFairness(n_resamples=9),
    FACTS(),
]


CASES = [(d, "model") for d in DETECTORS] + [(d, "decisions") for d in DETECTORS[:2]]


@pytest.mark.parametrize(("detector", "kind"), CASES)
def test_a_detector_sees_the_sample_only(detector, kind):
    X, y = people()
    model = lambda A: ((A["x"] > 0) & (A["sex"] == "M") | (A["job"] == "high")).astype(int)  # noqa: E731
    settings = {"protected": "sex", "random_state": 0, "pos_label": 1}
    detector = detector.set_params(limits__rows=200, **settings)
    given = model if kind == "model" else BlackBox(decisions=model(X).to_numpy())
    detector.fit(X, y, given)
    rows = detector.sampled_rows_
    assert detector.result_.n_samples == len(rows) == 200
    assert any("200 of 600 rows were used" in note for note in detector.result_.notes)
    sample = X.iloc[rows].reset_index(drop=True), y.iloc[rows].reset_index(drop=True)
    again = type(detector)(**{**detector.get_params(deep=False), "limits": Limits(rows=math.inf)})
    again.fit(*sample, model)
    assert again.sampled_rows_ is None
    assert not any("rows were used" in note for note in again.result_.notes)
    if not isinstance(detector, FACTS):  # which divides the people at random by its seed
        assert len(again.result_) == len(detector.result_)
    audited = detector.audit(X) if kind == "model" else detector.audit()
    assert audited.n_samples == 200


def test_rows_of_counterfactuals_stay_aligned():
    X, y = people()
    frame = X.assign(sex=np.where(X["sex"] == "F", "M", "F"))
    model = lambda A: (A["sex"] == "M").astype(int)  # noqa: E731
    detector = CounterfactualFairness(
        protected="sex", counterfactuals=frame, limits=Limits(rows=100), random_state=0, pos_label=1
    ).fit(X, y, model)
    assert len(detector.result_) == 100
    rows = detector.sampled_rows_[detector.result_.findings.row]
    original, altered = detector.result_.findings.original, detector.result_.findings.altered
    assert (original["x"].to_numpy() == X["x"].to_numpy()[rows]).all()
    assert (original["sex"].to_numpy() != altered["sex"].to_numpy()).all()
    assert len(detector.audit(X)) == 100  # the same people: the same sample


def test_complainants_outside_the_sample_are_not_judged():
    X, y = people()
    settings = {"protected": "sex", "n_neighbors": 5, "random_state": 0, "limits": Limits(rows=300)}
    detector = SituationTesting(complainants=np.arange(100), **settings).fit(X, y)
    judged = detector.result_.tables["people"]["row"]
    assert set(detector.sampled_rows_[judged]) <= set(range(100))
    assert 0 < len(judged) < 100


@pytest.mark.slow
def test_a_model_trained_here_knows_all_rows_and_is_asked_about_the_sample():
    X, y = people()
    X = X[["sex", "x"]].assign(sex=(X["sex"] == "M").astype(int))
    settings = {"protected": "sex", "limits": Limits(rows=200), "random_state": 0, "n_resamples": 9}
    detector = CounterfactualFairness(LogisticRegression(), **settings).fit(X, y)
    whole = LogisticRegression().fit(X, y)
    assert detector.model_.model.coef_ == pytest.approx(whole.coef_)
    situations = SituationTesting(
        LogisticRegression(),
        protected="sex",
        limits=Limits(rows=200),
        random_state=0,
        n_neighbors=5,
    ).fit(X, y)
    assert situations.model_.model.coef_ == pytest.approx(whole.coef_)
    assert situations.result_.n_samples == situations.result_.n_queries == 200


def test_a_causal_model_is_fitted_to_the_sample():
    X, y = people()
    scm = StructuralCausalModel([("sex", "x")])
    settings = {"protected": "sex", "limits": Limits(rows=150), "random_state": 0, "n_resamples": 9}
    model = lambda A: (A["x"] > 0).astype(int)  # noqa: E731
    detector = CounterfactualFairness(counterfactuals=scm, **settings).fit(X, y, model)
    assert detector.result_.n_samples == 150


def test_many_people_are_transported_by_sample():
    X, y = people(3000)
    settings = {"protected": "sex", "solver": "assignment", "random_state": 0}
    few = FlipTest(limits=Limits(rows=20), n_draws=5, n_permutations=9, **settings).fit(X, y)
    assert len(few.sampled_rows_) == few.result_.n_samples == 400  # 4 x 5 x 20
    assert FlipTest(n_permutations=9, **settings).fit(X, y).sampled_rows_ is None


def test_columns_compared_alone_are_drawn_in_proportion():
    """A floor for women of a rare town, not for its men, would make the sexes differ in town."""
    X, y = people(3000)
    settings = {
        "solver": "assignment",
        "random_state": 0,
        "limits": Limits(rows=20),
        "n_permutations": 9,
    }
    detector = FlipTest(protected=["town", "sex"], **settings).fit(X, y)
    given, used = (
        A.value_counts(["town", "sex"], normalize=True) for A in (X, X.iloc[detector.sampled_rows_])
    )
    assert (given - used.reindex(given.index)).abs().max() < 1 / 400
    assert any("each in proportion" in note for note in detector.result_.notes)
    alone = FlipTest(protected="town", **settings).fit(X, y)
    assert any("small groups in a larger share" in note for note in alone.result_.notes)


def test_a_time_budget_leaves_one_permutation_and_no_verdict():
    X, y = people(300)
    settings = {"protected": "sex", "solver": "assignment", "random_state": 0}
    result = FlipTest(limits=Limits(seconds=0.0), **settings).fit(X, y).result_
    flips = result.tables["flipsets"].iloc[0]
    assert (flips["draws"], flips["n_permutations"]) == (1, 1)
    assert result.stopped_by == "seconds"
    assert (len(result), result.verdict) == (0, "insufficient evidence")
