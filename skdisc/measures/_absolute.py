"""Absolute measures: how much decisions differ between groups, explained or not."""

from dataclasses import replace

import numpy as np
from scipy import special

from skdisc._stats._means import Welch
from skdisc._utils._inputs import check_choice
from skdisc.measures._formula import _contrast
from skdisc.measures._formula._contrast import Contrast
from skdisc.measures._formula._decorator import measure


@measure()
def mean_difference(pair):
    r"""Mean decision of the reference minus mean decision of the group: the discrimination score.

    .. math:: d = p(+|s_0) - p(+|s_1) \quad\text{or}\quad E(y|s_0) - E(y|s_1)

    Notes
    -----
    Above 0 the protected group is worse off. ±1 is reached only if the share of favorable decisions
    and the group sizes allow it; table 4 of the survey gives ±1 without this condition. If all
    decisions are equal, d is 0. Newcombe's interval and the score test (mid-p for small counts);
    for numbers Welch's interval and test, with Hall's correction for skewness.

    References
    ----------
    Calders and Verwer (2010), :doi:`10.1007/s10618-010-0190-x`.

    Examples
    --------
    3 of 4 men and 1 of 3 women: 3/4 - 1/3.

    >>> sex = ["m", "m", "m", "m", "f", "f", "f"]
    >>> round(mean_difference(None, [1, 1, 1, 0, 1, 0, 0], protected=sex), 4)
    0.4167
    """
    return _contrast.difference(pair.selection)


mean_difference_report = mean_difference.report


@measure()
def standardized_mean_difference(pair, *, hedges=False):
    r"""Mean of the reference minus that of the group, in pooled standard deviations: Cohen's d.

    .. math:: d = \frac{\bar y_0 - \bar y_1}{s}, \quad
        s^2 = \frac{(n_0 - 1) s_0^2 + (n_1 - 1) s_1^2}{n_0 + n_1 - 2}

    Other Parameters
    ----------------
    hedges : bool, default=False; whether Hedges' factor removes the bias of small samples

    Notes
    -----
    Above 0 the protected group is worse off. For decisions that are numbers, such as pay; undefined
    if they are constant within both groups. The interval is that of the delta method, with the
    degrees of freedom of Welch's test: it assumes neither normal decisions nor equal variances, and
    at d = 0 it is that of `mean_difference`. The test is that of equal means. With weights or
    clusters, s² is divided by the sum of weights. Groups of very unequal variances have no common
    unit: d then depends on their sizes.

    References
    ----------
    Hedges (1981), :doi:`10.3102/10769986006002107`.

    Examples
    --------
    Means 4 and 2; both variances are 1.

    >>> y, sex = [3, 4, 5, 1, 2, 3], ["m", "m", "m", "f", "f", "f"]
    >>> standardized_mean_difference(None, y, protected=sex, reference="m", pos_label=None)
    2.0
    """
    parts, (means, squares, sizes) = (pair.one, pair.zero), _sums_of_squares(pair)
    df, by_sample = sizes.sum() - 2, pair.clusters is None
    share = (sizes - 1) / df if by_sample else sizes / sizes.sum()
    variance = squares.sum() / (df if by_sample else sizes.sum())
    scale = np.sqrt(variance) if variance > 0 else np.nan
    d = (means[1] - means[0]) / scale
    gamma = special.gammaln(df / 2) - special.gammaln((df - 1) / 2)
    factor = np.exp(gamma) / np.sqrt(df / 2) if hedges else 1.0

    def interval(significance):
        linear = []
        for (y, *_), mean, q in zip(parts, means, share * (1, -1) * d / 2, strict=True):
            linear.append((y - mean) / scale + q * ((y - mean) / scale) ** 2)
        moments = pair.with_decisions(*linear).selection
        welch = replace(Welch.of(moments.reference, moments.group), gap=d)
        return tuple(factor * end for end in welch.interval(significance))

    return Contrast(factor * d, interval, _contrast.difference(pair.selection).p_value)


