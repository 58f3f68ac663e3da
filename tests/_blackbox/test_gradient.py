"""Gradients of the margin against central differences of the model's own scores."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC

from skdisc import BlackBox, FeatureSpace
from skdisc._blackbox._queries import Queries
from skdisc._task._budget import Budget

pytestmark = pytest.mark.extras()  # in the environment with torch and SDV, too

NAMES = list("abcd")


def data(n_classes, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(0, [1, 3, 0.5, 2], (150, 4)), columns=NAMES)
    score = X["a"] + np.sin(X["b"]) + X["c"] * X["d"] + rng.normal(0, 0.2, 150)
    return X, np.array(["u", "v", "w"])[np.digitize(score, [0, 1][: n_classes - 1])]


def network(activation, n_iter=15):
    return MLPClassifier(
        (7, 5), activation=activation, solver="lbfgs", max_iter=n_iter, tol=1e-9, random_state=0
    )


def margins(model, X, favorable):
    space = FeatureSpace.from_frame(X, protected="a")
    return Queries(BlackBox(model), favorable, space, Budget(), "margin").ask(X)


def central(model, X, favorable, h=1e-5):
    columns = []
    for name in X.columns:
        up, down = X.assign(**{name: X[name] + h}), X.assign(**{name: X[name] - h})
        columns.append((margins(model, up, favorable) - margins(model, down, favorable)) / 2 / h)
    return np.column_stack(columns)


def close(gradient, expected):
    """Say whether nearly all entries agree: two neighbors may lie on both sides of a kink."""
    same = np.isclose(gradient, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())
    return same.mean() > 0.97


MODELS = {
    "logistic": LogisticRegression(),
    "ridge": RidgeClassifier(),
    "sgd": SGDClassifier(random_state=0),
    "linear svc": LinearSVC(),
    "lda": LinearDiscriminantAnalysis(),
    "bayes": GaussianNB(),
    "relu": network("relu"),
    "tanh": network("tanh"),
    "network of logistics": network("logistic"),
    "identity": network("identity"),
}
KERNELS = {k: SVC(kernel=k, coef0=0.3) for k in ("linear", "rbf", "poly", "sigmoid")}
SCALED = {
    "standard": make_pipeline(StandardScaler(), network("tanh")),
    "min max": make_pipeline(MinMaxScaler(), MaxAbsScaler(), RobustScaler(), SVC()),
    "pca": make_pipeline(StandardScaler(), PCA(3, whiten=True), LogisticRegression()),
    "nothing": make_pipeline("passthrough", FunctionTransformer(), FrozenEstimator(GaussianNB())),
    "columns": make_pipeline(
        ColumnTransformer(
            [
                ("s", make_pipeline(StandardScaler(), PCA(2)), ["d", "b"]),
                ("p", "passthrough", [0]),
                ("x", "drop", slice(2, 3)),
                ("m", MinMaxScaler(), [True, False, False, True]),
            ]
        ),
        network("tanh"),
    ),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("favorable", [["u"], ["v"]])
@pytest.mark.parametrize("name", [*MODELS, *KERNELS, *SCALED])
def test_two_classes(name, favorable):
    X, y = data(2)
    model = {**MODELS, **KERNELS, **SCALED}[name]
    if name == "nothing":
        model.steps[-1] = ("bayes", FrozenEstimator(GaussianNB().fit(X, y)))
    model.fit(X, y)
    gradient = BlackBox(model).gradient(X[:30], favorable)
    expected = central(model, X[:30], favorable)
    # two points may lie on both sides of a kink
    assert (
        np.isclose(gradient, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max()).mean() > 0.97
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("favorable", [["u"], ["u", "w"]])
@pytest.mark.parametrize("name", MODELS)
def test_three_classes_and_sets_of_favorable_ones(name, favorable):
    X, y = data(3)
    model = MODELS[name].fit(X, y)
    gradient = BlackBox(model).gradient(X[:30], favorable)
    expected = central(model, X[:30], favorable)
    assert (
        np.isclose(gradient, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max()).mean() > 0.97
    )


def test_encoded_columns_have_none_and_the_others_theirs():
    X, y = data(2)
    X["job"] = np.resize(["p", "q", "r"], len(X))
    encode = ColumnTransformer([("o", OneHotEncoder(), ["job"]), ("s", StandardScaler(), NAMES)])
    model = make_pipeline(encode, LogisticRegression()).fit(X, y)
    gradient = BlackBox(model).gradient(X[:5], ["v"])
    assert np.isnan(gradient[:, 4]).all()
    weights = model[-1].coef_[0, 3:] / encode.fit(X).named_transformers_["s"].scale_
    np.testing.assert_allclose(gradient[:, :4], np.tile(weights, (5, 1)))


def test_the_default_is_the_favorable_code():
    X, y = data(2)
    box = BlackBox(LogisticRegression().fit(X, y == "v"))
    np.testing.assert_array_equal(box.gradient(X), box.gradient(X, [True]))
    box = BlackBox(LogisticRegression().fit(X, y))
    np.testing.assert_array_equal(box.gradient(X, ["v"]), -box.gradient(X, ["u"]))
    with pytest.raises(ValueError, match="pos_label is not set"):
        box.gradient(X)


def test_models_without_a_gradient_have_none():
    X, y = data(2)
    mixed = make_pipeline(PolynomialFeatures(2), LogisticRegression(max_iter=2000)).fit(X, y)
    X3, y3 = data(3)
    for box in (
        BlackBox(RandomForestClassifier(2).fit(X, y)),
        BlackBox(lambda X: X["a"] > 0),
        BlackBox(mixed),
        BlackBox(SVC().fit(X3, y3)),
        BlackBox(SVC(kernel=lambda a, b: a @ b.T).fit(X, y)),
    ):
        assert box.gradient(X, ["u"]) is None


@pytest.mark.extras("torch")
@pytest.mark.parametrize("n_scores", [1, 2, 3])
def test_networks_of_torch(n_scores):
    import torch

    torch.manual_seed(0)
    layers = torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, n_scores)
    module = torch.nn.Sequential(*layers).double()
    X = data(2)[0]
    box = BlackBox(module)
    assert box.classes == list(range(max(n_scores, 2)))
    np.testing.assert_allclose(
        box.gradient(X[:20], [1]), central(module, X[:20], [1]), rtol=1e-4, atol=1e-6
    )
    decided = Queries(box, [1], FeatureSpace.from_frame(X, protected="a"), Budget()).ask(X)
    assert ((margins(module, X, [1]) > 0) == decided).all()


@pytest.mark.extras("torch")
def test_networks_that_end_in_a_softmax():
    import torch

    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(4, 3)).double()
    soft = torch.nn.Sequential(module, torch.nn.Softmax(dim=1))
    X = data(2)[0]
    np.testing.assert_allclose(
        BlackBox(soft).gradient(X, [0]), BlackBox(module).gradient(X, [0]), rtol=1e-6
    )


@pytest.mark.extras("torch", "skorch")
def test_networks_of_skorch():
    import skorch
    import torch

    torch.manual_seed(0)
    X, y = data(2)
    net = skorch.NeuralNetClassifier(
        torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.ReLU(), torch.nn.Linear(6, 2)),
        criterion=torch.nn.CrossEntropyLoss,
        max_epochs=3,
        verbose=0,
    ).fit(X.to_numpy(np.float32).copy(), (y == "v").astype(np.int64))
    gradient = BlackBox(net).gradient(X[:20].to_numpy(np.float32), [1])
    assert gradient.shape == (20, 4)
    assert np.abs(gradient).max() > 0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_gradient_of_a_network_does_not_depend_on_the_rows_beside():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1100, 3))
    net = MLPClassifier((5, 4), max_iter=3, random_state=0).fit(X, X[:, 0] > X[:, 1])
    whole = BlackBox(net).gradient(X)
    assert whole.shape == X.shape
    np.testing.assert_allclose(whole[500:530], BlackBox(net).gradient(X[500:530]))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_network_in_single_precision_is_followed_in_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)).astype(np.float32)
    net = MLPClassifier((6,), max_iter=3, random_state=0).fit(X, X[:, 0] > X[:, 1])
    single = BlackBox(net).gradient(X)
    net.coefs_, net.intercepts_ = (
        [a.astype(float) for a in part] for part in (net.coefs_, net.intercepts_)
    )
    double = BlackBox(net).gradient(X)
    assert single.dtype == double.dtype == float
    np.testing.assert_allclose(single, double, atol=1e-6)
    net.coefs_, net.intercepts_ = ([np.rint(2 * a).astype(int) for a in net.coefs_], [0, 0])
    whole = BlackBox(net).gradient(X)
    net.coefs_ = [a.astype(float) for a in net.coefs_]
    np.testing.assert_allclose(whole, BlackBox(net).gradient(X))


def test_no_rows_have_no_gradient_of_a_network():
    X, y = data(2)
    network = MLPClassifier((3,), max_iter=5, random_state=0)
    with pytest.warns(ConvergenceWarning):
        network.fit(X, y)
    assert BlackBox(network).gradient(X[:0], ["v"]).shape == (0, X.shape[1])
