"""ExactTree against exhaustive enumeration, and as the oracle of the searches."""

import functools
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, PolynomialFeatures, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from skdisc import BlackBox, FeatureSpace, Limits
from skdisc._blackbox._gradient import last_step
from skdisc._blackbox._queries import Queries
from skdisc._task._budget import Budget
from skdisc.individual import ExactTree
from skdisc.individual._prevalence import _exact_tree, _exact_tree_slab
from skdisc.individual._prevalence import _exact_tree as module
from skdisc.individual._prevalence._exact_tree_regions import tree_regions
from skdisc.individual._prevalence._exact_tree_slab import slab_share
from skdisc.individual._prevalence._model_structure import read_inputs, trees_of

WORDS = ["sex", "race", "job"]
MODELS = {
    "tree": DecisionTreeClassifier(random_state=0),
    "shallow": DecisionTreeClassifier(max_depth=4, random_state=0),
    "forest": RandomForestClassifier(5, max_depth=5, random_state=0),
    "extra": ExtraTreesClassifier(3, max_depth=4, random_state=0),
    "logistic": LogisticRegression(),
    "ridge": RidgeClassifier(),
    "svm": LinearSVC(),
    "bayes": GaussianNB(),
}
CODERS = {"one-hot": OneHotEncoder(sparse_output=False), "ordinal": OrdinalEncoder()}


def people(seed=0, n=300):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "a": rng.integers(0, 12, n),
            "sex": rng.choice(["F", "M"], n),
            "job": rng.choice(list("uvwxy"), n),
            "b": rng.integers(0, 8, n) / 4,
            "race": rng.choice(list("pqr"), n),
        }
    )
    z = X["a"] / 4 + X["b"] + (X["sex"] == "M") + 0.7 * (X["race"] == "p") + (X["job"] == "w")
    return X, np.where(z + rng.normal(0, 0.7, n) > z.median(), "yes", "no")


def fitted(model, coder, seed=0):
    X, y = people(seed)
    columns = make_column_transformer((CODERS[coder], WORDS), remainder=StandardScaler())
    return X, y, make_pipeline(columns, MODELS[model]).fit(X, y)


def enumerate_cases(space, model):
    """Return which inputs are discriminatory, by asking about every row of the space."""
    sizes = [c.size for c in space.columns]
    rows = np.indices(sizes).reshape(len(sizes), -1).T
    decided = (model.predict(space.decode(rows)) == "yes").reshape(sizes)
    axes = tuple(int(j) for j in space.p_index)
    return decided.any(axis=axes) & ~decided.all(axis=axes)


@pytest.fixture
def reads(monkeypatch):
    """Make the space too large to be tried, so that models are read."""
    monkeypatch.setattr(module, "_SMALL", 1)


@pytest.mark.parametrize("coder", CODERS)
@pytest.mark.parametrize("model", MODELS)
def test_the_share_is_that_of_an_enumeration_and_every_part_is_a_case(reads, model, coder):
    X, y, pipe = fitted(model, coder)
    search = ExactTree(protected=["sex", "race"], pos_label="yes", random_state=0)
    detector = search.fit(X, y, pipe)
    truth = enumerate_cases(detector.space_, pipe)
    row = detector.result_.estimates.iloc[-1]
    assert row["name"] == "share of all inputs"
    assert (row["estimate"], row["n"]) == (pytest.approx(truth.mean()), truth.size)
    assert row["ci_high"] - row["ci_low"] < 1e-12
    assert detector.result_.notes == []  # nothing was read wrongly, and nothing left unread
    found = detector.space_.encode(detector.result_.findings.original)
    assert truth[tuple(found[:, detector.space_.np_index].T)].all()
    if detector.result_.tables:
        parts = detector.result_.tables["parts"]
        assert parts["inputs"].sum() == truth.sum() > 0
        assert len(found) >= len(parts)
        assert parts["inputs"].is_monotonic_decreasing


