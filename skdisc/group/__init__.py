"""Verdicts on whole groups: who is treated worse, by how much, and how surely."""

from skdisc.group._disparity import GroupDisparity

__all__ = ["GroupDisparity"]
