"""Scorers in cross-validation and grid search, with metadata routing off and on."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    TunedThresholdClassifierCV,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from skdisc import measures as m
from skdisc.exceptions import UndefinedMeasureWarning
from skdisc.measures import DisparityScorer, get_scorer, get_scorer_names
from skdisc.measures._formula._catalogue import CATALOGUE


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], 300), "x": rng.normal(size=300)})
    y = (X["x"] + 0.8 * (X["sex"] == "m") + rng.normal(size=300) > 0.3).astype(int)
    return X, y


@pytest.fixture
def blind():
    """A model whose pipeline drops the protected column."""
    return make_pipeline(
        make_column_transformer(("passthrough", ["x"])), DecisionTreeClassifier(random_state=0)
    )


@pytest.mark.parametrize("routing", [False, True])
def test_cross_validation(people, blind, routing):
    X, y = people
    scoring = {
        "accuracy": "accuracy",
        "d": get_scorer("neg_abs_mean_difference", protected="sex"),
        "r": get_scorer("min_impact_ratio", protected=["sex"]),
    }
    with config_context(enable_metadata_routing=routing):
        scores = cross_validate(blind, X, y, scoring=scoring, cv=3)
    assert np.all(scores["test_d"] <= 0)
    assert np.all((scores["test_r"] >= 0) & (scores["test_r"] <= 1))
    train, test = next(KFold(3).split(X))
    model = blind.fit(X.iloc[train], y.iloc[train])
    d = m.mean_difference(None, model.predict(X.iloc[test]), protected=X["sex"].iloc[test])
    scores = cross_val_score(blind, X, y, scoring=scoring["d"], cv=KFold(3))
    assert scores[0] == -abs(d)


def test_sensitive_features_are_routed_without_a_request(people):
    X, y = people
    model = LogisticRegression()
    scorer = DisparityScorer("mean_difference")
    with config_context(enable_metadata_routing=True):
        scores = cross_validate(
            model, X[["x"]], y, scoring=scorer, params={"sensitive_features": X["sex"]}
        )["test_score"]
        grid = GridSearchCV(
            model, {"C": [0.1, 1]}, scoring={"d": scorer, "a": "accuracy"}, refit="d"
        ).fit(X[["x"]], y, sensitive_features=X["sex"])
    named = cross_validate(
        make_pipeline(make_column_transformer(("passthrough", ["x"])), model),
        X,
        y,
        scoring=DisparityScorer("mean_difference", protected="sex"),
    )["test_score"]
    assert scores == pytest.approx(named)
    assert grid.best_score_ <= 0


@pytest.mark.parametrize("routing", [False, True])
def test_grid_search_refits_the_least_unequal(people, blind, routing):
    X, y = people
    scoring = {"accuracy": "accuracy", "d": get_scorer("neg_abs_mean_difference", protected="sex")}
    grid = {"decisiontreeclassifier__max_depth": [1, 3, 8]}
    with config_context(enable_metadata_routing=routing):
        search = GridSearchCV(blind, grid, scoring=scoring, refit="d", cv=3).fit(X, y)
    assert search.cv_results_["mean_test_d"].argmax() == search.best_index_


def test_arrays_are_named_by_position(people):
    X, y = people
    array = np.column_stack([(X["sex"] == "m").astype(float), X["x"]])
    model = LogisticRegression().fit(array, y)
    by_position = DisparityScorer("impact_ratio", protected=0)(model, array, y)
    given = DisparityScorer("impact_ratio")(model, array, y, sensitive_features=X["sex"])
    assert by_position == given


def test_a_fold_without_a_group_is_nan_with_one_warning(people):
    X, y = people
    model = DummyClassifier(strategy="prior").fit(X, y)
    women = X["sex"] == "f"
    asked = {"groups": ["f", "m"]}, {"options": {"reference": "m"}}, {}
    for more in asked:
        scorer = DisparityScorer("mean_difference", protected="sex", **more)
        with pytest.warns(UndefinedMeasureWarning) as caught:
            assert np.isnan(scorer(model, X[women], y[women]))
        assert len(caught) == 1
    X = X.assign(sex=pd.Categorical(X["sex"], ["f", "m", "x"]))
    with pytest.warns(UndefinedMeasureWarning, match="no member of"):
        assert np.isnan(DisparityScorer(protected="sex")(model, X, y))


def test_an_undefined_group_makes_the_score_undefined():
    X = pd.DataFrame({"g": list("aabbcc")})
    model = DummyClassifier(strategy="constant", constant=1).fit(X, [0, 1] * 3)
    scorer = get_scorer("neg_abs_equal_opportunity", protected="g")
    with pytest.warns(UndefinedMeasureWarning):
        assert np.isnan(scorer(model, X, [1, 0, 1, 0, 0, 0]))


def test_greater_is_better_for_every_name(people):
    X, y = people
    fair = LogisticRegression().fit(X[["x"]], y)

    class Model:
        classes_ = np.array([0, 1])

        def __init__(self, gap):
            self.gap = gap

        def predict(self, X):
            return (fair.decision_function(X[["x"]]) + self.gap * (X["sex"] == "m") > 0) * 1

    X = X.assign(x=np.tile(X["x"].to_numpy()[:150], 2), sex=np.repeat(["f", "m"], 150))
    y = pd.concat([y[:150]] * 2)
    for name in get_scorer_names():
        more = {"explanatory": "x"} if "unexplained" in name or "conditional" in name else {}
        if more:
            X = X.assign(x=X["x"].round(1))
        elif CATALOGUE[name.partition("_")[2].removeprefix("abs_")].target == ("numeric",):
            more = {"pos_label": None}
        scorer = get_scorer(name, protected="sex", **more)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMeasureWarning)
            even, uneven = scorer(Model(0), X, y), scorer(Model(5), X, y)
        if name not in ("neg_abs_calibration_within_groups",):
            assert even >= uneven, name
            assert even == pytest.approx(1.0 if name.startswith("min_") else 0.0), name


def test_callables_and_signs(people):
    X, y = people
    model = LogisticRegression().fit(X[["x"]], y)
    model.feature_names_in_ = np.array(["x"])

    class Picks:
        def predict(self, X):
            return model.predict(X[["x"]])

    d = m.mean_difference(None, model.predict(X[["x"]]), protected=X["sex"])
    assert DisparityScorer(m.mean_difference, protected="sex")(Picks(), X, y) == -d
    assert DisparityScorer(m.mean_difference, protected="sex", sign=1)(Picks(), X, y) == d
    assert DisparityScorer("mean_difference", protected="sex", sign=1)(Picks(), X, y) == abs(d)


def test_probabilities(people):
    X, y = people
    model = LogisticRegression().fit(X[["x"]], y)
    scorer = DisparityScorer(
        "balance_positive_class", protected=None, response_method="predict_proba"
    )
    score = scorer(model, X[["x"]], y, sensitive_features=X["sex"])
    gap = m.balance_positive_class(y, model.predict_proba(X[["x"]])[:, 1], protected=X["sex"])
    assert score == -abs(gap)


def test_wording(people):
    X, y = people
    model = DummyClassifier().fit(X, y)
    with pytest.raises(ValueError, match="is not a scorer"):
        get_scorer("mean_difference", protected="sex")
    with pytest.raises(ValueError, match="is unknown"):
        DisparityScorer("d", protected="sex")(model, X, y)
    with pytest.raises(ValueError, match="protected is None: name columns of X"):
        DisparityScorer()(model, X, y)
    with pytest.raises(ValueError, match="did you mean 'sex'"):
        DisparityScorer(protected="sexx")(model, X, y)
    with pytest.raises(ValueError, match="sign must be"):
        DisparityScorer(protected="sex", sign=0)(model, X, y)
    with pytest.raises(ValueError, match="response_method must be"):
        DisparityScorer(protected="sex", response_method="x")(model, X, y)


def test_settings_are_parameters_and_checked(people, blind):
    X, y = people
    model = blind.fit(X, y)
    scorer = get_scorer("neg_abs_mean_difference", protected="sex", reference="f")
    assert scorer.set_params(average="weighted").get_params()["reference"] == "f"
    for wrong in ({"average": "bogus"}, {"options": {"average": "bogus"}}):
        with pytest.raises(ValueError, match=r"average must be one of .*got 'bogus'"):
            DisparityScorer(protected="sex", **wrong)(model, X, y)
    named = np.where(y == 1, "no", "yes")
    turned = blind.fit(X, named)
    favored = [
        DisparityScorer("impact_ratio", protected="sex", pos_label=label)(turned, X, named)
        for label in ("no", "yes")
    ]
    options = DisparityScorer("impact_ratio", protected="sex", options={"pos_label": "no"})
    assert options(turned, X, named) == favored[0] != favored[1]


@pytest.mark.parametrize("label", [1, "hired"])
def test_a_search_over_thresholds(people, label):
    X, y = people
    y = y if label == 1 else np.where(y == 1, "hired", "another")
    scorer = get_scorer("neg_abs_mean_difference", protected="sex", pos_label=label)
    model = make_pipeline(make_column_transformer(("passthrough", ["x"])), LogisticRegression())
    search = TunedThresholdClassifierCV(
        model, scoring=scorer, thresholds=[0.1, 0.5, 0.9], store_cv_results=True, cv=3
    )
    with pytest.raises(ValueError, match="A search over thresholds does not pass X"):
        search.fit(X, y)
    with config_context(enable_metadata_routing=True):
        search.fit(X, y, sensitive_features=X["sex"])
    found = dict(zip(search.cv_results_["thresholds"], search.cv_results_["scores"], strict=True))
    assert found[search.best_threshold_] == max(found.values())
    assert found[0.5] == pytest.approx(cross_val_score(model, X, y, scoring=scorer, cv=3).mean())


@pytest.mark.parametrize("options", [5, "average", ["average"]])
def test_options_that_are_no_settings_are_refused(options):
    X = pd.DataFrame({"sex": ["f", "m"] * 3})
    scorer = DisparityScorer(protected="sex", options=options)
    with pytest.raises(ValueError, match="options must be a dict of settings of the measure"):
        scorer(DummyClassifier(strategy="constant", constant=1).fit(X, [0, 1] * 3), X, [0, 1] * 3)


def test_an_unknown_option_is_answered_with_those_there_are():
    X = pd.DataFrame({"sex": ["f", "m"] * 3})
    scorer = DisparityScorer(protected="sex", options={"bogus": 1})
    with pytest.raises(TypeError, match=r"'bogus'\. Arguments: .*reference, average, "):
        scorer(DummyClassifier(strategy="constant", constant=1).fit(X, [0, 1] * 3), X, [0, 1] * 3)
