"""Margins of the favorable labels, from scores of several classes."""

import numpy as np
import pytest

from skdisc._blackbox._outputs import read_margins

SCORES = np.array([[1.0, 5.0, 3.0], [4.0, 0.0, 2.0]])


@pytest.mark.parametrize(
    ("favorable", "margin"),
    [([1], [2.0, -4.0]), ([0, 1], [2.0, 2.0]), ([0, 1, 2], [1.0, 1.0])],
)
def test_the_best_favorable_score_against_the_best_other(favorable, margin):
    found = read_margins(SCORES, 2, "model", favorable, [0, 1, 2], "decision_function")
    assert found.tolist() == margin
