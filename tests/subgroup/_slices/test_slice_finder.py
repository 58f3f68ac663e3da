"""SliceFinder: effect sizes and tests against SciPy, planted slices, and what noise gives."""

import runpy
from operator import itemgetter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from published import PUBLISHED
from skewed_pay import oracle
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from skdisc import Limits, Rule
from skdisc.subgroup import SliceFinder
from skdisc.subgroup._slices._alpha_investing import invest
from skdisc.subgroup._slices._slice_finder_candidates import SliceCandidates


def own(error):
    """Return a detector's setting for these errors, whatever the decisions."""

    def given_errors(labels, answers):
        return error

    return given_errors


def search(X, error, **options):
    options = {"must_include": None, "min_rows": 5, "k": 10**6, **PUBLISHED, **options}
    return SliceFinder(errors=own(error), **options).fit(X, np.arange(len(X)) % 2).result_


def cohen(error, inside):
    a, b = error[inside], error[~inside]
    return np.sqrt(2) * (a.mean() - b.mean()) / np.sqrt(a.var(ddof=1) + b.var(ddof=1))


def table(rng, n=600):
    X = pd.DataFrame({c: rng.choice(list("abc"), n) for c in "uvw"})
    X["age"] = rng.integers(18, 70, n)
    return X


@given(seed=st.integers(0, 999), approach=st.sampled_from(["lattice", "tree", "cluster"]))
@settings(max_examples=10)
def test_effect_sizes_and_tests_are_those_written_out(seed, approach):
    rng = np.random.default_rng(seed)
    X = table(rng)
    error = rng.exponential(size=600) + (X["u"] == "a") * rng.random() + (X["age"] > 50)
    result = search(X, error, approach=approach)
    frame = result.to_frame("subgroups")
    assert len(frame) or approach == "cluster"
    for group, row in zip(result.findings.subgroups, frame.itertuples(), strict=True):
        inside = group.mask(X)
        assert row.slice_size == inside.sum()
        assert row.effect_size == pytest.approx(cohen(error, inside))
        both = error[inside], error[~inside]
        assert row.p_value == pytest.approx(oracle(*both, both, is_greater=True)[1])
        assert row.metric == pytest.approx(error[inside].mean())


def test_the_lattice_is_complete_and_in_the_papers_order():
    """Every conjunction is tested; problematic ones come in order, none inside another."""
    rng = np.random.default_rng(0)
    X = table(rng, 900).drop(columns="age")
    inside = (X["u"] == "a") & (X["v"] == "b")
    error = rng.exponential(size=900) + 2.0 * inside + 1.5 * (X["w"] == "c")
    result = search(X, error, approach="lattice", max_predicates=3, effect_size=0.6)
    frame, groups = result.to_frame(), result.findings.subgroups
    assert result.n_tested == 3 * 3 + 3 * 9 + 27
    shown = [set(g.predicates) for g, yes in zip(groups, frame["problematic"], strict=True) if yes]
    assert result.n_found == len(shown) >= 2
    assert {"u = 'a' and v = 'b'", "w = 'c'"} <= {str(g) for g in groups[: len(shown)]}
    assert not any(a < b for a in shown for b in shown)
    keys = [(len(s), -n) for s, n in zip(shown, frame["support"], strict=False)]
    assert keys == sorted(keys)
    good = frame[frame["problematic"]]
    assert (good["effect_size"] >= 0.6).all()
    assert (good["p_adjusted"] <= 0.05).all()


