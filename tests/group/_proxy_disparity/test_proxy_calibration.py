"""The check of calibration keeps its level, sees what is wrong, and names what it cannot read."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from skdisc.group import ProxyDisparity
from skdisc.group._proxy_disparity._calibration import _test, calibration_table


def share_of_alarms(shape, wrong, n, n_seeds=400):
    """Return the share of p-values below .05, where P(member) is a function of q."""
    alarms, covered = [], []
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        q = np.clip(rng.beta(*shape, n), 1e-9, 1 - 1e-9)
        p = wrong(q)
        member = rng.random(n) < p
        row = calibration_table({"q": q}, {"q": member}, "holm", 0.05).iloc[0]
        alarms.append(row["p_value"] <= 0.05)
        covered.append(row["ci_low"] <= np.mean(p - q) <= row["ci_high"])
    return np.mean(alarms), np.mean(covered)


@pytest.mark.statistics
@pytest.mark.parametrize(
    ("shape", "n"), [((2, 2), 60), ((0.2, 0.4), 300), ((0.05, 2), 2000), ((5, 200), 600)]
)
def test_calibrated_probabilities_raise_few_alarms(shape, n):
    """Also where the group is rare, and where the proxy is nearly certain."""
    alarms, covered = share_of_alarms(shape, lambda q: q, n)
    assert alarms <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / 400)
    assert covered >= 0.95 - 2.5 * np.sqrt(0.05 * 0.95 / 400)


@pytest.mark.statistics
@pytest.mark.parametrize(
    "wrong",
    [lambda q: 0.7 * q, lambda q: q**2 / (q**2 + (1 - q) ** 2), lambda q: 0.25 + 0.5 * q],
    ids=["too large", "too cautious", "too sure"],  # the last two are right on average
)
def test_wrong_probabilities_are_found(wrong):
    alarms, _ = share_of_alarms((1, 1), wrong, 500, 100)
    assert alarms >= 0.95


@settings(max_examples=25)
@given(st.integers(0, 2**16))
def test_one_bin_is_the_test_of_a_sum(seed):
    rng = np.random.default_rng(seed)
    q = np.full(60, rng.uniform(0.3, 0.7))
    member = rng.random(60) < 0.5
    z = (member.sum() - q.sum()) / np.sqrt((q * (1 - q)).sum())
    assert _test(q, member - q) == (pytest.approx(2 * stats.norm.sf(abs(z))), 1)


@settings(max_examples=25)
@given(st.integers(0, 2**16))
def test_bins_do_not_depend_on_the_order_of_people(seed):
    rng = np.random.default_rng(seed)
    q = rng.choice([0.1, 0.2, 0.4, 0.9, 0.95], 400)
    off = (rng.random(400) < q) - q
    mixed = rng.permutation(400)
    assert _test(q[mixed], off[mixed]) == (pytest.approx(_test(q, off)[0]), _test(q, off)[1])


def test_too_few_people_and_wrong_certainties():
    q = np.full(30, 0.1)
    assert np.isnan(_test(q, (np.arange(30) < 10) - q)[0])
    sure = np.array([0.0, *np.full(99, 0.5)])
    assert _test(sure, np.ones(100) - sure)[0] == 0


def applicants(wrong=1.0, n=3000):
    rng = np.random.default_rng(0)
    q = rng.beta(0.3, 0.6, n)
    group = np.where(rng.random(n) < wrong * q, "black", "white").astype(object)
    group[rng.random(n) < 0.8] = None
    X = pd.DataFrame({"p_black": q, "p_white": 1 - q})
    return X, rng.integers(0, 2, n), group


def test_known_groups_of_some_applicants():
    X, y, group = applicants()
    detector = ProxyDisparity(protected=list(X), learner="linear", random_state=0).fit(X, y)
    table = detector.calibration(X, group)
    assert table["column"].tolist() == ["p_black", "p_white"]
    assert table["n"].tolist() == [sum(g is not None for g in group)] * 2
    assert table["observed"][0] == np.mean([g == "black" for g in group if g is not None])
    assert (table["p_adjusted"] > 0.05).all()
    assert ((table["ci_low"] < 0) & (table["ci_high"] > 0)).all()
    _, _, group = applicants(0.7)
    off = detector.calibration(X, group)
    assert (off["p_adjusted"] < 0.001).all()
    assert off["ci_high"][0] < 0 < off["ci_low"][1]
    coded = pd.Series(group).map({"black": 2, "white": 1}).astype("Int64")
    again = detector.calibration(X, coded, groups={"p_black": 2, "p_white": 1})
    pd.testing.assert_frame_equal(again, off)


def test_what_it_cannot_read():
    X, y, group = applicants()
    detector = ProxyDisparity(protected=list(X), learner="linear", random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="known has 10 values, but X has 3000 rows"):
        detector.calibration(X, group[:10])
    with pytest.raises(ValueError, match="missing values only"):
        detector.calibration(X, [None] * len(X))
    with pytest.raises(ValueError, match=r"'p_black' is about none of the groups in known"):
        detector.calibration(X, pd.Series(group).str.title())
    with pytest.raises(ValueError, match=r"'p_white' is about none .*groups=\{'p_white'"):
        detector.calibration(X, group, groups={"p_black": "black"})
    known = X.assign(sex=y).drop(columns=list(X))
    detector = ProxyDisparity(protected="sex", learner="linear", random_state=0).fit(known, y)
    with pytest.raises(ValueError, match=r"\['sex'\] has no column of probabilities"):
        detector.calibration(known, group)


def test_people_without_a_probability_are_left_out():
    X, y, group = applicants()
    detector = ProxyDisparity(protected=list(X), learner="linear", random_state=0).fit(X, y)
    gone = np.arange(len(X)) % 3 == 0
    some = X.copy()
    some[gone] = np.nan
    found = detector.calibration(some, group)
    pd.testing.assert_frame_equal(found, detector.calibration(X[~gone], group[~gone]))
