"""The private folder of the app: uploads, reports and plans, deleted at the end."""

import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from skdisc._utils._files import hold_lock

_PREFIX = "skdisc-app-"
_LOCK = "lock"
_STALE = 60  # seconds


class PrivateFolder:
    """A folder that only this user reads, and that is deleted when the app ends.

    Its lock is one of the operating system, which ends with the process: a later start deletes the
    folders of apps that were killed.

    Parameters
    ----------
    within : str or Path, optional
        Where it is made; by default the system's folder of temporary files.

    Attributes
    ----------
    path : Path
    """

    def __init__(self, within=None) -> None:
        within = Path(tempfile.gettempdir() if within is None else within)
        remove_left(within)
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=within))  # of mode 0700
        self._lock = open(self.path / _LOCK, "ab")  # noqa: SIM115 - held until close
        hold_lock(self._lock)

    def new(self, name: str) -> Path:
        """Return a new folder within."""
        return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.path))

    def close(self) -> None:
        """Delete the folder."""
        self._lock.close()
        shutil.rmtree(self.path, ignore_errors=True)


def remove_left(within: Path) -> None:
    """Delete the folders of apps that were killed."""
    for left in within.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            about = left.lstat()
            is_ours = not hasattr(os, "getuid") or about.st_uid == os.getuid()
            if left.is_symlink() or not left.is_dir() or not is_ours:
                continue
            if not (left / _LOCK).exists() and time.time() - about.st_mtime < _STALE:
                continue  # another app is just making it
            with open(left / _LOCK, "ab") as lock:
                is_left = hold_lock(lock)
            if is_left:
                shutil.rmtree(left, ignore_errors=True)
