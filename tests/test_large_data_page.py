"""The page on large tables: everything it shows runs, on a small table."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from skdisc import cli

PAGE = Path(__file__).resolve().parents[1] / "doc" / "large_data.md"
BLOCKS = re.findall(r"^```(python|sh)\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.S | re.M)


def made(n=1000):
    """Return people with labels; women are hired less."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "race": rng.choice(["a", "b"], n)})
    frame["points"], frame["town"] = rng.integers(0, 9, n), rng.choice(list("uvw"), n)
    rate = np.where(frame["sex"] == "F", 0.2, 0.6)
    return frame.assign(hired=np.where(rng.random(n) < rate, "yes", "no"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of clusters and engines that start and end
def test_what_the_page_shows_runs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("dask.dataframe")
    pytest.importorskip("distributed")
    pytest.importorskip("ibis")
    pytest.importorskip("pyarrow")
    duckdb, frame = pytest.importorskip("duckdb"), made()
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    for i in range(2):
        frame.iloc[i::2].to_parquet(f"data/{i}.parquet")
    with duckdb.connect("file.db") as connection:
        connection.execute("create table people as select * from 'data/*.parquet'")
    X, y = frame.drop(columns="hired"), frame["hired"]
    skops.io.dump(make_pipeline(OneHotEncoder(), LogisticRegression()).fit(X, y), "model.skops")
    names, ways = {}, []
    for language, code in BLOCKS:
        if language == "python":
            exec(compile(code, str(PAGE), "exec"), names)
            ways.append(names["report"].document["evidence"][0]["group"])
            assert names["report"].verdict == "disparity found"
            continue
        for line in code.splitlines():
            expected = 0 if "verify" in line else cli.DISPARITY_FOUND
            assert cli.main(shlex.split(line)[1:]) == expected, line
    assert len(ways) >= 5
    assert set(ways) == {"sex = 'F'"}
    assert Path("audit.html").is_file()
    assert len(names["result"])
    assert "Nothing differs." in capsys.readouterr().out
