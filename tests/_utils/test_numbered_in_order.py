"""Numbers of values in their order, whether they are counted or sorted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdisc._utils._frequency import numbered_in_order


@given(st.lists(st.integers(-(2**62), 2**62) | st.integers(-5, 5), max_size=30))
def test_numbers_are_ranks_of_distinct_values(values):
    codes = np.array(values, dtype=np.int64)
    expected = np.unique(codes, return_inverse=True)[1]
    np.testing.assert_array_equal(numbered_in_order(codes), expected)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64])
def test_the_ends_of_small_types_do_not_overflow(dtype):
    codes = np.array([np.iinfo(np.int8).max, 0, np.iinfo(np.int8).max], dtype=dtype)
    if dtype is np.int8:
        codes[1] = np.iinfo(np.int8).min
    assert numbered_in_order(codes).tolist() == [1, 0, 1]
