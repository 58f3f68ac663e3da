"""Fast forests return what scikit-learn's own forests return."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

from skdisc import BlackBox, Budget, FeatureSpace
from skdisc._blackbox._array_model import array_model
from skdisc._blackbox._queries import Queries

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.integers(0, 9, (90, 3)), columns=["income", "sex", "age"])
y = np.where(X["income"] + X["sex"] > 8, "yes", "no")

FORESTS = [
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
]


@pytest.mark.parametrize("n_jobs", [None, 1, 2])
@pytest.mark.parametrize("kind", FORESTS)
def test_trees_in_turn_predict_as_the_forest(kind, n_jobs):
    model = kind(30, max_depth=3, n_jobs=n_jobs, random_state=0)
    model.fit(X, y if is_classifier(model) else X["age"])
    method = "predict_proba" if is_classifier(model) else "predict"
    rows = FeatureSpace.from_frame(X, protected=["sex"]).sample(5000, rng).astype(float)
    rtol = 1e-12 if n_jobs == 2 else 0  # its threads add the answers in the order in which they end
    for some in (rows[:1], rows):
        got = getattr(array_model(model), method)(some)
        expected = getattr(model, method)(pd.DataFrame(some, columns=list(X)))
        np.testing.assert_allclose(got, expected, rtol=rtol)
        assert got.dtype == expected.dtype


@pytest.mark.parametrize("kind", FORESTS)
def test_forests_raise_their_own_errors(kind):
    model = kind(3).fit(X, np.arange(len(X)) % 2)
    with pytest.raises(ValueError, match="infinity or a value too large"):
        array_model(model).predict(np.full((1, 3), np.inf))
    holes = X.astype(float).mask(X == 4)
    if kind is RandomForestClassifier:
        assert np.array_equal(array_model(model).predict(holes.to_numpy()), model.predict(holes))


def test_a_forest_of_several_targets_is_left_as_it_is():
    model = RandomForestClassifier(5, random_state=0).fit(X, np.column_stack([y, y]))
    assert np.array_equal(array_model(model).predict(X.to_numpy()), model.predict(X))


def test_a_forest_that_was_never_fitted_raises():
    with pytest.raises(NotFittedError, match="RandomForestClassifier"):
        array_model(RandomForestClassifier()).predict(X.to_numpy())


def test_the_forest_of_the_caller_is_left_alone():
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    state = dict(vars(model))
    assert isinstance(array_model(model), RandomForestClassifier)
    assert type(model) is RandomForestClassifier
    assert vars(model) == state


@pytest.mark.parametrize("kind", [RandomForestClassifier, FrozenEstimator])
def test_threads_get_contiguous_rows(kind, monkeypatch):
    forest = RandomForestClassifier(5, random_state=0, n_jobs=2).fit(X, y)
    predict, got = RandomForestClassifier.predict_proba, []

    def seen(self, rows):
        got.append(rows)
        return predict(self, rows)

    monkeypatch.setattr(RandomForestClassifier, "predict_proba", seen)
    model = forest if kind is RandomForestClassifier else FrozenEstimator(forest)
    space = FeatureSpace.from_frame(X, protected=["sex"])
    Queries(BlackBox(model), ["yes"], space, Budget()).ask(space.decode(space.sample(600, rng)))
    assert [rows.flags.c_contiguous for rows in got] == [True]
