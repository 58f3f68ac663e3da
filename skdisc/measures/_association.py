"""Absolute measures that ask how much decisions and the protected column know of each other."""

import numpy as np
from scipy import special, stats

from skdisc.measures import _contrast
from skdisc.measures._contrast import CHI2, Contrast
from skdisc.measures._measure import measure
from skdisc.measures._ranks import midranks, rank_statistic

_METHODS = ("pearson", "spearman", "kendall")


@measure
def area_under_curve(pair):
    r"""Chance that someone of the reference is decided better than someone of the group.

    .. math:: P(y_0 > y_1) + \tfrac12 P(y_0 = y_1) = \frac{R_0 - n_0 (n_0 + 1) / 2}{n_0 n_1}

    with R_0 the sum of the midranks of the reference.

    Notes
    -----
    Above ½ the protected group is worse off. The survey prints the rank form without the division
    by n_0 n_1, and the other form without ties. For favourable or unfavourable decisions it is
    ½ + d / 2, d the mean difference (the survey's last term p(-|s_0) p(-|s_0) has one s_1 too few),
    with its interval; for numbers DeLong's interval and the Mann-Whitney test.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988), :doi:`10.2307/2531595`.

    Examples
    --------
    Of six couples (m, f), m is higher in 4 and equal in 1: 4.5 / 6.

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


@measure(omnibus=True)
def eta_neutrality(pair):
    r"""Largest excess of a decision in a group over independence, over all groups and decisions.

    .. math:: \eta = \max_{y, s} \frac{p(y, s)}{p(y)\, p(s)} - 1

    Notes
    -----
    0 without discrimination, and unsigned: the larger, the more one decision belongs to one group,
    whichever. Bootstrap interval, chi-squared test.

    References
    ----------
    Fukuchi, Sakuma and Kamishima (2013), :doi:`10.1007/978-3-642-40991-2_32`.

    Examples
    --------
    Rates ¾ and ⅓, all 4/7: the largest of 21/16, 7/12 and of (1/4)/(3/7), (2/3)/(3/7) is 14/9.

    >>> sex = ["m", "m", "m", "m", "f", "f", "f"]
    >>> round(eta_neutrality(None, [1, 1, 1, 0, 1, 0, 0], protected=sex), 4)
    0.5556
    """
    x, n = _by_group(pair)
    p = (x.sum(-1) / n.sum(-1))[..., None]
    excess = np.stack([x / n / p, (n - x) / n / (1 - p)])
    value = np.nanmax(np.where(np.isnan(excess), -np.inf, excess), axis=(0, -1)) - 1
    varied = (p[..., 0] > 0) & (p[..., 0] < 1)
    return Contrast(np.where(varied, value, np.nan), None, _chi2(pair))


@measure(omnibus=True)
def mutual_information(pair, *, normalized=True, n_bins=10):
    r"""Mutual information of decisions and groups, over the geometric mean of their entropies.

    .. math:: I(y, s) / \sqrt{H(y) H(s)}, \quad I = \sum p(y, s) \log \frac{p(y, s)}{p(y) p(s)}

    Other Parameters
    ----------------
    normalized : bool, default=True; False gives I in bits
    n_bins : int, default=10; numbers are cut at as many quantiles

    Notes
    -----
    0 without discrimination, and unsigned: it cannot say who is worse off. 1 where group and
    decision determine each other. The survey's print has a comma under the root. Undefined where
    all decisions are equal (I in bits is 0). Bootstrap interval; chi-squared test. Estimates are
    biased upward in small samples.

    References
    ----------
    Fukuchi, Sakuma and Kamishima (2013), :doi:`10.1007/978-3-642-40991-2_32`.

    Examples
    --------
    Two of two and none of two: group and decision are one.

    >>> mutual_information(None, [1, 1, 0, 0], protected=["m", "m", "f", "f"])
    1.0
    """
    table = _contingency(pair, n_bins)
    total = table.sum(axis=(-1, -2), keepdims=True)
    p = table / total
    h_s, h_y, h_sy = (_entropy(v) for v in (p.sum(-1), p.sum(-2), p.reshape(*p.shape[:-2], -1)))
    information = np.maximum(h_s + h_y - h_sy, 0)
    value = information / np.sqrt(h_s * h_y) if normalized else information
    return Contrast(np.where(h_y == 0, np.nan if normalized else 0.0, value), None, _chi2(pair))


@measure(omnibus=True)
def one_variable_prediction(pair, *, loss="squared"):
    r"""How well decisions are predicted from the group alone: skill over the best constant.

    .. math:: 1 - L(y, \hat y(s)) / L(y, \hat y)

    Other Parameters
    ----------------
    loss : {"squared", "zero_one"}, default="squared"; the share of variance that groups explain
        (for classes: Brier skill), or the share of errors that knowing the group avoids (classes)

    Notes
    -----
    0 without discrimination, 1 where the group determines the decision; unsigned. "zero_one" stays
    0 as long as every group has the same majority, though rates differ. Bootstrap interval;
    chi-squared test for classes, F-test for numbers.

    References
    ----------
    Goodman and Kruskal (1954), :doi:`10.1080/01621459.1954.10501231`.

    Examples
    --------
    Errors 3 without, 2 with the group: 1 - 2/3. Squared: chi-squared / n.

    >>> y, sex = [1, 1, 1, 0, 1, 0, 0], ["m", "m", "m", "m", "f", "f", "f"]
    >>> round(one_variable_prediction(None, y, protected=sex, loss="zero_one"), 4)
    0.3333
    >>> round(one_variable_prediction(None, y, protected=sex), 4)
    0.1736
    """
    if loss not in ("squared", "zero_one"):
        raise ValueError(f'loss must be "squared" or "zero_one", got {loss!r}')
    if pair.is_numeric:
        if loss == "zero_one":
            raise ValueError('loss="zero_one" counts errors of classes; decisions are numbers here')
        return _explained(pair)
    x, n = _by_group(pair)
    if loss == "squared":
        within, whole = (x * (n - x) / n), x.sum(-1) * (n - x).sum(-1) / n.sum(-1)
    else:
        within, whole = np.minimum(x, n - x), np.minimum(x.sum(-1), (n - x).sum(-1))
    return Contrast(1 - np.where(n > 0, within, 0).sum(-1) / whole, None, _chi2(pair))


def _correlation_of_numbers(s, y, weight, kept, *, method):
    value, n = _correlate(s, y, weight, method), weight.sum()

    def p_value():
        t = value * np.sqrt((n - 2) / (1 - value**2))
        return 2 * stats.t.sf(np.abs(t), n - 2), f"{method} correlation t-test"

    return Contrast(value, lambda s: _fisher_z(value, n, method, s), p_value)


@measure(of_numbers=_correlation_of_numbers)
def correlation(pair, *, method="pearson"):
    r"""Correlation of decisions with belonging to the reference, or with a protected number.

    .. math:: \mathrm{corr}(y, 1[s = s_0]) \quad\text{or}\quad \mathrm{corr}(y, s)

    Other Parameters
    ----------------
    method : {"pearson", "spearman", "kendall"}, default="pearson"; kendall is tau-b

    Notes
    -----
    Above 0 the protected group is worse off; with a protected number, above 0 those with larger
    numbers get more. For two classes all three are the phi coefficient. Interval by Fisher's z
    (Bonett and Wright 2000 for ranks); score test, Welch or t-test.

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


