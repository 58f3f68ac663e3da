"""Numbers as outcomes of an audit: pay, prices, and what models predict."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from skdisc import Audit, Rule


def pay_table(n=1_500, gap=0.0, seed=0, spread=0.2):
    """Return people and their pay per hour, by grade and tenure; women of G2 have less."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"sex": rng.choice(["female", "male"], n)})
    X["grade"] = rng.choice(["G1", "G2", "G3"], n, p=[0.4, 0.35, 0.25])
    X["tenure"] = rng.integers(0, 25, n)
    log = X["grade"].map({"G1": 0.0, "G2": 0.25, "G3": 0.5}) + 0.01 * X["tenure"]
    log += np.log(1 - gap) * ((X["sex"] == "female") & (X["grade"] == "G2"))
    return X, pd.Series(20 * np.exp(log + rng.normal(0, spread, n)), name="pay")


def test_means_are_compared_as_scipy_compares_them():
    X, y = pay_table(gap=0.3)
    report = Audit(protected="sex", output="value").fit(X, y).report_
    women, men = y[X["sex"] == "female"], y[X["sex"] == "male"]
    (row,) = [r for r in report.document["groups"] if r["group"] == "sex = 'female'"]
    welch = stats.ttest_ind(women, men, equal_var=False)
    assert (row["measure"], row["rate"]) == ("mean", pytest.approx(women.mean()))
    assert row["gap"] == pytest.approx(women.mean() - men.mean())
    # The interval inverts Welch's test and Hall's, so that it holds that of Welch alone.
    low, high = welch.confidence_interval(row["ci_level"])
    assert row["ci_low"] <= low + 1e-9
    assert high - 1e-9 <= row["ci_high"]
    assert row["ci_high"] - row["ci_low"] < 1.1 * (high - low)


def test_the_gap_that_matters_is_a_share_of_the_mean():
    X, y = pay_table()
    about = Audit(protected="sex", output="value").fit(X, y).report_.document["about"]["outcome"]
    assert about["relevant_gap"] == pytest.approx(0.05 * y.mean())
    rule = Rule(relevant_gap="20%")
    about = Audit(protected="sex", output="value", rule=rule).fit(X, y).report_.document["about"]
    assert about["outcome"]["relevant_gap"] == pytest.approx(0.2 * y.mean())
