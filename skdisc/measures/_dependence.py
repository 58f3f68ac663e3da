"""Absolute measures of all groups at once, without a direction."""

from functools import partial

import numpy as np
from scipy import special, stats

from skdisc._stats._ranks import inner_quantiles
from skdisc._utils._inputs import check_choice
from skdisc.measures._formula import _contrast
from skdisc.measures._formula._contrast import CHI2, Contrast
from skdisc.measures._formula._decorator import measure
from skdisc.measures._formula._pairs import GroupValues, Rates

ROBUST = "robust score test"


@measure(omnibus=True)
def eta_neutrality(pair):
    r"""Largest relative excess of a decision in a group over independence.

    .. math:: \eta = \max_{y, s} \frac{p(y, s)}{p(y)\, p(s)} - 1

    Notes
    -----
    0 without discrimination, and unsigned: the larger it is, the more one of the decisions
    concentrates in one of the groups. The interval ends at the largest of the limits of all groups
    against the rest, the lower ones corrected for their number (Bonferroni); chi-squared test.

    References
    ----------
    Fukuchi, Sakuma and Kamishima (2013), :doi:`10.1007/978-3-642-40991-2_32`.

    Examples
    --------
    Rates ¾ and ⅓, overall 4/7: the largest of 21/16, 7/12, (1/4)/(3/7) and (2/3)/(3/7) is 14/9.

    >>> sex = ["m", "m", "m", "m", "f", "f", "f"]
    >>> round(eta_neutrality(None, [1, 1, 1, 0, 1, 0, 0], protected=sex), 4)
    0.5556
    """
    x, n = by_group(pair)
    p = (x.sum(-1) / n.sum(-1))[..., None]
    excess = np.stack([x / n / p, (n - x) / n / (1 - p)])
    value = np.nanmax(np.where(np.isnan(excess), -np.inf, excess), axis=(0, -1)) - 1
    varied = (p[..., 0] > 0) & (p[..., 0] < 1)
    interval = None if pair.design is not None else partial(_largest_excess, x, n)
    return Contrast(np.where(varied, value, np.nan), interval, _chi2(pair))


def _largest_excess(x, n, significance):
    """Return the interval of the largest excess of a decision in a group."""
    rates = Rates(x, n, x.sum(-1, keepdims=True) - x, n.sum(-1, keepdims=True) - n)
    n_tests = max(x.shape[-1], 1) if x.shape[-1] > 2 else 1
    ends = []
    for k, level in enumerate((significance / n_tests, significance)):
        side_limits = [_over_everyone(part, level)[k] for part in (rates, rates.complement)]
        limits = np.concatenate(side_limits, axis=-1)
        ends.append(np.where(np.isnan(limits), -np.inf, limits).max(axis=-1) - 1)
    return np.maximum(ends[0], 0), ends[1]


def _over_everyone(part, level):
    """Return the intervals of the rates of groups over the rate of everyone."""
    q = part.share
    return _contrast.ratio(part, lambda r: _contrast.over_everyone(r, q)).interval(level)


eta_neutrality_report = eta_neutrality.report


def _information_of_numbers(s, y, weight, positions, *, normalized, n_bins):
    """Return the mutual information of decisions and a protected number."""
    group = np.searchsorted(_edges(s, n_bins or 10), s, side="left")
    rows = GroupValues(y, weight, group, int(group.max()) + 1)
    return Contrast(
        mutual_information.plan.function(rows, normalized=normalized, n_bins=n_bins).value
    )


