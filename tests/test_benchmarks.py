"""No script that compares with another program is left out by the command that runs them all."""

from pathlib import Path

import pytest

from benchmarks import __main__ as command

FOLDER = Path(__file__).parents[1] / "benchmarks"
APART = {"before", "large"}  # two checkouts, and a folder for 10 GB: run by hand


def test_every_script_is_run():
    scripts = {path.stem.removeprefix("bench_") for path in FOLDER.glob("bench_*.py")}
    assert scripts - APART == set(command.SCRIPTS)


def test_a_script_that_fails_is_said(monkeypatch, capfd):
    monkeypatch.setattr("sys.argv", ["benchmarks", "--tiny", "--only", "truth"])
    assert command.main() == 0
    monkeypatch.setitem(command.SCRIPTS, "truth", ("", "--rows none"))
    assert command.main() == 1
    monkeypatch.setitem(command.SCRIPTS, "truth", ("no_such_program", ""))
    assert command.main() == 0
    assert "left out: no_such_program is not installed" in capfd.readouterr().out


@pytest.mark.parametrize("name", sorted(command.SCRIPTS))
def test_arguments_of_scripts_are_known(name):
    text = (FOLDER / f"bench_{name}.py").read_text()
    asked = [word for word in command.SCRIPTS[name][1].split() if word.startswith("--")]
    assert asked
    assert all(f'"{word}"' in text for word in asked)
