"""The page on naming says what the defaults of the searches are."""

import inspect
import re
from pathlib import Path

import pytest

from skdisc import all_detectors

PAGE = (Path(__file__).parents[1] / "doc" / "naming.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(\w+)` \| `\w+` \| [\d.]+ \| `(\w+)` \| ([\d.]+) \|$", PAGE, re.M)


def test_the_table_is_found():
    assert len(ROWS) == 15


@pytest.mark.parametrize(("name", "parameter", "default"), ROWS)
def test_defaults_are_as_the_page_says(name, parameter, default):
    own = inspect.signature(all_detectors()[name]).parameters[parameter].default
    assert own == float(default)
