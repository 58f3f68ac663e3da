"""Find out what is audited: a model as it is, a refit, a surrogate, or the labels."""

import sys
import warnings
from dataclasses import dataclass

from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted, check_memory, has_fit_parameter

from skdisc._blackbox._blackbox import BlackBox
from skdisc._utils._validation import check_decisions
from skdisc.exceptions import SurrogateWarning


@dataclass(frozen=True)
class AuditedModel:
    """What is audited, and which of its labels are favorable.

    Parameters
    ----------
    box : BlackBox or None
        None when the labels themselves are audited.
    kind : {"model", "refit", "surrogate", "decisions", "labels"}
    labels : list or None
        All labels; None where they are not known, as those of a regressor.
    favorable : list
    is_assumed : bool
        Whether the favorable label was chosen by default.
    """

    box: BlackBox | None
    kind: str
    labels: list | None
    favorable: list
    is_assumed: bool = False


def resolve(model, estimator, X, y, surrogate_X=None, memory=None, numeric=False, weight=None):
    """Find out what is audited: a model as it is, a refit, a surrogate, or the labels.

    Parameters
    ----------
    model, estimator : object or None
        The model to audit; an estimator to fit.
    X, y
        What an unfitted one is fitted on.
    surrogate_X : DataFrame or None
        What a surrogate is fitted on; None where the labels can be audited instead.
    memory : str, joblib.Memory or None
    numeric : bool, default=False
        Whether labels may be any numbers, as those of a regressor.
    weight : ndarray or None
        Of the rows; for estimators that take ``sample_weight``.

    Returns
    -------
    box : BlackBox or None
        None when the labels themselves are audited.
    audited : {"model", "refit", "surrogate", "decisions", "labels"}
    """
    if isinstance(model, BlackBox):
        if model.model is None:
            return model, "decisions"
        if _is_fitted(model.model):
            return model, "model"
        return BlackBox(
            _train(model.model, X, y, memory, numeric, weight), chunk_size=model.chunk_size
        ), "refit"
    if model is not None:
        if _is_fitted(model):
            return BlackBox(model), "model"
        return BlackBox(_train(model, X, y, memory, numeric, weight)), "refit"
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
        return BlackBox(_train(estimator, X, y, memory, numeric, weight)), "refit"
    if surrogate_X is not None or X is None:
        from skdisc._blackbox._default_models import (
            surrogate,  # here, for it imports much of scikit-learn
        )

        return BlackBox(_train(surrogate(), surrogate_X, y, memory)), "surrogate"
    return None, "labels"


def _is_fitted(model):
    if not (hasattr(model, "fit") and hasattr(model, "get_params")):
        return True
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    except AttributeError:  # no estimator of scikit-learn's, though much like one
        return any(name.endswith("_") and not name.endswith("__") for name in vars(model))
    return True


def _outside():
    """Return how many frames above its caller the first one outside of this package is."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("skdisc."):
        frame, level = frame.f_back, level + 1
    return level


def _train(estimator, X, y, memory, numeric=False, weight=None):
    if y is None:
        raise ValueError(
            "This detector requires y to be passed, but the target y is None: there is no fitted "
            "model, and one cannot be trained without labels. Pass model= a fitted model, or y."
        )
    if not numeric and not is_regressor(estimator):
        check_decisions(y)
    return check_memory(memory).cache(_fit)(clone(estimator), X, y, weight)


def _fit(estimator, X, y, weight):
    if weight is not None and has_fit_parameter(estimator, "sample_weight"):
        return estimator.fit(X, y, sample_weight=weight)
    return estimator.fit(X, y)
