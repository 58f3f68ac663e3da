"""LIMI: its boundary, and what is found beside it."""

import math

import numpy as np
import pandas as pd
import pytest
from searches import Loan, applicants, points

from skdisc import Limits
from skdisc.individual import LIMI, BoundarySearch


def test_limi_finds_a_larger_share_than_its_generator():
    X = applicants()
    search = LIMI(
        protected="sex", n_samples=2000, n_baseline=200, limits=Limits(tests=400), random_state=0
    )
    result = search.fit(X, model=Loan()).result_
    row = result.estimates.iloc[-1]
    assert row["name"] == "share of inputs drawn from the generator"
    assert row["ci_low"] <= row["estimate"] <= row["ci_high"]
    first = search.set_params(n_samples=1, limits__tests=math.inf).fit(X, model=Loan()).result_
    probed = (result.n_found - first.n_found) / (result.n_tested - first.n_tested)
    assert probed > 1.5 * row["estimate"]


class Wave:
    """Decides along a wave, which a linear boundary crosses."""

    classes_ = np.array([0, 1])

    def decision_function(self, X):
        return (X["b"] - 33 - 14 * np.sin(X["a"] / 6) + 6 * X["sex"]).to_numpy() / 4

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)


def beside_the_boundary(step, **more):
    settings = {"n_samples": 20_000, "n_boundary": 2000, "n_baseline": 100, **more}
    search = LIMI(protected="sex", step=step, random_state=0, **settings)
    return search.fit(points(2000), model=Wave()).result_


def test_inputs_beside_the_boundary_find_more_cases_per_latent_score():
    """In the paper (census, gender) 86,065 cases with a step of 0.3, and 38,974 with 0."""
    found = {step: beside_the_boundary(step, n_samples=300).n_found for step in (0, 0.3, 3)}
    assert found[0.3] > 1.5 * max(found[0], found[3])


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "most"), [("tests", 180), ("queries", 2400)])
def test_a_limit_leaves_tests_to_inputs_beside_the_boundary(limit, most):
    runs = [beside_the_boundary(step, limits=Limits(**{limit: most})) for step in (0.05, 0.3, 3)]
    assert {run.stopped_by for run in runs} == {limit}
    cases = [set(map(tuple, run.findings.original.to_numpy().tolist())) for run in runs]
    assert not any(cases[i] == cases[j] for i, j in [(0, 1), (0, 2), (1, 2)])


class Rare:
    """Decides for few. A linear boundary fitted to as many of each decision lies before its own."""

    classes_ = np.array([0, 1])

    def decision_function(self, X):
        a, b, c = ((X[["a", "b", "c"]] - 200) / 40).to_numpy().T
        return 2 * a - 3 + 1.5 * b * c + 0.3 * X["sex"].to_numpy()

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)


def test_inputs_that_are_cases_more_often_are_tested_first():
    """In the order of the authors' code, half of the tests would be of projections."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(200, 40, (1000, 3)).astype(int), columns=["a", "b", "c"])
    X, shares = X.assign(sex=rng.integers(0, 2, 1000)), {}
    limits = {
        "n_samples": 20_000,
        "n_boundary": 5000,
        "n_baseline": 50,
        "limits": Limits(tests=2000),
    }
    for step in (0, 1):
        search = LIMI(protected="sex", step=step, random_state=0, **limits)
        result = search.fit(X, model=Rare()).result_
        assert result.n_tested == 2000
        shares[step] = result.n_found / result.n_tested
    assert shares[1] > 1.9 * shares[0]


class Recorded:
    """Decodes two latent scores, and keeps them."""

    latent_dim = 2

    def __init__(self):
        self.scores = []

    def decode(self, Z):
        self.scores.append(Z)
        a, b = np.clip(np.round(30 + 10 * Z.T), 0, 59).astype(int)
        return pd.DataFrame({"a": a, "b": b, "sex": 0})


def test_without_a_limit_each_score_is_probed_until_a_case():
    generator = Recorded()
    n, settings = 100, {"n_boundary": 500, "n_baseline": 1, "limits": Limits(tests=math.inf)}
    search = LIMI(protected="sex", generator=generator, n_samples=n, random_state=0, **settings)
    search.fit(points(2000), model=Wave())
    probed = np.concatenate(generator.scores[2:])  # after the baseline and those of the boundary
    line = generator.scores[2]  # the first inputs are equally far from the boundary
    along = np.linalg.svd(line - line[0])[2][0]
    place = probed @ along
    in_order = np.argsort(place, kind="stable")
    score = np.empty(len(place), int)
    score[in_order] = np.cumsum(np.diff(place[in_order], prepend=-np.inf) > 1e-5)
    rows = generator.decode(probed)
    is_case = np.ptp([Wave().predict(rows.assign(sex=s)) for s in (0, 1)], 0)
    tests = pd.DataFrame({"score": score, "is_case": is_case}).groupby("score")["is_case"]
    assert tests.ngroups == n
    counts = tests.agg(["size", "sum", "last"])
    assert ((counts["size"] == 3) | (counts["last"] == 1)).all()
    assert (counts["sum"] <= 1).all()


def test_limi_without_a_boundary_says_so():
    X = applicants()
    result = LIMI(protected="sex", n_samples=200, random_state=0).fit(
        X, model=lambda A: (A["a"] >= 0).astype(int)
    ).result_  # fmt: skip
    assert result.n_found == 0
    assert any("no boundary could be fitted" in note for note in result.notes)


class Synthesizer:
    """Samples rows of a table, and wraps them as SDV does."""

    def __init__(self, rows, wrap=lambda rows: rows):
        self.rows, self.wrap, self.asked = rows, wrap, []

    def sample(self, n):
        self.asked.append(n)
        return self.wrap(self.rows.sample(n, replace=True, random_state=0))


@pytest.mark.parametrize("detector", [LIMI, BoundarySearch])
@pytest.mark.parametrize("wrap", [lambda rows: rows, lambda rows: {"people": rows}])
def test_inputs_are_like_those_of_a_synthesizer(detector, wrap):
    X = applicants()
    low = X["a"] <= X["a"].median()
    maker = Synthesizer(X[low], wrap)
    settings = {
        "protected": "sex",
        "limits": Limits(tests=200),
        "store_tested": True,
        "random_state": 0,
    }
    search = detector(generator=maker, **settings).fit(X, model=Loan())
    assert maker.asked == [10_000]
    tested = search.result_.tables["tested"]
    assert len(tested) > 50
    assert tested["a"].max() <= X.loc[low, "a"].max()


def test_synthesizers_of_other_tables_are_refused():
    X = applicants()
    with pytest.raises(ValueError, match=r"without the columns \['a'\] of X"):
        LIMI(protected="sex", generator=Synthesizer(X.drop(columns="a"))).fit(X, model=Loan())
    X, strange = X.assign(town="here"), X.assign(town="elsewhere")
    with pytest.raises(ValueError, match="no row whose values are those of X"):
        LIMI(protected="sex", generator=Synthesizer(strange)).fit(X, model=Loan())


@pytest.mark.extras("sdv")
@pytest.mark.filterwarnings("ignore")  # those of SDV
def test_a_synthesizer_of_sdv():
    from skdisc.datasets import schema_from_frame
    from skdisc.datasets._synthetic._sdv import fit_sdv

    X = applicants()
    maker = fit_sdv(X, schema_from_frame(X))
    search = LIMI(
        protected="sex", generator=maker, n_samples=500, limits=Limits(tests=300), random_state=0
    )
    result = search.fit(X, model=Loan()).result_
    assert result.n_tested == 300
    assert pd.notna(result.estimates["estimate"]).any()
