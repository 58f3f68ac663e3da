"""A model of names: likelihood by optimizer, known groups, which estimate is right where."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from skdisc.group import ProxyDisparity
from skdisc.group._proxy_disparity._latent_rates import latent_gap, likely_rates


@given(st.integers(0, 2**16), st.integers(2, 4))
def test_rates_are_the_most_likely_ones(seed, n_groups):
    rng = np.random.default_rng(seed)
    q = rng.dirichlet(np.full(n_groups, 0.3), 400)
    y = (rng.random(400) < q @ rng.uniform(0.2, 0.8, n_groups)).astype(float)

    def loss(rates):
        p = np.clip(q @ rates, 1e-9, 1 - 1e-9)
        return -np.mean(y * np.log(p) + (1 - y) * np.log1p(-p))

    start, within = np.full(n_groups, 0.5), [(1e-6, 1 - 1e-6)] * n_groups
    best = minimize(loss, start, bounds=within, options={"ftol": 1e-13}).fun
    assert loss(likely_rates(y, q)) <= best + 1e-7


@given(st.integers(0, 2**16))
def test_known_groups_have_their_rates(seed):
    rng = np.random.default_rng(seed)
    member = rng.random(300) < 0.4
    y = (rng.random(300) < 0.3 + 0.4 * member).astype(float)
    place = rng.integers(3, size=300)
    own = latent_gap(y, np.column_stack([member, ~member]).astype(float), place)
    assert own.value == pytest.approx(y[member].mean() - y[~member].mean())
    spread = y[member].var() / member.sum() + y[~member].var() / (~member).sum()
    assert own.error == pytest.approx(np.sqrt(spread), rel=0.1)


def named(seed, n=3000, by_name=False):
    """Return people whose outcome depends on place and group, or on place and name."""
    rng = np.random.default_rng(seed)
    place = rng.integers(3, size=n)
    name = rng.beta(0.5, 0.7, n)  # the odds that a name gives
    odds = name / (1 - name + 1e-9) * np.array([0.4, 1.0, 2.5])[place]
    q = odds / (1 + odds)
    member = rng.random(n) < q
    p = 0.25 + 0.15 * place - 0.2 * (q if by_name else member)
    X = pd.DataFrame({"p_black": q, "place": np.array(list("uvw"))[place]})
    y = (rng.random(n) < p).astype(int)
    true = np.mean(p[member]) - np.mean(p[~member])
    return X, y, true


@pytest.mark.parametrize("by_name", [False, True])
def test_each_estimate_is_right_under_its_assumption(by_name):
    off = {"weighted": [], "model": []}
    for seed in range(4):
        X, y, true = named(seed, 20_000, by_name)
        detector = ProxyDisparity(protected="p_black", place="place", learner="linear")
        table = detector.fit(X, y).result_.tables["estimates"].set_index("part")["estimate"]
        for name, values in off.items():
            values.append(table[name] - true)
    right, wrong = ("weighted", "model") if by_name else ("model", "weighted")
    assert abs(np.mean(off[right])) < 0.012
    assert abs(np.mean(off[wrong])) > 0.03


@pytest.mark.statistics
def test_intervals_cover():
    inside = []
    for seed in range(100):
        X, y, _ = named(seed, 1500)
        q, place = X["p_black"].to_numpy(), X["place"].factorize()[0]
        own = latent_gap(y.astype(float), np.column_stack([q, 1 - q]), place)
        low, high = own.interval(0.05)
        inside.append(low <= TRUE <= high)
    assert np.mean(inside) >= 0.95 - 2 * np.sqrt(0.95 * 0.05 / 100)


TRUE = float(np.mean([named(seed, 200_000)[2] for seed in range(3)]))


def test_without_names_that_differ_there_is_no_such_estimate():
    X, y, _ = named(0, 300)
    X["p_black"] = X["place"].map({"u": 0.2, "v": 0.5, "w": 0.7})
    own = ProxyDisparity(protected="p_black", place="place", learner="linear").fit(X, y).result_
    assert own.to_frame()["model"].isna().all()
    assert "model" not in set(own.tables["estimates"]["part"])
    with pytest.raises(ValueError, match="did you mean 'place'"):
        ProxyDisparity(protected="p_black", place="plac").fit(X, y)


def test_a_note_says_where_memberships_vary_too_little():
    X, y, _ = named(0, 300)
    X.loc[0, "place"] = "lone"
    detector = ProxyDisparity(protected="p_black", place="place", learner="linear")
    result = detector.fit(X, y).result_
    assert any(
        "in 1 of 4 places (1 of 300 people) vary too little" in note for note in result.notes
    )
    everywhere = detector.set_params(place=None).fit(X, y).result_
    assert not any("vary too" in note for note in everywhere.notes)
    left = detector.set_params(place="place").memberships(X, y)["p_black"].isna()
    assert left.tolist() == [True] + [False] * 299


def test_memberships_given_outcomes_have_the_rates_of_the_model_and_are_calibrated():
    rng = np.random.default_rng(0)
    n = 20_000
    q = rng.dirichlet([0.4, 0.4, 0.4], n)
    group = (rng.random((n, 1)) > np.cumsum(q, axis=1)).sum(axis=1)
    place = rng.integers(2, size=n)
    y = rng.random(n) < np.array([0.2, 0.5, 0.8])[group] + 0.1 * place
    X = pd.DataFrame({"a": q[:, 0], "b": q[:, 1], "place": place}, index=np.arange(n) + 5)
    X.iloc[0, 0] = np.nan
    detector = ProxyDisparity(protected=["a", "b"], place="place", learner="linear").fit(X, y)
    own = detector.memberships(X, y)
    assert own.index.equals(X.index)
    assert own.iloc[0].isna().all()
    at = place[1:] == 1
    left, rates = q[1:][at], own.iloc[1:][at].assign(rest=lambda f: 1 - f.sum(axis=1)).to_numpy()
    weighted = (rates * y[1:][at, None]).sum(axis=0) / rates.sum(axis=0)
    assert weighted == pytest.approx(likely_rates(y[1:][at].astype(float), left), abs=1e-6)
    member, new = (group == 0)[1:], own["a"].to_numpy()[1:]
    assert np.mean((member - new) ** 2) < np.mean((member - q[1:, 0]) ** 2) - 0.005
    for low in (0.1, 0.3, 0.6):  # calibrated among people with either outcome
        for outcome in (True, False):
            of = (np.abs(new - low - 0.1) < 0.1) & (y[1:] == outcome)
            off = (member - new)[of]
            assert abs(off.mean()) < 4 * np.sqrt(0.25 / of.sum())
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        detector.memberships(X, y[:-1])
