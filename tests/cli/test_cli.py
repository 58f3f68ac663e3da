"""The command line, used as people use it: exit codes, messages, files."""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from skdisc import AuditReport, AuditResult, __main__, cli
from skdisc._task import _large_tables
from skdisc.cli._audit import _halves
from skdisc.cli._main import COMMANDS
from skdisc.subgroup import DisparityPursuit


@pytest.fixture
def people(tmp_path):
    """Return the path of a table in which women are hired at 20 %, men at 60 %."""
    rng = np.random.default_rng(0)
    sex = rng.choice(["F", "M"], 1000)
    hired = np.where(rng.random(1000) < np.where(sex == "M", 0.6, 0.2), "yes", "no")
    frame = pd.DataFrame(
        {"sex": sex, "town": rng.choice(list("abc"), 1000), "points": rng.integers(0, 9, 1000)}
    )
    frame["hired"], frame["advice"] = hired, np.where(sex == "M", "yes", "no")
    frame.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path / "people.csv"


def audit(path, *more, favorable="yes", protected="sex"):
    return cli.main(
        [
            "audit",
            str(path),
            "--target",
            "hired",
            "--favorable",
            favorable,
            "--protected",
            protected,
            *more,
        ]
    )


@pytest.mark.slow
def test_labels_alone(people, capsys):
    assert audit(people, "--ignore", "advice") == cli.DISPARITY_FOUND
    out = capsys.readouterr().out
    assert "1,000 recorded outcomes were audited for sex" in " ".join(out.split())
    assert "Themis" in out
    assert "sex = 'F'" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.slow
def test_a_detector_of_one_metric_takes_the_first(people, capsys):
    given = ("--ignore", "advice", "--detectors", "DisparityPursuit", "--max-tests", "20")
    assert audit(people, *given, "--metric", "selection_rate,base_rate") != cli.USAGE
    assert "DisparityPursuit" in capsys.readouterr().out
    assert audit(people, *given, "--metric", "all") != cli.USAGE


@pytest.mark.slow
def test_all_leaves_out_those_that_take_no_missing_values(people, tmp_path, capsys):
    table = pd.read_csv(people)
    number = table.select_dtypes("number").columns[0]
    table[number] = table[number].astype(float).where(table.index % 9 > 0)
    table.to_csv(tmp_path / "gaps.csv", index=False)
    path = tmp_path / "gaps.json"
    given = ("--ignore", "advice", "--max-tests", "50", "--report", str(path), "--detectors")
    assert audit(tmp_path / "gaps.csv", *given, "all") != cli.USAGE
    not_run = {r["detector"]: r["reason"] for r in json.loads(path.read_text())["not_run"]}
    assert not_run["SituationTesting"].endswith(f"values are missing in {number}")
    assert audit(tmp_path / "gaps.csv", *given, "SituationTesting") == cli.USAGE
    assert f"column '{number}' has missing values" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.every(6)
@pytest.mark.parametrize("kind", ["tree", "forest", "logistic", "svm", "mlp", "boosting"])
def test_fit_trains_on_one_half_and_audits_the_other(people, capsys, kind):
    given = ("--ignore", "advice", "--fit", kind, "--max-tests", "300", "--refits", "19")
    code = audit(people, *given)
    out = capsys.readouterr().out
    assert code == cli.DISPARITY_FOUND
    assert f"Trained {kind} on 500 rows; the other 500 rows are audited." in out
    for name in ("GroupDisparity", "DivExplorer", "DisparityPursuit", "Themis"):
        assert name in out


def test_a_larger_group_that_is_worse_off_is_found(people, tmp_path):
    frame = pd.read_csv(people)
    few_men = frame[(frame["sex"] == "F") | (frame.index % 3 > 0)].drop(columns="advice")
    few_men.to_csv(tmp_path / "few_men.csv", index=False)
    for sides in ((), ("--direction", "lower")):
        code = audit(tmp_path / "few_men.csv", "--detectors", "GroupDisparity", *sides)
        assert code == cli.DISPARITY_FOUND


