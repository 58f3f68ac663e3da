"""GerrymanderingAudit: groups of protected columns, found on rows that did not choose them."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from skdisc import BlackBox
from skdisc.group import GroupDisparity
from skdisc.subgroup import GerrymanderingAudit


def people(rng, n):
    return pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "race": rng.choice(list("abcd"), n),
            "age": rng.integers(18, 70, n),
            "points": rng.normal(size=n),
        }
    )


PROTECTED = ["sex", "race", "age"]


@pytest.mark.statistics
@pytest.mark.parametrize("witness", ["linear", "boosting"])
def test_rates_that_depend_on_other_columns_alone_are_seldom_a_finding(witness):
    n_worlds, found = 20, 0  # fails with probability .98 where half are found
    for seed in range(n_worlds):
        rng = np.random.default_rng(seed)
        X = people(rng, 1000)
        y = (rng.random(len(X)) < 1 / (1 + np.exp(-2 * X["points"]))).astype(int)
        audit = GerrymanderingAudit(protected=PROTECTED, witness=witness, random_state=seed)
        found += audit.fit(X, y).result_.verdict == "disparity found"
    assert found <= stats.binom.ppf(0.999, n_worlds, 0.05)


def test_what_no_single_column_shows_is_found():
    rng = np.random.default_rng(0)
    X = people(rng, 6000)
    y = (rng.random(len(X)) < np.where((X["sex"] == "f") == (X["age"] > 43), 0.4, 0.6)).astype(int)
    single = GroupDisparity(protected=PROTECTED, intersections=1).fit(X, y).result_
    assert single.verdict != "disparity found"
    result = GerrymanderingAudit(protected=PROTECTED, random_state=0).fit(X, y).result_
    assert result.verdict == "disparity found"
    (test,) = result.tables["witness"].to_dict("records")
    assert test["covariance"] == pytest.approx(0.05, abs=0.02)  # half of the people, 0.1 each
    assert test["effect"] == pytest.approx(0.2, abs=0.06)


def test_error_rates_are_of_the_rows_that_enter_them():
    rng = np.random.default_rng(1)
    X = people(rng, 3000)
    y = rng.integers(0, 2, len(X))
    wrong = (y == 0) & (X["sex"] == "f") & (rng.random(len(X)) < 0.5)
    audit = GerrymanderingAudit(protected="sex", metric="false_positive_rate", random_state=0)
    result = audit.fit(X, y, BlackBox(decisions=np.where(wrong, 1, y))).result_
    assert result.verdict == "disparity found"
    assert result.tables["witness"]["n"].sum() == pytest.approx((y == 0).sum() / 2, abs=1)
    assert (audit.null, GerrymanderingAudit(adjust_for="others").null) == (
        "marginal",
        "conditional",
    )


@pytest.mark.parametrize("seed", [4, 5, 6])
def test_decisions_by_sex_alone_leave_no_residuals_and_are_found(seed):
    """The slope of decisions on the witness is 1 then, and its standard error 0."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"sex": rng.permutation(np.tile(["f", "m"], 20))})
    decisions = (X["sex"] == "f").astype(int)
    audit = GerrymanderingAudit(protected=["sex"], random_state=seed)
    result = audit.fit(X, decisions, BlackBox(lambda X: (X["sex"] == "f").astype(int))).result_
    assert result.verdict == "disparity found"
    assert abs(result[0].effect) == pytest.approx(1.0)
