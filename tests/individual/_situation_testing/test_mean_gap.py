"""The mean gap among similar people: hostile worlds, an oracle, calipers and balance."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from situations import people
from sklearn.linear_model import LinearRegression

from skdisc._expectations import Covariates, Unlearned, learn
from skdisc.individual import Similarity, SituationTesting
from skdisc.individual._situation_testing._mean_gap import (
    MeanGap,
    as_numbers,
    comparable,
    mean_gap,
)
from skdisc.individual._situation_testing._neighborhoods import summable

FAIR, FOUND, OPEN = "no disparity found", "disparity found", "insufficient evidence"


def world(seed, n=500, gap=0.0):
    """Return people, and decisions by points and town; or decisions by lot with a gap by sex."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "town": rng.choice(list("abc"), n)})
    X["points"] = rng.integers(0, 20, n)
    if gap:
        return X, (rng.random(n) < 0.35 + 0.015 * X["points"] - gap * (X["sex"] == "F")) * 1
    return X, ((X["points"] > 9) ^ (X["town"] == "a")) * 1


@pytest.mark.statistics
def test_a_fair_model_of_two_columns_is_fair_and_a_gap_is_found():
    """Of 200 seeds each, 2 are found where the model is fair, and 193 of 200 gaps of .15."""
    verdicts = {gap: [] for gap in (0.0, 0.2)}
    for seed in range(12):
        for gap, found in verdicts.items():
            X, y = world(seed, gap=gap)
            found.append(SituationTesting(protected="sex", pos_label=1).fit(X, y).result_.verdict)
    assert verdicts[0.0].count(FOUND) <= 2  # more with a probability of 2 in 100 at level 0.05
    assert verdicts[0.2].count(FOUND) >= 9
    assert FAIR not in verdicts[0.2]


def test_the_estimate_is_that_of_robinson_with_the_same_smoother():
    rng = np.random.default_rng(0)
    x, a = rng.normal(size=(200, 2)), rng.random(200) < 0.4
    y = (x[:, 0] - 0.3 * a + rng.normal(size=200) > 0) * 1.0
    frame = pd.DataFrame(x, columns=["u", "v"])
    found = mean_gap(x, frame, y, a, k=15, limit=np.inf, is_binary=True)
    distance = np.abs(x[:, None] - x).sum(axis=2)
    np.fill_diagonal(distance, np.inf)
    near = np.argsort(distance, axis=1)[:, :15]
    learned = learn(Covariates.of(frame), y, a, np.random.default_rng(0), n_splits=1)
    r = learned.outcome, learned.parts[:, 0]
    assert found.residual == pytest.approx(y - found.expected)
    ry, ra = (v - v[near].mean(axis=1) for v in r)
    fit = LinearRegression(fit_intercept=False).fit(ra[:, None], ry)
    assert found.gap == pytest.approx(fit.coef_[0])
    weights = np.zeros((200, 200))
    np.put_along_axis(weights, near, 1 / 15, axis=1)
    u = ry - found.gap * ra
    error = np.sqrt(((ra * (u - weights.T @ u)) ** 2).sum()) / (ra**2).sum()
    error *= np.sqrt(200 / (200 - learned.rank))
    assert found.error == pytest.approx(error)
    assert not found.unlearned
    assert found.p_value("lower") + found.p_value("higher") == pytest.approx(1)
    low, high = found.interval(0.05)
    assert low < found.gap < high