@pytest.mark.statistics
def test_a_model_trained_on_labels_tossed_by_a_coin_is_seldom_unfair(tmp_path, capsys):
    codes = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame(rng.integers(0, 2, (500, 3)), columns=["sex", "town", "hired"])
        frame.assign(points=rng.random(500)).to_csv(tmp_path / "coin.csv", index=False)
        given = ("--fit", "tree", "--max-tests", "200", "--seed", str(seed), "--refits", "19")
        codes.append(audit(tmp_path / "coin.csv", *given, favorable="1"))
    assert codes.count(cli.DISPARITY_FOUND) <= 1  # 6 of 6 without regard to chance in training
    assert "chance in training" in " ".join(capsys.readouterr().out.lower().split())


def test_too_few_refits_are_no_evidence(people, capsys):
    given = ("--ignore", "advice", "--fit", "tree", "--detectors", "Themis", "--refits", "3")
    assert audit(people, *given) == cli.INSUFFICIENT
    assert "takes n_refits >= 19 at level 0.05, not 3" in " ".join(capsys.readouterr().out.split())


@pytest.mark.slow
def test_predictions_column(people, capsys):
    assert (
        audit(people, "--predictions", "advice", "--metric", "true_positive_rate")
        == cli.DISPARITY_FOUND
    )
    assert "1,000 recorded decisions were audited" in capsys.readouterr().out


def test_model_file(people, capsys, tmp_path):
    frame = pd.read_csv(people)
    model = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(
        frame[["sex"]], frame["advice"]
    )
    skops.io.dump(model, tmp_path / "model.skops")
    code = audit(
        people,
        "--model",
        str(tmp_path / "model.skops"),
        "--ignore",
        "advice",
        "--detectors",
        "Themis",
    )
    assert code == cli.DISPARITY_FOUND
    assert "The decisions of a model about 1,000 people" in capsys.readouterr().out


def test_nothing_and_too_little(tmp_path, capsys):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"sex": ["F", "M"] * 2000, "hired": np.repeat(rng.permutation(["yes", "no"] * 1000), 2)}
    )
    frame.to_csv(tmp_path / "fair.csv", index=False)
    frame.head(20).to_csv(tmp_path / "few.csv", index=False)
    assert audit(tmp_path / "fair.csv") == cli.NOTHING_FOUND
    assert audit(tmp_path / "few.csv") == cli.INSUFFICIENT
    assert "insufficient evidence" in capsys.readouterr().out


@pytest.mark.every(4)
@pytest.mark.parametrize("suffix", [".html", ".md", ".txt", ".json"])
def test_reports(people, tmp_path, suffix, capsys):
    path = tmp_path / f"report{suffix}"
    audit(people, "--ignore", "advice", "--report", str(path))
    text = path.read_text(encoding="utf-8")
    assert "DivExplorer" in text or suffix == ".txt"
    assert f"Report: {path}" in capsys.readouterr().out
    if suffix == ".json":
        assert AuditReport.from_json(text).verdict == "disparity found"


@pytest.mark.slow
def test_details_are_the_results_of_all_detectors(people, tmp_path, capsys):
    path = tmp_path / "details.json"
    audit(people, "--ignore", "advice", "--details", str(path))
    results = [AuditResult.from_dict(d) for d in json.loads(path.read_text(encoding="utf-8"))]
    names = {r.detector for r in results}
    assert names == {"GroupDisparity", "DivExplorer", "DisparityPursuit"}