@given(seed=st.integers(0, 1000), depth=st.integers(1, 9), both=st.booleans())
@settings(max_examples=25)
def test_parts_are_disjoint_and_cover_the_cases_exactly(seed, depth, both):
    X, y = people(seed)
    model = make_pipeline(
        make_column_transformer((OrdinalEncoder(), WORDS), remainder="passthrough"),
        DecisionTreeClassifier(max_depth=depth, random_state=seed),
    ).fit(X, y)
    protected = ["sex", "race"] if both else ["race"]
    space = FeatureSpace.from_frame(X, protected=protected)
    before, last = last_step(model)
    queries = Queries(BlackBox(model), ["yes"], space, Budget())
    inputs = read_inputs(before, queries, space)
    favorable = last.classes_ == "yes"
    given_ = favorable, inputs, space.combos(), space
    regions = tree_regions(trees_of(last), *given_, 10**6, lambda: True)
    covered = np.zeros([space.columns[j].size for j in space.np_index], dtype=int)
    for i in range(len(regions.sizes)):
        covered[np.ix_(*[regions.allowed[j][i] for j in space.np_index])] += 1

    truth = enumerate_cases(space, model)
    assert covered.max(initial=0) <= 1
    assert ((covered == 1) == truth).all()


def test_small_spaces_are_tried_completely():
    X, y, pipe = fitted("tree", "one-hot")
    search = ExactTree(protected=["sex", "race"], pos_label="yes")
    detector = search.fit(X, y, lambda A: pipe.predict(A))
    truth = enumerate_cases(detector.space_, pipe)
    result = detector.result_
    assert (result.n_tested, result.n_found) == (truth.size, truth.sum())
    assert result.estimates["estimate"].iloc[-1] == truth.mean()
    assert result.stopped_by is None
    assert result.notes == []


def test_what_cannot_be_read_is_tried_and_said(reads):
    X, y = people()
    mixed = make_pipeline(
        make_column_transformer((OrdinalEncoder(), WORDS), remainder="passthrough"),
        PolynomialFeatures(2),
        LogisticRegression(max_iter=5000),
    )
    numbers = make_column_transformer((OrdinalEncoder(), WORDS), remainder="passthrough")
    three = make_pipeline(numbers, LogisticRegression(max_iter=5000))
    for model, labels in ((mixed, y), (three, np.where(X["b"] > 1, "other", y))):
        detector = ExactTree(
            protected=["sex"], limits=Limits(tests=200), random_state=0, pos_label="yes"
        )
        result = detector.fit(X, labels, model.fit(X, labels)).result_
        assert (result.n_tested, result.stopped_by) == (200, "tests")
        assert result.estimates["name"].tolist() == ["share of people with a case"]
        assert any("could not be read" in note for note in result.notes)


def test_a_forest_that_needs_too_many_parts_is_not_read(reads, monkeypatch):
    monkeypatch.setattr(_exact_tree, "_MOST_PARTS", 50)
    X, y, pipe = fitted("forest", "ordinal")
    search = ExactTree(protected="sex", limits=Limits(tests=100), pos_label="yes", random_state=0)
    assert any("could not be read" in n for n in search.fit(X, y, pipe).result_.notes)