@pytest.mark.slow
def test_nobody_is_compared_beyond_the_caliper():
    X, y = people()
    X.loc[X["sex"] == "F", "x"] += np.where(np.arange((X["sex"] == "F").sum()) % 4 == 0, 50.0, 0.0)
    settings = {"protected": "sex", "group": "F", "reference": "M", "pos_label": 1}
    test = SituationTesting(n_neighbors=10, **settings).fit(X, y)
    far = X["x"] > 40
    table = test.result_.tables["people"].set_index("row")
    assert table.loc[far[far].index, "delta"].isna().all()
    assert table.loc[far[far].index, "n_t"].eq(0).all()
    assert test.result_.excluded["n"].sum() == table["delta"].isna().sum() >= far.sum()
    assert test.result_.verdict in (FOUND, OPEN)
    limit = test._memory.pools[0].limit
    again = (
        SituationTesting(n_neighbors=10, similarity=Similarity(caliper=float(limit)), **settings)
        .fit(X, y)
        .result_
    )
    pd.testing.assert_frame_equal(again.tables["people"], test.result_.tables["people"])
    free = (
        SituationTesting(n_neighbors=10, similarity=Similarity(caliper=None), **settings)
        .fit(X, y)
        .result_
    )
    assert free.tables["people"]["delta"].notna().all()
    assert any("still differ much in x" in note for note in free.notes)
    fair = SituationTesting(n_neighbors=10, **settings).fit(X, (X["job"] == "a") * 1).result_
    assert fair.verdict == OPEN
    said = r"too few of their people .* of the reference: sex = 'F' \((\d+) of (\d+)\)"
    n_judged, n = map(int, re.match(said, fair.reason).groups())
    assert n == (X["sex"] == "F").sum()
    assert n_judged == fair.tables["gaps"]["n_matched"].iloc[0] < 0.9 * n


def test_balance_is_the_standardized_difference():
    X, y = people()
    settings = {"protected": "sex", "group": "F", "reference": "M", "features": ["x"]}
    balance = SituationTesting(**settings).fit(X, y).result_.tables["balance"].iloc[0]
    women, men = (X.loc[X["sex"] == s, "x"] for s in "FM")
    spread = np.sqrt((women.var(ddof=0) + men.var(ddof=0)) / 2)
    assert balance["before"] == pytest.approx((women.mean() - men.mean()) / spread)
    assert abs(balance["after"]) < 0.1


@pytest.mark.slow
def test_the_best_of_many_groups_is_paid_for():
    X, y = people()
    fitted = [
        SituationTesting(protected="sex", n_neighbors=5, reference=r).fit(X, y)
        for r in ("best", "M")
    ]
    best, named = (f.result_.tables["gaps"].set_index("group") for f in fitted)
    assert best["reference"].iloc[0] == "sex = 'M'"
    p = best["p_value"].min()
    assert best["p_adjusted"].min() == pytest.approx(min(1, 6 * p))  # 3 groups, each against 2
    assert named["p_adjusted"].min() == pytest.approx(min(1, 2 * p))


def test_features_as_numbers():
    frame = pd.DataFrame({"n": [1.0, np.nan, 3.0], "c": ["a", "b", "a"], "k": [1, 1, 1]})
    table = as_numbers(frame)
    assert list(table) == ["n", "c = 'a'", "c = 'b'"]
    assert table["n"].tolist() == pytest.approx([-np.sqrt(1.5), 0, np.sqrt(1.5)])


def test_what_is_left_to_learn_counts_at_the_end_to_which_it_points():
    unlearned = [Unlearned(("x",), 8, bias=-0.1, error=0.02)]  # the truth lies above the estimate
    plain = MeanGap(-0.2, 0.05, 500.0, 100, 100, np.arange(9), np.zeros(9), np.zeros(9))
    widened = replace(plain, unlearned=unlearned)
    assert widened.interval(0.05)[0] == plain.interval(0.05)[0]
    assert widened.interval(0.05)[1] == pytest.approx(plain.interval(0.05)[1] + 0.14)
    assert widened.p_value("lower") > 0.1 > 0.001 > plain.p_value("lower")
    assert widened.p_value("both") == pytest.approx(2 * widened.p_value("lower"))
    settings = SituationTesting(direction="lower")
    assert widened.turns(settings)
    assert not plain.turns(settings)
    assert not replace(widened, gap=-0.5).turns(settings)


