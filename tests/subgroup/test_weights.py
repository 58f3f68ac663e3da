"""Weights of rows: whole ones are copies, and none is the same as one for each."""

import numpy as np
import pandas as pd
import pytest

from skdisc import BlackBox
from skdisc.subgroup import (
    DiscriminationPatterns,
    DiscriminatoryRules,
    DivExplorer,
    SliceFinder,
    SliceLine,
)

EVERY = [DivExplorer, SliceFinder, SliceLine, DiscriminatoryRules, DiscriminationPatterns]


def people(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({c: rng.choice(list("abc"), n) for c in "uv"})
    X["age"] = rng.integers(18, 70, n)
    y = (rng.random(n) > np.where(X["u"] == "a", 0.6, 0.3)).astype(int)
    return X, y, rng.integers(0, 4, n).astype(float)


@pytest.mark.parametrize("detector", EVERY)
def test_whole_weights_are_copies(detector):
    X, y, weight = people()
    at = np.repeat(np.arange(len(X)), weight.astype(int))
    exact = {DiscriminationPatterns: {"smoothing": 0.0}}.get(detector, {})
    one = detector(protected="u", max_predicates=2, **exact).fit(X, y, sample_weight=weight)
    two = detector(protected="u", max_predicates=2, **exact).fit(X.iloc[at], y[at])
    first, second = one.result_.to_frame(), two.result_.to_frame()
    common = first.merge(second, on="subject")
    assert len(common) >= 3
    np.testing.assert_allclose(common["effect_x"], common["effect_y"], atol=1e-12)
    np.testing.assert_allclose(common["outcome_x"], common["outcome_y"])
    score = {"SliceLine": "slice_score", "SliceFinder": "effect_size"}
    score = score.get(detector.__name__, "effect")
    np.testing.assert_allclose(first[score][0], second[score][0], rtol=0.01)
    assert first["subject"][0] == second["subject"][0]
    assert one.score(X, y, weight) == pytest.approx(two.score(X.iloc[at], y[at]))


@pytest.mark.parametrize("detector", EVERY)
def test_weights_of_one_change_no_effect_and_scale_does_not_matter(detector):
    X, y, weight = people()
    plain = detector(protected="u").fit(X, y).result_.to_frame()
    ones = detector(protected="u").fit(X, y, sample_weight=np.ones(len(X))).result_.to_frame()
    common = plain.merge(ones, on="subject")
    assert common["subject"][0] == plain["subject"][0]
    np.testing.assert_allclose(common["effect_x"], common["effect_y"], atol=1e-12)
    rows = {"min_rows": 1, "min_support": 0.1}
    least = {d: {"min_support": 0.1} for d in EVERY} | {SliceFinder: rows, SliceLine: rows}
    a, b = (
        detector(protected="u", **least[detector]).fit(X, y, sample_weight=w).result_
        for w in (weight, 7 * weight)
    )
    np.testing.assert_allclose(a.findings.table["p_value"], b.findings.table["p_value"])
    assert (a.findings.table["p_value"] > 0).all()


@pytest.mark.parametrize("detector", EVERY)
def test_rows_of_no_weight_are_not_there(detector):
    X, y, weight = people()
    there = weight > 0
    box = BlackBox(decisions=1 - y)
    one = detector(protected="u", pos_label=1).fit(X, y, box, sample_weight=there)
    two = detector(protected="u", pos_label=1)
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
