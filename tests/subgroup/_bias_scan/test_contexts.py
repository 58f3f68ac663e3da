"""BiasScan's scan for a protected part that makes a difference within its context."""

import numpy as np
import pandas as pd
import pytest

from skdisc._blackbox._redrawn import RedrawnPeople
from skdisc.subgroup import BiasScan
from skdisc.subgroup._bias_scan import _contexts
from skdisc.subgroup._bias_scan._cells import Table
from skdisc.subgroup._bias_scan._outcome import Outcome
from skdisc.subgroup._bias_scan._scans import ScanEnd, Scanned


def people(seed, n=400, gap=0.0):
    """Return people whose labels depend on town, points, and sex by `gap` in one town."""
    rng = np.random.default_rng(seed)
    town = rng.choice(list("uvw"), n)
    points = rng.normal(size=n).round(1)
    sex = np.where(rng.random(n) < 0.3 + 0.4 * (points > 0), "F", "M")  # goes with points
    X = pd.DataFrame({"sex": sex, "town": town, "points": points})
    hit = (sex == "F") & (town == "u")
    y = (points + (town == "u") + rng.normal(size=n) - gap * hit > 0.3).astype(int)
    return X, y


FAST = {"protected": "sex", "n_restarts": 3, "n_resamples": 19, "random_state": 0}


@pytest.mark.statistics
def test_legitimate_columns_are_not_discrimination():
    found = [
        BiasScan(**FAST).fit(*people(seed)).result_.verdict == "disparity found"
        for seed in range(20)
    ]
    assert sum(found) <= 3  # P(more) = 0.016 at level 0.05
    everyone = BiasScan(**FAST, versus="everyone").fit(*people(0)).result_
    assert (everyone.verdict, everyone.null) == ("differs from everyone", "everyone")


def test_a_planted_subset_is_found_with_its_contrast():
    X, y = people(1, 1000, gap=1.5)
    result = BiasScan(**FAST, direction="lower").fit(X, y).result_
    assert (result.verdict, result.null) == ("disparity found", "contextual")
    first = result[0]
    assert any(p.column == "sex" for p in first.subject.predicates)
    inside = first.subject.mask(X)
    context = np.ones(len(X), dtype=bool)
    for p in first.subject.predicates:
        if p.column != "sex":
            context &= p.mask(X)
    gap = y[inside].mean() - y[context & ~inside].mean()
    assert first.effect == pytest.approx(gap)
    assert first.ci_low < gap < first.ci_high
    row = result.to_frame().iloc[0]
    assert row["p_value"] == 0.05
    assert str(first.subject) == "sex = 'F' and town = 'u'"
    assert row["naive_p_value"] != row["p_value"]


def test_confirmed_on_other_rows():
    X, y = people(2, 1500, gap=1.5)
    own = {**FAST, "n_resamples": 0, "direction": "lower"}
    result = BiasScan(**own, confirm=0.5).fit(X, y).result_
    assert result.verdict == "disparity found"
    assert result.to_frame()["held_out_p_adjusted"].iloc[0] <= 0.05
    assert BiasScan(**own).fit(X, y).result_.verdict == "insufficient evidence"


def test_a_gap_in_one_town_is_not_called_no_disparity():
    X, y = people(3, 4000, gap=0.8)
    result = BiasScan(**{**FAST, "n_resamples": 0}).fit(X, y).result_
    assert result.verdict == "insufficient evidence"
    assert result.tables["family"]["upper"].max() > 0.1


@pytest.mark.parametrize("mode", ["continuous", "ordinal"])
def test_numbers(mode):
    X, y = people(1, 800, gap=1.5)
    values = np.where(y == 1, 3.0, 1.0)
    result = BiasScan(**FAST, mode=mode, direction="lower").fit(X, values).result_
    assert result.verdict == "disparity found"
    assert result[0].effect < -0.2


def test_a_model_is_judged_given_its_own_expectations():
    X, y = people(1, 800, gap=1.5)

    class Blind:
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            p = np.where((X["points"] > 0) | (X["town"] == "u"), 0.7, 0.3)
            return np.column_stack([1 - p, p])

    result = BiasScan(**FAST, direction="lower").fit(X, y, Blind()).result_
    assert (result.verdict, result.null) == ("disparity found", "contextual")


@pytest.mark.slow
@pytest.mark.parametrize("versus", ["context", "everyone"])
def test_nothing_depends_on_the_order_of_columns(versus):
    """Starts, learned expectations and redrawn columns: all draws are in the order of names."""
    X, y = people(4, gap=0.8)
    X = X.assign(race=np.random.default_rng(0).choice(list("ab"), len(X)))
    settings = {**FAST, "protected": ["race", "sex"], "versus": versus}
    tables = []
    for names in (["sex", "town", "points", "race"], ["points", "race", "town", "sex"]):
        scan = BiasScan(**settings).fit(X[names], y)
        tables.append(scan.result_.findings.table.drop(columns="subject", errors="ignore"))
        tables[-1].insert(0, "group", [set(map(str, f.subject.predicates)) for f in scan.result_])
    assert len(tables[0])
    pd.testing.assert_frame_equal(*tables)


