"""What every test may use: the optional data folder, and how hypothesis runs."""

import os
from collections import Counter
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from zlib import crc32

import pandas as pd
import pytest
from hypothesis import HealthCheck, settings

SLOW_IS_FINE = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("dev", **SLOW_IS_FINE)
settings.register_profile("ci", derandomize=True, max_examples=25, **SLOW_IS_FINE)
settings.register_profile("few", derandomize=True, max_examples=8, **SLOW_IS_FINE)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

NO_DATA = "{path} is missing; set SKDISC_DATA to the folder that holds the public data sets"


def pytest_addoption(parser):
    what = "of each test with many cases, run every N-th only, beginning with another in each test"
    parser.addoption("--every", type=int, default=1, metavar="N", help=what)


def pytest_collection_modifyitems(config, items):
    """Leave out what ``--every`` does; workers begin with what is slow, so that none ends with it.

    Of each test at least one case stays.
    """
    if hasattr(config, "workerinput"):  # of pytest-xdist
        items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    every = config.getoption("every", default=1)
    if every < 2:
        return
    tests = [item.nodeid.partition("[")[0] for item in items]
    n_cases, number, kept, left_out = Counter(tests), Counter(), [], []
    for item, test in zip(items, tests, strict=True):
        step = min(every, n_cases[test])
        (kept if (number[test] + crc32(test.encode())) % step == 0 else left_out).append(item)
        number[test] += 1
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Skip what ``@pytest.mark.extras`` says needs a package that is not installed."""
    named = {name for mark in item.iter_markers("extras") for name in mark.args}
    if lacking := sorted(name for name in named if find_spec(name) is None):
        pytest.skip(f"needs {', '.join(lacking)}")


def _missing(path):
    """Skip on a user's machine, fail where CI=true."""
    if os.environ.get("CI") == "true":
        pytest.fail(NO_DATA.format(path=path), pytrace=False)
    pytest.skip(NO_DATA.format(path=path))


@pytest.fixture
def search_only(monkeypatch):
    """Leave out the share of people, so that all that a model is asked belongs to a search."""
    from skdisc.individual import _case_share

    monkeypatch.setattr(_case_share, "_most", lambda *_: 0)


@pytest.fixture(scope="session")
def data_dir():
    """Folder of the public data sets: $SKDISC_DATA, else ../shared/data beside the checkout."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    path = Path(os.environ.get("SKDISC_DATA") or beside).absolute()
    return path if path.is_dir() else _missing(path)


@lru_cache
def _read(path):
    return pd.read_csv(path, low_memory=False)


@pytest.fixture(scope="session")
def load(data_dir):
    """Read a data set by name: ``load("adult")``, ``load("adf/census")``; each call a new frame."""

    def read(name):
        path = data_dir / f"{name}.csv.gz"
        return _read(path).copy() if path.is_file() else _missing(path)

    return read
