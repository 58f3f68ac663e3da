"""SG, ExpGA, LIMI and BoundarySearch: their own rules."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from skdisc._task import Task
from skdisc.individual import KOSEI, LIMI, SG, BoundarySearch, ExpGA, _boundary_search, _generator
from skdisc.individual._generator import make_generator
from skdisc.individual._paths import paths
from skdisc.individual._rank_queue import Waiting


def people(n=600, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 40, n)
    b = np.clip(a + rng.integers(-5, 6, n), 0, 39)
    job = np.where(rng.random(n) < 0.8, "u", rng.choice(list("vw"), n))
    return pd.DataFrame({"a": a, "job": job, "b": b, "sex": rng.integers(0, 2, n)})


class Loan:
    """A margin that grows with a and b, and a little with sex."""

    classes_ = np.array([0, 1])

    def decision_function(self, X):
        return (X["a"] + X["b"] + 4 * X["sex"] - 41.5).to_numpy() / 3

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)


def path_of(tree, row):
    """Return the path of a row, walked one node at a time: (column, cut, went left, share)."""
    node, path = 0, []
    while tree.children_left[node] >= 0:
        left = row[tree.feature[node]] <= tree.threshold[node]
        child = tree.children_left[node] if left else tree.children_right[node]
        share = tree.n_node_samples[child] / tree.n_node_samples[node]
        path.append((tree.feature[node], int(np.floor(tree.threshold[node])), left, share))
        node = child
    return path


@given(seed=st.integers(0, 500))
@settings(max_examples=20)
def test_paths_and_what_negating_them_gives(seed):
    rng = np.random.default_rng(seed)
    X, free = rng.integers(0, 8, (200, 3)), np.array([0, 2])
    tree = DecisionTreeClassifier(max_depth=5, random_state=seed).fit(X, rng.random(200) < 0.5)
    rows = rng.integers(0, 8, (10, 3))
    p = paths(tree.tree_, rows, np.arange(3), free)
    others, above = p.others, p.above
    made, able = p.negated(rows), (p.can_be_negated(others), p.can_be_negated(above))
    rank, down = p.confidence_among(above), p.down_to(0.3)
    for i, row in enumerate(rows):
        path = path_of(tree.tree_, row)
        for k, (column, cut, left, share) in enumerate(path):
            there = row.copy()
            there[column] = cut + 1 if left else cut
            assert made[i, k].tolist() == there.tolist()
            holds = [(there[c] <= t) == w for c, t, w, _ in path]
            assert not holds[k]
            fine = column in free
            assert able[0][i, k] == (fine and all(h for j, h in enumerate(holds) if j != k))
            assert able[1][i, k] == (fine and all(holds[:k]))
            expected = np.mean([s for *_, s in path[:k]] + [1 - share])
            assert rank[i, k] == pytest.approx(expected)
            known = [s for c, _, _, s in path[: k + 1] if c in free]
            assert down[i, k] == all(s >= 0.3 for s in known)
        assert not able[0][i, len(path) :].any()
    keys = p.keys(above)[able[1]]
    sets = [
        (frozenset(map(tuple, (c[:3] for c in path[:k]))), path[k][:3])
        for row, ks in zip(rows, able[1], strict=True)
        for path in [path_of(tree.tree_, row)]
        for k in np.flatnonzero(ks)
    ]
    assert len(np.unique(keys)) == len(set(sets))


def test_sg_finds_more_than_chance_within_its_tests():
    X = people()
    rates = {}
    for name, search in {
        "sg": SG(protected="sex", max_tests=300, n_seeds=20, random_state=0),
        "one by one": SG(
            protected="sex", max_tests=120, n_seeds=20, surrogate="instance", n_samples=300,
            batch_size=8, random_state=0,
        ),
        "chance": KOSEI(protected="sex", seeds="uniform", n_local=0, max_tests=300, random_state=0),
    }.items():  # fmt: skip
        rates[name] = search.fit(X, model=Loan()).result_.metrics["SUR"]
    assert rates["sg"] > 3 * rates["chance"]
    assert rates["one by one"] > rates["chance"]


def test_sg_with_a_surrogate_of_ones_own():
    X, asked = people(), []

    def surrogate(samples, decided, explained):
        asked.append((samples.shape, set(decided.tolist()), explained.shape[1]))
        return DecisionTreeClassifier(max_depth=3).fit(samples[:, [0, 1, 2]], decided)

    search = SG(protected="sex", surrogate=surrogate, n_samples=200, max_tests=100, random_state=0)
    assert search.fit(X, model=Loan()).result_.n_found > 0
    with pytest.raises(AttributeError, match="tree_"):
        search.set_params(surrogate=lambda *given: None or LogisticRegression()).fit(
            X, model=Loan()
        )
    assert asked[0] == ((200, 4), {0, 1}, 4)


def test_expga_breeds_from_the_largest_effects():
    X = people()
    settings = {"protected": "sex", "n_population": 20, "n_draws": 200, "random_state": 0}
    draws = ExpGA(n_generations=0, **settings).fit(X, model=Loan()).result_
    bred = ExpGA(n_generations=20, **settings).fit(X, model=Loan()).result_
    assert draws.n_tested <= 200
    later = (bred.n_found - draws.n_found) / (bred.n_tested - draws.n_tested)
    assert later > 1.5 * draws.metrics["SUR"]
    own = ExpGA(
        ranking=lambda rows: -np.abs(rows["a"] - 3), n_generations=1, mutation=0.0, **settings
    )
    decided = own.set_params(fitness="hit").fit(X, model=Loan()).result_
    assert decided.n_queries == 2 * decided.n_tested  # no question but the tests
    assert bred.n_queries == 4 * bred.n_tested


@pytest.mark.parametrize("kind", ["copula", "pca", "uniform"])
def test_generators_give_inputs_of_the_space(kind):
    X = people()
    search = BoundarySearch(protected="sex", n_pool=10, random_state=0).fit(X, model=Loan())
    task = Task.open(search, X, None)
    generator = make_generator(kind, task)
    rows = generator.codes(np.random.default_rng(0).standard_normal((4000, generator.latent_dim)))
    drawn = task.space.decode(rows)
    assert (rows[:, task.space.np_index] >= 0).all()
    correlation = np.corrcoef(drawn["a"], drawn["b"])[0, 1]
    assert (correlation > 0.8) == (kind != "uniform")
    if kind == "copula":
        shares = drawn["job"].value_counts(normalize=True)
        np.testing.assert_allclose(
            shares, X["job"].value_counts(normalize=True)[shares.index], atol=0.03
        )
    if kind == "uniform":
        assert drawn["job"].value_counts(normalize=True).min() > 0.3


class Young:
    """A generator of the caller's that knows young people only."""

    latent_dim = 2

    def decode(self, Z):
        a = np.clip(20 + Z[:, 0], 15, 25)
        return pd.DataFrame({"a": a, "job": "u", "b": np.clip(20 + 3 * Z[:, 1], 0, 39)})