@pytest.mark.slow
def test_meta_weights_and_groups(people, tmp_path, capsys):
    frame = pd.read_csv(people).assign(weight=2.0, home=np.arange(1000) // 2)
    frame.to_csv(people, index=False)
    (tmp_path / "audit.toml").write_text('system = "hiring"\nperiod = 2025\n')
    path = tmp_path / "report.json"
    given = ("--weights", "weight", "--groups", "home", "--meta", str(tmp_path / "audit.toml"))
    more = ("--ignore", "advice", "--adjust-for", "points", "--report", str(path))
    assert audit(people, *given, *more) == cli.DISPARITY_FOUND
    document = json.loads(path.read_text())
    assert document["meta"]["system"] == "hiring"
    assert document["meta"]["auditor"] is None
    assert document["about"]["columns"] == ["sex", "town", "points"]
    (tmp_path / "audit.toml").write_text("system = ")
    assert audit(people, *given, *more) == cli.USAGE
    assert "audit.toml' cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            ["--protected", "sexx"],
            r"--protected: 'sexx' is not a column of the file; did you mean 'sex'\?",
        ),
        (["--target", "hird"], r"--target: .*did you mean 'hired'"),
        (["--favorable", "maybe"], "--favorable 'maybe' does not occur in 'hired'. Its values: "),
        (["--ignore", "twon"], "--ignore: .*did you mean 'town'"),
        (["--protected", "hired"], "is also named by --target"),
        (["--detectors", "Kosei"], r"did you mean 'KOSEI'\? .*DivExplorer, .*KOSEI"),
        (["--detectors", "KOSEI"], "queries a model with new rows, and there is none"),
        (["--model", "nowhere.skops"], "There is no file 'nowhere.skops'"),
        (["--report", "nowhere/report.html"], "does not exist"),
        (["--report", "report.odt"], "The extension of a report must be .html, .md, .txt, .json"),
        (["--metric", "accuracy"], "needs decisions: pass model="),
        (["--metric", "acuracy"], "metric must be among"),
        (["--significance", "2"], "significance"),
        (["--max-tests", "-1"], "--max-tests"),
    ],
)
def test_mistakes_are_told_and_exit_with_2(people, capsys, more, message):
    assert audit(people, "--ignore", "advice", *more) == cli.USAGE
    error = capsys.readouterr().err
    assert error.startswith("skdisc: error: ")
    assert re.search(message, error), error
    assert "Traceback" not in error


def test_missing_target_values_are_told(people, capsys):
    frame = pd.read_csv(people)
    frame.loc[:4, "hired"] = None
    frame.to_csv(people, index=False)
    for more in ([], ["--fit", "tree"]):
        assert audit(people, *more) == cli.USAGE
        assert "--target 'hired' is missing in 5 rows" in capsys.readouterr().err


def test_a_protected_column_without_values_is_told(people, capsys):
    pd.read_csv(people).assign(sex=np.nan).to_csv(people, index=False)
    assert audit(people, "--fit", "tree") == cli.USAGE
    assert "--protected 'sex' is missing in every row" in capsys.readouterr().err


def test_failures_exit_with_4(people, capsys, monkeypatch):
    def breaks(*_):
        raise RuntimeError("out of order")

    monkeypatch.setattr(cli._audit, "read_in", breaks)
    assert audit(people) == cli.FAILURE
    assert "RuntimeError: out of order" in capsys.readouterr().err


