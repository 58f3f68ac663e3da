"""Partitions are worked on where they are, by threads or by the workers of a cluster."""

import os
import signal
import warnings
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from tables_anywhere import facts

from skdisc import Audit
from skdisc._counts._profile import Profile
from skdisc._counts._sources import source_of

DRAW = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "n": DRAW.integers(0, 50, 1000),
        "x": DRAW.normal(size=1000).round(1),
        "t": DRAW.choice(["a", "b", "c"], 1000),
    }
)


def same(profile):
    return facts(profile, FRAME.columns) == facts(Profile.of(FRAME), FRAME.columns)


@contextmanager
def cluster(**options):
    """Yield a client of a local cluster; what its ends log is not of interest."""
    distributed = pytest.importorskip("distributed")
    with (
        warnings.catch_warnings(),
        dask.config.set({"logging.distributed": "critical"}),
        distributed.LocalCluster(threads_per_worker=1, dashboard_address=None, **options) as made,
        distributed.Client(made) as client,
    ):
        warnings.simplefilter("ignore")
        yield client


def test_empty_partitions_and_any_scheduler():
    table = dd.from_pandas(FRAME, npartitions=7)
    table = dd.concat([table, table[table["n"] > 99]])
    for scheduler in ("threads", "synchronous"):
        with dask.config.set(scheduler=scheduler):
            assert same(source_of(table).profile())


def test_the_engine_adds_up_and_no_row_travels(monkeypatch):
    source, fetched = source_of(dd.from_pandas(FRAME, npartitions=20)), []
    compute = dask.compute

    def recorded(*args, **options):
        fetched.extend(compute(*args, **options))
        return tuple(fetched[-1:])

    monkeypatch.setattr(dask, "compute", recorded)
    assert source.map_add(len) == 1000
    assert fetched == [1000]


def test_an_error_says_in_which_partition():
    source = source_of(dd.from_pandas(FRAME.assign(i=range(1000)), npartitions=4))
    with pytest.raises(ZeroDivisionError) as caught:
        source.map_add(lambda f: 1 // (750 - int(f["i"].iloc[0])))
    assert "This happened in partition 3 of 4." in caught.value.__notes__


def _fails_at_first(folder, frame):
    """Count rows, but fail when a partition is seen for the first time."""
    seen = Path(folder) / str(frame.index.size + int(frame["i"].iloc[0]))
    if not seen.exists():
        seen.touch()
        raise OSError("the network is down")
    return len(frame)


def _dies_at_first(folder, frame):
    """Count rows, but end the process that is the first to see a certain partition."""
    seen = Path(folder) / "seen"
    if frame["i"].iloc[0] == 500 and not seen.exists():
        seen.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return Profile.of(frame.drop(columns="i"))


class Fatal:
    """A model that ends the first process that asks it."""

    classes_ = np.array([0, 1])

    def __init__(self, folder):
        self.folder = folder

    def predict(self, X):
        """Decide by n, in the second life."""
        seen = Path(self.folder) / "seen"
        if not seen.exists():
            seen.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return (X["n"].to_numpy() > 30).astype(int)


@pytest.mark.slow
def test_an_audit_in_which_a_worker_is_killed_is_that_of_the_rows(tmp_path):
    frame = FRAME.assign(hired=(FRAME["n"] + FRAME["x"] > 25).astype(int))
    audit = Audit(protected="t", detectors=["GroupDisparity", "DivExplorer"])
    with cluster(n_workers=2, processes=True):
        table = dd.from_pandas(frame, npartitions=20)
        killed = audit.fit(table, "hired", Fatal(tmp_path)).report_.document
    assert [p.name for p in tmp_path.iterdir()] == ["seen"]
    direct = audit.fit(frame.drop(columns="hired"), frame["hired"], Fatal(tmp_path))
    direct = direct.report_.document
    for part in ("verdicts", "evidence", "groups"):
        assert killed[part] == direct[part]


@pytest.mark.slow
def test_a_partition_that_fails_is_tried_again(tmp_path):
    with cluster(n_workers=1, processes=False):
        table = dd.from_pandas(FRAME.assign(i=range(1000)), npartitions=4)
        assert source_of(table).map_add(partial(_fails_at_first, tmp_path)) == 1000
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_changes_nothing(tmp_path):
    with cluster(n_workers=2, processes=True):
        table = dd.from_pandas(FRAME.assign(i=range(1000)), npartitions=20)
        assert same(source_of(table).map_add(partial(_dies_at_first, tmp_path)))
    assert [p.name for p in tmp_path.iterdir()] == ["seen"]
