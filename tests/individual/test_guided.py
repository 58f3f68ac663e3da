"""ADF, EIDIG and Aequitas: their own rules."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skdisc import FeatureSpace
from skdisc._task._task import Task
from skdisc.individual import ADF, EIDIG, Aequitas
from skdisc.individual import _aequitas as module
from skdisc.individual._search import _gradient_walk
from skdisc.individual._search._margins import Margins
from skdisc.individual._search._steps import Steps, weighted_choice


def people(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.integers(0, 60, n), "b": rng.integers(0, 60, n)})
    return X.assign(sex=rng.integers(0, 2, n))


def linear(X, gap=6):
    y = X["a"] + 2 * X["b"] + gap * X["sex"] > 90
    return LogisticRegression(C=1e4, max_iter=5000).fit(X, y)


def margins_of(model, X, protected="sex", gradient="auto", **space):
    few = {"random_state": 0, "n_local": 0, "max_tests": 1}
    detector = ADF(protected=protected, **few, **space).fit(X, model=model)
    task = Task.open(detector, X, None)
    return Margins(task, Steps(task.space), gradient), task


def test_seeds_of_a_linear_model_walk_straight_to_the_boundary():
    """Every column goes one step per move towards it, so the first case is where it must be."""
    X, model = people(), linear(people())
    far = pd.DataFrame({"a": [50, 2], "b": [40, 25], "sex": [0, 0]})
    detector = ADF(protected="sex", seeds=far, max_iter=30, n_local=0, random_state=0)
    result = detector.fit(X, model=model).result_
    asked = []
    for _, row in far.iterrows():
        at = row.to_numpy().copy()
        while True:
            two = pd.DataFrame([[*at[:2], 0], [*at[:2], 1]], columns=list(X))
            asked.append(tuple(at[:2]))
            decided = model.predict(two)
            if decided[0] != decided[1]:
                break
            at[:2] = at[:2] - 1 if decided[0] else at[:2] + 1
    assert result.n_tested == len(set(asked))
    assert result.n_found == 2
    assert set(
        zip(result.findings.original["a"], result.findings.original["b"], strict=True)
    ) < set(asked)


def test_a_move_that_no_gradient_asks_for_is_drawn():
    """A model of sex alone, that answers alike for all others, moves its seeds at random."""
    X = people()
    flat = lambda A: (A["a"] > 1000).astype(int)  # noqa: E731
    seeds = pd.DataFrame({"a": [30], "b": [30], "sex": [0]})
    result = ADF(protected="sex", seeds=seeds, n_local=0, random_state=0).fit(X, model=flat).result_
    assert result.n_tested == 1  # nothing to step towards: up and down change nothing
    assert any("bare decisions" in note for note in result.notes)


def test_differences_agree_with_the_gradient_of_a_linear_model():
    X, model = people(), linear(people())
    codes = np.array([[10, 20, 0], [0, 59, 1], [59, 0, 1]])
    derived, task = margins_of(model, X)
    measured, _ = margins_of(model, X, gradient="difference")
    np.testing.assert_allclose(measured.slopes(codes).change, derived.slopes(codes).change)
    assert task.budget.queries == 3
    np.testing.assert_allclose(derived.slopes(codes).change, np.tile(model.coef_[0, :2], (3, 1)))


def test_nominal_columns_go_to_their_best_value_and_others_a_step():
    space = FeatureSpace.from_domains(
        {"job": list("uvwx"), "n": (0, 9), "sex": [0, 1]}, protected="sex"
    )
    worth = {"u": 0.1, "v": 3.0, "w": -2.0, "x": 0.0}

    class Model:
        classes_ = np.array([0, 1])

        def decision_function(self, X):
            return X["job"].map(worth).to_numpy(float) + 0.5 * X["n"].to_numpy() + X["sex"]

    detector = ADF(n_local=0, max_tests=1, random_state=0).fit(space, model=Model())
    task = Task.open(detector, None, None)
    steps = Steps(space)
    margins = Margins(task, steps)
    codes = np.array([[0, 4, 0], [1, 9, 1]])
    slopes = margins.slopes(codes)
    np.testing.assert_allclose(slopes.change, [[5.0, 0.5], [5.0, 0.5]])
    up = slopes.targets(steps, codes, slopes.change, np.array([True, True]))
    down = slopes.targets(steps, codes, slopes.change, np.array([False, False]))
    assert up.tolist() == [[1, 5], [1, 9]]
    assert down.tolist() == [[2, 3], [2, 8]]


def test_a_dead_network_is_looked_at_by_differences():
    X = people()
    y = (X["a"] > 30).astype(int)
    net = MLPClassifier((3,), max_iter=5, random_state=0)
    with pytest.warns(Warning, match="Maximum iterations"):
        net.fit(X, y)
    net.intercepts_[0][:] = -1e6  # no unit is ever active
    margins, task = margins_of(net, X)
    assert (margins.slopes(np.array([[3, 4, 0]])).change == 0).all()
    assert task.budget.queries == 1 + 5  # one gradient; the row itself and four neighbours


@pytest.mark.parametrize("gradient", ["analytic", "autograd"])
def test_a_gradient_that_cannot_be_had_is_refused(gradient):
    X = people()
    tree = DecisionTreeClassifier(max_depth=2).fit(X, X["a"] > X["b"])
    with pytest.raises(ValueError, match="is not to be had of a DecisionTreeClassifier"):
        ADF(protected="sex", gradient=gradient).fit(X, model=tree)


def test_a_gradient_of_ones_own():
    X, model = people(), linear(people())
    own = lambda A: np.tile(model.coef_[0], (len(A), 1))  # noqa: E731
    results = [
        ADF(protected="sex", gradient=g, n_local=20, random_state=0).fit(X, model=model).result_
        for g in ("auto", own)
    ]
    assert results[0].n_found == results[1].n_found
    with pytest.raises(ValueError, match="2 columns, one for each of the 3"):
        ADF(protected="sex", gradient=lambda A: own(A)[:, :2]).fit(X, model=model)


def test_eidig_without_momentum_or_delay_takes_the_steps_of_adf():
    X, model = people(), linear(people())
    settings = {"protected": "sex", "n_local": 30, "random_state": 0}
    ours = EIDIG(momentum=0.0, refresh_interval=1, **settings).fit(X, model=model).result_
    adf = ADF(next_state="restart", **settings).fit(X, model=model).result_
    assert ours.to_frame().equals(adf.to_frame())
    assert ours.n_queries == adf.n_queries


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_eidig_looks_at_fewer_gradients_the_longer_it_waits():
    X = people()
    net = MLPClassifier((8,), solver="lbfgs", max_iter=300, random_state=0)
    net.fit(X, X["a"] + X["b"] + 8 * X["sex"] > 60)
    settings = {"protected": "sex", "n_local": 50, "n_seeds": 30, "random_state": 0}
    beside = []
    for interval in (1, 5, None):
        result = EIDIG(refresh_interval=interval, **settings).fit(X, model=net).result_
        beside.append(result.n_queries - 2 * result.n_tested)
    assert beside[0] > beside[1] > beside[2] > 0


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
    settings = {"next_state": "restart", "n_seeds": 100, "n_local": 200, "max_tests": None}
    Aequitas(mode=mode, random_state=0, **settings).fit(space, model=model)
    chances = made[-1].choose
    assert chances.sum() == pytest.approx(1)
    assert (chances[0] > 0.6) == (mode == "fully")
    assert (made[-1].down != 0.5).any() == (mode != "random")


def test_the_estimate_of_aequitas_covers_the_share():
    space = FeatureSpace.from_domains({"n": (0, 999), "sex": [0, 1]}, protected="sex")
    model = lambda X: (X["n"] < 100) & (X["sex"] == 1)  # noqa: E731
    inside = 0
    for seed in range(40):
        row = (
            Aequitas(n_local=0, random_state=seed).fit(space, model=model).result_.estimates.iloc[0]
        )
        inside += row["ci_low"] <= 0.1 <= row["ci_high"]
    assert inside >= 34


def test_steps_and_choices():
    space = FeatureSpace.from_domains(
        {"job": list("uvw"), "n": (0, 9), "sex": [0, 1]}, protected="sex"
    )
    steps, rng = Steps(space, 2), np.random.default_rng(0)
    rows = np.tile([1, 8, 0], (300, 1))
    jobs = steps.change(rows, np.zeros(300, int), np.ones(300, int), rng.random(300))
    assert set(jobs[:, 0]) == {0, 2}
    assert (jobs[:, 1:] == rows[:, 1:]).all()
    sign = np.repeat([1, -1], 150)
    numbers = steps.change(rows, np.ones(300, int), sign, rng.random(300))
    assert numbers[:, 1].tolist() == [9] * 150 + [6] * 150
    drawn = weighted_choice(np.repeat([[1.0], [0.0], [3.0]], 4000, axis=1), rng.random(4000))
    assert set(drawn) == {0, 2}
    assert (drawn == 2).mean() == pytest.approx(0.75, abs=0.03)


def test_a_walk_is_one_change_after_the_other():
    space = FeatureSpace.from_domains(
        {"job": list("uvw"), "n": (0, 9), "m": (0, 3), "sex": [0, 1]}, protected="sex"
    )
    steps, rng = Steps(space), np.random.default_rng(0)
    x, which = space.sample(7, rng), rng.integers(3, size=(20, 7))
    sign, u = rng.choice([-1, 1], (20, 7)), rng.random((20, 7))
    for y, *how in zip(steps.walk(x, which, sign, u), which, sign, u, strict=True):
        moved = steps.change(x, *how)
        assert (y == moved).all()
        assert ((y != x).sum(axis=1) <= 1).all()
        assert ((y >= 0) & (y <= [2, 9, 3, 1])).all()
        x = moved


def walks(mode, batch_size, next_state="walk"):
    space = FeatureSpace.from_domains({"a": (0, 99), "b": (0, 99), "sex": [0, 1]}, protected="sex")
    model = lambda X: (X["b"] // 2 % 2 == 0) & (X["a"] > 20) & (X["sex"] == 1)  # noqa: E731
    search = Aequitas(mode=mode, batch_size=batch_size, next_state=next_state, n_seeds=40)
    search.set_params(n_local=50, max_tests=None, random_state=0)
    result = search.fit(space, model=model).result_
    return result.n_tested, result.findings.original.to_numpy().tolist()


def test_batches_of_walks_change_nothing_where_nothing_is_learned_or_answers_lead():
    assert walks("random", 1) == walks("random", 70) == walks("random", 10_000)
    assert walks("fully", 1) != walks("fully", 10_000)
    assert walks("fully", 1, "metropolis") == walks("fully", 10_000, "metropolis")


def test_steps_taken_ahead_of_their_tests_change_nothing(monkeypatch):
    X = people()
    X["age"] = np.arange(len(X)) % 3
    model = linear(X.drop(columns="age").assign(sex=X["sex"] + X["age"]), gap=3)
    asked = lambda A: model.decision_function(A[["a", "b"]].assign(sex=A["sex"] + A["age"]))  # noqa: E731

    class Model:
        classes_ = np.array([False, True])
        decision_function = staticmethod(asked)

    settings = {"protected": ["sex", "age"], "n_seeds": 20, "n_local": 40, "random_state": 0}
    whole = ADF(**settings, max_tests=None).fit(X, model=Model()).result_
    few = ADF(**settings, max_tests=whole.n_tested // 2).fit(X, model=Model()).result_
    monkeypatch.setattr(_gradient_walk, "_AT_ONCE", 1)
    one = ADF(**settings, max_tests=None).fit(X, model=Model()).result_
    assert one.to_frame().equals(whole.to_frame())
    assert (one.n_tested, one.n_queries) == (whole.n_tested, whole.n_queries)
    assert few.n_tested == whole.n_tested // 2
    first = few.findings.original
    assert first.equals(whole.findings.original.iloc[: len(first)])


@pytest.mark.parametrize("columns", [["b", "sex"], ["sex", "b", "a"]])
@pytest.mark.parametrize("town", [False, True])  # with words among the columns there is no array
@pytest.mark.parametrize("scaled", [False, True])
def test_slopes_belong_to_the_columns_that_the_model_has(columns, town, scaled):
    X = people()
    model = LogisticRegression()
    model = make_pipeline(StandardScaler(), model) if scaled else model
    model.fit(X[columns], X["b"] > 30)
    weights = model[-1].coef_[0] / model[0].scale_ if scaled else model.coef_[0]
    X, immutable = (X.assign(town="Bonn"), ["town"]) if town else (X, [])
    space = FeatureSpace.from_frame(X, protected=["sex"], immutable=immutable)
    margins = margins_of(model, X, space=space)[0]
    slopes = margins.slopes(np.array([[10, 20, 0, 0][: 3 + town]]), revive=False)
    weight = dict(zip(columns, weights, strict=True))
    np.testing.assert_allclose(slopes.change, [[weight.get("a", 0.0), weight["b"]]])


@pytest.mark.parametrize("limit", [{"max_found": 150}, {"max_queries": 7000}])
def test_looking_ahead_costs_little_where_a_limit_ends_the_search(limit, monkeypatch):
    """Steps are drawn before they are tested; those that a limit leaves untested are lost."""
    X, how = people(), {"protected": "sex", "gradient": "difference", "random_state": 0}
    search = ADF(n_seeds=50, max_tests=None, **how, **limit)
    ahead = search.fit(X, model=linear(X)).result_
    monkeypatch.setattr(_gradient_walk, "_AT_ONCE", 0)
    one_by_one = search.fit(X, model=linear(X)).result_
    assert ahead.stopped_by == one_by_one.stopped_by == next(iter(limit))
    assert ahead.n_found >= 0.9 * one_by_one.n_found > 100
    assert ahead.n_queries <= 1.1 * one_by_one.n_queries
