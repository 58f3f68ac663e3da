"""Situation testing and counterfactual situation testing."""
