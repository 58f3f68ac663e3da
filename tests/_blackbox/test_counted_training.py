"""Models fitted to people who are counted, margins of decisions, and what is assumed."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skdisc._blackbox._blackbox import AuditedModel, resolve
from skdisc._blackbox._outputs import read_margins
from skdisc._blackbox._redrawn import RARE, fitted
from skdisc._blackbox._training import Training

X = pd.DataFrame({"a": [0, 1, 2]})
Y = np.array([0, 1, 1])


class Recorded(BaseEstimator):
    def fit(self, X, y, sample_weight=None):
        self.rows_, self.y_, self.weight_ = X["a"].tolist(), list(y), sample_weight
        return self


def test_few_people_are_repeated_and_many_weigh():
    few = fitted(Recorded(), X, Y, np.array([2, 1, RARE]))
    assert few.rows_ == [0, 0, 1] + [2] * RARE
    assert few.y_ == [0, 0, 1] + [1] * RARE
    assert few.weight_ is None
    many = fitted(make_pipeline(FunctionTransformer(), Recorded()), X, Y, np.array([2, 30, 1]))
    assert many[-1].rows_ == [0, 0] + [1] * RARE + [2]
    assert many[-1].weight_.tolist() == [1.0] * 2 + [30 / RARE] * RARE + [1.0]
    assert fitted(Recorded(), X, Y).rows_ == [0, 1, 2]


@pytest.mark.parametrize("method", ["predict", None])
def test_the_margin_of_a_decision_is_one(method):
    margins = read_margins(np.array([1, 0, 1]), 3, "model", [1], [0, 1], method)
    assert margins.tolist() == [1, -1, 1]


@pytest.mark.parametrize("rows", [X, X.to_numpy()])
def test_a_sample_is_of_the_kind_of_the_rows(rows):
    class Kept(Recorded):
        def fit(self, X, y, sample_weight=None):
            self.X_, self.weight_ = X, sample_weight
            return self

    model = Training(Kept(), rows, Y, np.array([1.0, 2.0, 3.0])).sampled(np.array([2, 2, 0]))
    assert type(model.X_) is type(rows)
    assert np.asarray(model.X_).ravel().tolist() == [2, 2, 0]
    assert model.weight_.tolist() == [3.0, 3.0, 1.0]


def test_labels_are_classes_unless_numbers_are_asked_for():
    numbers = np.array([0.5, 1.5, 2.5])
    with pytest.raises(ValueError, match=r"continuous values, .* decisions must be classes"):
        resolve(None, LogisticRegression(), X, numbers)
    box, kind = resolve(None, LinearRegression(), X, numbers)
    assert kind == "refit"
    assert box.model.predict(X) == pytest.approx(numbers)
    assert AuditedModel(None, "labels", [0, 1], [1]).is_assumed is False
