"""Repair of data and models: weights, samples, labels and columns, and a report on them."""

from skdisc.repair._disparate_impact_remover import DisparateImpactRemover
from skdisc.repair._group_sampling import Massager, PreferentialSampler, UniformSampler
from skdisc.repair._repair_report import repair_report
from skdisc.repair._resampler import CaseResampler
from skdisc.repair._reweigher import Reweigher

__all__ = [
    "CaseResampler",
    "DisparateImpactRemover",
    "Massager",
    "PreferentialSampler",
    "Reweigher",
    "UniformSampler",
    "repair_report",
]
