"""A model that takes arrays predicts the same as the original does from DataFrames."""

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
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    Lasso,
    LinearRegression,
    LogisticRegression,
    LogisticRegressionCV,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from skdisc import BlackBox, Budget, FeatureSpace
from skdisc._blackbox._array_model import ARRAY_CLASSES, array_model
from skdisc._blackbox._queries import Queries

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.integers(0, 9, (90, 3)), columns=["income", "sex", "age"])
y = np.where(X["income"] + X["sex"] > 8, "yes", "no")
WIDE = X.assign(share=X["age"] / 3, town="Bonn")
METHODS = ("predict", "predict_proba", "decision_function")

MODELS = [  # one of each class, or a pipeline that has it
    BernoulliNB(),
    DecisionTreeClassifier(),
    DecisionTreeRegressor(),
    ExtraTreesClassifier(5),
    ExtraTreesRegressor(5),
    GaussianNB(),
    GradientBoostingClassifier(n_estimators=5),
    GradientBoostingRegressor(n_estimators=5),
    HistGradientBoostingClassifier(max_iter=5),
    HistGradientBoostingRegressor(max_iter=5),
    KNeighborsClassifier(),
    Lasso(),
    LinearRegression(),
    LinearSVC(),
    LogisticRegression(),
    LogisticRegressionCV(Cs=2, cv=2),
    MLPClassifier((4,), max_iter=2000, tol=0.1),
    MLPRegressor(hidden_layer_sizes=(4,), max_iter=2000, tol=1.0),
    NuSVC(),
    RandomForestClassifier(5),
    RandomForestRegressor(5),
    Ridge(),
    RidgeClassifier(),
    SGDClassifier(),
    SVC(),
    make_pipeline(MinMaxScaler(), PCA(2), LogisticRegression()),
    make_pipeline(MaxAbsScaler(), make_pipeline(RobustScaler()), LinearSVC()),
    make_pipeline(StandardScaler(), RandomForestClassifier(5)),
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


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of LogisticRegressionCV itself
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_copy_predicts_the_same_from_arrays(model):
    inner = model.estimator if isinstance(model, FrozenEstimator) else model
    inner.fit(X, y if is_classifier(inner) else X["age"])
    before, copied = list(model.feature_names_in_), array_model(model)
    for method in METHODS:
        if hasattr(model, method):
            expected = getattr(model, method)(X)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                assert np.array_equal(getattr(copied, method)(X.to_numpy()), expected)
    assert list(model.feature_names_in_) == before == list(X)


def classes_in(model):
    """Yield the names of the classes that a model is made of."""
    if isinstance(model, FrozenEstimator):
        yield from classes_in(model.estimator)
    elif isinstance(model, Pipeline):
        for _, step in model.steps:
            yield from classes_in(step)
    else:
        yield type(model).__name__


def test_each_class_is_tested():
    assert {name for model in MODELS for name in classes_in(model)} == ARRAY_CLASSES


@pytest.mark.parametrize("make", OTHERS)
def test_what_may_look_at_names_gets_dataframes(make):
    model = make()
    assert array_model(model) is None
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
