"""Models that change what they are passed, or fail after the first questions."""

import json

import numpy as np
import pandas as pd
import pytest

from skdisc import Audit, BlackBox
from skdisc.exceptions import ModelError
from skdisc.individual import Themis

HOW = {"protected": "sex", "pos_label": 1, "random_state": 0}


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], 600), "points": rng.integers(0, 100, 600)})
    return X, (rng.random(600) < 0.5).astype(int)


class Rule:
    """Decides by points, for women of more points; may fail from one of its calls on."""

    classes_ = np.array([0, 1])

    def __init__(self, fails_from=10**9, changes=False):
        self.fails_from, self.changes, self.n_calls = fails_from, changes, 0

    def predict(self, X):
        self.n_calls += 1
        if self.n_calls >= self.fails_from:
            raise ConnectionError(f"no answer about {X['sex'].iloc[0]} at 10.0.0.1")
        answers = (X["points"] > np.where(X["sex"] == "f", 60, 40)).to_numpy().astype(int)
        if self.changes:
            X["sex"] = "?"
            X["points"] = -1
        return answers


def answers(report):
    document = json.loads(report.to_json())
    document["about"]["seconds"] = 0
    for row in document["log"]:
        row["seconds"] = 0
    return document


@pytest.mark.slow
def test_a_model_cannot_change_the_rows_under_audit(people):
    X, y = people
    before = X.copy()
    honest, other = (Audit(**HOW).fit(X, y, Rule(changes=c)).report_ for c in (False, True))
    assert answers(other) == answers(honest)
    assert X.equals(before)
    detector = Themis(protected="sex", random_state=0)
    cases = [detector.fit(X, y, Rule(changes=c)).result_.to_frame() for c in (False, True)]
    assert cases[0].equals(cases[1])


@pytest.mark.slow
def test_a_detector_whose_model_fails_is_left_out(people):
    X, y = people
    asked = Rule()
    Audit(**HOW, detectors=["GroupDisparity"]).fit(X, y, asked)
    # The questions about the rows under audit are answered, those about made-up inputs are not.
    report = Audit(**HOW).fit(X, y, Rule(fails_from=asked.n_calls + 1)).report_
    reasons = {row["detector"]: row["reason"] for row in report.document["not_run"]}
    assert [r for r in reasons.values() if "raised ConnectionError" in r]
    assert "10.0.0.1" not in report.to_json()
    gap = report.document["verdicts"][0]
    assert (gap["verdict"], gap["measure"]) == ("disparity found", "selection_rate")
    with pytest.raises(ModelError, match="ConnectionError"):
        Audit(**HOW).fit(X, y, BlackBox(Rule(fails_from=1)))
