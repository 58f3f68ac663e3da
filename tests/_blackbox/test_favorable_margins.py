"""Margins of the favorable labels, from scores of several classes."""

import numpy as np
import pytest

from skdisc._blackbox._outputs import decide_by_margin, read_margins

SCORES = np.array([[1.0, 5.0, 3.0], [4.0, 0.0, 2.0]])


@pytest.mark.parametrize(
    ("favorable", "margin"),
    [([1], [2.0, -4.0]), ([0, 1], [2.0, 2.0]), ([0, 1, 2], [1.0, 1.0])],
)
def test_the_best_favorable_score_against_the_best_other(favorable, margin):
    found = read_margins(SCORES, 2, "model", favorable, [0, 1, 2], "decision_function")
    assert found.tolist() == margin


def test_a_margin_of_zero_decides_for_the_first_class():
    """As scikit-learn's classifiers do."""
    raw = np.array([-1.0, 0.0, 1e-300, 2.0])
    for favorable, expected in (([1], [0, 0, 1, 1]), ([0], [1, 1, 0, 0])):
        found = decide_by_margin(raw, 4, "model", favorable, [0, 1])
        assert np.asarray(found).astype(int).tolist() == expected
