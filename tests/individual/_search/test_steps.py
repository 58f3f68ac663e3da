"""Steps of one column at a time, and walks of many."""

import numpy as np
import pytest

from skdisc import FeatureSpace
from skdisc.individual._search._steps import Steps, weighted_choice


def test_steps_and_choices():
    space = FeatureSpace.from_domains(
        {"job": list("uvw"), "n": (0, 9), "sex": [0, 1]}, protected="sex"
    )
    steps, rng = Steps(space, 2), np.random.default_rng(0)
    rows = np.tile([1, 8, 0], (300, 1))
    jobs = steps.change(rows, np.zeros(300, int), np.ones(300, int), rng.random(300))
    assert set(jobs[:, 0]) == {0, 2}
    assert (jobs[:, 1:] == rows[:, 1:]).all()
    sign = np.repeat([1, -1], 150)
    numbers = steps.change(rows, np.ones(300, int), sign, rng.random(300))
    assert numbers[:, 1].tolist() == [9] * 150 + [6] * 150
    drawn = weighted_choice(np.repeat([[1.0], [0.0], [3.0]], 4000, axis=1), rng.random(4000))
    assert set(drawn) == {0, 2}
    assert (drawn == 2).mean() == pytest.approx(0.75, abs=0.03)


def test_a_walk_is_one_change_after_the_other():
    space = FeatureSpace.from_domains(
        {"job": list("uvw"), "n": (0, 9), "m": (0, 3), "sex": [0, 1]}, protected="sex"
    )
    steps, rng = Steps(space), np.random.default_rng(0)
    x, which = space.sample(7, rng), rng.integers(3, size=(20, 7))
    sign, u = rng.choice([-1, 1], (20, 7)), rng.random((20, 7))
    for y, *how in zip(steps.walk(x, which, sign, u), which, sign, u, strict=True):
        moved = steps.change(x, *how)
        assert (y == moved).all()
        assert ((y != x).sum(axis=1) <= 1).all()
        assert ((y >= 0) & (y <= [2, 9, 3, 1])).all()
        x = moved
