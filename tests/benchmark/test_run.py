"""Runs: the same whatever the order, resumed without loss, errors as rows; truth scores 1."""

import sqlite3

import numpy as np
import pandas as pd
import pytest

from skdisc import Limits
from skdisc.benchmark import BenchmarkResult, default_detectors, run_benchmark
from skdisc.benchmark import _run as run
from skdisc.individual import KOSEI
from skdisc.subgroup import DivExplorer

SMALL = {
    "n_pairs": 4,
    "n_attributes": 5,
    "granularity": 1,
    "intersectionality": 1,
    "n_background": 300,
    "group_size": 150,
    "bias": (2.0, 3.0),
}
DETECTORS = {
    "DivExplorer": DivExplorer(max_predicates=2),
    "KOSEI": KOSEI(limits=Limits(tests=2000)),
}
FAST = Limits(queries=5000)


@pytest.fixture(scope="module")
def done():
    return run_benchmark(
        DETECTORS, {"small": SMALL}, audited=["labels", "tree"], n_repeats=2, limits=FAST
    )


@pytest.mark.slow
def test_every_cell_is_there(done):
    cells = done.to_frame()
    assert len(cells) == 2 * 2 + 2  # DivExplorer audits labels and the tree, KOSEI the tree
    assert set(cells.loc[cells["audited"] == "labels", "detector"]) == {"DivExplorer"}
    assert (cells["error"] == "").all()
    assert (cells["n_targets"] == 2).all()
    assert (cells["n_queries"] <= 5000).all()
    targets = done.targets()
    assert len(targets) == 6 * 2
    assert targets["magnitude"].gt(0).all()
    labels = cells.query("audited == 'labels'")
    assert labels["recall"].mean() > labels["guess_recall"].mean()
    assert labels["interval_coverage"].between(0.5, 1).all()


@pytest.mark.slow
def test_the_order_of_work_changes_nothing(done):
    again = run_benchmark(
        dict(reversed(DETECTORS.items())),
        {"small": SMALL},
        audited=["tree", "labels"],
        n_repeats=2,
        limits=FAST,
        n_jobs=2,
    )
    timeless = [c for c in BenchmarkResult.COLUMNS if "seconds" not in c and c != "DSS"]
    pd.testing.assert_frame_equal(done.table[timeless], again.table[timeless])


