"""Ctrl-C before anything was found: a page that says so, and a program that ends."""

import json
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

import pandas as pd
import pytest

from skdisc import __main__
from skdisc._utils import _interruption


@pytest.fixture
def at_once(monkeypatch):
    """Press Ctrl-C as soon as interruptions are held."""

    def hold():
        _interruption.hold()
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(_interruption, "_is_waiting", False)
    monkeypatch.setattr(__main__, "hold", hold)
    yield
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def command(monkeypatch, tmp_path):
    """Return a function that runs ``skdisc audit`` on six people."""
    people = pd.DataFrame({"sex": list("FMFMFM"), "points": range(6), "y": [0, 1] * 3})
    people.to_csv(tmp_path / "people.csv", index=False)
    options = ["--target", "y", "--favorable", "1", "--protected", "sex"]
    argv = ["skdisc", "audit", str(tmp_path / "people.csv"), *options]

    def run(*more):
        monkeypatch.setattr(sys, "argv", [*argv, *more])
        return __main__.main()

    return run


def test_a_page_says_that_nothing_was_tried_yet(at_once, command, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert command("--report", str(page)) == 130
    assert "interrupted after 0 of" in page.read_text(encoding="utf-8")
    assert capsys.readouterr().err.startswith("skdisc: interrupted; what there is follows.")
    command("--report", str(tmp_path / "answers.json"))
    document = json.loads((tmp_path / "answers.json").read_text(encoding="utf-8"))
    assert {v["verdict"] for v in document["verdicts"]} == {"insufficient evidence"}


def test_the_demo_ends_as_an_audit_does(at_once, monkeypatch, tmp_path, capsys):
    page = tmp_path / "page.html"
    monkeypatch.setattr(sys, "argv", ["skdisc", "demo", "--report", str(page)])
    assert __main__.main() == 130
    assert "interrupted after 0 of" in page.read_text(encoding="utf-8")


def test_thresholds_after_it_are_not_audited(at_once, command, tmp_path, capsys):
    """One page for the first threshold, none for the others, which are named."""
    more = ["--predictions", "points", "--threshold", "2,3,4"]
    assert command(*more, "--report", str(tmp_path / "page.html")) == 130
    assert [p.name for p in tmp_path.glob("*.html")] == ["page-1.html"]
    assert "Interrupted: thresholds that were not audited: 3, 4." in capsys.readouterr().out


def test_classes_after_it_are_not_audited(at_once, command, tmp_path, monkeypatch, capsys):
    people = pd.DataFrame({"sex": list("FMFMFM") * 9, "job": list("aabbcc") * 9})
    people.to_csv(tmp_path / "people.csv", index=False)
    monkeypatch.setattr(sys, "argv", ["skdisc", "audit", str(tmp_path / "people.csv")])
    sys.argv += ["--target", "job", "--protected", "sex", "--one-vs-rest"]
    assert __main__.main() == 130
    out = capsys.readouterr().out
    assert out.count("against the rest\n") == 1
    assert "All classes together: insufficient evidence." in out
    assert "Interrupted: classes that were not audited: b, c." in out


def test_the_second_stops_at_once(at_once, command, monkeypatch, capsys):
    monkeypatch.setattr("skdisc.cli._audit.read_in", lambda *_: signal.raise_signal(signal.SIGINT))
    assert command() == 130
    assert "skdisc: error: interrupted; no incomplete file" in capsys.readouterr().err


def test_counting_a_large_table_stops_at_once(at_once, command, capsys):
    assert command("--by-parts") == 130
    assert "skdisc: error: interrupted" in capsys.readouterr().err


@pytest.mark.parametrize(("n", "is_there"), [(1, True), (2, False)])
@pytest.mark.parametrize("place", ["skdisc.auditing._document._made", "skdisc.cli._audit._write"])
def test_what_was_found_is_not_lost_where_a_report_is_made(
    place, n, is_there, command, monkeypatch, tmp_path, capsys
):
    """The first interruption waits until the report is written; the second one does not."""
    module, _, name = place.rpartition(".")
    done = getattr(import_module(module), name)

    def interrupted(*args):
        for _ in range(n):
            signal.raise_signal(signal.SIGINT)
        return done(*args)

    monkeypatch.setattr(place, interrupted)
    page = tmp_path / "page.html"
    assert command("--report", str(page)) == 130
    assert page.is_file() == is_there
    assert capsys.readouterr().err.startswith("skdisc: interrupted; what there is follows.")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_thread_and_a_handler_of_others_are_left_alone():
    with ThreadPoolExecutor() as threads:
        threads.submit(_hold).result()
    others = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        _hold()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, others)


def _hold():
    with _interruption.held() as interruptions:
        assert interruptions == []


def test_without_an_interruption_nothing_waits(command):
    assert command() in (1, 3)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