def _sums_of_squares(pair):
    """Return means, sums of squares (0 for constants) and sizes of group and reference."""
    moments = []
    for y, _, weight, *_ in (pair.one, pair.zero):
        size = weight.sum()
        mean = (weight * y).sum() / size
        squares = 0.0 if y.min() == y.max() else (weight * (y - mean) ** 2).sum()
        moments.append((mean, squares, size))
    return np.array(moments).T


standardized_mean_difference_report = standardized_mean_difference.report


@measure()
def normalized_difference(pair, *, zero_division=float("nan")):
    r"""Mean difference over its maximum, given the share of favorable decisions and group sizes.

    With p the share of favorable decisions and q the share of the group, over both groups:

    .. math::

        \delta = d / d_{max}, \quad d_{max} = \begin{cases}
        \min(p / (1 - q), (1 - p) / q) & d \ge 0 \\ \min(p / q, (1 - p) / (1 - q)) & d < 0
        \end{cases}

    Other Parameters
    ----------------
    zero_division : float, default=NaN; the value if all decisions are equal, so that d and d_max
        are 0

    Notes
    -----
    Above 0 the protected group is worse off; the limits are always 1 and -1. The survey prints only
    the first line, which gives values beyond -1 if d < 0. Because d_max jumps with the sign, the
    expectation of delta is not 0 under equality: use d to test for discrimination. The interval is
    that of d, each end divided by its own d_max, with the margins fixed.

    References
    ----------
    Zliobaite (2015), arXiv:1505.05723.

    Examples
    --------
    d = 5/12, p = 4/7, q = 3/7; d_max = min(4/4, 3/3) = 1.

    >>> sex = ["m", "m", "m", "m", "f", "f", "f"]
    >>> round(normalized_difference(None, [1, 1, 1, 0, 1, 0, 0], protected=sex), 4)
    0.4167
    """
    rates = pair.selection
    plain, p, q = _contrast.difference(rates), rates.pooled, rates.share

    def scaled(d):
        limit = np.where(
            d >= 0,
            np.minimum(p / (1 - q), (1 - p) / q),
            np.minimum(p / q, (1 - p) / (1 - q)),
        )
        return np.where((limit == 0) & (d == 0), zero_division, d / limit)

    def interval(significance):
        ends = (scaled(e) for e in plain.interval(significance))
        return tuple(np.clip(e, -1, 1) for e in ends)

    return Contrast(scaled(plain.value), interval, plain.p_value)


normalized_difference_report = normalized_difference.report


@measure()
def impact_ratio(pair, *, zero_division=float("nan")):
    r"""Share of favorable decisions in the group over that in its reference.

    .. math:: r = p(+|s_1) / p(+|s_0)

    Other Parameters
    ----------------
    zero_division : float, default=NaN; the value if no decision is favorable, 0/0

    Notes
    -----
    Below 1 the protected group is worse off; with `reference="best"` it is the ratio of the
    four-fifths rule (29 CFR 1607.4 D). The survey calls both this and the difference slift, and
    plots the inverse, a/b. Infinite if only the group has favorable decisions. Interval of Donner
    and Zou (2012), score test (mid-p for small counts).

    References
    ----------
    Pedreschi, Ruggieri and Turini (2009), :doi:`10.1137/1.9781611972795.50`.

    Examples
    --------
    (1/3) / (3/4)

    >>> sex = ["m", "m", "m", "m", "f", "f", "f"]
    >>> round(impact_ratio(None, [1, 1, 1, 0, 1, 0, 0], protected=sex), 4)
    0.4444
    """
    rates = pair.selection
    plain = _contrast.ratio(rates)
    no_favor = (rates.x1 == 0) & (rates.x0 == 0) & (rates.n1 > 0) & (rates.n0 > 0)
    value = np.where(no_favor, zero_division, plain.value)
    return Contrast(value, plain.interval, plain.p_value)


impact_ratio_report = impact_ratio.report


