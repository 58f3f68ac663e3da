"""Counterfactual fairness by a structural causal model."""
