"""What every test may use: the optional data folder, which tests run, and how hypothesis draws."""

import os
from collections import Counter
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

# pytest-xdist gives every core a worker, so each works with one thread. The libraries read this
# when they are first imported, so nothing above imports NumPy; workers inherit it.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")

SLOW_IS_FINE = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("dev", derandomize=True, max_examples=25, **SLOW_IS_FINE)
settings.register_profile("few", derandomize=True, max_examples=8, **SLOW_IS_FINE)
settings.register_profile("fresh", max_examples=25, print_blob=True, **SLOW_IS_FINE)
settings.load_profile("dev")
# Newer versions of hypothesis parse all modules of the package, ten seconds for each worker, to
# draw constants from them, and what they draw would depend on which modules are loaded.
PROVIDERS = "hypothesis.internal.conjecture.providers"
if find_spec(PROVIDERS):
    import_module(PROVIDERS).is_local_module_file = lambda path: False

collect_ignore_glob = ["*conftest.py"]  # as modules with doctests: two of one name are an error
LEFT_OUT = ("slow", "statistics")
STEP = 6  # where no file is named, the quick suite runs every sixth case of each test
HOW_TO_RUN_ALL = (
    "Tests marked slow or statistics are left out, unless named as FILE::TEST; "
    "--all runs them, too."
)
NO_DATA = "{path} is missing; set SKDISC_DATA to the folder that holds the public data sets"


def pytest_addoption(parser):
    everything = "run everything: tests marked slow and statistics, too"
    parser.addoption("--all", action="store_true", help=everything)
    what = "of each test with many cases, run every N-th only, beginning with another in each test"
    parser.addoption("--every", type=int, default=1, metavar="N", help=what)
    part = "run about one N-th of the tests, others for each K from 0 to N - 1"
    parser.addoption("--part", default="0/1", metavar="K/N", help=part)


def _chooses_itself(config):
    """Return True if the command line says which markers run."""
    return config.getoption("all") or config.getoption("markexpr")


def _quick(config, items):
    """Return the tests that are neither slow nor statistics, and what is named as FILE::TEST."""
    folder = config.invocation_params.dir
    named = {(folder / arg.partition("::")[0]).resolve() for arg in config.args if "::" in arg}
    slow = {id(item) for item in items if any(item.get_closest_marker(m) for m in LEFT_OUT)}
    return [item for item in items if id(item) not in slow or item.path in named]


def _every_nth(items, step_of):
    """Return every n-th case of each test, and at least one; ``step_of(item)`` is n."""
    tests = [item.nodeid.partition("[")[0] for item in items]
    n_cases, number, kept = Counter(tests), Counter(), []
    for item, test in zip(items, tests, strict=True):
        step = max(min(step_of(item), n_cases[test]), 1)
        if (number[test] + crc32(test.encode())) % step == 0:
            kept.append(item)
        number[test] += 1
    return kept


def _without(items, others):
    """Return the items that are not among others."""
    left_out = set(map(id, others))
    return [item for item in items if id(item) not in left_out]


def _own_step(item):
    """Return n of ``@pytest.mark.every(n)``."""
    mark = item.get_closest_marker("every")
    if mark:
        return mark.args[0]
    return 1 if _names_files(item.config) else STEP


def _names_files(config):
    """Return True if the command line names files or folders.

    Workers of pytest-xdist are given what the ini file names, as if the command line did.
    """
    everything = config.getini("testpaths") or ["."]
    folders = ((config.invocation_params.dir / arg).resolve() for arg in config.args)
    return set(folders) != {(config.rootpath / path).resolve() for path in everything}


def pytest_collection_modifyitems(config, items):
    """Leave out what is slow, or what ``--every`` leaves out, and mark what needs data."""
    for item in items:
        if {"load", "data_dir"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("data")
    for item in _without(items, _every_nth(items, _own_step)):
        item.add_marker("slow")
    every = config.getoption("every")
    if _chooses_itself(config):
        kept = _every_nth(items, lambda item: every)
    else:
        kept = _every_nth(_quick(config, items), lambda item: every // _own_step(item))
    part, n_parts = map(int, config.getoption("part").split("/"))
    kept = [item for item in kept if crc32(item.nodeid.encode()) % n_parts == part]
    config.hook.pytest_deselected(items=_without(items, kept))
    if hasattr(config, "workerinput"):  # of pytest-xdist: no worker is to end with what is slow
        kept = sorted(kept, key=lambda item: item.get_closest_marker("slow") is None)
    items[:] = kept


def pytest_terminal_summary(terminalreporter, config):
    if not _chooses_itself(config):
        terminalreporter.write_line(HOW_TO_RUN_ALL)


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


@pytest.fixture(scope="module")
def no_refits():
    """Compare no model with others trained like it, where a test is about something else."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("skdisc._task._refits.enough_for", lambda level: 0)
        yield


@pytest.fixture(scope="session")
def data_dir():
    """Folder of the public data sets: $SKDISC_DATA, else ../shared/data beside the checkout."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    path = Path(os.environ.get("SKDISC_DATA") or beside).absolute()
    return path if path.is_dir() else _missing(path)


@pytest.fixture
def named_data_dir(data_dir, monkeypatch):
    """The same folder, named to what reads data sets as users do."""
    monkeypatch.setenv("SKDISC_DATA", str(data_dir))
    return data_dir


@lru_cache
def _read(path):
    import pandas as pd  # not above: see the threads there

    return pd.read_csv(path, low_memory=False)


@pytest.fixture(scope="session")
def load(data_dir):
    """Read a data set by name: ``load("adult")``, ``load("adf/census")``; each call a new frame."""

    def read(name):
        path = data_dir / f"{name}.csv.gz"
        return _read(path).copy() if path.is_file() else _missing(path)

    return read
