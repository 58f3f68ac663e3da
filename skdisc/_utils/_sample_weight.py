"""Sample weights and clusters of rows: checks and weighted means."""

import numpy as np
import pandas as pd
from sklearn import config_context
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

_MOST_ROWS = 100_000_000
_MOST_PEOPLE = 2.0**62
_LEAST, _LARGEST = 1e-50, 1e50  # of weights farther apart, the squares are no numbers


def check_weights(weight, n):
    """Return sample weights as floats.

    `n`: number of rows. Raises ValueError if they are not finite numbers >= 0, one for each row, if
    a positive one is below 1e-50 or above 1e50, or if all are zero.
    """
    try:
        weight = np.asarray(weight, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError("sample_weight must be numbers, one for each row.") from error
    if weight.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weight.ndim}D array.")
    wrong = weight[~(np.isfinite(weight) & (weight >= 0))]
    if wrong.size:
        raise ValueError(f"sample_weight must be finite and >= 0; got {float(wrong[0])!r}.")
    extreme = weight[(weight > 0) & ((weight < _LEAST) | (weight > _LARGEST))]
    if extreme.size:
        raise ValueError(
            f"sample_weight must be 0 or between {_LEAST:g} and {_LARGEST:g}; got "
            f"{float(extreme[0])!r}. Rescale the weights: only their ratios matter."
        )
    if len(weight) != n:
        raise ValueError(f"sample_weight has {len(weight)} values for {n} rows.")
    if n and not weight.any():
        raise ValueError(
            "sample_weight is zero for every row; at least one weight must be positive."
        )
    return weight


def frequencies(weight):
    """Return sample weights that were checked as numbers of equal people, an array of int64.

    Raises ValueError if a weight is not a whole number, or their sum is beyond 2**62.
    """
    wrong = weight[weight % 1 != 0]
    if wrong.size:
        raise ValueError(
            "weights='frequency' takes whole numbers of repetitions as sample_weight; got "
            f"{float(wrong[0])!r}. Use weights='probability'."
        )
    if weight.sum() > _MOST_PEOPLE:
        raise ValueError(f"weights='frequency' counts up to 2**62 people; got {weight.sum():.3g}.")
    return weight.astype(np.int64)


def repetitions(weight, n):
    """Return the positions of n rows, each as often as its weight says.

    `n`: number of rows. Raises ValueError if a weight is not a whole number >= 0, or if there would
    be more than 100 million rows.
    """
    return positions(frequencies(check_weights(weight, n)))


def positions(frequency):
    """Return the position of each row as often as its frequency says, up to 100 million in all."""
    n, total = len(frequency), frequency.sum()
    if total > _MOST_ROWS:
        raise ValueError(
            f"weights='frequency' would repeat {n} rows to {total:.3g}; at most "
            f"{_MOST_ROWS:,} are allowed. Use weights='probability'."
        )
    return np.repeat(np.arange(n), frequency)


def mean(values, weight=None):
    """Return the weighted mean; NaN if all weights are zero."""
    if weight is not None and not np.any(weight):
        return float("nan")
    return float(np.average(values, weights=weight))


def weighted_step(estimator):
    """Return the last step of a pipeline, or else the estimator, and the prefix of its arguments.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> weighted_step(make_pipeline("passthrough", LogisticRegression()))
    (LogisticRegression(), 'logisticregression__')
    """
    prefix = ""
    while isinstance(estimator, Pipeline):
        name, estimator = estimator.steps[-1]
        prefix += f"{name}__"
    return estimator, prefix


def takes_weights(estimator):
    """Return whether `fit` of an estimator, or of the last step of a pipeline, takes weights."""
    last, _ = weighted_step(estimator)
    return hasattr(last, "fit") and has_fit_parameter(last, "sample_weight")


def fit_weighted(estimator, X, y, weight):
    """Fit an estimator, or the last step of a pipeline, with weights."""
    _, prefix = weighted_step(estimator)
    with config_context(enable_metadata_routing=False):  # which has steps request what they ignore
        return estimator.fit(X, y, **{f"{prefix}sample_weight": weight})


def rows_at(data, positions):
    """Return some rows of a table, a list, or anything that NumPy takes."""
    return _safe_indexing(data if hasattr(data, "__getitem__") else np.asarray(data), positions)


def known_clusters(groups, n_samples):
    """Return clusters, also those of a frame of one column, as a 1-d array.

    Raises ValueError unless there is one, not missing, for each row.
    """
    groups = np.asarray(groups)
    if groups.ndim == 2 and groups.shape[1] == 1:
        groups = groups[:, 0]
    if groups.shape != (n_samples,):
        raise ValueError(
            f"groups must hold the cluster of each of {n_samples} rows, got an array of shape "
            f"{groups.shape}."
        )
    if pd.isna(groups).any():
        raise ValueError("groups has missing values; every row needs its cluster.")
    return groups


def check_groups(groups, n_samples):
    """Return clusters as a 1-d array without missing values, one per row; they must be several."""
    groups = known_clusters(groups, n_samples)
    try:
        clusters = np.unique(groups)
    except TypeError as error:
        kinds = ", ".join(sorted({type(g).__name__ for g in groups}))
        raise ValueError(
            f"groups mixes types that cannot be sorted: {kinds}. Use one, such as strings."
        ) from error
    if n_samples > 1 and len(clusters) == 1:
        raise ValueError(
            f"groups has one cluster only ({str(clusters[0])!r}), and what varies within a "
            "cluster is no evidence. Pass the cluster of each row, or leave groups out."
        )
    return groups
