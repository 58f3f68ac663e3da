"""Interval of a proportion of a finite population, some of which was drawn."""

import numpy as np
from scipy import special


def hypergeometric(
    x: int, n: int, n_population: int, significance: float = 0.05
) -> tuple[float, float]:
    r"""Exact interval of the share of a population, from n members drawn without replacement.

    The shares K / N that neither of two one-sided tests at :math:`\alpha / 2` rejects, by
    :math:`P(X \ge x \mid K)` and :math:`P(X \le x \mid K)` with X hypergeometric (Wright 1991,
    *Exact Confidence Bounds when Sampling from Small Finite Universes*). The interval is Clopper
    and Pearson's for a large population, shorter for a small one, and has no width if everyone was
    drawn.

    >>> print(*np.round(hypergeometric(5, 50, 100), 4))
    0.05 0.18

    `x`: members drawn that have the property. `n`: members drawn. `n_population`: N, the size of
    the population. Returns `low` and `high`: shares; NaN if n is 0. Raises ValueError unless 0 <= x
    <= n <= n_population.
    """
    if not 0 <= x <= n <= n_population:
        raise ValueError(f"0 <= x <= n <= N must hold, got x={x}, n={n}, N={n_population}")
    if not n:
        return float("nan"), float("nan")
    first, last = x, n_population - (n - x)  # the K that are possible after n draws
    low = _first(lambda k: _upper(x, n, k, n_population) > significance / 2, first, last)
    # The upper end is the lower end of the members without the property, n - x of n.
    without_property = _first(
        lambda k: _upper(n - x, n, k, n_population) > significance / 2,
        n_population - last,
        n_population - first,
    )
    return low / n_population, (n_population - without_property) / n_population


def _first(holds, low, high):
    """Return the first whole number from `low` on for which `holds`, which it does at `high`."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _upper(x, n, k, n_population):
    """Return the probability that at least x of n drawn are among k of the population."""
    mean = n * k / n_population
    far = 50 + int(12 * np.sqrt(mean * (1 - k / n_population)))  # beyond it, less than 1e-30
    t = np.arange(max(x, int(mean) - far), min(n, k, max(x, int(mean)) + far) + 1)
    return np.exp(
        log_ways(k, t) + log_ways(n_population - k, n - t) - log_ways(n_population, n)
    ).sum()


def log_ways(a, b):
    """Return the logarithm of the binomial coefficient; minus infinity where b > a."""
    return special.gammaln(a + 1.0) - special.gammaln(b + 1.0) - special.gammaln(a - b + 1.0)
