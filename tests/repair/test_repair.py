"""Cases put back into training data make a model treat people alike."""

import numpy as np
import pandas as pd
import pytest
from imblearn.pipeline import make_pipeline as make_imblearn_pipeline
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from skdisc import FeatureSpace, Limits, _stats, measures
from skdisc.exceptions import SkdiscWarning
from skdisc.individual import KOSEI, Themis
from skdisc.repair import CaseResampler, repair_report
from skdisc.repair._repair_report import _members
from skdisc.subgroup import DivExplorer


@pytest.fixture(scope="module")
def data():
    """Return people whose labels depend on sex."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], 600), "points": rng.integers(0, 50, 600)})
    X["years"] = rng.integers(0, 40, 600)
    y = pd.Series(np.where(X["points"] + 12 * (X["sex"] == "m") > 30, "yes", "no"), name="label")
    return X, y


def tree():
    encode = make_column_transformer((OneHotEncoder(), ["sex"]), remainder="passthrough")
    return make_pipeline(encode, DecisionTreeClassifier(max_depth=5, random_state=0))


def search(**more):
    settings = {
        "protected": "sex",
        "pos_label": "yes",
        "random_state": 0,
        "limits": Limits(tests=2000),
    }
    return KOSEI(tree(), **settings | more)


@pytest.mark.slow
def test_both_rows_of_a_case_get_one_label(data):
    X, y = data
    sampler = CaseResampler(search(), share=0.03, random_state=0)
    X_more, y_more = sampler.fit_resample(X, y)
    n = sampler.n_added_ // 2
    assert n == 9
    assert sampler.sample_indices_.tolist() == [*range(len(X)), *[-1] * 18]
    assert sampler.n_features_in_ == 3
    added, labels = X_more.iloc[len(X) :], y_more.iloc[len(y) :]
    pd.testing.assert_frame_equal(X_more.iloc[: len(X)], X)
    pd.testing.assert_series_equal(y_more.iloc[: len(y)], y)
    first, second = added.iloc[:n].reset_index(drop=True), added.iloc[n:].reset_index(drop=True)
    assert (first[["points", "years"]] == second[["points", "years"]]).all(axis=None)
    assert (first["sex"] != second["sex"]).all()
    assert labels.iloc[:n].tolist() == labels.iloc[n:].tolist()
    assert list(X_more.dtypes) == list(X.dtypes)
    cases = sampler.detector_.result_.findings.original["points"]
    assert set(first["points"]) <= set(cases)


@pytest.mark.slow
def test_the_label_is_what_most_voters_say(data):
    X, y = data

    class Says(DecisionTreeClassifier):
        def __init__(self, word="no"):
            super().__init__()
            self.word = word

        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return np.full(len(X), self.word)

    for words, wanted in ((["no", "no", "yes"], "no"), (["no", "yes"], "yes")):
        voters = [Says(w) for w in words]
        _, labels = CaseResampler(search(), voters=voters, random_state=0).fit_resample(X, y)
        assert set(labels.iloc[len(y) :]) == {wanted}


def test_somebody_has_to_vote(data):
    with pytest.raises(ValueError, match=r"voters is empty, .* pass classifiers, or None for 5"):
        CaseResampler(search(), voters=()).fit_resample(*data)


@pytest.mark.slow
def test_repair_lowers_the_share_of_cases(data):
    X, y = data
    before = tree().fit(X, y)
    after = tree().fit(*CaseResampler(search(), share=1, random_state=0).fit_resample(X, y))
    report = repair_report(before, after, X, y, protected="sex", pos_label="yes")
    assert list(report.index) == [
        *("IF_r", "IF_o", "statistical_parity_difference", "average_odds_difference", "accuracy")
    ]
    assert report.loc["IF_r", "after"] < report.loc["IF_r", "before"] / 2
    assert report.loc["IF_o", "after"] < report.loc["IF_o", "before"] / 2
    inside = (report["before_low"] <= report["before"]) & (
        report["before"] <= report["before_high"]
    )
    assert inside.all()
    assert report.loc["accuracy", "before"] == pytest.approx(before.score(X, y))


def test_the_report_agrees_with_direct_counts(data):
    X, y = data
    model = tree().fit(X, y)
    report = repair_report(model, model, X, y, protected="sex", pos_label="yes")
    flipped = X.assign(sex=X["sex"].map({"f": "m", "m": "f"}))
    assert report.loc["IF_o", "before"] == np.mean(model.predict(X) != model.predict(flipped))
    rate = pd.Series(model.predict(X) == "yes").groupby(X["sex"]).mean()
    gap = abs(rate["f"] - rate["m"])
    assert abs(report.loc["statistical_parity_difference", "after"]) == pytest.approx(gap)
    assert (report["change"] == 0).all()
    low, high = _stats.wilson(*(n * report.loc["IF_o", "before"] for n in (len(X),)), len(X))
    assert (report.loc["IF_o", "before_low"], report.loc["IF_o", "before_high"]) == (low, high)


def test_the_interval_of_a_change_knows_that_the_same_people_are_behind_both(data):
    X, y = data
    how = {"protected": "sex", "pos_label": "yes", "reference": {"sex": "m"}}
    one = lambda X: np.where(X["points"] + 9 * (X["sex"] == "m") > 30, "yes", "no")  # noqa: E731
    two = lambda X: np.where(X["points"] + 3 * (X["sex"] == "m") > 30, "yes", "no")  # noqa: E731
    report = repair_report(one, two, X, y, **how)
    assert (report["change_low"] <= report["change"]).all()
    assert (report["change"] <= report["change_high"]).all()
    decided, women = [np.asarray(m(X) == "yes", float) for m in (one, two)], X["sex"] == "f"
    each = decided[1] - decided[0]
    by_hand = np.sqrt(sum(each[at].var() / at.sum() for at in (women, ~women)))
    row = report.loc["statistical_parity_difference"]
    assert (row["change_high"] - row["change_low"]) / 2 == pytest.approx(1.96 * by_hand, rel=0.1)
    apart = np.hypot(row["before_high"] - row["before"], row["after_high"] - row["after"])
    assert row["change_high"] - row["change"] < 0.8 * apart


def test_the_group_of_a_gap_is_found_in_the_rows(data):
    X, y = data
    X = X.assign(place=np.where(X["years"] > 20, "rest", "a"))
    model = lambda X: np.where(X["points"] + 9 * (X["sex"] == "m") > 30, "yes", "no")  # noqa: E731
    for reference in ("largest", "rest", "overall", "best"):
        table = measures.mean_difference_report(
            y == "yes", model(X) == "yes", protected=X[["sex", "place"]],
            reference=reference, intersections=2,
        )  # fmt: skip
        for _, row in table.iterrows():
            assert _members(X[["sex", "place"]], row, "group").sum() == row["n"]


@pytest.mark.slow
def test_rounds_end_when_prevalence_stops_falling(data):
    sampler = CaseResampler(search(), rounds="auto", random_state=0).fit(*data)
    prevalence = np.array(sampler.prevalence_)
    assert (np.diff(prevalence)[:-1] < 0).all()
    assert len(prevalence) >= 2
    assert sampler.n_added_ > 0
    alone = CaseResampler(KOSEI(protected="sex", pos_label="yes", random_state=0), rounds="auto")
    with pytest.raises(ValueError, match="set the parameter `estimator` of the detector"):
        alone.fit(*data)


@pytest.mark.slow
def test_in_a_pipeline_of_imbalanced_learn(data):
    X, y = data
    pipe = make_imblearn_pipeline(CaseResampler(search(), random_state=0), tree())
    assert len(cross_val_score(pipe, X, y, cv=2)) == 2
    pipe.fit(X, y)
    assert pipe[0].audit().audited == "refit"
    again = clone(pipe).fit(X, y)
    assert (again.predict(X) == pipe.predict(X)).all()


def test_arrays_stay_arrays():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 300), rng.integers(0, 20, 300)])
    y = (X[:, 1] + 6 * X[:, 0] > 12).astype(int)
    detector = KOSEI(DecisionTreeClassifier(random_state=0), protected=0, random_state=0)
    sampler = CaseResampler(detector, voters=[LogisticRegression()], random_state=0)
    X_more, y_more = sampler.fit_resample(X, y)
    assert type(X_more) is type(y_more) is np.ndarray
    assert (X_more.dtype, y_more.dtype) == (X.dtype, y.dtype)
    assert len(X_more) == len(y_more) == 300 + sampler.n_added_ > 300


def test_without_cases_nothing_is_added(data):
    X, _ = data
    y = np.where(X["points"] > 24, "yes", "no")
    blind = make_pipeline(
        make_column_transformer(("passthrough", ["points"])), DecisionTreeClassifier()
    )
    detector = KOSEI(blind, protected="sex", pos_label="yes", random_state=0)
    sampler = CaseResampler(detector)
    with pytest.warns(SkdiscWarning, match="KOSEI found no case, so no row is added"):
        X_same, y_same = sampler.fit_resample(X, y)
    assert sampler.sample_indices_.tolist() == list(range(len(X)))
    assert (sampler.n_cases_, sampler.n_added_) == (0, 0)
    pd.testing.assert_frame_equal(X_same, X)
    assert (y_same == y).all()


def test_a_detector_of_groups_is_refused(data):
    with pytest.raises(TypeError, match="individual detector, got DivExplorer"):
        CaseResampler(DivExplorer()).fit(*data)


@pytest.mark.slow
def test_other_individual_detectors_work_too(data):
    sampler = CaseResampler(
        Themis(tree(), protected="sex", pos_label="yes", random_state=0), random_state=0
    )
    sampler.fit(*data)
    assert sampler.n_added_ == 30
    assert sampler.detector_.result_.detector == "Themis"


def test_the_report_is_about_the_space_given():
    X = pd.DataFrame({"points": np.tile(np.arange(10), 2), "sex": np.repeat(["f", "m"], 10)})
    unfair = lambda X: ((X["points"] > 9) & (X["sex"] == "m")).astype(int)  # noqa: E731
    y = (X["points"] > 4).astype(int)
    space = FeatureSpace.from_domains({"points": (0, 19), "sex": ["f", "m"]})
    given = {"protected": "sex", "pos_label": 1}
    narrow = repair_report(unfair, unfair, X, y, **given)
    wide = repair_report(unfair, unfair, X, y, space=space, **given)
    assert narrow.loc["IF_r", "before"] == 0
    assert wide.loc["IF_r", "before"] == pytest.approx(0.5, abs=0.02)


@pytest.mark.slow
def test_more_rows_can_be_added_than_there_are(data):
    X, y = data
    more, _ = CaseResampler(search(), share=1.5, random_state=0).fit_resample(X[:60], y[:60])
    assert len(more) == 60 + 90
