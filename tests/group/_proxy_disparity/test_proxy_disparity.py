"""ProxyDisparity: bounds against a linear program, and what each estimate gets wrong."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import linprog

from skdisc import BlackBox
from skdisc.group import GroupDisparity, ProxyDisparity
from skdisc.group._proxy_disparity._bounds import gap_bounds, rate_bounds

shares = st.integers(1, 19).map(lambda k: k / 20)
laws = st.lists(st.tuples(st.integers(1, 5), shares, shares), min_size=1, max_size=5)


def by_linear_program(weight, p, q, largest):
    """Return the least and the largest gap to everyone else, over P(y = 1, a | z)."""
    w, size = weight / weight.sum(), weight @ q / weight.sum()
    cost = w * (1 / size + 1 / (1 - size))
    constant = -(w @ p) / (1 - size)
    above, below = [], []
    if largest is not None:
        for k in range(len(p)):
            row = np.eye(len(p))[k] * (1 / q[k] + 1 / (1 - q[k]))
            above += [row, -row]
            below += [largest + p[k] / (1 - q[k]), largest - p[k] / (1 - q[k])]
    room = list(zip(np.maximum(0, p + q - 1), np.minimum(p, q), strict=True))
    given = {"A_ub": above or None, "b_ub": below or None, "bounds": room}
    return [s * linprog(s * cost, **given).fun + constant for s in (1, -1)]


@given(laws, st.sampled_from([None, 0.0, 0.1, 0.5]))
def test_bounds_are_those_of_a_linear_program(law, largest):
    n, p, q = (np.array(own, dtype=float) for own in zip(*law, strict=True))
    y, shared = (np.repeat(own, n.astype(int)) for own in (p, q))
    bounds = gap_bounds(y, shared, 1 - shared, y, largest)
    ends = bounds.low.value, bounds.high.value
    assert ends == pytest.approx(by_linear_program(n, p, q, largest), abs=1e-7)
    if largest == 0:  # the assumption of the weighted estimate
        assert ends == pytest.approx([bounds.weighted.value] * 2)


@given(laws, st.integers(0, 2**16))
def test_a_wrong_expectation_only_widens(law, seed):
    n, p, q = (np.array(own, dtype=float) for own in zip(*law, strict=True))
    y, shared = (np.repeat(own, n.astype(int)) for own in (p, q))
    right = gap_bounds(y, shared, 1 - shared, y)
    wrong = gap_bounds(y, shared, 1 - shared, np.random.default_rng(seed).random(len(y)))
    assert wrong.low.value <= right.low.value + 1e-12
    assert wrong.high.value >= right.high.value - 1e-12


def people(rng, n, spread, direct):
    """Members of known probability; `direct` is how much less they are selected at equal ones."""
    q = rng.beta(spread, 1.5 * spread, n)
    member = rng.random(n) < q
    p = np.clip(0.6 - 0.3 * q - direct * np.where(member, 1 - q, -q), 0, 1)
    return pd.DataFrame({"p_black": q}), member, p


@given(st.integers(0, 2**16), st.sampled_from([-0.3, 0.0, 0.3]))
def test_the_error_of_the_weighted_estimate_is_as_its_formula_says(seed, direct):
    X, member, p = people(np.random.default_rng(seed), 20_000, 0.5, direct)
    q = X["p_black"].to_numpy()
    weighted = gap_bounds(p, q, 1 - q, p).weighted.value
    true = p[member].mean() - p[~member].mean()
    covariance = -np.mean(direct * q * (1 - q))
    assert weighted - true == pytest.approx(-covariance / (q.mean() * (1 - q.mean())), abs=0.03)


@pytest.mark.statistics
@pytest.mark.parametrize("worst", [False, True])
def test_intervals_contain_the_gap_wherever_it_is(worst):
    """Also where the truth is the lowest gap that the law of outcomes and proxies allows."""
    hits = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        q = rng.choice([0.05, 0.3, 0.9], 1000)
        p = np.where(q > 0.5, 0.3, 0.6)
        of_members = np.maximum(0, p + q - 1) / q if worst else p
        of_others = (p - q * of_members) / (1 - q)
        member = rng.random(1000) < q
        y = (rng.random(1000) < np.where(member, of_members, of_others)).astype(int)
        truth = (q * of_members).mean() / q.mean() - ((1 - q) * of_others).mean() / (1 - q).mean()
        detector = ProxyDisparity(protected="q", learner="linear", random_state=0)
        row = detector.fit(pd.DataFrame({"q": q}), y).result_.findings.table.iloc[0]
        hits.append(row["ci_low"] <= truth <= row["ci_high"])
    assert np.mean(hits) >= (0.93 if worst else 1.0)  # .85: fails with probability .96


@pytest.mark.slow
def test_the_verdict_is_insufficient_where_bounds_contain_zero_however_many_people():
    rng = np.random.default_rng(0)
    X, _, p = people(rng, 50_000, 2, 0.3)
    y = (rng.random(len(p)) < p).astype(int)
    result = ProxyDisparity(protected="p_black", random_state=0).fit(X, y).result_
    assert result.verdict == "insufficient evidence"
    row = result.findings.table.iloc[0]
    assert row["bound_low"] < 0 < row["bound_high"]
    assert "possible, however many people there are" in result.reason
    assumed = ProxyDisparity(protected="p_black", max_difference=0.0, random_state=0)
    fitted = assumed.fit(X, y)
    assert fitted.result_.findings.table["bound_low"][0] == pytest.approx(row["effect"])
    assert fitted.audit(X, y).findings.table["effect"][0] == pytest.approx(row["effect"])


def test_known_groups_have_the_gap_of_their_rates():
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], 2000, p=[0.4, 0.6])})
    y = (rng.random(2000) < np.where(X["sex"] == "f", 0.4, 0.6)).astype(int)
    row = ProxyDisparity(protected="sex", random_state=0).fit(X, y).result_.findings.table.iloc[0]
    known = GroupDisparity(protected="sex").fit(X, y).result_.findings.table.iloc[0]
    gaps = row[["bound_low", "effect", "bound_high", "threshold"]].astype(float)
    assert gaps.to_numpy() == pytest.approx([known["effect"]] * 4, abs=1e-9)


counts = st.tuples(st.integers(1, 40), st.integers(1, 40))


@given(counts, counts, st.booleans())
def test_errors_of_known_groups_are_at_least_those_at_equal_rates(first, second, is_tpr):
    """Pooled ones, if larger; of true positive rates, too, whatever others decide."""
    k, n = np.array([first, second]).T
    n = k + n
    y = np.repeat([1.0, 0.0, 1.0, 0.0], [k[0], n[0] - k[0], k[1], n[1] - k[1]])
    q, rate = np.repeat([1.0, 0.0], n), k.sum() / n.sum()
    if is_tpr:
        hit, miss, q = np.r_[y, 0, 0], np.r_[1 - y, 0, 0], np.r_[q, 0, 1]
        found = rate_bounds(hit, miss, q, 1 - q, 0 * hit + 0.5, 0 * hit + 0.5)
    else:
        found = gap_bounds(y, q, 1 - q, 0 * y + 0.5)
    own = (k / n) @ np.diag(1 / n) @ (1 - k / n)
    expected = np.sqrt(max(own, rate * (1 - rate) * (1 / n).sum()))
    for estimate in (found.low, found.weighted, found.high):
        assert estimate.error == pytest.approx(expected)
        assert estimate.value == pytest.approx(k[0] / n[0] - k[1] / n[1])


def test_nothing_is_learned_where_groups_are_known():
    class Learner:
        def fit(self, X, y):
            raise AssertionError("There is nothing to learn.")

    X, y = pd.DataFrame({"black": np.tile([0.0, 1.0], 50)}), np.repeat([0, 1], 50)
    found = ProxyDisparity(protected="black", learner=Learner()).fit(X, y).result_
    assert found.findings.table["bound_low"].tolist() == pytest.approx([0])


def test_several_groups_are_compared_with_the_largest():
    rng = np.random.default_rng(2)
    q = rng.dirichlet([0.1, 0.1, 0.3], 4000)
    group = (rng.random((4000, 1)) > q.cumsum(axis=1)).sum(axis=1)
    y = (rng.random(4000) < np.array([0.2, 0.8, 0.8])[group]).astype(int)
    X = pd.DataFrame(q, columns=["p_black", "p_asian", "p_white"])
    detector = ProxyDisparity(protected=list(X), reference="largest", random_state=0)
    table = detector.fit(X, model=BlackBox(decisions=y)).result_.to_frame()
    assert set(table["subject"].astype(str)) == {"group of p_black", "group of p_asian"}
    assert set(table["reference"]) == {"group of p_white"}
    own = table.set_index(table["subject"].astype(str))
    for name, truth in (("group of p_black", -0.6), ("group of p_asian", 0.0)):
        assert own.loc[name, "bound_low"] < truth < own.loc[name, "bound_high"]
    assert own.loc["group of p_black", "bound_high"] < 0


def test_a_group_that_is_nobodys_most_probable_one():
    """Small groups rarely have a probability above one half; there is no threshold estimate."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"p_native": rng.uniform(0.01, 0.2, 500)})
    y = rng.integers(0, 2, 500)
    detector = ProxyDisparity(protected="p_native", learner="linear", random_state=0)
    row = detector.fit(X, y).result_.findings.table.iloc[0]
    q = X["p_native"]
    assert row["outcome"] == pytest.approx((q * y).sum() / q.sum())
    assert np.isnan(row["threshold"])
    assert row["bound_low"] < row["effect"] < row["bound_high"]


