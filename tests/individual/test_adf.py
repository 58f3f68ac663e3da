"""ADF: where its walks lead, and which gradients it takes."""

import math

import numpy as np
import pandas as pd
import pytest
from searches import (
    linear,
    points,
)
from sklearn.tree import DecisionTreeClassifier

from skdisc import Limits
from skdisc.individual import ADF
from skdisc.individual._search import _gradient_walk


def test_seeds_of_a_linear_model_walk_straight_to_the_boundary():
    """Every column goes one step per move towards it, so the first case is where it must be."""
    X, model = points(), linear(points())
    far = pd.DataFrame({"a": [50, 2], "b": [40, 25], "sex": [0, 0]})
    detector = ADF(protected="sex", seeds=far, max_iter=30, n_local=0, random_state=0)
    result = detector.fit(X, model=model).result_
    asked = []
    for _, row in far.iterrows():
        at = row.to_numpy().copy()
        while True:
            two = pd.DataFrame([[*at[:2], 0], [*at[:2], 1]], columns=list(X))
            asked.append(tuple(at[:2]))
            decided = model.predict(two)
            if decided[0] != decided[1]:
                break
            at[:2] = at[:2] - 1 if decided[0] else at[:2] + 1
    assert result.n_tested == len(set(asked))
    assert result.n_found == 2
    assert set(
        zip(result.findings.original["a"], result.findings.original["b"], strict=True)
    ) < set(asked)


def test_a_move_that_no_gradient_asks_for_is_drawn():
    """A model of sex alone, that answers alike for all others, moves its seeds at random."""
    X = points()
    flat = lambda A: (A["a"] > 1000).astype(int)  # noqa: E731
    seeds = pd.DataFrame({"a": [30], "b": [30], "sex": [0]})
    result = ADF(protected="sex", seeds=seeds, n_local=0, random_state=0).fit(X, model=flat).result_
    assert result.n_tested == 1  # nothing to step towards: up and down change nothing
    assert any("decisions without margins" in note for note in result.notes)


@pytest.mark.parametrize("gradient", ["analytic", "autograd"])
def test_a_gradient_that_cannot_be_had_is_refused(gradient):
    X = points()
    tree = DecisionTreeClassifier(max_depth=2).fit(X, X["a"] > X["b"])
    with pytest.raises(ValueError, match=r"No .* gradient is available for Decision"):
        ADF(protected="sex", gradient=gradient).fit(X, model=tree)


def test_a_gradient_of_ones_own():
    X, model = points(), linear(points())
    own = lambda A: np.tile(model.coef_[0], (len(A), 1))  # noqa: E731
    results = [
        ADF(protected="sex", gradient=g, n_local=20, random_state=0).fit(X, model=model).result_
        for g in ("auto", own)
    ]
    assert results[0].n_found == results[1].n_found
    with pytest.raises(ValueError, match="2 columns; one for each of the 3"):
        ADF(protected="sex", gradient=lambda A: own(A)[:, :2]).fit(X, model=model)


def test_steps_taken_ahead_of_their_tests_change_nothing(monkeypatch):
    X = points()
    X["age"] = np.arange(len(X)) % 3
    model = linear(X.drop(columns="age").assign(sex=X["sex"] + X["age"]), gap=3)
    asked = lambda A: model.decision_function(A[["a", "b"]].assign(sex=A["sex"] + A["age"]))  # noqa: E731

    class Model:
        classes_ = np.array([False, True])
        decision_function = staticmethod(asked)

    settings = {"protected": ["sex", "age"], "n_seeds": 20, "n_local": 40, "random_state": 0}
    whole = ADF(**settings, limits=Limits(tests=math.inf)).fit(X, model=Model()).result_
    few = ADF(**settings, limits=Limits(tests=whole.n_tested // 2)).fit(X, model=Model()).result_
    monkeypatch.setattr(_gradient_walk, "_AT_ONCE", 1)
    one = ADF(**settings, limits=Limits(tests=math.inf)).fit(X, model=Model()).result_
    assert one.to_frame().equals(whole.to_frame())
    assert (one.n_tested, one.n_queries) == (whole.n_tested, whole.n_queries)
    assert few.n_tested == whole.n_tested // 2
    first = few.findings.original
    assert first.equals(whole.findings.original.iloc[: len(first)])


@pytest.mark.parametrize(("field", "most"), [("found", 150), ("queries", 7000)])
def test_looking_ahead_costs_little_where_a_limit_ends_the_search(field, most, monkeypatch):
    """Steps are drawn before they are tested; those that a limit leaves untested are lost."""
    X, how = points(), {"protected": "sex", "gradient": "difference", "random_state": 0}
    limits = Limits(**{"tests": math.inf, field: most})
    search = ADF(n_seeds=50, limits=limits, **how)
    ahead = search.fit(X, model=linear(X)).result_
    monkeypatch.setattr(_gradient_walk, "_AT_ONCE", 0)
    one_by_one = search.fit(X, model=linear(X)).result_
    assert ahead.stopped_by == one_by_one.stopped_by == field
    assert ahead.n_found >= 0.9 * one_by_one.n_found > 100
    assert ahead.n_queries <= 1.1 * one_by_one.n_queries
