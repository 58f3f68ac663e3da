"""A planted group comes first, and intervals of other rows cover its true effect."""

import runpy
from pathlib import Path

import pytest

planted = runpy.run_path(Path(__file__).parents[2] / "benchmarks" / "planted_group.py")
DETECTORS = planted["detectors"]()
NAMES = ("DiscriminatoryRules", "DivExplorer", "GroupDisparity", "SliceFinder", "SliceLine")
SEEDS = range(12)


@pytest.mark.statistics
@pytest.mark.parametrize("name", NAMES)
def test_the_planted_group_is_first_and_its_interval_covers(name):
    first, _, held_out = planted["shares"](DETECTORS[name], SEEDS, n=800)
    assert first >= 0.9
    assert held_out >= planted["least"](len(SEEDS))


@pytest.mark.statistics
def test_intervals_of_the_rows_of_a_search_know_nothing_of_it():
    """Where there is little to find, what comes first looks larger than it is."""
    settings = {"n_resamples": 0, "n_restarts": 3}
    scan = DETECTORS["BiasScan"]
    _, inside, held_out = planted["shares"](scan, range(24), n=800, gap=0.05, **settings)
    assert inside < 0.6 < held_out
