"""DiscriminatoryRules: the measures by hand, brute force, mlxtend, planted and missing values."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from skdisc.subgroup import DiscriminatoryRules
from skdisc.subgroup._discriminatory_rules_measures import MEASURES, rule_measures


def people(seed=0, n=2000):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "race": rng.choice(list("abc"), n)})
    X["town"], X["points"] = rng.choice(list("uvw"), n), rng.integers(0, 40, n)
    worse = (X["sex"] == "F") & (X["town"] == "u")
    return X, (rng.random(n) < np.where(worse, 0.3, 0.6)).astype(int)


@pytest.fixture(scope="module")
def data():
    return people()


def test_measures_by_hand():
    """30 of 40 with the property are denied, 20 of 60 others: 50 of 100 in the context."""
    row = rule_measures([30], [40], [50], [100], 0.05).iloc[0]
    assert row["elift"] == pytest.approx(0.75 / 0.5)
    assert row["slift"] == pytest.approx(0.75 / (1 / 3))
    assert row["olift"] == pytest.approx(3 / 0.5)
    error = math.sqrt(1 / 30 - 1 / 40 + 1 / 20 - 1 / 60)
    low, high = (2.25 * math.exp(s * 1.959963985 * error) for s in (-1, 1))
    assert (row["slift_low"], row["slift_high"]) == pytest.approx((low, high))
    assert row["elift_low"] == pytest.approx(low / (0.4 * low + 0.6))
    assert row["elift_high"] == pytest.approx(high / (0.4 * high + 0.6))
    error = math.sqrt(1 / 30 + 1 / 10 + 1 / 20 + 1 / 40)
    ends = [6 * math.exp(s * 1.959963985 * error) for s in (-1, 1)]
    assert [row["olift_low"], row["olift_high"]] == pytest.approx(ends)
    table = stats.hypergeom(100, 50, 40)  # of the 40, those denied
    ties, beyond = table.pmf(30), table.pmf(np.arange(31, 41)).sum()
    lower = table.pmf(np.arange(0, 10)).sum() + table.pmf(10) / 2
    assert row["p_value"] == pytest.approx(ties / 2 + beyond + lower)


def test_measures_at_the_ends():
    table = rule_measures(
        [5, 0, 0, 10, 7], [10, 10, 10, 10, 7], [5, 8, 0, 30, 7], [30, 30, 30, 30, 7], 0.05
    )
    assert table["slift"].tolist()[:2] == [math.inf, 0.0]
    assert table["slift_high"][0] == math.inf
    assert 1 < table["slift_low"][0] < math.inf
    assert table["slift_low"][1] == 0.0 < table["slift_high"][1] < 2
    assert table["elift"][0] == pytest.approx(3.0)
    assert table["elift_high"][0] == pytest.approx(3.0)  # 1 / w, and no more
    assert table[["elift", "slift", "olift", "slift_low"]].iloc[2].isna().all()  # nobody is denied
    assert table["elift"][3] == 1.0
    assert table["p_value"][3] == 1.0
    assert table["p_value"].isna()[4]  # there are no others in the context
    assert table[["slift", "slift_low", "olift"]].iloc[4].isna().all()


@given(
    x1=st.integers(0, 30), more1=st.integers(1, 30), x2=st.integers(0, 30), more2=st.integers(1, 30)
)
@settings(max_examples=60)
def test_measures_agree_on_the_direction(x1, more1, x2, more2):
    n1, n2 = x1 + more1, x2 + more2
    row = rule_measures([x1], [n1], [x1 + x2], [n1 + n2], 0.05).iloc[0]
    if x1 + x2 == 0:
        assert row[list(MEASURES)].isna().all()
        return
    signs = {m: np.sign(round(row[m] - 1, 12)) for m in MEASURES}
    assert len(set(signs.values())) == 1
    assert signs["slift"] == np.sign(x1 * n2 - x2 * n1)
    for m in MEASURES:
        assert row[f"{m}_low"] <= row[m] * (1 + 1e-12)
        assert row[m] <= row[f"{m}_high"] * (1 + 1e-12)


def test_every_rule_by_brute_force(data):
    X, y = data
    result = (
        DiscriminatoryRules(protected=["sex", "race"], direction="both", k=10**6).fit(X, y).result_
    )
    table = result.findings.table
    assert result.n_tested == len(table) > 50
    for group, row in zip(result.findings.subgroups, table.to_dict("records"), strict=True):
        context = np.ones(len(X), dtype=bool)
        for p in group.predicates:
            if p.column not in ("sex", "race"):
                context &= p.mask(X)
        has, denied = group.mask(X), y == 0
        p1, p, p2 = (denied[m].mean() for m in (has, context, context & ~has))
        expected = {"elift": p1 / p, "slift": p1 / p2, "olift": p1 * (1 - p2) / (p2 * (1 - p1))}
        assert {m: row[m] for m in expected} == pytest.approx(expected)
        assert row["effect"] == pytest.approx(p1 / p - 1)
        assert row["outcome"] == pytest.approx(1 - p1)
        assert (row["support"], row["support_context"]) == (has.sum(), context.sum())
        assert has.mean() >= 0.05


def test_planted_rule_is_found_first(data):
    for measure in MEASURES:
        detector = DiscriminatoryRules(protected=["sex", "race"], measure=measure).fit(*data)
        best = detector.result_[0]
        assert {"sex = 'F'", "town = 'u'"} <= {str(p) for p in best.subject.predicates}
        assert best.ci_low > 0
        assert detector.score(*people(1)) > 0.1
        assert detector.audit(*people(1)).n_found > 0


def test_the_threshold_and_the_direction(data):
    X, y = data
    settings = {"protected": "sex", "measure": "slift", "k": 100}
    found = {
        t: DiscriminatoryRules(threshold=t, **settings).fit(X, y).result_ for t in (1.0, 1.25, 9.0)
    }
    counts = [r.n_found for r in found.values()]
    assert counts[0] >= counts[1] > counts[2] == 0
    first = found[1.25].findings.table.head(counts[1])
    assert (first["slift"] >= 1.25).all()
    assert (first["p_adjusted"] <= 0.05).all()
    lower = DiscriminatoryRules(direction="lower", **settings).fit(X, y).result_
    assert (lower.findings.table["effect"] < 0).all()


def test_a_bias_on_missing_protected_values_is_found(data):
    X, y = data
    X = X.assign(race=X["race"].where(X["race"] != "c"))
    y = np.where(X["race"].isna() & (np.arange(len(y)) % 2 == 0), 0, y)
    result = DiscriminatoryRules(protected="race").fit(X, y).result_
    assert "race is missing" in str(result[0].subject)


def test_max_tests_ends_the_search(data):
    result = DiscriminatoryRules(protected="sex", max_tests=20).fit(*data).result_
    assert (result.stopped_by, result.verdict != "no disparity found") == ("max_tests", True)


def test_both_miners_give_the_same_result(data):
    pytest.importorskip("mlxtend")
    before = list(warnings.filters)
    own, peer = (
        DiscriminatoryRules(protected=["sex", "race"], miner=m, k=10**6).fit(*data).result_
        for m in ("bitset", "fpgrowth")
    )
    assert warnings.filters == before
    assert own.findings.to_dict() == peer.findings.to_dict()
    assert (own.n_tested, own.n_found, own.by_value) == (peer.n_tested, peer.n_found, peer.by_value)


def test_association_rules_of_mlxtend_give_the_same_confidences(data):
    pytest.importorskip("mlxtend")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from mlxtend.frequent_patterns import association_rules

    detector = DiscriminatoryRules(protected=["sex", "race"], direction="both", k=10**6)
    table = detector.fit(*data).result_.findings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rules = association_rules(detector.itemsets(), metric="confidence", min_threshold=0.0)
    denied = rules[rules["consequents"] == frozenset({"unfavourable"})]
    confidence = dict(zip(denied["antecedents"], denied["confidence"], strict=True))
    confidence[frozenset()] = np.mean(data[1] == 0)
    compared = 0
    for group, row in zip(table.subgroups, table.table.to_dict("records"), strict=True):
        whole = frozenset(map(str, group.predicates))
        if whole in confidence:
            context = frozenset(map(str, detector._context(group).predicates))
            assert row["elift"] == pytest.approx(confidence[whole] / confidence[context])
            compared += 1
    assert compared > 20
