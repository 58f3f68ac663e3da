"""skdisc: one detector with its default settings."""

import inspect
import re

import numpy as np

from skdisc import all_detectors

PACKAGE = "skdisc"


def find(table, settings):
    """Claim the significant groups of a verdict "disparity found"."""
    kind = all_detectors()[settings["detector"]]
    known = inspect.signature(kind).parameters
    given = {"protected": settings["protected"], "random_state": settings["seed"], "pos_label": 1}
    given |= {"min_support": settings["min_support"]}
    detector = kind(**{name: value for name, value in given.items() if name in known})
    more = {}
    if settings["clusters"] and "groups" in inspect.signature(detector.fit).parameters:
        more["groups"] = table[settings["clusters"]].to_numpy()
    detector.fit(table[settings["columns"]], table[settings["outcome"]].to_numpy(), **more)
    result, groups = detector.result_, detector.result_.findings.subgroups
    found = result.verdict == "disparity found"
    sign = -1 if kind.__name__ == "SliceLine" else 1  # its effects are those of losses
    findings = []
    for group, row in zip(groups, result.to_frame().to_dict("records"), strict=True):
        one = {"group": {p.column: list(p.values) for p in group.predicates}}
        low, high = sorted(sign * row.get(name, np.nan) for name in ("ci_low", "ci_high"))
        one |= {"effect": sign * row["effect"], "low": low, "high": high, "p": row["p_adjusted"]}
        one |= {"claimed": found and one["p"] <= 0.05, "versus": _versus(row)}
        findings.append(one)
    return {"findings": findings, "alarm": found, "n_claimed": int(result.n_found)}


def _versus(row):
    named = re.findall(r"(\w+) = '([^']*)'", row.get("reference", ""))
    return {column: [value] for column, value in named} or "context"
