"""Small intersections that borrow strength: the model, what it gains, and what it hides."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from skdisc.group import GroupDisparity, _group_disparity_shrinkage
from skdisc.group._group_disparity_shrinkage import _means, additive, shrink

SCHOOLS = np.array([28.0, 8, -3, 7, -1, 1, 18, 12]), np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
CELLS = list(product("fm", "ny", "abc"))
SHARE = np.array(
    [{"f": 0.45, "m": 0.55}[s] * {"n": 0.7, "y": 0.3}[d] * {"a": 0.6, "b": 0.28, "c": 0.12}[r]
     for s, d, r in CELLS]
)  # fmt: skip


def people(n, seed, one=0.0):
    """Return people of twelve groups, and the rate of each group; `one` has more than it would."""
    rng = np.random.default_rng(seed)
    truth = np.array([0.4 - 0.08 * (s == "f") - 0.1 * (d == "y") for s, d, _ in CELLS])
    truth += np.array([0.1 * (r == "a") for *_, r in CELLS])
    truth[5] += one  # f, y, c: 1.6 % of the people
    cell = rng.choice(len(CELLS), n, p=SHARE / SHARE.sum())
    X = pd.DataFrame(np.array(CELLS)[cell], columns=["sex", "disabled", "race"])
    return X, (rng.random(n) < truth[cell]).astype(int), truth


def table(X, y, **settings):
    detector = GroupDisparity(
        protected=["sex", "disabled", "race"], intersections=3, shrinkage=True, random_state=0
    )
    found = detector.set_params(**settings).fit(X, y).result_.tables["shrinkage"]
    return found[found["attribute"] == "sex & disabled & race"].reset_index(drop=True)


def by_conditioning(y, variance, design, level):
    """Return posterior means and limits: normal vectors, conditioned on y, over a grid of tau."""
    k, wide = len(y), 1e6 * design @ design.T
    tau = np.linspace(0, 250, 2501)
    weights, means, spreads = [], [], []
    for t in tau:
        theta = wide + t**2 * np.eye(k)
        observed = theta + np.diag(variance)
        gain = theta @ np.linalg.inv(observed)
        weights.append(stats.multivariate_normal(np.zeros(k), observed).logpdf(y))
        means.append(gain @ y)
        spreads.append(np.diag(theta - gain @ theta))
    share = np.exp(np.array(weights) - max(weights))
    share[0] /= 2  # trapezoids
    share /= share.sum()
    rng = np.random.default_rng(0)
    at = rng.choice(len(tau), 200_000, p=share)
    drawn = rng.normal(np.array(means)[at], np.sqrt(np.array(spreads)[at]))
    return share @ np.array(means), *np.quantile(drawn, [level / 2, 1 - level / 2], axis=0)


@pytest.mark.slow
@pytest.mark.parametrize("design", ["mean", "slope"])
def test_the_model_is_that_of_normal_vectors(monkeypatch, design):
    """The eight schools (Rubin 1981), whose first effect has the posterior interval -2 to 31."""
    y, error = SCHOOLS
    X = np.ones((8, 1)) if design == "mean" else np.column_stack([np.ones(8), np.arange(8) % 2])
    monkeypatch.setattr(_group_disparity_shrinkage, "MOST_SHIFT", np.inf)
    found = shrink(y, error**2, X, 0.05)
    for ours, direct in zip(found[:3], by_conditioning(y, error**2, X, 0.05), strict=True):
        assert ours == pytest.approx(direct, abs=0.4)
    assert found[0] == pytest.approx(by_conditioning(y, error**2, X, 0.05)[0], abs=0.05)
    if design == "mean":
        assert (found[1][0], found[2][0]) == pytest.approx((-2, 31), abs=1)


def test_known_variances_decide_what_is_kept(monkeypatch):
    """With a known spread of the truth the estimate would be the direct formula."""
    rng = np.random.default_rng(0)
    variance = np.tile([0.01, 1.0], 200)
    y = rng.normal(size=400) + rng.normal(size=400) * np.sqrt(variance)
    monkeypatch.setattr(_group_disparity_shrinkage, "MOST_SHIFT", np.inf)
    estimate, low, high, toward, kept = shrink(y, variance, np.ones((400, 1)), 0.05)
    tau2 = np.var(y[::2]) - 0.01  # of the precise half
    direct = tau2 / (tau2 + variance)
    assert kept == pytest.approx(direct, abs=0.05)
    assert estimate == pytest.approx(kept * y + (1 - kept) * toward, abs=0.01)
    assert (high - low)[1] / 2 == pytest.approx(1.96 * np.sqrt(direct[1]), rel=0.05)


def test_no_estimate_moves_far(monkeypatch):
    y, error = SCHOOLS
    limited = shrink(y, error**2, np.ones((8, 1)), 0.05)
    monkeypatch.setattr(_group_disparity_shrinkage, "MOST_SHIFT", np.inf)
    free = shrink(y, error**2, np.ones((8, 1)), 0.05)
    far = np.abs(free[0] - y) > 0.7 * error
    assert 0 < far.sum() < 8
    assert np.abs(limited[0] - y)[far] == pytest.approx(0.7 * error[far])
    assert limited[0][~far] == pytest.approx(free[0][~far])
    assert limited[2] - limited[1] == pytest.approx(free[2] - free[1])


def test_the_unit_and_the_order_of_groups_do_not_matter():
    y, error = SCHOOLS
    there = np.array(shrink(y, error**2, np.ones((8, 1)), 0.05))
    again = np.array(shrink(1e3 * y[::-1], 1e6 * error[::-1] ** 2, np.ones((8, 1)), 0.05))
    assert again[:4, ::-1] == pytest.approx(1e3 * there[:4])
    assert again[4, ::-1] == pytest.approx(there[4])


def test_columns_add_up_where_groups_are_enough():
    names = pd.DataFrame(list(product("fm", "ny", "abc")))
    assert additive(names).shape == (12, 5)
    assert additive(names.iloc[:6, [1, 2]]).shape == (6, 1)  # 6 groups, 4 parameters
    assert additive(pd.DataFrame({0: list("aaaa"), 1: list("bbbb")})).shape == (4, 1)


def test_verdicts_and_findings_stay():
    X, y, _ = people(1500, 0)
    given = {"protected": ["sex", "disabled", "race"], "intersections": 3, "random_state": 0}
    plain = GroupDisparity(**given).fit(X, y).result_
    result = GroupDisparity(**given, shrinkage=True).fit(X, y).result_
    assert plain.verdict == result.verdict
    pd.testing.assert_frame_equal(plain.to_frame(), result.to_frame())
    assert set(result.tables) - set(plain.tables) == {"shrinkage"}


def test_raw_outcomes_stand_beside():
    X, y, _ = people(1500, 1)
    found = table(X, y)
    rates = pd.Series(y).groupby([X["sex"], X["disabled"], X["race"]]).agg(["mean", "size"])
    assert sorted(found["outcome"]) == pytest.approx(sorted(rates["mean"]))
    assert found["n"].sum() == 1500
    assert found["shrunken"].between(found["ci_low"], found["ci_high"]).all()
    assert (found["ci_high"] - found["ci_low"]).mean() < (
        found["outcome_high"] - found["outcome_low"]
    ).mean()
    between = found[["outcome", "toward"]]
    assert found["shrunken"].between(between.min(axis=1) - 0.01, between.max(axis=1) + 0.01).all()
    order = found["n"].rank(), found["kept"].rank()
    assert stats.spearmanr(*order).statistic > 0.9  # large groups keep more


def test_an_audit_has_the_table_of_its_own_people():
    X, y, _ = people(1500, 1)
    detector = GroupDisparity(protected=["sex", "race"], shrinkage=True, random_state=0).fit(X, y)
    again = detector.audit(X[:700], y[:700]).tables["shrinkage"]
    assert again["n"].sum() == 700
    assert len(again) == 6


def test_frequencies_are_repeated_rows_and_weights_have_no_unit():
    X, y, _ = people(400, 2)
    times = np.random.default_rng(0).integers(1, 4, 400)
    given = {"protected": ["sex", "race"], "shrinkage": True, "random_state": 0}
    again = np.repeat(np.arange(400), times)
    name = "shrinkage"
    long = GroupDisparity(**given).fit(X.iloc[again], y[again]).result_.tables[name]
    counted = GroupDisparity(**given, weights="frequency").fit(X, y, sample_weight=times)
    pd.testing.assert_frame_equal(counted.result_.tables[name], long)
    weighted = GroupDisparity(**given).fit(X, y, sample_weight=times).result_.tables[name]
    scaled = GroupDisparity(**given).fit(X, y, sample_weight=times / 7).result_.tables[name]
    pd.testing.assert_frame_equal(weighted, scaled)
    assert weighted["outcome"].to_numpy() == pytest.approx(long["outcome"])
    assert (weighted["kept"] < long["kept"]).all()  # fewer people


def test_uneven_weights_are_fewer_people():
    X, y, _ = people(3000, 2)
    weight = np.random.default_rng(0).choice([0.1, 1.9], 3000)
    given = {"protected": ["sex", "race"], "shrinkage": True, "random_state": 0}
    even = GroupDisparity(**given).fit(X, y).result_.tables["shrinkage"]
    uneven = GroupDisparity(**given).fit(X, y, sample_weight=weight).result_.tables["shrinkage"]
    width, wide = ((t["outcome_high"] - t["outcome_low"]).mean() for t in (even, uneven))
    assert wide / width == pytest.approx(np.sqrt(1.81), rel=0.08)  # 1 + the variance of weights


def test_nobody_of_ten_has_the_variance_of_four_more():
    """0 of 10 beside 30 of 90, and four people with the rate of all, .3."""
    pred, group = np.repeat([False, True, False], [10, 30, 60]), np.repeat([0, 1], [10, 90])
    rows = SimpleNamespace(pred=pred, weight=None, is_frequency=False, cluster=None)
    mean, variance, size = _means(rows, group, 2)
    rates = np.array([1.2 / 14, 31.2 / 94])
    assert mean == pytest.approx([0, 1 / 3])
    assert variance == pytest.approx(rates * (1 - rates) / [10, 90])
    assert list(size) == [10, 90]


def test_copies_in_clusters_are_no_more_evidence():
    X, y, _ = people(600, 3)
    again = np.repeat(np.arange(600), 5)
    given = {"protected": ["sex", "race"], "shrinkage": True, "random_state": 0}
    once = GroupDisparity(**given).fit(X, y).result_.tables["shrinkage"]
    many = GroupDisparity(**given).fit(X.iloc[again], y[again], groups=again).result_
    for column in ("outcome_low", "outcome_high", "shrunken", "ci_low", "ci_high"):
        assert many.tables["shrinkage"][column].to_numpy() == pytest.approx(once[column], abs=0.01)


class Scores:
    """A model whose probability is a column."""

    classes_ = np.array([0, 1])

    def predict_proba(self, X):
        p = X["p"].to_numpy(dtype=float)
        return np.column_stack([1 - p, p])

    def predict(self, X):
        return (X["p"] > 0.5).astype(int)


def test_numbers_are_drawn_by_their_own_spread():
    X, *_ = people(900, 4)
    noise = np.random.default_rng(0).normal(size=900)
    X["p"] = np.clip(0.5 + 0.05 * (X["sex"] == "m") + 0.1 * noise, 0, 1)
    settings = {"output": "probability", "random_state": 0, "intersections": 3}
    detector = GroupDisparity(
        protected=["sex", "disabled", "race"], shrinkage=True, measures=["mean_difference"],
        **settings,
    )  # fmt: skip
    found = detector.fit(X, None, Scores()).result_.tables["shrinkage"].tail(12)
    small = found["n"] < 60
    half = (found["outcome_high"] - found["outcome_low"]) / 2
    ratio = half / (1.96 * 0.1 / np.sqrt(found["n"]))
    assert ratio.between(0.6, 1.5).all()
    assert ratio.mean() == pytest.approx(1, abs=0.1)
    expected = np.where(found["group"].str.contains("'m'"), 0.55, 0.5)
    errors = (found["shrunken"] - expected)[small], (found["outcome"] - expected)[small]
    assert (errors[0] ** 2).mean() < 0.7 * (errors[1] ** 2).mean()


def test_what_is_not_estimated_is_nan():
    X, y, _ = people(300, 0)
    given = {"protected": ["sex", "race"], "shrinkage": True, "random_state": 0}
    constant = GroupDisparity(**given, output="probability")
    constant = constant.fit(X.assign(p=0.3), None, Scores()).result_
    assert constant.tables["shrinkage"]["shrunken"].isna().all()
    few = X[(X["race"] != "c") & ~((X["sex"] == "f") & (X["race"] == "b"))]
    three = GroupDisparity(**given).fit(few, y[few.index]).result_.tables["shrinkage"]
    assert len(three) == 3
    assert three["shrunken"].isna().all()
    assert three["outcome"].notna().all()
    alone = GroupDisparity(protected="sex", shrinkage=True).fit(X, y).result_.tables["shrinkage"]
    assert list(alone) == list(three)
    assert not len(alone)


def errors(n, one=0.0, n_seeds=60):
    """Return mean squared errors of raw and shrunken rates, coverage, and the tables."""
    raw, shrunken, covered, tables = [], [], [], []
    for seed in range(n_seeds):
        X, y, truth = people(n, seed, one)
        found = table(X, y, measures=["mean_difference"], n_resamples=0)
        rates = pd.Series(truth, [" ".join(c) for c in CELLS])
        parts = found["group"].str.extract(
            r"disabled = '(?P<d>.)' and race = '(?P<r>.)' and sex = '(?P<s>.)'"
        )
        at = rates[parts["s"] + " " + parts["d"] + " " + parts["r"]].to_numpy()
        raw.append(((found["outcome"] - at) ** 2).mean())
        shrunken.append(((found["shrunken"] - at) ** 2).mean())
        covered.append(((found["ci_low"] <= at) & (at <= found["ci_high"])).mean())
        tables.append(found.assign(truth=at))
    return np.mean(raw), np.mean(shrunken), np.mean(covered), tables


@pytest.mark.statistics
def test_small_groups_gain_half_of_the_error_where_columns_add_up():
    raw, shrunken, covered, _ = errors(600)
    assert shrunken < 0.6 * raw
    assert covered >= 0.92


@pytest.mark.statistics
def test_a_group_that_truly_differs_is_drawn_in_and_stays_visible():
    """31 people whose rate is .42 where the other groups say .22: without limit .67 is hidden."""
    raw, shrunken, covered, tables = errors(2000, one=0.2)
    assert shrunken < 0.9 * raw
    assert covered >= 0.92
    own = pd.concat(
        [t[t["group"].str.contains("'y' and race = 'c' and sex = 'f'")] for t in tables]
    )
    hidden = (own["truth"] - own["shrunken"]).mean() / 0.2
    assert 0.2 < hidden < 0.5
    assert (own["ci_low"] <= own["truth"]).mean() > 0.6
