"""Scorers in cross-validation and grid search, with metadata routing off and on."""

import functools
import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator
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


NUMERIC = {"lipschitz_ratio", "consistency"}  # compared on predicted numbers
NUMERIC |= {name for name, entry in CATALOGUE.items() if entry.target == ("numeric",)}
STRATIFIED = {"cochran_mantel_haenszel_test", "unexplained_difference"}
STRATIFIED |= {"conditional_impact_ratio", "belift"}
PROBABILITIES = {name for name in CATALOGUE if "calibration" in name or "balance_" in name}
SMOOTH = {"consistency", "lipschitz_ratio"}
GRIDS = ([1.5, 0.0, 3.0], [-3.0, -1.5, 0.0])  # what men get on top of their merit; 0 is fairest


class Favoring(BaseEstimator):
    """A model that adds a gap to the merit of men, or a wave to a smooth prediction."""

    def __init__(self, gap=0.0, kind="classes"):
        self.gap = gap
        self.kind = kind

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def _merit(self, X):
        return X["x"] + self.gap * (X["sex"] == "m")

    def predict(self, X):
        if self.kind == "waves":
            return (X["fine"] + self.gap * np.sin(40 * X["fine"])).to_numpy()
        if self.kind == "numbers":
            return (self._merit(X) + 0.1 * X["fine"]).to_numpy()
        return (self._merit(X) + X["fine"] > 0).to_numpy() * 1

    def predict_proba(self, X):
        p = np.clip(0.5 + 0.2 * self._merit(X), 0, 1).to_numpy()
        return np.column_stack([1 - p, p])


def twins():
    """Pairs of a man and a woman who are equal otherwise; P(y = 1) is .5 + .2 x in both groups."""
    x = np.repeat([-2, -1, 1, 2], 40)
    y = np.tile(np.arange(40), 4) < 40 * (0.5 + 0.2 * x)
    fine = np.random.default_rng(0).normal(size=160)
    one = pd.DataFrame({"x": x, "fine": fine, "y": y * 1})
    both = pd.concat([one.assign(sex="m"), one.assign(sex="f")], ignore_index=True)
    half = np.tile(np.arange(160) % 2, 2) == 0
    folds = [(np.flatnonzero(half), np.flatnonzero(~half))]
    return both[["sex", "x", "fine"]], both["y"], [*folds, folds[0][::-1]]


@pytest.mark.parametrize("grid", GRIDS, ids=["for men", "against men"])
@pytest.mark.parametrize("measure", CATALOGUE)
def test_a_search_chooses_the_fairest_model(measure, grid):
    """By each measure, by name and by function, whatever the reference."""
    X, y, folds = twins()
    settings = {"protected": "sex", "features": "fine" if measure in SMOOTH else "x"}
    kind = "waves" if measure in SMOOTH else "numbers" if measure in NUMERIC else "classes"
    if measure in STRATIFIED:
        settings["explanatory"] = "x"
    if measure in PROBABILITIES:
        settings["response_method"] = "predict_proba"
    function = getattr(m, measure)
    name = next(n for n in get_scorer_names() if n.endswith(("abs_" + measure, "n_" + measure)))
    scorers = {"by name": get_scorer(name, **settings)}
    if "reference" in inspect.signature(function).parameters:
        scorers["to men"] = DisparityScorer(function, reference="m", **settings)
        scorers["to women"] = DisparityScorer(function, reference="f", **settings)
    else:
        scorers["function"] = DisparityScorer(function, **settings)
    model = Favoring(kind=kind)
    search = GridSearchCV(model, {"gap": grid}, scoring=scorers, cv=folds, refit=False).fit(X, y)
    for key in scorers:
        scores = search.cv_results_[f"mean_test_{key}"]
        assert grid[scores.argmax()] == 0, (key, scores)
        assert np.sort(scores)[-2] < scores.max(), (key, scores)
        if measure not in SMOOTH:
            assert scores.max() == pytest.approx(float(name.startswith("min_")), abs=1e-9), key


def test_scores_are_averaged_not_signed_gaps():
    """Rates of 1, .5 and 0: the gaps to the middle group have the mean 0."""
    X = pd.DataFrame({"g": np.repeat(["a", "b", "c"], 4)})
    model = _Fixed([1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0])
    for average in ("max", "weighted"):
        scorer = DisparityScorer(protected="g", reference="b", average=average)
        assert scorer(model, X) == -0.5


