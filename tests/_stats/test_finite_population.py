"""The interval of a share of a finite population."""

import numpy as np
import pytest
from scipy import stats

from skdisc._stats import hypergeometric


def by_trial(x, n, size, significance):
    """Return the ends among all possible numbers of members, by the law itself."""
    whole = np.arange(x, size - (n - x) + 1)
    upper = stats.hypergeom.sf(x - 1, size, whole, n)
    lower = stats.hypergeom.cdf(x, size, whole, n)
    kept = whole[(upper > significance / 2) & (lower > significance / 2)]
    return kept.min() / size, kept.max() / size


@pytest.mark.parametrize(("n", "size"), [(1, 1), (1, 2), (1, 9), (5, 9), (9, 9), (20, 200)])
@pytest.mark.parametrize("significance", [0.05, 0.3])
def test_every_interval_is_that_of_the_law(n, size, significance):
    for x in range(n + 1):
        found = hypergeometric(x, n, size, significance)
        assert found == pytest.approx(by_trial(x, n, size, significance))


@pytest.mark.parametrize("size", [10_000, 1_000_000])
@pytest.mark.parametrize("x", [1, 30, 1000, 1999])
def test_ends_of_many_drawn_are_those_of_the_law(x, size):
    n, tail = 2000, 0.025
    low, high = (round(end * size) for end in hypergeometric(x, n, size))
    at_least = stats.hypergeom.sf(x - 1, size, [low - 1, low], n)
    at_most = stats.hypergeom.cdf(x, size, [high, high + 1], n)
    assert at_least[0] <= tail < at_least[1]
    assert at_most[1] <= tail < at_most[0]


def test_nobody_drawn():
    assert np.isnan(hypergeometric(0, 0, 5)).all()


@pytest.mark.parametrize("given", [(-1, 2, 3), (3, 2, 3), (1, 4, 3)])
def test_impossible_numbers(given):
    with pytest.raises(ValueError, match="0 <= x <= n <= N must hold"):
        hypergeometric(*given)
