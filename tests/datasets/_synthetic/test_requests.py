"""Requests: sizes that add up to the number of people asked for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdisc.datasets import make_discrimination
from skdisc.datasets._synthetic._requests import divide


@given(
    sizes=st.lists(st.integers(0, 400), max_size=12),
    n_background=st.integers(0, 3000),
    n_samples=st.integers(1, 10**6),
)
@settings(deadline=None)
def test_parts_add_up_and_keep_their_proportions(sizes, n_background, n_samples):
    parts = np.array([*sizes, n_background])
    try:
        scaled, background = divide(np.array(sizes, dtype=int), n_background, n_samples)
    except ValueError as error:
        assert "cannot be divided" in str(error)  # noqa: PT017
        assert not parts.any() or n_samples < 2 * parts.sum() / parts[parts > 0].min()
        return
    found = np.array([*scaled, background])
    assert found.sum() == n_samples
    np.testing.assert_array_less(np.abs(found - parts * n_samples / parts.sum()), 1 + 1e-9)
    np.testing.assert_array_equal(found > 0, parts > 0)


@pytest.mark.parametrize("n_samples", [500, 5000, 20_001])
def test_n_samples_is_the_number_of_rows(n_samples):
    asked = {"n_pairs": 4, "imbalance": 0.4, "coverage": (0.3, 1.0), "random_state": 0}
    made, free = (make_discrimination(**asked, n_samples=n) for n in (n_samples, None))
    assert len(made.data) == len(made.target) == len(made.truth.rows) == n_samples
    ours, theirs = made.truth.groups, free.truth.groups
    factor = n_samples / len(free.data)
    for side in ("n_a", "n_b"):
        assert (np.abs(ours[side] - factor * theirs[side]) < 1).all()
    assert abs(made.truth.rows["group_key"].isna().sum() - factor * 1000) < 1
    assert made.truth.subgroups == free.truth.subgroups
    assert ours["bias_a"].tolist() == theirs["bias_a"].tolist()


def test_too_few_people_to_divide():
    with pytest.raises(ValueError, match="n_samples=5 people cannot be divided among 20 subgroups"):
        make_discrimination(10, n_samples=5, random_state=0)
    with pytest.raises(ValueError, match="cannot be divided among 0 subgroups and a background"):
        make_discrimination(0, n_background=0, n_samples=50, random_state=0)
