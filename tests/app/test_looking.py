"""What is seen in a file before an audit, and said at its columns."""

import json

import numpy as np
import pandas as pd
import pytest

from skdisc._utils._tables._encoding import telling
from skdisc.app import _looking
from skdisc.app._looking import count, first_rows, look, with_counts
from skdisc.app._study import Study


@pytest.fixture
def seen(tmp_path, monkeypatch):
    """Return a function that looks at a table."""
    monkeypatch.setenv("SKDISC_APP_FOLDER", str(tmp_path))

    def of(table, *options, name="data.csv", **how):
        path = tmp_path / name
        if isinstance(table, pd.DataFrame):
            table = table.to_csv(index=False, **how)
        path.write_bytes(table if isinstance(table, bytes) else table.encode())
        found = look([str(path), *options])
        json.dumps(found, allow_nan=False)  # what the process sends
        return found

    return of


def noticed(found, column):
    return " | ".join(
        f"{n['seen']}; {n['done']}" for n in found["notices"] if n["column"] == column
    )


def advised(found, column):
    return [n["advice"]["argv"] for n in found["notices"] if n["column"] == column and n["advice"]]


def strangers(n=1_000):
    """Return a table with one thing wrong in each column, and what is said there and advised."""
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], n)
    hired = np.where(rng.random(n) < 0.4, "yes", "no")
    frame = pd.DataFrame(
        {"nr": np.arange(n) + 70_000, "sex": np.where(rng.random(n) < 0.04, "F", sex)}
    )
    frame["rejected"] = (hired == "no").astype(int)
    frame["age"] = np.where(rng.random(n) < 0.1, 999, rng.integers(20, 60, n))
    frame["test"] = [f"{v:.1f}".replace(".", ",") + " %" for v in rng.normal(70, 9, n)]
    frame["skirts"] = np.where(rng.random(n) < 0.95, sex == "f", sex == "m").astype(int)
    income = rng.integers(1_000, 5_000, n).astype(float)
    income[(sex == "f") & (rng.random(n) < 0.4)] = np.nan
    frame["income"] = income
    frame["hired"] = hired
    expected = {
        "nr": ("as identifiers do", ["--ignore", "nr"]),
        "sex": ("differ by case or blanks alone", ["--fold", "sex"]),
        "rejected": ("each of its values goes with one outcome", ["--ignore", "rejected"]),
        "age": ("999 in", ["--missing", "age=999"]),
        "test": ("read as percent", ["--text", "test"]),
        "skirts": ("goes strongly with 'sex'", ["--ignore", "skirts"]),
        "income": ("missing for", ["--ignore", "income"]),
    }
    return frame, expected


ASKED = ("--target=hired", "--favorable=yes", "--protected=sex")


def test_each_warning_stands_at_its_column(seen):
    frame, expected = strangers()
    found = seen(frame, *ASKED, sep=";")
    for column, (words, advice) in expected.items():
        assert words in noticed(found, column), column
        assert advice in advised(found, column), column
    assert noticed(found, "hired") == ""


def test_what_is_advised_ends_the_warning(seen, tmp_path):
    frame, expected = strangers()
    path = tmp_path / "data.csv"
    seen(frame, sep=";")
    study = Study("k", "data.csv", path, target="hired", favorable="yes")
    study.set_role("sex", "protected")
    for column, (_, advice) in expected.items():
        study.apply(*advice)
        assert advice not in advised(look(study.argv()), column), column


