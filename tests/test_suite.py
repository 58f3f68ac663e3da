"""What the tests themselves keep to: no detector escapes the checks, no test its environment."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from smallest import SMALLEST

from skdisc import all_detectors

TESTS = Path(__file__).parent
PLANT = '''
from skdisc import group


class Planted(group.GroupDisparity):
    """A detector that no table of the tests knows."""


group.Planted = Planted
group.__all__ = [*group.__all__, "Planted"]
'''


SOME = """
import pytest

def test_quick(): ...

@pytest.mark.slow
def test_slow(): ...

@pytest.mark.statistics
@pytest.mark.parametrize("seed", [0, 1])
def test_level(seed): ...

@pytest.fixture
def load(): ...

def test_published(load): ...

@pytest.mark.every(2)
@pytest.mark.parametrize("i", range(6))
def test_many(i): ...

@pytest.mark.parametrize("i", range(6))
def test_any(i): ...
"""


@pytest.fixture
def some(pytester):
    """Return the pytester of a folder with some tests, which are chosen as those of the package."""
    pytester.makeconftest((TESTS / "conftest.py").read_text(encoding="utf-8"))
    pytester.makeini("[pytest]\nmarkers =\n    slow\n    statistics\n    data\n    every")
    pytester.makepyfile(test_some=SOME)
    return pytester


@pytest.mark.parametrize(
    ("arguments", "passed", "said"),
    [
        ([], 6, True),
        (["-n", "2"], 6, True),
        (["--all"], 17, False),
        (["-m", "statistics"], 2, False),
        (["-m", "data"], 1, False),
        (["-m", "not data"], 16, False),
        (["-m", "slow"], 10, False),
        (["test_some.py"], 11, True),
        (["test_some.py::test_slow"], 1, True),
        (["test_some.py::test_level[1]"], 1, True),
        (["test_some.py::test_many"], 6, True),
        (["-n", "2", "test_some.py::test_slow"], 1, True),
        (["--every", "2"], 6, True),
        (["--every", "6"], 4, True),
        (["--all", "--every", "2"], 10, False),
    ],
)
def test_what_is_slow_is_left_out_unless_named(some, arguments, passed, said):
    done = some.runpytest_inprocess("-p", "no:cacheprovider", *arguments)
    assert done.parseoutcomes()["passed"] == passed
    assert ("--all runs them, too" in done.stdout.str()) == said


def test_the_parts_are_all_tests_each_once(some):
    options = ["-p", "no:cacheprovider", "--all", "-v"]
    parts = [some.runpytest_inprocess(*options, "--part", f"{k}/3") for k in range(3)]
    passed = [set(re.findall(r"::(\S+) PASSED", part.stdout.str())) for part in parts]
    assert all(passed)
    assert len(set.union(*passed)) == sum(map(len, passed)) == 17


def test_threads_are_set_before_numpy_is_imported():
    """Later, OpenBLAS would not read them."""
    code = "import sys, conftest; assert 'numpy' not in sys.modules; import os; print(os.environ)"
    few = {name: value for name, value in os.environ.items() if "THREADS" not in name}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=TESTS, env=few, capture_output=True, text=True, check=True
    )
    assert done.stdout.count("THREADS': '1'") == 4


@pytest.mark.slow
def test_a_new_detector_is_checked_and_what_it_lacks_is_said(tmp_path):
    """All common checks run on a detector that was added to its room, and two of them complain."""
    (tmp_path / "plant.py").write_text(PLANT)
    files = [TESTS / "test_common.py", TESTS / "test_contract.py"]
    options = ["-q", "-p", "plant", "-p", "no:cacheprovider", "-rfp"]
    options += ["--all", "-k", "Planted and not other_settings"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *files],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        capture_output=True,
        text=True,
    )
    told = {
        outcome: re.findall(rf"^{outcome} \S*::(\w+)\[.*Planted", done.stdout, re.M)
        for outcome in ("FAILED", "PASSED")
    }
    assert told["FAILED"] == ["test_it_has_a_test_file_of_its_own_name"], done.stdout
    assert told["PASSED"].count("test_scikit_learn_checks") > 30
    contract = (TESTS / "test_contract.py").read_text(encoding="utf-8")
    offered = set(re.findall(r"^@every\n(?:@.*\n)*def (\w+)", contract, re.M))
    skipped = {"test_transformers_follow_set_output"}
    assert offered - skipped == {t for told_of in told.values() for t in told_of} & offered


def test_each_entry_is_of_a_detector_and_has_two_values_for_a_search():
    assert set(SMALLEST) <= set(all_detectors())
    for name, entry in SMALLEST.items():
        (values,) = entry.grid.values()
        assert len(values) == 2, name


def importorskips(text):
    """Return the packages without which something in a test file is skipped."""
    calls = (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call) and n.args)
    skips = (c for c in calls if getattr(c.func, "attr", None) == "importorskip")
    return {c.args[0].value.partition(".")[0] for c in skips}


def marked(text):
    """Return the packages that @pytest.mark.extras names in a test file."""
    calls = (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call))
    marks = (c for c in calls if getattr(c.func, "attr", None) == "extras")
    return {a.value for c in marks for a in c.args}


@pytest.mark.slow
def test_what_needs_a_package_of_the_extra_environment_is_marked():
    """A test that no environment of CI runs would be skipped for ever."""
    texts = [path.read_text(encoding="utf-8") for path in TESTS.rglob("*.py")]
    extras = set().union(*map(marked, texts))
    assert not extras & set().union(*map(importorskips, texts)), "use @pytest.mark.extras"
    script = (TESTS.parent / ".ci" / "run").read_text(encoding="utf-8")
    (installed,) = re.findall(r'-W ignore -c "import (.*)"$', script, re.M)
    assert extras == {name.partition(".")[0] for name in installed.split(", ")}


def test_a_test_without_the_mark_would_be_found():
    assert importorskips('a = pytest.importorskip("torch.nn")') == {"torch"}
    assert marked('@pytest.mark.extras("torch", "skorch")\ndef test(): ...') == {"torch", "skorch"}
