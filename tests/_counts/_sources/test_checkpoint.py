"""A killed run goes on where it ended, and nothing that has changed is taken for known."""

import json
import signal
import subprocess
import sys

import dask
import dask.dataframe as dd
import pandas as pd
import pytest
from tables_anywhere import cells

from skdisc._counts._counts import Counts
from skdisc._counts._sources import _source, source_of
from skdisc._counts._sources._checkpoint import Checkpoint
from skdisc._utils._files import written


@pytest.fixture
def table(tmp_path):
    folder = tmp_path / "table"
    folder.mkdir()
    for i in range(6):
        pd.DataFrame({"a": [i]}).to_parquet(folder / f"{i}.parquet")
    return folder


def kept_in(folder, what="sum"):
    return Checkpoint(
        folder,
        what,
        read=lambda path: json.loads(path.read_text()),
        write=lambda value, path: path.write_text(json.dumps(value)),
        n_parts=2,
    )


def summed(table, kept, fail_at=None):
    """Return the sum of a table, and which rows were read for it."""
    seen = []

    def add(frame):
        seen.extend(frame["a"])
        if frame["a"].iloc[0] == fail_at:
            raise KeyboardInterrupt
        return int(frame["a"].sum())

    try:
        return source_of(table).map_add(add, checkpoint=kept), seen
    except KeyboardInterrupt:
        return None, seen


def test_a_killed_run_goes_on(table, tmp_path):
    kept = table / "kept" / "of today"
    assert summed(table, kept_in(kept), fail_at=3) == (None, [0, 1, 2, 3])
    assert summed(table, kept_in(kept)) == (15, [2, 3, 4, 5])
    assert summed(table, kept_in(kept)) == (15, [])
    assert len(list(kept.iterdir())) == 3


KILLED = """
import os, signal, sys
import skdisc._counts._sources._source as source
from skdisc import Audit

folder, cache, (kind, name), fatal = *sys.argv[1:3], sys.argv[3].split("."), int(sys.argv[4])
of_part, seen = getattr(getattr(source, kind), name), []

def counted(frame, **how):
    seen.append(len(frame))
    if len(seen) == fatal:
        os.kill(os.getpid(), signal.SIGKILL)
    return of_part(frame, **how)

setattr(getattr(source, kind), name, counted)
audit = Audit(protected="sex", detectors=["GroupDisparity"], cache=cache).fit(folder, "hired")
print(len(seen), audit.report_.document["fingerprints"]["data"], audit.report_.verdict)
"""


@pytest.mark.slow
@pytest.mark.parametrize("function", ["Profile.of", "Counts.of_frame"])
def test_an_audit_that_was_killed_goes_on(tmp_path, function):
    """With signal 9 in the second group of files, in either pass: the first is not read again."""
    folder = tmp_path / "table"
    folder.mkdir()
    for i in range(40):
        rows = {"sex": ["F", "M"] * 20, "hired": [0, 1] * 10 + [1, 1] * (i % 3) + [0, 0] * 10}
        pd.DataFrame({n: v[:40] for n, v in rows.items()}).to_parquet(folder / f"{i:02}.parquet")

    def run(cache, fatal):
        about = [str(folder), str(tmp_path / cache), function, str(fatal)]
        given = [sys.executable, "-c", KILLED, *about]
        return subprocess.run(given, capture_output=True, text=True, check=False)

    assert run("cache", 20).returncode == -signal.SIGKILL
    again, whole = run("cache", 0).stdout.split(" ", 1), run("other", 0).stdout.split(" ", 1)
    assert (int(again[0]), int(whole[0])) == (40 - 16, 40)
    assert again[1] == whole[1]


