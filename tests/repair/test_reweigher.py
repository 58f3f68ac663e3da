"""Under the weights of a Reweigher, label and group are independent."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skdisc.exceptions import SkdiscWarning
from skdisc.measures import get_scorer, mean_difference
from skdisc.repair import Reweigher


def biased(n=600, seed=0):
    """Return people whose labels depend on sex."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], n, p=[0.3, 0.7]), "points": rng.normal(size=n)})
    X["points"] += 0.8 * (X["sex"] == "m")
    return X, (X["points"] + (X["sex"] == "m") + rng.normal(size=n) > 0.8).astype(int)


def model():
    columns = make_column_transformer((OneHotEncoder(), ["sex"]), remainder="passthrough")
    return make_pipeline(columns, LogisticRegression())


@st.composite
def people(draw):
    """Draw the groups, labels and weights of people, each label in each group."""
    groups = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=30))
    groups += ["a", "a", "b", "b", "c", "c"]
    n = len(groups)
    labels = draw(st.lists(st.integers(0, 1), min_size=n - 6, max_size=n - 6)) + [0, 1] * 3
    weights = draw(st.lists(st.integers(1, 5), min_size=n, max_size=n))
    return pd.DataFrame({"group": groups}), np.array(labels), np.array(weights, dtype=float)


@pytest.mark.slow
@given(people())
@settings(max_examples=50)
def test_the_weighted_mean_difference_is_0(people):
    X, y, given_weight = people
    weight = Reweigher(LogisticRegression(), protected="group").weights(X, y, given_weight)
    rates = [np.average(y[X["group"] == g], weights=weight[X["group"] == g]) for g in "abc"]
    assert np.ptp(rates) < 1e-12
    alone = Reweigher(LogisticRegression(), protected="group").weights(X, y)
    assert abs(mean_difference(y, y, protected=X["group"], sample_weight=alone)) < 1e-12
    assert weight.sum() == pytest.approx(given_weight.sum())
    for column in (X["group"].to_numpy(), y):  # groups and labels keep their sizes
        for value in np.unique(column):
            mine = column == value
            assert weight[mine].sum() == pytest.approx(given_weight[mine].sum())


def test_the_weights_are_expected_over_observed_counts():
    X, y = biased()
    weight = Reweigher(LogisticRegression(), protected="sex").weights(X, y)
    for i in range(20):
        same_sex, same_label = X["sex"] == X["sex"][i], y == y[i]
        expected = same_sex.mean() * same_label.mean() / (same_sex & same_label).mean()
        assert weight[i] == pytest.approx(expected, rel=1e-12)


def test_the_classifier_is_trained_with_the_weights():
    X, y = biased()
    fitted = Reweigher(model(), protected="sex").fit(X, y)
    weight = Reweigher(model(), protected="sex").weights(X, y)
    alone = model().fit(X, y, logisticregression__sample_weight=weight)
    assert (fitted.predict_proba(X) == alone.predict_proba(X)).all()
    before = mean_difference(y, model().fit(X, y).predict(X), protected=X["sex"])
    after = mean_difference(y, fitted.predict(X), protected=X["sex"])
    assert abs(after) < abs(before) / 2


def test_a_group_without_a_label_is_named():
    X = pd.DataFrame({"sex": ["f", "f", "m", "m"]})
    reweigher = Reweigher(LogisticRegression(), protected="sex")
    with pytest.warns(SkdiscWarning, match="group 'f' with label 1"):
        reweigher.weights(X, [0, 0, 0, 1])
    assert np.isnan(reweigher.weights_.loc["f", 1])


def test_a_grid_search_over_a_pipeline_inside_and_outside():
    X, y = biased()
    scorer = get_scorer("neg_abs_mean_difference", protected="sex")
    inside = Reweigher(model(), protected="sex")
    grid = {"estimator__logisticregression__C": [0.01, 1.0]}
    search = GridSearchCV(inside, grid, scoring=scorer, cv=3).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    to_frame = FunctionTransformer(lambda X: X.assign(points=X["points"] * 2))
    outside = make_pipeline(to_frame, inside)
    grid = {"reweigher": [inside, model()]}
    search = GridSearchCV(outside, grid, scoring=scorer, cv=3).fit(X, y)
    assert search.best_params_["reweigher"].__class__ is Reweigher
    wrapped = Reweigher(GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}), protected=0)
    numbers = np.column_stack([X["sex"] == "m", X["points"]]).astype(float)
    assert wrapped.fit(numbers, y).predict(numbers).shape == y.shape


def test_with_metadata_routing():
    X, y = biased()
    hidden, sex = X[["points"]], X["sex"]
    plain = Reweigher(LogisticRegression()).fit(hidden, y, sensitive_features=sex)
    with sklearn.config_context(enable_metadata_routing=True):
        nested = make_pipeline(
            StandardScaler(with_mean=False, with_std=False), LogisticRegression()
        )
        for inner in (LogisticRegression(), nested):
            routed = make_pipeline(FunctionTransformer(), Reweigher(inner))
            routed.fit(hidden, y, sensitive_features=sex)
            found = routed.predict_proba(hidden)
            assert np.allclose(found, plain.predict_proba(hidden), atol=1e-12)
        params = {"sensitive_features": sex}
        scores = cross_val_score(routed, hidden, y, params=params, cv=3)
        assert scores.min() > 0.5


def test_refusals():
    X, y = biased(40)
    with pytest.raises(ValueError, match="protected is None: name the protected"):
        Reweigher(LogisticRegression()).fit(X, y)
    with pytest.raises(TypeError, match="KNeighborsClassifier does not take sample_weight"):
        Reweigher(KNeighborsClassifier(), protected="sex").fit(X, y)
    with pytest.raises(ValueError, match="sensitive_features has 3 rows"):
        Reweigher(model()).fit(X, y, sensitive_features=["f", "m", "f"])
    with pytest.raises(ValueError, match="y has the index of X in another order"):
        Reweigher(model(), protected="sex").fit(X, y[::-1])


def test_copies():
    X, y = biased()
    fitted = Reweigher(model(), protected="sex").fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.predict(X) == fitted.predict(X)).all()
    assert (clone(fitted).fit(X, y).predict(X) == fitted.predict(X)).all()
    assert fitted.classes_.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("is_weighted", "of_aif360"),
    [
        (False, [0.828571428571, 1.240000000000, 1.450000000000, 0.775000000000]),
        (True, [0.804545454545, 1.307142857143, 1.573333333333, 0.739393939394]),
    ],
)
def test_weights_are_those_of_aif360(is_weighted, of_aif360):
    """Figures of AIF360 0.6.1: Reweighing(...).fit_transform(...).instance_weights."""
    i = np.arange(60)
    X = pd.DataFrame({"sex": (i * 7 % 10 < 4).astype(float), "points": (i * 37 % 61).astype(float)})
    y = (X["points"] + 15 * X["sex"] > 32).astype(int)
    weight = 1.0 + i % 3 if is_weighted else None
    reweigher = Reweigher(LogisticRegression(), protected="sex").fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(
        reweigher.weights_.loc[[0, 1], [0, 1]].to_numpy().ravel(), of_aif360, rtol=1e-11
    )
