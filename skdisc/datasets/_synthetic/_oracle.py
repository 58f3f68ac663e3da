"""The true law of the outcome as a model."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin


class _Oracle(BaseEstimator):
    """What both oracles share.

    Parameters
    ----------
    law : OutcomeLaw
    fair : bool, default=False
        Whether to leave the planted bias out.
    model : int, default=None
        Which of the 32 models with perturbed weights to be; None: the truth.
    """

    def __init__(self, law, fair=False, model=None):
        self.law = law
        self.fair = fair
        self.model = model

    def __sklearn_is_fitted__(self):
        return True


class OracleClassifier(ClassifierMixin, _Oracle):
    """A model that knows the true probabilities; parameters as for `_Oracle`."""

    @property
    def classes_(self):
        """The classes, an array."""
        cuts = self.law.cuts
        return np.arange(2 if cuts is None else len(cuts) + 1)

    def predict_proba(self, X):
        """Return the true probability of each class, an array of shape (n_rows, n_classes)."""
        return self.law.class_probabilities(X, fair=self.fair, model=self.model)

    def predict(self, X):
        """Return the most probable class of each row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class OracleRegressor(RegressorMixin, _Oracle):
    """A model that knows the true expected outcome; parameters as for `_Oracle`."""

    def predict(self, X):
        """Return the true expected outcome of each row."""
        return self.law.expected(X, fair=self.fair, model=self.model)
