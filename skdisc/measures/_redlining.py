"""Balanced error rate: how well the protected value can be told from the other columns."""

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
from skdisc._utils._validation import of_numbers
from skdisc.measures._formula._decisions import protected_columns


def balanced_error_rate(X, *, protected, estimator=None, cv=5, random_state=0):
    r"""Mean error per group of predicting the protected value from X, by cross-validation.

    .. math:: \tfrac12 [ P(\hat s = 1 | s_0) + P(\hat s = 0 | s_1) ]

    Parameters
    ----------
    X : DataFrame or array-like of shape (n, n_columns), without the protected column
    protected : array-like of shape (n,), any number of groups
    estimator : classifier, default=None; logistic regression with weights that balance the groups
    cv : int or splitter, default=5
    random_state : int, RandomState instance or None, default=0; shuffles the rows before they are
        cut

    Returns
    -------
    value : float, ½ (1 - 1/g with g groups) where X tells nothing; NaN where a group has fewer than
        two people

    Notes
    -----
    The lower, the better X stands in for the protected value: a potential for redlining, and no
    discrimination yet. With decisions in the place of predictions it is (1 - d) / 2, d the mean
    difference; hence an impact ratio of at most 0.8 means that the decisions themselves predict the
    group with an error of at most ½ - b / 8, b the favourable share of the group.

    References
    ----------
    Feldman et al. (2015), :doi:`10.1145/2783258.2783311`.

    Examples
    --------
    x is the group itself.

    >>> x, sex = [[0], [1]] * 10, ["m", "f"] * 10
    >>> balanced_error_rate(x, protected=sex)
    0.0
    """
    how = {"estimator": estimator, "cv": cv, "random_state": random_state}
    table = balanced_error_rate_report(X, protected=protected, **how)
    return float(table["estimate"].iloc[0])


def balanced_error_rate_report(
    X, *, protected, estimator=None, cv=5, random_state=0, significance=0.05
):
    """Balanced error rate and the error of each group.

    Parameters
    ----------
    X, protected, estimator, cv, random_state : as in `balanced_error_rate`
    significance : float, default=0.05

    Returns
    -------
    table : DataFrame
        Columns group, n, estimate, ci_low, ci_high, p_value, excluded, reason; the first row is the
        mean of the others. Intervals of Wilson, for two groups the mean's are combined in
        quadrature; the p-value tests a mean error of 1 - 1/g. They take folds for independent,
        which is near.

    See Also
    --------
    balanced_error_rate : The measure, as one number.
    """
    values = protected_columns(protected)[0][1]
    code, groups = pd.factorize(values, use_na_sentinel=False, sort=False)
    n = np.bincount(code)
    columns = ["group", "n", "estimate", "ci_low", "ci_high", "p_value", "excluded", "reason"]
    if len(groups) < 2 or n.min() < 2:
        reason = "one group only" if len(groups) < 2 else "a group of fewer than two people"
        row = ["mean", len(code), *[np.nan] * 4, True, reason]
        return pd.DataFrame([row], columns=columns)
    frame = pd.DataFrame(X).infer_objects()
    model = _default(frame) if estimator is None else clone(estimator)
    if isinstance(cv, int):
        cv = StratifiedKFold(min(cv, int(n.min())), shuffle=True, random_state=random_state)
    data = frame.set_axis(frame.columns.astype(str), axis=1) if estimator is None else X
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
    """Return logistic regression on standardised numbers and indicators."""
    numbers = [str(c) for c, dtype in frame.dtypes.items() if of_numbers(dtype)]
    others = [str(c) for c, dtype in frame.dtypes.items() if not of_numbers(dtype)]
    columns = make_column_transformer(
        (StandardScaler(), numbers), (OneHotEncoder(handle_unknown="ignore"), others)
    )
    return make_pipeline(columns, LogisticRegression(class_weight="balanced", max_iter=1000))
