"""The command line on tables that are counted part by part."""

import json

import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
from documents import breaches
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from skdisc import cli
from skdisc.auditing._fingerprints import model_fingerprint
from skdisc.cli import _counted

pytest.importorskip("pyarrow")
pytestmark = pytest.mark.filterwarnings("ignore:fetch_:DeprecationWarning")  # Ibis with DuckDB 1.5
OPTIONS = ["--target", "hired", "--favorable", "yes", "--protected", "sex"]


@pytest.fixture
def people(tmp_path):
    """Return a folder with a table as one file, in parts, and in a database."""
    rng = np.random.default_rng(0)
    sex = rng.choice(["F", "M"], 1000)
    hired = np.where(rng.random(1000) < np.where(sex == "M", 0.6, 0.2), "yes", "no")
    frame = pd.DataFrame({"id": range(1000), "sex": sex, "town": rng.choice(list("abc"), 1000)})
    frame["points"], frame["hired"] = rng.integers(0, 9, 1000), hired
    frame.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "parts").mkdir()
    for i in range(3):
        frame.iloc[i::3].to_parquet(tmp_path / "parts" / f"{i}.parquet")
    return tmp_path


def audit(people, data, *more):
    """Return the exit code and the document of an audit."""
    report = people / "report.json"
    code = cli.main(
        ["audit", str(data), *OPTIONS, "--ignore", "id", "--report", str(report), *more]
    )
    return code, json.loads(report.read_text())


def answers(document):
    """Return what an audit found."""
    return [document[name] for name in ("verdict", "verdicts", "evidence", "groups")]


@pytest.mark.slow
def test_files_folders_and_addresses_give_one_answer(people, capsys):
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("ibis")
    with duckdb.connect(people / "t.db") as connection:
        connection.execute(f"create table people as select * from '{people}/parts/*.parquet'")
    named = ("--detectors", "GroupDisparity,DivExplorer")
    code, direct = audit(people, people / "people.csv", *named)
    assert code == cli.DISPARITY_FOUND
    assert "counts" not in direct["about"]
    tables = (people / "parts" / "*.parquet", people / "parts", f"duckdb:///{people}/t.db::people")
    for data, more in [*((data, ()) for data in tables), (people / "people.csv", ["--by-parts"])]:
        code, document = audit(people, data, *named, *more)
        assert code == cli.DISPARITY_FOUND
        assert answers(document) == answers(direct)
        assert document["about"]["counts"]["edges"].keys() == {"points"}
        assert document["source"]["counted"]
    for data in (*tables, people / "people.csv"):
        assert cli.main(["verify", str(people / "report.json"), str(data)]) == 0
    assert "Nothing differs." in capsys.readouterr().out
    changed = pd.read_csv(people / "people.csv").assign(hired="no")
    changed.loc[0, "hired"] = "yes"
    changed.to_csv(people / "changed.csv", index=False)
    assert cli.main(["verify", str(people / "report.json"), str(people / "changed.csv")]) == 1
    assert "verdict.verdict: disparity found, now" in capsys.readouterr().out


@pytest.mark.slow
def test_a_large_file_is_counted(people, monkeypatch):
    assert "counts" not in audit(people, people / "people.csv")[1]["about"]
    monkeypatch.setattr(_counted, "_LARGE", 1000)
    assert "counts" in audit(people, people / "people.csv")[1]["about"]


@pytest.mark.slow
def test_a_model_decides_about_partitions(people):
    """Its decisions are counted, and the file of the model is its fingerprint."""
    frame = pd.read_csv(people / "people.csv").drop(columns="id")
    X, y = frame.drop(columns="hired"), frame["hired"]
    skops.io.dump(
        make_pipeline(OneHotEncoder(), LogisticRegression()).fit(X, y), people / "m.skops"
    )
    more = ("--model", str(people / "m.skops"), "--max-tests", "100")
    code, document = audit(people, people / "parts", *more)
    direct_code, direct = audit(people, people / "people.csv", *more)
    assert code == direct_code == cli.DISPARITY_FOUND
    assert document["about"]["audited"] == "model"
    assert document["fingerprints"]["model"] == direct["fingerprints"]["model"]
    rates = ([g["rate"] for g in d["groups"]] for d in (document, direct))
    assert next(rates) == next(rates)
    audit(people, people / "parts", *more)
    given = ["verify", str(people / "report.json"), str(people / "people.csv")]
    assert cli.main([*given, "--model", str(people / "m.skops")]) == 0
    assert cli.main(given) == cli.USAGE


