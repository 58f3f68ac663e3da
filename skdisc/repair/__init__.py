"""Repair: training data with discovered cases put back, and what that changed."""

from skdisc.repair._repair_report import repair_report
from skdisc.repair._resampler import CaseResampler

__all__ = ["CaseResampler", "repair_report"]
