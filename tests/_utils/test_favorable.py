"""One rule says which label is favorable, in every detector, measure and scorer."""

import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from smallest import smallest

import skdisc
from skdisc import Audit, Predicate, all_detectors
from skdisc._utils._favorable import favorable_labels
from skdisc.datasets import plant_bias
from skdisc.measures import get_scorer, get_scorer_names, mean_difference
from skdisc.measures._scorer import _MEASURES

pytestmark = pytest.mark.usefixtures("no_refits")

CODED = {"integers": [0, 1], "signs": [-1, 1], "booleans": [False, True], "floats": [0.0, 1.0]}
OTHER = {"ranks": [1, 2], "texts": ["no", "yes"], "three": [0, 1, 2], "digits": ["0", "1"]}


def people(labels):
    """Return 200 rows, and labels of which the last favors men."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.integers(0, 2, 200), "points": rng.integers(0, 6, 200)})
    X["town"] = rng.integers(0, 2, 200)
    high = X["points"] + 2 * X["sex"] + rng.integers(0, 3, 200) > 4
    if len(labels) == 3:
        return X, np.array(labels)[(high.astype(int) + (X["points"] == 5)).to_numpy()]
    return X, np.array(labels)[high.astype(int)]


def detector_of(name, **more):
    return smallest(name, LogisticRegression(), protected=["sex"], **more)


@pytest.mark.parametrize("labels", OTHER.values(), ids=OTHER)
@pytest.mark.parametrize("name", all_detectors())
def test_detectors_refuse_other_labels(name, labels):
    X, y = people(labels)
    with pytest.raises(ValueError, match="pos_label is not set") as raised:
        detector_of(name).fit(X, y)
    assert repr(labels) in str(raised.value)
    assert f"pos_label={labels[-1]!r}" in str(raised.value)


@pytest.mark.every(6)
@pytest.mark.parametrize("labels", CODED.values(), ids=CODED)
@pytest.mark.parametrize("name", all_detectors())
def test_detectors_take_one_of_codes(name, labels):
    assert detector_of(name).fit(*people(labels)).pos_label_ == [1]


def parameters(name):
    """Return the parameters of a measure, a dict."""
    measure = _MEASURES[name]
    signature = measure.plan.signature if hasattr(measure, "plan") else inspect.signature(measure)
    return dict(signature.parameters)


@pytest.mark.parametrize("labels", OTHER.values(), ids=OTHER)
@pytest.mark.parametrize("name", [n for n in _MEASURES if "pos_label" in parameters(n)])
def test_measures_refuse_other_labels(name, labels):
    X, y = people(labels)
    more = {"explanatory": X["town"], "X": X[["town"]], "protected": X["sex"]}
    needed = [p.name for p in parameters(name).values() if p.default is p.empty]
    more = {n: values for n, values in more.items() if n in needed}
    with pytest.raises(ValueError, match="pos_label is not set") as raised:
        _MEASURES[name](y, y, **more)
    assert repr(labels) in str(raised.value)


@pytest.mark.parametrize("labels", [*CODED.values(), [1, 2], ["no", "yes"]], ids=str)
def test_measures_detectors_and_scorers_agree(labels):
    X, y = people(labels)
    given = {} if labels in CODED.values() else {"pos_label": labels[1]}
    model = LogisticRegression().fit(X, y)
    wanted = mean_difference(None, model.predict(X) == labels[1], protected=X["sex"], reference=1)
    assert (
        mean_difference(None, model.predict(X), protected=X["sex"], reference=1, **given) == wanted
    )
    detector = skdisc.group.GroupDisparity(protected="sex", reference=1, **given)
    effect = detector.fit(X, y, model=model).result_[0].effect
    assert abs(effect) == pytest.approx(abs(wanted))
    scorer = get_scorer("neg_abs_mean_difference", protected="sex", reference=1, **given)
    assert scorer(model, X, y) == -abs(wanted)


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_scorers_refuse_other_labels(method):
    X, y = people([1, 2])
    model = LogisticRegression().fit(X, y)
    for name in ("neg_abs_mean_difference", "neg_abs_equal_opportunity"):
        assert name in get_scorer_names()
        scorer = get_scorer(name, protected="sex", response_method=method)
        with pytest.raises(ValueError, match=r"pos_label is not set, and .* \[1, 2\]"):
            scorer(model, X, y)


def test_audits_and_planted_biases_refuse_other_labels():
    X, y = people(["no", "yes"])
    with pytest.raises(
        ValueError, match=r"pos_label is not set, and the labels are \['no', 'yes'\]"
    ):
        Audit(protected="sex").fit(X, y)
    with pytest.raises(
        ValueError, match=r"pos_label is not set, and the labels are \['no', 'yes'\]"
    ):
        plant_bias(X, y, Predicate.equals("sex", 0), -0.5)


def test_high_and_low_are_ends_of_numbers():
    X, y = people([1, 2])
    low = mean_difference(None, y, protected=X["sex"], pos_label="low")
    high = mean_difference(None, y, protected=X["sex"], pos_label="high")
    assert low == pytest.approx(-high)
    assert low == mean_difference(None, y == 1, protected=X["sex"])
    words = np.where(y == 1, "high", "low")  # labels themselves
    assert mean_difference(None, words, protected=X["sex"], pos_label="high") == low


def test_labels_are_named_only_if_they_are_few():
    """Many are names or numbers of single people, perhaps."""
    labels, sex = np.array([f"{i} points" for i in range(30)]), np.arange(30) % 2
    few = np.array([f"{i % 5} points" for i in range(30)])
    for pos_label in ({}, {"pos_label": "3 point"}):
        with pytest.raises(ValueError, match="30 ") as raised:
            mean_difference(None, labels, protected=sex, **pos_label)
        assert " points" not in str(raised.value)
        with pytest.raises(ValueError, match="'0 points', '1 points'"):
            mean_difference(None, few, protected=sex, **pos_label)
    with pytest.raises(ValueError, match="pos_label names all 30 labels: no decision is unf"):
        favorable_labels(labels.tolist(), labels.tolist())
