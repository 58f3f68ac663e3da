"""Measures of individual fairness: the twin test and the Lipschitz ratio."""

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist

from skdisc import _stats
from skdisc._neighbors._mixed_space import MixedSpace
from skdisc._utils._inputs import distinct_values, in_order, refuse_twice
from skdisc._utils._types import ArrayLike, Columns, FrameLike, Labels, Model
from skdisc._utils._validation import check_protected
from skdisc.measures._formula._decisions import check_rows, protected_columns
from skdisc.measures._formula._settings import check_settings
from skdisc.measures._formula._target import check_target

_CHUNK = 1000


def twin_test(
    estimator: Model, X: pd.DataFrame, *, protected: Columns, min_gap: float = 0.0
) -> float:
    r"""Share of rows whose decision changes with the protected values alone.

    .. math:: \frac1n \#\{i : \max_a f(x_i, a) - \min_a f(x_i, a) > g\}

    over all values a of the protected column, or combinations of values, that occur in X.

    Parameters
    ----------
    estimator : object with predict
        The model.
    X : DataFrame
    protected : str or list of str, columns of X
    min_gap : float, default=0.0; g, tolerated difference of decisions if they are numbers

    Returns
    -------
    value : float, a share; NaN if X has a single protected value

    Raises
    ------
    TypeError
        If `estimator` has no ``predict``.
    ValueError
        If `protected` names a column that X does not have, X has no rows, `min_gap` is negative, or
        the model does not return one decision for each row.

    Notes
    -----
    0 without direct discrimination. The measure does not say which group is worse off, and does not
    detect discrimination through other columns.

    References
    ----------
    Galhotra, Brun and Meliou (2017), :doi:`10.1145/3106237.3106277`.

    Examples
    --------
    A bank that requires 5 more from women: one of three decisions depends on it.

    >>> class Bank:
    ...     def predict(self, X):
    ...         return (X.income - 5 * (X.sex == "f") >= 50).astype(int)
    >>> people = pd.DataFrame({"income": [40, 52, 90], "sex": ["f", "m", "m"]})
    >>> round(twin_test(Bank(), people, protected="sex"), 4)
    0.3333
    """
    report = twin_test_report(estimator, X, protected=protected, min_gap=min_gap)
    return float(report["estimate"].iloc[0])


def twin_test_report(
    estimator: Model,
    X: pd.DataFrame,
    *,
    protected: Columns,
    min_gap: float = 0.0,
    significance: float = 0.05,
) -> pd.DataFrame:
    """Twin test of all rows, and of the rows of each protected value.

    Parameters
    ----------
    estimator, X, protected, min_gap : as in `twin_test`
    significance : float, default=0.05

    Returns
    -------
    table : DataFrame
        Columns group ("everyone" for all rows), n, estimate, ci_low, ci_high (Wilson), reason.

    Raises
    ------
    TypeError
        If `estimator` has no ``predict``.
    ValueError
        If `protected` names a column that X does not have, X has no rows, `min_gap` is negative, or
        the model does not return one decision for each row.

    See Also
    --------
    twin_test : The measure as one number.
    """
    if not isinstance(X, pd.DataFrame) or not len(X):
        raise ValueError(f"X must be a DataFrame with rows, got {type(X).__name__}.")
    check_settings("twin_test", min_gap=min_gap, significance=significance)
    refuse_twice(X)
    names = check_protected(protected, list(X.columns))
    for name in names:
        distinct_values(X[name])  # raises for values that cannot be compared
    values = X[names].drop_duplicates()
    decisions = []
    for _, value in values.iterrows():
        twin = X.copy()
        for name in names:
            twin[name] = pd.Series([value[name]] * len(X), index=X.index, dtype=X[name].dtype)
        decisions.append(_decided(estimator, twin))
    decisions = np.stack(decisions)
    if decisions.dtype.kind in "iufb":
        changed = np.ptp(decisions.astype(float), axis=0) > min_gap
    else:
        changed = (decisions != decisions[0]).any(axis=0)
    group_values = (
        X[names[0]] if len(names) == 1 else pd.Series(list(map(tuple, X[names].to_numpy())))
    )
    group_values = group_values.reset_index(drop=True)
    groups = [("everyone", np.ones(len(X), dtype=bool))]
    groups += [
        (g, (group_values == g).to_numpy(dtype=bool, na_value=False))
        for g in in_order(distinct_values(group_values.dropna()))
    ]
    n = np.array([m.sum() for _, m in groups])
    hits = np.array([changed[m].sum() for _, m in groups])
    low, high = _stats.wilson(hits, n, significance)
    with np.errstate(invalid="ignore"):
        table = pd.DataFrame(
            {"group": [g for g, _ in groups], "n": n, "estimate": hits / n}
            | {"ci_low": low, "ci_high": high, "reason": ""}
        )
    if len(values) < 2:
        table[["estimate", "ci_low", "ci_high"]] = np.nan
        table["reason"] = "a single protected value: no row has a twin"
    return table


