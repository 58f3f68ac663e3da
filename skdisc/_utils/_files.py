"""Writing files: whole or not at all, and by one process at a time.

A file is written to a temporary file beside it, which is flushed to the disk and then takes its
place. So a process that is killed at any moment leaves the old file or the new one. Locks are those
of the operating system, which end with the process that holds them, however it ends.
"""

import os
import stat
import tempfile
import time
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None
    import msvcrt

_STALE = 60  # seconds after which a temporary file that nobody holds was left by a killed process
_SUFFIX = ".new"


def read_text(path):
    """Return the text of a UTF-8 file, without the mark that some editors put before it."""
    return Path(path).read_text(encoding="utf-8-sig")


def write_text(path, text):
    """Write a text file whole or not at all, in UTF-8 with the line ends of `text`."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path, data):
    """Write a file whole or not at all."""
    with written(path) as file:
        file.write(data)


def check_extension(path, formats):
    """Raise ValueError if the extension of `path` is none of the formats of a report."""
    if Path(path).suffix.lower() not in formats:
        raise ValueError(
            f"The extension of a report must be {', '.join(formats)}; got {str(path)!r}."
        )


@contextmanager
def written(path):
    """Yield a binary file whose content takes the place of the file `path` at the end.

    A symbolic link stays one, and the file that it names is replaced; permissions are kept. What
    is no file, as /dev/stdout or a named pipe, is written to directly.

    Raises ValueError if there is no folder, or the file may not be written. Raises OSError if it
    was not written; the old file is still there.
    """
    check_writable(path)
    target = Path(os.path.realpath(path))
    if _is_stream(target):
        with open(target, "wb") as file:
            yield file
        return
    _remove_stale(target)
    handle, temporary = tempfile.mkstemp(
        dir=target.parent, prefix=f".{target.name[:100]}.", suffix=_SUFFIX
    )
    try:
        with os.fdopen(handle, "wb") as file:
            hold_lock(file)  # so that no other process takes it for a remnant
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.chmod(temporary, _mode(target))
            if fcntl is not None:
                os.replace(temporary, target)
        if fcntl is None:  # Windows replaces no file that is open
            os.replace(temporary, target)
        _flush_folder(target.parent)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(temporary)
        if not isinstance(error, OSError):
            raise
        reason = f"{str(path)!r} was not written: {error.strerror or error}"
        raise OSError(*((error.errno, reason) if error.errno else (reason,))) from error


@contextmanager
def only_writer(path):
    """Hold a lock of the operating system on `path`, a ValueError if another process holds it.

    Links to one file share a lock. The file of the lock is removed at the end; if the process is
    killed, it stays, and locks nothing.
    """
    target = Path(os.path.realpath(path))
    place = target.with_name(f".{target.name}.lock")
    while True:
        try:
            file = open(place, "ab")  # noqa: SIM115 - closed below
        except OSError as error:
            raise ValueError(f"{str(place)!r} cannot be written: {error.strerror}.") from error
        try:
            if not hold_lock(file):
                raise ValueError(
                    f"{str(path)!r} is being written by another process. Try again when it has "
                    "ended."
                )
            if fcntl is None or _is_at(file, place):
                break  # else the holder before has removed the file in the meantime
        except BaseException:
            file.close()
            raise
        file.close()
    try:
        yield
    finally:
        if fcntl is not None:
            with suppress(OSError):
                os.unlink(place)
        file.close()


def check_writable(path):
    """Raise ValueError if a file cannot be written at `path`."""
    target = Path(os.path.realpath(path))
    if os.path.isdir(target):
        raise ValueError(f"{str(path)!r} is a folder; give the name of a file.")
    if not os.path.isdir(target.parent):
        raise ValueError(
            f"The folder {str(target.parent)!r} does not exist: {str(path)!r} cannot be written."
        )
    if os.path.exists(target) and stat.S_ISSOCK(target.stat().st_mode):
        raise ValueError(f"{str(path)!r} is a socket; give the name of a file.")
    if not _is_stream(target):
        try:
            options = {"prefix": f".{target.name}."}
            if len(target.name) <= 100:  # if this process is killed, a later one removes the file
                options["suffix"] = _SUFFIX
            tempfile.NamedTemporaryFile(dir=target.parent, **options).close()
        except OSError as error:
            raise ValueError(f"{str(path)!r} cannot be written: {error.strerror}.") from None
    if os.path.exists(target) and not os.access(target, os.W_OK):
        raise ValueError(f"No permission to write {str(path)!r}.")


def check_is_file(path):
    """Raise ValueError if `path` is a device or a pipe, which cannot keep a state."""
    if _is_stream(Path(os.path.realpath(path))):
        raise ValueError(f"{str(path)!r} is a device or a pipe; give the name of a file.")


def _is_stream(path):
    """Return True for a device or a pipe."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode) or stat.S_ISBLK(mode)


def hold_lock(file):
    """Lock an open file without waiting, until it is closed; return whether that worked."""
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks; on Windows: another process has it
        return fcntl is not None
    return True


def _is_at(file, place):
    """Return whether an open file is still the one at a place."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(place))
    except OSError:
        return False


def _remove_stale(target):
    """Remove temporary files of processes that were killed while they wrote this file."""
    if fcntl is None:
        return
    before = time.time() - _STALE
    for path in target.parent.glob(f".{_escaped(target.name[:100])}.*{_SUFFIX}"):
        with suppress(OSError):
            if path.stat().st_mtime < before:
                with open(path, "rb") as file:
                    if hold_lock(file):
                        path.unlink()


def _escaped(name):
    """Return a name as a pattern of `glob` that means itself."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def _flush_folder(folder):
    """Write the new entry of a folder to the disk, where the system can."""
    with suppress(OSError, AttributeError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _mode(path):
    """Return the permissions of a file that is replaced, or of a new file."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def warn_of_cache(path, what):
    """Warn about a file that was kept from an earlier run; this one goes on."""
    warnings.warn(f"cache: {str(path)!r} {what}.", UserWarning, stacklevel=2)
