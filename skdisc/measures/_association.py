"""Absolute measures of order: ranks, quantiles, distributions, correlation with the group."""

import numpy as np
from scipy import special, stats

from skdisc._stats import DesignMeans
from skdisc._stats._bisection import bisected
from skdisc._stats._ranks import (
    midranks,
    rank_statistic,
    weighted_quantile,
    weighted_quantile_limits,
)
from skdisc.measures._formula import _contrast
from skdisc.measures._formula._contrast import Contrast, distribution_gap
from skdisc.measures._formula._decorator import measure

WOODRUFF = "Woodruff intervals"
_METHODS = ("pearson", "spearman", "kendall")


@measure()
def area_under_curve(pair):
    r"""Probability that a decision in the reference is better than one in the group.

    .. math:: P(y_0 > y_1) + \tfrac12 P(y_0 = y_1) = \frac{R_0 - n_0 (n_0 + 1) / 2}{n_0 n_1}

    with R_0 the sum of the midranks of the reference.

    Notes
    -----
    Above ½ the protected group is worse off. The survey prints the rank form without the division
    by n_0 n_1, and the other form without ties. For binary decisions the area is ½ + d / 2, with d
    the mean difference and its interval (in the last term of the survey, ``p(-|s_0) p(-|s_0)``, one
    ``s_0`` should be ``s_1``); for numbers, DeLong's interval and the Mann-Whitney test.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988), :doi:`10.2307/2531595`.

    Examples
    --------
    In six pairs (m, f), m is higher in 5 and equal in 1: 5.5 / 6.

    >>> y, sex = [5, 3, 2, 2, 1], ["m", "m", "m", "f", "f"]
    >>> area_under_curve(None, y, protected=sex, pos_label=None)
    0.9166666666666666
    """
    if not pair.is_numeric:
        plain = _contrast.difference(pair.selection)
        return Contrast(
            (plain.value + 1) / 2,
            lambda s: tuple((e + 1) / 2 for e in plain.interval(s)),
            plain.p_value,
        )
    area, error, z = rank_statistic(*pair.levels[1:])

    def interval(significance):
        half = -special.ndtri(significance / 2) * np.where(error > 0, error, np.nan)
        return np.clip(area - half, 0, 1), np.clip(area + half, 0, 1)

    return Contrast(area, interval, _contrast.normal_p(z, _contrast.RANKS))


area_under_curve_report = area_under_curve.report


@measure()
def quantile_difference(pair, *, quantile=0.5):
    r"""Quantile of the decisions in the reference minus that in the group, such as the median.

    .. math:: Q_0(q) - Q_1(q), \quad Q(q) = \inf \{y : F(y) \ge q\}

    Other Parameters
    ----------------
    quantile : float, default=0.5; q, between 0 and 1

    Notes
    -----
    Above 0 the protected group is worse off. For decisions that are numbers, such as pay. Where the
    rows divide at the share q exactly, the quantile is the middle between two values, as the usual
    median is; weights count as rows. Interval: Woodruff's limits of each quantile, the values at
    the shares :math:`q \pm z \sqrt{q (1 - q) / n}`, combined in quadrature; it is infinite where a
    group is too small to have a limit (fewer than 4 rows for the median, 35 for the quantiles .1
    and .9). The p-value is the level at which the interval reaches 0.

    References
    ----------
    Woodruff (1952), :doi:`10.1080/01621459.1952.10483443`; Zou and Donner (2008),
    :doi:`10.1002/sim.3095`.

    Examples
    --------
    Medians 4 and 2.

    >>> y, sex = [3, 4, 9, 1, 2, 3], ["m", "m", "m", "f", "f", "f"]
    >>> quantile_difference(None, y, protected=sex, reference="m", pos_label=None)
    2.0
    """
    value, weight1, weight0 = pair.levels
    q1, q0 = (weighted_quantile(value, weight, quantile) for weight in (weight1, weight0))
    gap = q0 - q1

    def limits(z, sizes):
        """Return the limits of the gap z standard errors away, from those of both quantiles.

        In quadrature, as Zou and Donner (2008) combine the limits of two estimates.
        """
        n1, n0 = sizes
        low1, high1 = weighted_quantile_limits(value, weight1, quantile, n1, z)
        low0, high0 = weighted_quantile_limits(value, weight0, quantile, n0, z)
        return gap - np.hypot(q0 - low0, high1 - q1), gap + np.hypot(high0 - q0, q1 - low1)

    def interval(significance):
        return limits(-special.ndtri(significance / 2), _sizes_below(pair, (q1, q0)))

    def p_value():
        """Return the level at which the interval reaches 0, by bisection of its normal quantile."""
        sizes = _sizes_below(pair, (q1, q0))

        def excludes_0(z):
            below, above = limits(z, sizes)
            return not below <= 0 <= above

        return 2 * special.ndtr(-bisected(excludes_0, 0.0, 40.0, 50)[0]), WOODRUFF

    return Contrast(gap, interval, p_value)


quantile_difference_report = quantile_difference.report


def _sizes_below(pair, quantiles):
    """Return, for each side, the effective number of rows behind the share up to its quantile."""
    sides = pair.one, pair.zero
    if pair.clusters is None:
        return [side[2].sum() for side in sides]
    below = np.concatenate([side[0] <= q for side, q in zip(sides, quantiles, strict=True)])
    weight, cluster = np.concatenate([s[2] for s in sides]), np.concatenate(pair.clusters)
    first = np.arange(len(below)) < len(sides[0][0])
    return DesignMeans.of(below * 1.0, weight, first, ~first, cluster).sizes()[:, 0]


