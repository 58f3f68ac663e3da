"""Statistical tests of whether there is a difference; each returns its test statistic.

A test does not measure the size of a difference, and a large p-value does not prove that there is
none. The p-values are in the reports.
"""

import numpy as np
from scipy import stats

from skdisc._stats._means import Welch
from skdisc._stats._ranks import rank_statistic
from skdisc.measures._dependence import chi2_of
from skdisc.measures._formula import _contrast
from skdisc.measures._formula._contrast import CHI2, CMH, RANKS, WELCH, without_interval
from skdisc.measures._formula._decorator import measure
from skdisc.measures._formula._strata import design


def _slope_of_numbers(s, y, weight, positions, *, covariates):
    """Return the slope test of a protected number."""
    more = None if covariates is None else design(covariates)[positions]
    return _slope_test(s, y, weight, more)


@measure(by_rows=True, of_numbers=_slope_of_numbers)
def regression_slope_test(pair, *, covariates=None):
    r"""T statistic of the protected column in a linear regression of decisions.

    .. math:: t = \hat b / se(\hat b), \quad se^2 = \frac{RSS}{n - p - 1} [(X'X)^{-1}]_{ss}

    with s = 1 for the group and 0 for the reference, or a protected number, and p columns.

    Other Parameters
    ----------------
    covariates : DataFrame or array-like of shape (n, n_columns), default=None; columns that may
        explain decisions; categories are encoded as indicators

    Notes
    -----
    Below 0 the protected group is worse off at equal covariates; with a protected number, below 0
    larger numbers receive worse decisions. The survey's formula holds without covariates; for two
    groups it is then the pooled t-test. Weights are frequencies.

    References
    ----------
    Yinger (1986), https://www.jstor.org/stable/1816458.

    Examples
    --------
    b = ⅓ - ¾, RSS = ¾ + ⅔, se² = RSS / 5 · (¼ + ⅓).

    >>> sex = ["m", "m", "m", "m", "f", "f", "f"]
    >>> round(regression_slope_test(None, [1, 1, 1, 0, 1, 0, 0], protected=sex), 4)
    -1.0249
    """
    parts = list(zip(pair.one, pair.zero, strict=True))
    y, weight = (np.concatenate(parts[k]) for k in (0, 2))
    s = np.repeat([1.0, 0.0], [len(pair.one[0]), len(pair.zero[0])])
    more = None if covariates is None else design(covariates)[np.concatenate(parts[4])]
    return _slope_test(s, y, weight, more)


regression_slope_test_report = regression_slope_test.report


def _slope_test(s, y, weight, more):
    """Return the test of s, with the other columns held equal."""
    t, df = _slope(s, y, weight, more)
    return without_interval(t, lambda: (2 * stats.t.sf(np.abs(t), df), "regression slope t-test"))


def _slope(s, y, weight, more):
    """Return t and df of s, with the other columns partialled out (Frisch-Waugh-Lovell)."""
    root = np.sqrt(weight)
    rest = np.ones((len(s), 1)) if more is None else np.column_stack([np.ones(len(s)), more])
    rest = rest * root[:, None]
    q, sizes, _ = np.linalg.svd(rest, full_matrices=False)
    q = q[:, sizes > sizes[0] * 1e-10]
    rounding = 1e-28 * (weight * y**2).sum()
    s, y = (v * root - q @ (q.T @ (v * root)) for v in (s, y))
    df = weight.sum() - q.shape[1] - 1
    if s @ s <= 1e-12 * weight.sum() or y @ y <= 1e-12 * weight.sum() or df <= 0:
        return np.nan, df
    slope = s @ y / (s @ s)
    squares = ((y - slope * s) ** 2).sum()
    squares = squares if squares > rounding else 0.0  # a perfect fit
    with np.errstate(divide="ignore"):
        return slope / np.sqrt(squares / df / (s @ s)), df


@measure()
def difference_of_means_test(pair, *, equal_var=False):
    r"""T statistic of the difference of mean decisions, reference minus group.

    .. math:: t = \frac{\bar y_0 - \bar y_1}{\sqrt{v_0 / n_0 + v_1 / n_1}}

    Other Parameters
    ----------------
    equal_var : bool, default=False; whether variances are pooled, with n_0 + n_1 - 2 degrees of
        freedom

    Notes
    -----
    Above 0 the protected group is worse off. The survey prints the pooled form with n_0 - n_1 - 2
    degrees of freedom, which should be n_0 + n_1 - 2. Welch's form, the default, does not assume
    equal variances. Of skewed numbers it rejects too often; `mean_difference` has a test and an
    interval that know skewness.

    References
    ----------
    Welch (1947), :doi:`10.1093/biomet/34.1-2.28`.

    Examples
    --------
    Means 4 and 2, variances 1 and 1: 2 / sqrt(1/3 + 1/3).

    >>> y, sex = [3, 4, 5, 1, 2, 3], ["m", "m", "m", "f", "f", "f"]
    >>> t = difference_of_means_test(None, y, protected=sex, reference="m", pos_label=None)
    >>> round(t, 4)
    2.4495
    """
    part = pair.selection
    if not pair.is_numeric:
        part = pair._moments(np.array([[0.0], [1.0]]) * np.ones(2))
    # the published test, which knows nothing of skewness
    t_test, name = Welch.of(part.reference[:3], part.group[:3]), WELCH
    if equal_var:
        (_, v1, n1, _), (_, v0, n0, _) = part.group, part.reference
        df = n1 + n0 - 2
        pooled = ((n1 - 1) * v1 + (n0 - 1) * v0) / df
        error = np.sqrt(pooled * (1 / n1 + 1 / n0))
        t_test, name = Welch(t_test.gap, error, df), "pooled t-test"
    return without_interval(t_test.gap / t_test.error, lambda: (t_test.p_value(), name))


