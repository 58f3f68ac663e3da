"""skdisc finds discrimination in decisions, behind one scikit-learn interface."""

from importlib import import_module

from skdisc._budget import Budget
from skdisc._case import Case
from skdisc._findings import Finding
from skdisc._model import BlackBox
from skdisc._result import AuditResult
from skdisc._space import FeatureSpace
from skdisc._subgroup import Predicate, Subgroup

__version__ = "0.1.0.dev0"

__all__ = [
    "AuditResult",
    "BlackBox",
    "Budget",
    "Case",
    "FeatureSpace",
    "Finding",
    "Predicate",
    "Subgroup",
    "all_detectors",
    "datasets",
    "exceptions",
    "individual",
    "measures",
    "report",
    "subgroup",
]


def __getattr__(name):
    if name == "all_detectors":
        return import_module("skdisc._registry").all_detectors
    if name in __all__:
        return import_module(f"skdisc.{name}")
    raise AttributeError(f"module 'skdisc' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__})
