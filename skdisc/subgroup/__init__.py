"""Detectors of discrimination against subgroups: groups of people who are treated worse."""

from skdisc.subgroup._divexplorer import DivExplorer

__all__ = ["DivExplorer"]
