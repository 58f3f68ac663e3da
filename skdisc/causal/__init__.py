"""Structural causal models: what a person's row would be, had a protected value been another."""

__all__ = []