class _Fixed:
    """Decisions that are fixed."""

    def __init__(self, decisions):
        self.decisions = decisions

    def predict(self, X):
        return np.array(self.decisions)


def test_the_report_of_a_scorer_says_what_is_compared():
    X = pd.DataFrame({"g": list("aaaabbbccd")})
    model = _Fixed([1, 1, 1, 0, 1, 0, 0, 1, 1, 0])
    scorer = get_scorer("neg_abs_mean_difference", protected="g")
    table = scorer.report(model, X)
    assert table["group"].tolist() == ["b", "c", "d"]
    assert set(table["reference"]) == {"a"}
    assert scorer(model, X) == -table["estimate"].abs().max()
    table = get_scorer("neg_abs_consistency", protected="g", options={"n_neighbors": 1}).report(
        model, X.assign(x=range(10))
    )
    assert table["group"].tolist() == ["everyone", *"abcd"]


def test_callables_and_signs(people):
    X, y = people

    def sensitivity(y_true, y_pred, *, protected):
        return float(np.mean(y_pred[protected == "f"]))

    partial_ratio = functools.partial(m.impact_ratio, reference="m")
    decisions = (X["x"] > 0).to_numpy() * 1
    model = _Fixed(decisions)
    ratio = m.impact_ratio(None, decisions, protected=X["sex"], reference="m")
    assert DisparityScorer(partial_ratio, protected="sex")(model, X, y) == min(ratio, 1 / ratio)
    rate = decisions[X["sex"] == "f"].mean()
    for sign in (-1, 1):
        assert DisparityScorer(sensitivity, protected="sex", sign=sign)(model, X, y) == sign * rate
    with pytest.raises(ValueError, match="is no measure of the catalogue: set sign=1"):
        DisparityScorer(sensitivity, protected="sex")(model, X, y)
    for measure in ("mean_difference", m.mean_difference):
        with pytest.raises(ValueError, match="greater the fairer the model is"):
            DisparityScorer(measure, protected="sex", sign=1)(model, X, y)
    with pytest.raises(ValueError, match="Only measures of the catalogue have a report"):
        DisparityScorer(sensitivity, protected="sex", sign=1).report(model, X, y)


@pytest.mark.slow
def test_columns_of_a_measure_are_named(people):
    X, _ = people
    X = X.assign(z=X["x"].round(), far=X["x"] > 0.5, town=np.arange(300) % 2)
    model = _Fixed((X["x"] > 0) * 1)
    decisions, sex = model.predict(X), X["sex"]
    asked = {
        "regression_slope_test": ({"options": {"covariates": ["z"]}}, {"covariates": X[["z"]]}),
        "belift": (
            {"options": {"redlining": "far"}, "explanatory": "town"},
            {"redlining": X["far"], "explanatory": X["town"]},
        ),
        "situation_testing": ({"features": ["z", "far"]}, {"X": X[["z", "far"]]}),
    }
    for name, (settings, arguments) in asked.items():
        table = DisparityScorer(name, protected="sex", **settings).report(model, X)
        if name == "situation_testing":
            arguments["direction"] = "both"
        expected = getattr(m, name)(None, decisions, protected=sex, **arguments)
        assert table["estimate"].tolist() == [pytest.approx(expected)], name
    scorer = DisparityScorer("consistency", protected="sex")
    rest = m.consistency(None, decisions, X=X[["x", "z", "far", "town"]])
    assert scorer(model, X) == pytest.approx(rest - 1)


def test_arrays_can_be_twins(people):
    X, y = people
    array = np.column_stack([(X["sex"] == "m").astype(float), X["x"]])
    model = LogisticRegression().fit(array, y)
    changed = model.predict(array) != model.predict(array * [-1, 1] + [1, 0])
    assert get_scorer("neg_abs_twin_test", protected=0)(model, array, y) == -changed.mean()
    with pytest.raises(ValueError, match="twin_test changes the protected columns of X"):
        DisparityScorer("twin_test")(model, array, y, sensitive_features=X["sex"])


def test_too_few_rows_for_a_measure_without_groups():
    scorer = DisparityScorer("lipschitz_ratio")
    with pytest.warns(UndefinedMeasureWarning, match="lipschitz_ratio is undefined for these rows"):
        assert np.isnan(scorer(_Fixed([1]), pd.DataFrame({"x": [1]})))
    with pytest.raises(TypeError, match=r"'reference'\. Arguments: pos_label"):
        DisparityScorer("lipschitz_ratio", reference="m")(_Fixed([1]), pd.DataFrame({"x": [1]}))


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
