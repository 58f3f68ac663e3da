"""Association of two attributes."""

import numpy as np
from scipy.stats.contingency import association

from skdisc._stats import cramers_v


def test_equals_another_implementation():
    table = np.random.default_rng(0).integers(1, 50, (4, 3))
    assert np.isclose(cramers_v(table), association(table, method="cramer"))


def test_ends():
    assert np.isclose(cramers_v(np.diag([5, 7])), 1.0)
    assert cramers_v(np.diag([5, 7]), 12) > 0.99
    assert cramers_v(np.ones((2, 3)), 6) == 0.0
    assert np.isnan(cramers_v(np.array([[3, 4], [0, 0]])))


def test_many_values_by_chance_are_no_association():
    """A column with a value for each third person goes with nothing, whatever V says."""
    rng, seen = np.random.default_rng(1), []
    for _ in range(100):
        table = np.zeros((100, 2))
        np.add.at(table, (rng.integers(0, 100, 300), rng.integers(0, 2, 300)), 1)
        assert cramers_v(table) > 0.4
        seen.append(cramers_v(table, 300))
    assert np.mean(seen) < 0.15


def test_a_value_for_each_person_is_no_association():
    table = np.eye(2)[np.arange(50) % 2]  # a row for each value
    assert np.isclose(cramers_v(table), 1.0)
    assert cramers_v(table, 50) < 1e-6