def test_alpha_investing_by_hand():
    """At wealth W a miss costs W / 10, tested at level c / (1 + c); a hit earns 0.05."""
    none, every = np.empty(0, dtype=int), np.ones(4, dtype=bool)
    lot = SliceCandidates("x", [], np.ones(4, dtype=int), np.ones((4, 4)), none, none, np.ones(4))
    p_value = np.array([0.5, 0.004, 0.03, 0.005])
    accepted, adjusted, left = invest(p_value, every, lot, 0.05, 0.05)
    wealth, levels = 0.05, []
    for p in p_value:
        cost = wealth / 10
        levels.append(cost / (1 + cost))
        wealth = wealth + 0.05 if p <= levels[-1] else wealth - cost
    assert accepted.tolist() == [False, True, False, True] == (p_value <= levels).tolist()
    assert left == pytest.approx(wealth)
    np.testing.assert_allclose(adjusted, np.minimum(1, p_value * 0.05 / levels))
    small = np.array([True, False, True, True])
    assert invest(p_value, small, lot, 0.05, 0.05)[0].tolist() == [False, False, False, True]
    child, parent = np.array([1, 2]), np.array([0, 1])
    nested = SliceCandidates(
        "x", [], np.array([1, 2, 3, 1]), np.ones((4, 4)), child, parent, np.ones(4)
    )
    accepted, adjusted, _ = invest(np.array([0.001, 0, 0, 0.9]), every, nested, 0.05, 0.05)
    assert accepted.tolist() == [True, False, False, False]
    assert np.isnan(adjusted[1:3]).all()


def test_the_tree_splits_where_the_errors_change():
    rng = np.random.default_rng(0)
    X = table(rng, 1200)
    X.loc[::7, "age"] = np.nan
    inside = (X["age"] > 43) & (X["u"] == "b")
    error = (rng.random(1200) < np.where(inside, 0.7, 0.1)).astype(float)
    result = search(X, error, approach="tree", max_depth=2, n_bins=8, effect_size=1)
    best = result.findings.subgroups[0].mask(X)
    assert (best & inside).sum() / (best | inside).sum() > 0.8
    for name in ("rules", "approaches"):
        assert len(result.to_frame(name))
    rules = result.to_frame("rules")
    assert ((rules["feature_name"] == "age") & (rules["operator"] == ">")).any()
    again = result.from_json(result.to_json())
    assert again == result


def test_both_approaches_agree_on_a_plain_slice_and_are_counted():
    rng = np.random.default_rng(0)
    X = table(rng, 1500).drop(columns="age")
    error = (rng.random(1500) < np.where(X["u"] == "a", 0.6, 0.1)).astype(float)
    frame = search(X, error).to_frame("subgroups")
    assert frame["slice"][0] == "u = 'a'"
    assert frame["approach"][0] == "both"
    assert frame["slice_index"].tolist() == list(range(len(frame)))
    counts = search(X, error).to_frame("approaches")
    assert counts["approach"].tolist() == ["lattice", "tree"]
    assert (counts["n_found"] > 0).all()


flipped, accuracy = itemgetter("flipped", "accuracy")(
    runpy.run_path(Path(__file__).parents[3] / "benchmarks" / "slice_accuracy.py")
)


@pytest.mark.slow
@pytest.mark.parametrize("correction", ["bonferroni", "bh", "alpha-investing"])
def test_slices_with_flipped_labels_are_found(correction):
    """Harmonic mean of precision and recall, over rows of accepted slices, as in the paper."""
    *_, lattice = accuracy("lattice", correction, range(6))
    *_, tree = accuracy("tree", correction, range(6))
    assert lattice > 0.9
    assert 0.6 < tree < lattice


@pytest.mark.statistics
@pytest.mark.slow
@pytest.mark.parametrize("correction", ["bh", "alpha-investing"])
@pytest.mark.parametrize("rate", [0.3, 0.93])
def test_noise_is_not_reported(correction, rate):
    alarms, runs = 0, 20
    for seed in range(runs):
        rng = np.random.default_rng(1000 + seed)
        X = table(rng, 800)
        error = (rng.random(800) < rate).astype(float)
        settings = {
            "effect_size": 0.0,
            "min_rows": 20,
            "rule": Rule(correction=correction),
            "max_predicates": 3,
        }
        alarms += search(X, error, **settings).n_found > 0
    assert alarms <= runs * (0.05 + 2 * (0.05 * 0.95 / runs) ** 0.5)


