"""The lattice and DivExplorer against brute force, peers, and published figures."""

import warnings
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from published import DivExplorer
from scipy import stats
from sklearn import metrics as sk

from skdisc import BlackBox, Limits, Rule
from skdisc._stats._proportions import SCORE_TEST
from skdisc._stats._rates import RATES
from skdisc.subgroup._lattice import _kernels, _lattice


def brute_force(table, cell, n_cells, min_count):
    """Return all frequent conjunctions of column values with their counts per cell."""
    found = {}
    columns = range(table.shape[1])
    for size in range(1, table.shape[1] + 1):
        for chosen in combinations(columns, size):
            for values in product(*(np.unique(table[:, c]) for c in chosen)):
                inside = np.all(table[:, chosen] == values, axis=1)
                if inside.sum() >= min_count:
                    key = tuple(sorted(zip(chosen, values, strict=True)))
                    found[key] = tuple(np.bincount(cell[inside], minlength=n_cells).tolist())
    return found


def items_of(table):
    names = [(c, v) for c in range(table.shape[1]) for v in np.unique(table[:, c])]
    masks = np.array([table[:, c] == v for c, v in names])
    return names, masks, np.array([c for c, _ in names])


def as_dict(names, patterns):
    keys = [tuple(names[i] for i in row if i >= 0) for row in patterns.items]
    return dict(zip(keys, map(tuple, patterns.counts.tolist()), strict=True))


@pytest.fixture(params=["numpy", "numba"])
def kernel(request, monkeypatch):
    """Run a test with each of the two kernels."""
    if request.param == "numpy":
        monkeypatch.setattr(_kernels, "compiled", lambda: None)
    else:
        pytest.importorskip("numba")
        assert _kernels.compiled() is not None
        monkeypatch.setattr(_kernels, "_WORTH", 0)
    return request.param


@given(
    n=st.sampled_from([1, 2, 7, 63, 64, 65, 130, 200]),
    levels=st.lists(st.integers(1, 4), min_size=1, max_size=4),
    n_cells=st.integers(1, 4),
    min_count=st.integers(1, 9),
    seed=st.integers(0, 999),
)
@settings(max_examples=40)
def test_counts_equal_brute_force(n, levels, n_cells, min_count, seed):
    rng = np.random.default_rng(seed)
    table = np.column_stack([rng.integers(0, k, n) for k in levels])
    cell = rng.integers(0, n_cells, n)
    names, masks, feature = items_of(table)
    expected = brute_force(table, cell, n_cells, min_count)
    for kernels in (lambda: None, _kernels.compiled):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_kernels, "compiled", kernels)
            patch.setattr(_kernels, "_WORTH", 0)
            mined = _lattice.Lattice(masks, feature, cell, n_cells).mine(min_count)
        assert as_dict(names, mined) == expected


def make_table(seed=0, n=300):
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.integers(0, k, n) for k in (3, 2, 4, 3)]), rng.integers(0, 3, n)


def test_block_and_chunk_sizes_change_nothing(monkeypatch):
    table, cell = make_table()
    _, masks, feature = items_of(table)
    lattice = _lattice.Lattice(masks, feature, cell, 3)
    monkeypatch.setattr(_kernels, "compiled", lambda: None)
    whole = lattice.mine(2)
    monkeypatch.setattr(_lattice, "_COVER_BYTES", 1)
    monkeypatch.setattr(_kernels, "_CHUNK_BYTES", 1)
    small = lattice.mine(2)
    assert np.array_equal(whole.items, small.items)
    assert np.array_equal(whole.counts, small.counts)


