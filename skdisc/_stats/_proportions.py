"""Intervals and tests of proportions, thin wrappers of scipy.

A pair of counts is x events among n trials; index 1 is the group of interest, index 0 the group it
is compared with. Arrays broadcast, and results have the broadcast shape. Undefined values, such as
any rate of an empty group, are NaN, never 0. `significance` is one minus the confidence level.
Counts that violate 0 <= x <= n raise ValueError in every function.
"""

import numpy as np
import numpy.typing as npt
from scipy import special

from skdisc._stats._exact_tests import AT_ONCE, fisher_p_values

SMALL_COUNT = 5  # an expected count below this makes the normal approximation poor
_TAIL, _TAIL_COUNT = 1e-3, 100  # and so does one below the second, where p-values are this small
_ALTERNATIVES = ("two-sided", "greater", "less")


def wilson(
    x: npt.ArrayLike, n: npt.ArrayLike, significance: float = 0.05
) -> tuple[np.ndarray, np.ndarray]:
    r"""Score interval of a proportion (Wilson 1927, :doi:`10.1080/01621459.1927.10502953`).

    :math:`(x + z^2/2 \pm z \sqrt{x(n-x)/n + z^2/4}) / (n + z^2)`, z the normal quantile.

    >>> print(*np.round(wilson(81, 263), 4))
    0.2553 0.3662

    Parameters
    ----------
    x, n : array-like of float, counts; fractions are allowed
    significance : float, default=0.05

    Returns
    -------
    low, high : ndarray of float, shares; NaN where n is 0

    Raises
    ------
    ValueError
        If counts violate 0 <= x <= n.
    """
    x, n = _counts(x, n)
    z = -special.ndtri(significance / 2)
    with np.errstate(over="ignore", invalid="ignore"):  # of sizes whose squares are no numbers
        center, half = x + z**2 / 2, z * np.sqrt(x * (n - x) / n + z**2 / 4)
        return _bounds((center - half) / (n + z**2), (center + half) / (n + z**2), x, n)


def clopper_pearson(
    x: npt.ArrayLike, n: npt.ArrayLike, significance: float = 0.05
) -> tuple[np.ndarray, np.ndarray]:
    r"""Exact interval of a proportion (Clopper and Pearson 1934, :doi:`10.1093/biomet/26.4.404`).

    Beta quantiles :math:`[B_{\alpha/2}(x, n-x+1), B_{1-\alpha/2}(x+1, n-x)]`. The coverage is
    at least nominal.

    >>> print(*np.round(clopper_pearson(81, 263), 4))
    0.2527 0.3676

    Parameters
    ----------
    x, n : array-like of float, counts
    significance : float, default=0.05

    Returns
    -------
    low, high : ndarray of float, shares; NaN where n is 0

    Raises
    ------
    ValueError
        If counts violate 0 <= x <= n.
    """
    x, n = _counts(x, n)
    low = special.betaincinv(x, n - x + 1, significance / 2)
    high = special.betaincinv(x + 1, n - x, 1 - significance / 2)
    return _bounds(low, high, x, n)


def newcombe(
    x1: npt.ArrayLike,
    n1: npt.ArrayLike,
    x0: npt.ArrayLike,
    n0: npt.ArrayLike,
    significance: float = 0.05,
) -> tuple[np.ndarray, np.ndarray]:
    r"""Hybrid score interval of p1 - p0 (method 10 of Newcombe 1998).

    :math:`[\Delta - \sqrt{(p_1-l_1)^2 + (u_0-p_0)^2}, \Delta + \sqrt{(u_1-p_1)^2 + (p_0-l_0)^2}]`,
    with Wilson's [l, u]. :doi:`10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I`

    >>> print(*np.round(newcombe(56, 70, 48, 80), 4))
    0.0524 0.3339

    Parameters
    ----------
    x1, n1, x0, n0 : array-like of float, counts of the two groups; fractions are allowed
    significance : float, default=0.05

    Returns
    -------
    low, high : ndarray of float, differences of shares; NaN where a group is empty

    Raises
    ------
    ValueError
        If counts violate 0 <= x <= n.
    """
    (l1, u1), (l0, u0) = wilson(x1, n1, significance), wilson(x0, n0, significance)
    p1, p0 = np.divide(*_counts(x1, n1)), np.divide(*_counts(x0, n0))
    return p1 - p0 - np.hypot(p1 - l1, u0 - p0), p1 - p0 + np.hypot(u1 - p1, p0 - l0)


