"""Absolute measures of order: ranks of decisions, and their correlation with the group."""

import numpy as np
from scipy import special, stats

from skdisc._stats._ranks import midranks, rank_statistic
from skdisc.measures._formula import _contrast
from skdisc.measures._formula._contrast import Contrast
from skdisc.measures._formula._decorator import measure

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
        half = -special.ndtri(significance / 2) * error
        return np.clip(area - half, 0, 1), np.clip(area + half, 0, 1)

    return Contrast(area, interval, _contrast.normal_p(z, _contrast.RANKS))


area_under_curve_report = area_under_curve.report


def _correlation_of_numbers(s, y, weight, kept, *, method):
    """Return the correlation of decisions with a protected number."""
    value, n = _correlate(s, y, weight, method), weight.sum()

    def p_value():
        t = value * np.sqrt((n - 2) / (1 - value**2))
        return 2 * stats.t.sf(np.abs(t), n - 2), f"{method} correlation t-test"

    return Contrast(value, lambda s: _fisher_z(value, n, method, s), p_value)


@measure(of_numbers=_correlation_of_numbers)
def correlation(pair, *, method="pearson"):
    r"""Correlation of decisions with membership in the reference, or with a protected number.

    .. math:: \mathrm{corr}(y, 1[s = s_0]) \quad\text{or}\quad \mathrm{corr}(y, s)

    Other Parameters
    ----------------
    method : {"pearson", "spearman", "kendall"}, default="pearson"; kendall is tau-b

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
    if method not in _METHODS:
        raise ValueError(f"method must be one of {_METHODS}, got {method!r}")
    if not pair.is_numeric:
        r = pair.selection
        value = (r.general - r.protected) * np.sqrt(r.share * (1 - r.share))
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
    """Return the interval of a correlation by Fisher's z."""
    lost, factor = {
        "pearson": (3, 1.0),
        "spearman": (3, 1 + value**2 / 2),
        "kendall": (4, 0.437),
    }[method]
    half = -special.ndtri(significance / 2) * np.sqrt(factor / np.where(n > lost, n - lost, np.nan))
    center = np.arctanh(value)
    return np.tanh(center - half), np.tanh(center + half)
