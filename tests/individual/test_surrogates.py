"""SG, ExpGA, LIMI and BoundarySearch: their own rules."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from skdisc import FeatureSpace
from skdisc._task._task import Task
from skdisc.individual import KOSEI, LIMI, SG, BoundarySearch, ExpGA, _boundary_search, _sg_queue
from skdisc.individual._search import _input_generator, _seeds
from skdisc.individual._search._input_generator import make_generator
from skdisc.individual._sg_queue import Changes, Waiting, changes


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
def test_changes_negate_one_condition_of_the_path_to_a_leaf(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 8, (200, 3))
    tree = DecisionTreeClassifier(max_depth=5, random_state=seed).fit(X, rng.random(200) < 0.5)
    free = np.array([[True, False, True], [True, False, False]])  # column 1 stays, 2 only falls
    leaves = np.flatnonzero(tree.tree_.children_left < 0)
    local, along = changes(tree.tree_, leaves, np.arange(3), free, 0.3)
    for row in rng.integers(0, 8, (10, 3)):
        path, expected = path_of(tree.tree_, row), ([], [])
        for k, (column, cut, left, share) in enumerate(path):
            there = row.copy()
            there[column] = cut + 1 if left else cut
            holds = [(there[c] <= t) == w for c, t, w, _ in path]
            assert not holds[k]
            if not free[int(left), column]:
                continue
            above = [s for *_, s in path[:k]]
            if all(h for j, h in enumerate(holds) if j != k):
                rank = np.mean([s for j, (*_, s) in enumerate(path) if j != k] + [1 - share])
                expected[0].append((column, there[column], rank))
            if all(s >= 0.3 for c, _, _, s in path[: k + 1] if c != 1):
                assert all(holds[:k])
                expected[1].append((column, there[column], np.mean([*above, 1 - share])))
        leaf = tree.apply(row[None])[0]
        for made, wanted in zip((local, along), expected, strict=True):
            own = made.at(leaves[made.leaf] == leaf)
            given = zip(own.column, own.value, own.confidence, strict=True)
            for ours, theirs in zip(sorted(given), sorted(wanted), strict=True):
                assert ours == pytest.approx(theirs)


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


def test_sg_asks_questions_that_grow_to_a_bound(monkeypatch):
    sizes = []

    class Listening(Loan):
        def predict(self, X):
            sizes.append(len(X))
            return super().predict(X)

    search = SG(protected="sex", max_tests=4000, n_samples=100, random_state=0)
    largest = []
    for most in (_sg_queue._MOST, 80):
        monkeypatch.setattr(_sg_queue, "_MOST", most)
        search.fit(people(), model=Listening())
        asked = [n for n in sizes if n != 100]  # not those of the tree
        assert sum(asked) == 2 * search.result_.n_tested
        largest.append(max(asked))
        sizes.clear()
    assert largest[0] > 160 >= largest[1] > 128


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
    monkeypatch.setattr(_input_generator, "_AT_ONCE", at_once)
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
def test_changes_made_least_often_come_first_and_then_by_rank(seed):
    """Against a plain list: two trees, whose leaves have inputs that wait for their changes."""
    rng = np.random.default_rng(seed)
    space = FeatureSpace.from_domains({"id": (0, 999), "a": (0, 9)}, protected=())
    waiting, made, lists, n = Waiting(space), {}, {}, 0
    for turn in range(12):
        if turn in (0, 5):
            leaf = np.sort(rng.integers(0, 3, 5))
            mean = (rng.permutation(5) + turn / 10) / 5
            at, value = np.ones(5, int), np.arange(5) + turn
            waiting.expect(Changes(leaf, at, value, mean), 3, 1)
            made |= {(m, v, (turn, w)): 0 for m, v, w in zip(mean, value, leaf, strict=True)}
            lists |= {(turn, w): [] for w in range(3)}
            latest = turn
        which = rng.integers(0, 3, rng.integers(0, 5))
        for i, w in enumerate(which):
            lists[latest, w].append(n + i)
        waiting.push(np.column_stack([n + np.arange(len(which)), 0 * which]), which - 3)
        n, k = n + len(which), int(rng.integers(0, 12))
        ready = [
            (nth, mean, value, lists[own][nth], (mean, value, own))
            for (mean, value, own), done in made.items()
            for nth in range(done, len(lists[own]))
        ]
        best = sorted(ready)[:k]
        assert sorted(waiting.pop(k).tolist()) == sorted([who, value] for *_, value, who, _ in best)
        for *_, change in best:
            made[change] += 1


def test_sg_goes_on_from_every_case_of_a_leaf():
    """One condition, a <= 19: all that is to be found is found, from both of its sides."""
    space = FeatureSpace.from_domains({"a": (0, 39), "b": (0, 9), "sex": [0, 1]}, protected="sex")
    model = lambda X: X["a"] + (X["sex"] == 1) > 19  # noqa: E731
    result = SG(n_seeds=200, max_tests=None, random_state=0).fit(space, model=model).result_
    assert result.n_found == 10  # a = 19, and any b
    small = SG(n_seeds=200, max_queries=100, random_state=0).fit(space, model=model).result_
    assert small.n_queries <= 100
    assert small.n_tested > 30  # a tree takes a quarter of the questions at most


@pytest.mark.parametrize("settings", [{"surrogate": "instance"}, {"refresh": 5, "n_seeds": 5}])
def test_sg_asks_about_no_sample_twice(settings):
    domains = {"a": (0, 9), "b": (0, 9), "sex": ["F", "M"]}
    space = FeatureSpace.from_domains(domains, protected="sex")
    model = lambda X: (X["a"] + X["b"] > 9) ^ ((X["sex"] == "M") & (X["a"] == 3))  # noqa: E731
    search = SG(n_samples=200, batch_size=4, random_state=0, **settings)
    assert search.fit(space, model=model).result_.n_queries <= 2 * 200  # tests, and samples


def test_sg_with_more_clusters_than_rows_to_learn_them_from(monkeypatch):
    monkeypatch.setattr(_seeds, "_MOST_LEARNED", 10)
    search = SG(protected="sex", n_clusters=12, max_tests=40, random_state=0)
    assert search.fit(people(), model=Loan()).result_.n_tested == 40


def test_sg_begins_with_small_questions_for_every_protected_column():
    X = people().assign(race=lambda frame: frame["a"] % 2)
    sizes = []

    def rule(frame):
        sizes.append(len(frame))
        return frame["a"] + 4 * frame["sex"] > 20

    settings = {"scope": "each", "max_tests": 4000, "n_samples": 7, "random_state": 0}
    SG(protected=["sex", "race"], n_seeds=5000, **settings).fit(X, model=rule)
    first = [at for at, n in enumerate(sizes) if n == 128]  # 64 inputs, two values each
    assert first[0] == 0
    assert max(first) > len(sizes) // 3  # so begins the second column, too
