"""The mean gap among similar people: hostile worlds, an oracle, calipers and balance."""

import numpy as np
import pandas as pd
import pytest
from situations import people
from sklearn.linear_model import LinearRegression

from skdisc.individual import SituationTesting
from skdisc.individual._situation_testing._mean_gap import as_numbers, mean_gap

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
    found = mean_gap(x, x, y, a, k=15, limit=np.inf, is_binary=True)
    distance = np.abs(x[:, None] - x).sum(axis=2)
    np.fill_diagonal(distance, np.inf)
    near = np.argsort(distance, axis=1)[:, :15]
    r = [v - LinearRegression().fit(x, v).predict(x) for v in (y, a * 1.0)]
    ry, ra = (v - v[near].mean(axis=1) for v in r)
    fit = LinearRegression(fit_intercept=False).fit(ra[:, None], ry)
    assert found.gap == pytest.approx(fit.coef_[0])
    weights = np.zeros((200, 200))
    np.put_along_axis(weights, near, 1 / 15, axis=1)
    u = ry - found.gap * ra
    error = np.sqrt(((ra * (u - weights.T @ u)) ** 2).sum()) / (ra**2).sum()
    assert found.error == pytest.approx(error)
    assert found.p_value("lower") + found.p_value("higher") == pytest.approx(1)
    low, high = found.interval(0.05)
    assert low < found.gap < high


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
    again = SituationTesting(n_neighbors=10, caliper=float(limit), **settings).fit(X, y).result_
    pd.testing.assert_frame_equal(again.tables["people"], test.result_.tables["people"])
    free = SituationTesting(n_neighbors=10, caliper=None, **settings).fit(X, y).result_
    assert free.tables["people"]["delta"].notna().all()
    assert any("still differ much in x" in note for note in free.notes)
    fair = SituationTesting(n_neighbors=10, **settings).fit(X, (X["job"] == "a") * 1).result_
    assert (fair.verdict, fair.reason[:14]) == (OPEN, "too few people")


def test_balance_is_the_standardized_difference():
    X, y = people()
    settings = {"protected": "sex", "group": "F", "reference": "M", "features": ["x"]}
    balance = SituationTesting(**settings).fit(X, y).result_.tables["balance"].iloc[0]
    women, men = (X.loc[X["sex"] == s, "x"] for s in "FM")
    spread = np.sqrt((women.var(ddof=0) + men.var(ddof=0)) / 2)
    assert balance["before"] == pytest.approx((women.mean() - men.mean()) / spread)
    assert abs(balance["after"]) < 0.1


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