def _correlate(s, y, weight, method):
    if method == "kendall":
        if np.any(weight != weight[0]):
            raise ValueError('method="kendall" takes no sample_weight; repeat the rows instead')
        return stats.kendalltau(s, y).statistic if np.ptp(y) > 0 else np.nan
    if method == "spearman":
        s, y = midranks(s, weight), midranks(y, weight)
    s, y = (v - np.average(v, weights=weight) for v in (s, y))
    scale = np.sqrt((weight * s**2).sum() * (weight * y**2).sum())
    return (weight * s * y).sum() / scale if scale > 0 else np.nan


def _fisher_z(value, n, method, significance):
    lost, factor = {
        "pearson": (3, 1.0),
        "spearman": (3, 1 + value**2 / 2),
        "kendall": (4, 0.437),
    }[method]
    half = -special.ndtri(significance / 2) * np.sqrt(factor / np.where(n > lost, n - lost, np.nan))
    centre = np.arctanh(value)
    return np.tanh(centre - half), np.tanh(centre + half)


def _by_group(pair):
    """Return favourable decisions and people per group, shape (..., n_groups)."""
    table = pair.merged[0]
    return table[..., 1, :].sum(-1), table.sum((-1, -2))


def _contingency(pair, n_bins):
    """Return the table of groups and decisions, shape (..., n_groups, n_values)."""
    if not pair.is_numeric:
        return pair.merged[0].sum(axis=-1)
    edges = np.unique(np.quantile(pair.value, np.arange(1, n_bins) / n_bins))
    index = pair.group * (len(edges) + 1) + np.searchsorted(edges, pair.value, side="left")
    size = pair.n_groups * (len(edges) + 1)
    return np.bincount(index, pair.weight, minlength=size).reshape(pair.n_groups, -1)


def _entropy(p):
    return special.entr(p).sum(axis=-1) / np.log(2)


def _chi2(pair):
    def p_value():
        if pair.is_numeric:
            return np.nan, ""
        statistic, df = chi2_of_groups(*_by_group(pair))
        return stats.chi2.sf(statistic, df), CHI2

    return p_value


def chi2_of_groups(x, n):
    """Return the chi-squared statistic of equal rates and its degrees of freedom."""
    p = (x.sum(-1) / n.sum(-1))[..., None]
    terms = np.where(n > 0, n * (x / n - p) ** 2, 0) / (p * (1 - p))
    return terms.sum(-1), np.count_nonzero(n > 0, axis=-1) - 1


def _explained(pair):
    """Return the share of variance between groups, with its F-test."""
    n = np.bincount(pair.group, pair.weight, minlength=pair.n_groups)
    mean = np.bincount(pair.group, pair.weight * pair.value, minlength=pair.n_groups) / n
    centre = np.average(pair.value, weights=pair.weight)
    between = (n * (mean - centre) ** 2).sum()
    whole = (pair.weight * (pair.value - centre) ** 2).sum()
    df = len(n) - 1, n.sum() - len(n)

    def p_value():
        return stats.f.sf(between / df[0] / ((whole - between) / df[1]), *df), "F-test"

    return Contrast(between / whole, None, p_value)
