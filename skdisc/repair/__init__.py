"""Repair of models: retrain on data with discovered cases added, and compare before and after."""

from skdisc.repair._repair_report import repair_report
from skdisc.repair._resampler import CaseResampler

__all__ = ["CaseResampler", "repair_report"]
