"""Robustness: how the verdicts of an audit move with settings that are matters of choice."""

import time
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
from sklearn.base import clone

from skdisc._utils._json import jsonable

SETTINGS = {
    "n_bins": (3, 4, 6),
    "missing": ("category", "drop"),
    "rule__relevant_gap": (0.05, 0.1, 0.15),
    "rule__relevant_ratio": (0.7, 0.8, 0.9),
    "max_predicates": (1, 2, 3),
}
_OF_RATES = ("rule__relevant_gap", "rule__relevant_ratio")
_OF_NUMBERS = {"rule__relevant_gap": ("2.5%", "5%", "10%")}
_COLUMNS = ["attribute", "null", "setting", "value", "verdict"]


def robustness_table(audit: Any, X: Any, y: Any, model: Any, **extra: Any) -> tuple:
    """Return how the verdicts move, and the report of the audit as it is.

    One setting is changed at a time; what the time budget does not allow is left out. Detectors
    whose own settings stay do not run again: results are kept in the folder of the audit, or in one
    that is removed afterwards.

    `X`, `y` and `model`: as of `Audit.fit`. `**extra`: sample_weight and groups. Returns `table`:
    attribute, null, setting, value, verdict. The audit's own value of a setting comes first.
    """
    started = time.perf_counter() if audit._started is None else audit._started
    with TemporaryDirectory() as folder:
        cache = folder if audit.cache is None else audit.cache
        first = type(audit)(**audit.get_params(deep=False)).set_params(cache=cache)
        first._started = started
        report = first.fit(X, y, model, **extra).report_
        model = model if first._box is None else first._box
        rows = []
        settings = SETTINGS
        if "outcome" in report.document["about"]:
            settings = {n: v for n, v in settings.items() if n not in _OF_RATES} | _OF_NUMBERS
        for name, values in settings.items():
            field = name.removeprefix("rule__")
            audit_value = getattr(audit, field)
            rows += _rows(report, field, audit_value)
            for value in values:
                if isinstance(audit_value, type(value)) and value == audit_value:
                    continue
                one = type(audit)(**clone(first).get_params(deep=False))
                one.set_params(estimator=None, **{name: value})
                one._started = started  # all share the time budget
                seconds = audit._limit("seconds")
                if seconds is None or time.perf_counter() - started < seconds:
                    rows += _rows(one.fit(X, y, model, **extra).report_, field, value)
    return pd.DataFrame(rows, columns=_COLUMNS), report


def _rows(report, name, value):
    """Return the verdicts of an audit with one value of a setting."""
    if report.document["about"]["interrupted"]:
        raise KeyboardInterrupt  # which the audit itself answered with what it had
    setting = {"setting": name, "value": jsonable(value)}
    return [
        {"attribute": v["attribute"], "null": v["null"], **setting, "verdict": v["verdict"]}
        for v in report.document["verdicts"]
    ]