@measure(omnibus=True, of_numbers=_information_of_numbers)
def mutual_information(pair, *, normalized=True, n_bins=10):
    r"""Mutual information of decisions and groups, over the geometric mean of their entropies.

    .. math:: I(y, s) / \sqrt{H(y) H(s)}, \quad I = \sum p(y, s) \log \frac{p(y, s)}{p(y) p(s)}

    Other Parameters
    ----------------
    normalized : bool, default=True; False gives I in bits
    n_bins : int or None, default=10; number of quantile bins of numeric decisions and protected
        numbers; None: each value of the decisions is a class, and protected numbers have 10 bins

    Notes
    -----
    0 without discrimination, and unsigned: it does not say which group is worse off. 1 if group and
    decision determine each other. Decisions of several classes, as text, count as they are, unless
    `pos_label` names the favorable ones. The survey prints a comma under the root. Undefined if all
    decisions are equal (I in bits is then 0). For classes the interval inverts the noncentral
    chi-squared distribution, and the test is a chi-squared test; bootstrap interval for numbers.
    Estimates are biased upward in small samples.

    References
    ----------
    Fukuchi, Sakuma and Kamishima (2013), :doi:`10.1007/978-3-642-40991-2_32`.

    Examples
    --------
    Two of two and none of two: group and decision determine each other.

    >>> mutual_information(None, [1, 1, 0, 0], protected=["m", "m", "f", "f"])
    1.0
    """
    by_value = pair.is_numeric and n_bins is None
    table = _contingency(pair, n_bins)
    total = table.sum(axis=(-1, -2), keepdims=True)
    p = table / total
    h_s, h_y, h_sy = (_entropy(v) for v in (p.sum(-1), p.sum(-2), p.reshape(*p.shape[:-2], -1)))
    information = np.maximum(h_s + h_y - h_sy, 0)
    value = information / np.sqrt(h_s * h_y) if normalized else information
    constant = np.count_nonzero(table.sum(-2), axis=-1) < 2  # rounding leaves an entropy of 1e-16
    value = np.where(constant, np.nan if normalized else 0.0, value)
    scale = np.sqrt(h_s * h_y) if normalized else 1.0
    test = partial(_chi2_of_classes, pair, table) if by_value else _chi2(pair)
    return Contrast(value, _noncentral(pair, value, 2 * np.log(2) * scale), test)


mutual_information_report = mutual_information.report


@measure(omnibus=True)
def one_variable_prediction(pair, *, loss="squared"):
    r"""Skill of predicting decisions from the group alone, over the best constant prediction.

    .. math:: 1 - L(y, \hat y(s)) / L(y, \hat y)

    Other Parameters
    ----------------
    loss : {"squared", "zero_one"}, default="squared"; the share of variance explained by groups
        (for classes: Brier skill), or the share of errors avoided by knowing the group (classes)

    Notes
    -----
    0 without discrimination, 1 if the group determines the decision; unsigned. "zero_one" stays 0
    as long as all groups have the same majority, even if rates differ. For classes the chi-squared
    test, whose noncentral distribution is inverted for the interval of "squared"; for numbers the
    F-test, and a bootstrap interval.

    References
    ----------
    Goodman and Kruskal (1954), :doi:`10.1080/01621459.1954.10501231`.

    Examples
    --------
    3 errors without and 2 with the group: 1 - 2/3. Squared: chi-squared / n.

    >>> y, sex = [1, 1, 1, 0, 1, 0, 0], ["m", "m", "m", "m", "f", "f", "f"]
    >>> round(one_variable_prediction(None, y, protected=sex, loss="zero_one"), 4)
    0.3333
    >>> round(one_variable_prediction(None, y, protected=sex), 4)
    0.1736
    """
    check_choice("loss", loss, ("squared", "zero_one"))
    if pair.is_numeric:
        if loss == "zero_one":
            raise ValueError('loss="zero_one" counts errors of classes, but decisions are numbers')
        return _explained(pair)
    x, n = by_group(pair)
    if loss == "squared":
        within, whole = (x * (n - x) / n), x.sum(-1) * (n - x).sum(-1) / n.sum(-1)
    else:
        within, whole = np.minimum(x, n - x), np.minimum(x.sum(-1), (n - x).sum(-1))
    value = 1 - np.where(n > 0, within, 0).sum(-1) / whole
    interval = _noncentral(pair, value, 1.0) if loss == "squared" else None
    return Contrast(value, interval, _chi2(pair))


one_variable_prediction_report = one_variable_prediction.report