difference_of_means_test_report = difference_of_means_test.report


@measure()
def two_proportions_test(pair, *, pooled=True):
    r"""Z statistic of the difference of favorable shares, reference minus group.

    .. math:: z = \frac{a - b}{\sqrt{p (1 - p) (1 / n_0 + 1 / n_1)}}

    with a, b and p the shares in the reference, in the group, and in both together.

    Other Parameters
    ----------------
    pooled : bool, default=True; False: the survey's variance a (1 - a) / n_0 + b (1 - b) / n_1

    Notes
    -----
    Above 0 the protected group is worse off. The pooled variance is that under the null hypothesis;
    the square of z is then the chi-squared statistic.

    References
    ----------
    Fleiss, Levin and Paik (2003), :doi:`10.1002/0471445428`.

    Examples
    --------
    (3/4 - 1/3) / sqrt(4/7 · 3/7 · (1/4 + 1/3))

    >>> sex = ["m", "m", "m", "m", "f", "f", "f"]
    >>> round(two_proportions_test(None, [1, 1, 1, 0, 1, 0, 0], protected=sex), 4)
    1.1024
    """
    r = pair.selection.effective
    a, b, p = r.reference, r.protected, r.pooled
    variance = p * (1 - p) * (1 / r.n0 + 1 / r.n1)
    if not pooled:
        variance = a * (1 - a) / r.n0 + b * (1 - b) / r.n1
    z = (a - b) / np.sqrt(variance)
    name = "two-proportion z-test, " + ("pooled" if pooled else "unpooled")
    return without_interval(z, _contrast.normal_p(z, name))


two_proportions_test_report = two_proportions_test.report


@measure(omnibus=True)
def many_proportions_test(pair):
    r"""Chi-squared statistic of equal favorable shares in all groups.

    .. math:: \chi^2 = \sum_i \frac{n_i (p_i - p)^2}{p (1 - p)}, \quad df = g - 1

    Notes
    -----
    Unsigned: 0 if all shares are equal, and larger the more they differ. The survey prints
    :math:`\sum (n_i - n p_i)^2 / p_i`, which is not a chi-squared statistic.

    References
    ----------
    Pearson (1900), :doi:`10.1080/14786440009463897`.

    Examples
    --------
    The square of the pooled z of two groups, 1.1024².

    >>> sex = ["m", "m", "m", "m", "f", "f", "f"]
    >>> round(many_proportions_test(None, [1, 1, 1, 0, 1, 0, 0], protected=sex), 4)
    1.2153
    """
    statistic, df = chi2_of(pair)
    return without_interval(statistic, lambda: (stats.chi2.sf(statistic, df), CHI2))


many_proportions_test_report = many_proportions_test.report


@measure()
def rank_test(pair):
    r"""Z statistic of the Mann-Whitney test, with correction for ties.

    .. math:: z = (U_0 - n_0 n_1 / 2) / \sigma_U

    with U_0 the number of pairs in which the decision in the reference is better, ties counting
    half.

    Notes
    -----
    Above 0 the protected group is worse off. The survey ranks from the largest to the smallest,
    which only changes the sign. No continuity correction; weights are frequencies.

    References
    ----------
    Mann and Whitney (1947), :doi:`10.1214/aoms/1177730491`.

    Examples
    --------
    U_0 = 5.5 of 6 pairs, sigma² = 6 / 12 · (6 - 6 / 20).

    >>> y, sex = [5, 3, 2, 2, 1], ["m", "m", "m", "f", "f"]
    >>> round(rank_test(None, y, protected=sex, pos_label=None), 4)
    1.4809
    """
    z = rank_statistic(*pair.levels[1:])[2]
    return without_interval(z, _contrast.normal_p(z, RANKS))


rank_test_report = rank_test.report


@measure()
def cochran_mantel_haenszel_test(pair, *, explanatory):
    r"""Z statistic of favorable decisions of the group, compared within strata.

    .. math:: z = \frac{\sum_z (n_{1z} x_z / n_z - x_{1z})}
              {\sqrt{\sum_z n_{1z} n_{0z} x_z (n_z - x_z) / (n_z^2 (n_z - 1))}}

    with x_z favorable decisions among the n_z rows of stratum z, and x_1z among n_1z in the group.

    Other Parameters
    ----------------
    explanatory : DataFrame or array-like of shape (n,) or (n, n_columns); columns whose distinct
        rows are the strata, or the output of `cluster_strata` or `propensity_strata`

    Notes
    -----
    Above 0 the protected group is worse off within strata. The square is the usual statistic,
    without continuity correction. Strata with a single group or a single row contribute nothing.

    References
    ----------
    Mantel and Haenszel (1959), :doi:`10.1093/jnci/22.4.719`.

    Examples
    --------
    Two equal strata of 1 of 1 men and 0 of 1 women: (½ + ½) / sqrt(¼ + ¼).

    >>> z = cochran_mantel_haenszel_test(
    ...     None, [1, 0, 1, 0], protected=[0, 1, 0, 1], reference=0, explanatory=[7, 7, 8, 8]
    ... )
    >>> round(z, 4)
    1.4142
    """
    z = _contrast.mantel_haenszel(pair.strata)
    return without_interval(z, _contrast.normal_p(z, CMH))


cochran_mantel_haenszel_test_report = cochran_mantel_haenszel_test.report