def test_reading_a_forest_ends_with_half_of_the_time(reads, monkeypatch):
    """The clock ticks at every look; the forest would need 10**5 of them."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((1000, 6)), columns=list("uvwxyz")).assign(sex=np.arange(1000) % 2)
    y = X.sum(axis=1) + rng.normal(0, 0.5, 1000) > 3.5
    forest = RandomForestClassifier(30, random_state=0).fit(X, y)
    ticks = iter(range(10**9))
    monkeypatch.setattr(Budget, "has_spent", lambda self, share: next(ticks) > 40 * share)
    monkeypatch.setattr(_exact_tree, "_MOST_PARTS", 10**9)
    search = ExactTree(protected="sex", limits=Limits(seconds=40), random_state=0)
    result = search.fit(X, y, forest).result_
    assert any("could not be read" in note for note in result.notes)
    assert result.n_tested > 0


def test_a_model_read_wrongly_is_noticed(reads):
    """A tree that answers otherwise than its own nodes do."""

    class Contrary(DecisionTreeClassifier):
        def predict(self, X):
            return 1 - super().predict(X) * (np.asarray(X)[:, 0] > 5)

    X = pd.DataFrame({"n": np.tile(np.arange(12), 20), "sex": np.repeat([0, 1], 120)})
    y = (X["n"] + 3 * X["sex"] > 6).astype(int)
    result = ExactTree(protected="sex", random_state=0).fit(X, y, Contrary().fit(X, y)).result_
    assert any(note.startswith("The model was read wrongly") for note in result.notes)


def test_multi_class_trees_and_sets_of_favorable_labels(reads):
    X, y = people()
    labels = np.where(X["b"] > 1.2, "other", y)
    numbers = make_column_transformer((OrdinalEncoder(), WORDS), remainder="passthrough")
    pipe = make_pipeline(numbers, DecisionTreeClassifier(random_state=0)).fit(X, labels)
    detector = ExactTree(protected="sex", pos_label=["yes", "other"], random_state=0)
    result = detector.fit(X, labels, pipe).result_
    space = detector.space_
    sizes = [c.size for c in space.columns]
    rows = np.indices(sizes).reshape(len(sizes), -1).T
    decided = (pipe.predict(space.decode(rows)) != "no").reshape(sizes)
    assert result.estimates["estimate"].iloc[-1] == pytest.approx(
        np.ptp(decided * 1, axis=1).mean()
    )


@pytest.mark.slow
def test_large_linear_spaces_are_convolved_within_bounds():
    """Twelve columns of 101 steps: the share of a slab of a sum of uniforms, against draws."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((500, 12)), columns=list("abcdefghijkl")).assign(
        sex=rng.integers(0, 2, 500)
    )
    w = np.arange(1, 13) / 10
    y = (X[list("abcdefghijkl")] @ w + X["sex"] > w.sum() / 2).astype(int)
    model = LogisticRegression().fit(X, y)
    detector = ExactTree(protected="sex", random_state=0, limits=Limits(tests=3000)).fit(
        X, y, model
    )
    row = detector.result_.estimates.iloc[-1]
    many = detector.space_.sample(200_000, rng)
    frame = detector.space_.decode(many)
    hit = model.predict(frame.assign(sex=0)) != model.predict(frame.assign(sex=1))
    assert row["estimate"] == pytest.approx(hit.mean(), abs=4 * np.sqrt(0.25 / 200_000))
    assert 0 < row["ci_high"] - row["ci_low"] < 2e-3
    assert detector.result_.n_found > 1000


@pytest.mark.parametrize("at_once", [1, 1000, 10**6])
def test_bounds_of_a_slab_hold_its_share_however_sums_are_made(at_once, monkeypatch):
    rng = np.random.default_rng(1)
    monkeypatch.setattr(_exact_tree_slab, "_PAIRS", at_once)
    for sizes in ([3, 40, 50], [7, 1, 60, 30], [5], []):
        combos = np.array([[0], [1], [2]])
        space = SimpleNamespace(
            p_index=[0], np_index=range(1, 1 + len(sizes)), combos=lambda c=combos: c
        )
        parts = [np.array([-0.2, 0.4, 0.1]), *(rng.normal(size=n) for n in sizes)]
        low, high, ends = slab_share(-0.3, parts, space)
        total = functools.reduce(np.add.outer, parts[1:], np.zeros(1)).ravel()
        share = np.mean((total > ends[0]) & (total <= ends[1]))
        assert low - 1e-9 <= share <= high + 1e-9
        assert high - low < 1e-3


def test_linear_models_of_columns_with_very_many_values():
    """Sums over two columns times the 100,000 values of a third would take 49 GiB."""
    rng = np.random.default_rng(0)
    most = {"months": 300, "points": 300, "pay": 100_000}
    X = pd.DataFrame({name: rng.integers(0, n, 400) for name, n in most.items()})
    X["sex"] = rng.integers(0, 2, 400)
    score = sum(X[name] / n for name, n in most.items()) + 0.3 * X["sex"]
    pipe = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, score > score.median())
    detector = ExactTree(protected="sex", pos_label=True, random_state=0, limits=Limits(tests=2000))
    row = detector.fit(X, score > 1.5, pipe).result_.estimates.iloc[-1]
    many = detector.space_.decode(detector.space_.sample(100_000, rng))
    hit = pipe.predict(many.assign(sex=0)) != pipe.predict(many.assign(sex=1))
    assert row["estimate"] == pytest.approx(hit.mean(), abs=4 * np.sqrt(0.25 / 100_000))
    assert 0 < row["ci_high"] - row["ci_low"] < 1e-3