@pytest.mark.every(3)
@pytest.mark.parametrize("stage", ["numpy", "skdisc.cli", "skdisc.report._html"])
def test_an_interruption_says_so_even_while_importing(stage):
    code = f"""
import sys
class Interrupt:
    def find_spec(self, name, *_):
        if name == {stage!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupt())
sys.argv = ["skdisc", "audit", "--help"]
from skdisc.__main__ import main
sys.exit(main())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "skdisc: error: interrupted; no incomplete file was left behind\n"


@pytest.mark.slow
def test_an_interrupted_audit_leaves_no_file(people, tmp_path, monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)  # in the middle of writing
    path = tmp_path / "audit.html"
    argv = ["skdisc", "audit", str(people), "--target", "hired", "--favorable", "yes"]
    monkeypatch.setattr(sys, "argv", [*argv, "--protected", "sex", "--report", str(path)])
    before = set(tmp_path.iterdir())
    assert __main__.main() == 130
    assert "interrupted" in capsys.readouterr().err
    assert set(tmp_path.iterdir()) == before


@pytest.mark.slow
@pytest.mark.parametrize("text", ["1", "1.0"])
def test_favorable_is_read_in_the_type_of_the_column(people, text, capsys):
    frame = pd.read_csv(people)
    frame["hired"] = (frame["hired"] == "yes").astype(int)
    frame.to_csv(people, index=False)
    assert audit(people, "--ignore", "advice", favorable=text) == cli.DISPARITY_FOUND


@pytest.mark.slow
def test_column_names_with_commas(people, capsys):
    frame = pd.read_csv(people).rename(columns={"sex": "sex, legal"})
    frame.to_csv(people, index=False)
    assert audit(people, "--ignore", "advice", protected="sex, legal") == cli.DISPARITY_FOUND


@pytest.mark.slow
def test_the_code_of_a_report_is_the_command_that_made_it(people, tmp_path, monkeypatch, capsys):
    name = 'sex, "it\'s" $HOME\t;'
    pd.read_csv(people).rename(columns={"sex": name}).to_csv(people, index=False)
    (tmp_path / "meta.toml").write_text("system = 'hiring'")
    monkeypatch.chdir(tmp_path)
    how = ["--ignore=advice", "--detectors=GroupDisparity", "--relevant-gap=.2", "--robustness"]
    how += [f"--meta={tmp_path / 'meta.toml'}", "--report=a.json", "--verbose"]
    audit(people, *how, protected=name)
    first = json.loads((tmp_path / "a.json").read_text())
    assert str(tmp_path) not in first["code"]
    assert "--report" not in first["code"]
    _, *argv = shlex.split(first["code"].replace("\\\n", ""))
    cli.main([str(people) if a == "DATA" else a for a in argv] + ["--report=b.json"])
    again = json.loads((tmp_path / "b.json").read_text())
    assert {"settings", "robustness", "meta", "code", "verdicts"} <= first.keys()
    for document in (first, again):
        document["about"]["seconds"] = document["log"] = None
    assert again == first


@pytest.mark.slow
def test_equal_seeds_give_equal_reports(people, tmp_path, capsys):
    results = []
    for name in ("a.json", "b.json"):
        audit(
            people,
            "--fit",
            "tree",
            "--seed",
            "3",
            "--refits",
            "19",
            "--report",
            str(tmp_path / name),
        )
        document = json.loads((tmp_path / name).read_text(encoding="utf-8"))
        document["about"]["seconds"] = None
        document["log"] = [line | {"seconds": None} for line in document["log"]]
        results.append(document)
    assert results[0] == results[1]


def test_a_metric_is_of_groups_and_no_distance_between_people(people, capsys):
    more = ["--ignore", "advice", "--detectors", "SituationTesting,DivExplorer"]
    assert audit(people, *more, "--metric", "selection_rate") == cli.DISPARITY_FOUND
    assert "SituationTesting" in capsys.readouterr().out


@pytest.mark.slow
def test_demo_and_detectors(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["demo"]) == 0
    assert [p.name for p in tmp_path.iterdir()] == ["skdisc-demo.html"]
    assert "gender = 'female'" in capsys.readouterr().out
    assert cli.main(["detectors"]) == 0
    assert all(name in capsys.readouterr().out for name in ["DivExplorer"])


def test_as_a_module():
    run = subprocess.run(
        [sys.executable, "-m", "skdisc", "--version"], capture_output=True, text=True
    )
    assert run.stdout.startswith("skdisc ")
    assert run.returncode == 0
    assert (
        subprocess.run([sys.executable, "-m", "skdisc"], capture_output=True).returncode
        == cli.USAGE
    )


@pytest.mark.slow
def test_adult_in_one_command(data_dir, tmp_path, capsys):
    arguments = [
        "--target",
        "income",
        "--favorable",
        ">50K",
        "--protected",
        "sex,race",
        "--ignore",
        "split,fnlwgt",
    ]
    report = tmp_path / "adult.html"
    code = cli.main(
        [
            "audit",
            str(data_dir / "adult.csv.gz"),
            *arguments,
            "--fit",
            "boosting",
            "--refits",
            "0",
            "--report",
            str(report),
        ]
    )
    assert code == cli.DISPARITY_FOUND
    assert "Female" in report.read_text(encoding="utf-8")


def test_help_and_version_load_nothing_slow():
    code = """
