"""The Mann-Whitney statistic by counts of values: pairs one by one, and scipy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from skdisc._stats._ranks import rank_statistic

some_values = st.lists(st.integers(0, 6), min_size=3, max_size=12)


@given(some_values, some_values)
def test_area_error_and_z_are_those_of_pairs(own, other):
    y1, y0 = np.array(own), np.array(other)
    if np.ptp([*own, *other]) == 0:
        return
    counts = (np.bincount(y, minlength=7).astype(float) for y in (y1, y0))
    area, error, z = rank_statistic(*counts)
    pairs = (y0 > y1[:, None]) + 0.5 * (y0 == y1[:, None])
    assert area == pytest.approx(pairs.mean())
    parts = pairs.mean(axis=0).var(ddof=1) / len(y0), pairs.mean(axis=1).var(ddof=1) / len(y1)
    assert error == pytest.approx(np.sqrt(sum(parts)))
    expected = stats.mannwhitneyu(y0, y1, use_continuity=False, method="asymptotic")
    assert 2 * stats.norm.sf(abs(z)) == pytest.approx(expected.pvalue)
    assert (z > 0) == (pairs.mean() > 0.5)
