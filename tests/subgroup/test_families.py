"""The families of detectors of groups: nothing is called fair beside a gap, one interval each."""

import numpy as np
import pandas as pd
import pytest

from skdisc import Rule
from skdisc.group import GroupDisparity
from skdisc.subgroup import (
    BiasScan,
    Bins,
    DiscriminationPatterns,
    DiscriminatoryRules,
    DisparityPursuit,
    DivExplorer,
    SliceFinder,
    SliceLine,
)

FOUND, NOTHING, UNSURE = "disparity found", "no disparity found", "insufficient evidence"
RULE = Rule(relevant_gap=0.1)
EVERY = [
    DivExplorer,
    DiscriminatoryRules,
    DiscriminationPatterns,
    SliceLine,
    SliceFinder,
    BiasScan,
    DisparityPursuit,
]


def towns(seed, n=2000, gap=0.15, share=0.08):
    """Return people of six towns, of whom women of one, a small share, are accepted less often."""
    rng = np.random.default_rng(seed)
    p = np.r_[2 * share, np.full(5, (1 - 2 * share) / 5)]
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "town": rng.choice(list("abcdef"), n, p=p)})
    hit = (X["sex"] == "F") & (X["town"] == "a")
    return X, (rng.random(n) < 0.55 - gap * hit).astype(int)


def fitted(detector, X, y, **settings):
    fast = {"n_resamples": 0} if detector is BiasScan else {}
    settings = {"protected": "sex", "rule": RULE, "random_state": 0, **fast, **settings}
    return detector(**settings).fit(X, y).result_


@pytest.mark.slow
@pytest.mark.parametrize("detector", EVERY)
def test_every_detector_has_the_same_family_whatever_its_settings(detector):
    X, y = towns(0)
    result = fitted(detector, X, y)
    table = result.tables["family"]
    assert set(table["group"].str.replace("'M'", "'F'")) == {
        "sex = 'F'",
        *(f"sex = 'F' and town = '{town}'" for town in "abcdef"),
    }
    few = fitted(detector, X, y, min_support=0.3)
    ends = ["group", "upper", "judged", "comparison"]
    if detector is not DisparityPursuit:  # which adjusts for other sets of people then
        pd.testing.assert_frame_equal(few.tables["family"][ends], table[ends])
    sizes = np.sort(table["n"] + table["n_others"])
    assert sizes.tolist() == sorted([len(X), *X["town"].value_counts()])


@pytest.mark.parametrize("detector", EVERY)
def test_no_interval_that_is_shown_goes_beyond_the_bound(detector):
    X, y = towns(1, n=12_000, gap=0.0)
    result = fitted(detector, X, y)
    table, answer = result.tables["family"], result.answer
    assert answer.n_family == 7
    assert not table["found"].any() or result.verdict == FOUND
    others = table[~table["found"]]
    assert (others[["low", "high"]].abs().max(axis=1) <= answer.bound + 1e-9).all()
    shown = result.to_frame()
    if {"level", "ci_low"} <= {*shown} and detector is not DiscriminatoryRules:
        shown = shown[shown["p_adjusted"] > 0.05].assign(group=shown["subject"].map(str))
        both = shown.merge(others, on="group")
        assert np.allclose(both["ci_low"], both["low"])
        assert np.allclose(both["ci_high"], both["high"])


@pytest.mark.statistics
@pytest.mark.parametrize("detector", [DivExplorer, SliceLine, DiscriminatoryRules])
@pytest.mark.parametrize(("n", "gap"), [(2000, 0.15), (3000, 0.1), (5000, 0.1)])
def test_nobody_is_told_that_there_is_nothing_beside_a_gap(detector, n, gap):
    said = [fitted(detector, *towns(seed, n, gap)).verdict == NOTHING for seed in range(40)]
    assert sum(said) <= 5  # of 40 at most two are expected at a gap of exactly .1


@pytest.mark.statistics
def test_nor_given_the_legitimate_columns():
    said = [fitted(DisparityPursuit, *towns(seed)).verdict == NOTHING for seed in range(15)]
    assert not any(said)
    fair = [fitted(DisparityPursuit, *towns(s, n=20_000, gap=0.0)).verdict for s in range(3)]
    assert fair.count(NOTHING) >= 2


