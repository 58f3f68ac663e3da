"""Detectors of discrimination against subgroups: groups of people who are treated worse."""

from skdisc._space._bins import Bins
from skdisc._space._itemsets import from_itemsets
from skdisc.subgroup._bias_scan._bias_scan import BiasScan
from skdisc.subgroup._discriminatory_rules import DiscriminatoryRules
from skdisc.subgroup._disparity_pursuit._disparity_pursuit import DisparityPursuit
from skdisc.subgroup._divexplorer import DivExplorer
from skdisc.subgroup._facts import FACTS, Actions, Costs
from skdisc.subgroup._learned._gerrymandering_audit import GerrymanderingAudit
from skdisc.subgroup._learned._multiaccuracy_audit import MultiaccuracyAudit
from skdisc.subgroup._learned._multicalibration_audit import MulticalibrationAudit
from skdisc.subgroup._patterns._discrimination_patterns import DiscriminationPatterns
from skdisc.subgroup._patterns._fair_naive_bayes import FairNaiveBayes
from skdisc.subgroup._slices._slice_finder import SliceFinder
from skdisc.subgroup._slices._slice_line import SliceLine

__all__ = [
    "FACTS",
    "Actions",
    "BiasScan",
    "Bins",
    "Costs",
    "DiscriminationPatterns",
    "DiscriminatoryRules",
    "DisparityPursuit",
    "DivExplorer",
    "FairNaiveBayes",
    "GerrymanderingAudit",
    "MultiaccuracyAudit",
    "MulticalibrationAudit",
    "SliceFinder",
    "SliceLine",
    "from_itemsets",
]