def test_a_fair_tree_has_no_part_and_the_verdict_says_so(reads):
    X, y, _ = fitted("tree", "ordinal")
    numbers = make_column_transformer((OrdinalEncoder(), ["job"]), ("passthrough", ["a", "b"]))
    fair = make_pipeline(numbers, DecisionTreeClassifier(random_state=0)).fit(X, y)
    detector = ExactTree(protected=["sex", "race"], pos_label="yes", random_state=0)
    result = detector.fit(X, y, fair).result_
    assert result.estimates["estimate"].tolist() == [0, 0]
    assert (result.n_found, result.verdict) == (0, "no disparity found")
    assert result.n_tested > 0


@pytest.mark.slow
def test_regressors_and_missing_values_are_no_stumbling_block():
    X, y = people()
    X["b"] = X["b"].where(X["b"] > 0.3)
    detector = ExactTree(
        protected="sex", limits=Limits(tests=50), pos_label="yes", random_state=0
    ).fit(X, y)
    assert detector.audited_ == "surrogate"
    assert detector.result_.n_tested > 0
    numbers = pd.DataFrame({"a": np.arange(20.0), "sex": [0, 1] * 10})
    line = LinearRegression().fit(numbers, numbers["a"] + 5 * numbers["sex"])
    threshold = lambda A: line.predict(A) > 9  # noqa: E731
    result = ExactTree(protected="sex").fit(numbers, model=threshold).result_
    assert result.n_found == 5


@pytest.mark.statistics
def test_the_share_on_census_agrees_with_draws(load, reads):
    frame = load("adf/census")
    X, y = frame.drop(columns="n"), frame["n"]
    model = DecisionTreeClassifier(max_depth=12, random_state=0).fit(X, y)
    detector = ExactTree(protected="i", random_state=0, limits=Limits(tests=2000)).fit(X, y, model)
    share = detector.result_.estimates["estimate"].iloc[-1]
    rows = detector.space_.decode(detector.space_.sample(100_000, np.random.default_rng(0)))
    hit = model.predict(rows.assign(i=0)) != model.predict(rows.assign(i=1))
    assert share == pytest.approx(hit.mean(), abs=4 * np.sqrt(hit.mean() / 1e5))


@pytest.mark.parametrize("name", ["tree", "none"])
def test_a_table_may_have_more_inputs_than_the_largest_float(name):
    """201 numbers in 100 bins make 1e402 inputs; columns that no tree reads change no share."""
    rng = np.random.default_rng(0)
    few = pd.DataFrame({"sex": rng.integers(0, 2, 300), "a": rng.normal(size=300)})
    more = pd.DataFrame(rng.normal(size=(300, 200))).add_prefix("c")
    y = ((few["a"] > 0.3) & (few["sex"] == 1)).astype(int)
    tree = DecisionTreeClassifier(random_state=0).fit(few, y)

    def of_tree(rows):
        return tree.predict(rows[["sex", "a"]])

    wide = few.join(more)
    how = {"protected": "sex", "pos_label": 1, "random_state": 0, "limits": Limits(tests=200)}
    if name == "none":
        result = ExactTree(**how).fit(wide, None, of_tree).result_
        assert "200 of about 1e+402 inputs were tested" in " ".join(result.notes)
        return
    same = DecisionTreeClassifier(random_state=0).fit(wide, y)
    assert set(same.tree_.feature) <= {-2, 0, 1}
    one, other = (
        ExactTree(**how).fit(X, None, model).result_ for X, model in ((few, tree), (wide, same))
    )
    shares = [
        r.estimates.set_index("name").loc["share of all inputs", "estimate"] for r in (one, other)
    ]
    assert shares[0] == pytest.approx(shares[1])
    assert shares[0] > 0
    parts = other.tables["parts"]
    assert parts["inputs"].isna().all()
    assert parts["share"].sum() == pytest.approx(shares[0])
