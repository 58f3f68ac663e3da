"""Sums of groups of parts, kept in a folder for a run that goes on where another ended."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from skdisc._utils._files import warn_of_cache

_PARTS = 16  # of half a million rows


class Checkpoint:
    """Files with what a pass over groups of parts added up to.

    A file is named after what was computed and the marks of the parts, so that whatever has
    changed since is computed again. A damaged file is, too, and a folder that cannot be written to
    keeps nothing: both with a warning.

    Parameters
    ----------
    folder : str or Path
        Made if it does not exist.
    what : str
        Text that tells what is computed.
    read, write : callable
        Return a value from a path, and write one to a path, whole or not at all.
    n_parts : int, default=16
        Number of parts of a group.
    """

    def __init__(
        self, folder: Any, what: str, read: Callable, write: Callable, n_parts: int = _PARTS
    ):
        self._folder, self._what, self._n_parts = Path(folder), what, n_parts
        self._read, self._write = read, write
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            warn_of_cache(self._folder, f"cannot be used ({error.strerror})")

    def groups(self, parts: list) -> list[list]:
        """Return the parts in groups."""
        return [parts[i : i + self._n_parts] for i in range(0, len(parts), self._n_parts)]

    def sum_of(self, parts: list, add_up: Callable) -> Any:
        """Return what was kept of a group of parts, or add it up and keep it."""
        text = "\0".join([self._what, *(part.mark() for part in parts)])
        path = self._folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.kept"
        if path.exists():
            try:
                return self._read(path)
            except Exception as error:  # whatever is wrong with a damaged file
                warn_of_cache(path, f"cannot be read, and its part is counted again ({error})")
        value = add_up(parts)
        if value is not None:
            try:
                self._write(value, path)
            except (OSError, ValueError) as error:  # full, or read-only
                warn_of_cache(path, f"was not written ({error})")
        return value
