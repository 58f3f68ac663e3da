"""The quality of a search is measured beside it, and is what it says."""

import numpy as np
import pandas as pd
import pytest
from searches import (
    SPACE,
    every,
    make,
    quick,
    rows_of,
)
from sklearn.linear_model import LogisticRegression

from skdisc import AuditResult, FeatureSpace, Limits
from skdisc._stats._proportions import clopper_pearson
from skdisc.individual import KOSEI, Aequitas, BoundarySearch
from skdisc.individual._search._quality import naturalness


@every
def test_quality_changes_nothing_of_the_search(name):
    X, y, model = make("tree", 8)
    how = {"space": SPACE, "limits": Limits(tests=60)}
    plain = quick(name, **how).fit(X, y, model).result_
    result = quick(name, n_quality=50, **how).fit(X, y, model).result_
    assert result.to_frame().equals(plain.to_frame())
    assert result.n_queries - plain.n_queries == 6 * (50 + 50 + min(50, result.n_found))
    assert AuditResult.from_json(result.to_json()) == result
    table = result.tables["quality"].set_index("name")
    inside = table.dropna(subset="ci_low")
    assert (inside["ci_low"] <= inside["estimate"]).all()
    assert (inside["estimate"] <= inside["ci_high"]).all()
    most = plain.n_queries + 450
    how["limits"] = Limits(tests=60, queries=most)
    cut = quick(name, n_quality=50, **how).fit(X, y, model).result_
    assert cut.n_queries <= most
    if name != "KOSEI at the boundary":  # its pool is smaller, too
        assert cut.tables["quality"]["n"].tolist()[0] == 50
    assert cut.stopped_by in ("tests", "queries")


def test_quality_is_what_it_says():
    X, y, model = make("logistic", 4)
    sizes = [c.size for c in SPACE.columns]
    everybody = SPACE.decode(rows_of())
    yes = (model.predict(everybody) == 1).reshape(*sizes[:3], -1)
    p = model.predict_proba(everybody)[:, 1].reshape(*sizes[:3], -1)
    cases = yes.any(axis=3) & ~yes.all(axis=3)
    codes = SPACE.encode(X)[:, :3]
    result = (
        KOSEI(n_local=None, space=SPACE, n_quality=400, random_state=0).fit(X, y, model).result_
    )
    table = result.tables["quality"].set_index("name")
    whole = table.loc["share of the domain with a case"]
    assert whole["ci_low"] <= cases.mean() <= whole["ci_high"]
    assert (whole["ci_low"], whole["ci_high"]) == pytest.approx(
        tuple(map(float, clopper_pearson(round(whole["estimate"] * 400), 400)))
    )
    rows = table.loc["share of the rows of X with a case"]
    assert (rows["estimate"], rows["n"]) == (cases[tuple(codes.T)].mean(), 400)
    gaps = np.ptp(p, axis=3)[cases]
    mean = table.loc["mean gap of a case (probability)"]
    assert mean[["estimate", "ci_low", "ci_high"]].tolist() == pytest.approx([gaps.mean()] * 3)
    assert table.loc["largest gap of a case (probability)", "estimate"] == pytest.approx(gaps.max())
    bins = [len(set(np.rint(x / 0.05))) for x in p[cases]]
    assert table.loc["distinct outcomes of a case", "estimate"] == pytest.approx(np.mean(bins))
    near = [(np.array(x) != codes).sum(axis=1).min() for x in np.argwhere(cases)]
    name = "columns in which a case differs from the nearest row of X"
    assert table.loc[name, "estimate"] == pytest.approx(np.mean(near))
    assert 1 < table.loc["leaves of a surrogate tree with a case", "estimate"] <= cases.sum()
    both = table.loc[["naturalness of columns", "naturalness of pairs of columns"], "estimate"]
    assert table.loc["naturalness", "estimate"] == pytest.approx(both.mean())


def test_quality_of_nothing_found_and_of_a_space_alone():
    quick_search = Aequitas(n_quality=30, random_state=0, n_local=2)
    fair = quick_search.fit(SPACE, model=lambda A: A["a"] > 3).result_
    table = fair.tables["quality"].set_index("name")
    assert table.loc["share of the domain with a case", "estimate"] == 0
    assert np.isnan(table.loc["mean gap of a case (decision)", "estimate"])
    assert "naturalness" not in table.index
    X = SPACE.decode(SPACE.sample(40, np.random.default_rng(0)))
    fair = quick_search.set_params(protected="sex").fit(X, model=lambda A: A["a"] > 3)
    table = fair.result_.tables["quality"].set_index("name")
    assert np.isnan(table.loc["naturalness", "estimate"])
    each = quick_search.set_params(protected=["sex", "race"], scope="each").fit(
        X, model=lambda A: A["sex"] == 1
    )
    assert set(each.result_.tables["quality"]["varied"]) == {"sex", "race"}


@pytest.mark.statistics
def test_the_estimate_of_prevalence_is_unbiased_where_the_search_is_not():
    space = FeatureSpace.from_domains({"n": (0, 999), "sex": [0, 1]}, protected="sex")
    model = lambda A: (A["n"] < 100) & (A["sex"] == 1)  # noqa: E731
    inside, rates = 0, []
    for seed in range(20):
        result = KOSEI(
            seeds="uniform", n_seeds=50, limits=Limits(tests=90), n_quality=300, random_state=seed
        ).fit(space, model=model)
        row = result.result_.tables["quality"].iloc[0]
        inside += row["ci_low"] <= 0.1 <= row["ci_high"]
        rates.append(row["estimate"])
    assert inside >= 17
    assert np.mean(rates) == pytest.approx(0.1, abs=0.01)
    assert result.result_.metrics["SUR"] > 0.3


def test_naturalness_by_hand():
    rows = np.array([[0, 0, 0], [1, 1, 1], [2, 2, 0], [3, 3, 1]])
    nominal = np.array([False, False, True])
    assert naturalness(rows, rows, nominal) == pytest.approx((1, 1))
    turned = rows * [1, -1, 1] + [0, 3, 0]
    columns, pairs = naturalness(turned, rows, nominal)
    assert columns == pytest.approx(1)
    assert pairs == pytest.approx((0 + 1 + 0) / 3)  # r from 1 to -1; same cells; none the same
    low = naturalness(rows[:2], rows, nominal)[0]
    assert low == pytest.approx((0.5 + 0.5 + 1) / 3)


@pytest.mark.statistics
def test_natural_people_are_found_among_natural_people():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.binomial(40, 0.3, 800), "job": rng.choice(list("uuuuv"), 800)})
    X["b"], X["sex"] = X["a"] + rng.integers(-2, 3, 800), rng.integers(0, 2, 800)
    model = LogisticRegression().fit(X[["a", "b", "sex"]], X["a"] + X["b"] + 4 * X["sex"] > 26)
    scores = {}
    for kind in (BoundarySearch(n_pool=3000), KOSEI(seeds="uniform")):
        kind.set_params(protected="sex", n_quality=500, limits__tests=1500, random_state=0)
        table = kind.fit(X, model=model).result_.tables["quality"].set_index("name")["estimate"]
        scores[type(kind).__name__] = table
    near, far = scores["BoundarySearch"], scores["KOSEI"]
    assert near["naturalness"] > far["naturalness"] + 0.05
    name = "columns in which a case differs from the nearest row of X"
    assert near[name] < far[name]
