"""What the tests themselves keep to: no detector escapes the checks, no test its environment."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from smallest import SMALLEST, WHAT_TO_ADD

TESTS = Path(__file__).parent
PLANT = '''
from skdisc import group


class Planted(group.GroupDisparity):
    """A detector that no table of the tests knows."""


group.Planted = Planted
group.__all__ = [*group.__all__, "Planted"]
'''


@pytest.mark.slow
def test_a_new_detector_is_checked_and_what_it_lacks_is_said(tmp_path):
    """All common checks run on a detector that was added to its room, and two of them complain."""
    (tmp_path / "plant.py").write_text(PLANT)
    files = [TESTS / "test_common.py", TESTS / "test_contract.py"]
    options = ["-q", "-p", "plant", "-p", "no:cacheprovider", "-k", "Planted", "-rfp"]
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
    assert sorted(told["FAILED"]) == [
        "test_it_has_a_test_file_of_its_own_name",
        "test_it_has_an_entry",
    ], done.stdout
    assert told["PASSED"].count("test_scikit_learn_checks") > 40
    contract = (TESTS / "test_contract.py").read_text(encoding="utf-8")
    passed = set(re.findall(r"^@every\n(?:@.*\n)*def (\w+)", contract, re.M))
    assert passed - set(told["PASSED"] + told["FAILED"]) <= {
        "test_a_fair_model_gives_no_individual_case"  # of detectors of groups
    }
    assert WHAT_TO_ADD.format(name="Planted").splitlines()[0] in done.stdout


def test_no_entry_is_empty_handed():
    for name, entry in SMALLEST.items():
        (values,) = entry.grid.values()
        assert len(values) == 2, name
