"""The comparison of two means of skewed numbers, written out for one pair of samples."""

import numpy as np
from scipy import stats


def larger(*values):
    return max(values, key=abs)


def skewness(x):
    return stats.skew(x, bias=False)


def oracle(a, b, sides, alpha=0.05, is_greater=False):
    """Difference, p-value and interval, infinite if refused, written out for one comparison.

    The p-value is two-sided, or that of a larger mean of the first.
    """
    (n1, v1), (n0, v0) = ((len(x), x.var(ddof=1)) for x in (a, b))
    known = [skewness(x) for x in sides]
    together = np.average(known, weights=[len(x) for x in sides])
    g1, g0 = larger(skewness(a), known[0], together), larger(skewness(b), known[1], together)
    e = v1 / n1 + v0 / n0
    df = e**2 / ((v1 / n1) ** 2 / (n1 - 1) + (v0 / n0) ** 2 / (n0 - 1))
    k1, k0 = g1 * v1**1.5 / n1**2 / e**1.5, g0 * v0**1.5 / n0**2 / e**1.5
    skew, most = k1 - k0, abs(k1) + abs(k0)

    def hall(t):
        return t + skew / 6 + skew * t**2 / 3 + skew**2 * t**3 / 27

    gap = a.mean() - b.mean()
    t = gap / np.sqrt(e)
    least = 2 * stats.norm.sf(np.sqrt(max((6 / most - 1) / 2, 0)))
    p = max(2 * stats.t.sf(abs(t), df), 2 * stats.t.sf(abs(hall(t)), df), least)
    if is_greater:
        p = max(stats.t.sf(t, df), stats.t.sf(hall(t), df), least / 2)
    z = stats.norm.isf(alpha / 2)
    if most * (2 * z**2 + 1) / 6 > 1:
        return gap, p, -np.inf, np.inf
    grid = np.linspace(gap - 12 * np.sqrt(e), gap + 12 * np.sqrt(e), 20_001)
    t, critical = (gap - grid) / np.sqrt(e), stats.t.isf(alpha / 2, df)
    is_in = (abs(t) < critical) | (abs(hall(t)) < critical)
    return gap, p, grid[is_in][0], grid[is_in][-1]
