"""skdisc finds discrimination in decisions, behind one scikit-learn interface."""

from importlib import import_module

__version__ = "0.2.0.dev0"

__all__ = [
    "Audit",
    "AuditReport",
    "AuditResult",
    "BlackBox",
    "Budget",
    "Case",
    "Counts",
    "FeatureSpace",
    "Finding",
    "Limits",
    "Predicate",
    "Rule",
    "Subgroup",
    "all_detectors",
    "auditing",
    "benchmark",
    "causal",
    "datasets",
    "exceptions",
    "extending",
    "group",
    "individual",
    "measures",
    "model_selection",
    "monitoring",
    "multiclass",
    "plotting",
    "preprocessing",
    "read_table",
    "repair",
    "report",
    "subgroup",
    "testing",
]
_HOMES = {  # loaded at first use: the command can say so when it is interrupted before
    "Audit": "auditing._audit",
    "AuditReport": "auditing._audit_report",
    "AuditResult": "_results._audit_result",
    "BlackBox": "_blackbox._blackbox",
    "Budget": "_task._budget",
    "Case": "_results._case",
    "Counts": "_counts._counts",
    "FeatureSpace": "_space._feature_space",
    "Finding": "_results._findings",
    "Limits": "_task._limits",
    "Predicate": "_space._subgroup",
    "Rule": "_verdicts._rule",
    "Subgroup": "_space._subgroup",
    "all_detectors": "_registry",
    "read_table": "_utils._tables._public",
}


def __getattr__(name):
    if name in _HOMES:
        return getattr(import_module(f"skdisc.{_HOMES[name]}"), name)
    if name in __all__:
        return import_module(f"skdisc.{name}")
    raise AttributeError(f"module 'skdisc' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__})
