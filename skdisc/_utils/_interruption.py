"""An interruption (Ctrl-C) that waits until there is something to show."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

INTERRUPTED = 130  # the exit code, as shells have it: 128 and the number of the signal
_is_waiting = False


def hold():
    """Let the next interruption wait for `release`; a second one stops the program at once."""
    signal.signal(signal.SIGINT, _wait)


def release():
    """End `hold`; raise KeyboardInterrupt if an interruption has been waiting."""
    global _is_waiting
    if signal.getsignal(signal.SIGINT) is _wait:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if _is_waiting:
        _is_waiting = False
        raise KeyboardInterrupt


@contextmanager
def held() -> Iterator[list[int]]:
    """Let an interruption wait for the end of a block that puts together what was found.

    Yields a list that is not empty at the end if there was one. A second one stops the block. Where
    others handle interruptions, or in a thread, it changes nothing.
    """
    came = []

    def wait(number, frame):
        came.append(number)
        _tell()

    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield came
        return
    signal.signal(signal.SIGINT, wait)
    try:
        yield came
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _wait(number, frame):
    """Keep an interruption for `release`."""
    global _is_waiting
    _is_waiting = True
    _tell()


def _tell():
    """Write that an interruption waits, and let the next one stop the program."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.stderr.write("skdisc: interrupted; what there is follows. Ctrl-C again stops at once.\n")
