"""The command `skdisc monitor`."""

import numpy as np
import pandas as pd
import pytest

from skdisc.cli import main


def month(path, seed, gap=0.0, n=300):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"id": np.arange(n), "sex": rng.choice(["f", "m"], n)})
    rate = 0.5 - gap * (frame["sex"] == "f")
    frame["hired"] = np.where(rng.random(n) < rate, "yes", "no")
    frame["good"] = rng.choice(["yes", "no"], n)
    frame.to_csv(path, index=False)
    return str(path)


def test_months_add_up_to_an_alarm(tmp_path, capsys):
    state, begin = str(tmp_path / "state.json"), ["--protected", "sex", "--favorable", "yes"]
    first = ["monitor", state, month(tmp_path / "0.csv", 0), "--decision", "hired", *begin]
    assert main(first) == 3
    codes = [
        main(["monitor", state, month(tmp_path / "n.csv", s, 0.3), "--decision", "hired"])
        for s in range(1, 6)
    ]
    assert codes[-1] == 1
    out = capsys.readouterr().out
    assert "disparity found" in out
    assert "1,800 people in 6 batches" in out
    assert main(["monitor", state]) == 1


def test_rates_that_need_labels(tmp_path):
    state, path = str(tmp_path / "state.json"), month(tmp_path / "a.csv", 0, n=20_000)
    given = ["--protected", "sex", "--favorable", "yes", "--decision", "hired"]
    given += ["--metric", "true_positive_rate"]
    assert main(["monitor", state, path, *given]) == 2
    assert main(["monitor", state, path, *given, "--label", "good"]) == 0


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--metric", "error_rate"], "--metric is selection_rate in the state"),
        (["--protected", "race"], "--protected is ['sex'] in the state"),
        (["--decision", "hird"], "did you mean 'hired'"),
    ],
)
def test_what_cannot_change_is_refused_and_the_state_stays(tmp_path, capsys, more, message):
    state, path = tmp_path / "state.json", month(tmp_path / "a.csv", 0)
    begin = ["--protected", "sex", "--favorable", "yes", "--decision", "hired"]
    main(["monitor", str(state), path, *begin])
    before = state.read_text()
    assert main(["monitor", str(state), path, "--decision", "hired", *more]) == 2
    assert message in capsys.readouterr().err
    assert state.read_text() == before


def test_nothing_to_begin_with_is_said(tmp_path, capsys):
    assert main(["monitor", str(tmp_path / "none.json")]) == 2
    assert "name the data of the first batch" in capsys.readouterr().err
    path = month(tmp_path / "a.csv", 0)
    assert main(["monitor", str(tmp_path / "s.json"), path, "--decision", "hired"]) == 2
    assert "--protected" in capsys.readouterr().err
