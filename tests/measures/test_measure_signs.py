"""The sign in words: where the protected group is worse off, every measure says so."""

import numpy as np
import pytest

from skdisc import measures as m
from skdisc.measures._formula._catalogue import CATALOGUE

LABEL = np.array([1, 1, 1, 0, 0, 0] * 20)
WORSE = np.array([1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0] * 10)  # men by label, then women
SEX = np.array((["m"] * 6 + ["f"] * 6) * 10)
STRATA = np.repeat([0, 1], 60)
EXTRA = {
    "cochran_mantel_haenszel_test": {"explanatory": STRATA},
    "unexplained_difference": {"explanatory": STRATA},
    "conditional_impact_ratio": {"explanatory": STRATA},
    "belift": {"explanatory": STRATA},
    "propensity_stratified_difference": {"X": STRATA[:, None]},
    "situation_testing": {"X": STRATA[:, None], "n_neighbors": 20},
}
SIGNED = [
    name
    for name, e in CATALOGUE.items()
    if e.worse != "unsigned" and hasattr(getattr(m, name), "plan")
]
NUMBERS = {"pos_label": None}  # 0 and 1 as numbers
EXTRA |= {name: NUMBERS for name, e in CATALOGUE.items() if e.target == ("numeric",)}
UPSIDE_DOWN = {"predictive_parity", "calibration_difference"}  # shown on labels of their own


@pytest.mark.parametrize("name", sorted(set(SIGNED) - UPSIDE_DOWN))
def test_worse_off_gives_the_documented_sign(name):
    measure, entry = getattr(m, name), CATALOGUE[name]
    worse = measure(LABEL, WORSE, protected=SEX, reference="m", **EXTRA.get(name, {}))
    better = measure(LABEL, WORSE, protected=SEX, reference="f", **EXTRA.get(name, {}))
    word = entry.worse.capitalize()
    assert f"{word} {entry.none:g}".replace("0.5", "½") in measure.__doc__ or '"protected"' in (
        measure.__doc__
    )
    if entry.worse == "above":
        assert worse > entry.none
        assert better < entry.none or name == "situation_testing"
    else:
        assert worse < entry.none < better


@pytest.mark.parametrize("name", sorted(UPSIDE_DOWN))
def test_more_is_asked_of_the_worse_off(name):
    measure = getattr(m, name)
    y_true = [1, 1, 1, 0, 1, 0, 1, 0]
    y_pred = [1, 1, 0, 0, 1, 1, 0, 0]
    sex = ["f"] * 4 + ["m"] * 4
    assert measure(y_true, y_pred, protected=sex, reference="m") > 0
    assert measure(y_true, y_pred, protected=sex, reference="f") < 0
    assert "Above 0 the protected group is worse off" in measure.__doc__


def test_a_measure_of_the_general_group_points_the_other_way():
    how = {"protected": SEX, "reference": "m"}
    assert m.elift(None, WORSE, convention="general", **how) > 1 > m.elift(None, WORSE, **how)


@pytest.mark.parametrize("name", [n for n, e in CATALOGUE.items() if e.worse == "unsigned"])
def test_unsigned_measures_say_so(name):
    doc = " ".join(getattr(m, name).__doc__.split())
    words = ("nsigned", "does not say which group is worse off")
    assert any(word in doc for word in words)


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_every_measure_is_documented(name):
    measure, report = getattr(m, name), getattr(m, f"{name}_report")
    doc = measure.__doc__
    for part in (".. math::", "Parameters\n", "Returns\n", "Notes\n", "References\n", ">>> "):
        assert part in doc, part
    assert report.__name__ == f"{name}_report"
    assert "Returns\n" in report.__doc__