def law(name, seed, effect=0.0):
    """Return people similar within a caliper, but not equal, and numbers that depend on it."""
    rng = np.random.default_rng(seed)
    if name == "square":
        x, n = rng.normal(size=1200).round(2), 1200
        woman = rng.random(n) < np.clip(0.2 + 0.3 * x**2, 0.1, 0.9)
        y, X = x**2, pd.DataFrame({"x": x})
    elif name == "codes":
        n = 2000
        place, code = rng.permutation([-1, 1] * 20), rng.integers(40, size=n)
        woman, y = rng.random(n) < 0.5 + 0.3 * place[code], 0.5 * place[code]
        X = pd.DataFrame({"zip": rng.choice(np.arange(10_000, 99_999), 40, False)[code]})
    else:
        n, heap = 1200, rng.random(1200) < 0.3
        x = np.where(heap, 30_000, np.exp(rng.normal(10.3, 0.35, n)).round(-1))
        woman = rng.random(n) < np.where(heap, 0.65, 0.35)
        y, X = np.log(x / 30_000) + 0.8 * heap, pd.DataFrame({"salary": x})
    X["sex"] = np.where(woman, "F", "M")
    return X, y + effect * woman + rng.normal(size=n)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["square", "codes", "heap"])
def test_matches_that_are_not_equal_make_no_gap(name):
    """Before residuals were matched, the first two were found in all data sets."""
    settings = {"protected": "sex", "output": "value", "direction": "both"}
    test = SituationTesting(group="F", reference="M", **settings)
    gaps = [test.fit(*law(name, seed)).result_.tables["gaps"].iloc[0] for seed in range(3)]
    assert sum(g["p_value"] <= 0.05 for g in gaps) <= 1
    assert np.abs(np.mean([g["gap"] for g in gaps])) < 0.12
    real = test.fit(*law(name, 3, -0.4)).result_
    assert real.verdict == "disparity found"
    assert real.tables["gaps"]["ci_low"][0] < -0.4 < real.tables["gaps"]["ci_high"][0]


def test_values_of_one_group_only_are_compared_in_ranges():
    rng = np.random.default_rng(0)
    is_group, n = rng.random(2000) < 0.4, 2000
    salary = 10_000 * rng.integers(3, 15, n) + np.where(is_group, 500, 0)
    points = rng.normal(size=n).round(1)
    frame = pd.DataFrame({"salary": salary, "points": points, "name": ["a", "b"] * 1000})
    found, names = comparable(frame, is_group)
    assert names == ("salary",)
    assert found["points"].equals(frame["points"])
    means = found["salary"]
    assert means[is_group].isin(means[~is_group]).all()
    assert np.abs(means - salary).max() <= 15_000
    shared = rng.random(n) < 0.5  # now half of the values are those of both
    frame["salary"] = np.where(shared, salary // 1000 * 1000, salary)
    assert comparable(frame, is_group)[1] == ()


def test_salaries_of_one_group_only_do_not_hide_a_gap():
    rng = np.random.default_rng(0)
    woman = rng.random(1500) < 0.4
    salary = 10_000 * rng.integers(3, 15, 1500) + np.where(woman, 500, 0)
    X = pd.DataFrame({"sex": np.where(woman, "F", "M"), "salary": salary})
    X["points"] = rng.normal(size=1500)
    y = (rng.random(1500) < salary / 160_000 - 0.2 * woman + 0.1).astype(int)
    result = SituationTesting(protected="sex", group="F", reference="M").fit(X, y).result_
    assert result.verdict == "disparity found"
    assert any("Most values of 'salary' occur in one" in note for note in result.notes)


def test_sums_of_residuals_do_not_depend_on_their_order():
    rng = np.random.default_rng(0)
    for scale in (1e-9, 1.0, 3e7):
        values = scale * rng.normal(size=5000)
        kept = summable(values)
        assert np.abs(kept - values).max() < 1e-10 * np.abs(values).max()
        sums = {kept[rng.permutation(5000)].cumsum()[-1] for _ in range(5)}
        assert len(sums) == 1
    assert (summable(np.zeros(3)) == 0).all()


def test_the_balance_tells_what_each_column_would_add():
    X, y = people()
    table = SituationTesting(protected="sex", group="F", reference="M").fit(X, y).result_.tables
    balance = table["balance"].set_index("feature")
    jobs = balance.loc[["job = 'a'", "job = 'b'", "job = 'c'"]]
    assert jobs["bias"].nunique() == jobs["bias_error"].nunique() == 1  # of the whole column
    assert (balance["bias_error"] > 0).all()
    assert (balance["bias"].abs() < 3 * balance["bias_error"] + 1e-9).all()
