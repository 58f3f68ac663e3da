"""Gradients of the margin of a model with respect to its columns."""

import numpy as np
from scipy.special import expit
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)
from sklearn.svm import SVC

from skdisc._blackbox._torch import autograd_gradient

_PIECE = 2048  # rows passed through a network at once: few enough to stay in the cache
_ENCODERS = (OneHotEncoder, OrdinalEncoder, TargetEncoder)


def model_gradient(model, rows, favorable, kind="auto"):
    """Return the gradient of the margin towards a favorable label.

    `model`, `rows` and `favorable`: as in `analytic_gradient` and `autograd_gradient`. `kind`: one
    of "auto", "analytic", "autograd". Returns an ndarray of float of shape (n_rows, n_columns):
    None if no gradient of that kind is available.
    """
    gradient = None
    if kind in ("auto", "analytic"):
        gradient = analytic_gradient(model, rows, favorable)
    if gradient is None and kind in ("auto", "autograd"):
        gradient = autograd_gradient(model, rows, favorable)
    return gradient


def analytic_gradient(model, rows, favorable):
    r"""Return the gradient of the margin towards a favorable label, by formula.

    The margin is :math:`\max_{k \in F} z_k - \max_{k \notin F} z_k` of the scores :math:`z` (linear
    predictors, log joint probabilities, or the output layer of a network before its activation);
    with two classes it is the decision function, or the log odds.

    Parameters
    ----------
    model : estimator
        A linear classifier, a two-class SVC, GaussianNB, MLPClassifier, or a pipeline that ends
        with one of these after scalers, PCA, encoders and column transformers.
    rows : DataFrame or ndarray of shape (n_rows, n_columns)
        Rows as the model expects them.
    favorable : list
        The favorable labels.

    Returns
    -------
    ndarray of float, shape (n_rows, n_columns), or None
        In units of the margin per unit of the column; NaN for columns that are encoded. None for
        any other model.
    """
    before, last = last_step(model)
    gradient_of = _gradient_of(last)
    if gradient_of is None or not all(_can_pull(step) for _, step in getattr(before, "steps", [])):
        return None
    inputs = rows if before is None else before.transform(rows)
    inputs = inputs.toarray() if hasattr(inputs, "toarray") else np.asarray(inputs)
    is_favorable = np.array([c in favorable for c in np.asarray(last.classes_).tolist()])
    if gradient_of is not _network:  # it has its own precision
        inputs = np.asarray(inputs, dtype=float)
    gradient = gradient_of(last, inputs, is_favorable)
    return gradient if before is None else _pull_pipeline(before, gradient)


def last_step(model):
    """Return the steps of a model before the last one (or None), and the last one."""
    while isinstance(model, FrozenEstimator):
        model = model.estimator
    if not isinstance(model, Pipeline):
        return None, model
    before, last = model[:-1], model[-1]
    while isinstance(last, FrozenEstimator):
        last = last.estimator
    return (before if len(before) else None), last


def _gradient_of(last):
    """Return the function that computes the gradient of an estimator, None if there is none."""
    if isinstance(last, LinearClassifierMixin) and hasattr(last, "coef_"):
        return _linear
    if isinstance(last, GaussianNB):
        return _bayes
    if isinstance(last, MLPClassifier) and not last._label_binarizer.y_type_.startswith("multil"):
        return _network
    has_slope = isinstance(last, SVC) and last.kernel in ("linear", "rbf", "poly", "sigmoid")
    if has_slope and len(last.classes_) == 2 and isinstance(last.dual_coef_, np.ndarray):
        return _kernel
    return None


def _rivals(scores, is_favorable):
    """Return, per row, the favorable and the unfavorable class with the highest score."""
    masks = is_favorable, ~is_favorable
    return [np.where(mask, scores, -np.inf).argmax(axis=1) for mask in masks]


def _linear(last, X, is_favorable):
    weights = np.atleast_2d(last.coef_)
    if len(weights) == 1:
        return np.repeat(_signed(weights, is_favorable), len(X), axis=0)
    scores = X @ weights.T + last.intercept_
    favorable, unfavorable = _rivals(scores, is_favorable)
    return weights[favorable] - weights[unfavorable]


def _signed(towards_last, is_favorable):
    """Turn a gradient towards the second of two classes into one towards the favorable class."""
    return towards_last * (float(is_favorable[1]) - float(is_favorable[0]))


def _bayes(last, X, is_favorable):
    far = np.array([((X - m) ** 2 / v + np.log(v)).sum(axis=1) for m, v in _normals(last)]).T
    favorable, unfavorable = _rivals(np.log(last.class_prior_) - far / 2, is_favorable)
    pull = [(last.theta_[k] - X) / last.var_[k] for k in (favorable, unfavorable)]
    return pull[0] - pull[1]


def _normals(last):
    return zip(last.theta_, last.var_, strict=True)


