"""Mixins that give `fit` and `audit` weights, and clusters of rows."""

from typing import Self

from skdisc._results._audit_result import AuditResult
from skdisc._task._task import Request
from skdisc._utils._shared_sections import with_sections
from skdisc._utils._types import ArrayLike, FrameLike, Model

FIT = """
    Parameters
    ----------
    X : DataFrame or array-like of shape (n_samples, n_features)
        The rows under audit, raw columns.
    y : array-like of shape (n_samples,), optional
        Labels. May be left out when `model` is fitted.
    model : object, optional
        What is audited: a fitted estimator or pipeline, any object with ``predict``, a
        callable, or a `BlackBox`. An unfitted estimator is cloned and fitted.
    sample_weight : array-like of shape (n_samples,), optional
        How much each row counts, >= 0; see `weights`. Probability weights are scaled to a mean of
        1, and equal ones do nothing. An unfitted estimator is fitted with them if its ``fit``, or
        that of the last step of a pipeline, takes them.
    groups : array-like of shape (n_samples,), optional
        The cluster of each row, such as a household: rows of a cluster are not independent, so that
        variances are between clusters, and verdicts count clusters.

    Returns
    -------
    self

    Raises
    ------
    ValueError
        If a setting, a column, a label, a weight or a cluster is not allowed; the message names
        it.
    TypeError
        If a column holds a type that cannot be audited.
    ModelError
        If the model raises an error, or does not return one outcome per row.
"""
AUDIT = """
    Parameters
    ----------
    X : DataFrame or array-like of shape (n_samples, n_features), optional
        Rows with the columns of fit.
    y : array-like of shape (n_samples,), optional
        Their labels, needed where labels were audited.
    sample_weight : array-like of shape (n_samples,), optional
        How much each of these rows counts, as in `fit`.
    groups : array-like of shape (n_samples,), optional
        The cluster of each of these rows, as in `fit`.

    Returns
    -------
    AuditResult

    Raises
    ------
    NotFittedError
        If the detector is not fitted.
    ValueError
        If the rows do not have the columns of fit, or given decisions were audited.
"""


class WeightedMixin:
    """Adds ``sample_weight`` to `fit` and `audit`; rows of weight 0 are left out.

    Examples
    --------
    `_discover` gets the rows that have a weight, and weights with a mean of 1:

    >>> import pandas as pd
    >>> from skdisc.individual import Themis
    >>> class Weighted(WeightedMixin, Themis):
    ...     def _discover(self, task):
    ...         print(len(task.X), task.weight)
    ...         return super()._discover(task)
    >>> X = pd.DataFrame({"sex": ["F", "F", "M", "M"], "age": [20, 30, 40, 50]})
    >>> model = lambda rows: (rows["sex"] == "M").astype(int)
    >>> _ = Weighted(protected="sex").fit(X, model=model, sample_weight=[0, 1, 1, 4])
    3 [0.5 0.5 2. ]
    """

    _weighs = True
    __metadata_request__fit = {"model": True, "sample_weight": True}

    @with_sections(FIT)
    def fit(
        self,
        X: FrameLike,
        y: ArrayLike | None = None,
        model: Model | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Search for findings and keep them in ``result_``."""
        return self._fit(Request(X, y, model, sample_weight))

    @with_sections(AUDIT)
    def audit(
        self,
        X: FrameLike | None = None,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> AuditResult:
        """Return the result of `fit`, or measure again on new rows."""
        return self._audit(Request(X, y, None, sample_weight))


class ClusteredMixin:
    """Adds ``sample_weight`` and ``groups`` to `fit` and `audit`; rows of weight 0 are left out."""

    _weighs = True
    __metadata_request__fit = {"model": True, "sample_weight": True, "groups": True}

    @with_sections(FIT)
    def fit(
        self,
        X: FrameLike,
        y: ArrayLike | None = None,
        model: Model | None = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Search for findings and keep them in ``result_``."""
        return self._fit(Request(X, y, model, sample_weight, groups))

    @with_sections(AUDIT)
    def audit(
        self,
        X: FrameLike | None = None,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> AuditResult:
        """Return the result of `fit`, or measure again on new rows."""
        return self._audit(Request(X, y, None, sample_weight, groups))


class ClusteredRowsMixin:
    """Adds ``groups`` to `fit` and `audit` of detectors that take no sample weights."""

    __metadata_request__fit = {"model": True, "groups": True}

    @with_sections(FIT)
    def fit(
        self,
        X: FrameLike,
        y: ArrayLike | None = None,
        model: Model | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Search for findings and keep them in ``result_``."""
        return self._fit(Request(X, y, model, None, groups))

    @with_sections(AUDIT)
    def audit(
        self,
        X: FrameLike | None = None,
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> AuditResult:
        """Return the result of `fit`, or measure again on new rows."""
        return self._audit(Request(X, y, None, None, groups))
