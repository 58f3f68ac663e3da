"""Each setting of each detector changes a result; the rows are in `settings_that_matter.py`."""

from inspect import signature

import pytest
from settings_that_matter import (
    AUDITED,
    NO_FINDING,
    OBJECTS,
    OWN,
    WITHOUT,
    outcome,
    rows_of,
    settings_of,
)

from skdisc import all_detectors

pytestmark = pytest.mark.usefixtures("no_refits")


def own_settings(name):
    settings = set(signature(all_detectors()[name]).parameters) - NO_FINDING - AUDITED
    fields = {f"{n}__{f}" for n in settings & set(OBJECTS) for f in OBJECTS[n]().get_params()}
    limits = {f"limits__{field}" for field in all_detectors()[name].limit_fields} - NO_FINDING
    return settings - {*OBJECTS, "limits"} | fields | limits


@pytest.mark.parametrize("name", sorted(all_detectors()))
def test_each_setting_has_a_row(name):
    """If one is missing: another value, a table and other settings with which it matters."""
    settings = own_settings(name)
    rows = set(rows_of(name, settings))
    missing = sorted(settings - rows - set(WITHOUT.get(name, [])))
    assert not missing, (
        f"{name} has settings without a row: {missing}. Add another value, the name of a table on "
        "which it changes the result, and other settings needed, to its test file (the tables are "
        "in tests/settings_that_matter.py):\n"
        f'SETTINGS_THAT_MATTER = {{"{missing[0]}": (ANOTHER_VALUE, "decisions", {{}})}}'
    )
    assert rows | set(WITHOUT.get(name, [])) == settings
    assert not rows & set(WITHOUT.get(name, []))


def test_rows_are_those_of_detectors():
    assert set(OWN) | set(WITHOUT) <= set(all_detectors())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # small tables, few iterations
@pytest.mark.parametrize("name", sorted(all_detectors()))
def test_each_setting_changes_a_result(name):
    cls, defaults = all_detectors()[name], {}
    for setting, (value, table, more) in rows_of(name, own_settings(name)).items():
        settings, key = settings_of(cls, name, more), (table, repr(more))
        if key not in defaults:
            defaults[key] = outcome(cls, settings, table)
        changed = outcome(cls, {**settings, setting: value}, table)
        assert changed != defaults[key], f"{setting}={value!r} changes nothing"
