"""Detectors of outcomes in an audit: what they need, and which questions they answer."""

import pytest
from deciders import decided

from skdisc import Audit, BlackBox

NAMES = ["GroupDisparity", "OutcomeTest", "RiskAdjustedRegression"]


def test_they_answer_beside_the_rates():
    X, y, decisions = decided(1500, gap=-0.3)
    audit = Audit(protected=["race"], detectors=NAMES, random_state=0)
    report = audit.fit(X, y, BlackBox(decisions=decisions)).report_
    verdicts = report.to_frame("verdicts").set_index("null")["verdict"]
    assert verdicts["conditional"] == "disparity found"
    log = report.to_frame("log").set_index("detector")
    assert log.loc["OutcomeTest", "role"] == "corroborates"
    assert log.loc["RiskAdjustedRegression", "role"] == "lead"


def test_without_decisions_beside_outcomes_they_do_not_run():
    X, y, _ = decided(300)
    with pytest.raises(ValueError, match="RiskAdjustedRegression needs decisions, and the outc"):
        Audit(protected=["race"], detectors=["GroupDisparity", NAMES[2]]).fit(X, y)


def test_detectors_agree_whatever_the_sign_of_their_effects():
    """Success rates and errors are higher where a group is worse off, rates of decisions lower."""
    X, y, decisions = decided(3000, gap=-0.3)
    audit = Audit(protected=["race"], detectors=[*NAMES, "DiscriminatoryRules"], random_state=0)
    evidence = audit.fit(X, y, BlackBox(decisions=decisions)).report_.to_frame("evidence")
    by_null = evidence.set_index("null")["agree"]
    assert "OutcomeTest" in by_null["calibration"]
    assert "DiscriminatoryRules" in by_null["conditional"]
