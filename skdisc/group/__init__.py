"""Verdicts on whole groups: who is treated worse, by how much, and how surely."""

from skdisc.group._group_disparity import GroupDisparity
from skdisc.group._verifair import VeriFair

__all__ = ["GroupDisparity", "VeriFair"]