def _kernel(last, X, is_favorable):
    vectors, weights, scale = last.support_vectors_, last.dual_coef_[0], last._gamma
    if last.kernel == "linear":
        gradient = np.repeat((weights @ vectors)[None, :], len(X), axis=0)
    elif last.kernel == "rbf":
        near = (X**2).sum(axis=1)[:, None] - 2 * X @ vectors.T + (vectors**2).sum(axis=1)
        pull = np.exp(-scale * near) * weights * -2 * scale
        gradient = pull.sum(axis=1)[:, None] * X - pull @ vectors
    else:
        inner = scale * X @ vectors.T + last.coef0
        slope = last.degree * inner ** (last.degree - 1)
        if last.kernel == "sigmoid":
            slope = 1 - np.tanh(inner) ** 2
        gradient = scale * (slope * weights) @ vectors
    return _signed(gradient, is_favorable)


_SLOPES = {
    "identity": np.ones_like,
    "relu": lambda h: h > 0,
    "tanh": lambda h: 1 - h**2,
    "logistic": lambda h: h * (1 - h),
}
_ACTIVATIONS = {
    "identity": lambda z: z,
    "relu": lambda z: np.maximum(z, np.zeros_like(z), out=z),  # slower with the number 0
    "tanh": np.tanh,
    "logistic": expit,
}


def _network(last, X, is_favorable):
    precision = np.result_type(last.coefs_[0], np.float32)  # a float32 network stays in float32
    pieces = np.array_split(X, -(-len(X) // _PIECE) or 1)
    parts = [_network_piece(last, piece.T.astype(precision), is_favorable) for piece in pieces]
    return np.concatenate(parts, axis=1, dtype=float).T


def _network_piece(last, columns, is_favorable):
    """Return the gradient with one row per column: sums along few columns are slow."""
    layers, activate = [columns], _ACTIVATIONS[last.activation]
    for weights, shift in zip(last.coefs_[:-1], last.intercepts_[:-1], strict=True):
        layer = weights.T @ layers[-1]
        layer += np.reshape(shift, (-1, 1))
        layers.append(activate(layer))
    weights, shift = last.coefs_[-1], last.intercepts_[-1]
    if weights.shape[1] == 1:
        gradient = np.repeat(_signed(weights, is_favorable), columns.shape[1], axis=1)
    else:
        favorable, unfavorable = _rivals((weights.T @ layers[-1]).T + shift, is_favorable)
        gradient = weights[:, favorable] - weights[:, unfavorable]
    # Backpropagation: slopes are functions of the activated layer, so z is not stored.
    for weights, layer in zip(last.coefs_[-2::-1], layers[:0:-1], strict=True):
        gradient *= _SLOPES[last.activation](layer)
        gradient = weights @ gradient
    return gradient


def _factor(step):
    """Return the factors by which a scaler multiplies its columns."""
    if isinstance(step, MinMaxScaler):
        return step.scale_
    return 1.0 if getattr(step, "scale_", None) is None else 1.0 / step.scale_


def _can_pull(step):
    """Return True if the gradient can be propagated back through a preprocessing step."""
    if isinstance(step, Pipeline):
        return all(_can_pull(s) for _, s in step.steps)
    if isinstance(step, ColumnTransformer):
        return all(_can_pull(s) for _, s, _ in step.transformers_)
    if isinstance(step, FunctionTransformer):
        return step.func is None
    plain = (StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, PCA, *_ENCODERS)
    return step in ("passthrough", "drop", None) or isinstance(step, plain)


def _pull(step, gradient):
    """Turn the gradient with respect to the output of a step into that of its input."""
    if isinstance(step, Pipeline):
        return _pull_pipeline(step, gradient)
    if isinstance(step, ColumnTransformer):
        return _pull_columns(step, gradient)
    if isinstance(step, PCA):
        spread = np.sqrt(step.explained_variance_) if step.whiten else 1.0
        return gradient / spread @ step.components_
    if isinstance(step, _ENCODERS):
        return np.full((len(gradient), step.n_features_in_), np.nan)
    return gradient if isinstance(step, (str, FunctionTransformer)) else gradient * _factor(step)


def _pull_pipeline(pipeline, gradient):
    """Pull the gradient through the steps of a pipeline, the last one first."""
    for _, step in reversed(pipeline.steps):
        gradient = gradient if step is None else _pull(step, gradient)
    return gradient


def _pull_columns(step, gradient):
    """Pull the gradient through the parts of a column transformer and add them up."""
    pulled = np.zeros((len(gradient), step.n_features_in_))
    for name, part, columns in step.transformers_:
        if part != "drop" and np.size(columns):
            positions = _positions(step, columns)
            pulled[:, positions] += _pull(part, gradient[:, step.output_indices_[name]])
    return pulled


def _positions(step, columns):
    """Return the positions of columns given by name, position, slice or mask."""
    positions = np.arange(step.n_features_in_)
    if isinstance(columns, slice):
        return positions[columns]
    columns = np.atleast_1d(columns)
    if columns.dtype.kind in "OUT":
        place = {name: i for i, name in enumerate(step.feature_names_in_)}
        return np.array([place[c] for c in columns])
    return positions[columns]
