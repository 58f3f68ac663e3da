"""Searches: for less discriminatory models, and over the settings of detectors."""

from skdisc.model_selection._alternatives import AlternativeReport, AlternativeSearch
from skdisc.model_selection._cases_per_query import cases_per_query
from skdisc.model_selection._planted_truth import PlantedTruth

__all__ = ["AlternativeReport", "AlternativeSearch", "PlantedTruth", "cases_per_query"]