def test_roots_length_and_pruning(kernel):
    table, cell = make_table()
    names, masks, feature = items_of(table)
    lattice = _lattice.Lattice(masks, feature, cell, 3)
    whole = as_dict(names, lattice.mine(1))
    roots = as_dict(names, lattice.mine(1, roots=np.flatnonzero(feature == 0)))
    assert roots == {k: v for k, v in whole.items() if k[0][0] == 0}
    assert as_dict(names, lattice.mine(1, 2)) == {k: v for k, v in whole.items() if len(k) <= 2}
    kept = as_dict(names, lattice.mine(1, keep=lambda counts: counts[:, 0] >= 5))
    assert kept == {k: v for k, v in whole.items() if v[0] >= 5}  # the bound is anti-monotone


def test_parents_are_all_patterns_with_one_item_less():
    table, cell = make_table(n=80)
    _, masks, feature = items_of(table)
    patterns = _lattice.Lattice(masks, feature, cell, 3).mine(2)
    sets = [frozenset(i for i in row if i >= 0) for row in patterns.items.tolist()]
    place = {s: i for i, s in enumerate(sets)}
    expected = {
        (i, place[s - {item}], item)
        for i, s in enumerate(sets)
        for item in s
        if s - {item} in place
    }
    edges = {e for e in zip(*(a.tolist() for a in patterns.parents()), strict=True) if e[1] >= 0}
    assert edges == expected


def compas(load):
    frame = load("compas_discretized").astype({"#prior": str})
    return frame.drop(columns=["class", "predicted"]), frame["class"], frame["predicted"]


@pytest.mark.parametrize(
    ("metric", "conditions", "divergence", "t"),
    [
        (
            "false_positive_rate",
            {"age": "25-45", "race": "Afr-Am", "sex": "Male", "#prior": ">3"},
            0.2197,
            7.12,
        ),
        ("false_negative_rate", {"age": "25-45", "stay": "<week", "#prior": "0"}, 0.2364, 12.1),
        ("accuracy", {"race": "Cauc", "stay": "<week", "#prior": "0"}, 0.1406, None),
    ],
)
def test_published_figures_on_compas(load, metric, conditions, divergence, t):
    X, y, decided = compas(load)
    detector = DivExplorer(
        metric=metric,
        min_support=0.1,
        max_predicates=None,
        must_include=None,
        direction="higher",
        pos_label=1,
    )
    result = detector.fit(X, y, BlackBox(decisions=decided)).result_
    assert result.n_tested == 154  # and the root makes 155
    best = result[0]
    assert {p.column: p.values[0] for p in best.subject.predicates} == conditions
    assert best.effect == pytest.approx(divergence, abs=5e-5)
    if t is not None:
        assert result.to_frame()["t"][0] == pytest.approx(t, abs=0.05)


@pytest.mark.extras("divexplorer")
@pytest.mark.parametrize("min_support", [0.01, 0.05])
def test_equal_to_the_released_package(min_support):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({c: rng.choice(list("abcd"), 2000) for c in "uvwx"})
    y, decided = rng.random(2000) < 0.4, rng.random(2000) < 0.4
    frame = X.assign(fp=np.where(~y, decided.astype(float), np.nan))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the peer, about pandas
        import divexplorer

        theirs = divexplorer.DivergenceExplorer(frame).get_pattern_divergence(
            min_support=min_support, boolean_outcomes=["fp"], attributes=list("uvwx")
        )
    detector = DivExplorer(
        metric="false_positive_rate",
        min_support=min_support,
        max_predicates=None,
        must_include=None,
        k=10_000,
        pos_label=True,
    )
    result = detector.fit(X, y, BlackBox(decisions=decided)).result_
    ours = {
        frozenset(f"{p.column}={p.values[0]}" for p in g.predicates): (d, t)
        for g, d, t in zip(
            result.findings.subgroups,
            result.findings.table["effect"],
            result.findings.table["t"],
            strict=True,
        )
    }
    rows = theirs[theirs["itemset"].map(len) > 0]
    expected = {
        frozenset(i): (d, t)
        for i, d, t in zip(rows["itemset"], rows["fp_div"], rows["fp_t"], strict=True)
    }
    assert ours.keys() == expected.keys()
    for key, pair in expected.items():
        assert ours[key] == pytest.approx(pair, abs=1e-9)


