"""RiskAdjustedRegression: the regression itself, planted gaps, and columns that are omitted."""

import numpy as np
import pytest
from deciders import decided
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skdisc import BlackBox
from skdisc.group import OutcomeTest, RiskAdjustedRegression
from skdisc.group._outcome_tests._gap_at_equal_risk import gap_at_equal_risk
from skdisc.group._outcome_tests._omitted import risk_with_omitted


def audited(X, y, decisions, **more):
    detector = RiskAdjustedRegression(protected="race", reference="a", random_state=0)
    return detector.set_params(**more).fit(X, y, BlackBox(decisions=decisions)).result_


def test_with_few_people_it_is_a_regression_on_group_and_log_odds():
    rng = np.random.default_rng(0)
    inside, risk = rng.random(40) < 0.4, rng.uniform(0.1, 0.9, 40)
    decision = (rng.random(40) < risk).astype(float)
    x = np.log(risk / (1 - risk))
    columns = np.column_stack([x, np.maximum(x - np.median(x), 0), inside])
    expected = LinearRegression().fit(columns, decision).coef_[-1]
    assert gap_at_equal_risk(decision, inside, risk) == pytest.approx(expected)


def test_a_risk_that_determines_the_group_leaves_no_gap():
    inside = np.arange(40) < 20
    risk = np.where(inside, 0.2, 0.7)
    assert np.isnan(gap_at_equal_risk(inside.astype(float), inside, risk))


@settings(deadline=None)
@given(
    q=st.floats(0.01, 0.99),
    alpha=st.floats(-3, 3),
    delta=st.floats(-3, 3),
    gamma=st.floats(-3, 3),
    beta=st.floats(-3, 3),
)
def test_an_omitted_column_is_found_from_what_it_leaves_to_see(q, alpha, delta, gamma, beta):
    u = np.array([0, 1])
    share, chosen, success = np.array([1 - q, q]), expit(gamma + alpha * u), expit(beta + delta * u)
    selection = share @ chosen
    risk = (share * chosen) @ success / selection  # of those selected
    own = risk_with_omitted(np.array([risk]), np.array([selection]), q, alpha, delta)
    assert own == pytest.approx([share @ success], abs=1e-6)


@pytest.mark.slow
def test_equal_risks_are_treated_alike_where_success_rates_differ():
    X, y, decisions = decided(4000)
    assert audited(X, y, decisions).verdict != "disparity found"
    detector = OutcomeTest(protected="race").fit(X, y, BlackBox(decisions=decisions))
    assert detector.result_.verdict == "disparity found"


@pytest.mark.slow
@pytest.mark.every(3)
@pytest.mark.parametrize(
    "learner", ["linear", "boosting", make_pipeline(StandardScaler(), LogisticRegression())]
)
def test_a_planted_gap_is_found(learner):
    X, y, decisions = decided(3000, gap=-0.25)  # less where the chance is near 0 already
    n_folds = 2 if learner == "boosting" else 5
    numbers = X.assign(race=(X["race"] == "b") * 1)
    detector = RiskAdjustedRegression(
        protected="race", reference=0, learner=learner, n_folds=n_folds, random_state=0
    )
    result = detector.fit(numbers, y, BlackBox(decisions=decisions)).result_
    first = result.findings.table.iloc[0]
    assert first["ci_low"] <= -0.2
    assert first["ci_high"] >= -0.27
    assert result.verdict == "disparity found"
    assert first["vanishes_at"] > 2
    kept = result.tables["sensitivity"]
    near = kept[(kept["odds_ratio_selection"] == 1.5) & (kept["prevalence"] == 0.1)]["gap"]
    assert (near < -0.1).all()


@pytest.mark.slow
def test_trees_are_taken_where_risk_has_no_main_effects():
    X, y, decisions = decided(2000)
    assert "Risk was learned by: linear." in audited(X, y, decisions).notes
    far = (X["x"] > X["x"].median()) != (X["z"] > X["z"].median())
    y = (np.random.default_rng(0).random(len(X)) < np.where(far, 0.8, 0.2)).astype(int)
    assert "Risk was learned by: boosting." in audited(X, y, decisions, n_folds=2).notes


