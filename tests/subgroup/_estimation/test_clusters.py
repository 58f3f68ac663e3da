"""Clusters of rows: variances between them, against copies, brute force and simulation."""

import numpy as np
import pandas as pd
import pytest

from skdisc._stats import DesignMeans
from skdisc._stats._means import Means
from skdisc.subgroup import (
    DiscriminationPatterns,
    DiscriminatoryRules,
    DivExplorer,
    SliceFinder,
    SliceLine,
)
from skdisc.subgroup._estimation._contrasts import Contrasts
from skdisc.subgroup._estimation._outcomes import Summed

SLICES = [SliceLine, SliceFinder]
CLUSTERED = [DivExplorer, *SLICES, DiscriminatoryRules, DiscriminationPatterns]


def households(seed, n=800, size=5, gap=0.0):
    rng = np.random.default_rng(seed)
    house = np.repeat(np.arange(n // size), size)
    X = pd.DataFrame({"race": rng.choice(list("ab"), n // size)[house]})
    X["sex"] = rng.choice(["f", "m"], n)
    X["town"] = rng.choice(list("uv"), n // size)[house]
    X["points"] = rng.normal(size=n)
    shared = rng.normal(size=n // size)[house]
    rate = 1 / (1 + np.exp(1 - 2 * shared)) - gap * (X["race"] == "a").to_numpy()
    return X, (rng.random(n) < rate).astype(int), house


def test_variances_of_contrasts_are_those_between_clusters():
    rng = np.random.default_rng(0)
    X, _, house = households(0)
    values = (rng.normal(size=160)[house] + rng.normal(size=800))[None]
    weight = rng.gamma(2, 1, 800)
    for given in (None, weight / weight.mean()):
        rows = Summed(X, values, ["own"], given, house)
        mask, context = (X["race"] == "a").to_numpy(), np.ones(800, dtype=bool)
        contrasts = Contrasts.of_masks(rows, [mask], [context])
        w = rows.weights
        d, alone = (DesignMeans.of(values[0], w, mask, ~mask, c) for c in (house, None))
        variance = d.variance.sum() - 2 * d.covariance[0]
        z = contrasts.gap[0, 0] / np.sqrt(variance)
        assert contrasts.inflation[0, 0] >= variance / alone.variance.sum() > 2
        assert 0.9 * abs(z) < contrasts.z()[0, 0] <= abs(z) * 1.02
        assert isinstance(contrasts.tallies[0], Means)


@pytest.mark.parametrize("detector", CLUSTERED)
def test_copies_know_no_more_than_their_originals(detector):
    X, y, _ = households(1, n=400, size=1, gap=0.2)
    at = np.repeat(np.arange(400), 5)
    rows = {"min_rows": 1} if detector in SLICES else {}
    same = {"protected": ["race", "sex"], "min_support": 0.2, **rows}
    one = detector(**same).fit(X, y).result_
    five = detector(**same).fit(X.iloc[at], y[at], groups=at).result_
    naive = detector(**same).fit(X.iloc[at], y[at]).result_
    p_value = [
        dict(zip(r.findings.subgroups, r.findings.table["p_value"].fillna(1.0), strict=True))
        for r in (one, five, naive)
    ]
    common = set.intersection(*map(set, p_value))
    assert common
    for group in common:
        single, clustered, repeated = (p[group] for p in p_value)
        assert single / 2 <= clustered <= max(3 * single, single**0.8)
        assert repeated < clustered or clustered > 0.9
    assert not any("copies" in note for note in five.notes)
    assert any("copies" in note for note in naive.notes)


@pytest.mark.parametrize("detector", CLUSTERED)
def test_each_row_a_cluster_changes_little(detector):
    X, y, _ = households(2, gap=0.1)
    same = {"protected": ["race", "sex"]}
    one = detector(**same).fit(X, y).result_.tables["groups"]
    own = detector(**same).fit(X, y, groups=np.arange(len(y))).result_.tables["groups"]
    np.testing.assert_allclose(own["effect"], one["effect"], atol=1e-12)
    width, expected = (t["ci_high"] - t["ci_low"] for t in (own, one))
    np.testing.assert_allclose(width, expected, rtol=0.03)
    assert (own["p_value"] >= one["p_value"] * 0.999).all()


@pytest.mark.parametrize("detector", CLUSTERED)
def test_splits_keep_clusters_whole(detector):
    X, y, house = households(3, gap=0.3)
    found = detector(protected=["race"], confirm=0.5, random_state=0).fit(X, y, groups=house)
    assert found.result_.n_samples == 800
    rows = Summed(X, y[None].astype(float), ["y"], None, house)
    is_out = rows.held_out(0.5, np.random.default_rng(0))
    assert set(house[is_out]).isdisjoint(house[~is_out])
    assert is_out.sum() == 400


def test_one_cluster_on_a_side_says_nothing():
    X, y, _ = households(4)
    rows = Summed(X, y[None].astype(float), ["y"], None, (X["race"] == "a").to_numpy())
    mask, everyone = (X["race"] == "a").to_numpy(), np.ones(800, dtype=bool)
    contrasts = Contrasts.of_masks(rows, [mask], [everyone])
    assert np.isinf(contrasts.inflation).all()
    assert not contrasts.enough(1).any()


def test_everyone_is_not_compared_in_clusters():
    X, y, house = households(5)
    with pytest.raises(ValueError, match="with groups=, set versus='context'"):
        DivExplorer(protected="race", versus="everyone").fit(X, y, groups=house)


def test_rules_of_equal_sets_are_not_compared_in_clusters():
    X, y, house = households(5)
    with pytest.raises(ValueError, match="with groups=, leave distinct=True"):
        DiscriminatoryRules(protected="race", distinct=False).fit(X, y, groups=house)


@pytest.mark.parametrize("detector", CLUSTERED)
def test_new_rows_are_measured_in_their_clusters(detector):
    X, y, house = households(6, gap=0.4)
    fitted = detector(protected=["race"]).fit(X, y, groups=house)
    assert fitted.result_.n_found
    alone, clustered = (fitted.audit(X, y, groups=g).findings.table for g in (None, house))
    assert (clustered["p_value"] > alone["p_value"]).all()
    np.testing.assert_allclose(clustered["effect"], alone["effect"], atol=1e-12)


@pytest.mark.statistics
@pytest.mark.slow
@pytest.mark.parametrize("detector", CLUSTERED)
def test_households_of_five_keep_the_level(detector):
    found, naive = [], []
    for seed in range(30):
        X, y, house = households(seed)
        one = detector(protected=["race", "sex"])
        found.append(one.fit(X, y, groups=house).result_.verdict == "disparity found")
        if seed < 10:
            naive.append(one.fit(X, y).result_.verdict == "disparity found")
    assert sum(found) <= 3  # more has probability .06 at level .05, .88 where a fifth are found
    assert np.mean(naive) > np.mean(found)
