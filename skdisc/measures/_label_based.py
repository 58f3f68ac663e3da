"""Absolute measures that compare decisions with labels, and inherit every bias of the labels."""

import numpy as np
from scipy import special

from skdisc.measures._formula import _contrast
from skdisc.measures._formula._contrast import Contrast
from skdisc.measures._formula._decorator import measure


@measure()
def equal_opportunity(pair):
    r"""True positive rate of the reference minus that of the group.

    .. math:: P(\hat y = + | y = +, s_0) - P(\hat y = + | y = +, s_1)

    Notes
    -----
    Above 0 the protected group is worse off: fewer of its rows with a favorable label are favored.
    Undefined if a group has no favorable label. Newcombe's interval, score test.

    References
    ----------
    Hardt, Price and Srebro (2016), arXiv:1610.02413.

    Examples
    --------
    2 of 2 men and 1 of 2 women with a favorable label are favored.

    >>> y_true, sex = [1, 1, 0, 1, 1, 0, 0], ["m", "m", "m", "f", "f", "f", "f"]
    >>> equal_opportunity(y_true, [1, 1, 0, 1, 0, 0, 0], protected=sex, reference="m")
    0.5
    """
    return _contrast.difference(pair.rates("true_positive_rate"))


equal_opportunity_report = equal_opportunity.report


@measure()
def equalized_odds(pair):
    r"""Largest gap of true or false positive rates between reference and group.

    .. math:: \max_{y} | P(\hat y = + | y, s_0) - P(\hat y = + | y, s_1) |

    Notes
    -----
    0 without discrimination; unsigned: it does not say which group is worse off. Undefined if a
    group lacks favorable or unfavorable labels, because the gap of one rate is then unknown;
    ``average="defined"`` returns the largest gap that is known. The interval ends at the larger of
    the limits of both gaps (Newcombe), the lower ones at half the significance.
    The p-value is twice the smaller p-value of the tests of both rates.

    References
    ----------
    Hardt, Price and Srebro (2016), arXiv:1610.02413.

    Examples
    --------
    True positive rates 1 and ½, false positive rates 0 and 0.

    >>> y_true, sex = [1, 1, 0, 1, 1, 0, 0], ["m", "m", "m", "f", "f", "f", "f"]
    >>> equalized_odds(y_true, [1, 1, 0, 1, 0, 0, 0], protected=sex)
    0.5
    """
    parts = _odds(pair)
    gaps = [np.abs(p.reference - p.protected) for p in parts]

    def p_value():
        p_values = [_contrast.proportions(p)[0] for p in parts]
        return np.minimum(1, 2 * np.minimum(*p_values)), "two score tests, Bonferroni"

    def interval(significance):
        lower = [_unsigned(p, significance / 2)[0] for p in parts]  # the larger of two
        upper = [_unsigned(p, significance)[1] for p in parts]  # that of the larger gap suffices
        return np.maximum(*lower), np.maximum(*upper)

    return Contrast(np.maximum(*gaps), interval, p_value, defined=np.fmax(*gaps))


def _unsigned(rates, significance):
    """Return the interval of the size of a gap of rates."""
    low, high = _contrast.difference(rates).interval(significance)
    return np.maximum(np.maximum(low, -high), 0), np.maximum(-low, high)


equalized_odds_report = equalized_odds.report


@measure()
def average_odds_difference(pair):
    r"""Mean of the gaps of true and of false positive rates, reference minus group.

    .. math:: \tfrac12 \sum_y [ P(\hat y = + | y, s_0) - P(\hat y = + | y, s_1) ]

    Notes
    -----
    Above 0 the protected group is worse off. AIF360 uses the opposite sign. The interval combines
    Newcombe's intervals of both gaps in quadrature.

    References
    ----------
    Bellamy et al. (2019), :doi:`10.1147/JRD.2019.2942287`.

    Examples
    --------
    (½ + 0) / 2

    >>> y_true, sex = [1, 1, 0, 1, 1, 0, 0], ["m", "m", "m", "f", "f", "f", "f"]
    >>> y_pred = [1, 1, 0, 1, 0, 0, 0]
    >>> average_odds_difference(y_true, y_pred, protected=sex, reference="m")
    0.25
    """
    parts = _odds(pair)
    plain = [_contrast.difference(p) for p in parts]
    value = (plain[0].value + plain[1].value) / 2

    def interval(significance):
        ends = [p.interval(significance) for p in plain]
        gaps = ([np.abs(e[k] - p.value) for e, p in zip(ends, plain, strict=True)] for k in (0, 1))
        below, above = (np.hypot(*g) / 2 for g in gaps)
        return value - below, value + above

    def p_value():
        effective = [p.effective for p in parts]
        spread = [p.pooled * (1 - p.pooled) * (1 / p.n1 + 1 / p.n0) for p in effective]
        z = 2 * value / np.sqrt(spread[0] + spread[1])
        return 2 * special.ndtr(-np.abs(z)), "stratified score test"

    return Contrast(value, interval, p_value)


average_odds_difference_report = average_odds_difference.report


def _odds(pair):
    """Return true and false positive rates."""
    return pair.rates("true_positive_rate"), pair.rates("false_positive_rate")


@measure()
def predictive_parity(pair):
    r"""Precision in the group minus precision in its reference: the outcome test.

    .. math:: P(y = + | \hat y = +, s_1) - P(y = + | \hat y = +, s_0)

    Notes
    -----
    Above 0 the protected group is worse off: its favored rows have better labels, which means that
    it had to meet a higher standard. Undefined if a group has no favorable decision. Newcombe's
    interval, score test.

    References
    ----------
    Chouldechova (2017), :doi:`10.1089/big.2016.0047`.

    Examples
    --------
    1 of 1 favored women and 1 of 2 favored men have a favorable label.

    >>> y_true, sex = [1, 0, 0, 1, 1], ["m", "m", "m", "f", "f"]
    >>> predictive_parity(y_true, [1, 1, 0, 1, 0], protected=sex)
    0.5
    """
    return _contrast.difference(pair.rates("positive_predictive_value").swapped)


