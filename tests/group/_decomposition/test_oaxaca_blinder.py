"""OaxacaBlinder: parts that add up, other implementations, and the chance of its intervals."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from skdisc._results._judgment import NULLS
from skdisc.auditing import Audit
from skdisc.group import OaxacaBlinder
from skdisc.group._decomposition import _fairlie

COEFFICIENTS = ("pooled", "neumark", "reference", "group", "cotton", "reimers")


def people(n=400, seed=0, unexplained=-0.4, apart=0.5, interaction=-0.3):
    """Return people with two numbers and a category, and their pay."""
    rng = np.random.default_rng(seed)
    g = rng.random(n) < 0.4
    x, z = rng.normal(size=n) + apart * g, rng.exponential(size=n)
    town = rng.choice(list("abc"), n, p=[0.5, 0.3, 0.2])
    y = 1 + x * (1 + interaction * g) + 0.5 * z + 0.3 * (town == "c") + rng.normal(size=n)
    X = pd.DataFrame({"sex": np.where(g, "F", "M"), "x": x, "z": z, "town": town})
    return X, y + unexplained * g


def parts_of(detector, X, y):
    result = detector.fit(X, y).result_
    return result.tables["parts"].set_index("part")["estimate"], result


@pytest.mark.parametrize("which", ["pooled", "neumark", "cotton", "reimers"])
def test_two_parts_and_three_are_those_of_statsmodels(which):
    oaxaca = pytest.importorskip("statsmodels.stats.oaxaca")
    X, y = people()
    own, _ = parts_of(OaxacaBlinder(protected="sex", output="value", coefficients=which), X, y)
    other = [X["sex"] == "M", X["x"], X["z"], X["town"] == "b", X["town"] == "c", np.ones(len(y))]
    peer = oaxaca.OaxacaBlinder(y, np.column_stack(other).astype(float), 0, swap=False)
    name = {"neumark": "nuemark"}.get(which, which)
    expected = peer.two_fold(two_fold_type=name).params
    assert own[["unexplained", "explained", "gap"]].to_numpy() == pytest.approx(expected, abs=1e-8)
    three = own[["endowments", "coefficients", "interaction", "gap"]].to_numpy()
    assert three == pytest.approx(peer.three_fold().params, abs=1e-8)


@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    method=st.sampled_from(["linear", "fairlie", "reweighting", "gelbach"]),
    coefficients=st.sampled_from(COEFFICIENTS),
    scale=st.sampled_from([1e-3, 1.0, 1e4]),
)
def test_parts_add_up_to_the_gap(seed, method, coefficients, scale):
    X, y = people(120, seed)
    output = "decision" if method == "fairlie" else "value"
    y = (y > 1).astype(int) if method == "fairlie" else y * scale
    own, result = parts_of(
        OaxacaBlinder(
            protected="sex",
            output=output,
            method=method,
            coefficients=coefficients,
            random_state=0,
        ),
        X,
        y,
    )
    size = np.abs(own).max() + 1e-12
    assert own["explained"] + own["unexplained"] == pytest.approx(own["gap"], abs=1e-9 * size)
    if method == "linear":
        three = own[["endowments", "coefficients", "interaction"]].sum()
        assert three == pytest.approx(own["gap"], abs=1e-9 * size)
    if "factors" in result.tables:
        sums = result.tables["factors"].groupby("part")["estimate"].sum()
        assert sums.to_numpy() == pytest.approx(own[sums.index].to_numpy(), abs=1e-8 * size)


def test_with_equal_columns_nothing_is_explained_and_with_equal_pay_nothing_is_left():
    X, _ = people(300)
    twice = pd.concat([X.assign(sex="F"), X.assign(sex="M")], ignore_index=True)
    own, _ = parts_of(
        OaxacaBlinder(protected="sex", output="value"), twice, np.tile(X["x"], 2) + 0.0
    )
    assert own.to_numpy() == pytest.approx(0, abs=1e-12)
    y = 2 + 3 * X["x"] - X["z"] + 2 * (X["town"] == "a")
    own, result = parts_of(OaxacaBlinder(protected="sex", output="value"), X, y)
    assert own["unexplained"] == pytest.approx(0, abs=1e-9)
    assert own["explained"] == pytest.approx(own["gap"])
    assert result.verdict == "no disparity found"


def test_no_category_is_the_base():
    X, y = people()
    renamed = X.assign(town=X["town"].map({"a": "z", "b": "a", "c": "m"}))
    factors = [
        OaxacaBlinder(protected="sex", output="value", coefficients="reference")
        .fit(A, y)
        .result_.tables["factors"]["estimate"]
        for A in (X, renamed)
    ]
    assert factors[0].to_numpy() == pytest.approx(factors[1].to_numpy())


def test_gelbach_without_controls_is_the_pooled_decomposition():
    X, y = people()
    own = [
        OaxacaBlinder(protected="sex", output="value", method=m).fit(X, y).result_.tables["factors"]
        for m in ("linear", "gelbach")
    ]
    linear = own[0][own[0]["part"] == "explained"]
    assert own[1]["estimate"].to_numpy() == pytest.approx(linear["estimate"].to_numpy())


def test_controls_of_gelbach_are_in_both_regressions():
    X, y = people()
    detector = OaxacaBlinder(protected="sex", output="value", method="gelbach", controls=["z"])
    own, result = parts_of(detector, X, y)
    D = np.column_stack([np.ones(len(y)), X["z"], X["sex"] == "F"]).astype(float)
    base = np.linalg.lstsq(D, y, rcond=None)[0][-1]
    assert own["gap"] == pytest.approx(base)
    assert set(result.tables["factors"]["factor"]) == {"x", "town"}
    with pytest.raises(ValueError, match="controls names 'sex'"):
        detector.set_params(controls=["sex"]).fit(X, y)


def test_fairlie_averages_the_orders():
    """By brute force: people matched by rank, factors exchanged in every order."""
    X, y = people(200)
    X = pd.concat([X[X["sex"] == s].head(60) for s in "FM"], ignore_index=True)
    y = (X["x"] + X["z"] + np.sin(np.arange(len(X))) > 1).astype(int)
    detector = OaxacaBlinder(protected="sex", method="fairlie", adjust_for=["x", "z"])
    result = detector.set_params(reference="M").fit(X, y)
    D = np.column_stack([np.ones(len(y)), X["x"], X["z"], X["sex"] == "F"]).astype(float)
    beta = np.zeros(4)
    for _ in range(50):
        p = expit(D @ beta)
        beta += np.linalg.solve((D * (p * (1 - p))[:, None]).T @ D, D.T @ (y - p))
    index = D[:, :3] @ beta[:3]
    F, M = (D[:, :3][s][np.argsort(index[s])] for s in (X["sex"] == "F", X["sex"] == "M"))
    shares = np.zeros(2)
    for order in permutations([1, 2]):
        now = M.copy()
        for k in order:
            before = expit(now @ beta[:3]).mean()
            now[:, k] = F[:, k]
            shares[k - 1] += (expit(now @ beta[:3]).mean() - before) / 2
    own = result.result_.tables["factors"]["estimate"].to_numpy()
    assert own == pytest.approx(shares, abs=1e-5)


def test_many_factors_are_exchanged_in_random_orders(monkeypatch):
    monkeypatch.setattr(_fairlie, "_N_ORDERS", 4)
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 9)), columns=list("abcdefghi"))
    X["sex"] = rng.choice(["F", "M"], 200)
    y = (X["a"] + (X["sex"] == "F") + rng.normal(size=200) > 0).astype(int)
    detector = OaxacaBlinder(protected="sex", method="fairlie", random_state=0)
    result = detector.fit(X, y).result_
    parts = result.tables["parts"].set_index("part")["estimate"]
    assert result.tables["factors"]["estimate"].sum() == pytest.approx(parts["explained"])


def test_every_group_is_compared_and_small_ones_are_listed():
    X, y = people(500)
    race = np.random.default_rng(1).choice(list("pqr"), len(y))
    race[:6] = "s"
    result = OaxacaBlinder(protected="race", output="value").fit(X.assign(race=race), y).result_
    assert len(result) == 2
    assert list(result.excluded["subject"]) == ["race = 's'"]
    assert result.verdict == "insufficient evidence"
    rest = OaxacaBlinder(protected="race", output="value", reference="rest")
    assert set(rest.fit(X.assign(race=race), y).result_.to_frame()["reference"]) == {"the rest"}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"adjust_for": ["sex"]}, "adjust_for names 'sex', which is protected"),
        ({"adjust_for": ["age"]}, "adjust_for='age' is not a column"),
        ({"method": "fairlie"}, "decomposes rates of decisions"),
        ({"protected": None}, "needs protected="),
        ({"reference": "X"}, "reference must be one of"),
    ],
)
def test_errors_name_the_setting(more, message):
    X, y = people(100)
    with pytest.raises(ValueError, match=message):
        OaxacaBlinder(**({"protected": "sex", "output": "value"} | more)).fit(X, y)


TRUTH = {"linear": -0.4, "gelbach": -0.4, "reweighting": -0.4}


@pytest.mark.statistics
@pytest.mark.parametrize("method", [*TRUTH, "fairlie"])
def test_intervals_cover(method):
    """Without interaction the unexplained part is the planted one; of rates, 0 where it is."""
    inside, found, n = 0, 0, 60
    for seed in range(n):
        X, y = people(500, seed, -0.4 * (method != "fairlie"), interaction=0)
        if method == "fairlie":
            noise = np.random.default_rng(seed + n).logistic(size=len(y))
            y = (X["x"] + X["z"] + noise > 1).astype(int)
        detector = OaxacaBlinder(
            protected="sex",
            output="decision" if method == "fairlie" else "value",
            method=method,
            random_state=0,
        )
        finding = detector.fit(X, y).result_.to_frame().iloc[0]
        inside += finding["ci_low"] <= TRUTH.get(method, 0) <= finding["ci_high"]
        found += finding["p_value"] <= 0.05
    assert inside / n >= 0.95 - 2 * np.sqrt(0.95 * 0.05 / n)  # .8: fails with probability .97
    if method == "fairlie":
        assert found / n <= 0.05 + 2 * np.sqrt(0.95 * 0.05 / n)
    else:
        assert inside < n
        assert found / n > 0.9


@pytest.mark.slow
def test_errors_of_factors_are_those_of_the_bootstrap():
    X, y = people(800)
    for method, output in (("linear", "value"), ("gelbach", "value"), ("fairlie", "decision")):
        target = (y > 1).astype(int) if method == "fairlie" else y
        found = [
            OaxacaBlinder(
                protected="sex",
                output=output,
                method=method,
                n_resamples=n,
                random_state=0,
            )
            .fit(X, target)
            .result_.tables["factors"]["std_error"]
            for n in (0, 100)
        ]
        assert (np.log(found[0] / found[1]).abs() < 0.35).all()


@pytest.mark.slow
def test_the_null_word_is_linear_and_an_audit_does_not_count_it():
    rng = np.random.default_rng(0)
    x, n = rng.normal(size=1500), 1500
    woman = rng.random(n) < np.clip(0.2 + 0.3 * x**2, 0.1, 0.9)
    X = pd.DataFrame({"sex": np.where(woman, "F", "M"), "x": x})
    y = (rng.random(n) < np.clip(0.2 + 0.15 * x**2, 0, 1)).astype(int)  # of women and men alike
    result = OaxacaBlinder(protected="sex").fit(X, y).result_
    assert (result.null, result.verdict) == ("linear", "disparity found")
    assert "linear model" in NULLS[result.null]
    detectors = ["GroupDisparity", "DisparityPursuit", "OaxacaBlinder"]
    report = Audit(protected="sex", detectors=detectors, random_state=0).fit(X, y).report_
    nulls = {v["null"] for v in report.document["verdicts"]}
    assert "conditional" in nulls
    assert "linear" not in nulls
