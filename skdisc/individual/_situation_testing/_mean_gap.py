"""The mean gap between two groups among similar people, with its error and p-value."""

from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from scipy import special

from skdisc._expectations import Covariates, learn, widening
from skdisc._expectations._covariates import PEOPLE_PER_VALUE
from skdisc._expectations._crossings import added_by
from skdisc._neighbors._smoother import NearestSmoother
from skdisc._stats._ranks import inner_quantiles
from skdisc._utils._inputs import distinct_values, in_order
from skdisc._utils._validation import of_numbers

_LEVELS = 30  # a category with more values is compared by distance only
_ROWS_PER_VALUE = 5  # of a category by which people are similar
_SEED = 0  # of the folds: dealt in an order that the rows' values give, so no seed is better
SMALLEST_K = 15  # neighbors behind the means of the test
# Ranges of a number whose values tell the groups apart, and people in each.
_RANGES, _PEOPLE_PER_RANGE, _PEOPLE_PER_SIDE = 32, 50, 5


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
    residual : ndarray of float, shape (n,)
        Each outcome minus its expectation given the features; neighbors are compared in it.
    expected : ndarray of float, shape (n,)
        The outcomes less these residuals.
    unlearned : list of Unlearned
        Biases that remain after matching, by features: intervals are widened in the direction of a
        bias, by the bias and two of its standard errors.
    bias, bias_error : dict of column to float
        What the cells of one feature alone would add to the gap, and its standard error.
    one_sided : tuple of column names
        Numbers whose values occur in one of the groups only, see `comparable`.
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
    residual: np.ndarray = field(repr=False)
    expected: np.ndarray = field(repr=False)
    unlearned: list = field(default_factory=list)
    bias: dict = field(default_factory=dict)
    bias_error: dict = field(default_factory=dict)
    one_sided: tuple = ()
    too_fine: str = ""

    def interval(self, significance):
        """Return low and high of the confidence interval, widened by remaining biases."""
        if self.too_fine:
            return np.nan, np.nan
        half = float(special.stdtrit(self.df, 1 - significance / 2)) * self.error
        down, up = widening(self.unlearned)
        return self.gap - half - down, self.gap + half + up

    def p_value(self, direction, threshold=0.0):
        """Return the p-value of a gap beyond the threshold: "lower", "higher", or "both" ways.

        Remaining biases are subtracted from the gap first, as in `interval`.
        """
        if np.isnan(self.gap) or self.too_fine:
            return np.nan
        down, up = widening(self.unlearned)
        beyond = {"lower": -self.gap - up, "higher": self.gap - down}
        beyond["both"] = max(beyond.values())
        beyond = beyond[direction] - threshold
        if self.error == 0:
            return float(beyond <= 0)
        tail = float(special.stdtr(self.df, -beyond / self.error))
        return min(1.0, 2 * tail) if direction == "both" else tail

    def turns(self, detector):
        """Return True if the gap is significant only without allowance for remaining biases."""
        if not self.unlearned:
            return False
        rule, level = (detector.direction, detector.threshold), detector.significance
        return replace(self, unlearned=[]).p_value(*rule) <= level < self.p_value(*rule)

    def with_variance(self, variance, df):
        """Return the gap with the variance of another, independent source of error added."""
        if not variance > 0:
            return self
        parts = np.array([self.error**2, variance])
        total = parts.sum()
        pooled = total**2 / (parts**2 / [self.df, df]).sum()
        return replace(self, error=float(np.sqrt(total)), df=float(pooled))