@pytest.mark.statistics
def test_a_gap_of_black_women_is_not_hidden_in_the_gap_of_women():
    said = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame(
            {
                "sex": rng.choice(["F", "M"], 6000),
                "race": rng.choice(["b", "w"], 6000, p=[0.15, 0.85]),
            }
        )
        y = (rng.random(6000) < 0.5 - 0.15 * ((X["sex"] == "F") & (X["race"] == "b"))).astype(int)
        said += [
            fitted(DivExplorer, X, y).verdict,
            fitted(DivExplorer, X, y, protected="race").verdict,
        ]
    assert NOTHING not in said


def test_a_joint_group_is_asked_about_by_each_of_its_columns():
    X, y = towns(2, n=4000)
    X["race"] = np.random.default_rng(0).choice(["b", "w"], len(X), p=[0.3, 0.7])
    table = fitted(DivExplorer, X[["sex", "race"]], y, protected=["sex", "race"]).tables["family"]
    assert set(table["group"].str.replace("'M'", "'F'").str.replace("'w'", "'b'")) == {
        "sex = 'F'",
        "race = 'b'",
        "race = 'b' and sex = 'F'",
        "sex = 'F' among race = 'b'",
        "race = 'b' among sex = 'F'",
    }
    assert len(table) == 2 + 4 + 2 + 2


@pytest.mark.statistics
def test_ranges_that_bins_cut_in_two_are_asked_about_as_unions():
    cut, whole = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame({"sex": rng.choice(["F", "M"], 6000), "age": rng.uniform(20, 60, 6000)})
        hit = (X["sex"] == "F") & X["age"].between(27.5, 32.5)  # in two of four bins
        y = (rng.random(6000) < 0.5 - 0.2 * hit).astype(int)
        cut.append(fitted(DivExplorer, X, y, max_predicates=2).answer.bound)
        whole.append(fitted(DivExplorer, X, y, n_bins=Bins(8, unions=True), max_predicates=2))
    assert not any(result.verdict == NOTHING for result in whole)
    assert np.mean([r.answer.bound or 1.0 for r in whole]) > np.mean(cut)


@pytest.mark.slow
def test_numbers_that_are_compared_in_bins_are_named():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], 20_000), "age": rng.uniform(20, 60, 20_000)})
    y = rng.integers(0, 2, 20_000)
    for detector in (DivExplorer, DisparityPursuit):
        result = fitted(detector, X, y)
        assert result.verdict == NOTHING
        assert any("(age in 4 bins): a gap in another range" in note for note in result.notes)
    wider = fitted(DivExplorer, X, y, n_bins=Bins(4, unions=True))
    assert not any("another range" in note for note in wider.notes)


def test_weights_and_clusters_widen_what_is_possible():
    X, y = towns(3, n=3000, gap=0.0)
    plain = fitted(DivExplorer, X, y).answer
    rng = np.random.default_rng(0)
    weighted = DivExplorer(protected="sex", rule=RULE).fit(
        X, y, sample_weight=rng.lognormal(size=3000)
    )
    assert weighted.result_.answer.bound > plain.bound
    equal = DivExplorer(protected="sex", rule=RULE).fit(X, y, sample_weight=np.full(3000, 7.0))
    assert equal.result_.answer == plain
    twice = pd.concat([X, X], ignore_index=True)
    clustered = DivExplorer(protected="sex", rule=RULE).fit(
        twice, np.r_[y, y], groups=np.tile(np.arange(3000), 2)
    )
    assert clustered.result_.answer.bound == pytest.approx(plain.bound, abs=0.011)
    alone = DivExplorer(protected="sex", rule=RULE).fit(X, y, groups=X["sex"].to_numpy()).result_
    assert (alone.verdict, alone.answer.bound) == (UNSURE, None)


@pytest.mark.parametrize("detector", [*EVERY, GroupDisparity])
def test_three_people_answer_nothing(detector):
    X = pd.DataFrame({"sex": ["F", "M", "M"], "town": ["a", "b", "a"]})
    result = fitted(detector, X, [0, 1, 1])
    assert (result.verdict, result.answer.bound) == (UNSURE, None)
    assert result.reason
