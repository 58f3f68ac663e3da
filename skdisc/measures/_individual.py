"""Individual fairness as measures: the twin test, and the Lipschitz ratio."""

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist

from skdisc import _stats
from skdisc._neighbors._mixed_space import MixedSpace
from skdisc._utils._validation import check_protected
from skdisc.measures._formula._decisions import check_target, protected_columns

_CHUNK = 1000


def twin_test(estimator, X, *, protected, min_gap=0.0):
    r"""Share of people whose decision changes with the protected value alone.

    .. math:: \frac1n \#\{i : \max_a f(x_i, a) - \min_a f(x_i, a) > g\}

    over all values a, or combinations, of the protected columns that occur in X.

    Parameters
    ----------
    estimator : object with predict
        The model that decides.
    X : DataFrame
    protected : str or list of str, columns of X
    min_gap : float, default=0.0; g, by which decisions have to differ where they are numbers

    Returns
    -------
    value : float, a share; NaN where X has one protected value only

    Notes
    -----
    0 without direct discrimination. It does not say who is worse off, and does not see
    discrimination through other columns.

    References
    ----------
    Galhotra, Brun and Meliou (2017), :doi:`10.1145/3106237.3106277`.

    Examples
    --------
    A bank that asks 5 more of women: one of three decisions depends on it.

    >>> class Bank:
    ...     def predict(self, X):
    ...         return (X.income - 5 * (X.sex == "f") >= 50).astype(int)
    >>> people = pd.DataFrame({"income": [40, 52, 90], "sex": ["f", "m", "m"]})
    >>> round(twin_test(Bank(), people, protected="sex"), 4)
    0.3333
    """
    report = twin_test_report(estimator, X, protected=protected, min_gap=min_gap)
    return float(report["estimate"].iloc[0])


def twin_test_report(estimator, X, *, protected, min_gap=0.0, significance=0.05):
    """Twin test of everyone, and of the people of each protected value.

    Parameters
    ----------
    estimator, X, protected, min_gap : as in `twin_test`
    significance : float, default=0.05

    Returns
    -------
    table : DataFrame
        Columns group, n, estimate, ci_low, ci_high (Wilson), reason.

    See Also
    --------
    twin_test : The measure, as one number.
    """
    names = check_protected(protected, list(X.columns))
    values = X[names].drop_duplicates()
    answers = []
    for _, value in values.iterrows():
        twin = X.copy()
        for name in names:
            twin[name] = pd.Series([value[name]] * len(X), index=X.index, dtype=X[name].dtype)
        answers.append(np.asarray(estimator.predict(twin)))
    answers = np.stack(answers)
    if answers.dtype.kind in "iufb":
        changed = np.ptp(answers.astype(float), axis=0) > min_gap
    else:
        changed = (answers != answers[0]).any(axis=0)
    own = X[names[0]] if len(names) == 1 else pd.Series(list(map(tuple, X[names].to_numpy())))
    own = own.reset_index(drop=True)
    groups = [("everyone", np.ones(len(X), dtype=bool))]
    groups += [(g, (own == g).to_numpy()) for g in sorted(own.dropna().unique(), key=str)]
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
        table["reason"] = "one protected value only: nobody has a twin"
    return table


def lipschitz_ratio(y_true, y_pred, *, X, pos_label=1):
    r"""Largest difference of decisions over the distance of two people.

    .. math:: \max_{i \ne j} |y_i - y_j| / d(x_i, x_j)

    Parameters
    ----------
    y_true : None or array-like of shape (n,), not used
    y_pred : array-like of shape (n,), decisions, scores or numbers
    X : DataFrame or array-like of shape (n, n_columns); what makes people alike
    pos_label : label or set of labels, default=1; None: decisions are numbers

    Returns
    -------
    value : float, in decisions per unit of distance; infinite where equal people are decided
        differently, 0 where all decisions are equal

    Notes
    -----
    The larger, the more differently people alike are decided, whoever they are. Distance is
    Manhattan, numbers over their range, categories 0 or 1. Every couple is compared: the time
    grows with n².

    References
    ----------
    Dwork et al. (2012), :doi:`10.1145/2090236.2090255`.

    Examples
    --------
    Distances over the range 10: the couple (2, 3) lies at 0.1.

    >>> round(lipschitz_ratio(None, [0, 0, 1, 1], X=[[0], [2], [3], [10]]), 6)
    10.0
    """
    return float(lipschitz_ratio_report(y_true, y_pred, X=X, pos_label=pos_label)["ratio"].iloc[0])


def lipschitz_ratio_report(y_true, y_pred, *, X, protected=None, pos_label=1):
    """Worst counterpart of each person: who is nearest for how different a decision.

    Parameters
    ----------
    y_true, y_pred, X, pos_label : as in `lipschitz_ratio`
    protected : array-like of shape (n,), default=None; adds the groups of both

    Returns
    -------
    table : DataFrame
        One row per person, the largest ratio first: row, counterpart (positions), gap, distance,
        ratio, and the groups of both where `protected` is given.

    See Also
    --------
    lipschitz_ratio : The measure, as one number.
    """
    y = check_target(y_pred, pos_label, "y_pred").astype(float)
    points, found = MixedSpace(X).encode(X), []
    for i in range(0, len(y), _CHUNK):
        distance = cdist(points[i : i + _CHUNK], points, "cityblock")
        gap = np.abs(y[i : i + _CHUNK, None] - y)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(gap == 0, 0.0, gap / distance)
        rows = np.arange(len(ratio))
        ratio[rows, rows + i] = -1.0
        best = ratio.argmax(axis=1)
        found.append((rows + i, best, *(a[rows, best] for a in (gap, distance, ratio))))
    names = ("row", "counterpart", "gap", "distance", "ratio")
    parts = zip(names, zip(*found, strict=True), strict=True)
    table = pd.DataFrame({name: np.hstack(part) for name, part in parts})
    if len(y) < 2:
        table["ratio"] = np.nan
    if protected is not None:
        values = protected_columns(protected)[0][1].to_numpy()
        table["group"] = values[table["row"]]
        table["counterpart_group"] = values[table["counterpart"]]
    return table.sort_values("ratio", ascending=False, kind="stable", ignore_index=True)