def mean_gap(
    points,
    features,
    outcome,
    is_group,
    *,
    k,
    limit,
    is_binary,
    cluster=None,
    learner="boosting",
    checks_balance=True,
    **search,
):
    r"""Estimate the gap between a group and its reference among similar people.

    People within a caliper are similar, not equal: if outcome and membership follow a law that is
    not linear, matching alone, and with a regression, keeps its bias. So matching is applied to the
    residuals of outcome and membership from the engine of expectations. With W the mean of the k
    nearest others,

    .. math:: \hat\theta = \sum_i r^a_i r^y_i / \sum_i (r^a_i)^2, \quad r^v = (I - W) e^v,

    the overlap-weighted mean difference of Robinson (1988), with e the residuals: its bias is the
    product of the errors that engine and matching leave in outcome and in membership. Given
    features and outcomes, membership is the random part, and the variance of
    :math:`\sum r^a u`, with :math:`u = r^y - \hat\theta r^a`, is
    :math:`\sum (r^a)^2 ((I - W)^T u)^2`, times n / (n - rank) of the engine's least squares. With
    K clusters, it is the sum of the squares of their sums, times K / (K - 1), where neighbors of
    one's own cluster are left out of :math:`r^a`.

    Parameters
    ----------
    points : ndarray of float, shape (n, n_coordinates)
    features : DataFrame of shape (n, n_columns)
        What expectations are learned from.
    outcome : ndarray of float, shape (n,)
    is_group : ndarray of bool, shape (n,)
    k : int
    limit : float
        Largest distance of a neighbor.
    is_binary : bool
        Whether outcomes are 0 or 1; the error is then at least what one decision changes.
    cluster : ndarray of shape (n,), optional
        The cluster of each row; None: each is its own.
    learner : {"boosting", "additive"}
        How the engine of expectations learns.
    checks_balance : bool
        Whether to look for what the features would still add to the gap after matching; not where
        the features of the group belong to counterfactuals.
    **search
        nominal, metric, n_jobs

    Returns
    -------
    MeanGap
    """
    n, k = len(outcome), min(k, len(outcome) - 1)
    sizes = int(is_group.sum()), int((~is_group).sum())
    if min(sizes) < 2 or k < 1:
        mean = np.full(n, outcome.mean() if n else 0.0)
        parts = {"residual": outcome - mean, "expected": mean}
        return MeanGap(np.nan, np.nan, np.nan, *sizes, np.empty(0, np.intp), **parts)
    if cluster is not None:
        cluster = np.unique(cluster, return_inverse=True)[1].reshape(-1)
        cluster = cluster if cluster.max(initial=-1) + 1 < n else None  # each row is its own
    features, one_sided = comparable(_without_identifiers(features), is_group)
    rng, covariates = np.random.default_rng(_SEED), Covariates.of(features)
    settings = {"cluster": cluster, "learner": learner, "n_splits": 1}  # matching steadies it, too
    learned = learn(covariates, outcome, is_group, rng, **settings)
    near = NearestSmoother(points, k, limit=limit, **search)
    has_enough = near.n_neighbors >= enough(k)
    v = np.column_stack([learned.outcome, learned.parts])
    # (I - W) e for outcome and membership at once; people with too few neighbors do not count.
    r = (v - near.means(v)) * has_enough[:, None]
    square = float((r[:, 1] ** 2).sum())
    matched = np.flatnonzero(has_enough & is_group)
    parts = {"residual": learned.outcome, "expected": learned.expected, "one_sided": one_sided}
    # The features determine the membership: nobody similar is in the other group.
    if square < 1e-9 * n:
        return MeanGap(np.nan, np.nan, np.nan, *sizes, matched, **parts)
    gap = float(r[:, 1] @ r[:, 0]) / square
    u = (r[:, 0] - gap * r[:, 1])[:, None]
    # (I - W)' u: a person also enters the residuals of all whose neighbor they are.
    weight = (u - near.spread(u))[:, 0]
    if cluster is None:
        terms = (r[:, 1] * weight) ** 2
    else:
        terms = _of_clusters(v[:, 1], weight * has_enough, near, cluster) ** 2
    total = float(terms.sum())
    error = np.sqrt(total * n / max(n - learned.rank, 1)) / square
    # Satterthwaite: few people with large residuals make the variance uncertain.
    df = max(1.0, total**2 / float((terms**2).sum()) - 1) if total > 1e-12 else float(n)
    if is_binary:
        error = max(error, 1.0 / square)
    if checks_balance:
        parts["unlearned"] = learned.left_to_learn(r[:, 0], r[:, 1], rows=has_enough)
        parts["bias"], parts["bias_error"] = _by_feature(learned, r, has_enough)
    return MeanGap(gap, error, df, *sizes, matched, **parts)