def test_only_the_best_subset_of_a_quick_scan_has_its_p_value():
    """A better one, which the full scan finds, is no more significant; a worse one is less."""
    scanned = Scanned([], pd.DataFrame(), np.arange(9.0), quick=5.0)
    p_values = [scanned.p_value(ScanEnd(total, 0, 1, None)) for total in (2.0, 5.0, 8.0)]
    assert p_values == [0.8, 0.5, 0.5]


def test_scans_with_redrawn_columns_are_those_of_the_redrawn_rows():
    """Cells whose columns are replaced add up to those of a table made anew."""
    X, y = people(5)
    labels = y[None].astype(float)
    outcome = Outcome(X, labels, None, ["y"], "bernoulli", True).expecting(None)
    scan = BiasScan(protected="sex", versus="everyone", n_resamples=0).fit(X, y)
    items = scan._items_of(outcome)
    donor = np.random.default_rng(0).permutation(len(X))
    drawn = RedrawnPeople(np.arange(len(X)), None, {"sex": donor})
    for kept in (["town"], ["town", "points"]):
        some = items.only(np.isin([p.column for p in items.predicates], ["sex", *kept]))
        moved = X.assign(sex=X["sex"].to_numpy()[donor])
        again = Table(some, outcome).redrawn(drawn)
        anew = Table(some.on(moved), outcome)
        assert total_by_cell(again) == total_by_cell(anew)


def total_by_cell(table):
    """Return the sums of people and outcomes by the values of the cells."""
    names = [[table._predicates[i] for i in numbers] for numbers in table._items]
    sums = {}
    for i, codes in enumerate(np.array(table.cells.codes).T):
        key = tuple(values[c] for values, c in zip(names, codes, strict=True))
        n, a = sums.get(key, (0, 0))
        sums[key] = n + table.cells.n[i], a + table.a[0, i]
    return sums


def households(seed, n=300):
    """Return people decided alike in a household of one race, which has nothing to do with it."""
    rng, house = np.random.default_rng(seed), np.repeat(np.arange(n // 5), 5)
    X = pd.DataFrame({"race": rng.choice(list("bw"), n // 5)[house]})
    X["town"] = rng.choice(list("uv"), n)
    return X, rng.integers(2, size=n // 5)[house], house


@pytest.mark.statistics
def test_clusters_are_redrawn_as_a_whole():
    scan = BiasScan(protected="race", n_restarts=1, n_resamples=19, pos_label=1, random_state=0)
    told, untold = 0, 0
    for seed in range(7):
        X, y, house = households(seed)
        told += scan.fit(X, y, groups=house).result_.verdict == "disparity found"
        untold += scan.fit(X, y).result_.verdict == "disparity found"
    assert told <= 1  # P(more) = 0.04 at level 0.05
    assert untold >= 3


@pytest.mark.slow
def test_clusters_of_one_row_are_none_and_names_of_clusters_do_not_matter():
    X, y, house = households(1)
    scan = BiasScan(protected="race", n_restarts=1, n_resamples=3, pos_label=1, random_state=0)
    plain = scan.fit(X, y).result_.to_frame()
    pd.testing.assert_frame_equal(scan.fit(X, y, groups=np.arange(300)).result_.to_frame(), plain)
    own = scan.fit(X, y, groups=house).result_.to_frame()
    named = scan.fit(X, y, groups=np.char.add("house ", house.astype(str).astype("U9"))).result_
    assert named.to_frame()["subject"].tolist() == own["subject"].tolist()
    row = own.iloc[0]
    assert row["naive_p_value"] > plain["naive_p_value"].iloc[0]


def test_what_knows_no_clusters_refuses_them():
    X, y, house = households(0)
    for more in ({"versus": "everyone"}, {"protected": None}):
        scan = BiasScan(**({"protected": "race", "pos_label": 1} | more))
        with pytest.raises(ValueError, match="takes rows as independent"):
            scan.fit(X, y, groups=house)


@pytest.mark.slow
@pytest.mark.parametrize("frequency", [None, np.arange(200) % 3 + 1])
def test_the_p_value_does_not_depend_on_how_many_tables_are_scanned_together(
    monkeypatch, frequency
):
    X, y = people(2, 200)
    how = {} if frequency is None else {"sample_weight": frequency}
    texts = []
    for n in (1, 3, 8):
        monkeypatch.setattr(_contexts, "_TABLES", n)
        result = BiasScan(**FAST, weights="frequency").fit(X, y, **how).result_
        texts.append(result.to_frame().to_json())
    assert texts[0] == texts[1] == texts[2]


@pytest.mark.slow
def test_intervals_of_what_is_not_significant_contain_zero():
    """Searched for three conditions, a subset pays for each of them, and for few null scans."""
    shown = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        values = {"sex": "FM", "race": "aabc", "town": "uvw", "work": "pqrst"}
        X = pd.DataFrame({name: rng.choice(list(of), 400) for name, of in values.items()})
        y = rng.integers(2, size=400)
        scan = BiasScan(protected=["sex", "race"], n_restarts=2, n_resamples=39, random_state=seed)
        shown.append(scan.fit(X, y).result_.to_frame())
    table = pd.concat(shown)
    open_ones = table[table["p_value"] > 0.05]
    assert len(open_ones) >= 4
    assert (open_ones["ci_low"] <= 0).all()
    assert (open_ones["ci_high"] >= 0).all()
