"""Rows for a model: a twin that takes arrays answers as the model does that takes DataFrames."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import is_classifier
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from skdisc import BlackBox, Budget, FeatureSpace
from skdisc._blackbox._model_input import nameless
from skdisc._blackbox._queries import Queries

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.integers(0, 9, (90, 3)), columns=["income", "sex", "age"])
y = np.where(X["income"] + X["sex"] > 8, "yes", "no")
WIDE = X.assign(share=X["age"] / 3, town="Bonn")
METHODS = ("predict", "predict_proba", "decision_function")

READERS = [
    BernoulliNB(),
    DecisionTreeClassifier(),
    ExtraTreesClassifier(5),
    GaussianNB(),
    GradientBoostingClassifier(n_estimators=5),
    HistGradientBoostingClassifier(max_iter=5),
    KNeighborsClassifier(),
    LinearSVC(),
    LogisticRegression(),
    MLPClassifier((4,), max_iter=2000, tol=0.1),
    RandomForestClassifier(5),
    RidgeClassifier(),
    SGDClassifier(),
    SVC(),
    make_pipeline(MinMaxScaler(), PCA(2), LogisticRegression()),
    make_pipeline(MaxAbsScaler(), make_pipeline(RobustScaler()), LinearSVC()),
    FrozenEstimator(make_pipeline(StandardScaler(), SVC())),
]


class ByName(LogisticRegression):
    """A classifier whose answers depend on the names of columns."""

    def predict(self, frame):
        return np.where(frame["income"] > 4, "yes", "no")


def by_name():
    model = LogisticRegression().fit(X, y)
    model.predict = lambda frame: np.where(frame["income"] > 4, "yes", "no")
    return model


def frozen_by_name():
    model = FrozenEstimator(LogisticRegression().fit(X, y))
    model.predict = by_name().predict
    return model


OTHERS = [
    lambda: ByName().fit(X, y),
    by_name,
    frozen_by_name,
    lambda: SVC(kernel=lambda a, b: np.outer(a["income"], b["income"])).fit(X, y),
    lambda: make_pipeline(FunctionTransformer(lambda f: f[["sex"]]), GaussianNB()).fit(X, y),
    lambda: make_pipeline(
        make_column_transformer(("passthrough", ["age", "sex"])), LogisticRegression()
    ).fit(X, y),
    lambda: make_pipeline(StandardScaler(), GaussianNB()).set_output(transform="pandas").fit(X, y),
    lambda: HistGradientBoostingClassifier(categorical_features=["sex"], max_iter=5).fit(X, y),
    lambda: make_pipeline("passthrough", GaussianNB()).fit(X, y),
]


@pytest.mark.parametrize("model", READERS, ids=str)
def test_a_twin_answers_as_the_model(model):
    model.fit(X, y) if not isinstance(model, FrozenEstimator) else model.estimator.fit(X, y)
    before, twin = list(model.feature_names_in_), nameless(model)
    for method in METHODS:
        if hasattr(model, method):
            expected = getattr(model, method)(X)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                assert np.array_equal(getattr(twin, method)(X.to_numpy()), expected)
    assert list(model.feature_names_in_) == before == list(X)


FORESTS = [
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
]


@pytest.mark.parametrize("n_jobs", [None, 1, 2])
@pytest.mark.parametrize("kind", FORESTS)
def test_trees_in_turn_answer_as_the_forest(kind, n_jobs):
    model = kind(30, max_depth=3, n_jobs=n_jobs, random_state=0)
    model.fit(X, y if is_classifier(model) else X["age"])
    method = "predict_proba" if is_classifier(model) else "predict"
    rows = FeatureSpace.from_frame(X, protected=["sex"]).sample(5000, rng).astype(float)
    rtol = 1e-12 if n_jobs == 2 else 0  # its threads add the answers in the order in which they end
    for some in (rows[:1], rows):
        got = getattr(nameless(model), method)(some)
        expected = getattr(model, method)(pd.DataFrame(some, columns=list(X)))
        np.testing.assert_allclose(got, expected, rtol=rtol)
        assert got.dtype == expected.dtype


@pytest.mark.parametrize("kind", FORESTS)
def test_forests_say_themselves_what_they_do_not_take(kind):
    model = kind(3).fit(X, np.arange(len(X)) % 2)
    with pytest.raises(ValueError, match="infinity or a value too large"):
        nameless(model).predict(np.full((1, 3), np.inf))
    holes = X.astype(float).mask(X == 4)
    if kind is RandomForestClassifier:
        assert np.array_equal(nameless(model).predict(holes.to_numpy()), model.predict(holes))


def test_a_forest_of_several_targets_is_left_as_it_is():
    model = RandomForestClassifier(5, random_state=0).fit(X, np.column_stack([y, y]))
    assert np.array_equal(nameless(model).predict(X.to_numpy()), model.predict(X))


def test_a_forest_that_was_never_fitted_says_so():
    with pytest.raises(NotFittedError, match="RandomForestClassifier"):
        nameless(RandomForestClassifier()).predict(X.to_numpy())


@pytest.mark.parametrize("make", OTHERS)
def test_what_may_look_at_names_gets_dataframes(make):
    model = make()
    assert nameless(model) is None
    space = FeatureSpace.from_frame(X, protected=["sex"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = Queries(BlackBox(model), ["yes"], space, Budget()).ask(X)
    assert got.tolist() == (model.predict(X) == "yes").tolist()


def test_steps_that_hand_on_dataframes():
    with config_context(transform_output="pandas"), warnings.catch_warnings():
        warnings.simplefilter("error")
        model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
        space = FeatureSpace.from_frame(X, protected=["sex"])
        got = Queries(BlackBox(model), ["yes"], space, Budget()).ask(X)
        assert got.tolist() == (model.predict(X) == "yes").tolist()


@pytest.mark.parametrize(
    "frame",
    [
        X,
        WIDE,
        WIDE[["town", "age", "share", "sex", "income"]],
        X.astype({"age": "int8", "sex": "float32"}),
        X.astype({"sex": "Int64"}),
        X.astype({"age": object}),
        X.assign(sex=X["sex"] > 4),
    ],
    ids=["whole", "mixed", "shuffled", "sizes", "nullable", "objects", "booleans"],
)
@pytest.mark.parametrize("wanted", [["income", "sex", "age"], ["sex", "age"]], ids=len)
def test_every_kind_of_frame_is_answered_as_predicted(frame, wanted):
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(frame[wanted], y)
    space = FeatureSpace.from_frame(frame, protected=["sex"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = Queries(BlackBox(model), ["yes"], space, Budget()).ask(frame)
    assert got.tolist() == (model.predict(frame[wanted]) == "yes").tolist()


@pytest.mark.parametrize("kind", [RandomForestClassifier, FrozenEstimator])
def test_a_forest_gets_rows_that_lie_in_one_place(kind, monkeypatch):
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    predict, got = RandomForestClassifier.predict, []

    def seen(self, rows):
        got.append(rows)
        return predict(self, rows)

    monkeypatch.setattr(RandomForestClassifier, "predict", seen)
    model = forest if kind is RandomForestClassifier else FrozenEstimator(forest)
    space = FeatureSpace.from_frame(X, protected=["sex"])
    Queries(BlackBox(model), ["yes"], space, Budget()).ask(space.decode(space.encode(X)))
    assert [rows.flags.c_contiguous for rows in got] == [True]
