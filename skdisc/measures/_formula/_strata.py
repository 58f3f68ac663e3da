"""Strata: rows that are similar in columns that may explain decisions."""

import numpy as np
import pandas as pd

from skdisc._stats._ranks import inner_quantiles
from skdisc._utils._inputs import as_frame, factorized, refuse_huge
from skdisc._utils._types import ArrayLike, FrameLike, Model, RandomState
from skdisc._utils._validation import of_numbers
from skdisc.measures._formula._settings import check_settings


def strata_codes(explanatory):
    """Return the stratum of each row as codes 0, 1, ... of the distinct rows of `explanatory`.

    `explanatory`: columns that explain decisions, or the output of `cluster_strata` or
    `propensity_strata`. Missing values form strata of their own. Raises ValueError if `explanatory`
    is None.
    """
    if explanatory is None:
        raise ValueError(
            "explanatory is None. Pass the columns that explain decisions, or the strata that "
            "cluster_strata or propensity_strata return."
        )
    columns = explanatory if hasattr(explanatory, "iloc") else pd.DataFrame(np.asarray(explanatory))
    frame = columns.to_frame() if columns.ndim == 1 else columns
    if frame.shape[1] == 0:
        return np.zeros(len(frame), dtype=np.int64)
    codes = [
        factorized(frame.iloc[:, j], "A column of strata", use_na_sentinel=False)[0]
        for j in range(frame.shape[1])
    ]
    return np.unique(np.stack(codes), axis=1, return_inverse=True)[1].ravel().astype(np.int64)


def cluster_strata(
    X: FrameLike, n_clusters: int = 8, *, random_state: RandomState = 0
) -> np.ndarray:
    """Return the k-means cluster of each row: a stratum of similar rows.

    Numbers are standardized; categories become indicators over the square root of 2, so that two
    different categories are at distance 1.

    Parameters
    ----------
    X : DataFrame or array-like of shape (n, n_columns)
    n_clusters : int, default=8
    random_state : int, RandomState instance or None, default=0

    Returns
    -------
    strata : ndarray of int, shape (n,)

    Raises
    ------
    ValueError
        If X has missing numbers, or fewer rows than clusters.

    Examples
    --------
    >>> cluster_strata([[0.0], [0.1], [9.0], [9.1]], n_clusters=2).tolist() in (
    ...     [0, 0, 1, 1],
    ...     [1, 1, 0, 0],
    ... )
    True
    """
    from sklearn.cluster import KMeans

    check_settings("cluster_strata", n_clusters=n_clusters)

    model = KMeans(int(n_clusters), n_init=10, random_state=random_state)
    return model.fit_predict(design(X)).astype(np.int64)


def propensity_strata(
    X: FrameLike, protected: ArrayLike, n_strata: int = 5, *, estimator: Model | None = None
) -> np.ndarray:
    """Return the stratum of each row by its probability of belonging to the protected group.

    A classifier is fitted to the protected values; rows are split at quantiles of the predicted
    probability (:doi:`10.1093/biomet/70.1.41`).

    Parameters
    ----------
    X : DataFrame or array-like of shape (n, n_columns), without the protected column
    protected : array-like of shape (n,), two values
    n_strata : int, default=5
    estimator : classifier with predict_proba, default=None; None: logistic regression

    Returns
    -------
    strata : ndarray of int, shape (n,)

    Raises
    ------
    ValueError
        If `protected` has not two values, or the classifier rejects X.

    Examples
    --------
    >>> propensity_strata([[1], [2], [3], [4]], ["m", "m", "f", "f"], n_strata=2).tolist()
    [1, 1, 0, 0]
    """
    from sklearn.base import clone
    from sklearn.linear_model import LogisticRegression

    check_settings("propensity_strata", n_strata=n_strata)
    if np.ndim(protected) != 1:
        raise ValueError(f"protected must be one column, got shape {np.shape(protected)}.")
    code, values = factorized(np.asarray(protected), "protected", sort=True)
    if len(values) != 2:
        raise ValueError(f"propensity_strata needs two groups, got {list(values)!r}")
    model = LogisticRegression(max_iter=1000) if estimator is None else clone(estimator)
    data = design(X) if estimator is None else X
    chance = model.fit(data, code).predict_proba(data)[:, 1]
    edges = inner_quantiles(chance, n_strata)
    return np.searchsorted(edges, chance, side="left").astype(np.int64)


def design(X):
    """Return columns as numbers: standardized, or indicators over the square root of 2."""
    frame = as_frame(X).infer_objects()
    refuse_huge(frame)
    if not len(frame) or not frame.shape[1]:
        raise ValueError(f"X must have rows and columns, got {frame.shape[0]} × {frame.shape[1]}.")
    parts = []
    for j in range(frame.shape[1]):
        column = frame.iloc[:, j]
        if of_numbers(column.dtype):
            values = column.to_numpy(dtype=float, na_value=np.nan)
            if n_missing := int(np.isnan(values).sum()):
                raise ValueError(
                    f"Column {column.name!r} of X has {n_missing} missing values. "
                    "Impute them, or drop the rows."
                )
            spread = values.std()
            parts.append(((values - values.mean()) / (spread if spread > 0 else 1.0))[:, None])
        else:
            what = f"Column {column.name!r} of X"
            code = factorized(column, what, use_na_sentinel=False)[0]
            parts.append(np.eye(code.max() + 1)[code] / np.sqrt(2))
    return np.hstack(parts)
