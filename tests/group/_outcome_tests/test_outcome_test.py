"""OutcomeTest: rates by hand, exact intervals, and what it cannot tell."""

import numpy as np
import pandas as pd
import pytest
from deciders import decided
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from skdisc import BlackBox
from skdisc.group import OutcomeTest


def audited(X, y, decisions, **more):
    box = None if decisions is None else BlackBox(decisions=decisions)
    return OutcomeTest(protected="race", reference="a", **more).fit(X, y, box).result_


@settings(deadline=None, max_examples=30)
@given(counts=st.tuples(*[st.integers(6, 60)] * 2), shares=st.tuples(*[st.floats(0, 1)] * 2))
def test_rates_intervals_and_p_values_are_those_of_two_binomials(counts, shares):
    found = [int(n * share) for n, share in zip(counts, shares, strict=True)]
    assume(0 < sum(found) < sum(counts))
    X = pd.DataFrame({"race": np.repeat(["b", "a"], counts)})
    y = np.concatenate([np.arange(n) < x for n, x in zip(counts, found, strict=True)]).astype(int)
    result = audited(X, y, None)
    table = result.tables["rates"].set_index("side")
    for side, n, x in zip(["group", "reference"], counts, found, strict=True):
        exact = stats.binomtest(x, n).proportion_ci(method="exact")
        own = table.loc[side, ["success_rate", "ci_low", "ci_high"]].to_numpy(float)
        assert own == pytest.approx([x / n, exact.low, exact.high])
    first = result.findings.table.iloc[0]
    assert first["effect"] == pytest.approx(found[0] / counts[0] - found[1] / counts[1])
    assert first["ci_low"] - 1e-12 <= first["effect"] <= first["ci_high"] + 1e-12
    odds = [[x, n - x] for n, x in zip(counts, found, strict=True)]
    if min(map(min, odds)) > 8 and first["p_value"] > 0.01:
        chi = stats.chi2_contingency(odds, correction=False).pvalue
        assert first["p_value"] == pytest.approx(chi, rel=1e-6)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6))
def test_outcomes_of_people_not_selected_are_not_read(seed):
    X, y, decisions = decided(300, seed)
    other = np.where(decisions == 1, y, 1 - y)
    own, again = (audited(X, labels, decisions) for labels in (y, other))
    pd.testing.assert_frame_equal(own.findings.table, again.findings.table)


def test_people_selected_are_all_that_counts():
    X, y, decisions = decided(500)
    chosen = decisions == 1
    whole = audited(X, y, decisions).findings.table
    alone = audited(X[chosen].reset_index(drop=True), y[chosen], None).findings.table
    columns = ["outcome", "effect", "ci_low", "ci_high", "p_value"]
    assert whole[columns].to_numpy(float) == pytest.approx(alone[columns].to_numpy(float))


def test_equal_thresholds_and_unequal_risks_have_unequal_success_rates():
    result = audited(*decided(4000))
    assert result.verdict == "disparity found"
    assert result.null == "calibration"
    assert any("at the margin" in note for note in result.notes)


def test_missing_outcomes_are_refused_with_advice():
    X, y, decisions = decided(100)
    y = np.where(decisions == 1, y, np.nan)
    with pytest.raises(ValueError, match=r"contains NaN.*not read: give them any label"):
        audited(X, y, decisions)
    box = BlackBox(decisions=decisions)
    result = OutcomeTest(protected="race").fit(X, None, box).result_
    assert result.verdict == "insufficient evidence"
    assert "no outcomes y were given" in result.reason


def test_too_few_selected_people_are_not_judged():
    X, y, decisions = decided(300)
    result = audited(X, y, np.where(X["race"] == "b", 0, decisions))
    assert result.verdict == "insufficient evidence"
    said = "too few people selected: 5 are needed on each side"
    assert result.discovery.excluded["reason"].tolist() == [said]


@pytest.mark.statistics
def test_of_equal_success_rates_one_in_twenty_differs():
    rng, n_found, n_seeds = np.random.default_rng(1), 0, 250
    X = pd.DataFrame({"race": np.repeat(["b", "a"], [60, 240])})
    for _ in range(n_seeds):
        y = (rng.random(300) < 0.3).astype(int)
        n_found += audited(X, y, None).verdict == "disparity found"
    assert stats.binom.sf(n_found - 1, n_seeds, 0.05) > 0.01  # at .12 with probability .04
