"""What is learned out of fold of an interaction without main effects."""

import numpy as np
import pandas as pd
import pytest

from skdisc._task._cross_fitting import CrossFitter

N, STRENGTH = 2000, 0.2


def interaction(seed):
    """Return columns, whether two agree (1 or -1), and outcomes that depend on it alone."""
    rng = np.random.default_rng(seed)
    town, work = rng.integers(0, 2, (2, N))
    agree = np.where(town == work, 1.0, -1.0)
    numbers = np.column_stack([town, work, rng.normal(size=N)]).astype(float)
    return numbers, agree, (rng.random(N) < 0.5 + STRENGTH * agree).astype(float)


@pytest.mark.slow
def test_trees_learn_it():
    slopes, fold = [], np.arange(N) % 5
    for seed in range(6):
        numbers, agree, y = interaction(seed)
        expected, kind = CrossFitter(pd.DataFrame(numbers), numbers, fold).choose(y)
        assert kind == "boosting"
        slopes.append(np.polyfit(STRENGTH * agree, expected, 1)[0])
    assert 0.8 <= np.mean(slopes) <= 1.1  # about .5 of trees that use all columns at each split
