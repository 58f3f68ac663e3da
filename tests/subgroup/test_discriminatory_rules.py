"""DiscriminatoryRules: the measures by hand, brute force, mlxtend, planted and missing values."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdisc import Limits, Rule, _stats
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


def test_elift_without_weights_is_exactly_the_ratio_of_two_confidences():
    x1, n1, x, n = np.arange(1, 40), np.arange(41, 80), np.arange(2, 80, 2), np.arange(101, 140)
    table = rule_measures(x1, n1, x, n, 0.05)
    assert table["elift"].tolist() == ((x1 / n1) / (x / n)).tolist()


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
    # there are no others in the context
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
        others = context & ~has
        counts = y[has].sum(), has.sum(), y[others].sum(), others.sum()
        assert row["p_value"] == pytest.approx(float(_stats.proportions_test(*counts)[0]))
        assert row["gap"] == pytest.approx(y[has].mean() - y[others].mean())
        rarer = min(p, 1 - p) * min(has.sum(), others.sum())
        assert (others.mean() >= 0.05, rarer >= 5) == (True, True)


def test_planted_rule_is_found_first(data):
    for measure in MEASURES:
        detector = DiscriminatoryRules(protected=["sex", "race"], measure=measure).fit(*data)
        best = detector.result_[0]
        assert {"sex = 'F'", "town = 'u'"} <= {str(p) for p in best.subject.predicates}
        assert best.ci_low > 0
        assert detector.score(*people(1)) > 0.1
        assert detector.audit(*people(1)).n_found > 0


def test_scores_of_all_measures_are_gaps():
    X = pd.DataFrame({"sex": np.repeat(["F", "M"], 100), "town": np.tile(["u", "v"], 100)})
    y, scores = ((X["sex"] == "M") | (X.index == 1)).to_numpy().astype(int), []
    for measure in MEASURES:  # no man is refused, so two of the ratios are infinite
        detector = DiscriminatoryRules(protected="sex", measure=measure, order="effect").fit(X, y)
        scores.append(detector.score(X, y))
        assert -1 <= scores[-1] <= 1
        gap = abs(detector.result_.to_frame()["gap"][0])
        assert scores[-1] == pytest.approx(gap)
    assert np.isfinite(scores).all()


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
    result = DiscriminatoryRules(protected="sex", limits=Limits(tests=20)).fit(*data).result_
    assert (result.stopped_by, result.verdict != "no disparity found") == ("tests", True)


def test_itemsets_are_those_of_fpgrowth(data):
    pytest.importorskip("mlxtend")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from mlxtend.frequent_patterns import fpgrowth

    X, y = data[0].drop(columns="points"), data[1]
    words = pd.DataFrame({f"{c} = {v!r}": X[c] == v for c in X for v in sorted(X[c].unique())})
    words = words.assign(favorable=y == 1, unfavorable=y == 0)
    peer = fpgrowth(words, min_support=0.05, use_colnames=True)
    detector = DiscriminatoryRules(protected=["sex", "race"], max_predicates=None, distinct=False)
    own = detector.fit(X, y).itemsets()
    supports = [dict(zip(t["itemsets"], t["support"], strict=True)) for t in (own, peer)]
    assert len(own) == len(peer) > 50
    assert supports[0] == pytest.approx(supports[1])


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
    denied = rules[rules["consequents"] == frozenset({"unfavorable"})]
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


@given(
    x1=st.integers(0, 40),
    more1=st.integers(1, 40),
    x2=st.integers(0, 40),
    more2=st.integers(1, 40),
    level=st.sampled_from([0.2, 0.05, 1e-3]),
)
@settings(max_examples=100)
def test_intervals_contain_1_exactly_if_the_test_does_not_reject(x1, more1, x2, more2, level):
    n1, n2 = x1 + more1, x2 + more2
    p_value = _stats.proportions_test(x1, n1, x2, n2)[0]
    row = rule_measures([x1], [n1], [x1 + x2], [n1 + n2], level, None, np.array([p_value])).iloc[0]
    for m in MEASURES if x1 + x2 else ():
        assert (row[f"{m}_low"] <= 1 <= row[f"{m}_high"]) == (p_value >= level)
        assert row[f"{m}_low"] <= row[m] * (1 + 1e-12)
        assert row[m] <= row[f"{m}_high"] * (1 + 1e-12)


def unaffected(seed, n=1000):
    """Return people whose decisions depend on town and points, not on sex and race."""
    X, _ = people(seed, n)
    noise = np.random.default_rng(seed + 10_000).normal(size=n)
    return X, (X["points"] / 20 + (X["town"] == "u") + noise > 1.3).astype(int)


@pytest.mark.statistics
def test_decisions_by_other_columns_are_no_discrimination():
    detector = DiscriminatoryRules(protected=["sex", "race"], direction="both")
    found = [detector.fit(*unaffected(seed)).result_.n_found > 0 for seed in range(60)]
    assert np.mean(found) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 60)


def test_a_planted_rule_comes_first_by_the_evidence():
    first = []
    for seed in range(10):
        X, _ = people(seed, 5000)
        worse = (X["sex"] == "F") & (X["town"] == "u")
        y = np.random.default_rng(seed + 99).random(5000) < np.where(worse, 0.35, 0.5)
        result = DiscriminatoryRules(protected="sex").fit(X, y.astype(int)).result_
        first.append(str(result[0].subject))
        assert (result.verdict, result.null) == ("disparity found", "contextual")
        p_value = result.to_frame()["p_value"].to_numpy()[: result.n_found]
        conditions = [set(g.predicates) for g in result.findings.subgroups]
        for i in np.flatnonzero(p_value < np.maximum.accumulate(p_value)):
            assert any(other < conditions[i] for other in conditions[:i])  # a refinement
    assert first.count("sex = 'F' and town = 'u'") >= 8


def test_a_set_of_rows_is_one_rule_and_both_sides_are_one_contrast(data):
    X, y = data
    own = {"protected": "sex", "direction": "both", "k": 1000}
    plain = DiscriminatoryRules(**own).fit(X, y).result_
    names = {"u": "north", "v": "east", "w": "west"}
    more = X.assign(country="here", copy=X["town"].map(names))
    same = DiscriminatoryRules(**own).fit(more, y).result_
    assert [str(f.subject) for f in same] == [str(f.subject) for f in plain]
    frame = plain.to_frame()
    assert (frame["gap"] < 0).all()  # of two sides the worse one
    every = DiscriminatoryRules(**own, distinct=False).fit(more, y).result_
    assert every.n_tested > 4 * plain.n_tested
    better = DiscriminatoryRules(**{**own, "direction": "lower"}).fit(X, y).result_
    assert (better.to_frame()["gap"] > 0).all()
    assert better.n_tested == plain.n_tested


def test_intervals_widen_with_the_search(data):
    few, many = (
        DiscriminatoryRules(protected="sex", k=k).fit(*data).result_.to_frame().iloc[0]
        for k in (1, 20)
    )
    assert few["subject"] == many["subject"]
    for low, high in (("ci_low", "ci_high"), ("gap_low", "gap_high")):
        assert few[low] < many[low]
        assert many[high] < few[high]


def test_verdicts_are_claims_about_every_group_of_relevant_size(data):
    own = {"protected": ["sex", "race"]}
    fair = unaffected(0, 20_000)
    result = DiscriminatoryRules(**own).fit(*fair).result_
    assert (result.verdict, result.reason[:14]) == ("no disparity found", "no gap above 0")
    assert (result.tables["family"]["upper"] <= result.answer.bound).all()
    few = DiscriminatoryRules(**own).fit(*unaffected(1, 400)).result_
    assert few.verdict == "insufficient evidence"
    assert few.reason.startswith(f"of none of the {few.answer.n_family} groups compared")
    unprotected = DiscriminatoryRules().fit(*data).result_
    assert (unprotected.null, unprotected.verdict) == ("everyone", "differs from everyone")


def test_small_effects_and_confirmation(data):
    own = {"protected": "sex", "max_predicates": 2}
    verdicts = {
        least: DiscriminatoryRules(**own, rule=Rule(min_effect=least)).fit(*data).result_.verdict
        for least in (0.1, 0.5)
    }
    assert verdicts[0.1] == "disparity found" != verdicts[0.5]
    held_out = DiscriminatoryRules(**own, confirm=0.5, random_state=0).fit(*data).result_
    assert held_out.verdict == "disparity found"
    assert held_out.to_frame()["held_out_ci_low"][0] > 0
    strict = DiscriminatoryRules(**own, confirm=0.5, random_state=0, rule=Rule(min_effect=0.5))
    assert strict.fit(*data).result_.n_found == 0


def test_published_order(data):
    own = {"protected": ["sex", "race"], "distinct": False, "k": 100}
    bound = DiscriminatoryRules(**own, order="bound").fit(*data).result_
    found = bound.to_frame().head(bound.n_found)
    assert (np.diff(found["elift_low"]) <= 1e-9).all()
    assert "gap" not in found
    effect = DiscriminatoryRules(**own, order="effect").fit(*data).result_
    assert effect.n_found == bound.n_found
    assert (np.diff(effect.to_frame().head(effect.n_found)["elift"]) <= 1e-9).all()
