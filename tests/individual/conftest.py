"""What tests of searches share."""

import pytest

from skdisc._blackbox import _repeats


@pytest.fixture(scope="module")
def nothing_repeated():
    """Query no row twice, as every row is counted here; for a module, as drawn cases need it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_repeats, "MOST", 0)
        yield
