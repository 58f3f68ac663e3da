"""Random forests that query their trees in turn where scikit-learn would start threads.

Joblib, through which scikit-learn queries the trees of a forest, takes a tenth of a millisecond
for each tree: as long as the tree takes for dozens of rows. Without threads the mean over the trees
is the same bit for bit; threads add up the trees in the order in which they finish.
"""

import numpy as np
from joblib import effective_n_jobs
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

_FEW = 500  # rows that all trees predict in turn before threads would have started


class FastClassifier:
    """Mixin of a forest whose class probabilities are the mean over trees queried in turn."""

    def predict_proba(self, X):
        """Return the probabilities of the classes, shape (n_rows, n_classes)."""
        mean = _mean_of_trees(self, "predict_proba", X)
        return super().predict_proba(np.ascontiguousarray(X)) if mean is None else mean


class FastRegressor:
    """Mixin of a forest whose predictions are the mean over trees queried in turn."""

    def predict(self, X):
        """Return the predictions, shape (n_rows,)."""
        mean = _mean_of_trees(self, "predict", X)
        return super().predict(np.ascontiguousarray(X)) if mean is None else mean


class FastExtraTreesClassifier(FastClassifier, ExtraTreesClassifier):
    """`ExtraTreesClassifier` with its trees in turn."""


class FastExtraTreesRegressor(FastRegressor, ExtraTreesRegressor):
    """`ExtraTreesRegressor` with its trees in turn."""


class FastRandomForestClassifier(FastClassifier, RandomForestClassifier):
    """`RandomForestClassifier` with its trees in turn."""


class FastRandomForestRegressor(FastRegressor, RandomForestRegressor):
    """`RandomForestRegressor` with its trees in turn."""


_FAST = (
    FastExtraTreesClassifier,
    FastExtraTreesRegressor,
    FastRandomForestClassifier,
    FastRandomForestRegressor,
)


def fast_forest(model):
    """Turn a fitted forest with one output into its fast class, in place; return any model."""
    if getattr(model, "n_outputs_", None) == 1:
        fast = {kind.__bases__[1]: kind for kind in _FAST}
        model.__class__ = fast.get(type(model), type(model))
    return model


def _mean_of_trees(forest, method, X):
    """Return the mean prediction of the trees, or None where the forest itself must predict."""
    with np.errstate(over="ignore"):
        rows = np.ascontiguousarray(X, dtype=np.float32)
    in_turn = len(rows) <= _FEW or effective_n_jobs(forest.n_jobs) == 1
    if not in_turn or not np.isfinite(rows).all():  # the forest checks what it takes
        return None
    total = 0.0
    for tree in forest.estimators_:
        total += getattr(tree, method)(rows, check_input=False)
    return total / len(forest.estimators_)
