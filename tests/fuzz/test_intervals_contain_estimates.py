"""Every interval of the package contains its estimate: all detectors, all reports of measures."""

import inspect

import numpy as np
import pytest
from fuzzing._answers import intervals_of, tables_of, wrong_in_table
from fuzzing._arguments import small_settings
from fuzzing._detector_cases import HashedRows
from fuzzing._hazards import calm_table

from skdisc import all_detectors, measures
from skdisc.measures._formula._catalogue import CATALOGUE

REPORTS = [n for n in measures.__all__ if n.endswith("_report")]
REPORTS += ["disparities", "group_rates"]
ONLY_OF_NUMBERS = {n for n, e in CATALOGUE.items() if e.target == ("numeric",)}


def outside(table):
    return [w for w in wrong_in_table(table) if "outside" in w]


@pytest.mark.parametrize("name", REPORTS)
def test_of_measures(name):
    report, seen = getattr(measures, name), 0
    known = inspect.signature(report).parameters
    for seed in range(8):
        rng = np.random.default_rng(seed)
        table = calm_table(rng)
        given = {"y_true": table.labels, "y_pred": table.y, "protected": table.X["sex"]}
        given |= {"X": table.X.drop(columns="sex"), "explanatory": table.X.iloc[:, 0]}
        given |= {"strata": table.X.iloc[:, 1], "measure": measures.equal_opportunity}
        given |= {"estimator": None, "n_resamples": 19, "n_neighbors": 3}
        if name.removesuffix("_report") in ONLY_OF_NUMBERS:
            given["pos_label"] = None
        if name == "twin_test_report":
            given |= {"estimator": HashedRows(), "X": table.X, "protected": "sex"}
        if "sample_weight" in known and seed % 2 and "situation" not in name:
            given["weights"] = "frequency"
            given["sample_weight"] = rng.integers(1, 4, len(table.y))
        made = report(**{k: v for k, v in given.items() if k in known})
        assert outside(made) == []
        seen += len(intervals_of(made))
    assert seen or name in ("consistency_report", "lipschitz_ratio_report")


@pytest.mark.every(6)
@pytest.mark.parametrize("name", sorted(all_detectors()))
def test_of_detectors(name):
    cls = all_detectors()[name]
    for seed in range(4):
        table = calm_table(np.random.default_rng(seed))
        detector = cls(**small_settings(cls), protected=["sex"])
        result = detector.fit(table.X, table.y, HashedRows() if seed % 2 else None).result_
        found = {where: outside(t) for where, t in tables_of(result).items()}
        assert not any(found.values()), found
