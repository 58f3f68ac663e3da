"""Weights of rows: whole ones are copies, and none is the same as one for each."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from published import BiasScan, DivExplorer

from skdisc import BlackBox, subgroup
from skdisc.subgroup import (
    DiscriminationPatterns,
    DiscriminatoryRules,
    SliceFinder,
    SliceLine,
)

EVERY = [
    DivExplorer,
    subgroup.DivExplorer,
    SliceFinder,
    SliceLine,
    DiscriminatoryRules,
    DiscriminationPatterns,
    BiasScan,
]
SCAN = {"n_resamples": 19, "random_state": 0}
EXACT = {DiscriminationPatterns: {"smoothing": 0.0}, BiasScan: SCAN}


def people(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({c: rng.choice(list("abc"), n) for c in "uv"})
    X["age"] = rng.integers(18, 70, n)
    y = (rng.random(n) > np.where(X["u"] == "a", 0.6, 0.3)).astype(int)
    return X, y, rng.integers(0, 4, n).astype(float)


@pytest.mark.slow
@pytest.mark.every(4)
@pytest.mark.parametrize("detector", EVERY)
@given(counts=st.lists(st.integers(0, 4), min_size=20, max_size=90), seed=st.integers(0, 99))
@settings(max_examples=8, deadline=None)
def test_frequencies_are_repeated_rows(detector, counts, seed):
    assume(sum(counts) > 30)
    n = len(counts)
    X, y, _ = (a[:n] for a in people(90, seed))
    at = np.random.default_rng(seed).permutation(np.repeat(np.arange(n), counts))
    assume(X.iloc[at]["u"].nunique() > 1)
    assume(len(set(y[at])) > 1)
    same = {"protected": "u", "pos_label": 1, **EXACT.get(detector, {})}
    one = detector(weights="frequency", **same).fit(X, y, sample_weight=counts)
    two = detector(weights="frequency", **same).fit(X.iloc[at], y[at])
    pd.testing.assert_frame_equal(one.result_.findings.table, two.result_.findings.table)
    assert one.result_.findings.subgroups == two.result_.findings.subgroups
    assert one.result_.verdict == two.result_.verdict
    assert one.result_.n_samples == sum(counts)
    again = one.audit(X, y, sample_weight=counts)
    pd.testing.assert_frame_equal(again.findings.table, two.audit(X.iloc[at], y[at]).findings.table)
    assert one.score(X, y, counts) == pytest.approx(two.score(X.iloc[at], y[at]), nan_ok=True)


def test_decisions_are_repeated_with_their_rows():
    X, y, weight = people()
    at = np.repeat(np.arange(len(X)), weight.astype(int))
    one = DivExplorer(protected="u", weights="frequency", metric="accuracy")
    two = DivExplorer(protected="u", metric="accuracy")
    one.fit(X, y, BlackBox(decisions=pd.Series(1 - y)), sample_weight=weight)
    two.fit(X.iloc[at], y[at], BlackBox(decisions=1 - y[at]))
    pd.testing.assert_frame_equal(one.result_.findings.table, two.result_.findings.table)
    with pytest.raises(ValueError, match="index is not that of X"):
        one.fit(X, y, BlackBox(decisions=pd.Series(y, index=X.index[::-1])), sample_weight=weight)


@pytest.mark.parametrize("detector", EVERY)
def test_frequencies_are_whole_and_not_absurd(detector):
    X, y, weight = people()
    frequent = detector(protected="u", weights="frequency")
    with pytest.raises(ValueError, match=r"whole numbers .* got 0.5. Use weights='probability'"):
        frequent.fit(X, y, sample_weight=weight + 0.5)
    if frequent._counts_rows:  # they take no memory
        result = frequent.fit(X, y, sample_weight=np.full(600, 1e6)).result_
        assert result.n_samples == 600_000_000
        return
    with pytest.raises(ValueError, match=r"600 rows to 6e\+08; at most 100,000,000"):
        frequent.fit(X, y, sample_weight=np.full(600, 1e6))


@pytest.mark.parametrize("detector", EVERY)
def test_effects_with_probabilities_are_those_of_copies(detector):
    X, y, weight = people()
    exact = EXACT.get(detector, {})
    same = {"protected": "u", "max_predicates": 2, **exact}
    one = detector(**same).fit(X, y, sample_weight=weight)
    two = detector(weights="frequency", **same).fit(X, y, sample_weight=weight)
    first, second = one.result_.to_frame(), two.result_.to_frame()
    common = first.merge(second, on="subject")
    assert len(common)
    np.testing.assert_allclose(common["effect_x"], common["effect_y"], atol=1e-12)
    np.testing.assert_allclose(common["outcome_x"], common["outcome_y"])
    assert one.score(X, y, weight) == pytest.approx(two.score(X, y, weight))


@pytest.mark.parametrize("detector", EVERY)
def test_weights_of_one_change_no_effect_and_scale_does_not_matter(detector):
    X, y, weight = people()
    fitted = detector(protected="u", **EXACT.get(detector, {}))
    plain = fitted.fit(X, y).result_.to_frame()
    ones = fitted.fit(X, y, sample_weight=np.ones(len(X))).result_.to_frame()
    common = plain.merge(ones, on="subject")
    assert common["subject"][0] == plain["subject"][0]
    np.testing.assert_allclose(common["effect_x"], common["effect_y"], atol=1e-12)
    rows = {"min_rows": 1, "min_support": 0.1}
    least = {d: {"min_support": 0.1} for d in EVERY} | {SliceFinder: rows, SliceLine: rows}
    exact = EXACT.get(detector, {}) | ({"penalty": 0.0} if detector is BiasScan else {})
    a, b = (
        detector(protected="u", **least[detector], **exact).fit(X, y, sample_weight=w).result_
        for w in (weight, 7 * weight)
    )
    assert a.findings.subgroups == b.findings.subgroups
    np.testing.assert_allclose(a.findings.table["p_value"], b.findings.table["p_value"])
    assert (a.findings.table["p_value"].dropna() > 0).all()  # nodes of trees have none


@pytest.mark.parametrize("detector", EVERY)
def test_rows_of_no_weight_are_not_there(detector):
    X, y, weight = people()
    there = weight > 0
    box = BlackBox(decisions=1 - y)
    settings = {"protected": "u", "pos_label": 1} | EXACT.get(detector, {})
    one = detector(**settings).fit(X, y, box, sample_weight=there)
    two = detector(**settings)
    two.fit(
        X[there], y[there], BlackBox(decisions=1 - y[there]), sample_weight=np.ones(there.sum())
    )
    assert one.result_ == two.result_


@pytest.mark.parametrize("detector", EVERY)
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(599), "599 values for 600 rows"),
        (-np.ones(600), "finite and >= 0"),
        (np.full(600, np.nan), "finite and >= 0"),
        (np.zeros(600), "zero for every row"),
        (np.ones((600, 2)), "1D"),
    ],
)
def test_bad_weights_are_refused(detector, weight, message):
    X, y, _ = people()
    with pytest.raises(ValueError, match=message):
        detector(protected="u").fit(X, y, sample_weight=weight)


def test_weights_stay_with_their_rows_when_some_are_dropped():
    X, y, weight = people()
    X.loc[::3, "u"] = None
    dropped = SliceLine(protected="u", missing="drop").fit(X, y, sample_weight=weight + 1).result_
    stay = X["u"].notna().to_numpy()
    again = SliceLine(protected="u").fit(X[stay], y[stay], sample_weight=weight[stay] + 1).result_
    assert dropped.findings.table.equals(again.findings.table)


@pytest.mark.statistics
@pytest.mark.parametrize(("scoring", "expected"), [("bernoulli", "model"), ("mean_shift", "mean")])
def test_a_scan_of_weights_keeps_its_level(scoring, expected):
    numeric = scoring in ("mean_shift", "gaussian")
    mode, found = ("continuous" if numeric else "binary"), 0

    def model(X):
        return np.full(len(X), 2.0) if numeric else np.full((len(X), 2), 0.5)

    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame(rng.choice(list("abc"), (100, 2))).add_prefix("c")
        y = rng.normal(2, 1, 100) if numeric else rng.integers(0, 2, 100)
        weight = rng.choice([1.0, 9.0], 100)
        scan = BiasScan(mode=mode, scoring=scoring, expected=expected, n_resamples=19, n_restarts=1)
        scan.set_params(random_state=seed)
        box = None if expected == "mean" else Probable(model(X), numeric)
        found += scan.fit(X, y, box, sample_weight=weight).result_.n_found > 0
    assert found <= 3


class Probable:
    """A model that gives everyone the same number."""

    def __init__(self, answer, numeric):
        self.answer, self.classes_ = answer[0], np.array([0, 1])
        if numeric:
            del self.classes_
        else:
            self.predict_proba = lambda X: np.tile(self.answer, (len(X), 1))

    def predict(self, X):
        return np.full(len(X), self.answer if np.isscalar(self.answer) else 1)


@pytest.mark.parametrize("detector", EVERY)
def test_weights_that_add_up_to_one_are_scaled_to_a_mean_of_one(detector):
    X, y, weight = people()
    weight = weight + 1  # none is 0
    exact = EXACT.get(detector, {})
    one, two = (
        detector(protected="u", max_predicates=2, **exact).fit(X, y, sample_weight=w)
        for w in (weight / weight.sum(), weight / weight.mean())
    )
    first, second = one.result_.to_frame(), two.result_.to_frame()
    assert len(first)
    assert first["subject"].tolist() == second["subject"].tolist()
    np.testing.assert_allclose(first["p_value"], second["p_value"])
    assert one.score(X, y, weight / 1e6) == pytest.approx(two.score(X, y, weight))


@pytest.mark.parametrize("detector", [d for d in EVERY if d is not BiasScan])
def test_weighted_people_without_any_large_group(detector):
    X, y, weight = people()
    result = detector(protected="u", min_support=0.99).fit(X, y, sample_weight=weight).result_
    assert (result.n_tested, len(result), result.verdict) == (0, 0, "insufficient evidence")