@pytest.mark.slow
def test_what_was_interrupted_goes_on_where_it_stopped(tmp_path, monkeypatch, done):
    ran = []
    cell = run._cell

    def dies_at_the_third(*arguments):
        if len(ran) == 2:
            raise KeyboardInterrupt
        ran.append(arguments[2])
        return cell(*arguments)

    how = {"audited": ["labels", "tree"], "n_repeats": 2, "limits": FAST, "out": tmp_path / "out"}
    monkeypatch.setattr(run, "_cell", dies_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        run_benchmark(DETECTORS, {"small": SMALL}, **how)
    assert len(list((tmp_path / "out").glob("*.parquet"))) == 2
    monkeypatch.setattr(run, "_cell", lambda *a: (ran.append(a[2]), cell(*a))[1])
    again = run_benchmark(DETECTORS, {"small": SMALL}, **how)
    assert len(ran) == 6  # none was run twice
    timeless = [c for c in BenchmarkResult.COLUMNS if "seconds" not in c and c != "DSS"]
    pd.testing.assert_frame_equal(done.table[timeless], again.table[timeless])
    read = BenchmarkResult.read(tmp_path / "out")
    pd.testing.assert_frame_equal(read.table, again.table)
    files = sorted((tmp_path / "out").iterdir(), key=lambda path: (path.suffix, path.name))
    assert [path.suffix for path in files] == [".json"] + [".parquet"] * 6  # plan and cells
    damaged = files[1]
    for content in (b"", damaged.read_bytes()[:-100]):
        damaged.write_bytes(content)
        with pytest.raises(ValueError, match=f"{damaged.name}' is damaged"):
            BenchmarkResult.read(tmp_path / "out")
        with pytest.warns(UserWarning, match=f"{damaged.name}' is damaged .* is run again"):
            mended = run_benchmark(DETECTORS, {"small": SMALL}, **how)
        pd.testing.assert_frame_equal(done.table[timeless], mended.table[timeless])
    assert len(ran) == 8
    pd.DataFrame({"sex": ["f"]}).to_parquet(tmp_path / "out" / "people.parquet")
    with pytest.raises(ValueError, match=r"people.parquet' is not a cell of a benchmark"):
        BenchmarkResult.read(tmp_path / "out")


def test_a_detector_that_fails_is_a_row_with_its_error():
    bad = DivExplorer(features=["no such column"])
    table = run_benchmark(
        {"bad": bad, "good": DivExplorer(max_predicates=1)},
        {"small": SMALL},
        audited=["labels"],
        n_repeats=1,
    ).to_frame()
    errors = table.set_index("detector")["error"]
    assert "no such column" in errors["bad"]
    assert errors["good"] == ""
    assert np.isnan(table.set_index("detector").loc["bad", "recall"])


@pytest.mark.parametrize("name", ["DivExplorer", "DiscriminatoryRules", "SliceFinder"])
def test_an_effect_of_harm_and_one_of_favor_match_the_same_group(name):
    """One group, far worse off; every family says so, each in its own direction."""
    strong = {"n_pairs": 1, "null_fraction": 0.0, "granularity": 0, "intersectionality": 1}
    strong |= {"group_size": 400, "n_background": 800, "bias": 4.0, "n_values": 3}
    draws = (("one", strong, 0, seed) for seed in range(20))
    draw = next(d for d in draws if run._prepare(d, "labels")[2].targets[0].sign == -1)
    detector = default_detectors()[name].set_params(max_predicates=1)
    prepared = run._prepare(draw, "labels")
    cell = run._cell(draw, "labels", name, detector, Limits(), prepared)
    assert cell["error"].tolist() == [""]
    assert cell["recall"].tolist() == [1.0]
    assert cell["first_true"].tolist() == [1.0]


@pytest.mark.slow
def test_a_search_meets_its_first_true_case_before_its_end(done):
    cells = done.to_frame()
    found = cells[cells["precision"] > 0]
    asked = found[found["n_queries"] > 0]
    assert (asked["queries_to_first"] <= asked["n_queries"]).all()
    assert (found["seconds_to_first"] <= found["seconds"]).all()
    assert cells.loc[~(cells["precision"] > 0), "first_true"].isna().all()
    searches = found[found["detector"] == "KOSEI"]
    assert len(searches)
    assert (searches["first_true"] < 0.5).all()


def test_data_without_targets_have_no_recall():
    null = {**SMALL, "null_fraction": 1.0, "signal": 0.0}
    done = run_benchmark({"d": DETECTORS["DivExplorer"]}, {"null": null}, audited=["labels"],
                         n_repeats=2)  # fmt: skip
    table = done.to_frame()
    assert table["recall"].isna().all()
    assert (table["n_targets"] == 0).all()
    done.table["verdict"] = ["disparity found", "insufficient evidence"]
    done.table["precision"] = [0.0, np.nan]
    (row,) = done.summary().to_dict("records")
    assert (row["n_cells"], row["n_null"], row["false_alarms"]) == (2, 2, 1)
    assert (row["precision_n"], row["recall_n"]) == (1, 0)
    assert "0.00, n = 1 &" in done.to_latex()
    assert "false alarms" in done.to_latex()


@pytest.mark.slow
def test_summaries(done):
    table = done.summary()
    assert list(table["detector"]) == ["DivExplorer", "DivExplorer", "KOSEI"]
    assert (table["n_cells"] == 2).all()
    assert not table[["n_null", "false_alarms"]].any(axis=None)
    cells = done.to_frame().query("detector == 'DivExplorer' and audited == 'labels'")
    row = table.query("detector == 'DivExplorer' and audited == 'labels'").iloc[0]
    assert row["recall"] == pytest.approx(cells["recall"].mean())
    assert np.isnan(row["recall_low"])  # of two drawings
    strata = done.strata("magnitude", bins=2)
    assert strata["n"].sum() == len(done.targets())
    assert strata["recall"].between(0, 1).all()
    ranks, gap, p_value = done.ranks("f1", audited="tree")
    assert set(ranks.index) == set(DETECTORS)
    assert ranks.sum() == 3
    assert gap > 0
    assert np.isnan(p_value)
    assert r"\toprule" in done.to_latex()


@pytest.mark.slow
def test_pooled_scores_are_those_of_all_claims(done):
    cells, targets = done.to_frame(), done.targets()
    pooled = done.pooled().set_index(["detector", "audited"])
    for key, part in cells.groupby(["detector", "audited"]):
        right = (part["precision"] * part["n_claimed"]).sum()
        assert pooled.loc[key, "precision"] == pytest.approx(right / part["n_claimed"].sum())
        own = targets[(targets["detector"] == key[0]) & (targets["audited"] == key[1])]
        assert pooled.loc[key, "recall"] == own["hit"].mean()
        p, r = pooled.loc[key, ["precision", "recall"]]
        assert pooled.loc[key, "f1"] == pytest.approx(2 * p * r / (p + r))
        limits = own[["dataset", "repeat", "target"]].assign(limit=[0.9, 0.3, 0.9, 0.3])
        given = done.pooled(limits=limits).set_index(["detector", "audited"]).loc[key]
        assert given["limit"] == pytest.approx(0.6)
        assert given["of_limit"] == pytest.approx(own["hit"].sum() / 2.4)
    with pytest.raises(ValueError, match="not unique"):
        done.pooled(limits=pd.concat([limits, limits]))


def test_to_sql(done):
    with sqlite3.connect(":memory:") as connection:
        done.to_sql(connection)
        read = pd.read_sql("select count(*) as n from benchmark", connection)
    assert read["n"].item() == len(done.table)


def test_bad_arguments_are_named(tmp_path):
    with pytest.raises(ValueError, match="audited must be among labels, oracle, tree"):
        run_benchmark(DETECTORS, {"small": SMALL}, audited=["trees"])
    with pytest.raises(ValueError, match="datasets must be a non-empty dict"):
        run_benchmark(DETECTORS, {})
    with pytest.raises(ValueError, match="There are no cells"):
        BenchmarkResult.read(tmp_path)


@pytest.mark.slow
def test_cells_that_an_interruption_left_out_are_missing(tmp_path):
    pytest.importorskip("pyarrow")
    small = {"n_pairs": 2, "n_background": 100, "granularity": 1, "intersectionality": 1}
    how = {"audited": ["labels"], "out": tmp_path}
    names = {"a": DETECTORS["DivExplorer"], "b": DETECTORS["DivExplorer"]}
    whole = run_benchmark(names, {"small": small}, n_repeats=2, **how)
    assert repr(whole).endswith(f" 4 cells, {len(whole.targets())} targets, 0 failed)")
    next(iter(sorted(tmp_path.glob("*.parquet")))).unlink()
    read = BenchmarkResult.read(tmp_path)
    assert repr(read).endswith(", 1 missing)")
    assert read.incomplete()["reason"].tolist() == ["missing"]
    assert read.summary()["n_missing"].sum() == 1
    again = run_benchmark(names, {"small": small}, n_repeats=2, **how)
    assert again.incomplete().empty
    assert BenchmarkResult.read(tmp_path).incomplete().empty
    (tmp_path / "plan.json").write_text("[")
    with pytest.raises(ValueError, match=r"plan\.json' is damaged"):
        BenchmarkResult.read(tmp_path)