@pytest.mark.slow
def test_the_table_of_risk_has_what_was_decided_and_became():
    X, y, decisions = decided(3000)
    table = audited(X, y, decisions).tables["risk"]
    assert table["n"].sum() == len(X)
    assert table["n_known"].sum() == decisions.sum()
    for side, race in (("group", "b"), ("reference", "a")):
        own = table[table["side"] == side]
        rate = np.average(own["decision_rate"], weights=own["n"])
        assert rate == pytest.approx(decisions[X["race"] == race].mean())
    whole = table.groupby("tenth")[["risk"]].mean()["risk"]
    assert (np.diff(whole) > 0).all()
    assert np.average(table["risk"], weights=table["n_known"]) == pytest.approx(
        y[decisions == 1].mean(), abs=0.02
    )


@pytest.mark.slow
def test_with_a_gap_that_would_vanish_it_does():
    X, y, decisions = decided(3000, gap=-0.1)
    first = audited(X, y, decisions).findings.table.iloc[0]
    assert 1 < first["vanishes_at"] < 10


@pytest.mark.slow
def test_with_all_outcomes_known_what_decision_makers_saw_does_no_harm_to_risk():
    """Those who decide see half of what makes the risk, and the data do not show it."""
    X, y, decisions = decided(4000)
    rng = np.random.default_rng(0)
    seen = rng.random(len(X)) < 0.5
    risk = expit(-1 + X["x"] + 2.5 * seen)
    y, decisions = (rng.random(len(X)) < risk).astype(int), (risk > 0.5).astype(int)
    own = audited(X.drop(columns="z"), y, decisions, outcomes="all", learner="linear")
    other = audited(X.drop(columns="z"), y, decisions, learner="linear")
    tables = [r.tables["risk"] for r in (own, other)]
    means = [np.average(table["risk"], weights=table["n"]) for table in tables]
    assert means[0] == pytest.approx(y.mean(), abs=0.01)
    assert means[1] > y.mean() + 0.1
    assert own.tables["risk"]["n_known"].sum() == len(X)
    assert "sensitivity" not in own.tables
    assert np.isnan(own.findings.table["vanishes_at"][0])


@pytest.mark.slow
def test_outcomes_of_people_not_selected_do_not_count():
    X, y, decisions = decided(600)
    own, again = (
        audited(X, labels, decisions).findings.table["effect"][0]
        for labels in (y, np.where(decisions == 1, y, 1 - y))
    )
    assert own == again


def test_decisions_are_needed_and_so_are_outcomes_of_both_kinds():
    X, y, decisions = decided(300)
    result = RiskAdjustedRegression(protected="race").fit(X, y).result_
    assert result.verdict == "insufficient evidence"
    assert "no decisions beside the outcomes y" in result.reason
    result = audited(X, np.where(decisions == 1, 1, y), decisions)
    assert result.verdict == "insufficient evidence"
    assert "too few outcomes of one kind" in result.discovery.excluded["reason"][0]


def test_a_learner_that_fails_is_named():
    X, y, decisions = decided(300)
    X["town"] = "c"
    with pytest.raises(ValueError, match="learner=RandomForestClassifier failed on the columns"):
        audited(X, y, decisions, learner=RandomForestClassifier(n_estimators=2))


@pytest.mark.statistics
@pytest.mark.parametrize("gap", [0.0, -0.15])
def test_intervals_cover_although_risk_is_learned(gap):
    """With the risk taken as known, they cover .7."""
    covered, values, errors = 0, [], []
    for seed in range(20):
        X, y, decisions = decided(1000, seed, gap)
        first = audited(X, y, decisions, n_folds=3, learner="linear").findings.table.iloc[0]
        low, high, value = (float(first[n]) for n in ("ci_low", "ci_high", "effect"))
        covered += low <= gap <= high
        values.append(value)
        errors.append((high - low) / 4.2)
    assert covered >= 17  # at .7 with probability .11
    assert 0.65 < np.mean(errors) / np.std(values) < 1.6
