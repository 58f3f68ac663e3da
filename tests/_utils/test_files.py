"""Files are written whole or not at all, and locks end with the process that holds them."""

import os
import random
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pandas as pd
import pytest

from skdisc import Counts
from skdisc._counts._profile import Profile
from skdisc._utils import _files


def test_write_replaces_whole_or_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "report.md"
    _files.write_text(path, "old")
    _files.write_text(path, "new ≤")
    assert path.read_text(encoding="utf-8") == "new ≤"
    assert not stat.S_IMODE(path.stat().st_mode) & 0o111

    def fails(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(OSError, match="disk full"):
        _files.write_text(path, "half")
    assert path.read_text(encoding="utf-8") == "new ≤"
    assert [p.name for p in tmp_path.iterdir()] == ["report.md"]


def test_unwritable_places_are_named(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="does not exist"):
        _files.check_writable(tmp_path / "no" / "report.html")
    with pytest.raises(ValueError, match="is a folder"):
        _files.check_writable(tmp_path)
    with pytest.raises(ValueError, match="cannot be written: File name too long"):
        _files.check_writable(tmp_path / f"{'a' * 300}.html")
    assert not list(tmp_path.iterdir())
    (tmp_path / "report.html").touch()
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    with pytest.raises(ValueError, match="No permission"):
        _files.check_writable(tmp_path / "report.html")


def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path):
    path = tmp_path / "report.html"
    path.touch()
    path.chmod(0o600)
    _files.write_text(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_full_disk_is_told_with_the_name_of_the_file(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match=r"report.html' was not written: No space left") as error:
        _files.write_text(tmp_path / "report.html", "new")
    assert error.value.errno == 28
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0, 0o666)])
def test_a_new_file_has_the_permissions_that_the_user_asks_for(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        _files.write_text(tmp_path / "new.txt", "text")
        assert os.umask(mask) == mask
    finally:
        os.umask(before)
    assert (tmp_path / "new.txt").stat().st_mode & 0o777 == mode


def _until_killed(folder, code, n_kills):
    """Run code again and again, and kill it at random moments."""
    rng = random.Random(0)
    for _ in range(n_kills):
        process = subprocess.Popen(
            [sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE, cwd=Path.cwd()
        )
        process.stdout.readline()  # it has begun to write
        time.sleep(rng.uniform(0, 0.02))
        process.kill()
        process.wait()
        process.stdout.close()
        yield


WRITE_TEXT = """
import sys
from skdisc._utils._files import write_text
print("begun", flush=True)
while True:
    for letter in "ab":
        write_text(sys.argv[1] + "/report.html", letter * 1_000_000)
"""
WRITE_COUNTS = """
import sys
import numpy as np, pandas as pd
from skdisc import Counts
n = np.arange(50_000)
counts = Counts.of(pd.DataFrame({"a": n % 211, "b": n % 223}), n_bins=1000)
print("begun", flush=True)
while True:
    counts.to_parquet(sys.argv[1] + "/counts.parquet")
"""
N_KILLS = int(os.environ.get("SKDISC_KILLS", 3))


def test_a_process_that_is_killed_leaves_a_whole_file(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("a" * 1_000_000)
    for _ in _until_killed(tmp_path, WRITE_TEXT, N_KILLS):
        text = path.read_text()
        assert len(text) == 1_000_000
        assert len(set(text)) == 1
    for left in tmp_path.iterdir():  # as if a minute had passed
        os.utime(left, (0, 0))
    _files.write_text(path, "new")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.slow
def test_counts_are_whole_after_a_kill(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "counts.parquet"
    Counts.of(pd.DataFrame({"a": [1, 2]})).to_parquet(path)
    for _ in _until_killed(tmp_path, WRITE_COUNTS, N_KILLS):
        assert Counts.read(path).n_people in (2, 50_000)


def test_a_profile_is_whole_or_not_there(tmp_path, monkeypatch):
    path = tmp_path / "profile"
    Profile.of(pd.DataFrame({"a": [1, 2]})).write(path)
    monkeypatch.setattr(os, "replace", _fails)
    with pytest.raises(OSError, match="No space left"):
        Profile.of(pd.DataFrame({"a": [1]})).write(path)
    assert Profile.read(path).n_rows == 2


def _fails(*_):
    raise OSError(28, "No space left on device")


def _refused():
    return pytest.raises(ValueError, match="is being written by another process")


HOLD = """
import sys, time
from skdisc._utils._files import only_writer
with only_writer(sys.argv[1] + "/state.json"):
    print("begun", flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_lock_ends_with_its_process(tmp_path, signal_number):
    path = tmp_path / "state.json"
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=Path.cwd(),
    )
    process.stdout.readline()
    with _refused(), _files.only_writer(path):
        pass
    process.send_signal(signal_number)
    process.wait()
    process.stdout.close()
    with _files.only_writer(path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_one_writer_at_a_time(tmp_path):
    path, inside, most, refused = tmp_path / "state.json", [], [], []

    def work():
        for _ in range(50):
            try:
                with _files.only_writer(path):
                    inside.append(1)
                    most.append(len(inside))
                    inside.pop()
            except ValueError:
                refused.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(most) == {1}
    assert len(most) + len(refused) == 200


@pytest.mark.skipif(sys.platform == "win32", reason="links of POSIX")
def test_a_link_stays_one_and_shares_its_lock(tmp_path):
    (tmp_path / "there").mkdir()
    real, link = tmp_path / "there" / "state.json", tmp_path / "link.json"
    real.write_text("old")
    link.symlink_to(real)
    _files.write_text(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    with _files.only_writer(real), _refused(), _files.only_writer(link):
        pass
    assert [p.name for p in (tmp_path / "there").iterdir()] == ["state.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_pipes_and_devices_are_written_to_and_not_replaced(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    _files.write_text(pipe, "all of it")
    reader.join()
    assert read == ["all of it"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    _files.write_text(os.devnull, "nothing")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    for path in (pipe, os.devnull):
        with pytest.raises(ValueError, match="is a device or a pipe"):
            _files.check_is_file(path)


def test_what_a_check_left_that_was_killed_is_removed(tmp_path, monkeypatch):
    path, real = tmp_path / "state.json", tempfile.NamedTemporaryFile
    monkeypatch.setattr(tempfile, "NamedTemporaryFile", lambda **how: real(**how, delete=False))
    _files.check_writable(path)
    monkeypatch.undo()
    (left,) = tmp_path.iterdir()
    os.utime(left, (0, 0))
    _files.write_text(path, "{}")
    assert list(tmp_path.iterdir()) == [path]
