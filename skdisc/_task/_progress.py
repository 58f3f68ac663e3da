"""Progress: lines on standard error while a detector runs."""

import sys
import time

_SECONDS = 1.0  # at least, from one line to the next


class Progress:
    """Writer of lines such as ``KOSEI: 12,000 tested, 310 found, 4 s`` to standard error.

    `label`: prefix of every line. `verbose`: if false, no line is written.
    """

    def __init__(self, label, verbose):
        self._label = label
        self._verbose = verbose
        self._last = time.monotonic()

    def __call__(self, text):
        """Write `text`, unless the last line is younger than `_SECONDS`."""
        now = time.monotonic()
        if self._verbose and now - self._last >= _SECONDS:
            self._last = now
            sys.stderr.write(f"{self._label}: {text}\n")
            sys.stderr.flush()
