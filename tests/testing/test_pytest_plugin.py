"""The pytest plugin: audits in tests, and their reports at the end of the session."""

import json
import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from skdisc import AuditReport

MODULE = "skdisc.testing._pytest_plugin"
INSTALLED = any(entry.value == MODULE for entry in entry_points(group="pytest11"))
PLUGIN = [] if INSTALLED else ["-p", MODULE]
HEAVY = ("numpy", "pandas", "sklearn", "scipy", "hypothesis", "skdisc.auditing")
TESTS = """
import numpy as np
import pandas as pd

from skdisc import Rule

RULE = Rule(significance=0.01)
DRAW = np.random.default_rng(0)
X = pd.DataFrame({"sex": DRAW.choice(["f", "m"], 600), "age": DRAW.integers(20, 60, 600)})
Y = DRAW.random(600) < np.where(X["sex"] == "m", 0.8, 0.3)


def test_unfair(skdisc):
    report = skdisc.audit(X, Y, protected="sex", detectors=["GroupDisparity"])
    assert report.verdict == "disparity found"
    assert skdisc.reports == [report]


def test_again(skdisc):
    report = skdisc.audit(X, Y, protected="sex", detectors=["GroupDisparity"], rule=RULE)
    assert report.verdict != "disparity found"


def test_other():
    assert True
"""


@pytest.fixture
def run(pytester):
    pytester.makepyfile(test_audits=TESTS)
    return lambda *options: pytester.runpytest_subprocess(*PLUGIN, *options)


WORKERS = pytest.param(("-n", "2"), id="workers", marks=pytest.mark.slow)


@pytest.mark.slow
@pytest.mark.parametrize("options", [pytest.param((), id="one process"), WORKERS])
def test_the_audits_of_a_session_are_written(run, pytester, options):
    done = run("--skdisc-report", "audits.json", "--junit-xml", "junit.xml", *options)
    done.assert_outcomes(passed=2, failed=1)
    done.stdout.fnmatch_lines(
        [
            "*audits by skdisc*",
            "test_audits.py::test_again: disparity found; audits.json",
            "test_audits.py::test_unfair: disparity found; audits-2.json",
        ]
    )
    levels = []
    for name in ("audits.json", "audits-2.json"):
        report = AuditReport.from_json((pytester.path / name).read_text())
        assert report.verdict == "disparity found"
        levels.append(report.document["about"]["significance"])
    assert levels == [0.01, 0.05]
    written = (pytester.path / "junit.xml").read_text()
    assert written.count('name="skdisc_verdict" value="disparity found"') == 2


@pytest.mark.slow
def test_a_page(run, pytester):
    run("--skdisc-report", "audits.html", "-k", "unfair").assert_outcomes(passed=1, deselected=2)
    assert "<html" in (pytester.path / "audits.html").read_text()


@pytest.mark.slow
def test_without_the_option_nothing_is_written(run, pytester):
    done = run("-k", "other or unfair")
    done.assert_outcomes(passed=2, deselected=1)
    assert "audits by skdisc" not in done.stdout.str()
    assert not list(pytester.path.glob("*.json"))


@pytest.mark.slow
def test_a_wrong_file_is_an_error_of_usage(run):
    done = run("--skdisc-report", "audits.odt")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["*--skdisc-report: *audits.odt*"])


def test_starting_pytest_loads_nothing_heavy():
    code = f"import sys, json, {MODULE}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(HEAVY) & set(json.loads(done.stdout))


def test_the_names_of_the_package_are_lazy():
    from skdisc import testing

    assert set(testing.__all__) <= set(dir(testing))
    assert all(callable(getattr(testing, name)) for name in testing.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        testing.nothing  # noqa: B018