def _by_feature(learned, r, has_enough):
    """Return what the cells of each feature alone would add to the gap, and the standard errors."""
    is_used = has_enough[learned.order]
    r = r[learned.order][is_used]
    sampling = learned.crossings.sampling.take(is_used)
    square = float((r[:, 1] ** 2).sum())
    residual = r[:, 0] - r[:, 1] * float(r[:, 1] @ r[:, 0]) / square
    names, bias_and_error = learned.crossings.covariates.names, {}
    for cells in learned.crossings.columns:  # a number has two: eighths, and values that are shared
        codes = np.unique(cells.codes[is_used], return_inverse=True)[1].reshape(-1)
        bias, error, _ = added_by(codes, residual, r[:, 1], sampling)
        name, before = names[cells.column], bias_and_error.get(names[cells.column], (0.0, 0.0))
        if abs(bias) * before[1] >= abs(before[0]) * error:  # the one that is more certain
            bias_and_error[name] = bias, error
    sizes = [{name: pair[i] / square for name, pair in bias_and_error.items()} for i in (0, 1)]
    return sizes[0], sizes[1]


def _of_clusters(member, weight, near, cluster):
    """Return the sums over clusters of weighted residuals of the membership."""
    cluster = np.unique(cluster, return_inverse=True)[1]
    sums = np.bincount(cluster, (member - near.means_outside(member, cluster)) * weight)
    return sums * np.sqrt(len(sums) / max(len(sums) - 1, 1))


def enough(k):
    """Return how many of k neighbors a person needs to be judged."""
    return k / 2


def _without_identifiers(features):
    """Return the features without categories whose values hardly repeat: nobody is equal there."""
    names = [
        name
        for name in features.columns
        if of_numbers(features[name].dtype) or features[name].nunique() <= len(features) / 2
    ]
    return features[names]


def comparable(features, is_group):
    """Return the features with numbers whose values tell the groups apart in ranges.

    If most people who share a number with others share it with their own group only (all salaries
    of women end in 500, and counterfactual salaries are those of women times a factor), nobody of
    the other group is equal, and the engine would learn the membership from the very values. People
    are similar then if their values are in the same of 32 ranges at most, each with people of both
    groups, and near in it, as matching sees to.

    Parameters
    ----------
    features : DataFrame of shape (n, n_columns)
    is_group : ndarray of bool, shape (n,)

    Returns
    -------
    features : DataFrame of shape (n, n_columns)
    one_sided : tuple of column names
    """
    names, coarsened = [], features.copy(deep=False)
    for name in features.columns:
        if not of_numbers(features[name].dtype):
            continue
        x = features[name].to_numpy(dtype=float, na_value=np.nan)
        values, code = np.unique(x, return_inverse=True)
        counts = [np.bincount(code, side, len(values)) for side in (is_group, ~is_group)]
        people = np.sum(counts, axis=0)
        is_shared = (people >= PEOPLE_PER_VALUE) & ~np.isnan(values)
        lonely = is_shared & (np.min(counts, axis=0) == 0)
        if people[lonely].sum() <= people[is_shared].sum() / 2:
            continue
        is_number = ~np.isnan(x)
        range_of_row = _ranges(x[is_number], is_group[is_number])
        means = np.bincount(range_of_row, x[is_number]) / np.bincount(range_of_row)
        coarsened[name] = np.full(len(x), np.nan)
        coarsened.loc[is_number, name] = means[range_of_row]
        names.append(name)
    return coarsened, tuple(names)


def _ranges(x, is_group):
    """Return the range of each number: quantiles, joined until people of both groups are in it."""
    n_ranges = max(min(_RANGES, len(x) // _PEOPLE_PER_RANGE), 1)
    cuts = inner_quantiles(x, n_ranges)
    quantile = np.searchsorted(cuts, x, "right")
    counts = [np.bincount(quantile, side, len(cuts) + 1) for side in (is_group, ~is_group)]
    number, inside, joined = 0, np.zeros(2), np.zeros(len(cuts) + 1, dtype=int)
    for q, n_by_side in enumerate(np.transpose(counts)):
        if inside.min() >= _PEOPLE_PER_SIDE:
            number, inside = number + 1, np.zeros(2)
        inside, joined[q] = inside + n_by_side, number
    if number and inside.min() < _PEOPLE_PER_SIDE:  # the last range joins the one before
        joined[joined == number] = number - 1
    return joined[quantile]


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


def column_of(label, frame):
    """Return the name of the column that a column of `as_numbers` was made of."""
    for name in frame.columns:
        if label == str(name) or label.startswith(f"{name} = "):
            return name
    raise KeyError(label)