predictive_parity_report = predictive_parity.report


@measure(by_group=True)
def calibration_within_groups(pair, *, n_bins=10):
    r"""Expected calibration error of a group: the distance of its scores from its rates.

    .. math:: \sum_b \frac{n_b}{n} | P(y = + | b, s_1) - E(\hat y | b, s_1) |

    Other Parameters
    ----------------
    n_bins : int, default=10; bins of equal width between 0 and 1

    Notes
    -----
    The first condition of Kleinberg et al., which each group has to meet by itself; there is no
    reference. 0 if it holds; unsigned. `y_pred` holds scores between 0 and 1, or decisions. Biased
    upward in small bins. Bootstrap interval.

    References
    ----------
    Kleinberg, Mullainathan and Raghavan (2017), :doi:`10.4230/LIPIcs.ITCS.2017.43`.

    Examples
    --------
    f: 0.6 - ½; m: 1 - 0.9; the largest value of all groups is returned.

    >>> y_true, sex = [1, 0, 1, 1], ["f", "f", "m", "m"]
    >>> error = calibration_within_groups(y_true, [0.6, 0.6, 0.9, 0.9], protected=sex)
    >>> round(error, 4)
    0.1
    """
    rates, score = pair.by_score(n_bins)
    gap = np.where(rates.n1 > 0, np.abs(rates.protected - score) * rates.n1, 0)
    return Contrast(gap.sum(axis=-2) / rates.n1.sum(axis=-2))


calibration_within_groups_report = calibration_within_groups.report


@measure()
def calibration_difference(pair, *, n_bins=10):
    r"""Rate of favorable labels at equal scores, group minus reference.

    .. math:: \sum_b w_b [ P(y = + | b, s_1) - P(y = + | b, s_0) ],
              \quad w_b \propto n_{1b} + n_{0b}

    Other Parameters
    ----------------
    n_bins : int, default=10; bins of equal width between 0 and 1

    Notes
    -----
    Above 0 the protected group is worse off: at equal scores its labels are better. Bins without
    rows of both groups are left out. Stratified Newcombe interval (Yan and Su 2010,
    :doi:`10.1198/sbr.2009.0049`), Cochran-Mantel-Haenszel test.

    References
    ----------
    Chouldechova (2017), :doi:`10.1089/big.2016.0047`.

    Examples
    --------
    One bin: 1 of 1 women and 1 of 2 men.

    >>> calibration_difference([1, 0, 1], [0.5, 0.5, 0.5], protected=["m", "m", "f"])
    0.5
    """
    rates, _ = pair.by_score(n_bins)
    used = (rates.n1 > 0) & (rates.n0 > 0)
    weight = np.where(used, rates.n1 + rates.n0, 0)
    gap = np.where(used, rates.protected - rates.reference, 0) * weight
    value = gap.sum(axis=-2) / weight.sum(axis=-2)
    test = _contrast.normal_p(_contrast.mantel_haenszel(rates), _contrast.CMH)
    share = weight / weight.sum(axis=-2, keepdims=True)

    def interval(significance):
        return _contrast.stratified_newcombe(rates.swapped, share, value, significance)

    return Contrast(value, interval, test)


calibration_difference_report = calibration_difference.report


@measure()
def balance_positive_class(pair):
    r"""Mean score of rows with a favorable label, reference minus group.

    .. math:: E(\hat y | y = +, s_0) - E(\hat y | y = +, s_1)

    Notes
    -----
    The second condition of Kleinberg et al. Above 0 the protected group is worse off. For decisions
    it equals `equal_opportunity`, with its interval and test; for scores Welch's.

    References
    ----------
    Kleinberg, Mullainathan and Raghavan (2017), :doi:`10.4230/LIPIcs.ITCS.2017.43`.

    Examples
    --------
    (0.8 + 0.6) / 2 - 0.5

    >>> y_true, sex = [1, 1, 0, 1, 0], ["m", "m", "m", "f", "f"]
    >>> gap = balance_positive_class(y_true, [0.8, 0.6, 0.1, 0.5, 0.4], protected=sex)
    >>> round(gap, 4)
    0.2
    """
    return _contrast.difference(pair.score(1))


balance_positive_class_report = balance_positive_class.report


@measure()
def balance_negative_class(pair):
    r"""Mean score of rows with an unfavorable label, reference minus group.

    .. math:: E(\hat y | y = -, s_0) - E(\hat y | y = -, s_1)

    Notes
    -----
    The third condition of Kleinberg et al. Above 0 the protected group is worse off: its rows with
    an unfavorable label have lower scores. Newcombe's interval and score test for decisions,
    Welch's for scores.

    References
    ----------
    Kleinberg, Mullainathan and Raghavan (2017), :doi:`10.4230/LIPIcs.ITCS.2017.43`.

    Examples
    --------
    0.1 - 0.4

    >>> y_true, sex = [1, 1, 0, 1, 0], ["m", "m", "m", "f", "f"]
    >>> gap = balance_negative_class(y_true, [0.8, 0.6, 0.1, 0.5, 0.4], protected=sex)
    >>> round(gap, 4)
    -0.3
    """
    return _contrast.difference(pair.score(0))


balance_negative_class_report = balance_negative_class.report
