"""Detectors of individual discrimination: people whose decision changes with a protected value."""

from skdisc.individual._counterfactual_fairness import CounterfactualFairness
from skdisc.individual._kosei import KOSEI
from skdisc.individual._themis import Themis

__all__ = ["KOSEI", "CounterfactualFairness", "Themis"]
