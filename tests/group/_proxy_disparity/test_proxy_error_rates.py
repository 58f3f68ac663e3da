"""ProxyDisparity with error rates: bounds against linear-fractional programs."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from skdisc import BlackBox
from skdisc.group import GroupDisparity, ProxyDisparity
from skdisc.group._proxy_disparity._bounds import gap_bounds, rate_bounds

parts = st.tuples(*[st.integers(1, 9)] * 3).map(lambda k: np.array(k) / sum(k))
laws = st.lists(st.tuples(st.integers(1, 5), parts, parts), min_size=1, max_size=4)


def law_of(law, others):
    """Return sizes, P(hit | z), P(miss | z), and probabilities of the group and its reference."""
    n = np.array([k for k, _, _ in law], dtype=float)
    hit, miss, _ = np.array([own for _, own, _ in law]).T
    q, q_other, rest = np.array([own for _, _, own in law]).T
    return n / n.sum(), hit, miss, q, q_other + (0 if others else rest)


def constraints(w, hit, miss, q):
    """Return the constraints of hits and misses of members: rows and limits, and bounds."""
    n = len(w)
    both = np.hstack([np.eye(n), np.eye(n)])
    above = np.vstack([both, -both])
    below = np.concatenate([q, -np.maximum(0, q + hit + miss - 1)])
    return above, below, np.concatenate([hit, miss])


def by_charnes_cooper(w, hit, miss, q, sign):
    """Return the largest (or least) rate of members: variables times t, with trials t = 1."""
    above, below, most = constraints(w, hit, miss, q)
    n = len(w)
    rows = np.vstack([above, np.eye(2 * n)])
    A = np.hstack([rows, -np.concatenate([below, most])[:, None]])
    cost = -sign * np.concatenate([w, np.zeros(n + 1)])
    trials = np.concatenate([w, w, [0.0]])[None]
    found = linprog(cost, A_ub=A, b_ub=np.zeros(len(A)), A_eq=trials, b_eq=[1.0])
    assert found.status == 0
    return -sign * found.fun


def is_possible(w, hit, miss, q, q_other, rates):
    """Return whether one law has these rates in the group and in its reference."""
    n = len(w)
    above, below, _ = constraints(w, hit, miss, q)
    above_other, below_other, _ = constraints(w, hit, miss, q_other)
    zero = np.zeros_like(above)
    A = np.vstack([np.hstack([above, zero]), np.hstack([zero, above_other])])
    b = np.concatenate([below, below_other])
    both = np.hstack([np.eye(2 * n), np.eye(2 * n)])  # hits of both sides are hits
    everyone = np.hstack([np.eye(n)] * 4)  # and what is left has room for the others
    A = np.vstack([A, both, -everyone])
    least = np.maximum(0, q + q_other - (1 - hit - miss))
    b = np.concatenate([b, hit, miss, -least])
    equal = np.zeros((2, 4 * n))
    for i, rate in enumerate(rates):
        at = 2 * n * i
        equal[i, at : at + n], equal[i, at + n : at + 2 * n] = w * (1 - rate), -w * rate
    b = b + 1e-9
    return linprog(np.zeros(4 * n), A_ub=A, b_ub=b, A_eq=equal, b_eq=[0.0, 0.0]).status == 0


@settings(deadline=None, max_examples=30)
@given(law=laws, others=st.booleans())
def test_bounds_are_those_of_linear_fractional_programs(law, others):
    w, hit, miss, q, q_other = law_of(law, others)
    least = min((w * np.maximum(0, s + own - 1)).sum() for s in (hit, miss) for own in (q, q_other))
    shares = [(w * np.minimum(s, own)).sum() for s in (hit, miss) for own in (q, q_other)]
    assume(least >= 0 and min(shares) > 0)
    n = np.repeat(np.arange(len(w)), [k for k, _, _ in law])
    bounds = rate_bounds(*(own[n] for own in (hit, miss, q, q_other, hit, miss)))
    high = by_charnes_cooper(w, hit, miss, q, 1), by_charnes_cooper(w, hit, miss, q_other, -1)
    low = by_charnes_cooper(w, hit, miss, q, -1), by_charnes_cooper(w, hit, miss, q_other, 1)
    assert bounds.high.value == pytest.approx(high[0] - high[1], abs=1e-7)
    assert bounds.low.value == pytest.approx(low[0] - low[1], abs=1e-7)
    assert is_possible(w, hit, miss, q, q_other, high)
    assert is_possible(w, hit, miss, q, q_other, low)
    assert bounds.low.value - 1e-9 <= bounds.weighted.value <= bounds.high.value + 1e-9


@settings(deadline=None, max_examples=20)
@given(law=laws, seed=st.integers(0, 2**16))
def test_wrong_expectations_only_widen_and_selection_rates_are_a_special_case(law, seed):
    w, hit, miss, q, _ = law_of(law, True)
    n, rng = np.repeat(np.arange(len(w)), [k for k, _, _ in law]), np.random.default_rng(seed)
    hit, miss, q = (own[n] for own in (hit, miss, q))
    right = rate_bounds(hit, miss, q, 1 - q, hit, miss)
    wrong = rate_bounds(hit, miss, q, 1 - q, rng.random(len(n)), rng.random(len(n)))
    if wrong is not None:
        assert wrong.low.value <= right.low.value + 1e-9
        assert wrong.high.value >= right.high.value - 1e-9
    whole = rate_bounds(hit, 1 - hit, q, 1 - q, hit, 1 - hit)
    plain = gap_bounds(hit, q, 1 - q, hit)
    assert whole.low.value == pytest.approx(plain.low.value)
    assert whole.high.value == pytest.approx(plain.high.value)
    assert whole.high.error == pytest.approx(plain.high.error)


def people(rng, n, gap):
    """Members of known probability, labels, and decisions with an unequal true positive rate."""
    q = rng.beta(0.1, 0.15, n)
    member = rng.random(n) < q
    y = (rng.random(n) < 0.6 - 0.2 * member).astype(int)
    chance = np.where(y == 1, 0.8 - gap * member, 0.3)
    return pd.DataFrame({"p_black": q}), member, y, (rng.random(n) < chance).astype(int)


@pytest.mark.statistics
@pytest.mark.parametrize("gap", [0.0, 0.5])
def test_intervals_contain_the_gap_of_true_positive_rates(gap):
    inside, found, n_seeds = 0, 0, 20
    for seed in range(n_seeds):
        X, _, y, decisions = people(np.random.default_rng(seed), 1500, gap)
        detector = ProxyDisparity(
            protected="p_black", metric="true_positive_rate", learner="linear", random_state=0
        )
        result = detector.fit(X, y, BlackBox(decisions=decisions)).result_
        row = result.findings.table.iloc[0]
        inside += row["ci_low"] <= -gap <= row["ci_high"]
        found += result.verdict == "disparity found"
    assert inside == n_seeds  # the truth lies within the bounds
    assert found == (n_seeds if gap else 0)


def test_known_groups_have_the_gap_of_their_rates():
    X, member, y, decisions = people(np.random.default_rng(0), 2000, 0.3)
    X["sex"] = np.where(member, "f", "m")
    box = BlackBox(decisions=decisions)
    for metric, measure in (
        ("true_positive_rate", "equal_opportunity"),
        ("positive_predictive_value", "predictive_parity"),
    ):
        own = ProxyDisparity(protected="sex", metric=metric, random_state=0).fit(X, y, box).result_
        plain = GroupDisparity(protected="sex", measures=[measure], reference="rest")
        other = plain.fit(X, y, box).result_
        effects = {str(f.subject): f.effect for f in other}
        assert abs(effects[str(own[0].subject)]) == pytest.approx(abs(own[0].effect))
        row = own.findings.table.iloc[0]
        assert row["bound_low"] == pytest.approx(row["bound_high"])
        assert row["effect"] == pytest.approx(rate_gap(member, y, decisions, metric))


def rate_gap(member, y, decisions, metric):
    """Return the rate of members minus that of the others."""
    given, event = (y, decisions) if metric == "true_positive_rate" else (decisions, y)
    own, other = (event[side & (given == 1)].mean() for side in (member, ~member))
    return own - other


def test_what_a_rate_needs_is_said():
    X, _, y, decisions = people(np.random.default_rng(0), 300, 0.0)
    detector = ProxyDisparity(protected="p_black", metric="true_positive_rate")
    with pytest.raises(ValueError, match="true_positive_rate"):
        detector.fit(X, y)
    detector.set_params(max_difference=0.1)
    with pytest.raises(ValueError, match="is about selection rates"):
        detector.fit(X, y, BlackBox(decisions=decisions))
    detector.set_params(max_difference=None)
    none = detector.fit(X, np.zeros(300, dtype=int), BlackBox(decisions=decisions)).result_
    assert none.verdict == "insufficient evidence"
