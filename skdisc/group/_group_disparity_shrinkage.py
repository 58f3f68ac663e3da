"""Outcomes of small intersections that borrow strength from the other groups (Fay and Herriot)."""

import numpy as np
import pandas as pd
from scipy import special

from skdisc import _stats
from skdisc._stats._bisection import bisected
from skdisc.group import _group_disparity_table as measure_tables

LEAST_SPARE = 3  # groups minus parameters, so that the spread around the model can be estimated
_GRID = 200  # values of τ
MOST_SHIFT = 0.7  # standard errors that an estimate moves at most
PRIOR_ROWS = 4  # rows of the overall distribution that steady the variance of a small group
COLUMNS = [
    *("attribute", "group", "n", "outcome", "outcome_low", "outcome_high", "shrunken", "ci_low"),
    *("ci_high", "toward", "kept"),
]


def shrunken_table(rows, significance):
    """Return outcomes of intersections, raw and drawn toward an additive model.

    Parameters
    ----------
    rows : GroupedDecisions
        With groups that are predicates, or tuples of them.

    Returns
    -------
    DataFrame
        One row per group of several columns that has people: attribute, group, n, outcome with
        outcome_low and outcome_high; shrunken with ci_low and ci_high, NaN where there are fewer
        than four groups; toward, the outcome by the model; kept, the share of the distance from it
        that the model keeps.
    """
    parts = [
        _of_grouping(rows, attribute, labels, members, significance)
        for attribute, labels, members in rows.groupings
        if labels and isinstance(labels[0], tuple)
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS)


def _of_grouping(rows, attribute, labels, members, significance):
    """Return the table of one combination of columns."""
    present = members @ rows.size > 0
    labels = [group for group, is_there in zip(labels, present, strict=True) if is_there]
    members = members[present]
    group = np.where(members.any(axis=0), members.argmax(axis=0), -1)[rows.cell]
    mean, variance, size = _means(rows, group, len(labels))
    if rows.pred.dtype == bool:
        raw = _stats.wilson(mean * size, size, significance)
    else:
        half = -special.ndtri(significance / 2) * np.sqrt(variance)
        raw = mean - half, mean + half
    names = pd.DataFrame([[str(p) for p in predicates] for predicates in labels])
    shrunken = shrink(mean, variance, additive(names), significance)
    columns = [members @ rows.size, mean, *raw, *shrunken]
    texts = {"attribute": attribute, "group": [measure_tables.text(g) for g in labels]}
    return pd.DataFrame(texts | dict(zip(COLUMNS[2:], columns, strict=True)))


def _means(rows, group, n_groups):
    """Return mean, variance of the mean and effective number of people of each group.

    The variance within a group includes four more people with the overall variance.
    """
    inside = group >= 0
    y, group = rows.pred[inside].astype(float), group[inside]
    weight = np.ones(len(y)) if rows.weight is None else rows.weight[inside]

    def total(values):
        return np.bincount(group, values, minlength=n_groups)

    n = total(weight)
    size = n if rows.is_frequency else n**2 / total(weight**2)
    mean = total(weight * y) / n
    within = total(weight * (y - mean[group]) ** 2) / n
    if rows.pred.dtype == bool:
        overall = np.average(y, weights=weight)
        # A few equal decisions have no variance of their own, which would make their rate exact.
        smooth = (size * mean + PRIOR_ROWS * overall) / (size + PRIOR_ROWS)
        spread = smooth * (1 - smooth)
    else:
        pooled = (size * within).sum() / max((size - 1).sum(), 1)
        spread = (size * within + PRIOR_ROWS * pooled) / (size - 1 + PRIOR_ROWS)
    if rows.cluster is not None:
        size = size / _inflation(y, weight, group, rows.cluster[inside], within / size)
    return mean, spread / size, size


def _inflation(y, weight, group, cluster, variance):
    """Return the factor by which clusters raise the variances of means, of all groups together."""
    members = [group == g for g in range(len(variance))]
    means = [_stats.DesignMeans.of(y, weight, m, ~m, cluster) for m in members]
    between = np.array([m.variance[0, 0] for m in means])
    is_usable = np.isfinite(between) & (variance > 0)
    return (
        max(between[is_usable].sum() / variance[is_usable].sum(), 1.0) if is_usable.any() else 1.0
    )


