"""The fuzz suite calls out what is neither right nor a clear error, and repeats its cases."""

import sys
import time
import warnings
from contextlib import suppress
from copy import copy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fuzzing import __main__ as command
from fuzzing import _judge
from fuzzing._answers import intervals_of, wrong_in_table
from fuzzing._case import FuzzCase
from fuzzing._hazards import HAZARDS, calm_table, hostile_table
from fuzzing._judge import CLEAR, OTHER, RIGHT, OutOfTimeError, judged, time_limit
from fuzzing._runner import KINDS, fuzz_case, numbers_of, run_cases

from skdisc.exceptions import SkdiscWarning
from skdisc.measures import mean_difference


def verdict(run, **more):
    outcome = judged(FuzzCase(0, "call", run, **more), limit=5)
    return outcome.verdict, outcome.message


def raises(error):
    def run():
        raise error

    return run


def test_answers_without_fault_are_right():
    assert verdict(list) == (RIGHT, "")


def test_a_refusal_of_skdisc_is_clear():
    told = verdict(lambda: mean_difference(None, [0, 1], protected=["a"]))
    assert told == (CLEAR, "ValueError: " + told[1].removeprefix("ValueError: "))
    assert "inconsistent numbers of samples" in told[1]


def test_a_refusal_in_a_folder_that_is_named_like_the_package_is_not_its_own(tmp_path):
    path = tmp_path / "skdisc" / "tests" / "case.py"
    path.parent.mkdir(parents=True)
    path.write_text('def run():\n    raise ValueError("the column sex is not a number")\n')
    names = {}
    exec(compile(path.read_text(), path, "exec"), names)
    assert verdict(names["run"])[0] == OTHER


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (lambda: {}["sex"], "crash: KeyError"),
        (lambda: np.zeros(2)[5], "crash: IndexError"),
        (lambda: 1 // 0, "crash: ZeroDivisionError"),
        (raises(ValueError("the column sex is not a number")), "leaked: ValueError"),
        (lambda: np.zeros(-1), "leaked: ValueError: negative dimensions"),
        (lambda: float("a"), "leaked: ValueError: could not convert"),
        (lambda: ["a rate of 1.3"], "wrong: a rate of 1.3"),
        (lambda: warnings.warn("overflow", RuntimeWarning, stacklevel=1), "leaked RuntimeWarning"),
        (lambda: sys.stdout.write("debug") and None, "printed debug"),
    ],
)
def test_everything_else_is_called_out(run, message):
    told = verdict(lambda: run() or [])
    assert told[0] == OTHER
    assert message in told[1]


def test_a_message_that_names_nothing_is_called_out(monkeypatch):
    from skdisc.measures._formula import _evaluation

    monkeypatch.setattr(_evaluation, "AVERAGES", ())
    refused = lambda: mean_difference(None, [0, 1], protected=["a", "b"])  # noqa: E731
    assert verdict(refused)[1].startswith("names nothing: ValueError: average must be")
    assert verdict(refused, names=["average"])[0] == CLEAR


def test_warnings_of_skdisc_are_expected():
    assert verdict(lambda: warnings.warn("few", SkdiscWarning, stacklevel=1) or [])[0] == RIGHT


@pytest.mark.slow
def test_a_case_without_end_is_stopped():
    def run():
        while True:
            with suppress(Exception):  # the limit is none
                time.sleep(0)

    outcome = judged(FuzzCase(0, "call", run), limit=0.05)
    assert outcome.verdict == OTHER
    assert outcome.message.startswith("no end after 0.05 s: ")
    assert "test_fuzz_harness.py" in outcome.message  # or what it calls at this moment, before it


def test_a_limit_is_told_once(monkeypatch):
    """The clock's limit does not come while that of CPU time is handled, as on a busy machine."""

    def run():
        while True:
            pass

    monkeypatch.setattr(_judge, "Path", lambda name: time.sleep(0.1) or Path(name))
    with pytest.raises(OutOfTimeError), time_limit(0.01):
        run()
    assert "_judge.py" not in _judge._where_it_was()


@pytest.mark.parametrize(
    ("columns", "wrong"),
    [
        ({"effect": [0.1], "ci_low": [0.0], "ci_high": [0.2]}, []),
        ({"effect": [0.3], "ci_low": [0.0], "ci_high": [0.2]}, ["effect = 0.3 outside [0, 0.2]"]),
        ({"gap": [-1.0], "gap_low": [0.0], "gap_high": [1.0]}, ["gap = -1 outside [0, 1]"]),
        ({"estimate": [0.0], "ci_low": [1.0], "ci_high": [-1]}, ["estimate = 0 outside [1, -1]"]),
        ({"effect": [np.nan], "ci_low": [0.0], "ci_high": [0.2]}, []),
        ({"effect": [np.inf], "ci_low": [1.0], "ci_high": [np.inf]}, []),
        ({"p_value": [1.2]}, ["p-value p_value = 1.2"]),
        ({"share": [-0.1]}, ["share share = -0.1"]),
    ],
)
def test_wrong_tables_are_found(columns, wrong):
    assert [
        str(w).replace("np.float64(", "").rstrip(")") for w in wrong_in_table(pd.DataFrame(columns))
    ] == wrong


def test_intervals_belong_to_the_estimate_of_their_name():
    names = ["estimate", "effect", "ci_low", "ci_high", "elift", "elift_low", "elift_high", "low"]
    names += ["held_out_effect", "held_out_ci_low", "held_out_ci_high", "ratio_low", "ratio_high"]
    assert intervals_of(pd.DataFrame(columns=names)) == [
        ("effect", "ci_low", "ci_high"),
        ("elift", "elift_low", "elift_high"),
        ("held_out_effect", "held_out_ci_low", "held_out_ci_high"),
    ]


@pytest.mark.parametrize(
    ("kind", "name"), [(k, n) for k, hazards in HAZARDS.items() for n in hazards]
)
def test_every_hazard_can_be_applied(kind, name):
    table = calm_table(np.random.default_rng(0))
    before = copy(table)
    HAZARDS[kind][name](table, np.random.default_rng(1))
    assert any(new is not getattr(before, at) for at, new in vars(table).items())


@pytest.mark.parametrize("number", range(40))
def test_a_case_is_its_number(number):
    assert fuzz_case(number).call == fuzz_case(number).call
    rng = np.random.default_rng
    assert hostile_table(rng(number)).hazards == hostile_table(rng(number)).hazards


def test_numbers_tell_the_kind():
    for at, kind in enumerate(KINDS):
        assert [n % 4 for n in numbers_of(3, kind)] == [at] * 3
        assert list(numbers_of(2, kind, 1)) == list(numbers_of(3, kind))[1:]
    assert list(numbers_of(5)) == [0, 1, 2, 3, 4]


def test_the_command_counts_outcomes(capsys):
    code = command.main(["--n", "3", "--kind", "measures", "--verbose"])
    told = capsys.readouterr().out.splitlines()
    counts = {
        name: sum(o.verdict == name for o in run_cases(numbers_of(3, "measures")))
        for name in (RIGHT, CLEAR, OTHER)
    }
    assert told[-1].endswith(", ".join(f"{n} {name}" for name, n in counts.items()))
    assert code == bool(counts[OTHER])


def test_the_command_repeats_one_case(capsys):
    command.main(["--case", "5"])
    assert "fuzz_case(5, 0).run()" in capsys.readouterr().out