@pytest.mark.slow
def test_an_audit_goes_on_from_what_was_counted(people):
    cache = people / "cache"
    first = audit(people, people / "parts", "--cache", str(cache))
    kept = sorted(p.name for p in (cache / "counts").iterdir())
    assert kept
    again = audit(people, people / "parts", "--cache", str(cache))
    assert answers(first[1]) == answers(again[1])
    assert sorted(p.name for p in (cache / "counts").iterdir()) == kept


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--fit", "tree"), "--fit needs all rows"),
        (("--weights", "points"), "--weights needs all rows"),
        (("--groups", "town"), "--groups needs all rows"),
        (("--robustness",), "--robustness needs all rows"),
        (("--favorable", "perhaps"), "'perhaps' does not occur in 'hired'"),
        (("--protected", "hired"), "is also named by --target"),
    ],
)
def test_what_cannot_be_counted_is_said(people, capsys, more, message):
    given = ["audit", str(people / "parts"), *OPTIONS, *more]
    assert cli.main(given) == cli.USAGE
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_report_of_pay_takes_rows(people, capsys):
    more = ["--template", "pay_transparency", "--base", "points", "--protected", "sex"]
    assert cli.main(["audit", str(people / "parts"), *more]) == cli.USAGE
    assert "--template pay_transparency needs all rows" in capsys.readouterr().err


def test_tables_that_are_not_there(people, capsys):
    for data in (people / "none" / "*.parquet", people / "none", f"duckdb:///{people}/no.db::t"):
        assert cli.main(["audit", str(data), *OPTIONS]) == cli.USAGE
        assert "no file" in capsys.readouterr().err.lower()


def test_a_table_of_counts_is_that_of_its_people(people):
    frame = pd.read_csv(people / "people.csv").drop(columns="id")
    counts = frame.groupby(["sex", "town", "points", "hired"]).size().reset_index(name="n")
    frame.to_csv(people / "rows.csv", index=False)
    counts.to_csv(people / "counts.csv", index=False)
    reports = []
    for name, more in (("rows.csv", ["--by-parts"]), ("counts.csv", ["--counts=n"])):
        report = people / "report.json"
        how = [*OPTIONS, "--detectors=GroupDisparity,DivExplorer", "--report", str(report), *more]
        assert cli.main(["audit", str(people / name), *how]) == cli.DISPARITY_FOUND
        reports.append(json.loads(report.read_text()))
    assert answers(reports[0]) == answers(reports[1])
    assert cli.main(["verify", str(report), str(people / "counts.csv")]) == 0


def test_the_model_of_each_class_is_known_by_its_file(people):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.random(300), "b": rng.random(300), "sex": [0, 1] * 150})
    job = np.where(X["a"] < 0.3, "desk", np.where(X["b"] < 0.5, "x", "y"))
    joblib.dump(DecisionTreeClassifier().fit(X, job), people / "jobs.joblib")
    X.assign(job=job).to_csv(people / "jobs.csv", index=False)
    trusted = [f"--model={people / 'jobs.joblib'}", "--trust-pickle"]
    more = ["--target=job", "--protected=sex", "--detectors=GroupDisparity", "--one-vs-rest"]
    more.append(f"--report={people / 'jobs.json'}")
    cli.main(["audit", str(people / "jobs.csv"), *more, *trusted])
    document = json.loads((people / "jobs-1.json").read_text())
    assert document["fingerprints"]["model"] == model_fingerprint(people / "jobs.joblib")


def test_each_class_against_the_rest(people, capsys):
    rng = np.random.default_rng(0)
    sex = np.array(["F", "M"] * 600)
    job = np.where((sex == "F") & (rng.random(1200) < 0.5), "desk", rng.choice(list("xyz"), 1200))
    pd.DataFrame({"sex": sex, "job": job}).to_csv(people / "jobs.csv", index=False)
    how = ["--target=job", "--protected=sex", "--detectors=GroupDisparity"]
    given = ["audit", str(people / "jobs.csv"), *how, f"--report={people / 'jobs.json'}"]
    assert cli.main([*given, "--one-vs-rest"]) == cli.DISPARITY_FOUND
    out = capsys.readouterr().out
    assert "Class desk against the rest" in out
    assert "got the outcome (job = desk) less often than" in " ".join(out.split())
    assert "favorable outcome" not in out  # nobody said that any class is
    assert "All classes together: disparity found. Classes with a disparity: desk" in out
    first = json.loads((people / "jobs-1.json").read_text())
    assert first["source"]["favorable"] == ["desk"]
    assert first["source"]["one_vs_rest"] is True
    assert not breaches(first)
    assert cli.main(["verify", str(people / "jobs-1.json"), str(people / "jobs.csv")]) == 0
    for more in ([], ["--one-vs-rest", "--favorable=desk"]):
        assert cli.main([*given, *more]) == cli.USAGE
        assert "--one-vs-rest audits each class" in capsys.readouterr().err
