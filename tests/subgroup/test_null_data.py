"""Where there is nothing to find, every detector of groups and subgroups keeps its level."""

import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

null = runpy.run_path(Path(__file__).parents[2] / "benchmarks" / "null_data.py")
DETECTORS = null["detectors"]()
SEEDS = range(200, 220)  # of 20 samples an exact test exceeds two standard errors in one of 13


@pytest.mark.statistics
@pytest.mark.parametrize("name", sorted(DETECTORS))
def test_nothing_is_found_in_null_data(name):
    share = null["share_found"](DETECTORS[name], SEEDS, n=300)
    assert share <= null["most"](len(SEEDS))


def test_uncorrected_tests_do_not_keep_it():
    share = null["share_found"](DETECTORS["DivExplorer"], SEEDS, correction="none")
    assert share > 0.5
