"""Clusters in situation tests: copies know no more than their originals."""

import numpy as np
import pandas as pd
import pytest

from skdisc._neighbors._smoother import NearestSmoother
from skdisc.causal import StructuralCausalModel
from skdisc.individual import (
    CounterfactualFairness,
    CounterfactualSituationTesting,
    SituationTesting,
)


def households(seed, n=300):
    """Return people decided alike in a household of one race, which has nothing to do with it."""
    rng, house = np.random.default_rng(seed), np.repeat(np.arange(n // 5), 5)
    X = pd.DataFrame({"race": rng.choice(list("bw"), n // 5)[house]})
    X["town"], X["points"] = rng.choice(list("uv"), n // 5)[house], rng.normal(size=n)
    return X, (rng.random(n) < rng.choice([0.02, 0.98], n // 5)[house]).astype(int), house


def gap_of(result):
    return result.tables["gaps"].iloc[0]


def test_the_mean_of_neighbors_of_other_clusters_is_that_by_hand():
    rng = np.random.default_rng(0)
    points, cluster = rng.integers(0, 6, (40, 2)).astype(float), rng.integers(0, 8, 40)
    near, values = NearestSmoother(points, 5), rng.normal(size=40)
    W = near.means(np.eye(40))
    other = W * (cluster[:, None] != cluster)
    by_hand = other @ values / other.sum(axis=1)
    assert near.means_outside(values, cluster) == pytest.approx(by_hand)
    alone = near.means_outside(values, np.zeros(40, dtype=int))
    assert alone == pytest.approx(near.means(values[:, None])[:, 0])


@pytest.mark.slow
@pytest.mark.parametrize("detector", [SituationTesting, CounterfactualSituationTesting])
def test_clusters_widen_the_interval_and_keep_the_gap(detector):
    X, y, house = households(0)
    more = {"counterfactuals": X} if detector is CounterfactualSituationTesting else {}
    test = detector(protected="race", group="b", reference="w", pos_label=1, **more)
    plain, own, each = (
        gap_of(test.fit(X, y, groups=g).result_) for g in (None, house, np.arange(300))
    )
    assert each["gap"] == plain["gap"]
    # households stay whole in the folds in which expectations are learned
    assert plain["ci_low"] < own["gap"] < plain["ci_high"]
    widths = [t["ci_high"] - t["ci_low"] for t in (plain, own, each)]
    assert widths[1] > 1.5 * widths[0]
    assert widths[2] == pytest.approx(widths[0], rel=0.01)


@pytest.mark.slow
def test_copies_know_no_more_than_their_originals():
    X, y, _ = households(1, 1000)
    X, y, five = X[::5].reset_index(drop=True), y[::5], np.repeat(np.arange(200), 5)
    test = SituationTesting(protected="race", pos_label=1, direction="both")
    one = gap_of(test.fit(X, y).result_)
    copies = test.fit(X.iloc[five].reset_index(drop=True), y[five], groups=five).result_
    naive = test.fit(X.iloc[five].reset_index(drop=True), y[five]).result_
    width, wide, narrow = (t["ci_high"] - t["ci_low"] for t in (one, gap_of(copies), gap_of(naive)))
    assert wide > 0.9 * width
    assert narrow < 0.6 * width


@pytest.mark.statistics
def test_households_keep_the_level():
    told, untold = 0, 0
    test = SituationTesting(protected="race", pos_label=1, direction="both")
    for seed in range(25):
        X, y, house = households(seed)
        told += test.fit(X, y, groups=house).result_.verdict == "disparity found"
        untold += test.fit(X, y).result_.verdict == "disparity found"
    assert told <= 3  # P(more) = 0.03 at level 0.05
    assert untold >= 4  # of 100 data sets 29, and with households 2


@pytest.mark.slow
def test_counterfactual_fairness_resamples_clusters():
    X, _, house = households(2)
    X["points"] += (X["race"] == "b") + np.random.default_rng(0).normal(size=60)[house]
    scm = StructuralCausalModel([("race", "points"), "town"])

    def scores(rows):
        return 1 / (1 + np.exp(-rows["points"].to_numpy()))

    given = {"protected": "race", "counterfactuals": scm, "n_resamples": 60, "random_state": 0}
    widths = []
    for groups in (None, house):
        fair = CounterfactualFairness(**given, output="value")
        effects = fair.fit(X, model=scores, groups=groups).result_.tables["effects"]
        everyone = effects[effects["group"] == "everyone"].iloc[0]
        widths.append(everyone["ci_high"] - everyone["ci_low"])
    assert widths[1] > 1.1 * widths[0]
