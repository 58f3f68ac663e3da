"""Nothing is lost if output cannot be printed, and nothing of data reaches the terminal."""

import io
import json
import os

import numpy as np
import pandas as pd
import pytest

from skdisc import cli
from skdisc.cli._say import say

ESC = "\x1b[2J\x1b]0;owned\x07"
HOW = ["--target=hired", "--favorable=yes", "--detectors=GroupDisparity"]


@pytest.fixture
def people(tmp_path):
    rng = np.random.default_rng(0)
    sex = rng.choice(["F", "M"], 400)
    hired = np.where(rng.random(400) < np.where(sex == "M", 0.7, 0.2), "yes", "no")
    pd.DataFrame({"sex": sex, "hired": hired}).to_csv(tmp_path / "people.csv", index=False)
    return tmp_path / "people.csv"


class Full(io.StringIO):
    """Standard output on a full disk."""

    def write(self, text):
        raise OSError(28, "No space left on device")

    def fileno(self):
        raise OSError


class Gone(Full):
    """A pipe that nobody reads."""

    def write(self, text):
        raise BrokenPipeError(32, "Broken pipe")


def audit(people, *more):
    return cli.main(["audit", str(people), "--protected=sex", *HOW, *more])


@pytest.mark.parametrize("stdout", [Full, Gone])
def test_the_report_is_saved_before_anything_is_printed(people, monkeypatch, capsys, stdout):
    path = people.with_name("audit.json")
    monkeypatch.setattr("sys.stdout", stdout())
    assert audit(people, f"--report={path}") == cli.DISPARITY_FOUND
    assert json.loads(path.read_text())["verdict"]["exit_code"] == 1
    error = capsys.readouterr().err
    assert ("standard output could not be written: No space" in error) == (stdout is Full)
    monkeypatch.setattr("sys.stdout", stdout())
    assert audit(people) == (cli.FAILURE if stdout is Full else 141)  # here the answer is lost


def test_a_narrow_encoding_loses_nothing(people, monkeypatch):
    frame = pd.read_csv(people).rename(columns={"sex": "Größe ≤ 東"})
    frame.to_csv(people, index=False)
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr("sys.stdout", out)
    assert cli.main(["audit", str(people), "--protected=Größe ≤ 東", *HOW]) == cli.DISPARITY_FOUND
    out.flush()
    assert "Gr\\xf6\\xdfe \\u2264 \\u6771" in out.buffer.getvalue().decode("ascii")


def test_control_characters_of_data_reach_no_terminal(people, tmp_path, capsys):
    frame = pd.read_csv(people).assign(**{f"a{ESC}\nNothing differs.": 1, "empty": np.nan})
    frame["hired"] = frame["hired"].where(frame.index % 3 > 0, f"no{ESC}\nskdisc: all is well")
    frame.to_csv(people, index=False)
    audit(people)
    audit(people, "--favorable=maybe")
    audit(people, "--protected=secs")
    report = tmp_path / "a.json"
    audit(people, f"--report={report}")
    document = json.loads(report.read_text())
    document["verdicts"][0]["attribute"] = f"sex{ESC}\nNothing differs."
    report.write_text(json.dumps(document))
    cli.main(["verify", str(report), str(people)])
    told = capsys.readouterr()
    for text in (told.out, told.err):
        assert "\x1b" not in text
        assert "\x07" not in text
        assert not any(
            line.startswith(("Nothing differs", "skdisc: all")) for line in text.split("\n")
        )
    assert told.err.count("\n") == told.err.count("skdisc: error: ")


@pytest.mark.filterwarnings("always")
@pytest.mark.parametrize("fault", ["damaged", "full"])
def test_a_cache_that_fails_does_not_end_an_audit(people, tmp_path, monkeypatch, capsys, fault):
    folder = tmp_path / "cache"
    if fault == "damaged":
        audit(people, f"--cache={folder}")
        for path in folder.glob("*.json"):
            path.write_text("{damaged")
    else:
        monkeypatch.setattr(os, "replace", _full)
    for more in ([], ["--by-parts"]):
        assert audit(people, f"--cache={folder}", *more) == cli.DISPARITY_FOUND
        for path in (folder / "counts").glob("*.kept"):
            path.write_bytes(b"damaged")
    assert audit(people, f"--cache={folder}", "--by-parts") == cli.DISPARITY_FOUND
    error = capsys.readouterr().err
    assert "skdisc: warning: cache: '" in error
    assert ("cannot be read" if fault == "damaged" else "was not written") in error


def _full(*_):
    raise OSError(28, "No space left on device")


def test_a_document_names_no_place_that_verify_obeys(people, tmp_path, capsys):
    report, folder = tmp_path / "a.json", tmp_path / "cache"
    audit(people, f"--report={report}")
    document = json.loads(report.read_text())
    document["settings"]["cache"] = str(folder)
    report.write_text(json.dumps(document))
    assert cli.main(["verify", str(report), str(people)]) == 1
    assert not folder.exists()
    assert "settings: cache is set, which no document sets" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["report", "cache", "model", "trust", "trust_pickle", "details"])
def test_a_plan_names_no_file(people, tmp_path, capsys, name):
    plan, victim = tmp_path / "plan.json", tmp_path / "victim.json"
    cli.main(["plan", "--protected=sex", *HOW, f"--out={plan}"])
    changed = json.loads(plan.read_text())
    changed["options"][name] = str(victim)
    plan.write_text(json.dumps(changed))
    assert cli.main(["audit", str(people), f"--plan={plan}"]) == cli.USAGE
    assert f"sets '{name}', which no plan may set" in capsys.readouterr().err
    assert not victim.exists()


def test_a_password_is_not_echoed(capsys):
    for address in ("postgres://me:s3cret@host/db", "nothing://me:s3cret@host/db::people"):
        assert cli.main(["audit", address, "--protected=sex", *HOW]) != 0
        error = capsys.readouterr().err
        assert "s3cret" not in error
        assert "me:***@host" in error


@pytest.mark.filterwarnings("ignore:The 'future.infer_string'")  # of Ibis
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_database_is_not_changed(tmp_path):
    import sqlite3

    pytest.importorskip("ibis")
    from skdisc._counts._sources import source_of

    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute("create table people (sex text, hired integer)")
        connection.executemany("insert into people values (?, ?)", [("f", 1), ("m", 0)] * 20)
    connection.close()
    source = source_of(f"sqlite:///{tmp_path}/a.db::people")
    assert source.n_rows() == 40
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        source._table.get_backend().con.execute("delete from people")


def test_say_takes_text_of_any_kind(capsys):
    say(f"a{ESC}b")
    assert "\x1b" not in capsys.readouterr().out
