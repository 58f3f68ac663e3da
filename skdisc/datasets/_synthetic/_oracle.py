"""The true law of the outcome as a model."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin


class _Oracle(BaseEstimator):
    """Common part of both oracles.

    `fair`: whether to leave out the planted bias. `model`: index of one of the 32 models with
    perturbed weights; None stands for the true law.
    """

    def __init__(self, law, fair=False, model=None):
        self.law = law
        self.fair = fair
        self.model = model

    def __sklearn_is_fitted__(self):
        return True


class OracleClassifier(ClassifierMixin, _Oracle):
    """A model with the true probabilities; its parameters are those of `_Oracle`."""

    @property
    def classes_(self):
        """Array of the classes."""
        cuts = self.law.cuts
        return np.arange(2 if cuts is None else len(cuts) + 1)

    def predict_proba(self, X):
        """Return the true probability of each class, an array of shape (n_rows, n_classes)."""
        return self.law.class_probabilities(X, fair=self.fair, model=self.model)

    def predict(self, X):
        """Return the most probable class of each row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class OracleRegressor(RegressorMixin, _Oracle):
    """A model with the true expected outcome; its parameters are those of `_Oracle`."""

    def predict(self, X):
        """Return the true expected outcome of each row."""
        return self.law.expected(X, fair=self.fair, model=self.model)
