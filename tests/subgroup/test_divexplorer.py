"""The statistics of DivExplorer by hand, its ranking, and what it calls redundant."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from published import DivExplorer
from scipy import stats
from sklearn.metrics import confusion_matrix

from skdisc import BlackBox, Limits, _stats
from skdisc._space._items import Items
from skdisc._stats._proportions import EXACT_TEST, SCORE_TEST, newcombe
from skdisc._stats._rates import AGAINST_REST, RATES, GroupTally, check_metrics, hits_and_trials
from skdisc.subgroup import _divexplorer_everyone
from skdisc.subgroup._estimation._discovery import excluded_groups, first_k, redundant
from skdisc.subgroup._lattice._lattice import Lattice

COUNTS = st.lists(st.integers(0, 60), min_size=4, max_size=4)


def test_cells_are_those_of_the_confusion_matrix():
    rng = np.random.default_rng(0)
    y, decided = rng.random(100) < 0.3, rng.random(100) < 0.6
    counts = np.bincount(2 * y + decided, minlength=4)
    tn, fp, fn, tp = confusion_matrix(y, decided).ravel()
    assert counts.tolist() == [tn, fp, fn, tp]
    assert hits_and_trials(counts, "false_discovery_rate") == (fp, fp + tp)
    assert hits_and_trials(counts, "false_omission_rate") == (fn, fn + tn)
    assert hits_and_trials(counts, "base_rate") == (tp + fn, 100)


@pytest.mark.slow
@given(groups=st.lists(COUNTS, min_size=1, max_size=2), rest=COUNTS)
@settings(max_examples=25)
def test_all_rates_of_all_groups_at_once(groups, rest):
    counts = np.array(groups)
    total = counts.sum(axis=0) + rest
    names = list(RATES)
    tally = GroupTally.joined(
        [GroupTally(*hits_and_trials(counts, m), *hits_and_trials(total, m)) for m in names]
    )
    measure, group = np.indices((len(names), len(groups))).reshape(2, -1)
    table = tally.compare(0.05)
    for i, (m, g) in enumerate(zip(measure, group, strict=True)):
        x, n = hits_and_trials(counts[g], names[m])
        x_all, n_all = hits_and_trials(total, names[m])
        row = table.iloc[i]
        assert (tally.x[i], tally.n[i]) == (x, n)
        if n == 0:
            nothing = row[["outcome", "effect", "ci_low", "ci_high", "p_value", "t"]]
            assert nothing.astype(float).isna().all()
            continue
        assert row.effect == pytest.approx(x / n - x_all / n_all)
        expected = posterior_t(x, n, x_all, n_all)
        assert row.t == pytest.approx(expected)
        check_interval_and_test(row, x, n, x_all - x, n_all - n)


def posterior_t(x, n, x_all, n_all):
    """Return t from the moments of the two Beta distributions, as scipy gives them."""
    group, everyone = stats.beta(1 + x, 1 + n - x), stats.beta(1 + x_all, 1 + n_all - x_all)
    return abs(group.mean() - everyone.mean()) / np.sqrt(group.var() + everyone.var())


def check_interval_and_test(row, x, n, x_rest, n_rest):
    if n_rest == 0:
        assert np.isnan([row.ci_low, row.ci_high, row.p_value]).all()
        return
    share = n_rest / (n + n_rest)
    low, high = newcombe(x, n, x_rest, n_rest)
    assert (row.ci_low, row.ci_high) == pytest.approx((share * low, share * high))
    assert row.ci_low <= row.effect + 1e-12
    assert row.effect <= row.ci_high + 1e-12
    assert row.effect == pytest.approx(share * (x / n - x_rest / n_rest))
    rate = (x + x_rest) / (n + n_rest)
    table = [[x, n - x], [x_rest, n_rest - x_rest]]
    if rate in (0, 1):
        assert (row.test, row.p_value) == (SCORE_TEST + AGAINST_REST, 1)
        return
    by_score = stats.chi2_contingency(table, correction=False).pvalue
    fewest = min(n, n_rest) * min(rate, 1 - rate)
    if fewest >= 100 or (fewest >= 5 and by_score >= 1e-3):
        assert row.test == SCORE_TEST + AGAINST_REST
        assert row.p_value == pytest.approx(by_score)
    else:
        assert row.test == EXACT_TEST + AGAINST_REST
        exact = stats.fisher_exact(table).pvalue
        assert exact / 2 - 1e-9 <= row.p_value <= exact + 1e-9


def test_names_of_rates():
    assert check_metrics("all", True, True) == list(RATES)
    assert check_metrics("all", True, False) == check_metrics("all", False, True)
    assert check_metrics(["accuracy", "base_rate", "accuracy"], True, True) == [
        "accuracy",
        "base_rate",
    ]
    with pytest.raises(ValueError, match="metric must be among"):
        check_metrics([], True, True)


@given(
    shape=st.tuples(st.integers(1, 3), st.integers(0, 12)),
    k=st.integers(1, 40),
    seed=st.integers(0, 99),
)
def test_the_first_k_are_those_of_a_full_sort(shape, k, seed):
    rng = np.random.default_rng(seed)
    effect = rng.choice([-900.0, -0.5, -0.2, 0.2, 0.5, np.nan], shape)  # of pay, too
    support = rng.integers(1, 4, shape[1])
    significant, worth = rng.random((2, *shape)) < 0.5
    significant, worth = significant & worth, worth & ~np.isnan(effect)
    pairs = [(m, g) for m in range(shape[0]) for g in range(shape[1]) if worth[m, g]]

    def key(pair):
        return (not significant[pair], -abs(effect[pair]), -support[pair[1]], pair[1], pair[0])

    measure, group = first_k(k, effect, support, significant, worth)
    best = sorted(pairs, key=key)
    kept = [p for i, p in enumerate(best) if sum(q[0] == p[0] for q in best[:i]) < k]
    assert list(zip(measure, group, strict=True)) == kept


@given(threshold=st.sampled_from([0, 0.02, 0.1, 0.3]), seed=st.integers(0, 20))
def test_redundant_is_what_one_condition_less_shows_too(threshold, seed):
    rng = np.random.default_rng(seed)
    masks = rng.random((6, 90)) < 0.6
    patterns = Lattice(masks, np.arange(6), None, 1).mine(5, 3)
    effect = rng.choice([-0.3, 0.0, 0.05, 0.3], (2, len(patterns)))
    place = {frozenset(p[p >= 0].tolist()): i for i, p in enumerate(patterns.items)}
    expected = np.zeros(effect.shape, bool)
    for m in range(2):
        own = {pattern: effect[m, i] for pattern, i in place.items()} | {frozenset(): 0.0}
        for pattern, i in place.items():
            gaps = [abs(own[pattern] - own[pattern - {item}]) for item in pattern]
            expected[m, i] = min(gaps) <= threshold
    assert (redundant(patterns, effect, threshold) == expected).all()
    assert not redundant(patterns, effect, None).any()


def compas(load):
    table = load("compas_discretized").astype({"#prior": str})
    return table.drop(columns=["class", "predicted"]), table["class"], table["predicted"]


OPEN = {"min_support": 0.1, "max_predicates": None, "must_include": None, "pos_label": 1}


@pytest.mark.parametrize(
    ("metric", "n"), [("false_positive_rate", 5), ("false_negative_rate", 27), ("accuracy", 7)]
)
def test_redundancy_on_compas_as_published(load, metric, n):
    """6, 28 and 8 with the row of everyone, which the package counts as a pattern."""
    X, y, decided = compas(load)
    detector = DivExplorer(metric=metric, redundancy=0.05, k=1000, **OPEN)
    result = detector.fit(X, y, BlackBox(decisions=decided)).result_
    assert (len(result), result.n_tested) == (n, 154)
    if metric == "false_positive_rate":
        names = {str(g) for g in result.findings.subgroups}
        ages = {"age = '<25'", "age = '>45'"}
        assert names == ages | {"#prior = '>3'", "race = 'Afr-Am'", "stay = '1w-3M'"}


@pytest.mark.slow
def test_all_rates_on_compas_are_tested_together(load):
    X, y, decided = compas(load)
    detector = DivExplorer(metric="all", k=10**6, **OPEN)
    result = detector.fit(X, y, BlackBox(decisions=decided)).result_
    table = result.findings.table
    assert len(table) == 12 * 154
    expected = stats.false_discovery_control(table["p_value"])
    np.testing.assert_allclose(table["p_adjusted"], expected)
    significant = (table["p_adjusted"] <= 0.05).tolist()
    assert significant == sorted(significant, reverse=True)
    mirrored = table.set_index(["measure", "support"])["effect"]
    assert mirrored["accuracy"].sum() == pytest.approx(-mirrored["error_rate"].sum())
    one = DivExplorer(metric="accuracy", k=10**6, **OPEN)
    alone = one.fit(X, y, BlackBox(decisions=decided)).result_.to_frame().set_index("subject")
    together = result.to_frame()
    together = together[together["measure"] == "accuracy"].set_index("subject").loc[alone.index]
    pd.testing.assert_series_equal(together["effect"], alone["effect"])
    pd.testing.assert_series_equal(together["p_value"], alone["p_value"])


@pytest.mark.parametrize(("direction", "sign"), [("lower", -1), ("higher", 1)])
def test_one_direction_only(load, direction, sign):
    X, y, decided = compas(load)
    detector = DivExplorer(metric="accuracy", k=1000, **OPEN)
    both = detector.fit(X, y, BlackBox(decisions=decided)).result_
    one = detector.set_params(direction=direction).fit(X, y, BlackBox(decisions=decided)).result_
    wanted = both.findings.table[np.sign(both.findings.table["effect"]) == sign]
    assert one.findings.table["effect"].tolist() == wanted["effect"].tolist()
    assert one.n_tested == both.n_tested
    assert one.n_found == (wanted["p_adjusted"] <= 0.05).sum()
    assert one.findings.table["p_adjusted"].tolist() == wanted["p_adjusted"].tolist()


def test_groups_without_a_rate_are_listed():
    X = pd.DataFrame({"g": ["a"] * 100 + ["b"] * 100 + ["c"] * 100})
    y = np.repeat([True, False, True], 100)
    decided = np.resize([True, False], 300)
    detector = DivExplorer(metric="true_positive_rate", protected="g", pos_label=True)
    result = detector.fit(X, y, BlackBox(decisions=decided)).result_
    assert result.excluded[["subject", "n"]].to_numpy().tolist() == [["g = 'b'", 100]]
    assert "undefined" in result.excluded["reason"][0]
    assert "g = 'b'" not in map(str, result.findings.subgroups)
    assert result.verdict == "insufficient evidence"
    assert excluded_groups(result.tables["groups"], 101)["subject"].tolist() == [
        "g = 'a'",
        "g = 'b'",
        "g = 'c'",
    ]


def test_single_groups_are_compared_with_the_rest():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"g": rng.choice(list("abc"), 900), "h": rng.choice(list("uv"), 900)})
    y = rng.random(900) < 0.5
    result = DivExplorer(protected="g").fit(X, y).result_
    groups = result.tables["groups"].set_index("group")
    assert groups.index.tolist() == ["g = 'a'", "g = 'b'", "g = 'c'"]
    inside = (X["g"] == "b").to_numpy()
    row = groups.loc["g = 'b'"]
    assert (row.support, row.trials) == (inside.sum(), inside.sum())
    assert row.outcome_rest == pytest.approx(y[~inside].mean())
    rate = (y.sum() + 1) / 902
    spread = np.sqrt(rate * (1 - rate) * (1 / inside.sum() + 1 / (~inside).sum()))
    z = stats.norm.isf(0.025 / result.n_tested) + stats.norm.ppf(0.8)
    assert row.min_detectable_gap == pytest.approx(z * spread)


@pytest.mark.parametrize("versus", ["context", "everyone"])
def test_k_groups_of_each_rate_are_shown(versus):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({c: rng.choice(list("abc"), 2000) for c in "ghi"})
    y = rng.random(2000) < 0.5
    decided = rng.random(2000) < np.where(y, 0.5 + 0.4 * (X["g"] == "a"), 0.5)
    metrics = ["false_positive_rate", "false_negative_rate"]
    settings = {"protected": "g", "pos_label": True, "k": 5, "versus": versus}
    box = BlackBox(decisions=decided)
    both = DivExplorer(metric=metrics, **settings).fit(X, y, box).result_.findings.table
    assert both["measure"].value_counts().to_dict() == dict.fromkeys(metrics, 5)
    for metric in metrics:
        alone = DivExplorer(metric=metric, **settings).fit(X, y, box).result_.findings.table
        shown = both[both["measure"] == metric]
        assert set(shown["effect"]) == set(alone["effect"])


@pytest.mark.parametrize("versus", ["context", "everyone"])
def test_definitions_of_the_same_rows_count_once_unless_as_published(versus):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], 400), "town": rng.choice(list("abc"), 400)})
    y = rng.integers(0, 2, 400)
    settings = {"protected": "sex", "max_predicates": 2, "versus": versus}
    plain, once, each = (
        DivExplorer(**settings, distinct=distinct).fit(rows, y).result_.n_tested
        for rows, distinct in (
            (X, True),
            (X.assign(copy=X["town"]), True),
            (X.assign(copy=X["town"]), False),
        )
    )
    assert plain == once < each


ALIKE = pd.DataFrame(
    {
        "sex": ["F", "M"] * 60,
        "again": ["w", "m"] * 60,  # the same people as by sex
        "job": list("aabbbc") * 20,
        "one": ["same"] * 120,
    }
)


@pytest.mark.parametrize("must_include", ["protected", None])
@pytest.mark.parametrize("distinct", [True, False])
@pytest.mark.parametrize("min_support", [0.05, 0.1, 0.02])
def test_groups_that_the_search_mined_are_judged_as_if_mined_again(
    monkeypatch, must_include, distinct, min_support
):
    """The verdict takes them where there are enough; others, and equal ones, are no part of it."""
    y = (np.arange(120) * 7 % 11 < 4 + 3 * (ALIKE["sex"] == "M")).astype(int)
    settings = {"must_include": must_include, "distinct": distinct, "min_support": min_support}
    results, lattices = [], []
    mine = Lattice.mine
    for as_mined in (True, False):
        with monkeypatch.context() as patch:
            if not as_mined:
                patch.setattr(_divexplorer_everyone, "judged_of", lambda *rows: None)
            n_mined = []
            patch.setattr(Lattice, "mine", lambda *a, m=n_mined, **k: m.append(1) or mine(*a, **k))
            detector = DivExplorer(protected="sex", pos_label=1, versus="everyone", **settings)
            results.append(detector.fit(ALIKE, y).result_)
            lattices.append(len(n_mined))
    assert lattices == [1 if min_support <= 0.05 else 2, 2]
    one, other = results
    assert one == other
    pd.testing.assert_frame_equal(one.tables["family"], other.tables["family"], check_exact=True)


def test_a_search_that_a_limit_ended_is_not_what_is_judged():
    y = (np.arange(120) * 7 % 11 < 4).astype(int)
    few, many = (
        DivExplorer(pos_label=1, versus="everyone", must_include=None, limits=limits).fit(ALIKE, y)
        for limits in (Limits(tests=3), None)
    )
    assert few.result_.stopped_by == "tests"
    assert len(few.result_.tables["family"]) == len(many.result_.tables["family"])


def test_what_is_computed_once_in_a_fit(monkeypatch):
    """Each would take a tenth of a fit with many rates: a test, an interval and names for each."""
    y, decisions = np.arange(120) % 3 == 0, np.arange(120) % 5 < 2
    calls = Counter()

    def counted(owner, name):
        function = getattr(owner, name)

        def call(*args, **kwargs):
            calls[name] += 1
            return function(*args, **kwargs)

        monkeypatch.setattr(owner, name, call)

    counted(_stats, "proportions_test")
    counted(GroupTally, "interval")
    counted(Items, "names_of")
    counted(Items, "counts")
    detector = DivExplorer(
        metric="all", versus="everyone", must_include=None, max_predicates=2, pos_label=1
    )
    detector.fit(ALIKE, y.astype(int), BlackBox(decisions=decisions.astype(int)))
    assert calls["proportions_test"] == 3  # of all groups, of single ones, and of those shown
    assert calls["names_of"] == calls["counts"] == 1
    assert calls["interval"] <= 3 * len(RATES)  # verdict, bounds of four sizes, and the table