@pytest.mark.parametrize("metric", list(RATES))
def test_every_rate_and_its_test_by_hand(metric):
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"g": rng.choice(list("abc"), 600)})
    y = rng.random(600) < 0.5
    decided = rng.random(600) < np.where(X["g"] == "a", 0.3, 0.6)
    detector = DivExplorer(metric=metric, min_support=0.01, pos_label=True)
    result = detector.fit(X, y, BlackBox(decisions=decided)).result_
    own = {
        "selection_rate": lambda y, d: d.mean(),
        "base_rate": lambda y, d: y.mean(),
        "true_positive_rate": sk.recall_score,
        "false_positive_rate": lambda y, d: 1 - sk.recall_score(~y, ~d),
        "true_negative_rate": lambda y, d: sk.recall_score(~y, ~d),
        "false_negative_rate": lambda y, d: 1 - sk.recall_score(y, d),
        "positive_predictive_value": sk.precision_score,
        "negative_predictive_value": lambda y, d: sk.precision_score(~y, ~d),
        "false_discovery_rate": lambda y, d: 1 - sk.precision_score(y, d),
        "false_omission_rate": lambda y, d: 1 - sk.precision_score(~y, ~d),
        "accuracy": sk.accuracy_score,
        "error_rate": lambda y, d: 1 - sk.accuracy_score(y, d),
    }[metric]
    for i in range(len(result)):
        inside = result[i].subject.mask(X)
        row = result.to_frame().iloc[i]
        assert row.outcome == pytest.approx(own(y[inside], decided[inside]))
        assert row.effect == pytest.approx(own(y[inside], decided[inside]) - own(y, decided))
        assert row.outcome_rest == pytest.approx(own(y[~inside], decided[~inside]))
        assert row.ci_low <= row.effect <= row.ci_high
        hits = row.outcome * row.trials
        rest = sum(result.to_frame().trials[:3]) - row.trials
        table = [
            [hits, row.trials - hits],
            [row.outcome_rest * rest, (1 - row.outcome_rest) * rest],
        ]
        expected = stats.chi2_contingency(table, correction=False).pvalue
        if row.test.startswith(SCORE_TEST):
            assert row.p_value == pytest.approx(expected)
        else:
            assert row.p_value < 1e-3
            assert row.p_value <= stats.fisher_exact(np.rint(table)).pvalue


def noise(seed, n=2000):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({c: rng.choice(list("abc"), n) for c in "uvwx"})
    return X, rng.random(n) < 0.5


@pytest.mark.statistics
def test_noise_is_not_reported():
    alarms, raw = 0, []
    for seed in range(40):
        result = DivExplorer(must_include=None, min_support=0.01, k=1000).fit(*noise(seed)).result_
        alarms += result.n_found > 0
        raw.append((result.findings.table["t"] > 1.96).sum())
    assert alarms <= 6  # level 0.05 for the family; 6 of 40 has probability 0.01 even at 0.05
    assert np.mean(raw) >= 4


def planted(seed=0, n=4000):
    X, y = noise(seed, n)
    inside = (X["u"] == "a") & (X["v"] == "b")
    return X, np.where(inside, np.random.default_rng(seed).random(n) < 0.25, y), inside


