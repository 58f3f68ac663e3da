"""SG: its questions, its surrogates, and what it finds."""

import math

import pytest
from searches import (
    Loan,
    applicants,
)
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from skdisc import FeatureSpace, Limits
from skdisc.individual import KOSEI, SG
from skdisc.individual._search import _seeds
from skdisc.individual._sg import _queue

pytestmark = pytest.mark.usefixtures("nothing_repeated")


@pytest.mark.statistics
def test_sg_finds_more_than_chance_within_its_tests(monkeypatch):
    monkeypatch.setattr(_queue, "_SMALLEST", 8)
    X = applicants()
    rates = {}
    for name, search in {
        "sg": SG(protected="sex", limits=Limits(tests=300), n_seeds=20, random_state=0),
        "one by one": SG(
            protected="sex", limits=Limits(tests=120), n_seeds=20, surrogate="instance",
            n_samples=300, random_state=0,
        ),
        "chance": KOSEI(
            protected="sex", seeds="uniform", n_local=0, limits=Limits(tests=300), random_state=0
        ),
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

    search = SG(protected="sex", limits=Limits(tests=4000), n_samples=100, random_state=0)
    largest = []
    for most in (_queue._MOST, 80):
        monkeypatch.setattr(_queue, "_MOST", most)
        search.fit(applicants(), model=Listening())
        asked = [n for n in sizes if n != 100]  # not those of the tree
        assert sum(asked) == 2 * search.result_.n_tested
        largest.append(max(asked))
        sizes.clear()
    assert largest[0] > 160 >= largest[1] > 128


def test_sg_with_a_surrogate_of_ones_own():
    X, asked = applicants(), []

    def surrogate(samples, decided, explained):
        asked.append((samples.shape, set(decided.tolist()), explained.shape[1]))
        return DecisionTreeClassifier(max_depth=3).fit(samples[:, [0, 1, 2]], decided)

    search = SG(
        protected="sex",
        surrogate=surrogate,
        n_samples=200,
        limits=Limits(tests=100),
        random_state=0,
    )
    assert search.fit(X, model=Loan()).result_.n_found > 0
    with pytest.raises(AttributeError, match="tree_"):
        search.set_params(surrogate=lambda *given: None or LogisticRegression()).fit(
            X, model=Loan()
        )
    assert asked[0] == ((200, 4), {0, 1}, 4)


def test_sg_goes_on_from_every_case_of_a_leaf():
    """One condition, a <= 19: all that is to be found is found, from both of its sides."""
    space = FeatureSpace.from_domains({"a": (0, 39), "b": (0, 9), "sex": [0, 1]}, protected="sex")
    model = lambda X: X["a"] + (X["sex"] == 1) > 19  # noqa: E731
    result = (
        SG(n_seeds=200, limits=Limits(tests=math.inf), random_state=0)
        .fit(space, model=model)
        .result_
    )
    assert result.n_found == 10  # a = 19, and any b
    small = (
        SG(n_seeds=200, limits=Limits(queries=100), random_state=0).fit(space, model=model).result_
    )
    assert small.n_queries <= 100
    assert small.n_tested > 30  # a tree takes a quarter of the questions at most


def test_sg_asks_about_no_sample_twice(monkeypatch):
    monkeypatch.setattr(_queue, "_SMALLEST", 4)
    domains = {"a": (0, 9), "b": (0, 9), "sex": ["F", "M"]}
    space = FeatureSpace.from_domains(domains, protected="sex")
    model = lambda X: (X["a"] + X["b"] > 9) ^ ((X["sex"] == "M") & (X["a"] == 3))  # noqa: E731
    search = SG(n_samples=200, surrogate="instance", random_state=0)
    assert search.fit(space, model=model).result_.n_queries <= 2 * 200  # tests, and samples


def test_sg_with_more_clusters_than_rows_to_learn_them_from(monkeypatch):
    monkeypatch.setattr(_seeds, "_MOST_LEARNED", 10)
    search = SG(protected="sex", n_clusters=12, limits=Limits(tests=40), random_state=0)
    assert search.fit(applicants(), model=Loan()).result_.n_tested == 40


def test_sg_begins_with_small_questions_for_every_protected_column():
    X = applicants().assign(race=lambda frame: frame["a"] % 2)
    sizes = []

    def rule(frame):
        sizes.append(len(frame))
        return frame["a"] + 4 * frame["sex"] > 20

    settings = {"scope": "each", "limits": Limits(tests=4000), "n_samples": 7, "random_state": 0}
    SG(protected=["sex", "race"], n_seeds=5000, **settings).fit(X, model=rule)
    first = [at for at, n in enumerate(sizes) if n == 128]  # 64 inputs, two values each
    assert first[0] == 0
    assert max(first) > len(sizes) // 3  # so begins the second column, too