@pytest.mark.slow
def test_published_slices_of_census(load):
    """Sizes exactly, and mean log losses: everyone 0.35, men 0.41, women 0.22 (table 1)."""
    d = load("adult").query("split == 'train'").drop(columns="split")
    d = d[~(d == "?").any(axis=1)].reset_index(drop=True)
    y = (d.pop("income") == ">50K").to_numpy().astype(int)
    forest = RandomForestClassifier(10, max_depth=5, random_state=0)
    model = make_pipeline(OrdinalEncoder(), forest).fit(d, y)
    names = ["sex", "marital-status", "relationship"]
    settings = {"approach": "lattice", "errors": "loss", "max_predicates": 1, "features": names}
    settings |= PUBLISHED
    finder = SliceFinder(must_include=None, pos_label=1, effect_size=0, k=100, **settings)
    result = finder.fit(d, y, model).result_
    assert result.estimates["estimate"][0] == pytest.approx(0.35, abs=0.01)
    frame = result.to_frame().set_index("subject")
    sizes = {"Male": 20_380, "Married-civ-spouse": 14_065, "Husband": 12_463, "Wife": 1_406}
    men, *_ = found = [s for s in frame.index if s.split("'")[1] in sizes]
    assert [s.split("'")[1] for s in found] == list(sizes)  # by size: the paper's order
    assert frame.loc[found, "support"].tolist() == list(sizes.values())
    assert frame["outcome"][men] == pytest.approx(0.41, abs=0.01)
    women = result.tables["groups"].set_index("group")["outcome"]["sex = 'Female'"]
    assert women == pytest.approx(0.22, abs=0.01)


@pytest.mark.statistics
def test_a_planted_slice_is_found_again_on_other_rows():
    X, y, model, _ = flipped(3)
    finder = SliceFinder(
        confirm=0.5, random_state=0, pos_label=1, rule=Rule(correction="alpha-investing")
    )
    result = finder.fit(X, y, model).result_
    assert result.n_found >= 1
    assert result.to_frame()["held_out_p_adjusted"][0] < 0.05
    again = finder.audit(*flipped(3)[:2])
    assert again.n_found >= 1


def test_bias_on_missing_values_is_found():
    rng = np.random.default_rng(0)
    X = table(rng, 1500)
    X["u"] = X["u"].where(X["u"] != "c")
    y = rng.random(1500) < np.where(X["u"].isna(), 0.3, 0.7)
    for options in ({"approach": "lattice"}, {"approach": "tree", **PUBLISHED}):
        result = SliceFinder(protected="u", **options).fit(X, y).result_
        assert "u is missing" in str(result[0].subject)
        assert result.n_found > 0


def test_budgets_and_small_tables():
    X, y, model, _ = flipped(0)
    stopped = SliceFinder(limits=Limits(tests=5), pos_label=1).fit(X, y, model).result_
    assert stopped.stopped_by == "tests"
    assert stopped.n_tested <= 5
    assert stopped.n_queries == len(X.drop_duplicates())
    tiny = SliceFinder(pos_label=1).fit(X[:20], y[:20], model).result_
    assert (len(tiny), tiny.verdict) == (0, "insufficient evidence")
    none = SliceFinder(limits=Limits(tests=0), pos_label=1).fit(X, y, model).result_
    assert (none.n_queries, len(none)) == (0, 0)


def test_categories_that_are_numbers_have_no_order():
    """Unordered categories 0, 1, 2 are split by value; pandas refuses to compare them."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"zone": pd.Categorical(rng.integers(0, 4, 800)), "x": rng.random(800)})
    wrong = (X["zone"] == 2) & (rng.random(800) < 0.7)
    y = np.where(wrong, 0, 1)
    result = SliceFinder(approach="tree", effect_size=0.1).fit(X, y).result_
    assert str(result[0].subject) == "zone = 2"
