"""A model that was trained here can be trained again."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skdisc import Audit, BlackBox
from skdisc._blackbox._blackbox import AuditedModel, is_trained, resolve
from skdisc._blackbox._default_models import default_model
from skdisc._blackbox._training import Training
from skdisc.group import GroupDisparity

X = pd.DataFrame({"a": [0.0, 1, 2, 3], "b": [1.0, 0, 1, 0]})
Y = np.array([0, 0, 1, 1])


def test_it_is_trained_on_other_rows_in_the_container_of_the_first():
    for rows in (X, X.to_numpy()):
        training = Training(LogisticRegression(), rows, Y)
        assert list(training.rows.columns) == (["a", "b"] if rows is X else ["x0", "x1"])
        turned = training.rows.assign(**{training.rows.columns[0]: [3.0, 2, 1, 0]})
        first, again = training.model(), training.again(turned)
        assert again.coef_[0, 0] == pytest.approx(-first.coef_[0, 0], abs=0.01) != 0
        assert hasattr(again, "feature_names_in_") == (rows is X)


def test_weights_enter_where_the_estimator_takes_them():
    weight = np.array([1.0, 1, 1, 5])
    weighted = Training(LogisticRegression(), X, Y, weight)
    own = LogisticRegression().fit(X, Y, sample_weight=weight)
    assert np.array_equal(weighted.again(X).coef_, own.coef_)
    assert Training(KNeighborsClassifier(1), X, Y, weight).model().score(X, Y) == 1


def test_weights_enter_the_last_step_of_a_pipeline():
    weight = np.array([1.0, 1, 1, 9])
    alone = Training(LogisticRegression(), X, Y, weight).model()
    for routing in (False, True):
        with sklearn.config_context(enable_metadata_routing=routing):
            last = Training(
                make_pipeline("passthrough", LogisticRegression()), X, Y, weight
            ).model()
        np.testing.assert_array_equal(last.predict_proba(X), alone.predict_proba(X))
    Training(make_pipeline(StandardScaler(), "passthrough"), X, Y, weight).model()


def test_redrawn_rows_are_learned_once():
    training = Training(LogisticRegression(), X, Y)
    assert training.redrawn(["a"], 1) is training.redrawn(["a"], 1)
    assert training.redrawn(["a"], 1) is not training.redrawn(["a"], 2)


@pytest.mark.parametrize(
    ("model", "estimator", "kind"),
    [
        (LogisticRegression(), None, "refit"),
        (BlackBox(LogisticRegression(), chunk_size=7), None, "refit"),
        (None, LogisticRegression(), "refit"),
        (BlackBox.trained(LogisticRegression(), X, Y), None, "refit"),
        (BlackBox(BlackBox.trained(LogisticRegression(), X, Y)), None, "refit"),
        (None, None, "surrogate"),
    ],
)
def test_what_is_trained_here_knows_how(model, estimator, kind):
    box, audited = resolve(model, estimator, X, Y, X)
    assert (audited, box.training.X is X) == (kind, True)
    again = AuditedModel(box, kind, [0, 1], [1]).retrained(X)
    assert (again.kind, again.favorable, again.box.chunk_size) == (kind, [1], box.chunk_size)
    assert np.array_equal(again.box.model.predict(X), box.model.predict(X))


def test_what_is_given_does_not():
    for model in (LogisticRegression().fit(X, Y), lambda X: X["a"] > 1):
        assert resolve(model, None, X, Y)[0].training is None
    assert BlackBox(decisions=Y).training is None


def test_labels_may_be_numbers_of_a_regressor():
    box, _ = resolve(LinearRegression(), None, X, Y + 0.5, numeric=True)
    assert box.training.again(X).predict(X).shape == (4,)


@pytest.mark.slow
def test_refits_know_clusters():
    """A value that clusters share is drawn for whole clusters, whoever trains the model."""
    rng = np.random.default_rng(0)
    house = np.repeat(np.arange(60), 4)
    X = pd.DataFrame({"race": rng.choice(["a", "b"], 60)[house], "pay": rng.normal(size=240)})
    y = rng.integers(0, 2, 240)
    tree = default_model("tree", 0)
    detector = GroupDisparity(protected="race").fit(X, y, tree, groups=house)
    audit = Audit(protected="race", estimator=tree, detectors=["GroupDisparity"])
    audit.fit(X, y, groups=house)
    mine = BlackBox.trained(tree, X, y, groups=house)
    for box in (mine, detector.model_, audit._box):
        drawn = box.training.redrawn(["race"], 0).draw(1)
        assert (drawn.groupby(house)["race"].nunique() == 1).all()
        assert not drawn["race"].equals(X["race"])


def test_what_is_trained_here():
    """A model that is not fitted, an estimator that is not frozen, or a BlackBox of either."""
    X, y = np.arange(8.0).reshape(4, 2), [0, 1, 0, 1]
    fitted, unfitted = DecisionTreeClassifier().fit(X, y), DecisionTreeClassifier()
    trained = resolve(unfitted, None, X, y)[0]
    for model, expected in ((fitted, False), (unfitted, True), (fitted.predict, False)):
        assert is_trained(model, None) == is_trained(BlackBox(model), None) == expected
    assert is_trained(trained, None)
    assert is_trained(None, fitted)
    assert not is_trained(None, FrozenEstimator(fitted))
    assert not is_trained(None, None)
