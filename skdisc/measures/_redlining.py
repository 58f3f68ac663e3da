"""Balanced error rate: how accurately the other columns predict the protected value."""

import numpy as np
import pandas as pd
from scipy import special
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skdisc import _stats
from skdisc._utils._inputs import as_frame, factorized, refuse_huge, refuse_twice
from skdisc._utils._types import ArrayLike, FrameLike, Model, RandomState
from skdisc._utils._validation import check_column, of_numbers
from skdisc.measures._formula._decisions import protected_columns
from skdisc.measures._formula._settings import check_settings


def balanced_error_rate(
    X: FrameLike,
    *,
    protected: ArrayLike,
    estimator: Model | None = None,
    cv: object = 5,
    random_state: RandomState = 0,
) -> float:
    r"""Mean over groups of the cross-validated error of predicting the protected value from X.

    .. math:: \tfrac12 [ P(\hat s = 1 | s_0) + P(\hat s = 0 | s_1) ]

    Parameters
    ----------
    X : DataFrame or array-like of shape (n, n_columns), without the protected column
    protected : array-like of shape (n,), any number of groups
    estimator : classifier, default=None; None: logistic regression with balanced class weights
    cv : int or splitter, default=5
    random_state : int, RandomState instance or None, default=0; for shuffling the rows before they
        are split into folds

    Returns
    -------
    value : float; with g groups 1 - 1/g (so ½ with two groups) if X carries no information; NaN if
        a group has fewer than two rows

    Raises
    ------
    ValueError
        If `protected` is not one value per row, or the classifier rejects X.

    Notes
    -----
    Unsigned. The lower the error, the better X serves as a proxy of the protected value: this is a
    potential for redlining, but no discrimination yet. With decisions in place of predictions the
    error is (1 - d) / 2, d the mean difference; hence an impact ratio of at most 0.8 implies that
    the decisions themselves predict the group with an error of at most ½ - b / 8, b the favorable
    share of the group.

    References
    ----------
    Feldman et al. (2015), :doi:`10.1145/2783258.2783311`.

    Examples
    --------
    x is the group.

    >>> x, sex = [[0], [1]] * 10, ["m", "f"] * 10
    >>> balanced_error_rate(x, protected=sex)
    0.0
    """
    table = balanced_error_rate_report(
        X, protected=protected, estimator=estimator, cv=cv, random_state=random_state
    )
    return float(table["estimate"].iloc[0])


def balanced_error_rate_report(
    X: FrameLike,
    *,
    protected: ArrayLike,
    estimator: Model | None = None,
    cv: object = 5,
    random_state: RandomState = 0,
    significance: float = 0.05,
) -> pd.DataFrame:
    """Balanced error rate and the error of each group.

    Parameters
    ----------
    X, protected, estimator, cv, random_state : as in `balanced_error_rate`
    significance : float, default=0.05

    Returns
    -------
    table : DataFrame
        Columns group, n, estimate, ci_low, ci_high, p_value, excluded, reason; the first row is the
        mean of the others. Wilson's intervals, combined in quadrature for the mean; the p-value is
        that of a mean error of 1 - 1/g. Both treat folds as independent, which is approximate.

    Raises
    ------
    ValueError
        As in `balanced_error_rate`.

    See Also
    --------
    balanced_error_rate : The measure as one number.
    """
    check_settings("balanced_error_rate", significance=significance, random_state=random_state)
    values = protected_columns(protected)[0][1]
    code, groups = factorized(values, "protected", use_na_sentinel=False, sort=False)
    n = np.bincount(code)
    columns = ["group", "n", "estimate", "ci_low", "ci_high", "p_value", "excluded", "reason"]
    if len(groups) < 2 or n.min() < 2:
        reason = "a single group" if len(groups) < 2 else "a group of fewer than two rows"
        row = ["mean", len(code), *[np.nan] * 4, True, reason]
        return pd.DataFrame([row], columns=columns)
    frame = as_frame(X).infer_objects()
    refuse_twice(frame)
    if estimator is None:
        refuse_huge(frame)
        for j in range(frame.shape[1]):
            check_column(frame.iloc[:, j])
    model = _default(frame) if estimator is None else clone(estimator)
    if isinstance(cv, int):
        cv = StratifiedKFold(min(cv, int(n.min())), shuffle=True, random_state=random_state)
    data = _plain_columns(frame) if estimator is None else X
    wrong = cross_val_predict(model, data, code, cv=cv) != code
    hits = np.bincount(code, wrong)
    rate, (low, high) = hits / n, _stats.wilson(hits, n, significance)
    mean, chance = rate.mean(), 1 - 1 / len(n)
    below, above = (np.sqrt(((rate - end) ** 2).sum()) / len(n) for end in (low, high))
    spread = np.sqrt((chance * (1 - chance) / n).sum()) / len(n)
    p_value = 2 * special.ndtr(-abs(mean - chance) / spread)
    rows = [["mean", len(code), mean, mean - below, mean + above, p_value, False, ""]]
    for g, *numbers in zip(groups, n, rate, low, high, strict=True):
        rows.append([g, *numbers, np.nan, False, ""])
    return pd.DataFrame(rows, columns=columns)


def _default(frame):
    """Return logistic regression on standardized numbers and indicators."""
    numbers = [str(c) for c, dtype in frame.dtypes.items() if of_numbers(dtype)]
    categories = [str(c) for c, dtype in frame.dtypes.items() if not of_numbers(dtype)]
    columns = make_column_transformer(
        (StandardScaler(), numbers), (OneHotEncoder(handle_unknown="ignore"), categories)
    )
    return make_pipeline(columns, LogisticRegression(class_weight="balanced", max_iter=1000))


def _plain_columns(frame):
    """Return columns with text as names, and with one marker of missing values."""
    frame = frame.set_axis(frame.columns.astype(str), axis=1)
    categories = [c for c, dtype in frame.dtypes.items() if not of_numbers(dtype)]
    return frame.astype(dict.fromkeys(categories, object)).where(frame.notna(), np.nan)
