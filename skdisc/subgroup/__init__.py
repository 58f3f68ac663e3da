"""Detectors of discrimination against subgroups: groups of people who are treated worse."""

from skdisc._bins import Bins
from skdisc.subgroup._bias_scan import BiasScan
from skdisc.subgroup._divexplorer import DivExplorer
from skdisc.subgroup._facts import FACTS
from skdisc.subgroup._fair_naive_bayes import FairNaiveBayes
from skdisc.subgroup._patterns import DiscriminationPatterns
from skdisc.subgroup._rules import DiscriminatoryRules
from skdisc.subgroup._slice_finder import SliceFinder
from skdisc.subgroup._slice_line import SliceLine

__all__ = [
    "FACTS",
    "BiasScan",
    "Bins",
    "DiscriminationPatterns",
    "DiscriminatoryRules",
    "DivExplorer",
    "FairNaiveBayes",
    "SliceFinder",
    "SliceLine",
]
