"""Detectors of discrimination against subgroups: groups of people who are treated worse."""

from skdisc.subgroup._divexplorer import DivExplorer
from skdisc.subgroup._fair_naive_bayes import FairNaiveBayes
from skdisc.subgroup._patterns import DiscriminationPatterns
from skdisc.subgroup._rules import DiscriminatoryRules

__all__ = ["DiscriminationPatterns", "DiscriminatoryRules", "DivExplorer", "FairNaiveBayes"]
