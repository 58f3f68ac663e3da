"""Fair targets and weights; worlds of assumed confounding; the picture of a graph."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from imblearn.pipeline import make_pipeline
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score

from skdisc.causal import CounterfactualTargets, StructuralCausalModel, sensitivity_worlds

DAG = [("race", "test"), ("race", "grade"), ("test", "grade")]


@pytest.fixture(name="X")
def pupils():
    rng = np.random.default_rng(0)
    race = rng.integers(0, 2, 400)
    test = rng.normal(size=400) - race
    grade = 0.5 * test - 0.3 * race + 0.2 * rng.normal(size=400)
    return pd.DataFrame({"race": race, "test": test, "grade": grade})


def test_target_is_the_grade_in_the_other_world(X):
    scm = StructuralCausalModel(DAG)
    fair = CounterfactualTargets(scm, "grade", {"race": 0}).fit(X)
    target = fair.targets(X)
    expected = scm.fit(X).counterfactual(X, {"race": 0})["grade"]
    pd.testing.assert_series_equal(target, expected)
    total = X.groupby("race")["grade"].mean().diff().iloc[1]
    assert np.allclose((target - X["grade"])[X["race"] == 1], -total)
    means = target.groupby(X["race"]).mean()
    assert means[0] == pytest.approx(means[1])  # the protected attribute is gone on average


def test_weights_grow_with_the_spread_over_worlds(X):
    worlds = {
        "a": StructuralCausalModel(DAG),
        "b": StructuralCausalModel([("race", "grade"), ("test", "grade")]),
    }
    fair = CounterfactualTargets(worlds, "grade", [{"race": 0}, {"race": 1}], strength=2).fit(X)
    outcomes = np.column_stack(
        [w.fit(X).counterfactual(X, {"race": r})["grade"] for w in worlds.values() for r in (0, 1)]
    )
    assert np.allclose(fair.targets(X), outcomes.mean(axis=1))
    spread = np.ptp(np.column_stack([outcomes, X["grade"]]), axis=1)
    weights = fair.weights(X)
    assert np.allclose((weights - 1) * spread.mean(), 2 * spread)
    assert weights.mean() == pytest.approx(3)
    same = CounterfactualTargets(worlds["b"], "grade", {"race": X["race"].to_numpy()}).fit(X)
    assert (same.weights(X) == 1).all()


def test_unusable_targets_are_refused(X):
    scm = StructuralCausalModel(DAG)
    with pytest.raises(ValueError, match="target must name"):
        CounterfactualTargets(scm, "mark", {"race": 0}).fit(X)
    with pytest.raises(ValueError, match="worlds is empty"):
        CounterfactualTargets([], "grade", {"race": 0}).fit(X)


def test_a_pipeline_is_trained_on_targets(X):
    rows, grade = X[["race", "test"]], X["grade"]
    fair = CounterfactualTargets(StructuralCausalModel(DAG), "grade", {"race": 0})
    model = make_pipeline(fair, LinearRegression()).fit(rows, grade)
    by_hand = LinearRegression().fit(rows, clone(fair).fit(X).targets(X))
    assert np.allclose(model.predict(rows), by_hand.predict(rows))
    gaps = [
        abs(np.diff(pd.Series(m.predict(rows)).groupby(X["race"]).mean())[0])
        for m in (model, LinearRegression().fit(rows, grade))
    ]
    assert gaps[0] < 1e-9 < 0.5 < gaps[1]
    assert len(cross_val_predict(model, rows, grade, cv=3)) == len(X)


def test_a_search_over_a_pipeline_reaches_the_interventions(X):
    rows, grade = X[["race", "test"]], X["grade"]
    fair = CounterfactualTargets(StructuralCausalModel(DAG), "grade", {"race": 0})
    grid = {"counterfactualtargets__do": [{"race": 0}, {"race": 1}]}
    search = GridSearchCV(make_pipeline(fair, LinearRegression()), grid, cv=2).fit(rows, grade)
    by_hand = [
        cross_val_score(
            make_pipeline(clone(fair).set_params(do=do), LinearRegression()), rows, grade, cv=2
        )
        for do in ({"race": 0}, {"race": 1})
    ]
    assert np.allclose(search.cv_results_["mean_test_score"], np.mean(by_hand, axis=1))
    assert np.ptp(search.cv_results_["mean_test_score"]) > 0


def test_rows_that_cannot_be_joined_with_outcomes_are_refused(X):
    fair = CounterfactualTargets(StructuralCausalModel(DAG), "grade", {"race": 0})
    rows, grade = X[["race", "test"]], X["grade"]
    with pytest.raises(TypeError, match="X must be a DataFrame"):
        fair.fit_resample(rows.to_numpy(), grade)
    with pytest.raises(ValueError, match="X has a column 'grade'"):
        fair.fit_resample(X, grade)
    with pytest.raises(ValueError, match="order"):
        fair.fit_resample(rows, grade[::-1])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        fair.fit_resample(rows, grade.to_numpy()[:-1])


def test_sensitivity_worlds_bend_the_effect_steadily(X):
    scm = StructuralCausalModel(DAG).fit(X)
    worlds = sensitivity_worlds(scm, "race", [-0.3, 0, 0.3])
    assert not hasattr(worlds["confounding of race +0.3"], "mechanisms_")
    shift = []
    for world in worlds.values():
        rows = world.fit(X).counterfactual(X, {"race": 1})
        shift.append((rows["test"] - X["test"])[X["race"] == 0].mean())
    assert shift[0] > shift[1] > shift[2]
    assert shift[1] == pytest.approx(X.groupby("race")["test"].mean().diff().iloc[1])
    residual = X["test"] - X.groupby("race")["test"].transform("mean")
    step = 0.3 / np.sqrt(1 - 0.09) * np.std(residual) / np.std(X["race"])
    assert shift[1] - shift[2] == pytest.approx(step)


def test_the_picture_shows_every_node_and_edge(X):
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    scm = StructuralCausalModel([*DAG, ("luck", "grade")], latent={"luck": "exam day"})
    ax = scm.plot(plt.figure().add_subplot())
    words = [t.get_text() for t in ax.texts]
    assert {"race", "test", "grade", "luck"} <= set(words)
    assert words.count("") == 4  # an arrow each
    boxes = {t.get_text(): t.get_bbox_patch() for t in ax.texts if t.get_text()}
    dashed = [name for name, box in boxes.items() if box.get_linestyle() == "--"]
    assert dashed == ["luck"]
    plt.close("all")


def test_each_assumed_correlation_has_a_world_of_its_own():
    worlds = sensitivity_worlds(StructuralCausalModel([("a", "x")]), "a", [0.10001, 0.10002])
    assert [w.confounding["a"] for w in worlds.values()] == [0.10001, 0.10002]