def test_copies_and_spellings_of_the_outcome(seen):
    frame, _ = strangers()
    frame.loc[:99, "hired"] = frame.loc[:99, "hired"].replace("yes", "Yes ")
    frame = pd.concat([frame, frame.head(60)])
    found = seen(frame, *ASKED, sep=";")
    assert "60 rows are copies of others" in noticed(found, None)
    assert ["--drop-copies"] in advised(found, None)
    assert "labels that differ by case or blanks alone" in noticed(found, None)
    values = {v["text"]: v for v in found["values"]}
    assert set(values) == {"yes", "no"}
    assert values["yes"]["n"] == int(frame["hired"].str.strip().str.lower().eq("yes").sum())
    assert values["yes"]["spellings"] == ["'Yes␣'"]
    assert [v["chosen"] for v in found["values"]] == [v["text"] == "yes" for v in found["values"]]
    found = seen(frame, *ASKED, "--drop-copies", sep=";")
    assert "60 rows are copies; left out" in noticed(found, None)
    assert not advised(found, None) or ["--drop-copies"] not in advised(found, None)


def test_columns_are_described_as_pandas_has_them(seen):
    frame, _ = strangers()
    found = {c["name"]: c for c in seen(frame)["columns"]}
    assert list(found) == list(frame.columns)
    assert found["income"]["missing"] == int(frame["income"].isna().sum())
    assert found["age"]["distinct"] == frame["age"].nunique()
    assert found["age"]["kind"] == "number"
    assert found["sex"]["kind"] == "text"
    counts = np.histogram(frame["age"], bins=12)[0]
    np.testing.assert_allclose(found["age"]["bars"], counts / counts.max(), atol=5e-4)
    assert found["age"]["ends"] == ["20", "999"]


def test_blanks_are_visible_and_whole_numbers_have_no_point(seen):
    frame, _ = strangers()
    frame["hired"] = np.where(np.arange(1_000) % 4 == 0, "Yes  ", frame["hired"])
    frame["sex"] = np.where(np.arange(1_000) % 9 == 0, "f  ", frame["sex"])
    frame["age"] = frame["age"].where(frame["age"] < 999)  # which makes them floats
    frame["test"] = np.arange(1_000) / 4
    found = seen(frame, *ASKED)
    columns = {c["name"]: c for c in found["columns"]}
    assert "f␣␣" in columns["sex"]["examples"]
    assert "Yes␣␣" in columns["hired"]["examples"]
    assert "'Yes␣␣' (250)" in noticed(found, None)
    assert "␣ is a blank" in noticed(found, "sex")
    assert all(text.isdigit() for text in columns["age"]["examples"])
    assert columns["test"]["examples"] == ["0.0", "0.25", "0.5", "0.75"]
    first = {name: found["rows"][1][i] for i, name in enumerate(found["names"])}
    assert first["test"] == "0.25"
    assert {row[found["names"].index("age")].partition(".")[2] for row in found["rows"]} == {""}
    outcome = frame["hired"].eq("no").astype(float).where(np.arange(1_000) % 7 > 0)
    found = seen(frame.assign(hired=outcome), *ASKED)
    assert {(v["text"], v["shown"]) for v in found["values"]} == {("0.0", "0"), ("1.0", "1")}


def test_rows_and_missing_values_of_the_file_are_told_beside_those_that_remain(seen):
    frame, _ = strangers()
    frame.loc[:9, "income"] = np.nan
    frame = pd.concat([frame, frame.head(60)])
    found = seen(frame, *ASKED, "--drop-copies")
    (income,) = (c for c in found["columns"] if c["name"] == "income")
    assert (found["n_read"], found["n_rows"]) == (1_060, 1_000)
    assert income["missing_read"] == int(frame["income"].isna().sum())
    assert income["missing"] == int(frame["income"].head(1_000).isna().sum())
    assert income["missing"] < income["missing_read"]


def test_of_a_large_file_the_beginning_is_seen(seen, monkeypatch, tmp_path):
    frame, _ = strangers(20_000)
    whole = seen(frame, *ASKED)
    monkeypatch.setattr(_looking, "COUNTED", 100_000)
    monkeypatch.setattr(_looking, "_HEAD", 50_000)
    found = seen(frame, *ASKED, "--by-parts")
    assert found["is_head"]
    assert 500 < found["n_rows"] < 1_500
    assert found["rows"] == whole["rows"]
    assert "999 in" in noticed(found, "age")
    study = Study("k", "data.csv", tmp_path / "data.csv")
    assert study.argv()[-1] == "--by-parts"
    with pytest.raises(ValueError, match=r"Above 0.1 MB a file of this kind is not read"):
        seen(b"PK" + b"x" * 200_000, name="data.xlsx")


