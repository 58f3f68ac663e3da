"""An interruption (Ctrl-C) that waits until there is something to show."""

import signal
import sys

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


def _wait(number, frame):
    """Keep an interruption for `release`."""
    global _is_waiting
    _is_waiting = True
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.stderr.write("skdisc: interrupted; what there is follows. Ctrl-C again stops at once.\n")
