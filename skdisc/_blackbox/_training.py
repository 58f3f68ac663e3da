"""Training: how a model was trained, which is what training it again takes; and its threads."""

import threading
from contextlib import contextmanager
from functools import lru_cache

import pandas as pd
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import ThreadpoolController

from skdisc._blackbox._model_input import encoding_pipeline, is_about_text, texts_of
from skdisc._utils._sample_weight import fit_weighted, takes_weights
from skdisc._utils._warnings import ignoring

# Settings of the boosted trees that learn expectations to adjust for. With all columns at each
# split, they miss interactions without main effects.
SMALL_TREES = {
    "max_iter": 60,
    "max_leaf_nodes": 8,
    "max_features": 0.5,
    "early_stopping": False,
    "random_state": 0,
}
_ENOUGH = 20_000  # rows below which threads wait for each other longer than they work
_ONE_CALLER = threading.RLock()


class Training:
    """An estimator and the rows that it was trained on.

    Parameters
    ----------
    estimator : estimator
        Cloned before it is fitted.
    X : DataFrame or ndarray of shape (n_rows, n_columns)
    weight : ndarray of shape (n_rows,), optional
        Sample weights, for estimators, or last steps of pipelines, that accept ``sample_weight``.
    groups : ndarray of shape (n_rows,), optional
        The cluster of each row, for `redrawn`.
    """

    def __init__(self, estimator, X, y, weight=None, groups=None):
        self.estimator, self.X, self.y, self._groups = estimator, X, y, groups
        self.weight = weight
        self._redrawn = {}

    @property
    def rows(self):
        """X as a DataFrame, with the names that the columns of an array have in an audit."""
        if isinstance(self.X, pd.DataFrame):
            return self.X
        names = [f"x{i}" for i in range(self.X.shape[1])]
        return pd.DataFrame(self.X, columns=names).infer_objects()

    def model(self):
        """Return a fitted clone of the estimator."""
        return self._fitted(self.X)

    def again(self, rows):
        """Return a clone of the estimator fitted on other rows, of the shape of `rows`."""
        return self._fitted(rows if isinstance(self.X, pd.DataFrame) else rows.to_numpy())

    def sampled(self, positions):
        """Return a clone of the estimator fitted on the rows at these positions."""
        X = self.X.iloc[positions] if isinstance(self.X, pd.DataFrame) else self.X[positions]
        weight = None if self.weight is None else self.weight[positions]
        with ignoring(ConvergenceWarning):
            return _fit(clone(self.estimator), X, self.y[positions], weight)

    def redrawn(self, protected, seed):
        """Return the `Redrawn` of the rows, which is learned once for each argument."""
        key = (*protected, seed)
        if key not in self._redrawn:
            from skdisc._blackbox._redrawn import Redrawn  # here: it is slow to import

            self._redrawn[key] = Redrawn(
                self.rows,
                protected=list(protected),
                weight=self.weight,
                random_state=seed,
                cluster=self._groups,
            )
        return self._redrawn[key]

    def _fitted(self, X):
        return _fit(clone(self.estimator), X, self.y, self.weight)


def _fit(estimator, X, y, weight):
    try:
        if weight is not None and takes_weights(estimator):
            return fit_weighted(estimator, X, y, weight)
        return estimator.fit(X, y)
    except (TypeError, ValueError) as error:
        if not is_about_text(error):
            raise
        # Without the words of the error, which contain the value of a cell.
        name = type(estimator).__name__
        pipeline = encoding_pipeline(X, f"{name}()")
        raise ValueError(
            f"{name} cannot be fitted to {texts_of(X)}. Pass a pipeline that encodes them: "
            f"{pipeline}."
        ) from error


@contextmanager
def threads_for(n_rows):
    """Give OpenMP, and so boosted trees, one thread for few rows; one caller at a time.

    Where other work keeps the cores busy, its threads wait for each other many times as long as
    they work. The number of its threads belongs to the process, and so do the filters of warnings,
    which the parallel loops of scikit-learn replace while they run: of two threads that fit trees
    at once, each would restore what the other has set.
    """
    limit = 1 if n_rows < _ENOUGH else None
    with _ONE_CALLER, _controller().limit(limits=limit, user_api="openmp"):
        yield


@lru_cache(maxsize=1)
def _controller():
    """Return what knows the loaded libraries; looking for them takes milliseconds."""
    import sklearn.ensemble  # noqa: F401  boosted trees, whose library it has to know

    return ThreadpoolController()
