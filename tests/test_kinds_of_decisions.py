"""The table of kinds of decisions: what it says works does, and the rest is refused."""

import re
import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from smallest import smallest

from skdisc import all_detectors

DOC = Path(__file__).parents[1] / "doc"
TABLES = runpy.run_path(str(DOC / "detector_tables.py"))
CELLS = TABLES["TABLES"]["kinds"][1]()
SETTING = re.compile(r'by `(\w+)="(\w+)"`')
NUMBERS = {"output": "value", "mode": "continuous"}


@pytest.fixture(scope="module")
def given():
    """Return columns, and what is fitted by kind: y and a model."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.integers(0, 2, 300), "points": rng.integers(0, 6, 300)})
    X["town"] = rng.integers(0, 3, 300)
    height = (X["points"] + 2 * X["sex"] + rng.normal(size=300)).to_numpy()
    labels, pay = (height > 4).astype(int), 100 + 10 * height
    classes = np.array(["low", "middle", "high"])[np.digitize(height, [2, 4])]
    return X, [
        (labels, None, {}),
        (classes, None, {"pos_label": ["middle", "high"]}),
        (labels, LogisticRegression().fit(X, labels), {}),
        (pay, None, {}),
        (None, LinearRegression().fit(X, pay), {}),
    ]


def test_each_reason_has_a_footnote():
    page = (DOC / "kinds_of_decisions.md").read_text(encoding="utf-8")
    reasons = set(re.findall(r"no \((\d)\)", str(CELLS)))
    assert reasons == set(re.findall(r"^(\d)\. ", page, re.MULTILINE))


@pytest.mark.every(6)
@pytest.mark.parametrize("name", sorted(all_detectors()))
def test_what_the_table_says(name, given):
    X, kinds = given
    for kind, (cell, (y, model, more)) in enumerate(zip(CELLS[name], kinds, strict=True)):
        settings = settings_of(name, cell)
        if cell == "yes" or settings:
            result = smallest(name, protected=["sex"], **more, **settings).fit(X, y, model).result_
            assert result.n_samples == 300
        else:
            wanted = {"output": "probability"} if kind == 2 else NUMBERS
            has_it = {k: v for k, v in wanted.items() if takes(name, k, v)}
            if kind == 2:  # the model is asked for its decisions
                assert not has_it
                continue
            try:
                result = smallest(name, protected=["sex"], **has_it).fit(X, y, model).result_
            except (ValueError, TypeError):
                continue
            assert (result.verdict, result.n_tested) == ("insufficient evidence", 0)


@pytest.mark.parametrize("name", [name for name in CELLS if CELLS[name][3].startswith("by")])
def test_other_rows_without_their_numbers_are_refused(name, given):
    X, kinds = given
    y, settings = kinds[3][0], settings_of(name, CELLS[name][3])
    detector = smallest(name, protected=["sex"], **settings).fit(X, y)
    with pytest.raises(ValueError, match=r"y is needed|audit other rows with their y"):
        detector.audit(X)


def settings_of(name, cell):
    """Return the settings that a cell names; a monitor of numbers needs bounds beside."""
    settings = dict(SETTING.findall(cell))
    is_of_numbers = name == "DisparityMonitor" and settings.get("output") == "value"
    return settings | ({"bounds": (0, 1000)} if is_of_numbers else {})


def takes(name, setting, value):
    return TABLES["takes"](all_detectors()[name], setting, value)
