"""The table of plans in doc/audit.md: what an audit runs, and why not the rest."""

import re
from pathlib import Path

import numpy as np
import pytest
from deciders import decided
from sklearn.linear_model import LogisticRegression

from skdisc import Audit, BlackBox, all_detectors
from skdisc.auditing import _audit

PAGE = Path(__file__).parents[2] / "doc" / "audit.md"
REASONS = {  # what is said about a detector that does not run, by the number on the page
    1: "queries a model",
    2: "counterfactuals=",
    3: "outcomes y",
    4: "settings={'place'",
    5: "orders people by scores",
    6: "as they arrive",
}


def table():
    """Return the cells of each detector."""
    lines = PAGE.read_text().split("<!-- plan -->")[1].split("\n\n")[1].splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0].strip("`"): row[1:] for row in rows}


@pytest.fixture
def plan_of(monkeypatch):
    """Return a function that plans an audit, and does not run it."""
    plans, make_plan = [], _audit.make_plan

    def planned(*args):
        plans.append(make_plan(*args))
        raise StopIteration

    def plan(*given, **settings):
        audit = Audit(protected=["race"], detectors="all", random_state=0, **settings)
        with pytest.raises(StopIteration):
            audit.fit(*given)
        return plans[-1]

    monkeypatch.setattr(_audit, "make_plan", planned)
    return plan


def test_the_page_says_what_runs_and_why_not_the_rest(plan_of):
    X, y, decisions = decided(200)
    X["town"] = np.arange(200) % 8
    model = LogisticRegression().fit(X[["x", "z"]], y)
    plans = [
        plan_of(X, y),
        plan_of(X, y, BlackBox(decisions=decisions), settings={"place": "town"}),
        plan_of(X, y, BlackBox(lambda rows: model.predict(rows[["x", "z"]]))),
    ]
    cells = table()
    assert set(cells) == set(all_detectors()), f"{PAGE.name} needs a row for each detector"
    for i, plan in enumerate(plans):
        roles = {step.detector: step.role for step in plan.steps}
        reasons = {line["detector"]: line["reason"] for line in plan.not_run}
        for name, row in cells.items():
            number = re.fullmatch(r"no \((\d)\)", row[i])
            if number:
                assert REASONS[int(number[1])] in reasons[name], name
            else:
                assert roles[name] == {"beside": "corroborates"}.get(row[i], row[i]), name
    listed = set(re.findall(r"no \((\d)\)", PAGE.read_text()))
    assert listed == {str(k) for k in REASONS}
