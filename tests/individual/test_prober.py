"""How variants are made and asked, and what is said about the rows of X."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdisc import FeatureSpace
from skdisc._blackbox._default_models import default_model
from skdisc._task._task import People, Task
from skdisc.individual import KOSEI, Themis
from skdisc.individual._prober import Prober, small_dtype

pytestmark = pytest.mark.usefixtures("nothing_repeated")


class Asked:
    """A callable that keeps the frames it is asked about."""

    def __init__(self, decide):
        self.decide, self.frames = decide, []

    def __call__(self, X):
        self.frames.append(X)
        return self.decide(X)


class Asks:
    """As much of a task as a Prober needs."""

    X = budget = None

    def __init__(self, sizes, output):
        names = [f"p{i}" for i in range(len(sizes))]
        domains = {n: list("abcdef"[:size]) for n, size in zip(names, sizes, strict=True)}
        self.space = FeatureSpace.from_domains({"x": (0, 9), **domains}, protected=names)
        self.queries = type("Queries", (), {"output": output})


@given(
    sizes=st.lists(st.integers(2, 4), min_size=1, max_size=3),
    output=st.sampled_from(["decision", "probability"]),
    seed=st.integers(0, 99),
)
def test_the_couple_shown_is_the_closest_or_the_widest(sizes, output, seed):
    prober = Prober(Asks(sizes, output), 0.0)
    outcomes = np.random.default_rng(seed).random((20, prober.n_combos))
    if output == "decision":
        outcomes = np.round(outcomes)
        outcomes = outcomes[prober.is_case(outcomes)]
    low, high = prober.couples(outcomes)
    for row, a, b in zip(outcomes, low, high, strict=True):
        if output == "probability":
            assert row[b] - row[a] == np.ptp(row)
            continue
        couples = [(i, j) for i in np.flatnonzero(row == 0) for j in np.flatnonzero(row == 1)]
        changed = [int((prober.combos[i] != prober.combos[j]).sum()) for i, j in couples]
        assert (a, b) == couples[int(np.argmin(changed))]  # the first of the closest


def test_thousands_of_combinations_fit_in_memory():
    domains = {"n": (0, 3), **{f"p{i}": list(range(15)) for i in range(3)}}
    domains |= {"sex": ["F", "M"]}
    space = FeatureSpace.from_domains(domains, protected=["p0", "p1", "p2", "sex"])
    search = KOSEI(seeds="uniform", n_seeds=50, random_state=0)
    result = search.fit(space, model=lambda X: X["sex"] == "M").result_
    assert (result.n_tested, result.n_queries) == (4, 4 * 6750)
    assert all(result[i].subject.changed == ("sex",) for i in range(4))


def test_every_column_protected_leaves_one_input():
    X = pd.DataFrame({"sex": ["F", "M"] * 10, "old": [True, False, False, True] * 5})
    detector = Themis(protected=["sex", "old"], random_state=0)
    result = detector.fit(X, model=lambda X: X["old"]).result_
    assert (result.n_tested, result.n_found, result.n_queries) == (1, 1, 4)
    assert detector.score(X) == 1
    assert detector.audit(X).n_tested == 1


def people(n=200, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"n": rng.integers(0, 100, n), "sex": rng.choice(["F", "M"], n)})


def loan(X):
    return X["n"].to_numpy() + 10 * (X["sex"] == "M").to_numpy() > 50


def test_rows_are_asked_once_also_where_they_are_a_variant():
    X = pd.concat([people(), people()], ignore_index=True)
    model = Asked(loan)
    result = Themis(protected="sex", random_state=0).fit(X, model=loan).audit(X)
    detector = Themis(protected="sex", random_state=0).fit(X, model=model)
    model.frames.clear()
    assert detector.audit(X) == result
    asked = pd.concat(model.frames)
    assert len(asked.drop_duplicates()) == len(asked) == result.n_queries
    assert result.n_tested == X["n"].nunique()
    inside = X["n"].between(41, 50)
    assert (len(result), result.n_found) == (inside.sum(), X["n"][inside].nunique())


def test_numbers_of_values_change_neither_outcomes_nor_questions():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["F", "M", None], 60), "age": rng.integers(0, 5, 60)})
    X["town"] = pd.Series(rng.choice(["u", "v", None], 60), dtype=object)
    X["level"] = pd.Categorical(rng.choice(["low", "high"], 60), ["low", "high"], ordered=True)

    def decide(rows):
        return (rows["sex"] == "M") & (rows["age"] > 2) | (rows["town"] == "v")

    asked = Asked(decide)
    themis = Themis(protected="sex", random_state=0).fit(X, model=asked)
    found = []
    for numbered in (None, People(X).numbered):
        asked.frames.clear()
        task = Task.open(themis, People(X))
        own, outcomes = Prober(task, 0.0).rows(X, numbered)
        assert own.tolist() == decide(X).tolist()
        for combo, of_combo in zip(["F", "M", None], outcomes.T, strict=True):
            assert of_combo.tolist() == decide(X.assign(sex=combo)).tolist()
        assert task.budget.queries == len(X.drop(columns="sex").drop_duplicates()) * 3
        assert all(frame.dtypes.equals(X.dtypes) for frame in asked.frames)
        found.append(pd.concat(asked.frames))
    pd.testing.assert_frame_equal(*found)


def test_fewer_categories_at_audit_do_not_hide_the_other_group():
    X = people().astype({"sex": "category"})
    detector = Themis(protected="sex", random_state=0).fit(X, model=loan)
    women = people()[lambda X: X["sex"] == "F"].astype({"sex": "category"})
    assert women["sex"].cat.categories.tolist() == ["F"]
    result = detector.audit(women)
    assert len(result) == int(women["n"].between(41, 50).sum())
    assert set(result.findings.altered["sex"]) == {"M"}


@pytest.mark.parametrize("dtype", [int, "Int64", float])
def test_whole_numbers_at_audit_meet_missing_and_broken_ones_from_fit(dtype):
    X = pd.DataFrame({"n": range(8), "age": [20.5, 30.5, np.nan, 40.0] * 2})
    model = Asked(lambda X: X["age"].astype(float) < 35)
    detector = Themis(protected="age", random_state=0).fit(X, model=model)
    model.frames.clear()
    new = pd.DataFrame({"n": [3, 4], "age": [40, 41]}).astype({"age": dtype})
    result = detector.audit(new)
    assert len(result) == 2
    assert result.findings.original["age"].tolist() == [40, 41]
    tried = pd.concat(model.frames)["age"].astype(float)
    assert {20.5, 40.0, 41.0} < set(tried)  # 30.5 is moved to the nearest hundredth of the range
    assert tried.isna().any()


def test_rows_keep_protected_values_that_the_space_does_not_know():
    model = Asked(lambda X: X["sex"] != "M")
    detector = Themis(protected="sex", random_state=0).fit(people(), model=model)
    model.frames.clear()
    new = pd.DataFrame({"n": [1, 2], "sex": ["X", "F"]})
    result = detector.audit(new)
    assert set(pd.concat(model.frames)["sex"]) == {"F", "M", "X"}
    assert result.findings.original["sex"].tolist() == ["X", "F"]
    assert result.findings.altered["sex"].tolist() == ["M", "M"]


def test_a_row_is_compared_with_the_closest_variant_decided_otherwise():
    rng = np.random.default_rng(0)
    columns = {c: rng.choice(list("abc"), 300) for c in ("u", "v")}
    X = pd.DataFrame({"n": rng.integers(0, 5, 300), **columns})
    table = {k: rng.random() < 0.5 for k in set(map(tuple, X.to_numpy()))}
    model = lambda X: [table.get(tuple(r), False) for r in X.to_numpy()]  # noqa: E731
    result = Themis(protected=["u", "v"], random_state=0).fit(X, model=model).audit(X)
    variants = [(u, v) for u in "abc" for v in "abc"]
    for i in range(len(result)):
        case = result[i].subject
        n, u, v = case.original.values()
        other = [a for a in variants if table.get((n, *a), False) != table[n, u, v]]
        fewest = min((a != u) + (b != v) for a, b in other)
        assert len(case.changed) == fewest
        assert case.outcome != case.altered_outcome


def test_probabilities_show_the_widest_gap_of_a_row():
    X = pd.DataFrame({"n": [1, 2, 3] * 4, "group": ["a", "b", "c"] * 4})
    level = {"a": 0.1, "b": 0.2, "c": 0.9}
    model = lambda X: X["group"].map(level).to_numpy(float)  # noqa: E731
    detector = Themis(protected="group", output="probability", min_gap=0.1, random_state=0)
    result = detector.fit(X, model=model).audit(X)
    assert set(result.findings.altered["group"][result.findings.original["group"] == "b"]) == {"c"}
    assert result.findings.table["effect"].abs().min() == pytest.approx(0.7)


@pytest.mark.parametrize("limit", [0, 2, 3, 50, 10_000])
def test_an_audit_asks_no_more_rows_than_allowed(limit):
    X = people()
    detector = Themis(protected="sex", random_state=0).fit(X, model=loan)
    result = detector.set_params(limits__queries=limit).audit(X)
    assert result.n_queries <= limit
    assert result.estimates["n"][0] == min(limit // 3, 200)
    assert result.stopped_by == ("queries" if limit < 600 else None)
    assert np.isnan(detector.score(X)) == (limit < 3)


def test_an_audit_looks_at_the_clock():
    X = people()
    detector = Themis(protected="sex", random_state=0).fit(X, model=loan)
    result = detector.set_params(limits__seconds=0).audit(X)
    assert (result.n_queries, result.stopped_by) == (0, "seconds")
    assert result.verdict == "insufficient evidence"


def test_weights_of_score_belong_to_rows():
    X = people()
    detector = Themis(protected="sex", random_state=0).fit(X, model=loan)
    truth = X["n"].between(41, 50).to_numpy()
    assert detector.score(X, sample_weight=truth + 0.0) == 1
    assert detector.score(X, sample_weight=~truth + 0.0) == 0


def blind(result):
    return any("does not use the protected columns" in note for note in result.notes)


@pytest.mark.parametrize("detector", [Themis(protected="sex"), KOSEI(protected="sex")])
def test_a_model_that_was_fitted_here_and_ignores_protected_columns_is_called_blind(detector):
    X = people()
    y = X["n"] > 50
    tree = default_model("tree")
    detector.set_params(random_state=0)
    assert blind(detector.fit(X, y).result_)
    assert blind(detector.fit(X, y, tree).result_)
    assert not blind(detector.fit(X, y, tree.fit(X, y)).result_)  # that is the user's own
    assert blind(detector.set_params(output="probability").fit(X, y).result_)
    detector.set_params(output="decision", limits__queries=41)
    short = detector.fit(X, y).result_
    assert blind(short)
    assert short.n_queries <= 41
    assert not blind(detector.set_params(limits__queries=0).fit(X, y).result_)
    detector.set_params(limits__queries=math.inf)


def test_a_model_whose_probabilities_change_is_not_blind():
    X = people(2000)
    rng = np.random.default_rng(1)
    y = X["n"] + 3 * (X["sex"] == "M") + rng.normal(0, 5, 2000) > -60
    y[:5] = False
    result = Themis(protected="sex", random_state=0).fit(X, y, default_model("logistic")).result_
    assert result.n_found == 0
    assert not blind(result)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([-1.0] * 20, "finite and >= 0; got -1.0"),
        ([np.nan] * 20, "finite and >= 0; got nan"),
        ([0.0] * 20, "zero for every row"),
        ([1.0, 2.0], "2 values for 20 rows"),
        (["a"] * 20, "must be numbers"),
    ],
)
def test_weights_of_rows_are_checked(weight, message):
    X = pd.DataFrame({"n": np.arange(20), "sex": ["F", "M"] * 10})
    model = lambda X: X["n"] + 5 * (X["sex"] == "M") > 10  # noqa: E731
    detector = Themis(protected="sex", random_state=0).fit(X, model=model)
    with pytest.raises(ValueError, match=f"sample_weight.*{message}"):
        detector.score(X, sample_weight=weight)


@pytest.mark.parametrize(("size", "dtype"), [(2, np.int8), (128, np.int8), (129, np.int16)])
def test_the_smallest_dtype_holds_every_code(size, dtype):
    space = FeatureSpace.from_domains({"a": (1, size), "sex": ["F", "M"]}, protected="sex")
    assert small_dtype(space) == dtype
    assert np.iinfo(dtype).max >= size - 1
