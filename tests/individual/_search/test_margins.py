"""Margins: slopes of models with and without gradients, within the budget."""

import numpy as np
import pandas as pd
import pytest
from searches import (
    linear,
    points,
)
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skdisc import FeatureSpace, Limits
from skdisc._task._task import People, Task
from skdisc.individual import ADF, EIDIG
from skdisc.individual._search._margins import Margins
from skdisc.individual._search._steps import Steps


def margins_of(model, X, protected="sex", gradient="auto", **space):
    few = {"random_state": 0, "n_local": 0, "limits": Limits(tests=1)}
    detector = ADF(protected=protected, **few, **space).fit(X, model=model)
    task = Task.open(detector, People(X))
    return Margins(task, Steps(task.space), gradient), task


def test_differences_agree_with_the_gradient_of_a_linear_model():
    X, model = points(), linear(points())
    codes = np.array([[10, 20, 0], [0, 59, 1], [59, 0, 1]])
    derived, task = margins_of(model, X)
    measured, _ = margins_of(model, X, gradient="difference")
    np.testing.assert_allclose(measured.slopes(codes).change, derived.slopes(codes).change)
    assert task.budget.queries == 3
    np.testing.assert_allclose(derived.slopes(codes).change, np.tile(model.coef_[0, :2], (3, 1)))


def test_nominal_columns_go_to_their_best_value_and_others_a_step():
    space = FeatureSpace.from_domains(
        {"job": list("uvwx"), "n": (0, 9), "sex": [0, 1]}, protected="sex"
    )
    worth = {"u": 0.1, "v": 3.0, "w": -2.0, "x": 0.0}

    class Model:
        classes_ = np.array([0, 1])

        def decision_function(self, X):
            return X["job"].map(worth).to_numpy(float) + 0.5 * X["n"].to_numpy() + X["sex"]

    detector = ADF(n_local=0, limits=Limits(tests=1), random_state=0).fit(space, model=Model())
    task = Task.open(detector, People())
    steps = Steps(space)
    margins = Margins(task, steps)
    codes = np.array([[0, 4, 0], [1, 9, 1]])
    slopes = margins.slopes(codes)
    np.testing.assert_allclose(slopes.change, [[5.0, 0.5], [5.0, 0.5]])
    up = slopes.targets(steps, codes, slopes.change, np.array([True, True]))
    down = slopes.targets(steps, codes, slopes.change, np.array([False, False]))
    assert up.tolist() == [[1, 5], [1, 9]]
    assert down.tolist() == [[2, 3], [2, 8]]


def test_a_dead_network_is_looked_at_by_differences():
    X = points()
    y = (X["a"] > 30).astype(int)
    net = MLPClassifier((3,), max_iter=5, random_state=0)
    with pytest.warns(Warning, match="Maximum iterations"):
        net.fit(X, y)
    net.intercepts_[0][:] = -1e6  # no unit is ever active
    margins, task = margins_of(net, X)
    assert (margins.slopes(np.array([[3, 4, 0]])).change == 0).all()
    assert task.budget.queries == 1 + 5  # one gradient; the row itself and four neighbors


@pytest.mark.parametrize("columns", [["b", "sex"], ["sex", "b", "a"]])
@pytest.mark.parametrize("town", [False, True])  # with words among the columns there is no array
@pytest.mark.parametrize("scaled", [False, True])
def test_slopes_belong_to_the_columns_that_the_model_has(columns, town, scaled):
    X = points()
    model = LogisticRegression()
    model = make_pipeline(StandardScaler(), model) if scaled else model
    model.fit(X[columns], X["b"] > 30)
    weights = model[-1].coef_[0] / model[0].scale_ if scaled else model.coef_[0]
    X, immutable = (X.assign(town="Bonn"), ["town"]) if town else (X, [])
    space = FeatureSpace.from_frame(X, protected=["sex"], immutable=immutable)
    margins = margins_of(model, X, space=space)[0]
    slopes = margins.slopes(np.array([[10, 20, 0, 0][: 3 + town]]), revive=False)
    weight = dict(zip(columns, weights, strict=True))
    np.testing.assert_allclose(slopes.change, [[weight.get("a", 0.0), weight["b"]]])


@pytest.mark.slow
@pytest.mark.parametrize("search", [ADF, EIDIG])
def test_any_limit_on_rows_is_kept(search):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 6, (200, 4)), columns=list("abcd"))
    y = (X["a"] + 2 * (X["d"] > 2) > 4).astype(int)
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    for limit in range(100, 2500, 150):
        detector = search(
            protected="d", limits=Limits(queries=limit), n_seeds=20, n_local=20, random_state=0
        )
        result = detector.fit(X, y, model).result_
        assert result.n_queries <= limit
