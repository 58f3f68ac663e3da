"""Detectors of discrimination against subgroups: groups of people who are treated worse."""

from skdisc.subgroup._bias_scan import BiasScan
from skdisc.subgroup._divexplorer import DivExplorer
from skdisc.subgroup._facts import FACTS

__all__ = ["FACTS", "BiasScan", "DivExplorer"]
