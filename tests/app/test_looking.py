"""What is seen in a file before an audit, and said at its columns."""

import json

import numpy as np
import pandas as pd
import pytest

from skdisc.app import _looking
from skdisc.app._looking import look
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
    assert values["yes"]["spellings"] == ["'Yes '"]
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
    with pytest.raises(ValueError, match="1,000,000 columns; the app shows up to 2,000"):
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
