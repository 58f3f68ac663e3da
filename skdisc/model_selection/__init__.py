"""Scorers that make a search over the settings of a detector meaningful."""

from skdisc.model_selection._cases_per_query import cases_per_query
from skdisc.model_selection._planted_truth import PlantedTruth

__all__ = ["PlantedTruth", "cases_per_query"]