@measure()
def wasserstein_distance(pair):
    r"""Mean distance that the decisions of one group have to move to be those of its reference.

    .. math:: \int |F_1(y) - F_0(y)| \, dy = \int_0^1 |Q_1(q) - Q_0(q)| \, dq

    Notes
    -----
    0 without discrimination, and unsigned: it does not say which group is worse off. In the unit of
    the decisions, which are numbers, such as pay; at least as large as the difference of means. It
    sees any difference of the distributions, as of their spread, and in samples it is above 0 even
    if there is none. There is no test but by permutation: set `permutations`. The interval is the
    value plus and minus a quantile of the distance that the difference of the distributions has
    from its bootstrap replicates: by the triangle inequality, the value is no further from the
    truth than the difference is.

    References
    ----------
    Vallender (1974), :doi:`10.1137/1118101`.

    Examples
    --------
    3, 4, 5 and 1, 2, 3: each has to move by 2.

    >>> y, sex = [3, 4, 5, 1, 2, 3], ["m", "m", "m", "f", "f", "f"]
    >>> round(wasserstein_distance(None, y, protected=sex, pos_label=None), 4)
    2.0
    """
    value, *weights = pair.levels
    gap = distribution_gap(*weights)
    return Contrast(np.abs(gap[:-1]) @ np.diff(value), curve=(value, gap))


wasserstein_distance_report = wasserstein_distance.report


def _correlation_of_numbers(s, y, weight, positions, *, method):
    """Return the correlation of decisions with a protected number."""
    method = _method(method)
    value, n = _correlate(s, y, weight, method), weight.sum()

    def p_value():
        t = value * np.sqrt((n - 2) / (1 - value**2))
        return 2 * stats.t.sf(np.abs(t), n - 2), f"{method} correlation t-test"

    return Contrast(value, lambda s: _fisher_z(value, n, method, s), p_value)


@measure(of_numbers=_correlation_of_numbers)
def correlation(pair, *, method=None):
    r"""Correlation of decisions with membership in the reference, or with a protected number.

    .. math:: \mathrm{corr}(y, 1[s = s_0]) \quad\text{or}\quad \mathrm{corr}(y, s)

    Other Parameters
    ----------------
    method : {"pearson", "spearman", "kendall"} or None, default=None
        Kendall's is tau-b. None: Spearman's of ordered categories, which have no distances, and
        otherwise Pearson's.

    Notes
    -----
    Above 0 the protected group is worse off; with a protected number, above 0 larger numbers
    receive better decisions. For binary decisions all three methods give the phi coefficient.
    Interval by Fisher's z (Bonett and Wright 2000 for ranks); score test, Welch's test or t-test.

    References
    ----------
    Bonett and Wright (2000), :doi:`10.1007/BF02294183`.

    Examples
    --------
    phi = (3 · 2 - 1 · 1) / sqrt(4 · 3 · 4 · 3) = 5 / 12

    >>> sex = ["m", "m", "m", "m", "f", "f", "f"]
    >>> round(correlation(None, [1, 1, 1, 0, 1, 0, 0], protected=sex), 4)
    0.4167
    """
    method = _method(method)
    if not pair.is_numeric:
        r = pair.selection
        value = (r.reference - r.protected) * np.sqrt(r.share * (1 - r.share))
        value = value / np.sqrt(r.pooled * (1 - r.pooled))
        n = r.n1 + r.n0
        test = _contrast.difference(r).p_value
    else:
        (p1, _, w1, *_), (p0, _, w0, *_) = pair.one, pair.zero
        s = np.repeat([0.0, 1.0], [len(p1), len(p0)])
        weight = np.concatenate([w1, w0])
        value, n = _correlate(s, np.concatenate([p1, p0]), weight, method), weight.sum()
        test = area_under_curve.plan.function(pair).p_value
        if method == "pearson":
            test = _contrast.difference(pair.selection).p_value
    return Contrast(value, lambda significance: _fisher_z(value, n, method, significance), test)


correlation_report = correlation.report


def _method(method):
    """Return the method of a correlation; raise ValueError for another word."""
    if method is None:
        return "pearson"
    if method not in _METHODS:
        raise ValueError(f"method must be None or one of {_METHODS}, got {method!r}")
    return method


def _correlate(s, y, weight, method):
    """Return the correlation of two weighted columns; NaN if one is constant."""
    if method == "kendall":
        if np.any(weight != weight[0]):
            raise ValueError(
                'method="kendall" does not support sample_weight; repeat the rows instead'
            )
        return stats.kendalltau(s, y).statistic if np.ptp(y) > 0 else np.nan
    if method == "spearman":
        s, y = midranks(s, weight), midranks(y, weight)
    s, y = (v - np.average(v, weights=weight) for v in (s, y))
    scale = np.sqrt((weight * s**2).sum() * (weight * y**2).sum())
    return (weight * s * y).sum() / scale if scale > 0 else np.nan


def _fisher_z(value, n, method, significance):
    """Return the interval of a correlation by Fisher's z.

    The variances of z are 1 / (n - 3), (1 + r^2 / 2) / (n - 3) and .437 / (n - 4) (Bonett and
    Wright 2000). A correlation of -1 or 1 has none.
    """
    lost, factor = {
        "pearson": (3, 1.0),
        "spearman": (3, 1 + value**2 / 2),
        "kendall": (4, 0.437),
    }[method]
    half = -special.ndtri(significance / 2) * np.sqrt(factor / np.where(n > lost, n - lost, np.nan))
    center = np.arctanh(np.where(np.abs(value) < 1 - 1e-12, value, np.nan))
    return np.tanh(center - half), np.tanh(center + half)
