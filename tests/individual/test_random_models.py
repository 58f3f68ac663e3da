"""A model that decides by chance: searches refuse it, and shares count only what exceeds chance."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from skdisc import BlackBox, FeatureSpace, Limits
from skdisc.exceptions import ModelError
from skdisc.group import GroupDisparity
from skdisc.individual import (
    ADF,
    EIDIG,
    KOSEI,
    LIMI,
    SG,
    Aequitas,
    BoundarySearch,
    CounterfactualFairness,
    ExactTree,
    ExpGA,
    Themis,
)

SEARCHES = [ADF, EIDIG, SG, KOSEI, ExpGA, LIMI, Aequitas, BoundarySearch, ExactTree]
SAID = "is not deterministic: .* rows got another outcome when they were queried a second time"


def people(n=600, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], n),
            "income": rng.integers(0, 100, n),
            "town": rng.choice(list("abc"), n),
        }
    )


def coin(seed=0, gap=0.0):
    """Return a model that favors men by a gap, else decides by a coin."""
    rng = np.random.default_rng(seed)
    return lambda X: (rng.random(len(X)) < 0.5 + gap * (X["sex"] == "M")).astype(int)


class Randomized(ClassifierMixin, BaseEstimator):
    """Decides with the probability that a regression on the income gives, whatever the sex."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        self.model_ = LogisticRegression().fit(X[["income"]], y)
        self.rng_ = np.random.default_rng(0)
        return self

    def predict_proba(self, X):
        return self.model_.predict_proba(X[["income"]])

    def predict(self, X):
        return (self.rng_.random(len(X)) < self.predict_proba(X)[:, 1]).astype(int)


@pytest.mark.parametrize("search", SEARCHES)
def test_searches_refuse_a_coin(search):
    with pytest.raises(ModelError, match=SAID):
        search(protected="sex", random_state=0).fit(people(), model=coin())


def test_searches_refuse_a_randomized_classifier_and_take_its_probabilities():
    X = people()
    y = (X["income"] > 50).astype(int)
    model = Randomized().fit(X, y)
    with pytest.raises(ModelError, match=SAID):
        BoundarySearch(protected="sex", n_pool=500, random_state=0).fit(X, model=model)
    search = BoundarySearch(protected="sex", n_pool=500, output="probability", random_state=0)
    assert search.fit(X, model=model).result_.n_found == 0


def test_a_rare_chance_is_noticed():
    rng = np.random.default_rng(0)
    model = lambda X: (X["income"] > 50) ^ (rng.random(len(X)) < 0.02)  # noqa: E731
    with pytest.raises(ModelError, match=SAID):
        ADF(protected="sex", random_state=0).fit(people(), model=model)


def test_rounding_is_no_chance():
    rng = np.random.default_rng(0)

    class Network:
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            p = X["income"] / 100 + 1e-7 * rng.random(len(X))
            return np.column_stack([1 - p, p])

    search = BoundarySearch(protected="sex", n_pool=300, random_state=0)
    assert "not deterministic" not in str(search.fit(people(), model=Network()).result_.notes)


@pytest.mark.parametrize("of", ["people", "inputs"])
def test_a_coin_that_never_sees_sex_is_no_finding(of):
    found, verdicts, shares = 0, set(), []
    for seed in range(12):
        X = people(400, seed)
        detector = Themis(protected="sex", margin=0.05, random_state=seed)
        rows = X if of == "people" else FeatureSpace.from_frame(X, protected="sex")
        result = detector.fit(rows, model=coin(seed)).result_
        verdicts.add(result.verdict)
        found += result.verdict == "disparity found"
        shares.append(result.tables["scores"]["causal"][0])
        assert len(result) == result.n_found == 0
        assert any("Only" in n or "only" in n for n in result.notes)
    assert found <= 2
    assert "no disparity found" not in verdicts  # chance hides rare changes
    assert np.mean(shares) < 0.03  # half of all draws change


def test_what_exceeds_chance_is_found():
    shares = []
    for seed in range(8):
        detector = Themis(protected="sex", margin=0.1, random_state=0)
        result = detector.fit(people(600, seed), model=coin(seed, gap=0.45)).result_
        assert result.verdict == "disparity found"
        shares.append(result.estimates["estimate"].iloc[0])
    # variants differ with .5 * .05 + .5 * .95, and queries of one of them with .5 or 2 * .05 * .95
    assert np.mean(shares) == pytest.approx(0.5 - (0.5 + 2 * 0.05 * 0.95) / 2, abs=0.03)


def test_new_people_and_the_score_of_a_random_model():
    X = people(1000)
    detector = Themis(protected="sex", margin=0.05, random_state=0).fit(X, model=coin())
    result = detector.audit(people(500, 1))
    assert (result.n_found, result.verdict) == (0, "insufficient evidence")
    assert detector.score(people(2000, 2)) < 0.06


def test_counterfactual_fairness_counts_what_exceeds_chance():
    X = people(1000)
    fair = CounterfactualFairness(protected="sex", random_state=0).fit(X, model=coin()).result_
    assert (fair.verdict, fair.n_found) == ("insufficient evidence", 0)
    unfair = CounterfactualFairness(protected="sex", random_state=0).fit(X, model=coin(gap=0.45))
    assert unfair.result_.verdict == "disparity found"


def test_other_detectors_say_it():
    X = people()
    result = GroupDisparity(protected="sex").fit(X, model=coin()).result_
    assert any("is not deterministic" in note for note in result.notes)
    fixed = GroupDisparity(protected="sex").fit(X, model=lambda X: X["income"] > 50).result_
    assert not any("is not deterministic" in note for note in fixed.notes)


def test_a_limit_on_queries_holds_for_repeats():
    sent = []

    def model(X):
        sent.append(len(X))
        return (X["income"] > 50).astype(int)

    search = Themis(protected="sex", limits=Limits(queries=300), random_state=0)
    result = search.fit(people(600), model=model).result_
    assert (result.n_queries, result.stopped_by) == (300, "queries")
    assert sum(sent) - result.n_queries == 30


def test_decisions_are_no_model():
    X = people()
    given = BlackBox(decisions=np.arange(len(X)) % 2)
    notes = GroupDisparity(protected="sex").fit(X, model=given).result_.notes
    assert not any("deterministic" in note for note in notes)