def test_a_large_parquet_file(seen, monkeypatch, tmp_path):
    pytest.importorskip("pyarrow")
    frame, _ = strangers(2_000)
    frame.to_parquet(tmp_path / "p.parquet")
    monkeypatch.setattr(_looking, "COUNTED", 1_000)
    found = look([str(tmp_path / "p.parquet")])
    assert found["is_head"]
    assert found["names"] == list(frame.columns)


def test_a_million_columns_are_refused_before_they_are_read(seen, monkeypatch):
    monkeypatch.setattr(_looking, "read_in", None)
    names = ",".join(map(str, range(1_000_000)))
    with pytest.raises(ValueError, match=r"has more than \d\d,\d{3} columns; the app shows up"):
        seen(f"{names}\n{names}\n")


def test_options_that_are_wrong_are_told(seen):
    with pytest.raises(ValueError, match="no column"):
        seen("a,b\n1,2\n", "--missing=c=1")
    with pytest.raises(ValueError, match="invalid float"):
        seen("a,b\n1,2\n", "--relevant-size=much")


def test_power_is_that_of_the_command(seen, capsys):
    from skdisc import cli

    frame, _ = strangers()
    frame["sex"] = frame["sex"].str.lower()
    lines = seen(frame, *ASKED)["power"]
    shares = frame["sex"].value_counts(normalize=True)
    rate = frame["hired"].eq("yes").mean()
    groups = ",".join(f"{name}={share}" for name, share in shares.items())
    cli.main(["power", "1000", "--shares", f"sex:{groups}", "--rate", str(rate)])
    assert capsys.readouterr().out.splitlines() == lines


