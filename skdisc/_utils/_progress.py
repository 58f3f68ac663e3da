"""Progress on long work: one line at most every second, on standard error, only when asked."""

import sys
import time


class Progress:
    """Write lines such as ``KOSEI: 12,000 tested, 310 found, 4 s`` to standard error.

    Parameters
    ----------
    label : str
        Put before every line.
    verbose : bool or int
        Nothing is written when false.
    """

    def __init__(self, label, verbose):
        self._label = label
        self._verbose = verbose
        self._last = time.monotonic()

    def __call__(self, text):
        """Write `text`, unless a line was written less than a second ago."""
        now = time.monotonic()
        if self._verbose and now - self._last >= 1.0:
            self._last = now
            sys.stderr.write(f"{self._label}: {text}\n")
            sys.stderr.flush()
