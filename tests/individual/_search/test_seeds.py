"""Seeds: which draws count when a budget ends a search, and the shares that follow."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdisc import FeatureSpace, Limits, _stats
from skdisc.individual import ADF, EIDIG, KOSEI, LIMI, Aequitas, ExpGA
from skdisc.individual._search._seeds import NAMES, Seeds

SPACE = FeatureSpace.from_domains({"a": (0, 19), "b": (0, 19), "sex": [0, 1]}, protected="sex")


def counted(draws, origins, is_case, n_tested, ended_by_case):
    """Return the draws up to the first of the last input tested, without it if it was the end."""
    seen, kept = [], []
    for draw, origin in zip(draws, origins, strict=True):
        last = draw not in seen and len(seen) + 1 == n_tested
        seen += [draw] * (draw not in seen)
        if not (last and ended_by_case):
            kept.append((origin, is_case[draw]))
        if last and (ended_by_case or n_tested < len(set(draws))):
            break
    return kept if n_tested else []


@given(
    draws=st.lists(st.integers(0, 9), min_size=1, max_size=25),
    data=st.data(),
    ended_by_case=st.booleans(),
)
def test_draws_count_in_their_order_up_to_the_end_of_the_search(draws, data, ended_by_case):
    origins = data.draw(st.lists(st.sampled_from(["uniform", "data"]), **size(draws)))
    n_tested = data.draw(st.integers(0, len(set(draws))))
    is_case = data.draw(st.lists(st.booleans(), min_size=10, max_size=10))
    rows = np.zeros((len(draws), 3), dtype=np.int64)
    rows[:, 0] = draws
    seeds = Seeds.of(SPACE, rows, origins)
    hit = np.array([is_case[a] for a in seeds.rows[:n_tested, 0]], dtype=bool)
    kept = counted(draws, origins, is_case, n_tested, ended_by_case)
    shares = {name: counts for name, *counts in seeds.shares(hit, ended_by_case=ended_by_case)}
    assert set(shares) == {NAMES[o] for o in origins}
    for origin in set(origins):
        own = [case for o, case in kept if o == origin]
        assert shares[NAMES[origin]] == [sum(own), len(own)]


def size(draws):
    return {"min_size": len(draws), "max_size": len(draws)}


def model(share=0.2):
    """Return a model whose decision depends on sex for this share of the inputs."""
    table = np.random.default_rng(5).permutation(400).reshape(20, 20) < 400 * share

    class OfTable:
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            p = 0.3 + 0.01 * X["a"] + 0.5 * (table[X["a"], X["b"]] & (X["sex"] == 1))
            return np.column_stack([1 - p, p])

        def predict(self, X):
            return (self.predict_proba(X)[:, 1] > 0.5).astype(int)

    rows = pd.DataFrame(np.indices((20, 20)).reshape(2, -1).T, columns=["a", "b"])
    own = OfTable()
    differs = own.predict(rows.assign(sex=0)) != own.predict(rows.assign(sex=1))
    return own, differs.mean()


UNIFORM = {"seeds": "uniform", "n_seeds": 300, "n_local": 0}
DRAWING = {
    "KOSEI": KOSEI(**UNIFORM),
    "KOSEI, both": KOSEI(**UNIFORM | {"seeds": "both", "n_seeds": 600}),
    "Aequitas": Aequitas(**UNIFORM | {"n_local": 1}),
    "ADF": ADF(**UNIFORM, max_iter=0),
    "EIDIG": EIDIG(**UNIFORM, max_iter=0),
    "ExpGA": ExpGA(n_draws=300, n_generations=0, seeds="uniform"),
    "LIMI": LIMI(generator="uniform", n_baseline=300, n_samples=1, n_boundary=1),
}


@pytest.mark.statistics
@pytest.mark.parametrize("max_found", [None, 3, 20])
@pytest.mark.parametrize("max_tests", [60, 130, 400])
def test_shares_are_unbiased_whatever_ends_the_draws(max_tests, max_found):
    """Of 400 inputs a fifth are cases; before, intervals covered .91, or .78 with max_found."""
    inside, shares, rng = [], [], np.random.default_rng(0)
    is_case = rng.permutation(400) < 80
    for _ in range(1000):
        rows = np.zeros((300, 3), dtype=np.int64)
        rows[:, 0], rows[:, 1] = np.divmod(rng.integers(400, size=300), 20)
        seeds = Seeds.of(SPACE, rows, np.repeat("uniform", 300))
        hit = is_case[seeds.rows[:, 0] * 20 + seeds.rows[:, 1]][:max_tests]
        reached = np.flatnonzero(np.cumsum(hit) == max_found)[:1]
        hit = hit[: reached[0] + 1] if len(reached) else hit
        [(_, x, n)] = seeds.shares(hit, ended_by_case=len(reached) > 0)
        low, high = _stats.wilson(x, n)
        inside.append(not n or low <= 0.2 <= high)
        shares.append(x / max(n, 1))
    assert np.mean(inside) >= 0.93
    assert np.mean(shares) == pytest.approx(0.2, abs=4 * np.std(shares) / np.sqrt(1000) + 0.002)


@pytest.mark.statistics
@pytest.mark.slow
@pytest.mark.parametrize(
    "limits", [Limits(tests=130, found=math.inf), Limits(tests=math.inf, found=20)], ids=str
)
@pytest.mark.parametrize("name", DRAWING)
def test_every_search_that_draws_covers_the_share(name, limits, search_only):
    own, truth = model()
    X = SPACE.decode(SPACE.sample(200, np.random.default_rng(0)))
    inside = 0
    for seed in range(40):
        search = DRAWING[name].set_params(limits=limits, random_state=seed)
        result = search.set_params(space=SPACE, protected="sex").fit(X, model=own).result_
        shares = result.estimates.set_index("name")
        row = shares.loc[NAMES["drawn" if name == "LIMI" else "uniform"]]
        inside += row["ci_low"] <= truth <= row["ci_high"]
    assert inside >= 33  # of .95, in one of 1,000 suites
