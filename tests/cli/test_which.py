"""The chooser: every way through it ends in a call of something that exists."""

import builtins
import itertools
from importlib import import_module

import pytest

from skdisc import cli
from skdisc.cli import _which


@pytest.mark.parametrize("call", _which.CALLS.values())
def test_calls_are_of_public_classes(call):
    path = call.partition("(")[0]
    room, _, name = path.rpartition(".")
    assert name in import_module(room).__all__


def ways():
    for have, about in itertools.product(_which.HAVE, _which.ABOUT):
        for want in _which.WANT.get(about, [None]):
            yield have, about, want


@pytest.mark.parametrize(("have", "about", "want"), list(ways()))
def test_options_lead_to_one_call_or_to_what_is_possible(have, about, want, capsys):
    options = ["--have", have, "--about", about] + ([] if want is None else ["--want", want])
    code = cli.main(["which", *options])
    told = capsys.readouterr()
    if want and have != "stream" and _which.WANT[about][want][1] not in ("any", have):
        assert code == cli.USAGE
        assert "Possible: " in told.err
    else:
        assert code == 0
        assert told.out.startswith("skdisc.")
        assert ("model" in told.out) == (have == "model" and "repair" not in (want or ""))


def test_answers_are_numbers(monkeypatch, capsys):
    answers = iter(["2", "seven", "3", "1"])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr(builtins, "input", lambda prompt: next(answers))
    assert cli.main(["which"]) == 0
    told = capsys.readouterr().out
    assert "Please type a number from 1 to 4." in told
    assert told.splitlines()[-1] == (
        "skdisc.subgroup.DisparityPursuit(protected=[...]).fit(X, y, model).result_"
    )


def test_without_a_terminal_the_options_are_named(capsys):
    assert cli.main(["which", "--have", "model"]) == cli.USAGE
    assert "pass --have, --about and --want (here: everything, groups" in capsys.readouterr().err
