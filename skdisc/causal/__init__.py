"""Structural causal models: what a person's row would be, had a protected value been another."""

from skdisc.causal._scm import StructuralCausalModel

__all__ = ["StructuralCausalModel"]
