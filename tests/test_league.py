"""The league of tools: the protocol, and what is measured of findings; skdisc is the only tool."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]
LEAGUE = ROOT / "benchmarks" / "league"
sys.path.insert(0, str(ROOT))
from benchmarks.calibration import store  # noqa: E402
from benchmarks.league import page  # noqa: E402
from benchmarks.league.__main__ import main, run  # noqa: E402
from benchmarks.league.adapters import skdisc as adapter  # noqa: E402
from benchmarks.league.measure import coverage, measure, told  # noqa: E402
from benchmarks.league.tools import TOOLS  # noqa: E402
from benchmarks.league.worlds import MATCHES, draw, planted, population, true_effect  # noqa: E402

sys.path.remove(str(ROOT))

WORLD = {match.name: match for match in MATCHES}
TOOL = {tool.name: tool for tool in TOOLS}
OURS = [tool.name for tool in TOOLS if tool.adapter == "skdisc"]
WOMEN_IN_U = {"sex": ["F"], "town": ["u"]}


def returned(*claimed, alarm=None):
    """Return what an adapter returns that claims these groups."""
    found = {"findings": [{"group": group, "claimed": True} for group in claimed]}
    return found if alarm is None else found | {"alarm": alarm}


@pytest.mark.slow
@pytest.mark.parametrize("name", OURS)
def test_an_adapter_finds_what_is_planted_and_answers_in_json(name):
    match = WORLD["women in u .20"]
    table, settings = draw(match, 1)
    found = adapter.find(table, settings | TOOL[name].settings)
    row = measure(name, match, 1, json.loads(json.dumps(found)))
    assert row["alarm"] is True
    if name != "skdisc GroupDisparity":  # it compares protected groups only
        assert row["first"]
        assert row["f1_rows"] == 1


@pytest.mark.parametrize("name", ["skdisc GroupDisparity", "skdisc DivExplorer"])
def test_intervals_are_compared_with_the_truth(name):
    match = WORLD["intervals .15"]
    table, settings = draw(match, 0)
    row = measure(name, match, 0, adapter.find(table, settings | TOOL[name].settings))
    assert row["shown"] == 10
    assert row["misses"] <= 3


def test_true_effects_are_those_of_the_planted_rates():
    """Women in u have a rate of .6 - .15, all others .6; a third lives in u, half are women."""
    people = population(WORLD["intervals .15"])
    effects = {
        "nobody": 0.45,
        "everyone": -0.15 * 5 / 6,
        "context": -0.15,
    }
    for versus, effect in effects.items():
        one = {"group": WOMEN_IN_U, "versus": versus}
        assert true_effect(people, one, ["sex", "race"]) == pytest.approx(effect, abs=1e-3)
    men = {"group": {"sex": ["F"]}, "versus": {"sex": ["M"]}}
    assert true_effect(people, men, ["sex", "race"]) == pytest.approx(-0.05, abs=1e-3)
    largest = {"group": {"sex": ["F"]}, "versus": "largest"}
    assert true_effect(people, largest, ["sex", "race"]) == pytest.approx(0.05, abs=1e-3)
    four = population(WORLD["four groups"])
    assert true_effect(four, largest | {"group": {}}, ["race"]) == 0


def test_an_interval_without_the_truth_is_a_miss_and_one_without_numbers_is_none():
    people = population(WORLD["intervals .15"])
    one = {"group": WOMEN_IN_U, "versus": "context"}
    wide, off = one | {"low": -0.2, "high": 0.1}, one | {"low": 0.01, "high": 0.02}
    none = [one, one | {"low": None, "high": None}, one | {"low": np.nan, "high": 0.2}]
    largest = off | {"versus": "largest"}
    row = coverage(people, [wide, off, *none, largest], ["sex", "race"])
    assert row == {"shown": 2, "misses": 1, "largest": 1, "largest_misses": 1}


def test_the_planted_contrast_counts_from_either_side_and_other_claims_lower_f1():
    match = WORLD["women in u .20"]
    men = WOMEN_IN_U | {"sex": ["M"]}
    assert planted(match) == [WOMEN_IN_U, men]
    for first in (WOMEN_IN_U, men):
        row = measure("any", match, 0, returned(first))
        assert (row["first"], row["f1"], row["f1_rows"]) == (True, 1, 1)
    both = measure("any", match, 0, returned(WOMEN_IN_U, men))
    assert both["f1"] == 1
    more = measure("any", match, 0, returned({"sex": ["F"]}, WOMEN_IN_U))
    assert (more["first"], more["f1"]) == (False, pytest.approx(2 / 3))
    assert 0.4 < more["f1_rows"] < 0.6  # a third of the women live in u
    none = measure("any", match, 0, returned({"race": ["b"]}))
    assert none["f1"] == 0


def test_conditions_that_all_rows_satisfy_are_none():
    match = WORLD["women in u .20"]
    group = WOMEN_IN_U | {"race": ["a", "b"], "work": list("pqrst")}
    assert told(draw(match, 0)[0], group) == WOMEN_IN_U
    assert measure("any", match, 0, returned(group))["first"]


def test_an_alarm_names_a_protected_column_or_is_the_tools_own():
    coin = WORLD["coin"]
    assert not measure("any", coin, 0, returned({"town": ["u"]}))["alarm"]
    assert measure("any", coin, 0, returned({"race": ["b"]}))["alarm"]
    assert not measure("any", coin, 0, returned({"race": ["b"]}, alarm=False))["alarm"]


@pytest.mark.parametrize("match", MATCHES, ids=lambda match: match.name)
def test_tables_have_columns_of_text_and_a_decision(match):
    table, settings = draw(match, 0)
    texts = table[settings["columns"]]
    assert texts.map(lambda value: isinstance(value, str)).all(axis=None)
    assert set(table["decision"]) == {0, 1}
    assert set(settings["protected"]) <= set(settings["columns"])
    pd.testing.assert_frame_equal(table, draw(match, 0)[0])


def test_an_adapter_has_at_most_40_lines_and_needs_only_its_tool():
    paths = [path for path in (LEAGUE / "adapters").glob("*.py") if path.name != "__init__.py"]
    assert {path.stem for path in paths} == {tool.adapter for tool in TOOLS}
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 40, path.name
        tree = ast.walk(ast.parse(text))
        names = [node.module for node in tree if isinstance(node, ast.ImportFrom)]
        assert not [name for name in names if name.startswith("benchmarks")], path.name


@pytest.mark.slow
def test_a_tool_that_cannot_be_imported_is_an_error_of_its_rows_and_others_run():
    match = WORLD["four groups"]
    (row,) = run(TOOL["skdisc GroupDisparity"], [match], [0])
    assert row["error"] == ""
    assert row["version"].startswith("skdisc ")
    assert row["seconds"] >= 0
    assert row["mb"] > 1
    gone = type(TOOL["skdisc GroupDisparity"])(**vars(TOOL["fairlearn"]) | {"adapter": "gone"})
    (row,) = run(gone, [match], [0])
    assert "gone" in row["error"]


@pytest.mark.slow
def test_what_is_measured_is_not_measured_again_and_the_page_is_written(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    path = tmp_path / "rows.parquet"
    asked = ["league", "--out", str(path), "--seeds", "2", "--only", "GroupDisparity&four"]
    monkeypatch.setattr(sys, "argv", asked)
    main()
    rows = store.load(path)
    assert rows["seed"].tolist() == [0, 1]
    monkeypatch.setattr(subprocess, "run", None)  # nothing is started
    main()
    pd.testing.assert_frame_equal(store.load(path), rows)
    page.write(rows, tmp_path / "league.md")
    text = (tmp_path / "league.md").read_text(encoding="utf-8")
    alarms = rows["alarm"].sum()
    assert f"| skdisc GroupDisparity | {alarms}/2 | – |" in text
    assert "a first look only: skdisc GroupDisparity (2)." in text


@pytest.mark.slow
def test_a_table_that_takes_too_long_is_an_error_and_the_next_one_is_run(tmp_path):
    table, settings = draw(WORLD["women in u .20"], 0)
    table.to_csv(tmp_path / "t.csv", index=False)
    settings |= TOOL["skdisc SliceLine"].settings
    limits = (0.01, 100)
    outs = [tmp_path / f"{limit}.json" for limit in limits]
    jobs = [
        {"table": str(tmp_path / "t.csv"), "settings": settings | {"limit": limit}, "out": str(out)}
        for limit, out in zip(limits, outs, strict=True)
    ]
    (tmp_path / "jobs.json").write_text(json.dumps(jobs), encoding="utf-8")
    command = [sys.executable, "-m", "benchmarks.league.one_tool", "skdisc"]
    subprocess.run([*command, str(tmp_path / "jobs.json")], cwd=ROOT, check=True)
    late, whole = (json.loads(out.read_text(encoding="utf-8")) for out in outs)
    assert "ended by status" in late["error"]
    assert whole["findings"]