def test_bad_probabilities_are_refused():
    X = pd.DataFrame({"a": [0.7, 0.2] * 20, "b": [0.6, 0.1] * 20, "c": [1.5, 0.2] * 20})
    y = np.arange(40) % 2
    with pytest.raises(ValueError, match=r"in row 0 they add up to 1\.3"):
        ProxyDisparity(protected=["a", "b"]).fit(X, y)
    with pytest.raises(ValueError, match="column 'c' is no column of probabilities"):
        ProxyDisparity(protected="c", proba=["c"]).fit(X, y)


@pytest.mark.slow
@given(st.integers(0, 2**16))
def test_rows_without_a_probability_are_left_out(seed):
    rng = np.random.default_rng(seed)
    X, _, p = people(rng, 200, 0.5, 0.0)
    y = (rng.random(200) < p).astype(int)
    gone = rng.random(200) < 0.2
    assume(len(set(y[~gone])) == 2)
    detector = ProxyDisparity(protected="p_black", learner="linear", random_state=0)
    with_gaps = detector.fit(X.assign(p_black=X["p_black"].mask(gone)), y).result_.findings.table
    without = detector.fit(X[~gone].reset_index(drop=True), y[~gone]).result_.findings.table
    pd.testing.assert_frame_equal(with_gaps, without)


def test_few_with_the_rarer_outcome_are_no_evidence():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], 2000, p=[0.1, 0.9])})
    y = np.zeros(2000, dtype=int)
    y[np.flatnonzero(X["sex"] == "M")[:12]] = 1  # two women of 200 are expected among twelve
    result = ProxyDisparity(protected="sex", random_state=0).fit(X, y).result_
    assert result.verdict == "insufficient evidence"
    assert "too few people" in str(result)
