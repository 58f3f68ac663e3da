"""Assertions, replay of tested inputs, and hypothesis strategies (extra ``testing``)."""

from skdisc.testing._asserts import assert_no_disparity, assert_no_individual_discrimination
from skdisc.testing._replay import replay
from skdisc.testing._strategies import individual_pairs, individuals, people

__all__ = [
    "assert_no_disparity",
    "assert_no_individual_discrimination",
    "individual_pairs",
    "individuals",
    "people",
    "replay",
]
