"""BlackBox: a wrapper of the model under audit, or of decisions already taken."""

import sys
import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np
import pandas as pd
from sklearn.base import is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from skdisc._blackbox._training import Training
from skdisc._utils._favorable import favorable_labels
from skdisc._utils._inputs import check_order, sorted_unique
from skdisc._utils._sample_weight import check_groups
from skdisc._utils._types import ArrayLike, Estimator, FrameLike, Model
from skdisc._utils._validation import check_decisions, check_labels
from skdisc.exceptions import SurrogateWarning


class BlackBox:
    """A wrapper of a model, or of decisions already taken, that is never mistaken for data.

    Use it to pass a fitted model through scikit-learn's searches,
    ``GridSearchCV(detector, grid).fit(X, y, model=BlackBox(model))``, or to audit decisions
    without a model, ``detector.fit(X, y, BlackBox(decisions=d))``.

    Parameters
    ----------
    model : object, optional
        A fitted estimator or pipeline, any object with ``predict``, ``predict_proba`` or
        ``decision_function``, or a callable that takes rows and returns one decision per row.
    decisions : array-like of shape (n_samples,), optional
        One decision per row of the X under audit, in its order. New rows cannot be queried.
    chunk_size : int, default=100_000
        Number of rows passed to the model at once at most. Results do not depend on it.
    n_refits : int, optional
        Largest number of models, trained on rows with redrawn protected columns, that a model
        trained here is compared with. By default as many as the level takes, 19 at .05; with
        fewer, "disparity found" is not possible.
    n_jobs : int, optional
        Number of threads that share large queries, and models that are trained again. Results do
        not depend on it. By default one.

    Attributes
    ----------
    index : Index or None
        Index of `decisions` if they were passed as a Series.
    training : Training or None
        How the model was trained, if skdisc trained it.

    Raises
    ------
    TypeError
        If neither or both of `model` and `decisions` are passed, or `model` has no method that
        predicts.
    ValueError
        If `chunk_size` is not a positive integer, `n_refits` a negative number, `n_jobs` is 0, or
        `decisions` contain missing or continuous values, or a single class.

    Examples
    --------
    >>> BlackBox(lambda X: X["income"] > 50)
    BlackBox(function)
    """

    def __init__(
        self,
        model: Model | None = None,
        *,
        decisions: ArrayLike | None = None,
        chunk_size: int = 100_000,
        n_refits: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        if (model is None) == (decisions is None):
            raise TypeError("BlackBox needs either a model or decisions=, and not both.")
        if "torch" in sys.modules:  # a bare network is possible
            from skdisc._blackbox._torch import as_model

            model = as_model(model)
        self.index = decisions.index if isinstance(decisions, pd.Series) else None
        self.training = None
        if isinstance(model, BlackBox):
            self.index, self.training = model.index, model.training
            n_refits = model.n_refits if n_refits is None else n_refits
            n_jobs = model.n_jobs if n_jobs is None else n_jobs
            model, decisions = model.model, model.decisions
        if model is not None and not callable(model) and deciding_method(model) is None:
            are_decisions = hasattr(model, "__array__") or isinstance(model, (list, tuple))
            hint = " Decisions already made are passed as BlackBox(decisions=...)."
            raise TypeError(
                f"A {type(model).__name__} cannot be audited: it has none of predict, "
                "predict_proba, decision_function and is not callable."
                + (hint if are_decisions else "")
            )
        if not isinstance(chunk_size, (int, np.integer)) or chunk_size < 1:
            raise ValueError(f"chunk_size must be an integer >= 1, got {chunk_size!r}.")
        if n_refits is not None and (not isinstance(n_refits, (int, np.integer)) or n_refits < 0):
            raise ValueError(f"n_refits must be an integer >= 0 or None, got {n_refits!r}.")
        if n_jobs is not None and (not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0):
            raise ValueError(
                f"n_jobs must be a number of threads, -1 for as many as there are processors, or "
                f"None, got {n_jobs!r}."
            )
        if decisions is not None:
            decisions = check_labels(decisions, what="decisions")
            check_decisions(decisions, what="decisions", least_classes=1)
        self.model, self.decisions, self.chunk_size = model, decisions, int(chunk_size)
        self.n_refits, self.n_jobs = n_refits, n_jobs

    @classmethod
    def trained(
        cls,
        estimator: Estimator,
        X: FrameLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        n_refits: int | None = None,
        n_jobs: int | None = None,
    ) -> Self:
        """Train a model, to be audited on other rows.

        A model is one draw of what could have been learned from such rows. Detectors train it again
        on these rows, with protected columns drawn anew, and count only disparities that are larger
        than those of models which could learn nothing from these columns.

        Parameters
        ----------
        estimator : estimator
            Cloned before it is fitted.
        X : DataFrame or ndarray of shape (n_samples, n_features)
            The rows to train on, with the columns of the rows under audit.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            For estimators that accept it.
        groups : array-like of shape (n_samples,), optional
            The cluster of each row, such as its household. Values drawn anew resemble each other
            within clusters as those of X do.
        n_refits, n_jobs : int, optional
            As of `BlackBox`.

        Returns
        -------
        BlackBox

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> BlackBox.trained(LogisticRegression(), np.array([[0], [1], [2]]), [0, 0, 1])
        BlackBox(LogisticRegression)
        """
        check_order(X=X, y=y, sample_weight=sample_weight, groups=groups)
        groups = None if groups is None else check_groups(groups, len(X))
        training = Training(estimator, X, np.asarray(y), sample_weight, groups=groups)
        return _trained(training, n_refits=n_refits, n_jobs=n_jobs)

    def __repr__(self):
        what = (
            f"decisions={len(self.decisions)} rows"
            if self.model is None
            else type(self.model).__name__
        )
        return f"BlackBox({what})"

    def aligned(self, X: FrameLike, stay: np.ndarray) -> "BlackBox":
        """Return the box with the decisions about some rows of X only.

        Parameters
        ----------
        X : DataFrame or array-like
            The rows as they were passed.
        stay : ndarray of bool, shape (n_rows,)

        Returns
        -------
        BlackBox
            The box itself if it holds a model.

        Raises
        ------
        ValueError
            If the decisions are a Series whose index differs from that of X.
        """
        if self.decisions is None or len(self.decisions) != len(stay):
            return self
        if (
            self.index is not None
            and isinstance(X, pd.DataFrame)
            and not self.index.equals(X.index)
        ):
            raise ValueError(
                "BlackBox(decisions=...) holds a Series whose index is not that of X. Put both in "
                "the same order (decisions.reindex(X.index)), or pass decisions.to_numpy()."
            )
        return self if stay.all() else BlackBox(decisions=self.decisions[stay])

    @property
    def classes(self) -> list | None:
        """The labels that the model can return, a list; None if unknown."""
        if self.model is None:
            return sorted_unique(self.decisions)
        classes = getattr(self.model, "classes_", None)
        return None if classes is None else np.asarray(classes).tolist()

    def gradient(self, X: FrameLike, favorable: list | None = None) -> np.ndarray | None:
        """Return the gradient of the margin of a favorable decision with respect to the columns.

        Parameters
        ----------
        X : DataFrame or ndarray of shape (n_rows, n_columns)
            Rows as the model expects them.
        favorable : list, optional
            The labels it rises toward; by default 1 or True.

        Returns
        -------
        ndarray of float, shape (n_rows, n_columns), or None
            In units of the margin (decision function or log odds) per unit of the column; NaN for
            columns that the model encodes. None if the model has no gradient.
        """
        from skdisc._blackbox._gradient import model_gradient  # here: it is slow to import

        favorable = favorable or favorable_labels(None, self.classes)[0]
        return model_gradient(self.model, X, favorable)

    @property
    def has_margins(self) -> bool:
        """Whether the model returns margins or probabilities, not decisions only."""
        return margin_method(self) in ("decision_function", "predict_proba")

    @property
    def has_probabilities(self) -> bool:
        """Whether the model returns probabilities of its classes."""
        return hasattr(self.model, "predict_proba") and self.classes is not None


def deciding_method(model):
    """Return the name of the method that decides, None if there is none."""
    for name in ("predict", "predict_proba", "decision_function"):
        if hasattr(model, name):
            return name
    return None


def margin_method(box):
    """Return the name of the method whose output is closest to a margin."""
    if box.classes is not None:
        for name in ("decision_function", "predict_proba"):
            if hasattr(box.model, name):
                return name
    return "predict" if hasattr(box.model, "predict") else None


@dataclass(frozen=True)
class AuditedModel:
    """What is audited, and which of its labels are favorable.

    Parameters
    ----------
    box : BlackBox or None
        None if the labels themselves are audited.
    kind : {"model", "refit", "surrogate", "decisions", "labels"}
    labels : list or None
        All labels; None if they are not known, as for a regressor.
    is_assumed : bool
        Whether the favorable label was chosen by default.
    """

    box: BlackBox | None
    kind: str
    labels: list | None
    favorable: list
    is_assumed: bool = False

    def retrained(self, rows: pd.DataFrame) -> "AuditedModel":
        """Return the same with its model trained again, on other rows of the training data.

        `rows`: as many rows and columns as ``box.training.rows``.
        """
        model = self.box.training.again(rows)
        box = BlackBox(model, chunk_size=self.box.chunk_size, n_jobs=self.box.n_jobs)
        return replace(self, box=box)


def resolve(model, estimator, X, y, surrogate_X=None, numeric=False, weight=None, groups=None):
    """Determine what is audited: a model as it is, a refit, a surrogate, or the labels.

    Parameters
    ----------
    model, estimator : object or None
        The model to audit; an estimator to fit if there is no model.
    X, y
        Data that an unfitted estimator is fitted on.
    surrogate_X : DataFrame or None
        Data that a surrogate is fitted on; None if the labels can be audited instead.
    numeric : bool, default=False
        Whether labels may be any numbers, as for a regressor.
    weight : ndarray or None
        Sample weights, for estimators that accept ``sample_weight``.
    groups : ndarray or None
        The cluster of each row, for refits.

    Returns
    -------
    box : BlackBox or None
        None if the labels themselves are audited.
    audited : {"model", "refit", "surrogate", "decisions", "labels"}

    Raises
    ------
    ValueError
        If an estimator must be fitted, and y is missing, continuous or has one class only.
    """
    fit = partial(_fitted, X=X, y=y, numeric=numeric, weight=weight, groups=groups)
    if isinstance(model, BlackBox):
        if model.model is None:
            return model, "decisions"
        if model.training is not None:
            return model, "refit"
        if _is_fitted(model.model):
            return model, "model"
        settings = {n: getattr(model, n) for n in ("chunk_size", "n_refits", "n_jobs")}
        return fit(model.model, **settings), "refit"
    if model is not None:
        if _is_fitted(model):
            return BlackBox(model), "model"
        return fit(model), "refit"
    if estimator is not None:
        if isinstance(estimator, FrozenEstimator):
            return BlackBox(estimator), "model"
        if _is_fitted(estimator):
            warnings.warn(
                f"estimator={type(estimator).__name__} is already fitted, but a fresh copy of it "
                "is fitted and audited. To audit it as it is, call fit(X, y, model=...) or wrap it "
                "in sklearn.frozen.FrozenEstimator.",
                SurrogateWarning,
                stacklevel=_outside(),
            )
        return fit(estimator), "refit"
    if surrogate_X is not None or X is None:
        from skdisc._blackbox._default_models import surrogate  # here: it is slow to import

        return _fitted(surrogate(), surrogate_X, y, groups=groups), "surrogate"
    return None, "labels"


def is_trained(model: object, estimator: object) -> bool:
    """Return True if `resolve` trains a model, or one was trained here before."""
    if isinstance(model, BlackBox):
        wrapped = model.model
        return model.training is not None or (wrapped is not None and not _is_fitted(wrapped))
    if model is not None:
        return not _is_fitted(model)
    return estimator is not None and not isinstance(estimator, FrozenEstimator)


def _is_fitted(model):
    """Return True if a model is fitted, or is not an estimator that can be fitted."""
    if not (hasattr(model, "fit") and hasattr(model, "get_params")):
        return True
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    except AttributeError:  # like an estimator, but not one of scikit-learn
        return any(name.endswith("_") and not name.endswith("__") for name in vars(model))
    return True


def _outside():
    """Return the stack level, counted from the caller, of the first frame outside this package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("skdisc."):
        frame, level = frame.f_back, level + 1
    return level


def _fitted(estimator, X, y, numeric=False, weight=None, groups=None, **settings):
    """Return the BlackBox of a fitted clone of the estimator, from the cache if there is one."""
    if y is None:
        raise ValueError(
            "This detector requires y to be passed, but the target y is None: there is no fitted "
            "model, and one cannot be trained without labels. Pass a fitted model as model=, or y."
        )
    if not numeric and not is_regressor(estimator):
        check_decisions(y)
    return _trained(Training(estimator, X, y, weight, groups), **settings)


def _trained(training, **settings):
    """Return the BlackBox of a model that is trained here."""
    box = BlackBox(training.model(), **settings)
    box.training = training
    return box
