"""Structural causal models: what a person's row would be, had a protected value been another."""

from skdisc.causal._scm import StructuralCausalModel
from skdisc.causal._targets import CounterfactualTargets, sensitivity_worlds

__all__ = ["CounterfactualTargets", "StructuralCausalModel", "sensitivity_worlds"]
