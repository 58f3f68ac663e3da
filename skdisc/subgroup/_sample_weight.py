"""Weights of rows, for the detectors that know what to do with them."""

import numpy as np
import pandas as pd
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_sample_weight, _num_samples, check_is_fitted

from skdisc._blackbox._blackbox import BlackBox
from skdisc._utils._sample_weight import check_weights


class TakesWeights:
    """Gives `fit`, `audit` and `score` a ``sample_weight``; rows of weight 0 are left out."""

    __metadata_request__fit = {"model": True, "sample_weight": True}
    _given_weight = _weight = None

    def fit(self, X, y=None, model=None, sample_weight=None):
        """Search once, and keep what was found in ``result_``.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            The people under audit, raw columns.
        y : array-like of shape (n_samples,), optional
            Labels. May be left out when `model` is fitted.
        model : object, optional
            What is audited: a fitted estimator or pipeline, any object with ``predict``, a
            callable, or a `BlackBox`. An unfitted estimator is cloned and fitted.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts, >= 0, in sums, shares and quantiles. Tests take the
            effective number of rows, (sum of weights)^2 / (sum of their squares). Weights all
            below 1 are scaled to a mean of 1, so that a row counts as about one. An unfitted
            estimator is fitted with them if its ``fit`` takes them.

        Returns
        -------
        self
        """
        X, y, model, self._given_weight = _without_nobody(X, y, model, sample_weight)
        try:
            return super().fit(X, y, model)
        finally:
            del self._given_weight

    def audit(self, X=None, y=None, sample_weight=None):
        """Return the result of `fit`, or measure again on new rows.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features), optional
            Rows with the columns of fit.
        y : array-like of shape (n_samples,), optional
            Their labels, needed where labels were audited.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        AuditResult
        """
        check_is_fitted(self, "result_")
        if X is None:
            return self.result_
        X, y, _, self._given_weight = _without_nobody(X, y, None, sample_weight)
        try:
            return super().audit(X, y)
        finally:
            del self._given_weight

    def score(self, X, y=None, sample_weight=None):
        """Return how strongly the finding ranked first at fit shows on X.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
            Labels, needed where labels were audited or the measure compares with them.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
            Its direction at fit times its effect on X; NaN if nothing was found at fit, or the
            group does not occur in X.
        """
        again = self.audit(X, y, sample_weight)
        if not len(self.result_):
            return float("nan")
        return float(self.result_[0].direction * again[0].effect)

    def _read(self, X, y, *, reset):
        frame, y, stay = super()._read(X, y, reset=reset)
        weight = self._given_weight
        if weight is not None:
            weight = _check_sample_weight(weight, pd.DataFrame(index=range(len(stay))))[stay]
        self._weight = weight
        return frame, y, stay

    def _run(self, task, search):
        weight, self._weight = self._weight, None
        is_small = weight is not None and 0 < weight.max(initial=0) < 1
        task.weight = weight / weight.mean() if is_small else weight
        return super()._run(task, search)


def _without_nobody(X, y, model, weight):
    """Return X, y, model and weights without the rows of weight 0."""
    if weight is None:
        return X, y, model, None
    n = _num_samples(X)
    weight = check_weights(weight, n)
    stay = np.flatnonzero(weight)
    if len(stay) < n:
        X = _safe_indexing(X, stay)
        y = None if y is None else _safe_indexing(y, stay)
        if isinstance(model, BlackBox) and model.decisions is not None:
            model = BlackBox(decisions=model.decisions[stay])
    return X, y, model, weight[stay]
