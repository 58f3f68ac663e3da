"""Detectors of discrimination against subgroups: groups of people who are treated worse."""

from skdisc.subgroup._bias_scan import BiasScan
from skdisc.subgroup._divexplorer import DivExplorer

__all__ = ["BiasScan", "DivExplorer"]
