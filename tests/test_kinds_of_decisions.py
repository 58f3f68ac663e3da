"""The table of kinds of decisions: what it says works does, and the rest is refused."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from smallest import smallest

from skdisc import all_detectors

PAGE = Path(__file__).parents[1] / "doc" / "kinds_of_decisions.md"
SETTING = re.compile(r'by `(\w+)="(\w+)"`')
NUMBERS = {"output": "value", "mode": "continuous"}


def table():
    """Return the cells of each detector."""
    lines = PAGE.read_text().split("<!-- kinds -->")[1].split("\n\n")[1].splitlines()[2:]
    rows = [[c.strip() for c in line.strip("|").split("|")] for line in lines]
    return {row[0].strip("`").split(".")[1]: row[1:] for row in rows}


CELLS = table()


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


def test_each_detector_has_a_row():
    assert set(CELLS) == set(all_detectors()), f"{PAGE.name} needs a row for each detector"
    reasons = set(re.findall(r"no \((\d)\)", PAGE.read_text()))
    assert reasons == set(re.findall(r"^(\d)\. ", PAGE.read_text(), re.MULTILINE))


@pytest.mark.every(6)
@pytest.mark.parametrize("name", sorted(all_detectors()))
def test_what_the_table_says(name, given):
    X, kinds = given
    for kind, (cell, (y, model, more)) in enumerate(zip(CELLS[name], kinds, strict=True)):
        settings = dict(SETTING.findall(cell))
        if cell == "yes" or settings:
            result = smallest(name, protected=["sex"], **more, **settings).fit(X, y, model).result_
            assert result.n_samples == 300
        else:
            allowed = all_detectors()[name]._parameter_constraints
            wanted = {"output": "probability"} if kind == 2 else NUMBERS
            has_it = {k: v for k, v in wanted.items() if takes(allowed.get(k), v)}
            if kind == 2:  # the model is asked for its decisions
                assert not has_it
                continue
            try:
                result = smallest(name, protected=["sex"], **has_it).fit(X, y, model).result_
            except (ValueError, TypeError):
                continue
            assert (result.verdict, result.n_tested) == ("insufficient evidence", 0)


def takes(constraint, value):
    """Return whether a setting may have a value."""
    return any(value in getattr(c, "options", ()) for c in constraint or ())