import contextlib, io, sys
from skdisc import cli
for argv in (["--version"], ["--help"], []):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        with contextlib.redirect_stderr(io.StringIO()):
            cli.main(argv)
assert not {"numpy", "pandas", "sklearn"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_says_what_the_list_of_commands_says(command, capsys):
    what, module, add = COMMANDS[command]
    parser = argparse.ArgumentParser(prog="skdisc", formatter_class=argparse.RawTextHelpFormatter)
    getattr(import_module(f"skdisc.cli.{module}"), add)(parser.add_subparsers())
    assert what in parser.format_help()
    with pytest.raises(SystemExit) as stopped:
        cli.main([command, "--help"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: skdisc {command} ")


@pytest.mark.slow
def test_a_reader_that_has_enough_ends_the_output_without_a_word():
    command = f"{sys.executable} -m skdisc detectors | {sys.executable} -c 'import sys'"
    run = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert run.stderr == ""


def test_a_household_is_in_one_of_the_halves():
    house = pd.Series(np.repeat(np.arange(40), 3))
    train, rest = _halves(pd.Series([0, 1, 1] * 40), house, 0)
    assert sorted([*train, *rest]) == list(range(120))
    assert not set(house[train]) & set(house[rest])


@pytest.mark.parametrize(("rows", "drawn"), [("200", 200), ("all", None), (None, 400)])
def test_how_many_rows_detectors_examine(people, tmp_path, monkeypatch, rows, drawn):
    """Of a table whose columns count as many, one slow detector draws 400 rows by default."""
    monkeypatch.setattr(_large_tables, "FEW", 1)
    monkeypatch.setattr(DisparityPursuit, "_most", 400)
    frame = pd.read_csv(people).assign(number=range(1000))
    frame.to_csv(tmp_path / "wide.csv", index=False)
    path, limit = tmp_path / "wide.json", () if rows is None else ("--max-rows", rows)
    given = ("--ignore", "advice", "--detectors", "DisparityPursuit", "--report", str(path))
    audit(tmp_path / "wide.csv", *given, *limit)
    (line,) = json.loads(path.read_text())["log"]
    assert line["n_drawn"] == drawn
    if rows == "200":
        assert cli.main(["verify", str(path), str(tmp_path / "wide.csv")]) == 0


@pytest.mark.parametrize("rows", ["some", "--5", "²"])
def test_a_limit_of_rows_is_a_number_or_all(people, capsys, rows):
    with pytest.raises(SystemExit):
        audit(people, f"--max-rows={rows}")
    assert "must be a number or all" in capsys.readouterr().err


@pytest.mark.parametrize("drop", [False, True])
def test_members_of_a_household_are_noticed_in_the_order_of_the_file(tmp_path, capsys, drop):
    rng = np.random.default_rng(0)
    hired = rng.random(1000) < np.repeat(rng.choice([0.1, 0.9], 200), 5)
    frame = pd.DataFrame({"sex": rng.choice(["F", "M"], 1000), "points": rng.normal(size=1000)})
    frame["hired"] = np.where(hired, "yes", "no")
    if drop:
        frame.loc[::9, "hired"] = None
    said = []
    for name, rows in ("households", frame), ("shuffled", frame.sample(frac=1, random_state=0)):
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
        more = ["--drop-unlabeled"] if drop else []
        audit(tmp_path / f"{name}.csv", "--detectors", "GroupDisparity", *more)
        said.append(" ".join(capsys.readouterr().out.split()))
    assert "Outcomes of neighboring rows are alike" in said[0]
    assert "Outcomes of neighboring rows are alike" not in said[1]
