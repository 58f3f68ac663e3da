"""What tests of FACTS share."""

import pytest

from skdisc._blackbox import _repeats


@pytest.fixture
def no_repeats(monkeypatch):
    """Leave out the rows that are queried twice to learn whether a model is deterministic."""
    monkeypatch.setattr(_repeats, "MOST", 0)
