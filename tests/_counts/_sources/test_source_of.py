"""A table is the same from wherever it is read, and however it is divided."""

import tempfile

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tables_anywhere import everywhere, facts, tables

from skdisc._counts._profile import Profile
from skdisc._counts._sources import _csv, _files, _source, _warehouse

pytestmark = pytest.mark.filterwarnings("ignore:fetch_:DeprecationWarning")  # Ibis with DuckDB 1.5


@pytest.fixture
def small_parts(monkeypatch):
    """Read all tables in parts of a few rows."""

    def cut(rows):
        for module, name in (
            (_source, "ROWS"),
            (_files, "ROWS"),
            (_csv, "_ROWS"),
            (_warehouse, "ROWS"),
            (_warehouse, "_VALUES"),
        ):
            monkeypatch.setattr(module, name, rows)

    return cut


@settings(max_examples=12, phases=[Phase.generate])
@given(frame=tables(), size=st.integers(1, 50))
def test_a_profile_is_the_same_from_everywhere(frame, size):
    expected = facts(Profile.of(frame), frame.columns)
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        for module in (_source, _files, _warehouse):
            patch.setattr(module, "ROWS", size)
        patch.setattr(_csv, "_ROWS", size)
        patch.setattr(_warehouse, "_VALUES", size)
        for name, source in everywhere(frame, folder, size):
            for got, known in zip(facts(source.profile(), frame.columns), expected, strict=True):
                assert got == known, name