def additive(names):
    """Return the design of an additive model of groups; of their mean if they are too few.

    Parameters
    ----------
    names : DataFrame, shape (n_groups, n_columns); the value of each protected column

    Returns
    -------
    design : ndarray of float, shape (n_groups, n_parameters)
    """
    constant = np.ones((len(names), 1))
    effects = pd.get_dummies(names, columns=list(names), drop_first=True).to_numpy(dtype=float)
    design = np.hstack([constant, effects])
    is_full = np.linalg.matrix_rank(design) == design.shape[1]
    return design if is_full and len(names) - design.shape[1] >= LEAST_SPARE else constant


def shrink(mean, variance, design, significance):
    r"""Estimate means under partial pooling toward a linear model: Fay and Herriot's model.

    .. math:: y_g = \theta_g + e_g, \; e_g \sim N(0, v_g), \quad
        \theta_g = x_g' \beta + u_g, \; u_g \sim N(0, \tau^2)

    with known v and flat priors of β and τ (Gelman 2006). Given τ the estimates are the best linear
    unbiased predictions :math:`\gamma_g y_g + (1 - \gamma_g) x_g' \hat\beta` with :math:`\gamma_g =
    \tau^2 / (\tau^2 + v_g)`; they are averaged over the posterior distribution of τ, so that the
    intervals contain that it is not known. No estimate moves by more than `MOST_SHIFT` of its
    standard errors :math:`\sqrt{v_g}`, and its interval moves with it (limited translation, Efron
    and Morris 1972): a single group that differs is then not taken for noise.

    Parameters
    ----------
    mean, variance : ndarray of float, shape (n_groups,)
    design : ndarray of float, shape (n_groups, n_parameters); of full rank
    significance : float

    Returns
    -------
    estimate, low, high, toward, gamma : ndarray of float, shape (n_groups,)
        Estimate, interval, posterior means of the model's value and of γ. NaN if the groups are not
        at least three more than the parameters, or nothing varies.
    """
    if len(mean) - design.shape[1] < LEAST_SPARE or not np.all(variance > 1e-20 * mean**2):
        return np.full((5, len(mean)), np.nan)
    posterior, theta, spread, fit, gamma = _given_tau(mean, variance, design)
    low, high = (
        _mixture_quantile(level, posterior, theta, np.sqrt(spread))
        for level in (significance / 2, 1 - significance / 2)
    )
    estimate, most = posterior @ theta, MOST_SHIFT * np.sqrt(variance)
    shift = np.clip(estimate, mean - most, mean + most) - estimate
    return estimate + shift, low + shift, high + shift, posterior @ fit, posterior @ gamma


def _given_tau(mean, variance, design):
    """Return the posterior of τ on a grid, and mean, variance, model and γ given each τ."""
    unit = np.sqrt(np.median(variance))
    u = (np.arange(_GRID) + 0.5) / _GRID
    tau = unit * u / (1 - u)
    weight = 1 / (variance + tau[:, None] ** 2)
    precision = np.einsum("tg,gi,gj->tij", weight, design, design)
    covariance = np.linalg.inv(precision)
    beta = np.einsum("tij,tg,gj->ti", covariance, weight * mean, design)
    fit = beta @ design.T
    log = np.log(weight).sum(axis=1) - np.linalg.slogdet(precision)[1]
    # The grid is even in u, the prior in τ: dτ/du is proportional to 1 / (1 - u)^2.
    log = (log - (weight * (mean - fit) ** 2).sum(axis=1)) / 2 - 2 * np.log(1 - u)
    posterior = np.exp(log - log.max())
    gamma = tau[:, None] ** 2 * weight
    of_fit = np.einsum("gi,tij,gj->tg", design, covariance, design)
    spread = gamma * variance + (1 - gamma) ** 2 * of_fit
    return posterior / posterior.sum(), gamma * mean + (1 - gamma) * fit, spread, fit, gamma


def _mixture_quantile(level, share, mean, sd):
    """Return the quantile of each column of a mixture of normal distributions, by bisection."""
    ends = (mean - 10 * sd).min(axis=0), (mean + 10 * sd).max(axis=0)
    return sum(bisected(lambda x: share @ special.ndtr((x - mean) / sd) < level, *ends, 60)) / 2