def test_what_has_changed_is_computed_again(table, tmp_path):
    kept = tmp_path / "kept"
    summed(table, kept_in(kept))
    assert summed(table, kept_in(kept, "another sum")) == (15, [0, 1, 2, 3, 4, 5])
    pd.DataFrame({"a": [30, 1]}).to_parquet(table / "3.parquet")
    assert summed(table, kept_in(kept)) == (43, [2, 30, 1])
    pd.DataFrame({"a": [100]}).to_parquet(table / "6.parquet")
    assert summed(table, kept_in(kept)) == (143, [100])


def test_nothing_half_written_is_read(table, tmp_path):
    """A full disk does not end the run, and the next one counts the rows again."""

    def cut(value, path):
        with written(path) as file:
            file.write(b"[1, ")
            raise OSError("the disk is full")

    kept = kept_in(tmp_path / "kept")
    kept._write = cut
    with pytest.warns(UserWarning, match="was not written .*the disk is full"):
        assert summed(table, kept)[0] == 15
    assert list((tmp_path / "kept").iterdir()) == []
    assert summed(table, kept_in(tmp_path / "kept")) == (15, list(range(6)))


def test_a_damaged_file_is_counted_again(table, tmp_path):
    summed(table, kept_in(tmp_path / "kept"))
    damaged = min((tmp_path / "kept").iterdir())
    damaged.write_text("[1, ")
    with pytest.warns(UserWarning, match="cannot be read, and its part is counted again"):
        total, seen = summed(table, kept_in(tmp_path / "kept"))
    assert (total, len(seen)) == (15, 2)


def test_frames_are_known_by_their_content(tmp_path, monkeypatch):
    monkeypatch.setattr(_source, "ROWS", 2)
    frame = pd.DataFrame({"a": range(6)})
    for frames, seen in ((frame, 6), (frame.copy(), 0), (frame.replace(5, 7), 2)):
        kept = kept_in(tmp_path)
        kept._n_parts = 1
        assert len(summed(frames, kept)[1]) == seen


class Threshold:
    """A model that keeps which rows it was asked about, and fails at one of them."""

    def __init__(self, above):
        self.above = above

    def decide(self, rows):
        asked_about.extend(rows["a"])
        if fails_at & set(rows["a"]):
            raise KeyboardInterrupt
        return (rows["a"] > self.above).to_numpy().astype(int)


asked_about, fails_at = [], set()


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # Dask 2026.8 with pandas 3.1
@pytest.mark.parametrize("kind", ["files", "dask"])
def test_counts_with_a_model_go_on_and_are_those_of_one_run(table, tmp_path, kind):
    frame = pd.DataFrame({"a": range(10, 110), "y": [0, 1] * 50})
    for path in table.iterdir():
        path.unlink()
    for i in range(40):
        frame[i::40].to_parquet(table / f"{i:02}.parquet", index=False)
    data = dd.read_parquet(table) if kind == "dask" else table
    options = {"reads": ["a"], "label": "y", "checkpoint": tmp_path / "kept"}
    asked_about.clear()
    fails_at.add(45)  # of the third group of 16 parts
    with pytest.raises(KeyboardInterrupt), dask.config.set(scheduler="synchronous"):
        Counts.of(data, decide=Threshold(50).decide, **options)
    fails_at.clear()
    assert len(list((tmp_path / "kept").iterdir())) == 3 + 2  # of the first pass, of the second
    asked_about.clear()
    for above in (50, 70, 50):
        counts = Counts.of(data, decide=Threshold(above).decide, **options)
        direct = Counts.of(frame, decide=Threshold(above).decide, reads=["a"], label="y")
        assert cells(counts) == cells(direct)
    assert len(asked_about) == 16 + 100 + 3 * 100
    assert len(list((tmp_path / "kept").iterdir())) == 3 + 6


def test_a_model_that_cannot_be_told_from_another_is_refused(table, tmp_path):
    model = {"decide": lambda rows: rows["a"] > 1, "classes": [False, True]}
    with pytest.raises(ValueError, match="cannot be pickled"):
        Counts.of(table, **model, n_bins=2, checkpoint=tmp_path / "kept")
