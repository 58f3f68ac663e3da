"""Bootstrap samples of fewer people than there are: the same law as those of all people."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from skdisc._stats import cluster_resampler
from skdisc._task._task import People
from skdisc.causal import StructuralCausalModel
from skdisc.individual import CounterfactualFairness
from skdisc.individual._counterfactual_fairness import _resamples

MODEL = lambda X: (X["x"] + 0.5 * X["z"] > 0.6).astype(int)  # noqa: E731


def world(n, seed=0, rare=0.3):
    rng = np.random.default_rng(seed)
    a = (rng.random(n) < rare).astype(int)
    z = rng.normal(size=n) + 0.5 * a
    return pd.DataFrame({"a": a, "z": z, "x": 0.4 * a + 0.5 * z + rng.normal(size=n)})


def replicates(monkeypatch, X, most, n_resamples=120, y=None, model=MODEL, estimator=None):
    """Return the resamples of one fit in which samples have at most so many people."""
    monkeypatch.setattr(_resamples, "_MOST", most)
    kept = []
    drawn = _resamples.resample
    where = "skdisc.individual._counterfactual_fairness._counterfactual_fairness.resample"
    monkeypatch.setattr(where, lambda *a: kept.append(drawn(*a)) or kept[-1])
    CounterfactualFairness(
        estimator,
        protected="a",
        counterfactuals=StructuralCausalModel([("a", "z"), ("a", "x"), ("z", "x")]),
        n_resamples=n_resamples,
        sensitivity=None,
        pos_label=1,
        random_state=0,
    ).fit(X, y, model)
    return kept[0]


@pytest.mark.statistics
@pytest.mark.parametrize("is_trained", [False, True])
def test_fewer_people_give_the_law_of_all(monkeypatch, is_trained):
    """The oracle is the naive refit on samples as large as the data."""
    X = world(6000)
    given = {}
    if is_trained:
        y = MODEL(X + np.random.default_rng(1).normal(size=(6000, 1)))
        given = {"y": y, "model": None, "estimator": LogisticRegression()}
    naive = replicates(monkeypatch, X, 10**9, **given)
    few = replicates(monkeypatch, X, 1500, **given)
    for name in ("means", "sizes"):
        ours, theirs = getattr(few, name), getattr(naive, name)
        assert ours.shape == theirs.shape
        spread = theirs.std(axis=0)
        # a standard deviation of 120 replicates has an error of 6.5 percent
        assert ours.std(axis=0) / spread == pytest.approx(np.ones(len(spread)), abs=0.3)
        assert (np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) < 0.6 * spread).all()
    assert few.shifts.mean() / naive.shifts.mean() == pytest.approx(1, abs=0.25)


def test_small_data_are_drawn_whole(monkeypatch):
    X = world(300)
    few, all_people = (replicates(monkeypatch, X, most, 9) for most in (300, 10**9))
    assert (few.means == all_people.means).all()


def test_every_group_has_people_in_a_sample():
    X = world(40_000, rare=0.001)
    n_rare = int(X["a"].sum())

    class Stub:
        class detector:  # noqa: N801
            protected_, do = ["a"], None

        class task:  # noqa: N801
            rng, people = np.random.default_rng(0), People()

    Stub.X = X
    draw, share = _resamples._resampler(Stub)
    at = draw()
    assert len(at) == len(draw()) == round(share * len(X))
    assert 10_000 <= len(at) < len(X)
    assert (X["a"].to_numpy()[at] == 1).sum() >= min(30, n_rare)
    ratio = (X["a"].to_numpy()[at] == 1).sum() / n_rare
    assert ratio == pytest.approx(share, abs=1.5 / n_rare)


def test_clusters_are_drawn_as_a_whole():
    cluster = np.repeat(np.arange(40), np.arange(1, 41) % 4 + 1)
    draw = cluster_resampler(cluster, np.random.default_rng(0))
    for _ in range(5):
        at = draw()
        times = np.bincount(at, minlength=len(cluster))
        assert all(len(set(times[cluster == c])) == 1 for c in range(40))
        assert sum(times[np.unique(cluster, return_index=True)[1]]) == 40
    few = cluster_resampler(cluster, np.random.default_rng(0), 0.25)
    assert len(np.unique(cluster[few()])) <= 10


def test_queries_are_counted_by_people_drawn(monkeypatch):
    X, asked = world(3000), []

    def model(A):
        asked.append(len(A))
        return MODEL(A)

    replicates(monkeypatch, X, 500, n_resamples=4, model=model)
    assert len(X) not in asked[-4:]
    assert max(asked[-4:]) <= 502
