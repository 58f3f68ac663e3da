"""Structural causal models: what a person's row would be, had a protected value been another."""

from skdisc.causal._fair_targets import CounterfactualTargets, sensitivity_worlds
from skdisc.causal._scm import StructuralCausalModel

__all__ = ["CounterfactualTargets", "StructuralCausalModel", "sensitivity_worlds"]