def score_test(
    x1: npt.ArrayLike, n1: npt.ArrayLike, x0: npt.ArrayLike, n0: npt.ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    r"""Two-sided pooled score test of p1 = p0 (Fleiss, Levin and Paik 2003, chapter 3).

    :math:`z = (p_1-p_0) / \sqrt{p(1-p)(1/n_1 + 1/n_0)}`, p the pooled share. Where p is 0 or 1
    there is no evidence of a difference: z is 0 and the p-value 1. :doi:`10.1002/0471445428`

    >>> print(*np.round(score_test(56, 70, 48, 80), 4))
    2.6502 0.008

    Parameters
    ----------
    x1, n1, x0, n0 : array-like of float, counts of the two groups; fractions are allowed

    Returns
    -------
    z, p_value : ndarray of float; z > 0 where p1 > p0; NaN where a group is empty

    Raises
    ------
    ValueError
        If counts violate 0 <= x <= n.
    """
    (x1, n1), (x0, n0) = _counts(x1, n1), _counts(x0, n0)
    gap, pooled = x1 / n1 - x0 / n0, (x1 + x0) / (n1 + n0)
    error = np.sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n0))
    z = (gap / np.where(error == 0, np.inf, error))[()]
    return z, 2 * special.ndtr(-np.abs(z))


def fisher(
    x1: npt.ArrayLike,
    n1: npt.ArrayLike,
    x0: npt.ArrayLike,
    n0: npt.ArrayLike,
    alternative: str = "two-sided",
    mid: bool = False,
) -> np.ndarray:
    r"""Fisher's exact test of p1 = p0 given both margins (Lydersen 2009, :doi:`10.1002/sim.3531`).

    With hypergeometric probabilities f: :math:`\sum_{f(t) \le f(x_1)} f(t)` (two-sided),
    :math:`P(X \ge x_1)` (greater), :math:`P(X \le x_1)` (less). The mid-p value counts tables
    exactly as extreme as the observed one by half, so that its mean under equality is 1/2.

    >>> print(fisher(8, 10, 1, 6).round(4), fisher(8, 10, 1, 6, mid=True).round(4))
    0.035 0.0232

    Parameters
    ----------
    x1, n1, x0, n0 : array-like of int, whole counts of the two groups
    alternative : {"two-sided", "greater", "less"}, default="two-sided"; greater means p1 > p0
    mid : bool, default=False; return the mid-p value, whose level may slightly exceed the nominal

    Returns
    -------
    p_value : ndarray of float; NaN where a group is empty

    Raises
    ------
    ValueError
        If `alternative` is unknown, or counts are not whole or violate 0 <= x <= n.
    """
    if alternative not in _ALTERNATIVES:
        raise ValueError(f"alternative must be one of {_ALTERNATIVES}, got {alternative!r}")
    table = np.stack(np.broadcast_arrays(*_counts(x1, n1), *_counts(x0, n0)))
    defined = ~np.isnan(table).any(axis=0)
    tables = table[:, defined]
    if np.any(tables % 1):
        raise ValueError("fisher needs whole counts, got fractions; score_test accepts fractions")
    p_value = np.full(defined.shape, np.nan)
    p_value[defined] = fisher_p_values(*tables.astype(np.int64), alternative, mid)
    return p_value[()]


