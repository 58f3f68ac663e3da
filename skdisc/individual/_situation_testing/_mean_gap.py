"""The mean gap between two groups among similar people, with its error and p-value."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import special

from skdisc._neighbors._smoother import NearestSmoother
from skdisc._utils._inputs import distinct_values, in_order
from skdisc._utils._validation import of_numbers

_LEVELS = 30  # a category with more values is compared by distance only
_ROWS_PER_COLUMN = 10  # of a regression
_ROWS_PER_VALUE = 5  # of a category by which people are similar
SMALLEST_K = 15  # neighbors behind the means of the test


@dataclass(frozen=True)
class MeanGap:
    """The mean difference in outcome between a group and similar people of its reference.

    Attributes
    ----------
    gap : float
        NaN if nobody is matched.
    error : float
        Its standard error.
    df : float
        Degrees of freedom.
    n_group, n_reference : int
        People of both groups.
    matched : ndarray of int
        The people of the group who have enough neighbors.
    too_fine : str
        A category with too many values for so few people to be compared at equal ones; "" for none.
        Then nothing is tested.
    """

    gap: float
    error: float
    df: float
    n_group: int
    n_reference: int
    matched: np.ndarray
    too_fine: str = ""

    def interval(self, significance):
        """Return low and high of the confidence interval."""
        if self.too_fine:
            return np.nan, np.nan
        half = float(special.stdtrit(self.df, 1 - significance / 2)) * self.error
        return self.gap - half, self.gap + half

    def p_value(self, direction, threshold=0.0):
        """Return the p-value of a gap beyond the threshold: "lower", "higher", or "both" ways."""
        if np.isnan(self.gap) or self.too_fine:
            return np.nan
        beyond = {"lower": -self.gap, "higher": self.gap, "both": abs(self.gap)}[direction]
        beyond -= threshold
        if self.error == 0:
            return float(beyond <= 0)
        tail = float(special.stdtr(self.df, -beyond / self.error))
        return min(1.0, 2 * tail) if direction == "both" else tail

    def with_variance(self, variance, df):
        """Return the gap with the variance of another, independent source of error added."""
        if not variance > 0:
            return self
        parts = np.array([self.error**2, variance])
        total = parts.sum()
        pooled = total**2 / (parts**2 / [self.df, df]).sum()
        return replace(self, error=float(np.sqrt(total)), df=float(pooled))


def mean_gap(points, numbers, outcome, is_group, *, k, limit, is_binary, cluster=None, **search):
    r"""Estimate the gap between a group and its reference among similar people.

    With a the membership, y the outcome and S the smoother that takes least squares on the
    features and then the mean of the k nearest others,

    .. math:: \hat\theta = \sum_i r^a_i r^y_i / \sum_i (r^a_i)^2, \quad r^v = (I - S) v,

    the overlap-weighted mean difference of Robinson (1988): both residuals are products of two
    errors, so that their bias is, too. Given features and outcomes, membership is the random part,
    and the variance of :math:`\sum r^a u`, with :math:`u = r^y - \hat\theta r^a`, is
    :math:`\sum (r^a)^2 ((I - W)^T u)^2`. With K clusters, it is the sum of the squares of their
    sums, times K / (K - 1), where neighbors of one's own cluster are left out of :math:`r^a`.

    Parameters
    ----------
    points : ndarray of float, shape (n, n_coordinates)
    numbers : ndarray of float, shape (n, n_columns)
        The features of the regression, see `as_numbers`.
    outcome : ndarray of float, shape (n,)
    is_group : ndarray of bool, shape (n,)
    k : int
    limit : float
        Largest distance of a neighbor.
    is_binary : bool
        Whether outcomes are 0 or 1; the error is then at least that of one decision.
    cluster : ndarray of shape (n,), optional
        The cluster of each row; None: each is its own.
    **search
        nominal, metric, n_jobs

    Returns
    -------
    MeanGap
    """
    n, k = len(outcome), min(k, len(outcome) - 1)
    sizes = int(is_group.sum()), int((~is_group).sum())
    if min(sizes) < 2 or k < 1:
        return MeanGap(np.nan, np.nan, np.nan, *sizes, np.empty(0, np.intp))
    near = NearestSmoother(points, k, limit=limit, **search)
    has_enough = near.n_neighbors >= enough(k)
    v = _off_regression(np.column_stack([outcome, is_group]).astype(float), numbers)
    r = (v - near.means(v)) * has_enough[:, None]
    square = float((r[:, 1] ** 2).sum())
    matched = np.flatnonzero(has_enough & is_group)
    if square < 1e-9 * n:
        return MeanGap(np.nan, np.nan, np.nan, *sizes, matched)
    gap = float(r[:, 1] @ r[:, 0]) / square
    u = (r[:, 0] - gap * r[:, 1])[:, None]
    weight = (u - near.spread(u))[:, 0]
    if cluster is None:
        terms = (r[:, 1] * weight) ** 2
    else:
        terms = _of_clusters(v[:, 1], weight * has_enough, near, cluster) ** 2
    total = float(terms.sum())
    error = np.sqrt(total) / square
    df = max(1.0, total**2 / float((terms**2).sum()) - 1) if total > 1e-12 else float(n)
    if is_binary:
        error = max(error, 1.0 / square)
    return MeanGap(gap, error, df, *sizes, matched)


def _of_clusters(member, weight, near, cluster):
    """Return the sums over clusters of weighted residuals of the membership."""
    cluster = np.unique(cluster, return_inverse=True)[1]
    sums = np.bincount(cluster, (member - near.means_outside(member, cluster)) * weight)
    return sums * np.sqrt(len(sums) / max(len(sums) - 1, 1))


def enough(k):
    """Return how many of k neighbors a person needs to be judged."""
    return k / 2


def _off_regression(v, numbers):
    """Return the residuals of least squares on the features, if there are enough rows."""
    if numbers.shape[1] == 0 or len(v) < _ROWS_PER_COLUMN * numbers.shape[1]:
        return v - v.mean(axis=0)
    design = np.column_stack([np.ones(len(v)), numbers])
    return v - design @ np.linalg.lstsq(design, v, rcond=None)[0]


def too_fine(frame, everyone):
    """Return the name of a category with fewer than five people per value, "" if there is none.

    Parameters
    ----------
    frame : DataFrame
        The features of the people compared.
    everyone : DataFrame
        Those of all: where hardly a value of a category repeats, it identifies people, and says
        nothing about who is similar.
    """
    most = max(_LEVELS, len(frame) / _ROWS_PER_VALUE)
    for name in frame.columns:
        is_fine = not of_numbers(frame[name].dtype) and frame[name].nunique() > most
        if is_fine and everyone[name].nunique() <= len(everyone) / 2:
            return str(name)
    return ""


def as_numbers(frame):
    """Return features as standardized numbers, a DataFrame: numbers, and indicators of values.

    A missing number is the mean, or 0 if all are missing; a category with more than 30 values is
    left out.
    """
    columns = {}
    for name in frame.columns:
        column = frame[name]
        if of_numbers(column.dtype):
            x = column.to_numpy(dtype=float, na_value=np.nan)
            missing = np.isnan(x)
            columns[str(name)] = np.where(missing, 0 if missing.all() else np.nanmean(x), x)
            continue
        values = distinct_values(column.dropna())
        if len(values) <= _LEVELS:
            for value in in_order(values):
                columns[f"{name} = {value!r}"] = (column == value).to_numpy(dtype=float)
    table = pd.DataFrame(columns, index=frame.index)
    spread = table.std(ddof=0)
    table = table.loc[:, spread > 0]
    return (table - table.mean()) / spread[spread > 0]