def by_group(pair):
    """Return the favorable decisions and the rows of each group, shape (..., n_groups)."""
    table = pair.merged[0]
    return table[..., 1, :].sum(-1), table.sum((-1, -2))


def _contingency(pair, n_bins):
    """Return the table of groups and decisions, shape (..., n_groups, n_values)."""
    if not pair.is_numeric:
        return pair.merged[0].sum(axis=-1)
    edges = _edges(pair.value, n_bins)
    index = pair.group * (len(edges) + 1) + np.searchsorted(edges, pair.value, side="left")
    size = pair.n_groups * (len(edges) + 1)
    return np.bincount(index, pair.weight, minlength=size).reshape(pair.n_groups, -1)


def _edges(values, n_bins):
    """Return the inner edges of quantile bins; None: of bins of one value each."""
    if n_bins is None:
        return np.unique(values)[:-1]
    return inner_quantiles(values, n_bins)


def _entropy(p):
    """Return the entropy in bits, over the last axis."""
    return special.entr(p).sum(axis=-1) / np.log(2)


def _chi2(pair):
    """Return a function that gives the chi-squared p-value of equal rates; NaN for numbers."""

    def p_value():
        if pair.is_numeric:
            return np.nan, ""
        statistic, df = chi2_of(pair)
        return stats.chi2.sf(statistic, df), CHI2 if pair.design is None else ROBUST

    return p_value


def _chi2_of_classes(pair, table):
    """Return Pearson's p-value of independence of groups and several classes, and its name."""
    if pair.design is not None:
        return np.nan, ""
    table = table[np.ix_(table.sum(1) > 0, table.sum(0) > 0)]
    if min(table.shape) < 2:
        return np.nan, ""
    return stats.chi2_contingency(table, correction=False).pvalue, CHI2


def _noncentral(pair, value, factor):
    """Return the interval of a measure near chi-squared / (factor n); None for numbers.

    Its ends belong to the noncentralities of which the statistic is a quantile, the upper one
    relative to equality, so that it does not vanish for a statistic near 0.
    """
    if pair.is_numeric:
        return None

    def interval(significance):
        statistic, df = chi2_of(pair)
        with np.errstate(divide="ignore", invalid="ignore"):
            least = 1 / (factor * pair.merged[0].sum(axis=(-1, -2, -3)))
            unit = np.where(statistic > 1e-9, value / statistic, least)
        observed = np.maximum(statistic, 1e-6)
        central = special.chdtr(df, observed)
        low = special.chndtrinc(observed, df, np.minimum(1 - significance / 2, central))
        high = special.chndtrinc(observed, df, significance / 2 * central)
        low = np.where(central <= 1 - significance / 2, 0.0, low)
        return np.minimum(unit * low, 1), np.minimum(unit * high, 1)

    return interval


def chi2_of(pair):
    """Return the chi-squared statistic of equal rates and its degrees of freedom."""
    if pair.design is not None:
        return pair.design.chi2()
    x, n = by_group(pair)
    p = (x.sum(-1) / n.sum(-1))[..., None]
    terms = np.where(n > 0, n * (x / n - p) ** 2, 0) / (p * (1 - p))
    return terms.sum(-1), np.count_nonzero(n > 0, axis=-1) - 1


def _explained(pair):
    """Return the share of variance between groups with its F-test."""
    n = np.bincount(pair.group, pair.weight, minlength=pair.n_groups)
    mean = np.bincount(pair.group, pair.weight * pair.value, minlength=pair.n_groups) / n
    center = np.average(pair.value, weights=pair.weight)
    between = (n * (mean - center) ** 2).sum()
    whole = (pair.weight * (pair.value - center) ** 2).sum()
    df = len(n) - 1, n.sum() - len(n)

    def p_value():
        if pair.design is not None:
            return stats.chi2.sf(*pair.design.chi2()), ROBUST
        return stats.f.sf(between / df[0] / ((whole - between) / df[1]), *df), "F-test"

    return Contrast(between / whole, None, p_value)
