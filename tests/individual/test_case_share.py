"""The share of people with a case: against enumeration, and in worlds that try to fool it."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from searches import QUICK, every, quick
from sklearn.tree import DecisionTreeClassifier

from skdisc import BlackBox, FeatureSpace, Limits, Rule, _stats
from skdisc._task._task import People, Request, Task
from skdisc.individual import KOSEI, ExactTree, Themis, _case_share

pytestmark = pytest.mark.usefixtures("nothing_repeated")

FOUND, NOTHING, UNSURE = "disparity found", "no disparity found", "insufficient evidence"
PEOPLE = "share of people with a case"
INPUTS = "share of uniformly drawn inputs with a case"
PREVALENCE = {"Themis": Themis, "ExactTree": ExactTree}


def crowd(n, seed=0, values=100):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"points": rng.integers(0, values, n), "town": rng.choice(list("uvw"), n)})
    return X.assign(sex=rng.choice(["F", "M"], n), race=rng.choice(list("abc"), n))


def against(some):
    """Return a model that decides by points, and against women and race a among some people."""

    def decide(X):
        worse = (X["sex"] == "F") & (X["race"] != "a") | (X["race"] == "b")
        return (X["points"] > 10) & ~(worse & some(X))

    return decide


def with_case(X, decide, scope="joint"):
    """Return which people have a case, by all their variants."""
    own, changes = np.asarray(decide(X)), np.zeros(len(X), dtype=bool)
    for sex, race in product(["F", "M"], list("abc")):
        frames = [X.assign(sex=sex, race=race)]
        if scope == "each":
            frames = [X.assign(sex=sex), X.assign(race=race)]
        for frame in frames:
            changes |= np.asarray(decide(frame)) != own
    return changes


def fit(name, X, model, **more):
    settings = {
        "protected": ["sex", "race"],
        "random_state": 0,
        "limits": Limits(tests=1000),
        **more,
    }
    if name in PREVALENCE:
        return PREVALENCE[name](**settings).fit(X, model=model)
    return quick(name, **settings).fit(X, model=model)


def first(result):
    return result.estimates.iloc[0]


# Oracles


@pytest.mark.every(6)
@pytest.mark.parametrize("name", [*QUICK, "KOSEI", *PREVALENCE])
@pytest.mark.parametrize("share", [0, 0.005, 0.05])
def test_everyone_is_looked_at_by_all_variants(name, share):
    X = crowd(400)
    model = against(lambda X: X["points"] > 100 - 100 * share * 1.05)
    truth = with_case(X, model)
    result = fit(name, X, model).result_
    row = first(result)
    assert (row["name"], row["n"]) == (PEOPLE, 400)
    assert row[["estimate", "ci_low", "ci_high"]].tolist() == [truth.mean()] * 3
    assert result.verdict == (FOUND if truth.mean() > 0.01 else NOTHING)
    assert fit(name, X, model, rule=Rule(relevant_share=truth.mean())).result_.verdict == NOTHING


@pytest.mark.parametrize("name", [*QUICK, "KOSEI"])
def test_one_column_at_a_time(name):
    X = crowd(300)
    model = lambda X: (X["points"] > 50) ^ (X["sex"] == "F") ^ (X["race"] == "a")  # noqa: E731
    result = fit(name, X, model, scope="each").result_
    assert first(result)["estimate"] == with_case(X, model, "each").mean() == 1
    fair = fit(name, X, lambda X: X["points"] > 50, scope="each").result_
    assert (fair.verdict, "one at a time" in fair.reason) == (UNSURE, True)


@pytest.mark.slow
@given(seed=st.integers(0, 10_000), output=st.sampled_from(["decision", "probability"]))
@settings(max_examples=20)
def test_what_a_search_has_tested_is_known_without_being_asked_again(seed, output):
    rng = np.random.default_rng(seed)
    X = crowd(150, seed, values=6)
    table = np.round(rng.random((6, 3, 2, 3)), 1)
    codes = {"town": list("uvw"), "sex": ["F", "M"], "race": list("abc")}
    asked = []

    def chance(X):
        asked.append(X)
        at = [X["points"], *(X[c].map({v: i for i, v in enumerate(codes[c])}) for c in codes)]
        return table[tuple(np.asarray(a, dtype=int) for a in at)]

    model = chance if output == "probability" else lambda X: chance(X) > 0.7
    settings = {"output": output, "min_gap": 0.35 if output == "probability" else 0.0}
    search = KOSEI(protected=["sex", "race"], n_seeds=8, n_local=0, random_state=seed, **settings)
    result = search.fit(X, model=model).result_
    rows = pd.concat(asked)
    if output == "decision":
        assert not rows.duplicated().any()
        assert len(rows) == result.n_queries
    again = search.audit(X)
    assert first(result).equals(first(again))


def test_few_distinct_people_are_all_looked_at():
    X = pd.concat([crowd(100, values=5)] * 400, ignore_index=True)
    assert first(fit("KOSEI", X, lambda X: X["points"] > 2).result_)["n"] == 40_000


@pytest.mark.slow
def test_of_many_people_some_are_drawn_and_the_interval_knows_how_many_there_are(monkeypatch):
    monkeypatch.setattr(_case_share, "MOST_ROWS", 0)
    monkeypatch.setattr(_case_share, "FEWEST", 300)
    X = crowd(1000).assign(id=np.arange(1000))
    model = against(lambda X: X["id"] % 20 == 0)
    truth, inside = with_case(X, model).mean(), 0
    for seed in range(40):
        row = first(fit("KOSEI", X, model, random_state=seed, limits=Limits(tests=300)).result_)
        assert row["n"] == 300
        inside += row["ci_low"] <= truth <= row["ci_high"]
        hits = round(row["estimate"] * 300)
        exact = _stats.hypergeometric(hits, 300, 1000)
        assert row[["ci_low", "ci_high"]].tolist() == list(map(float, exact))
    assert inside >= 35


@given(n_all=st.integers(1, 60), data=st.data())
def test_the_interval_inverts_the_hypergeometric_tests(n_all, data):
    n = data.draw(st.integers(1, n_all))
    x = data.draw(st.integers(0, n))
    k = np.arange(x, n_all - (n - x) + 1)
    tails = np.array([stats.hypergeom.sf(x - 1, n_all, k, n), stats.hypergeom.cdf(x, n_all, k, n)])
    assume((np.abs(tails - 0.025) > 1e-9).all())  # else rounding decides, as of 1 of 40 people
    stays = (tails > 0.025).all(axis=0)
    expected = k[stays].min() / n_all, k[stays].max() / n_all
    assert _stats.hypergeometric(x, n, n_all) == pytest.approx(expected)


def test_for_a_large_population_it_is_that_of_clopper_and_pearson():
    near = _stats.hypergeometric(7, 200, 10**7)
    assert near == pytest.approx(_stats.clopper_pearson(7, 200), abs=1e-5)
    assert np.isnan(_stats.hypergeometric(0, 0, 5)).all()
    with pytest.raises(ValueError, match="x <= n <= N must hold"):
        _stats.hypergeometric(3, 2, 5)


# Spaces without people


@pytest.mark.parametrize("scope", ["joint", "each"])
def test_of_a_small_space_every_input_is_looked_at(scope):
    space = FeatureSpace.from_domains(
        {"n": (0, 19), "old": [None, True], "sex": ["F", "M"], "race": list("abc")},
        protected=["sex", "race"],
    )
    rows = space.decode(np.indices((20, 2, 2, 3)).reshape(4, -1).T - [[0, 1, 0, 0]])
    model = lambda X: (X["n"] > 9) & (X["sex"] == "M") & X["old"].isna()  # noqa: E731
    result = KOSEI(scope=scope, random_state=0).fit(space, model=model).result_
    assert first(result)["name"] == INPUTS
    truth = with_case(rows, model, scope).mean()
    assert first(result)[["estimate", "ci_low", "ci_high"]].tolist() == [truth] * 3 == [0.25] * 3
    assert result.verdict == FOUND


@pytest.mark.slow
def test_of_a_large_space_inputs_are_drawn():
    space = FeatureSpace.from_domains({"n": (0, 10**6), "sex": ["F", "M"]}, protected="sex")
    inside, fair = 0, lambda X: X["n"] > 500_000
    for seed in range(40):
        model = lambda X: (X["n"] < 50_000) & (X["sex"] == "M")  # noqa: E731
        row = first(KOSEI(random_state=seed, n_local=0).fit(space, model=model).result_)
        assert row["n"] == 10_000
        inside += row["ci_low"] <= 0.05 <= row["ci_high"]
    assert inside >= 35
    for detector in (KOSEI(random_state=0), Themis(random_state=0), ExactTree(random_state=0)):
        result = detector.fit(space, model=fair).result_
        assert (result.verdict, "of the inputs" in result.reason) == (NOTHING, True)


def test_the_exact_share_of_a_tree_is_judged_where_nobody_was_passed():
    space = FeatureSpace.from_domains(
        {"n": (0, 999), "m": (0, 999), "sex": [0, 1]}, protected="sex"
    )
    X = space.decode(space.sample(3000, np.random.default_rng(0)))
    X["m"] = 0
    y = (X["n"] > 500) | ((X["n"] > 460) & (X["sex"] == 1))
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    result = ExactTree(random_state=0).fit(space, model=tree).result_
    row = first(result)
    assert (row["name"], len(result.estimates), result.verdict) == ("share of all inputs", 1, FOUND)
    rows = pd.DataFrame({"n": np.arange(1000), "m": 0})
    truth = (tree.predict(rows.assign(sex=0)) != tree.predict(rows.assign(sex=1))).mean()
    assert row["estimate"] == pytest.approx(truth)


# What was not looked for


def test_a_model_that_changes_between_the_values_tried_is_not_called_fair():
    X = crowd(400).assign(age=np.arange(400) % 60)
    between = set(range(60)) - set(FeatureSpace.from_frame(X, protected="age")["age"].probes)
    blind_spot = min(between)
    model = lambda X: (X["points"] > 50) & (X["age"] != blind_spot)  # noqa: E731
    X = X[X["age"] != blind_spot]
    result = fit("KOSEI", X, model, protected="age").result_
    assert (result.n_found, result.verdict) == (0, UNSURE)
    assert "of its" in result.reason


def test_small_differences_are_not_excluded_by_a_search_for_large_ones():
    X = crowd(300)
    model = lambda X: 0.5 + 0.01 * (X["sex"] == "M")  # noqa: E731
    settings = {"output": "probability", "random_state": 0}
    result = fit("KOSEI", X, model, min_gap=0.1, **settings).result_
    assert (result.verdict, result.reason) == (UNSURE, "differences of up to 0.1 are no cases")
    assert fit("KOSEI", X, model, **settings).result_.verdict == FOUND


def test_made_up_cases_are_no_verdict_about_people():
    """Cases exist among the possible inputs only: nobody has them."""
    X = crowd(500).assign(points=np.arange(500) % 50 * 2)
    model = against(lambda X: X["points"] % 2 == 1)
    space = FeatureSpace.from_frame(X, steps={"points": 1})
    result = fit("KOSEI", X, model, space=space, seeds="uniform").result_
    assert result.n_found == len(result) > 0
    assert (first(result)["estimate"], result.verdict) == (0, NOTHING)


@pytest.mark.parametrize("limit", ["tests", "queries", "found", "seconds"])
@pytest.mark.parametrize("name", ["KOSEI", "Themis"])
def test_without_a_budget_nobody_is_looked_at(name, limit):
    result = fit(name, crowd(50), lambda X: X["points"] > 9, limits=Limits(**{limit: 0})).result_
    assert (result.n_queries, first(result)["n"], result.verdict) == (0, 0, UNSURE)
    word = "findings" if limit == "found" else limit
    assert result.reason == f"the limit of {word} was reached before any people were examined"


@pytest.mark.slow
@given(most=st.integers(0, 3000), each=st.booleans())
@settings(max_examples=12)
def test_queries_stay_within_their_limit(most, each):
    X, scope = crowd(200), "each" if each else "joint"
    model = against(lambda X: X["points"] > 60)
    result = fit("KOSEI", X, model, limits=Limits(queries=most, tests=100), scope=scope).result_
    assert result.n_queries <= most
    row = first(result)
    if row["n"] < 100:
        assert result.stopped_by is not None


def test_an_audit_that_ends_early_knows_nothing_about_the_others():
    X = crowd(400).sort_values("points", ignore_index=True)
    model = against(lambda X: X["points"] > 90)
    search = fit("KOSEI", X, model)
    truth = with_case(X, model).mean()
    whole = search.audit(X)
    assert first(whole)[["estimate", "ci_low", "ci_high"]].tolist() == [truth] * 3
    assert whole.verdict == FOUND
    some = search.set_params(limits__tests=300).audit(X)
    row = first(some)
    assert (row["estimate"], row["n"]) == (0, 300)
    assert row["ci_low"] <= truth <= row["ci_high"]
    assert some.verdict == UNSURE


# How it is used for other models


def test_another_model_is_examined_on_the_same_people(monkeypatch):
    monkeypatch.setattr(_case_share, "MOST_ROWS", 0)
    monkeypatch.setattr(_case_share, "FEWEST", 200)
    X = crowd(1000).assign(id=np.arange(1000))
    search = fit("KOSEI", X, lambda X: X["points"] > 10)
    task = Task.open(search, search._read(Request(X)))
    seen = [set(), set()]

    for asked in seen:

        def other(X, asked=asked):
            asked |= set(X["id"])
            return X["sex"] == "M"

        aside = search._aside(task, "decision", box=BlackBox(other))
        share = search._share_of_people(aside)
        assert (share.population, share.estimate, share.n) == ("people", 1, 200)
        assert (aside.budget.queries, task.budget.queries) == (1200, 0)
    assert seen[0] == seen[1]
    assert share.answer(search).verdict == FOUND
    inputs = search._share_of_people(Task.open(search, People()))
    assert (inputs.population, inputs.estimate) == ("inputs", 0)


# Properties


@pytest.mark.every(6)
@every
def test_the_verdict_never_contradicts_the_tables(name):
    rng = np.random.default_rng(0)
    for seed in range(12):
        X, cut = crowd(300, seed), 100 - rng.integers(0, 12)
        result = fit(
            name, X, against(lambda X, c=cut: X["points"] >= c), limits=Limits(tests=150)
        ).result_
        row = first(result)
        if result.verdict == FOUND:
            assert row["ci_low"] > 0.01
        elif result.verdict == NOTHING:
            assert row["ci_high"] <= 0.01
        else:
            assert row["ci_low"] <= 0.01 < row["ci_high"]
        assert result.reason or result.verdict == FOUND


@pytest.mark.parametrize("most", [1, 7, 40, 200, 5_000])
def test_looking_at_some_people_first_changes_no_draw(monkeypatch, most):
    people = People(crowd(900, values=9))
    task = SimpleNamespace(X=people.X, people=people)
    drawn = []
    for times in ((None,), (1, None), (0.5, 1.25, 4, None)):
        monkeypatch.setattr(_case_share, "_COMPARED", times)
        drawn.append(_case_share._people(task, most, np.random.default_rng(0)))
    every_one = drawn[0]
    for some in drawn[1:]:
        pd.testing.assert_frame_equal(some.rows.X, every_one.rows.X)
        assert some.which.tolist() == every_one.which.tolist()
