"""Detectors of outcomes in an audit: what they need, and which questions they answer."""

import numpy as np
import pandas as pd
import pytest
from deciders import decided

from skdisc import Audit, BlackBox
from skdisc.datasets import make_loan

pytestmark = pytest.mark.usefixtures("no_refits")

NAMES = ["GroupDisparity", "OutcomeTest", "RiskAdjustedRegression"]


@pytest.mark.slow
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


@pytest.mark.slow
def test_detectors_agree_whatever_the_sign_of_their_effects():
    """Success rates and errors are higher where a group is worse off, rates of decisions lower."""
    X, y, decisions = decided(3000, gap=-0.3)
    audit = Audit(protected=["race"], detectors=[*NAMES, "DiscriminatoryRules"], random_state=0)
    evidence = audit.fit(X, y, BlackBox(decisions=decisions)).report_.to_frame("evidence")
    by_null = evidence.set_index("null")["agree"]
    assert "OutcomeTest" in by_null["calibration"]
    assert "DiscriminatoryRules" not in by_null["conditional"]  # its gaps are raw
    assert "GroupDisparity" not in by_null["conditional"]


@pytest.mark.slow
def test_every_gap_is_the_rate_of_the_group_less_that_of_the_others():
    """Also where a higher rate shows that a group is worse off, as among those selected."""
    X, y, decisions = decided(3000, gap=-0.3)
    audit = Audit(protected=["race"], random_state=0)
    document = audit.fit(X, y, BlackBox(decisions=decisions)).report_.to_dict()
    rates = {(r["group"], r["measure"]): r for r in document["groups"] if r["gap"] is not None}
    measures = {name for _, name in rates} - {"impact_ratio"}
    assert "positive_predictive_value" in measures
    for name in measures:
        one, other = (r for (_, m), r in rates.items() if m == name)
        assert one["gap"] == pytest.approx(one["rate"] - other["rate"], abs=1e-12)
        assert one["ci_low"] <= one["gap"] <= one["ci_high"]
    shown = [r for r in [*document["evidence"], *document["verdicts"]] if r["group"]]
    assert {"calibration", "marginal"} <= {r["null"] for r in shown}
    for row in shown:
        if row["null"] in ("calibration", "marginal"):
            assert row["effect"] == pytest.approx(rates[row["group"], row["measure"]]["gap"])
    by_null = {r["null"]: r["group"] for r in document["evidence"]}
    assert by_null["calibration"] == by_null["marginal"]  # whoever is worse off


@pytest.mark.slow
def test_a_step_tests_the_null_that_the_plan_names():
    X, y = make_loan(600, random_state=0, return_X_y=True)
    audit = Audit(protected="gender", detectors="all", random_state=0)
    report = audit.fit(X, y).report_
    steps = {s["name"]: s["null"] for s in report.to_dict()["plan"]["steps"]}
    results = report.results
    assert {"GerrymanderingAudit", "MulticalibrationAudit"} <= set(results)
    assert {n: r.null for n, r in results.items()} == {n: steps[n] for n in results}
    assert results["GerrymanderingAudit"].verdict == "disparity found"


def test_too_little_evidence_does_not_disagree():
    X, y = make_loan(36, random_state=0, return_X_y=True)
    names = ["GroupDisparity", "GerrymanderingAudit"]
    audit = Audit(protected="gender", detectors=names, random_state=0)
    y = (X["gender"] == "male").to_numpy().astype(int)
    report = audit.fit(X, y).report_
    verdicts = report.to_frame("log").set_index("detector")["verdict"]
    assert verdicts["GroupDisparity"] == "disparity found"
    assert verdicts["GerrymanderingAudit"] == "insufficient evidence"
    evidence = report.to_dict()["evidence"]
    assert evidence
    assert not any(row["disagree"] for row in evidence)


@pytest.mark.slow
def test_what_is_too_small_for_a_detector_is_not_denied_by_it():
    rng = np.random.default_rng(0)
    origin = rng.permutation(["a"] * 40 + ["b", "c"] * 980)
    X = pd.DataFrame({"origin": origin, "town": rng.choice(["u", "v"], len(origin))})
    y = (rng.random(len(X)) < X["origin"].map({"a": 0.1, "b": 0.5, "c": 0.7})).astype(int)
    report = Audit(protected="origin", random_state=0).fit(X, y).report_
    assert report.results["DivExplorer origin"].n_found
    small = report.results["DivExplorer origin"].params["min_support"] * len(X)
    rows = [r for r in report.to_dict()["evidence"] if r["group"] == "origin = 'a'"]
    assert "marginal" in {row["null"] for row in rows}
    for row in rows:
        assert row["people"] == 40 < small
        assert row["disagree"] == []


def test_a_reason_is_computed_or_not_given():
    """Hours do not matter: nobody may say that legitimate columns account for the gap of women."""
    rng = np.random.default_rng(1)
    sex = rng.choice(["F", "M"], 1200)
    hours = np.where(rng.random(1200) < np.where(sex == "F", 0.85, 0.12), "part", "full")
    X = pd.DataFrame({"sex": sex, "hours": hours, "town": rng.choice(["u", "v"], 1200)})
    y = (rng.random(1200) < 0.55 - 0.12 * (sex == "F")).astype(int)
    report = Audit(protected="sex", random_state=0).fit(X, y).report_
    document = report.to_dict()
    gap = next(r for r in document["evidence"] if r["null"] == "marginal")
    assert gap["agree"] == ["GroupDisparity", "DivExplorer"]
    assert gap["disagree"] == []
    said = report.to_text().replace("\n", " ").split("Limits")[0]
    assert "these columns account for it" not in said
    assert "Whether the gap is accounted for by hours and town is open" in said
    causes = [r for r in document["evidence"] if r["kind"] == "cause"]
    assert all(r["agree"] == ["DisparityPursuit"] for r in causes)
