"""What all searches offer beside the search: scopes, directions, what is kept, budgets."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from searches import (
    SPACE,
    every,
    make,
    quick,
    rows_of,
    search,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from skdisc import AuditResult, FeatureSpace, Limits
from skdisc._task._budget import Budget
from skdisc.individual import ADF, EIDIG, KOSEI, LIMI, SG, Aequitas, BoundarySearch, ExpGA, Themis
from skdisc.testing import replay

NAMES = list(SPACE.names)


UNVARIED = {"sex": ["a", "job", "b", "race"], "race": ["a", "job", "b", "sex"]}


def decisions(model):
    """Return decisions about everybody, an array with an axis for each column."""
    return (model.predict(SPACE.decode(rows_of())) == 1).reshape([c.size for c in SPACE.columns])


def one_at_a_time(model, varied):
    """Return the inputs, the other protected column included, that one column decides."""
    axis = NAMES.index(varied)
    table = decisions(model)
    return {tuple(x) for x in np.argwhere(table.any(axis=axis) & ~table.all(axis=axis)).tolist()}


def inputs(frame, varied):
    return list(
        map(tuple, SPACE.encode(frame)[:, [NAMES.index(c) for c in UNVARIED[varied]]].tolist())
    )


# One protected column at a time


@every
def test_each_column_alone_is_the_same_as_enumeration(name):
    X, y, model = make("logistic", 3)
    result = search(name, space=SPACE, scope="each").fit(X, y, model).result_
    before, after = result.findings.original, result.findings.altered
    varied = result.to_frame()["varied"]
    for column in ("sex", "race"):
        mine = varied == column
        others = UNVARIED[column]
        pd.testing.assert_frame_equal(before.loc[mine, others], after.loc[mine, others])
        found = inputs(before[mine], column)
        assert len(found) == len(set(found))
        assert set(found) <= one_at_a_time(model, column)
        assert len(found) > 0.8 * len(one_at_a_time(model, column))  # all, given patience
        changed = result.metrics["dsn_by_attr_value"]
        assert max(v["DSN"] for k, v in changed.items() if k.startswith(column)) <= mine.sum()
    assert result.n_found == len(varied)


@pytest.mark.every(6)
@every
@pytest.mark.parametrize("limit", ["tests", "found", "queries"])
@pytest.mark.parametrize("most", [0, 7, 40])
def test_limits_are_shared_by_the_columns(name, limit, most):
    X, y, model = make("tree", 1)
    limits = Limits(**{limit: most})
    result = quick(name, space=SPACE, scope="each", limits=limits).fit(X, y, model).result_
    spent = {"tests": "n_tested", "found": "n_found", "queries": "n_queries"}
    assert getattr(result, spent[limit]) <= most
    assert result.stopped_by == limit


@every
def test_rows_are_looked_at_one_column_at_a_time(name):
    X, y, model = make("logistic", 2)
    audit = quick(name, space=SPACE, scope="each").fit(X, y, model).audit(X)
    own = model.predict(X)
    changes = np.zeros((len(X), 2), dtype=bool)
    for place, (column, values) in enumerate({"sex": [0, 1], "race": [0, 1, 2]}.items()):
        for value in values:
            changes[:, place] |= model.predict(X.assign(**{column: value})) != own
    assert audit.estimates["estimate"][0] == pytest.approx(changes.any(axis=1).mean())
    assert sorted(audit.findings.row) == np.nonzero(changes)[0].tolist()
    assert AuditResult.from_json(audit.to_json()) == audit


# Directions


@every
@pytest.mark.parametrize("way", [1, -1])
def test_monotone_columns_go_one_way_only(name, way):
    space = FeatureSpace(SPACE.columns, ["sex", "race"], monotone={"a": way})
    X, y, model = make("tree", 5)
    detector, start = search(name, space=space), X.assign(a=3)
    if "seeds" in detector.get_params() and detector.seeds != "boundary":
        detector.set_params(seeds=start)
    else:
        X = start
    if "generator" in detector.get_params():
        detector.set_params(generator="copula")
    found = detector.fit(X, y, model).result_.findings.original["a"]
    assert (way * (found - 3) >= 0).all()
    drawn = name in ("LIMI", "BoundarySearch")  # people of the generator, who all have a = 3
    assert (found != 3).any() != drawn


def test_directions_are_checked_and_kept():
    columns = SPACE.columns
    with pytest.raises(ValueError, match=r"monotone names \['z'\]"):
        FeatureSpace(columns, monotone={"z": 1})
    with pytest.raises(ValueError, match=r"1 \(only up\) or -1 \(only down\), got {'a': 2}"):
        FeatureSpace(columns, monotone={"a": 2})
    with pytest.raises(ValueError, match=r"\['job'\], but their values have no order"):
        FeatureSpace(columns, monotone={"job": 1})
    space = FeatureSpace(columns, ["sex"], monotone={"a": 1}, immutable=["b"])
    assert space != FeatureSpace(columns, ["sex"], immutable=["b"])
    other = space.varying(["race"])
    assert (other.monotone, other.immutable, other.protected) == ({"a": 1}, ("b",), ("race",))
    X = SPACE.decode(SPACE.sample(9, np.random.default_rng(0)))
    fitted = KOSEI(protected="sex", space=space, limits=Limits(tests=10)).fit(
        X, model=lambda A: A["a"] > 3
    )
    assert fitted.space_.monotone == {"a": 1}
    assert FeatureSpace.from_frame(X, monotone={"a": -1}).monotone == {"a": -1}
    assert FeatureSpace.from_domains({"a": (0, 1)}, monotone={"a": -1}).monotone == {"a": -1}


# Several classes, scores


@every
def test_any_of_several_classes_can_be_favorable(name):
    X, _, _ = make("logistic", 0)
    z = X["a"] + X["b"] + 2 * X["sex"]
    y = np.select([z < 4, z < 9], ["no", "wait"], "yes")
    model = LogisticRegression(max_iter=1000).fit(X, y)
    for favorable in ("wait", ["wait", "yes"]):
        result = quick(name, space=SPACE, pos_label=favorable).fit(X, y, model).result_
        assert result.n_found
        good = np.atleast_1d(favorable)
        assert not np.isin(model.predict(result.findings.original), good).any()
        assert np.isin(model.predict(result.findings.altered), good).all()


@every
def test_gaps_of_probabilities_are_those_of_the_model(name):
    X, y, model = make("logistic", 1)
    result = quick(name, space=SPACE, output="probability", min_gap=0.3).fit(X, y, model).result_
    assert result.n_found
    found = result.findings
    ends = [model.predict_proba(f)[:, 1] for f in (found.original, found.altered)]
    np.testing.assert_allclose([found.outcome, found.altered_outcome], ends)
    assert (ends[1] - ends[0] > 0.3).all()
    sizes = [c.size for c in SPACE.columns]
    p = model.predict_proba(SPACE.decode(rows_of()))[:, 1].reshape(*sizes[:3], -1)
    codes = SPACE.encode(found.original)[:, :3]
    np.testing.assert_allclose(ends[1] - ends[0], np.ptp(p, axis=3)[tuple(codes.T)])


@pytest.mark.parametrize("name", ["Aequitas", "KOSEI", "SG", "ExpGA"])
def test_numbers_of_a_regressor_are_compared(name):
    X, _, _ = make("logistic", 2)
    pay = LinearRegression().fit(X, 100 * X["a"] + 30 * X["sex"] - 5 * X["race"])
    result = quick(name, space=SPACE, output="value", min_gap=35).fit(X, model=pay).result_
    assert result.n_found == result.n_tested
    found = result.findings
    assert found.outcome == pytest.approx(pay.predict(found.original))
    assert result.to_frame()["effect"].to_numpy() == pytest.approx(np.full(len(found), -40))
    assert result.measure == "value"
    none = quick(name, space=SPACE, output="value", min_gap=41).fit(X, model=pay).result_
    assert none.n_found == 0
    assert (
        len(quick(name, space=SPACE, output="value", min_gap=29).fit(X, model=pay).audit(X)) == 400
    )


def test_a_case_has_the_most_frequent_protected_values():
    rng = np.random.default_rng(0)
    X = SPACE.decode(SPACE.sample(200, rng)).assign(race=2, sex=1)
    X.loc[:60, "race"], X.loc[:5, "sex"] = 1, 0
    result = KOSEI(protected=["sex", "race"], space=SPACE, random_state=0).fit(
        X, model=lambda A: ~((A["sex"] == 1) & (A["race"] > 0))
    )
    before = result.result_.findings.original
    assert set(before["race"]) == {2}
    assert set(before["sex"]) == {1}


# What is kept


@pytest.mark.every(6)
@every
@pytest.mark.parametrize("scope", ["joint", "each"])
def test_every_input_tested_is_kept_with_its_verdict_and_can_be_replayed(name, scope):
    X, y, model = make("tree", 7)
    how = {"space": SPACE, "scope": scope, "limits": Limits(tests=90)}
    result = quick(name, store_tested=True, **how).fit(X, y, model).result_
    tested = result.tables["tested"]
    assert (len(tested), tested["is_case"].sum()) == (result.n_tested, result.n_found)
    for varied, part in tested.groupby("varied"):
        others = [c for c in NAMES if c not in varied.split(", ")]
        assert not part.duplicated(others).any()
    plain = quick(name, **how).fit(X, y, model).result_
    assert plain.to_frame().equals(result.to_frame())
    again = replay(AuditResult.from_json(result.to_json()), model)
    assert (again["is_case_now"] == tested["is_case"]).all()
    fair = replay(result, lambda A: np.where(A["a"] > 3, 1, 0))
    assert not fair["is_case_now"].any()
    with pytest.raises(ValueError, match="store_tested=True"):
        replay(plain, model)


def test_missing_values_and_categories_are_replayed():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"n": rng.choice([1.0, 2, np.nan], 90), "town": pd.Categorical(list("abc") * 30)}
    )
    X["sex"] = pd.Categorical(rng.choice(["F", "M", None], 90))

    def model(A):
        return (A["sex"].isna() & (A["n"] > 1)) | (A["town"] == "b")

    search = KOSEI(protected="sex", store_tested=True, random_state=0).fit(X, model=model)
    result = search.result_
    assert result.n_found == 2
    assert replay(result, model)["is_case_now"].sum() == 2
    arrays = np.column_stack([X["town"].cat.codes, X["sex"].cat.codes])
    tree = DecisionTreeClassifier().fit(arrays, arrays[:, 1] > arrays[:, 0])
    search = KOSEI(protected=1, store_tested=True, random_state=0)
    result = search.fit(arrays, model=tree).result_
    again = replay(AuditResult.from_json(result.to_json()), tree)
    assert (again["is_case_now"] == again["is_case"]).all()
    assert again["is_case"].any()


def test_cases_per_second():
    result = KOSEI(random_state=0).fit(SPACE, model=make("tree", 0)[2]).result_
    assert result.metrics["EGS"] == pytest.approx(1 / result.metrics["DSS"])


# Budgets


@every
@pytest.mark.parametrize("scope", ["joint", "each"])
def test_no_question_is_asked_after_the_time(name, scope, monkeypatch):
    """Every question takes a second; only the one under way when the time is up is finished."""
    clock = [0.0]
    monkeypatch.setattr(Budget, "elapsed", property(lambda self: clock[0]))
    X, y, model = make("tree", 2)

    class Slow(DecisionTreeClassifier):
        def predict(self, A):
            clock[0] += 1.0
            return model.predict(A)

        def predict_proba(self, A):
            clock[0] += 1.0
            return model.predict_proba(A)

    slow = Slow().fit(X, y)
    settings = {"space": SPACE, "scope": scope, "n_quality": 20, "limits": Limits(seconds=1.5)}
    result = search(name, **settings).fit(X, y, slow).result_
    assert clock[0] <= 2.0
    assert result.stopped_by == "seconds"
    assert result.curve["seconds"].le(2.0).all()


ENDLESS = {  # more work than there is time for
    "Aequitas": Aequitas(n_seeds=200_000),
    "ADF": ADF(n_seeds=3000, n_local=5000),
    "EIDIG": EIDIG(n_seeds=3000, n_local=5000),
    "KOSEI": KOSEI(n_local=None, seeds="uniform", n_seeds=200_000),
    "SG": SG(n_seeds=200_000, seeds="uniform", n_samples=5000),
    "ExpGA": ExpGA(n_draws=200_000, n_population=50_000),
    "LIMI": LIMI(n_samples=200_000, n_boundary=5000),
    "BoundarySearch": BoundarySearch(n_pool=200_000, share=1.0),
    "Themis": Themis(margin=1e-9),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_slow_model_is_left_soon_after_the_time_is_up(name, monkeypatch):
    """The model takes a second per 10,000 rows, and nothing else takes any time."""
    clock = [0.0]
    monkeypatch.setattr(Budget, "elapsed", property(lambda self: clock[0]))

    class Slow:
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            clock[0] += len(X) / 10_000
            p = expit(X[list("abcd")].sum(axis=1) / 10 - 20 + X["sex"]).to_numpy()
            return np.column_stack([1 - p, p])

        def predict(self, X):
            return self.predict_proba(X)[:, 1] > 0.5

    domains = {**dict.fromkeys("abcd", (0, 99)), "sex": [0, 1]}
    wide = FeatureSpace.from_domains(domains, protected="sex")
    X = wide.decode(wide.sample(4000, np.random.default_rng(0)))
    search = ENDLESS[name].set_params(
        space=wide, limits__tests=math.inf, limits__seconds=10, random_state=0
    )
    result = search.fit(X, model=Slow()).result_
    assert result.stopped_by == "seconds"
    assert 7.5 <= clock[0] < 11  # the rest is kept for the people of X


# The rest of what every search must do


@every
def test_a_model_of_a_protected_column_alone_makes_everybody_a_case(name):
    result = quick(name, space=SPACE, limits=Limits(tests=50)).fit(
        make("tree", 0)[0], model=lambda A: A["sex"] == 1
    )
    assert result.result_.metrics["SUR"] == 1


def test_dtypes_and_levels_of_the_data_come_back():
    X = pd.DataFrame(
        {
            "grade": pd.Categorical(["lo", "hi"] * 20, ["lo", "mid", "hi"], ordered=True),
            "n": np.arange(40, dtype=np.int16),
            "rate": np.linspace(0, 1, 40, dtype=np.float32),
            "sex": pd.Categorical(["F", "M"] * 20),
        }
    )
    model = lambda A: (A["sex"] == "M") & (A["n"] > 3)  # noqa: E731
    result = SG(protected="sex", limits=Limits(tests=40), n_samples=50, random_state=0).fit(
        X, model=model
    )
    for frame in (result.result_.findings.original, result.result_.findings.altered):
        assert frame.dtypes.equals(X.dtypes)


def test_nothing_tested_is_replayed_as_nothing():
    space = FeatureSpace.from_domains({"x": (0, 9), "sex": ["F", "M"]}, protected="sex")
    search = SG(limits=Limits(tests=0), store_tested=True, random_state=0)
    again = replay(search.fit(space, model=lambda X: X["x"] > 5).result_, lambda X: X["x"] > 5)
    assert again.empty
    assert again["is_case_now"].dtype == bool


@pytest.mark.parametrize("names", [("varied", "is_case", "is_case_now"), (0, 1, 2)])
def test_columns_that_are_named_like_results_are_replayed(names):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({n: rng.integers(0, 3 + i, 60) for i, n in enumerate(names)})

    def model(A):
        return (A[names[0]] + A[names[1]] > A[names[2]]).astype(int)

    search = SG(protected=list(names[:2]), scope="each", limits=Limits(tests=12), n_samples=50)
    search.set_params(store_tested=True, random_state=0, pos_label=1)
    result = search.fit(X, model=model).result_
    again = replay(AuditResult.from_json(result.to_json()), model)
    assert again["is_case"].any()
    assert (again["is_case_now"] == again["is_case"]).all()
    assert again.shape[1] == 6
