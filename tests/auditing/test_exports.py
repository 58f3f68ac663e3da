"""Exports: the numbers of the document, and nothing that a reader's program would run."""

import csv
import io
import math
import re
import sqlite3
from xml.etree import ElementTree

import pandas as pd
import pytest
import sqlalchemy
from documents import breaches, example

from skdisc import AuditReport
from skdisc.auditing._audit_report import TABLES

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '" onload=alert(1) x="',
    "](javascript:alert(1))",
    "=cmd|' /C calc'!A0",
    "+1",
    "-2",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "x;=1",
    "'; DROP TABLE audit; --",
    "]]><x/>\x00\x1b[31m\ud800",
    "| a | b |\n\n# big",
    "../../etc",
    "ü \u202e \U0001f600",
]
FREE = {"sentence", "reason", "group", "claim", "lead", "measure", "compared_with", "part", "text"}
FREE |= {"attribute", "column", "name", "detector", "why", "method", "stopped_by"}
FREE |= {"system", "period", "population", "auditor", "independence", "code"}


def hostile(text):
    """Return the example with a text in every place that people or data can fill."""

    def fill(value, key=None):
        if isinstance(value, dict):
            return {k: fill(v, k) for k, v in value.items()}
        if isinstance(value, list):
            free = key in ("notes", "limits", "agree", "attributes", "columns", "protected")
            return [text if free and isinstance(v, str) else fill(v, key) for v in value]
        return text if key in FREE and isinstance(value, str | None) else value

    document = fill(example())
    return AuditReport(document)


@pytest.fixture(params=HOSTILE, ids=ascii)
def evil(request):
    report = hostile(request.param)
    assert breaches(report.document) == []
    return request.param, report


def test_csv_has_the_numbers(tmp_path):
    report = AuditReport(example())
    frame = pd.read_csv(io.StringIO(report.to_csv()))
    expected = report.to_frame()
    assert list(frame["effect"]) == list(expected["effect"])
    assert list(frame["found"]) == [True, True, True]
    assert list(frame["agree"]) == ["; ".join(a) for a in expected["agree"]]
    assert frame["held_out_effect"].isna().tolist() == [False, True, True]
    path = tmp_path / "gaps.csv"
    assert report.to_csv(path, kind="gaps") is None
    assert path.read_bytes().decode() == report.to_csv(kind="gaps")
    with pytest.raises(ValueError, match="kind must be one of"):
        report.to_csv(kind="people")


@pytest.mark.parametrize("kind", TABLES)
def test_an_empty_table_has_its_columns(kind):
    document = example() | {kind: []}
    full, empty = AuditReport(example()).to_csv(kind=kind), AuditReport(document).to_csv(kind=kind)
    assert empty == full[: len(empty)]
    assert empty.count("\n") == 1


@pytest.mark.every(6)
@pytest.mark.parametrize("kind", TABLES)
def test_no_cell_is_a_formula(evil, kind):
    text, report = evil
    written = report.to_csv(kind=kind)
    rows = list(csv.reader(io.StringIO(written, newline="")))
    assert len(rows) == 1 + len(report.document[kind])
    cells = [cell for row in rows for cell in row]
    starts = [c for c in cells if c.startswith(("=", "+", "@", "\t", "\r", "\n"))]
    assert starts == []
    assert all(is_number(c) for c in cells if c.startswith("-"))
    text = text.replace("\ud800", "?")
    escaped = f"'{text}" if text.startswith(tuple("=+-@\t\r\n")) else text
    assert any(escaped in cell for cell in cells)
    bare = [
        c for line in re.sub(r'"(?:[^"]|"")*"', "", written).split("\r\n") for c in line.split(",")
    ]
    assert all(c in ("", "True", "False") or is_number(c) for c in bare)  # all text is quoted


def is_number(text):
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def test_junit_has_a_case_for_each_verdict():
    suite = ElementTree.fromstring(AuditReport(example()).to_junit().encode())
    cases = suite.findall(".//testcase")
    verdicts = example()["verdicts"]
    outcome = {"disparity found": "failure", "insufficient evidence": "skipped"}
    assert [[child.tag for child in case] for case in cases] == [
        [outcome[v["verdict"]]] if v["verdict"] in outcome else [] for v in verdicts
    ]
    assert suite.attrib["tests"] == "7"
    assert suite.attrib["failures"] == "4"
    assert suite.attrib["skipped"] == "2"
    assert "hostname" not in suite[0].attrib
    told = "".join(failure.text or "" for failure in suite.iter("failure"))
    assert "sex = 'Female', selection_rate: effect -0.174" in told


def test_an_interrupted_audit_is_an_error():
    document = example() | {"verdicts": []}
    document["about"]["interrupted"] = True
    suite = ElementTree.fromstring(AuditReport(document).to_junit().encode())
    assert suite.attrib["errors"] == suite.attrib["tests"] == "1"


