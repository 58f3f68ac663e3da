"""Detectors of individual discrimination: people whose decision changes with a protected value."""

from skdisc.individual._counterfactual_fairness import CounterfactualFairness
from skdisc.individual._counterfactual_situation_testing import CounterfactualSituationTesting
from skdisc.individual._fliptest import FlipTest
from skdisc.individual._kosei import KOSEI
from skdisc.individual._situation_testing import SituationTesting
from skdisc.individual._themis import Themis

__all__ = [
    "KOSEI",
    "CounterfactualFairness",
    "CounterfactualSituationTesting",
    "FlipTest",
    "SituationTesting",
    "Themis",
]
