"""Sample weights: checks and weighted means."""

import numpy as np


def check_weights(weight, n):
    """Return sample weights as floats.

    Parameters
    ----------
    weight : array-like of shape (n,)
    n : int
        Number of rows.

    Returns
    -------
    weight : ndarray of float, shape (n,)

    Raises
    ------
    ValueError
        If they are not finite numbers >= 0, one for each row, or if all are zero.
    """
    try:
        weight = np.asarray(weight, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must be numbers, one for each row: {error}") from error
    if weight.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weight.ndim}D array.")
    wrong = weight[~(np.isfinite(weight) & (weight >= 0))]
    if wrong.size:
        raise ValueError(f"sample_weight must be finite and >= 0; got {float(wrong[0])!r}.")
    if len(weight) != n:
        raise ValueError(f"sample_weight has {len(weight)} values for {n} rows.")
    if n and not weight.any():
        raise ValueError(
            "sample_weight is zero for every row; at least one weight must be positive."
        )
    return weight


def mean(values, weight=None):
    """Return the weighted mean; NaN if all weights are zero."""
    if weight is not None and not np.any(weight):
        return float("nan")
    return float(np.average(values, weights=weight))
