"""Bayesian networks: the exact law of people whose attributes cause one another."""
