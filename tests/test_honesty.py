"""What must never read as fair, or as a number, when it is neither."""

import numpy as np
import pandas as pd
import pytest

from skdisc import AuditResult, BlackBox, FeatureSpace, Limits
from skdisc.exceptions import ModelError
from skdisc.individual import KOSEI, SG, BoundarySearch, Themis
from skdisc.subgroup import DivExplorer


@pytest.fixture
def people():
    """Return people of whom women are decided about worse, and the decisions."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], 600), "town": rng.choice(list("abc"), 600)})
    return X, (rng.random(600) < np.where(X["sex"] == "M", 0.7, 0.3)).astype(int)


@pytest.mark.parametrize("labels", [{0: "no", 1: "yes"}, {0: 1, 1: 2}, {0: "0", 1: "1"}])
def test_labels_coded_unlike_the_decisions_are_refused(people, labels):
    X, decided = people
    y = pd.Series(decided).map(labels)
    detector = DivExplorer(protected="sex", pos_label=1, metric="error_rate")
    with pytest.raises(ValueError, match=r"not among the labels .* Code labels and"):
        detector.fit(X, y, BlackBox(decisions=decided))
    fitted = DivExplorer(protected="sex", pos_label=1).fit(X, decided)
    if set(labels.values()) != {1, 2}:
        with pytest.raises(ValueError, match="not among the labels"):
            fitted.audit(X, y)


def test_a_callable_that_answers_in_other_labels_is_refused(people):
    X, decided = people
    with pytest.raises(ModelError, match="none of the labels"):
        Themis(protected="sex", pos_label=1).fit(X, decided, lambda X: np.full(len(X), 7))


def test_answers_that_never_differ_are_no_evidence_of_fairness():
    space = FeatureSpace.from_domains({"n": (0, 99), "sex": ["F", "M"]}, protected="sex")
    model = lambda X: np.where(X["sex"] == "M", "approved", "denied")  # noqa: E731
    for detector in (KOSEI(seeds="uniform", pos_label="aproved"), Themis(pos_label="aproved")):
        result = detector.set_params(random_state=0).fit(space, model=model).result_
        assert result.verdict == "insufficient evidence"
        assert any("returned the same outcome (unfavorable)" in note for note in result.notes)


def test_a_walk_cut_short_is_no_evidence_of_fairness(people):
    result = (
        DivExplorer(protected="sex", direction="higher", limits=Limits(tests=1))
        .fit(*people)
        .result_
    )
    assert (result.stopped_by, result.verdict) == ("tests", "insufficient evidence")


def test_every_input_tested_is_evidence_enough():
    space = FeatureSpace.from_domains({"n": (0, 9), "sex": ["F", "M"]}, protected="sex")
    for detector in (KOSEI(seeds="uniform"), Themis()):
        result = detector.set_params(random_state=0).fit(space, model=lambda X: X["n"] > 4).result_
        assert (result.verdict, result.n_tested) == ("no disparity found", 10)
        assert result.answer.bound < 0.005  # Themis draws 1,000 inputs of the ten


@pytest.mark.statistics
def test_the_claimed_gap_is_found_as_often_as_claimed():
    found = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame({c: rng.choice(list("abcd"), 2000) for c in "uvwxyz"})
        X["sex"] = np.repeat(["F", "M"], 1000)
        gap = 0.085
        y = rng.random(2000) < np.where(X["sex"] == "F", 0.5 - gap / 2, 0.5 + gap / 2)
        result = DivExplorer(protected="sex", max_predicates=2).fit(X, y).result_
        detectable = result.tables["groups"]["min_detectable_gap"].max()
        assert detectable == pytest.approx(0.085, abs=0.01)
        found += result.n_found > 0
    assert found >= 42  # power 0.8 would be 48, sd 3


def test_decisions_keep_to_their_rows(people):
    X, decided = people
    shuffled = X.sample(frac=1, random_state=0)
    detector = DivExplorer(protected="sex", pos_label=1)
    with pytest.raises(ValueError, match="index is not that of X"):
        detector.fit(shuffled, None, BlackBox(decisions=pd.Series(decided, index=X.index)))
    X.loc[:50, "sex"] = None
    dropped = detector.set_params(missing="drop").fit(X, None, BlackBox(decisions=decided)).result_
    again = DivExplorer(protected="sex", pos_label=1).fit(X[51:], decided[51:]).result_
    assert dropped.n_samples == 549
    assert dropped[0].effect == pytest.approx(again[0].effect)


def test_text_in_arrow_survives_json(people):
    X = people[0].convert_dtypes(dtype_backend="pyarrow")
    detector = Themis(protected="sex", random_state=0).fit(X, model=lambda X: X["sex"] == "M")
    for result in (detector.result_, detector.audit(X)):
        assert AuditResult.from_json(result.to_json()) == result


def test_a_space_alone_is_no_data_for_a_detector_of_decisions():
    space = FeatureSpace.from_domains({"n": (0, 9), "sex": ["F", "M"]}, protected="sex")
    with pytest.raises(TypeError, match="on rows of X; a FeatureSpace alone has no rows"):
        DivExplorer().fit(space, model=lambda X: X["n"] > 4)
    X = space.decode(space.sample(50, np.random.default_rng(0)))
    assert KOSEI(space=space).fit(X, model=lambda X: X["n"] > 4).protected_ == ["sex"]


def test_a_model_that_only_looks_like_an_estimator_is_audited(people):
    class Booster:
        """Has the methods of an estimator, and no more of scikit-learn."""

        def __init__(self):
            self.trees_ = 3

        def get_params(self, deep=True):
            return {}

        def fit(self, X, y):
            raise AssertionError("a fitted model is never fitted again")

        def predict(self, X):
            return (X["sex"] == "M").astype(int)

    result = Themis(protected="sex", random_state=0).fit(*people, Booster()).result_
    assert (result.audited, result.metrics["SUR"]) == ("model", 1)


class Steep:
    """Unsure of everybody but those with little income, whom it decides about by sex alone."""

    classes_ = np.array([0, 1])

    def predict_proba(self, X):
        by_sex = np.where(X["sex"] == "M", 0.95, 0.05)
        p = np.where(X["income"] < 5, by_sex, 0.5 + 0.0001 * (X["points"] - 24.5))
        return np.column_stack([1 - p, p])

    def predict(self, X):
        return (self.predict_proba(X)[:, 1] > 0.5).astype(int)


@pytest.mark.parametrize("search", [BoundarySearch(), KOSEI(seeds="boundary", n_seeds=200)])
def test_inputs_picked_at_the_boundary_are_no_sample(search):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": ["F", "M"] * 250, "income": rng.integers(0, 50, 500)})
    X["points"], X["town"] = rng.integers(0, 50, (2, 500))
    search.set_params(protected="sex", limits__tests=200, random_state=0, pos_label=1)
    result = search.fit(X, model=Steep()).result_
    assert (result.n_tested, result.n_found) == (200, 0)
    assert any("No input was drawn at random" in note for note in result.notes)
    assert result.verdict == "disparity found"  # which is about the people, not about the search
    assert len(search.audit(X)) > 0


def test_where_no_input_is_nearer_than_another_they_are_a_sample(people):
    X = people[0].assign(points=np.arange(600))
    search = BoundarySearch(protected="sex", n_pool=3000, share=0.5, random_state=0)
    result = search.fit(X, model=lambda X: X["points"] > 300).result_
    assert (result.n_found, result.verdict) == (0, "no disparity found")


def test_rows_that_sg_starts_from_are_a_sample(people):
    X = people[0].assign(points=np.arange(600))
    fair = lambda X: X["points"] > 300  # noqa: E731
    for n_seeds in (10, 100):
        search = SG(protected="sex", n_seeds=n_seeds, limits=Limits(tests=1000), random_state=0)
        result = search.fit(X, model=fair).result_
        assert result.verdict == "no disparity found"  # every person was looked at
