"""Helpers that know nothing of fairness."""
