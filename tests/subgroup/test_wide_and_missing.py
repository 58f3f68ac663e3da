"""Tables that break others: more columns than rows, many values, bias where a value is missing."""

import numpy as np
import pandas as pd
import pytest
from smallest import has, smallest

from skdisc import all_detectors

GROUPS = sorted(n for n, d in all_detectors().items() if d.card.finds in ("subgroup", "group"))
GROUPS.remove("RiskAdjustedRegression")  # here no one of the group is selected
GROUPS.remove("ThresholdTest")  # it needs many places
SUBGROUPS = [n for n in GROUPS if all_detectors()[n].__module__.startswith("skdisc.subgroup")]
HERE = {  # what these tests need beyond the smallest settings
    "BiasScan": {"direction": "lower"},
    "SliceFinder": {"approach": "lattice", "min_rows": 5},
    "SliceLine": {"min_rows": 5},
    "FACTS": {"max_predicates": 1},
}


def make(name, **more):
    return smallest(name, **{"protected": "group"} | HERE.get(name, {}) | more)


def hits(name, X, y, bank):
    """Return what a detector is fitted on: FACTS asks a model, the others read the labels."""
    return (X, None, bank) if name == "FACTS" else (X, y)


@pytest.mark.parametrize("name", GROUPS)
def test_bias_on_missing_protected_values_is_found(name):
    rng = np.random.default_rng(0)
    n = 1200
    group = rng.choice(np.array(["A", "B", None], dtype=object), n)
    X = pd.DataFrame(
        {"group": group, "points": rng.integers(0, 10, n), "town": rng.choice(list("xyz"), n)}
    )

    def bank(X):
        return (X["points"] > np.where(X["group"].isna(), 9, 4)).astype(int)

    settings = {"max_predicates": 1} if name in SUBGROUPS else {}
    result = make(name, **settings).fit(*hits(name, X, bank(X), bank)).result_
    assert result.verdict == "disparity found"
    assert "group is missing" in result.to_frame().to_string()  # as the subject, or the reference


@pytest.mark.every(4)
@pytest.mark.parametrize("name", SUBGROUPS)
def test_more_columns_than_rows(name):
    rng = np.random.default_rng(1)
    n, m = (300, 400) if has(name, "witness") else (60, 80)
    X = (
        pd.DataFrame(rng.integers(0, 3, (n, m)).astype(str))
        .add_prefix("c")
        .rename(columns={"c0": "group"})
    )

    def bank(X):
        return ((X["c7"] != "1") & ((X["group"] != "0") | (X["c8"] == "1"))).astype(int)

    k = {"k": 30} if has(name, "k") else {}
    k |= {"max_predicates": 2} if name != "FACTS" else {}
    # So many main effects would explain each row.
    if name in ("DisparityPursuit", "MultiaccuracyAudit"):
        k |= {"adjust_for": None}
    result = make(name, min_support=0.05, **k).fit(*hits(name, X, bank(X), bank)).result_
    assert result.n_tested > 0
    people = result[0].subject.mask(X).sum()
    assert 0 < result[0].support < people if has(name, "witness") else result[0].support == people
    assert any("group = '0'" in str(f.subject) for f in result)


@pytest.mark.statistics
@pytest.mark.parametrize("name", SUBGROUPS)
def test_thirty_columns_of_ten_values(name):
    rng = np.random.default_rng(2)
    n = 2000
    X = (
        pd.DataFrame(rng.integers(0, 10, (n, 30)).astype(str))
        .add_prefix("c")
        .rename(columns={"c0": "group"})
    )

    def bank(X):
        denied = X["group"] == "3"
        return ~(denied & (X["c15"] != "7")) & (X["c1"] != "0")

    settings = {"min_support": 0.01 if name != "FACTS" else 0.03}
    settings |= {"max_predicates": 2} if name != "FACTS" else {}
    result = make(name, **settings).fit(*hits(name, X, bank(X).astype(int), bank)).result_
    assert result.verdict == "disparity found"
    assert "group = '3'" in str(result[0].subject)
