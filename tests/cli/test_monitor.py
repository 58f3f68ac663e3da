"""The command `skdisc monitor`."""

import json
from multiprocessing.pool import ThreadPool

import numpy as np
import pandas as pd
import pytest

from skdisc._utils._files import only_writer
from skdisc.cli import main


def month(path, seed, gap=0.0, n=300):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"id": np.arange(n), "sex": rng.choice(["f", "m"], n)})
    rate = 0.5 - gap * (frame["sex"] == "f")
    frame["hired"] = np.where(rng.random(n) < rate, "yes", "no")
    frame["good"] = rng.choice(["yes", "no"], n)
    frame.to_csv(path, index=False)
    return str(path)


@pytest.mark.slow
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


def test_files_of_a_batch_are_one_batch_in_any_order(tmp_path):
    paths = [month(tmp_path / f"{i}.csv", i, n=40) for i in range(3)]
    whole = pd.concat([pd.read_csv(p) for p in paths])
    whole.to_csv(tmp_path / "whole.csv", index=False)
    given = ["--protected", "sex", "--favorable", "yes", "--decision", "hired"]
    states = []
    for name, files in enumerate([paths, paths[::-1], [str(tmp_path / "whole.csv")]]):
        state = tmp_path / f"state{name}.json"
        main(["monitor", str(state), *files, *given])
        stream = json.loads(state.read_text())["stream"]
        stream["rules"].pop("seed")
        states.append({k: v for k, v in stream.items() if k in ("n_people", "n_batches")})
        states[-1]["seen"] = [group["seen"] for group in stream["groups"]]
    assert states[0] == states[1] == states[2]
    assert (states[0]["n_people"], states[0]["n_batches"]) == (120, 1)


def test_files_with_other_columns_are_no_batch(tmp_path, capsys):
    path, other = month(tmp_path / "a.csv", 0), tmp_path / "b.csv"
    pd.read_csv(path).drop(columns="sex").to_csv(other, index=False)
    given = ["--protected", "sex", "--favorable", "yes", "--decision", "hired"]
    assert main(["monitor", str(tmp_path / "s.json"), path, str(other), *given]) == 2
    assert "must have the same columns" in capsys.readouterr().err
    assert not (tmp_path / "s.json").exists()


def test_a_state_that_another_process_writes_is_refused(tmp_path, capsys):
    state, path = tmp_path / "state.json", month(tmp_path / "a.csv", 0)
    given = ["--protected", "sex", "--favorable", "yes", "--decision", "hired"]
    main(["monitor", str(state), path, *given])
    before = state.read_text()
    with only_writer(state):
        assert main(["monitor", str(state), path, "--decision", "hired"]) == 2
        assert main(["monitor", str(state)]) in (0, 1, 3)  # reading is allowed
    assert "is being written by another process" in capsys.readouterr().err
    assert state.read_text() == before
    assert main(["monitor", str(state), path, "--decision", "hired", "--again"]) in (0, 1, 3)
    assert json.loads(state.read_text())["stream"]["n_batches"] == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.csv", "state.json"]


def test_of_many_processes_none_is_lost(tmp_path):
    state, paths = (
        tmp_path / "state.json",
        [month(tmp_path / f"{i}.csv", i, n=20) for i in range(8)],
    )
    given = ["--protected", "sex", "--favorable", "yes", "--decision", "hired"]

    def add(i):
        return main(["monitor", str(state), paths[i], *given])

    with ThreadPool(4) as pool:
        codes = pool.map(add, range(8), chunksize=1)
    assert set(codes) <= {0, 1, 2, 3}
    added = sum(code != 2 for code in codes)
    assert added >= 1
    assert json.loads(state.read_text())["stream"]["n_batches"] == added


def test_the_second_batch_without_its_column_of_decisions(tmp_path, capsys):
    state, path = str(tmp_path / "state.json"), month(tmp_path / "a.csv", 0)
    given = ["--protected", "sex", "--favorable", "yes", "--decision", "hired"]
    main(["monitor", state, path, *given])
    assert "300 people in 1 batch\n" in capsys.readouterr().out
    assert main(["monitor", state, path]) == 2
    assert "--decision is missing; it names one of the columns" in capsys.readouterr().err


BEGIN = ["--protected", "sex", "--favorable", "yes", "--decision", "hired"]


def stream(state):
    return json.loads(state.read_text())["stream"]


def test_a_batch_is_counted_once_however_often_the_command_is_repeated(tmp_path, capsys):
    state, path = tmp_path / "state.json", month(tmp_path / "a.csv", 0)
    codes = [main(["monitor", str(state), path, *BEGIN]) for _ in range(3)]
    assert len(set(codes)) == 1
    assert "This batch was counted before; nothing is added" in capsys.readouterr().out
    again = pd.read_csv(path).sample(frac=1, random_state=0)
    again.to_csv(tmp_path / "other name.csv", index=False)
    main(["monitor", str(state), str(tmp_path / "other name.csv"), "--decision", "hired"])
    assert (stream(state)["n_people"], stream(state)["n_batches"]) == (300, 1)
    main(["monitor", str(state), path, "--decision", "hired", "--again"])
    assert stream(state)["n_people"] == 600
    main(["monitor", str(state), month(tmp_path / "b.csv", 1), "--decision", "hired"])
    assert stream(state)["n_people"] == 900