@measure()
def elift(pair, *, convention="protected"):
    r"""Share of favorable decisions in one group over the share in both groups together.

    .. math:: p(+|s_1) / p(+) \quad\text{or, "general",}\quad p(+|s_0) / p(+)

    Other Parameters
    ----------------
    convention : {"protected", "general"}, default="protected"; the group in the numerator, s_1 or
        s_0

    Notes
    -----
    The protected group is worse off below 1 with "protected", and above 1 with "general". The
    survey prints the second form and gives the limits of the first. The limit of reverse
    discrimination is min(1/q, 1/p), not infinity. The interval is that of the impact ratio r,
    mapped by r / (q r + 1 - q) with the share q of the group fixed.

    References
    ----------
    Pedreschi, Ruggieri and Turini (2008), :doi:`10.1145/1401890.1401959`.

    Examples
    --------
    (1/3) / (4/7)

    >>> sex = ["m", "m", "m", "m", "f", "f", "f"]
    >>> round(elift(None, [1, 1, 1, 0, 1, 0, 0], protected=sex), 4)
    0.5833
    """
    check_choice("convention", convention, ("protected", "general"))
    rates = pair.selection
    if pair.overlap:  # the reference is all rows
        top = rates.protected if convention == "protected" else rates.reference
        return Contrast(top / rates.reference)
    q, is_protected = rates.share, convention == "protected"

    def transform(r):
        if is_protected:
            return _contrast.over_everyone(r, q)
        return 1 / (q * r + 1 - q)

    plain = _contrast.ratio(rates, transform)

    def interval(significance):
        ends = plain.interval(significance)
        return ends if is_protected else ends[::-1]

    top = rates.protected if is_protected else rates.reference
    return Contrast(top / rates.pooled, interval, plain.p_value)


elift_report = elift.report


@measure()
def odds_ratio(pair, *, haldane=False):
    r"""Odds of a favorable decision in the reference over those in the group.

    .. math:: \frac{p(+|s_0)\, p(-|s_1)}{p(+|s_1)\, p(-|s_0)}

    Other Parameters
    ----------------
    haldane : bool, default=False; whether ½ is added to each of the four counts, so that none is 0

    Notes
    -----
    Above 1 the protected group is worse off. Table 4 of the survey (0, 1, infinity) describes the
    inverse: as printed and computed, the maximum is infinity. The odds ratio is the exponential of
    the coefficient of s_0 in a logistic regression. Woolf's interval, with ½ added if a count is 0.

    References
    ----------
    Haldane (1956), :doi:`10.1111/j.1469-1809.1955.tb01285.x`.

    Examples
    --------
    (3 · 2) / (1 · 1)

    >>> sex = ["m", "m", "m", "m", "f", "f", "f"]
    >>> odds_ratio(None, [1, 1, 1, 0, 1, 0, 0], protected=sex)
    6.0
    """
    return _contrast.odds(pair.selection, haldane)


odds_ratio_report = odds_ratio.report


@measure()
def balanced_residuals(pair):
    r"""Mean residual of the group minus that of its reference.

    .. math:: \frac{1}{n_1} \sum_{s_1} (y_i - \hat y_i) - \frac{1}{n_0} \sum_{s_0} (y_j - \hat y_j)

    Notes
    -----
    Above 0 the protected group is worse off: its predictions are too low, compared with those of
    the reference. The measure inherits every bias of the labels. Between -2 and 2 for decisions, in
    the unit of y for numbers. Welch's interval and test, with Hall's correction for skewness.

    References
    ----------
    Calders et al. (2013), :doi:`10.1109/ICDM.2013.114`.

    Examples
    --------
    Residuals of f: 1, 0 and of m: 0, 0; ½ - 0.

    >>> balanced_residuals([1, 0, 1, 0, 1], [0, 0, 1, 0, 1], protected=["f", "f", "m", "m", "m"])
    0.5
    """
    part = pair.residual
    return _contrast.mean_gap(part.group, part.reference)


balanced_residuals_report = balanced_residuals.report