def _decided(estimator, X):
    """Return the decisions of a model, one for each row, none missing."""
    if not hasattr(estimator, "predict"):
        raise TypeError(f"estimator must be an object with predict, got {estimator!r}.")
    decisions = np.asarray(estimator.predict(X))
    if decisions.shape != (len(X),):
        raise ValueError(
            f"The model returned decisions of shape {decisions.shape} for {len(X)} rows; "
            f"({len(X)},) is needed."
        )
    if pd.isna(decisions).any():
        raise ValueError(
            f"The model returned {int(pd.isna(decisions).sum())} missing decisions for "
            f"{len(X)} rows; a decision is needed for each."
        )
    return decisions


def lipschitz_ratio(
    y_true: ArrayLike | None, y_pred: ArrayLike, *, X: FrameLike, pos_label: Labels | None = "auto"
) -> float:
    r"""Largest difference of the decisions about two rows over their distance.

    .. math:: \max_{i \ne j} |y_i - y_j| / d(x_i, x_j)

    Parameters
    ----------
    y_true : None or array-like of shape (n,), not used
    y_pred : array-like of shape (n,), decisions, scores or numbers
    X : DataFrame or array-like of shape (n, n_columns); the columns that define similar rows
    pos_label : label or set of labels, "auto", "high", "low" or None, default="auto"
        The favorable decision, as in every measure; None: decisions are numbers.

    Returns
    -------
    value : float, in decisions per unit of distance; infinite if equal rows have different
        decisions, 0 if all decisions are equal; NaN for a single row

    Raises
    ------
    ValueError
        If X or `y_pred` has missing values, or `pos_label` never occurs.

    Notes
    -----
    The larger the ratio, the more decisions about similar rows differ; it does not say which group
    is worse off. Manhattan distance, numbers over their range, categories 0 or 1. All pairs are
    compared, so that the time grows with n².

    References
    ----------
    Dwork et al. (2012), :doi:`10.1145/2090236.2090255`.

    Examples
    --------
    Distances over the range 10: the pair (2, 3) is at distance 0.1.

    >>> round(lipschitz_ratio(None, [0, 0, 1, 1], X=[[0], [2], [3], [10]]), 6)
    10.0
    """
    return float(lipschitz_ratio_report(y_true, y_pred, X=X, pos_label=pos_label)["ratio"].iloc[0])


def lipschitz_ratio_report(
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    X: FrameLike,
    protected: ArrayLike | None = None,
    pos_label: Labels | None = "auto",
) -> pd.DataFrame:
    """Counterpart of each row with the largest ratio of difference to distance.

    Parameters
    ----------
    y_true, y_pred, X, pos_label : as in `lipschitz_ratio`
    protected : array-like of shape (n,), default=None; adds the groups of both

    Returns
    -------
    table : DataFrame
        One row per row of X, the largest ratio first: row, counterpart (positions), gap, distance,
        ratio, and the groups of both if `protected` is given.

    Raises
    ------
    ValueError
        As in `lipschitz_ratio`.

    See Also
    --------
    lipschitz_ratio : The measure as one number.
    """
    y = check_target(y_pred, pos_label, "y_pred").astype(float)
    check_rows(y_pred, X=X, protected=protected)
    if not len(y):
        raise ValueError("X has no rows, so that there is nobody to compare.")
    points, chunks = MixedSpace(X).encode(X), []
    for i in range(0, len(y), _CHUNK):
        distance = cdist(points[i : i + _CHUNK], points, "cityblock")
        gap = np.abs(y[i : i + _CHUNK, None] - y)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(gap == 0, 0.0, gap / distance)
        rows = np.arange(len(ratio))
        ratio[rows, rows + i] = -1.0
        best = ratio.argmax(axis=1)
        chunks.append((rows + i, best, *(a[rows, best] for a in (gap, distance, ratio))))
    names = ("row", "counterpart", "gap", "distance", "ratio")
    parts = zip(names, zip(*chunks, strict=True), strict=True)
    table = pd.DataFrame({name: np.hstack(part) for name, part in parts})
    if len(y) < 2:
        table["ratio"] = np.nan
    if protected is not None:
        values = protected_columns(protected)[0][1].to_numpy()
        table["group"] = values[table["row"]]
        table["counterpart_group"] = values[table["counterpart"]]
    return table.sort_values("ratio", ascending=False, kind="stable", ignore_index=True)