def proportions_test(x1, n1, x0, n0, mid=True):
    """Two-sided test of p1 = p0: the score test, or an exact one where that is inaccurate.

    This is the one rule of the package for two proportions: the mid-p value (Fisher's with
    ``mid=False``) where the smallest expected count is below 5 (Cochran 1954, *Some methods for
    strengthening the common chi-squared tests*), or below 100 and the p-value of the score test
    below .001, since normal tails are too small there by factors of 4 and more. The score test is
    always used for tables with fractions, as weights give them, and for tables with a pooled share
    of 0 or 1, in which nothing can differ (p-value 1).

    >>> p_value, is_exact = proportions_test([56, 8], [70, 10], [48, 1], [80, 6])
    >>> print(p_value.round(4), is_exact)
    [0.008  0.0232] [False  True]

    Parameters
    ----------
    x1, n1, x0, n0 : array-like of float, counts of the two groups; fractions are allowed

    Returns
    -------
    p_value : ndarray of float; NaN where a group is empty
    is_exact : ndarray of bool; whether the exact test gave it

    Raises
    ------
    ValueError
        If counts violate 0 <= x <= n.
    """
    arrays = np.broadcast_arrays(x1, n1, x0, n0)
    counts = [array.reshape(-1) for array in arrays]
    p_value, is_exact = np.empty(counts[0].shape), np.empty(counts[0].shape, dtype=bool)
    for start in range(0, len(p_value), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        p_value[part], is_exact[part] = _by_score_test(*(c[part] for c in counts))
    if is_exact.any():
        tables = [c[is_exact].astype(np.int64, copy=False) for c in counts]
        p_value[is_exact] = fisher_p_values(*tables, "two-sided", mid)
    return p_value.reshape(arrays[0].shape), is_exact.reshape(arrays[0].shape)


def _by_score_test(x1, n1, x0, n0):
    """Return the p-values of the score test, and where the exact test is to be used instead."""
    p_value = score_test(x1, n1, x0, n0)[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = (x1 + x0) / (n1 + n0)
        expected = np.minimum(n1, n0) * np.minimum(rate, 1 - rate)
        tail = (p_value < _TAIL) & (expected < _TAIL_COUNT)
        small = (expected > 0) & ((expected < SMALL_COUNT) | tail)
    for counts in (x1, n1, x0, n0):
        if counts.dtype.kind == "f":
            small[small] = counts[small] % 1 == 0
    return p_value, small


def min_detectable_gap(
    n1: npt.ArrayLike,
    n0: npt.ArrayLike,
    rate: npt.ArrayLike,
    significance: float = 0.05,
    power: float = 0.8,
) -> np.ndarray:
    r"""Smallest difference of two proportions that a two-sided test detects with this power.

    :math:`(z_{1-\alpha/2} + z_{power}) \sqrt{r(1-r)(1/n_1 + 1/n_0)}`: the difference d of which
    :math:`\hat d > z_{1-\alpha/2} s` with the probability asked for, if :math:`\hat d` is normal
    with mean d and the standard error s of equal shares (Fleiss, Levin and Paik 2003, chapter 4,
    :doi:`10.1002/0471445428`).

    >>> print(min_detectable_gap(100, 100, 0.5).round(4))
    0.1981

    Parameters
    ----------
    n1, n0 : array-like of float, sizes of the two groups
    rate : array-like of float, pooled share r
    significance, power : float, default=0.05, 0.8

    Returns
    -------
    gap : ndarray of float, difference of shares; above 1: no difference is detectable; NaN if r is
        0 or 1
    """
    (_, n1), (_, n0), rate = _counts(0, n1), _counts(0, n0), np.asarray(rate, dtype=float)
    variance = np.where((rate > 0) & (rate < 1), rate * (1 - rate), np.nan) * (1 / n1 + 1 / n0)
    return (special.ndtri(power) - special.ndtri(significance / 2)) * np.sqrt(variance)


def min_detectable_share(n: npt.ArrayLike, significance: float = 0.05) -> np.ndarray:
    r"""Smallest share of cases that n independent tests detect: :math:`1 - \alpha^{1/n}`.

    With this share, at least one test finds a case with probability 1 - significance (the "rule of
    three" of Hanley and Lippman-Hand 1983, :doi:`10.1001/jama.1983.03330370053031`).

    >>> print(min_detectable_share([59, 1000]).round(4))
    [0.0495 0.003 ]

    Parameters
    ----------
    n : array-like of float, number of tests
    significance : float, default=0.05

    Returns
    -------
    share : ndarray of float; NaN where n is 0
    """
    return -np.expm1(np.log(significance) / _counts(0, n)[1])


def _counts(x, n):
    """Broadcast counts as floats, clip rounding errors of weighted sums, put NaN where n is 0."""
    x, n = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(n, dtype=float))
    wrong = (x < -1e-9 * n) | (x > n + 1e-9 * n)
    if np.any(wrong):
        raise ValueError(f"counts must satisfy 0 <= x <= n, got x={x[wrong][0]}, n={n[wrong][0]}")
    n = np.where(n > 0, n, np.nan)
    return np.clip(x, 0, n), n


def _bounds(low, high, x, n):
    """Set the lower end to 0 where x is 0, and the upper end to 1 where x is n."""
    return np.where(x == 0, 0, np.maximum(low, 0))[()], np.where(x == n, 1, np.minimum(high, 1))[()]


SCORE_TEST, EXACT_TEST = "two-proportion score test", "mid-p exact test"
FISHER_TEST = "Fisher's exact test"


def names_of_tests(is_exact, suffix="", exact=EXACT_TEST):
    """Return the name of the test behind each p-value of `proportions_test`, an object array.

    One call uses two tests, so each p-value has a name; `exact` names the exact test, because
    callers choose between the mid-p value and Fisher's.
    """
    return np.where(is_exact, exact + suffix, SCORE_TEST + suffix).astype(object)


STRONG_V = 0.5  # Cramér's V from which one column stands for another


def cramers_v(table: np.ndarray, n: float | None = None) -> float:
    """Return Cramér's V of a table of shares or counts; NaN if it has a single row or column.

    >>> print(f"{cramers_v(np.array([[30, 10], [10, 30]])):.2f}")
    0.50

    `n`: number of people, to take away what chance makes of V (Bergsma 2013). Shapes: `table`
    (n_rows, n_columns).

    References
    ----------
    W. Bergsma: A bias-correction for Cramér's V and Tschuprow's T. Journal of the Korean
    Statistical Society 42, 2013. https://doi.org/10.1016/j.jkss.2012.10.002
    """
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(table.shape) < 2:
        return np.nan
    shares, size = table / table.sum(), np.array(table.shape, dtype=float)
    expected = np.outer(shares.sum(axis=1), shares.sum(axis=0))
    squared = ((shares - expected) ** 2 / expected).sum()
    if n is not None:
        squared = max(0.0, squared - np.prod(size - 1) / (n - 1))
        size -= (size - 1) ** 2 / (n - 1)
    return float(np.sqrt(squared / (min(size) - 1))) if min(size) > 1 else 0.0