def large_table(n=30_000):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "nr": np.arange(n)})
    frame["name"] = [f"Nam\u00e9 {i}" for i in range(n)]
    frame["pay"] = rng.normal(size=n).round(3)
    frame.loc[n // 2 :: 7, "pay"] = np.nan
    frame["town"] = np.where(np.arange(n) < n - 5, "a", "b")
    return frame


@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz"])
@pytest.mark.parametrize("what", ["first", "look"])
def test_what_is_shown_at_once_reads_no_more_than_the_beginning(tmp_path, monkeypatch, name, what):
    monkeypatch.setenv("SKDISC_APP_FOLDER", str(tmp_path))
    frame = large_table()
    frame.to_csv(tmp_path / name, index=False)
    size = (tmp_path / name).stat().st_size
    monkeypatch.setattr(_looking, "COUNTED", 1)
    monkeypatch.setattr(_looking, "_FIRST", 20_000)
    monkeypatch.setattr(_looking, "_HEAD", 40_000)
    read, argv = [], [str(tmp_path / name)]
    monkeypatch.setattr(_looking.ShareDone, "__call__", lambda self, n: read.append(n))
    with telling(read.append):
        seen = (
            first_rows(argv, str(tmp_path)) if what == "first" else look(argv, str(tmp_path / "p"))
        )
    # Each piece of the beginning is opened for its encoding, four separators and its rows.
    assert 0 < sum(read) <= 2**18 + 12 * 40_000 < size or name.endswith(".gz")
    assert max(read) <= 2**18
    assert seen["names"] == list(frame)
    assert seen["rows"][0][:2] == ["f" if frame["sex"][0] == "f" else "m", "0"]
    assert len(seen["rows"]) == 20
    assert list(tmp_path.glob("tmp*")) == []


@pytest.mark.parametrize("end", ["csv", "parquet"])
def test_all_rows_are_counted_and_progress_is_told_at_each_block(tmp_path, monkeypatch, end):
    frame = large_table()
    path = tmp_path / f"data.{end}"
    if end == "csv":
        frame.to_csv(path, index=False)
    else:
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    monkeypatch.setattr(_looking, "_SECONDS", 0.0)
    monkeypatch.setattr(_looking, "_MOST_VALUES", 20_000)
    shares, write = [], _looking.Path.write_text
    monkeypatch.setattr(
        _looking.Path,
        "write_text",
        lambda self, t, **k: (shares.append(float(t)), write(self, t, **k)),
    )
    found = count([str(path)], str(tmp_path / "progress"))
    json.dumps(found)
    assert found["n_rows"] == len(frame)
    for name in frame:
        told = found["columns"][name]
        assert told["missing"] == frame[name].isna().sum()
        if name == "name":
            assert told["is_more"]
        else:
            assert told == told | {"distinct": frame[name].nunique(), "is_more": False}
    if end == "csv":
        assert len(shares) >= 3 * path.stat().st_size / 2**18
    assert shares == sorted(shares)
    assert shares[-1] > 0.9
    assert max(shares) < 1


def test_counts_of_all_rows_take_the_place_of_those_of_the_first(tmp_path, monkeypatch):
    monkeypatch.setenv("SKDISC_APP_FOLDER", str(tmp_path))
    frame = large_table()
    path = tmp_path / "data.csv"
    frame["name"] = frame["name"].str.replace("\u00e9", "e")
    frame.loc[len(frame) - 1, "name"] = "Ren\u00e9 M\u00fcller"
    frame.to_csv(path, index=False, encoding="cp1252")
    monkeypatch.setattr(_looking, "COUNTED", 1)
    monkeypatch.setattr(_looking, "_HEAD", 40_000)
    seen = look([str(path)])
    assert "cp1252" not in noticed(seen, None)  # the beginning is ASCII
    told = with_counts(seen, count([str(path)], str(tmp_path / "progress")))
    assert "read as cp1252" in noticed(told, None)
    columns = {c["name"]: c for c in told["columns"]}
    assert columns["town"]["distinct"] == 2
    assert columns["pay"]["missing"] == frame["pay"].isna().sum()
    assert columns["pay"]["examples"] == {c["name"]: c for c in seen["columns"]}["pay"]["examples"]
    assert told["n_all"] == len(frame)
    assert with_counts(seen, {"error": "why"})["not_counted"] == "why"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
@pytest.mark.parametrize("n_bytes", [300, 301, 302, 303, 350, 397])
def test_the_beginning_ends_with_a_whole_row(tmp_path, encoding, n_bytes):
    """Also where a line ends within quotes, and where a character has several bytes."""
    text = "a,b\n" + 'x,"one\ntwo \u010a"\n' * 60
    path = tmp_path / "data.csv"
    path.write_bytes(text.encode(encoding))
    head = _looking._head_of(path, n_bytes, tmp_path).read_bytes()
    assert len(head) <= n_bytes
    found = head.decode(encoding)
    assert text.startswith(found)
    assert found.endswith('"\n')


def test_power_is_about_the_rate_that_the_audit_counts(seen, tmp_path):
    """Spellings of the favorable label count, and rows without an outcome do not: as in a run."""
    rng = np.random.default_rng(0)
    n = 800
    outcome = rng.choice(["yes", "Yes ", "YES", "no", None], n, p=[0.3, 0.1, 0.1, 0.3, 0.2])
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "school": rng.integers(0, 4, n)})
    options = ["--target", "hired", "--favorable", "yes", "--protected", "sex"]
    options.append("--drop-unlabeled")
    before = seen(X.assign(hired=outcome), *options)["power"][-1]
    report = tmp_path / "audit.json"
    from skdisc import cli

    path = tmp_path / "data.csv"
    cli.main(
        ["audit", str(path), *options, "--report", str(report), "--detectors", "GroupDisparity"]
    )
    verdict = json.loads(report.read_text())["verdicts"][0]
    relevant = verdict["answer"]["relevant_gap"]
    relevant = relevant["selection_rate"] if isinstance(relevant, dict) else relevant
    assert before.startswith(f"The gap that matters is {relevant:g}: about ")
