"""Structural causal models: the rows of people under an intervention on a protected column."""

from skdisc.causal._fair_targets import CounterfactualTargets, sensitivity_worlds
from skdisc.causal._scm import StructuralCausalModel

__all__ = ["CounterfactualTargets", "StructuralCausalModel", "sensitivity_worlds"]