@pytest.mark.statistics
def test_a_planted_group_is_found_confirmed_and_leads_back_to_its_rows():
    X, y, inside = planted()
    detector = DivExplorer(protected=["u"], redundancy=0.05, confirm=0.5, random_state=0).fit(X, y)
    result = detector.result_
    assert str(result[0].subject) == "u = 'a' and v = 'b'"
    assert result[0].subject.mask(X).tolist() == inside.tolist()
    assert (
        X.query(result[0].subject.to_query(), engine="python").index.tolist()
        == X.index[inside].tolist()
    )
    assert result.to_frame()["held_out_p_adjusted"][0] < 0.05
    assert detector.transform(X)[:, 0].tolist() == inside.tolist()
    assert detector.get_feature_names_out()[0] == "u = 'a' and v = 'b'"
    X_new, y_new, _ = planted(1)
    again = detector.audit(X_new, y_new)
    assert again[0].effect == pytest.approx(-0.22, abs=0.06)
    assert again[0].effect == pytest.approx(-detector.score(X_new, y_new))


def test_missing_values_are_a_group():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["F", "M", None], 900), "n": rng.random(900)})
    X.loc[::3, "n"] = np.nan
    y = rng.random(900) < np.where(X["sex"].isna(), 0.1, 0.6)
    result = DivExplorer(protected="sex", max_predicates=1).fit(X, y).result_
    assert str(result[0].subject) == "sex is missing"
    assert result[0].direction == -1
    dropped = DivExplorer(protected="sex", missing="drop").fit(X, y).result_
    assert any("missing protected value were dropped" in note for note in dropped.notes)
    with pytest.raises(ValueError, match="missing='category' makes it a group"):
        DivExplorer(protected="sex", missing="raise").fit(X, y)


def test_small_groups_are_listed_and_do_not_read_as_fair():
    X = pd.DataFrame({"g": ["a"] * 500 + ["b"] * 500 + ["c"] * 3})
    y = np.tile([0, 1], 502)[:1003]
    result = DivExplorer(protected="g").fit(X, y).result_
    assert result.excluded["subject"].tolist() == ["g = 'c'"]
    assert result.excluded["n"].tolist() == [3]
    assert result.verdict == "no disparity found"
    assert "of 5 % of these people or more" in result.reason  # so not about the group of three
    small = DivExplorer(protected="g", rule=Rule(relevant_size=0.001)).fit(X, y).result_
    assert small.verdict == "insufficient evidence"


@pytest.mark.parametrize("metric", ["accuracy", "true_positive_rate"])
def test_labels_alone_know_one_rate(metric):
    X, y = noise(0)
    with pytest.raises(ValueError, match="needs decisions: pass model="):
        DivExplorer(metric=metric).fit(X, y)
    with pytest.raises(ValueError, match="needs y, the labels"):
        DivExplorer(metric=metric, pos_label=1).fit(X, model=lambda X: X["u"] == "a")
    with pytest.raises(ValueError, match="metric must be among"):
        DivExplorer(metric="acuracy").fit(X, y)


def test_budgets_end_the_walk_and_are_named():
    X, y = noise(0)
    result = DivExplorer(limits=Limits(tests=5)).fit(X, y).result_
    assert (result.stopped_by, result.verdict) == ("tests", "insufficient evidence")
    nothing = DivExplorer(limits=Limits(tests=0)).fit(X, y).result_
    assert (nothing.n_tested, nothing.verdict) == (0, "insufficient evidence")
    asked = (
        DivExplorer(limits=Limits(tests=0), pos_label=1)
        .fit(X, model=lambda X: X["u"] == "a")
        .result_
    )
    assert (asked.n_queries, asked.stopped_by) == (0, "tests")
    assert asked.verdict == "insufficient evidence"


def test_numba_is_loaded_only_by_work_that_pays_for_it(monkeypatch):
    """Small tables do without it; the work of many small ones adds up."""
    asked = []
    monkeypatch.setattr(_kernels, "compiled", lambda: asked.append(1))
    monkeypatch.setattr(_kernels, "_done", 0)
    monkeypatch.setattr(_kernels, "_WORTH", 30)
    bits, at = np.ones((1, 5), dtype=np.uint64), np.zeros(4, dtype=int)
    _kernels.count(bits, at, bits, at, np.array([0, 5]))
    assert not asked
    _kernels.join(bits, at, bits, at)
    assert asked
