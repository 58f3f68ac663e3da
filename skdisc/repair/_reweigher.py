"""Reweigher: trains a classifier with weights that make label and group independent."""

from typing import Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from skdisc._utils import _validation as check
from skdisc._utils._inputs import check_order, refuse_huge
from skdisc._utils._sample_weight import fit_weighted, takes_weights, weighted_step
from skdisc._utils._types import ArrayLike, Columns, FrameLike
from skdisc.preprocessing._rows import cells_of, frame_of, given_groups, warn_of_empty


def _has(method):
    """Return a check of whether the classifier inside has a method."""

    def check_it(self):
        getattr(getattr(self, "estimator_", self.estimator), method)
        return True

    return available_if(check_it)


class Reweigher(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    r"""Train a classifier with weights under which label and protected group are independent.

    A person of group g with label c has the weight

    .. math:: \frac{W_g W_c}{W \, W_{gc}}

    where W are the numbers (or given weights) of the people of the group, of the label, of both,
    and of all. Under these weights each label has the same rate in each group.

    A transformer cannot pass weights to the next step of a `Pipeline`. Therefore, this is a
    classifier around another one, or around a pipeline whose last step takes ``sample_weight``. Its
    own X has to contain the protected column; otherwise pass `sensitive_features` to `fit`.

    Parameters
    ----------
    estimator : classifier
        Its `fit`, or that of the last step of a pipeline, takes ``sample_weight``. It is cloned.
    protected : str, int or list of them, default=None
        Columns of X, by name or position. None: `sensitive_features` is passed to `fit`.

    Attributes
    ----------
    estimator_ : fitted classifier
    classes_ : ndarray of shape (n_classes,)
    weights_ : DataFrame
        The weight of each group (rows) with each label (columns), before given weights; NaN where
        there is no such person.

    Notes
    -----
    With metadata routing enabled, `sensitive_features` is requested by default. The weights go to
    the classifier, or to the last step of the pipeline, in any case; nothing else is routed on.

    References
    ----------
    F. Kamiran, T. Calders: Data preprocessing techniques for classification without discrimination.
    Knowledge and Information Systems 33, 2012. https://doi.org/10.1007/s10115-011-0463-8

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"woman": [1, 1, 1, 1, 0, 0, 0, 0], "points": [3, 1, 4, 1, 5, 9, 2, 6]})
    >>> y = np.array([0, 0, 0, 1, 1, 1, 1, 0])
    >>> Reweigher(LogisticRegression(), protected="woman").fit(X, y).weights_
              0         1
    1  0.666667  2.000000
    0  2.000000  0.666667
    """

    __metadata_request__fit = {"sensitive_features": True}
    _parameter_constraints = {
        "estimator": [HasMethods(["fit", "predict"])],
        "protected": "no_validation",
    }

    def __init__(self, estimator: BaseEstimator, *, protected: Columns | None = None) -> None:
        self.estimator = estimator
        self.protected = protected

    def fit(
        self,
        X: FrameLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        sensitive_features: ArrayLike | FrameLike | None = None,
    ) -> Self:
        """Fit the classifier with the weights.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of the weights; groups and labels are counted by them.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_columns)
            The protected values, if they are not in X. They take precedence over `protected`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If no protected column is given, or lengths differ.
        TypeError
            If the classifier takes no weights.

        Warns
        -----
        SkdiscWarning
            If a group has no row of some label.
        """
        self._validate_params()
        weight = self.weights(X, y, sample_weight, sensitive_features)
        X, y = self._rows(X, reset=False), check.check_labels(y)
        self.estimator_ = _fit_weighted(clone(self.estimator), X, y, weight)
        self.classes_ = self.estimator_.classes_
        return self

    def weights(
        self,
        X: FrameLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        sensitive_features: ArrayLike | FrameLike | None = None,
    ) -> np.ndarray:
        """Return the weight of each row, and keep `weights_`; for code that trains by itself.

        Parameters
        ----------
        X, y, sample_weight, sensitive_features
            As in `fit`.

        Returns
        -------
        ndarray of float, shape (n_samples,)

        Raises
        ------
        ValueError
            As in `fit`.
        """
        check_order(X=X, y=y, sample_weight=sample_weight, sensitive_features=sensitive_features)
        frame = frame_of(self, X)
        refuse_huge(frame)
        if y is None:
            raise ValueError("Reweigher requires y to be passed, but the target y is None.")
        y = check.check_labels(y, len(frame))
        check_classification_targets(y)
        base_weight = _check_sample_weight(
            sample_weight, frame, dtype=float, ensure_non_negative=True
        )
        group, values = given_groups(frame, self.protected, sensitive_features)
        classes, label = np.unique(y, return_inverse=True)
        cells = cells_of(group, label, (len(values), len(classes)), base_weight)
        warn_of_empty(cells, values, classes)
        expected = cells.sum(axis=1, keepdims=True) * cells.sum(axis=0) / cells.sum()
        ratio = np.divide(expected, cells, out=np.full(cells.shape, np.nan), where=cells > 0)
        names = [v[0] if len(v) == 1 else v for v in values]
        self.weights_ = pd.DataFrame(ratio, pd.Index(names, tupleize_cols=False), classes)
        return base_weight * np.nan_to_num(ratio)[group, label]

    def _rows(self, X, reset):
        """Return X as the classifier gets it: a frame as it is, or a checked array."""
        if isinstance(X, pd.DataFrame) or hasattr(X, "to_pandas"):
            return X
        return validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")

    def _ask(self, method, X):
        check_is_fitted(self, "estimator_")
        if isinstance(X, pd.DataFrame):
            validate_data(self, X, reset=False, skip_check_array=True)
        return getattr(self.estimator_, method)(self._rows(X, reset=False))

    def predict(self, X: FrameLike) -> np.ndarray:
        """Return the decision about each row, by the classifier that was fitted.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        return self._ask("predict", X)

    @_has("predict_proba")
    def predict_proba(self, X: FrameLike) -> np.ndarray:
        """Return the probabilities of the classes, an array of shape (n_samples, n_classes)."""
        return self._ask("predict_proba", X)

    @_has("predict_log_proba")
    def predict_log_proba(self, X: FrameLike) -> np.ndarray:
        """Return the logarithms of the probabilities, shape (n_samples, n_classes)."""
        return self._ask("predict_log_proba", X)

    @_has("decision_function")
    def decision_function(self, X: FrameLike) -> np.ndarray:
        """Return the scores of the classifier, shape (n_samples,) or (n_samples, n_classes)."""
        return self._ask("decision_function", X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        if inner.classifier_tags is not None:
            tags.classifier_tags = inner.classifier_tags
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags


def _fit_weighted(estimator, X, y, weight):
    """Fit an estimator, or the last step of a pipeline, with weights that it has to take."""
    last, _ = weighted_step(estimator)
    takes_any = hasattr(last, "estimator") and has_fit_parameter(last, "params")
    if not takes_weights(estimator) and not takes_any:
        raise TypeError(
            f"{type(last).__name__} does not take sample_weight in fit, so that weights have no "
            "effect on it. Use another classifier, or UniformSampler, which repeats rows."
        )
    return fit_weighted(estimator, X, y, weight)