def test_another_favorable_value_later_is_refused(tmp_path, capsys):
    state, path = tmp_path / "state.json", month(tmp_path / "a.csv", 0)
    main(["monitor", str(state), path, *BEGIN])
    other = ["monitor", str(state), month(tmp_path / "b.csv", 1), "--decision", "hired"]
    assert main([*other, "--favorable", "no"]) == 2
    assert "--favorable is yes in the state, and cannot become no" in capsys.readouterr().err
    assert stream(state)["n_batches"] == 1
    assert main([*other, "--favorable", "yes"]) in (0, 1, 3)
    assert stream(state)["n_batches"] == 2


class _Closed:
    """Standard output that cannot be written."""

    encoding = "utf-8"

    def write(self, text):
        raise OSError(28, "No space left on device")

    flush = isatty = write

    def fileno(self):
        raise OSError


def test_a_failed_print_is_no_failure_of_the_monitor(tmp_path, monkeypatch, capsys):
    state, path = tmp_path / "state.json", month(tmp_path / "a.csv", 0)
    expected = main(["monitor", str(tmp_path / "other.json"), path, *BEGIN])
    monkeypatch.setattr("sys.stdout", _Closed())
    assert main(["monitor", str(state), path, *BEGIN]) == expected
    assert "could not be written: No space left" in capsys.readouterr().err
    assert stream(state)["n_people"] == 300


def test_a_batch_that_fails_is_not_counted(tmp_path, monkeypatch):
    state, path = tmp_path / "state.json", month(tmp_path / "a.csv", 0)
    main(["monitor", str(state), path, *BEGIN])
    before = state.read_bytes()

    def fails(_):
        raise RuntimeError

    monkeypatch.setattr("skdisc.cli._monitor._lines", fails)
    other = month(tmp_path / "b.csv", 1)
    assert main(["monitor", str(state), other, "--decision", "hired"]) == 4
    assert state.read_bytes() == before


def test_a_state_behind_a_link_stays_one(tmp_path):
    (tmp_path / "there").mkdir()
    real, link = tmp_path / "there" / "state.json", tmp_path / "state.json"
    main(["monitor", str(real), month(tmp_path / "a.csv", 0), *BEGIN])
    link.symlink_to(real)
    main(["monitor", str(link), month(tmp_path / "b.csv", 1), "--decision", "hired"])
    assert link.is_symlink()
    assert stream(real)["n_batches"] == 2


def test_a_gap_from_the_first_people_on_is_no_change(tmp_path, capsys):
    state = tmp_path / "state.json"
    main(["monitor", str(state), month(tmp_path / "a.csv", 0, 0.4, n=4000), *BEGIN])
    out = capsys.readouterr().out
    assert "begun after 0" not in out
    assert "differs from the first people on: this is no change" in out


def test_a_device_keeps_no_state(tmp_path, capsys):
    assert main(["monitor", "/dev/null", month(tmp_path / "a.csv", 0), *BEGIN]) == 2
    assert "is a device or a pipe" in capsys.readouterr().err


def test_another_spelling_in_a_column_of_categories(tmp_path, capsys):
    pytest.importorskip("pyarrow")
    state, given = str(tmp_path / "state.json"), ["--protected", "sex", "--favorable", "yes"]
    path = month(tmp_path / "a.csv", 0)
    main(["monitor", state, path, *given, "--decision", "hired"])
    frame = pd.read_csv(path).replace({"hired": {"yes": "YES"}}).astype({"hired": "category"})
    frame.to_parquet(tmp_path / "b.parquet")
    capsys.readouterr()
    main(["monitor", state, str(tmp_path / "b.parquet"), "--decision", "hired"])
    assert "by case or blanks alone count as favorable" in capsys.readouterr().out


def test_another_spelling_of_the_favorable_decision_is_favorable(tmp_path, capsys):
    """A month with "YES" in place of "yes" counted as one without a favorable decision."""
    given = ["--protected", "sex", "--favorable", "yes", "--decision", "hired"]
    shown = []
    for spelling in ("yes", "YES", " Yes "):
        state = str(tmp_path / f"{spelling}.json")
        main(["monitor", state, month(tmp_path / "a.csv", 0), *given])
        path = month(tmp_path / "b.csv", 1)
        frame = pd.read_csv(path).replace({"hired": {"yes": spelling}})
        frame.to_csv(path, index=False)
        capsys.readouterr()
        main(["monitor", state, path, "--decision", "hired"])
        *read, text = capsys.readouterr().out.partition("600 people")
        assert ("by case or blanks alone count as favorable" in read[0]) == (spelling != "yes")
        shown.append(text.split(", wealth")[0])  # which depends on the order of blocks
    assert shown[0] == shown[1] == shown[2]


def test_gaps_in_large_numbers_have_all_their_digits(tmp_path, capsys):
    """Pay in cents: no 1.2e+04 beside 4,324."""
    rng = np.random.default_rng(0)
    pay = pd.DataFrame({"sex": np.resize(["f", "m"], 600), "pay": rng.normal(3e5, 3e4, 600)})
    pay.loc[::2, "pay"] -= 12_345
    pay["pay"] = pay["pay"].clip(2e5, 4e5)
    pay.to_csv(tmp_path / "pay.csv", index=False)
    state, file = str(tmp_path / "state.json"), str(tmp_path / "pay.csv")
    about = ["--decision", "pay", "--number", "--protected", "sex", "--bounds", "200000,400000"]
    main(["monitor", state, file, *about])
    gaps = [line for line in capsys.readouterr().out.splitlines() if "gap " in line]
    pay = pd.read_csv(file)
    women, men = (pay.loc[pay["sex"] == s, "pay"].mean() for s in "fm")
    assert f"gap {women - men:+,.0f} [" in " ".join(gaps)
    assert "e+" not in " ".join(gaps).split(", wealth")[0]
