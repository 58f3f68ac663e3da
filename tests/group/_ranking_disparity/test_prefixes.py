"""The exact law of counts in prefixes against all orders of short lists, and scipy's law."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from skdisc.group._ranking_disparity._prefixes import prefix_tests


def prefix_test(inside, ends=None, depth=None):
    ends = np.ones(len(inside), dtype=bool) if ends is None else ends
    return prefix_tests([(inside, ends)], depth)[0]


def smallest_p(inside, ends, depth):
    """Return the smallest two-sided hypergeometric p-value of the prefixes."""
    n, members = len(inside), int(np.sum(inside))
    found = [1.0]
    for k in range(1, min(depth, n - 1) + 1):
        if ends[k - 1]:
            law, x = stats.hypergeom(n, members, k), int(np.sum(inside[:k]))
            found.append(min(1.0, 2 * min(law.cdf(x), law.sf(x - 1))))
    return min(found)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=7), st.integers(1, 8))
def test_the_p_value_is_that_of_all_orders(people, depth):
    inside, ends = (np.array(column) for column in zip(*people, strict=True))
    ends[-1] = True
    n, members = len(inside), int(inside.sum())
    own = smallest_p(inside, ends, depth)
    as_small = []
    for chosen in combinations(range(n), members):
        other = np.isin(np.arange(n), chosen)
        as_small.append(smallest_p(other, ends, depth) <= own * (1 + 1e-9))
    test = prefix_test(inside, ends, depth)
    assert test.p_value == pytest.approx(np.mean(as_small), abs=1e-12)
    if len(test.length):
        assert test.p_values.min() == pytest.approx(own, abs=1e-12)


@pytest.mark.parametrize(("n", "members"), [(1000, 300), (5000, 20)])
def test_long_lists_have_the_law_of_scipy(n, members):
    inside = np.random.default_rng(0).permutation(n) < members
    test = prefix_test(inside, depth=200)
    law = stats.hypergeom(n, members, test.length)
    two_sided = 2 * np.minimum(law.cdf(test.count), law.sf(test.count - 1))
    np.testing.assert_allclose(test.p_values, np.minimum(1, two_sided), rtol=1e-9)
    np.testing.assert_allclose(test.expected, law.mean())
    assert test.p_values.min() <= test.p_value <= 1


def test_the_top_of_a_list_is_seen_at_any_place():
    inside = np.array([0] * 10 + [1, 0] * 45, dtype=bool)
    test = prefix_test(inside)
    assert test.length[test.worst] == 10
    assert test.p_value < 0.03
    assert prefix_test(inside[::-1]).p_value == pytest.approx(test.p_value)  # mirrored


@pytest.mark.parametrize("inside", [[], [True], [True, True], [False, False, False]])
def test_lists_that_say_nothing(inside):
    assert prefix_test(np.array(inside, dtype=bool)).p_value == 1


def test_lists_are_tested_together_as_alone():
    rng = np.random.default_rng(0)
    lists = [(rng.random(n) < 0.3, rng.random(n) < 0.8) for n in (1, 2, 9, 40, 300, 7, 9)]
    for test, (inside, ends) in zip(prefix_tests(lists, 50), lists, strict=True):
        alone = prefix_test(inside, ends, 50)
        np.testing.assert_array_equal(test.p_values, alone.p_values)
        assert (test.p_value, list(test.length)) == (alone.p_value, list(alone.length))


@pytest.mark.statistics
@pytest.mark.parametrize(("n", "members", "depth"), [(40, 10, 20), (300, 150, 100)])
def test_the_level_is_kept_and_nearly_used(n, members, depth):
    rng = np.random.default_rng(0)
    p = [prefix_test(rng.permutation(n) < members, depth=depth).p_value for _ in range(600)]
    for level in (0.05, 0.2):
        share = np.mean(np.array(p) <= level)
        assert share <= level + 2 * np.sqrt(level * (1 - level) / 600)
        assert share >= level / 2