def test_every_file_can_be_written(evil, tmp_path):
    _, report = evil
    report.to_csv(tmp_path / "evidence.csv")
    for suffix in (".xml", ".json", ".md", ".txt", ".html"):
        report.save(tmp_path / f"audit{suffix}")
    assert (tmp_path / "audit.xml").read_bytes().decode() == report.to_junit()
    report.to_model_card().encode()


def test_junit_is_well_formed(evil):
    _, report = evil
    suite = ElementTree.fromstring(report.to_junit().encode())
    tags = {element.tag for element in suite.iter()}
    assert tags == {"testsuites", "testsuite", "testcase", "failure", "skipped"}
    names = {name for element in suite.iter() for name in element.attrib}
    counts = {"tests", "failures", "errors", "skipped", "time"}
    assert names == {"name", "classname", "type", "message", *counts}


@pytest.mark.every(6)
@pytest.mark.parametrize("text", [t for t in HOSTILE if "\ud800" not in t], ids=ascii)
@pytest.mark.parametrize("kind", ["sqlite3", "engine", "connection"])
def test_a_database_has_every_table(kind, text):
    report = hostile(text)
    engine = sqlalchemy.create_engine("sqlite://", poolclass=sqlalchemy.StaticPool)
    connection = {
        "sqlite3": lambda: sqlite3.connect(":memory:"),
        "engine": lambda: engine,
        "connection": engine.connect,
    }[kind]()
    report.to_sql(connection)
    AuditReport(example()).to_sql(connection, if_exists="append")
    for table in TABLES:
        rows = pd.read_sql(f"SELECT * FROM audit_{table}", connection)
        assert len(rows) == 2 * len(report.document[table])
        assert rows["audit"].nunique() == 2
    evidence = pd.read_sql("SELECT * FROM audit_evidence", connection)
    assert list(evidence["effect"]) == 2 * [row["effect"] for row in report.document["evidence"]]
    assert evidence["group"][0] == text
    assert pd.read_sql("SELECT * FROM audit", connection)["exit_code"].tolist() == [1, 1]
    with pytest.raises(ValueError, match="already exists"):
        report.to_sql(connection)
    if kind != "engine":
        connection.close()
    engine.dispose()


def test_all_rows_are_written_or_none(tmp_path):
    url = f"sqlite:///{tmp_path / 'audits.db'}"
    engine = sqlalchemy.create_engine(url)
    pd.DataFrame({"a": [1]}).to_sql("audit_log", engine)
    with pytest.raises(ValueError, match="audit_log"):
        AuditReport(example()).to_sql(url)
    if "audit" in sqlalchemy.inspect(engine).get_table_names():  # SQLite keeps the empty table
        assert pd.read_sql("SELECT * FROM audit", engine).empty
    AuditReport(example()).to_sql(url, prefix="loan desk")
    assert "loan desk_evidence" in sqlalchemy.inspect(engine).get_table_names()
    engine.dispose()


def test_metrics_are_numbers_by_name():
    metrics = AuditReport(example()).metrics()
    assert metrics["sex.marginal.effect"] == -0.174
    assert metrics["sex.marginal.disparity_found"] == 1.0
    assert metrics["race.conditional.disparity_found"] == 0.0
    assert metrics["selection_rate.sex_Female.rate"] == 0.08
    assert "race.conditional.effect" not in metrics  # it is not known
    assert metrics["n_disparities"] == 4


def test_metrics_have_allowed_names(evil):
    text, report = evil
    report.document["groups"][0]["group"] = text * 300
    metrics = report.metrics()
    assert all(type(value) is float and math.isfinite(value) for value in metrics.values())
    assert all(re.fullmatch(r"[\w\-. ]{1,250}", name) for name in metrics)
    assert not any(name.startswith(".") for name in metrics)
    clean = AuditReport(example()).metrics()
    assert len(metrics) == len(clean)  # names that became equal are numbered


def test_a_model_card_says_what_matters():
    card = AuditReport(example()).to_model_card()
    assert card.startswith("## Fairness\n")
    assert "Verdict: **disparity found**" in card
    assert "- Period: not stated" in card
    assert "no gap above 0.030" in card
    assert "-0.070 \\(-0.120 to -0.020, 95 %\\)" in card  # held-out estimates come first


def test_a_model_card_is_escaped(evil):
    _, report = evil
    card, plain = report.to_model_card(), AuditReport(example()).to_model_card()
    assert card.count("\n") == plain.count("\n")
    assert "<" not in card
    assert re.search(r"(?<!\\)[\[\]]", card) is None
    headings = [line for line in card.split("\n") if line.startswith("#")]
    assert headings == [line for line in plain.split("\n") if line.startswith("#")]
    for line, other in zip(card.split("\n"), plain.split("\n"), strict=True):
        assert len(re.findall(r"(?<!\\)\|", line)) == len(re.findall(r"(?<!\\)\|", other))
