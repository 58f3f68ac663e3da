"""Aequitas: what its walks learn, and its estimate."""

import math

import numpy as np
import pandas as pd
import pytest

from skdisc import FeatureSpace, Limits
from skdisc.individual import Aequitas
from skdisc.individual import _aequitas as module


@pytest.mark.parametrize("mode", ["random", "semi", "fully"])
def test_walks_learn_what_leads_to_cases(mode, monkeypatch):
    """From a case, a step in a always stays among the cases, a step in b every other time."""
    domains = {"a": (0, 9999), "b": (0, 9999), "sex": [0, 1]}
    space = FeatureSpace.from_domains(domains, protected="sex")
    model = lambda X: (X["b"] // 2 % 2 == 0) & (X["sex"] == 1)  # noqa: E731
    made, original = [], module._Walks.__init__
    monkeypatch.setattr(
        module._Walks,
        "__init__",
        lambda self, *given: (original(self, *given), made.append(self))[0],
    )
    settings = {
        "next_state": "restart",
        "n_seeds": 100,
        "n_local": 200,
        "limits": Limits(tests=math.inf),
    }
    Aequitas(mode=mode, random_state=0, **settings).fit(space, model=model)
    chances = made[-1].p_column
    assert chances.sum() == pytest.approx(1)
    assert (chances[0] > 0.6) == (mode == "fully")
    assert (made[-1].p_down != 0.5).any() == (mode != "random")


@pytest.mark.statistics
def test_the_estimate_of_aequitas_covers_the_share():
    space = FeatureSpace.from_domains({"n": (0, 999), "sex": [0, 1]}, protected="sex")
    model = lambda X: (X["n"] < 100) & (X["sex"] == 1)  # noqa: E731
    inside = 0
    for seed in range(40):
        row = (
            Aequitas(n_local=0, random_state=seed)
            .fit(space, model=model)
            .result_.estimates.iloc[-1]
        )
        inside += row["ci_low"] <= 0.1 <= row["ci_high"]
    assert inside >= 34


def test_large_batches_change_nothing_where_nothing_is_learned(monkeypatch):
    space = FeatureSpace.from_domains({"a": (0, 99), "b": (0, 99), "sex": [0, 1]}, protected="sex")
    model = lambda X: (X["b"] // 2 % 2 == 0) & (X["a"] > 20) & (X["sex"] == 1)  # noqa: E731
    runs = []
    for most in (1, 70, 10_000):
        monkeypatch.setattr(module, "_MOST_AT_ONCE", most)
        search = Aequitas(
            mode="random", n_seeds=40, n_local=50, limits=Limits(tests=math.inf), random_state=0
        )
        result = search.fit(space, model=model).result_
        runs.append((result.n_tested, result.findings.original.to_numpy().tolist()))
    assert runs[0] == runs[1] == runs[2]


def test_directions_are_learned_in_steps_small_enough_to_settle(monkeypatch):
    """Half of the steps in a lead to a case, down or up, so that neither direction is better.

    With a batch of all steps, each probability was 0 or 1 after the first or second update.
    """
    space = FeatureSpace.from_domains({"a": (0, 9999), "sex": [0, 1]}, protected="sex")
    model = lambda X: (X["a"] * 7919 % 101 < 30) & (X["sex"] == 1)  # noqa: E731
    down, learn = [], module._Walks._learn

    def watch(self, hit):
        learn(self, hit)
        down.append(self.p_down[0])

    monkeypatch.setattr(module._Walks, "_learn", watch)
    search = Aequitas(n_seeds=300, n_local=200, limits=Limits(tests=math.inf), random_state=0)
    search.fit(space, model=model)
    assert len(down) > 20
    assert 0.3 < min(down) < max(down) < 0.7


@pytest.mark.parametrize(("mode", "energy"), [("random", 1), ("semi", 1), ("fully", 2)])
def test_walks_leave_a_case_as_in_the_code_of_the_authors(mode, energy, monkeypatch):
    """Every other input along a is a case, so each step of a walk on a case leads to none."""
    space = FeatureSpace.from_domains({"a": (0, 999_999), "sex": [0, 1]}, protected="sex")
    model = lambda X: (X["a"] % 2 == 0) & (X["sex"] == 1)  # noqa: E731
    left, tell = [], module._Walks.tell

    def watch(self, candidates, ids, new, ledger):
        before = None if self.x is None else self.x.copy()
        tell(self, candidates, ids, new, ledger)
        if before is not None:
            on_case = before[:, 0] % 2 == 0
            left.append((self.x != before).any(axis=1)[on_case])

    monkeypatch.setattr(module._Walks, "tell", watch)
    settings = {"n_seeds": 2000, "n_local": 5, "limits": Limits(tests=math.inf), "random_state": 0}
    Aequitas(mode=mode, next_state="metropolis", **settings).fit(space, model=model)
    assert np.concatenate(left).mean() == pytest.approx(np.exp(-energy), abs=0.03)


@pytest.mark.slow
def test_each_mode_finds_more_cases_with_equally_many_steps():
    """Steps in b leave the cases, and steps up in a leave them sooner than steps down."""
    domains = {"a": (0, 9999), "b": (0, 9999), "sex": [0, 1]}
    space = FeatureSpace.from_domains(domains, protected="sex")
    rng = np.random.default_rng(0)
    seeds = pd.DataFrame({"a": rng.integers(4900, 5001, 200), "sex": 0})
    seeds.insert(1, "b", rng.integers(4997, 5004, 200))

    def model(X):
        return (X["a"] <= 5000) & ((X["b"] - 5000).abs() <= 3) & (X["sex"] == 1)

    settings = {
        "seeds": seeds,
        "next_state": "metropolis",
        "n_local": 150,
        "limits": Limits(tests=math.inf),
    }
    found = [
        Aequitas(mode=mode, random_state=0, **settings).fit(space, model=model).result_.n_found
        for mode in ("random", "semi", "fully")
    ]
    assert found[1] > 1.3 * found[0]
    assert found[2] > 1.05 * found[1]
