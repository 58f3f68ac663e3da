"""Detectors of discrimination against subgroups: groups of people who are treated worse."""

from skdisc.subgroup._divexplorer import DivExplorer
from skdisc.subgroup._patterns import DiscriminationPatterns

__all__ = ["DiscriminationPatterns", "DivExplorer"]
