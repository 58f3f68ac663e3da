"""The sum of many terms is taken as a tree."""

import pytest

from skdisc._counts._running_total import RunningTotal


class Term:
    """A number that counts additions on the way to it."""

    def __init__(self, value, depth=0):
        self.value, self.depth = value, depth

    def __add__(self, other):
        return Term(self.value + other.value, 1 + max(self.depth, other.depth))


@pytest.mark.parametrize("n", [1, 2, 7, 64, 1000])
def test_sum_and_depth(n):
    total = RunningTotal()
    for i in range(n):
        total.add(Term([i]))
        total.add(None)
        assert len(total._sums) <= n.bit_length()
    assert total.value.value == list(range(n))
    assert total.value.depth <= n.bit_length()


def test_no_terms():
    assert RunningTotal().value is None
