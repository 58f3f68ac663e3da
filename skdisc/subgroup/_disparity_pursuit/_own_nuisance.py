"""Expectations learned by an estimator of the user."""

from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn.base import clone, is_classifier

from skdisc._utils._types import Estimator


def learner_of(estimator: Estimator, X: pd.DataFrame, planes: np.ndarray) -> Callable:
    """Return a learner of clones of an estimator, for `out_of_fold`.

    Parameters
    ----------
    estimator : estimator
        A classifier predicts by ``predict_proba``.
    X : DataFrame of the legitimate columns
    planes : ndarray of float, shape (n_planes, n_rows)
        What it will learn.

    Returns
    -------
    callable
        ``learn(planes, rest, out)`` returns predictions, shape (n_planes, n_out).

    Raises
    ------
    ValueError
        If a classifier is to learn numbers, or has no ``predict_proba``; from the learner, if the
        estimator raises an error or does not predict one finite number per row.
    """
    name, decides = type(estimator).__name__, is_classifier(estimator)
    if decides and not hasattr(estimator, "predict_proba"):
        raise ValueError(
            f"nuisance={name} is a classifier without predict_proba; expectations are "
            "probabilities. Use one that has it, or a regressor."
        )
    if decides and not np.isin(planes, (0.0, 1.0)).all():
        raise ValueError(
            f"nuisance={name} is a classifier, but the outcomes are numbers other than 0 and 1. "
            "Use a regressor."
        )

    def mean(plane, rest, out):
        target = plane[rest]
        if decides and np.ptp(target) == 0:
            return np.full(int(out.sum()), target[0])
        if not decides:
            return clone(estimator).fit(X[rest], target).predict(X[out])
        return clone(estimator).fit(X[rest], target.astype(int)).predict_proba(X[out])[:, 1]

    def learn(planes, rest, out):
        found = np.empty((len(planes), int(out.sum())))
        for plane, row in zip(planes, found, strict=True):
            try:
                row[:] = np.asarray(mean(plane, rest, out), dtype=float).reshape(len(row))
            except Exception as error:
                raise ValueError(
                    f"nuisance={name} failed on the legitimate columns {list(X)!r}, which it gets "
                    f"as a DataFrame of raw values: {error}. Encode them in a Pipeline."
                ) from error
        if not np.isfinite(found).all():
            raise ValueError(f"nuisance={name} predicts NaN or infinite values.")
        return found

    return learn
