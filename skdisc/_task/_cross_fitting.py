"""Expectations learned out of fold: main effects, boosted trees, or an estimator of the user."""

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone, is_classifier
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skdisc._blackbox._training import SMALL_TREES, threads_for
from skdisc._utils._run_clock import go_on


def folds_of(strata: np.ndarray, n_folds: int, rng: np.random.Generator) -> np.ndarray:
    """Return the fold of each row, drawn within strata.

    `strata`: rows of one value are spread evenly over the folds.
    """
    order = np.lexsort((rng.random(len(strata)), strata))
    fold = np.empty(len(strata), dtype=int)
    fold[order] = np.arange(len(strata)) % n_folds
    return fold


class CrossFitter:
    """Learns expectations given some columns, each row by learners that did not see its fold.

    `X`, of shape (n_rows, n_columns): the columns, as estimators of the user get them. `numbers`,
    of shape (n_rows, n_terms): the columns as numbers, for the learners here.
    """

    def __init__(self, X: pd.DataFrame, numbers: np.ndarray, fold: np.ndarray) -> None:
        self.X, self.numbers, self.fold = X, numbers, fold

    def on(self, rows: np.ndarray) -> "CrossFitter":
        """Return the fitter of some rows, an index, in their folds."""
        return CrossFitter(self.X.iloc[rows], self.numbers[rows], self.fold[rows])

    def expect(
        self, target: np.ndarray, learner: Any, used: np.ndarray | None = None, name: str = ""
    ) -> np.ndarray:
        """Return E[target | X] for all rows, each predicted by a learner of the other folds.

        `learner`: {"linear", "boosting"} or estimator. `used`: the rows to learn from; None: all.
        `name`: the setting, for messages. Returns an ndarray of float: never NaN. If all rows to
        learn from are in one fold, they are learned from for this fold, too.
        """
        used = np.ones(len(target), bool) if used is None else used
        binary = bool(np.isin(target[used], (0.0, 1.0)).all())
        out = np.empty(len(target))
        for k in np.unique(self.fold):
            go_on("learning expectations")
            rest, is_held_out = used & (self.fold != k), self.fold == k
            rest = rest if rest.any() else used
            if np.ptp(target[rest]) == 0:
                out[is_held_out] = target[rest][0]
            else:
                out[is_held_out] = self._predicted(learner, target, rest, is_held_out, binary, name)
        if not np.isfinite(out).all():
            raise ValueError(f"{name}={learner!r} predicts NaN or infinite values.")
        return np.clip(out, 0, 1) if binary else out

    def choose(self, target: np.ndarray, used: np.ndarray | None = None) -> tuple[np.ndarray, str]:
        """Return the expectation by main effects, or by trees if they predict better.

        Returns `kind`: trees if their squared error is less by more than a standard error.
        """
        used = np.ones(len(target), bool) if used is None else used
        linear, trees = (self.expect(target, kind, used) for kind in ("linear", "boosting"))
        better = ((target - linear) ** 2 - (target - trees) ** 2)[used]
        if better.mean() > better.std() / np.sqrt(len(better)):
            return trees, "boosting"
        return linear, "linear"

    def _predicted(self, learner, target, rest, is_held_out, binary, name):
        if isinstance(learner, str):
            fit = _linear if learner == "linear" else _boosted
            return fit(self.numbers[rest], target[rest], self.numbers[is_held_out], binary)
        try:
            model = clone(learner)
            if is_classifier(model):
                if not binary:
                    raise ValueError("a classifier cannot learn numbers other than 0 and 1")
                model.fit(self.X[rest], target[rest].astype(int))
                return np.asarray(model.predict_proba(self.X[is_held_out]))[:, 1]
            return np.asarray(
                model.fit(self.X[rest], target[rest]).predict(self.X[is_held_out]), float
            )
        except Exception as error:
            raise ValueError(
                f"{name}={type(learner).__name__} failed on the columns {list(self.X)!r}, which it "
                f"gets as a DataFrame of raw values: {error}. Encode them in a Pipeline."
            ) from error


def _linear(X, y, X_new, binary):
    """Return predictions by main effects: logistic for 0 and 1, else least squares."""
    if not X.shape[1]:
        return np.full(len(X_new), y.mean())
    if not binary:
        return make_pipeline(StandardScaler(), Ridge(1e-3)).fit(X, y).predict(X_new)
    model = make_pipeline(StandardScaler(), LogisticRegression(C=100.0, max_iter=1000))
    return model.fit(X, y.astype(int)).predict_proba(X_new)[:, 1]


def _boosted(X, y, X_new, binary):
    """Return predictions by boosted trees, of squared error in both cases."""
    if not X.shape[1]:
        return np.full(len(X_new), y.mean())
    with threads_for(len(X)):
        return HistGradientBoostingRegressor(**SMALL_TREES).fit(X, y).predict(X_new)
