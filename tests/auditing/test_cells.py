"""Tests of the correction over the questions of an audit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from skdisc.auditing._cells import holm

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=8)


@given(P_VALUES)
def test_equal_weights_are_the_procedure_of_holm(p_values):
    n = len(p_values)
    expected = multipletests(p_values, method="holm")[1]
    assert holm(np.array(p_values), np.full(n, 1 / n)) == pytest.approx(expected, abs=1e-12)


@given(P_VALUES, st.randoms(use_true_random=False))
def test_the_first_rejection_is_that_of_weighted_bonferroni(p_values, random):
    weights = np.array([random.random() + 0.1 for _ in p_values])
    weights /= weights.sum()
    p = np.array(p_values)
    adjusted = holm(p, weights)
    assert adjusted.min() == pytest.approx(min(1.0, (p / weights).min()), rel=1e-9)
    assert (adjusted >= p - 1e-15).all()