@pytest.mark.parametrize("search", [LIMI(n_samples=500), BoundarySearch(n_pool=500)])
def test_a_generator_of_ones_own(search):
    detector = search.set_params(protected="sex", generator=Young(), random_state=0)
    result = detector.fit(people(), model=Loan()).result_
    assert result.n_found > 0
    assert result.findings.original["a"].between(15, 25).all()
    assert set(result.findings.original["job"]) == {"u"}


@pytest.mark.parametrize("at_once", [300, 100_000])
def test_the_boundary_pool_is_tested_closest_first(at_once, monkeypatch):
    monkeypatch.setattr(_generator, "_AT_ONCE", at_once)
    monkeypatch.setattr(_boundary_search, "_AT_ONCE", at_once)
    X, model = people(), Loan()
    asked = []
    model.predict = lambda A: (asked.append(A), Loan().predict(A))[1]
    search = BoundarySearch(protected="sex", n_pool=2000, share=0.2, random_state=0)
    result = search.fit(X, model=model).result_
    rows = pd.concat(asked)
    middle = np.abs(Loan().decision_function(rows.assign(sex=0.5)))
    assert len(rows) <= 2 * 400
    assert middle[:100].mean() < middle[-100:].mean()
    everything = search.set_params(share=1.0).fit(X, model=Loan()).result_
    assert result.metrics["SUR"] > 2 * everything.metrics["SUR"]
    assert result.n_found > 0.5 * everything.n_found


def test_limi_finds_a_larger_share_than_its_generator():
    X = people()
    search = LIMI(protected="sex", n_samples=2000, n_baseline=200, max_tests=400, random_state=0)
    result = search.fit(X, model=Loan()).result_
    row = result.estimates.iloc[0]
    assert row["name"] == "share of inputs drawn from the generator"
    assert row["ci_low"] <= row["estimate"] <= row["ci_high"]
    first = search.set_params(n_samples=1, max_tests=None).fit(X, model=Loan()).result_
    probed = (result.n_found - first.n_found) / (result.n_tested - first.n_tested)
    assert probed > 1.5 * row["estimate"]


def test_limi_without_a_boundary_says_so():
    X = people()
    result = LIMI(protected="sex", n_samples=200, random_state=0).fit(
        X, model=lambda A: (A["a"] >= 0).astype(int)
    ).result_  # fmt: skip
    assert result.n_found == 0
    assert any("no boundary to learn" in note for note in result.notes)


def test_kosei_floods_from_the_boundary():
    X = people()
    search = KOSEI(protected="sex", seeds="boundary", n_seeds=50, n_local=0, random_state=0)
    near = search.fit(X, model=Loan()).result_
    far = search.set_params(seeds="uniform").fit(X, model=Loan()).result_
    assert near.metrics["SUR"] > 2 * far.metrics["SUR"]
    assert near.estimates["name"][0].endswith("closest to the boundary")


@given(seed=st.integers(0, 500))
@settings(max_examples=20)
def test_who_waits_leaves_by_rank_and_then_by_arrival(seed):
    rng = np.random.default_rng(seed)
    waiting, plain, n = Waiting(1), [], 0
    for _ in range(12):
        rank = rng.integers(0, 4, rng.integers(0, 9)).astype(float)
        rows = np.arange(n, n + len(rank))[:, None]
        n += len(rank)
        waiting.push(rows, rank)
        plain = sorted(plain + list(zip(rank, rows[:, 0], strict=True)))
        k = int(rng.integers(1, 9))
        if plain:
            assert waiting.pop(k)[:, 0].tolist() == [at for _, at in plain[:k]]
        plain = plain[k:]
        assert waiting.n == len(plain)
