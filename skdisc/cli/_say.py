"""What commands print: safe for terminals, and no loss if it cannot be printed."""

import os
import sys

from skdisc._utils._safe_text import clean_lines


class Output:
    """Standard output of a command.

    Text of data has no control characters in it, so that it cannot move a cursor or end a line. If
    standard output is full, closed or has a narrow encoding, the command goes on: what it writes to
    files counts, and `main` reports the loss at the end.
    """

    def __init__(self):
        self.lost: OSError | None = None

    def __call__(self, text: str = "") -> None:
        """Print text of one or several lines."""
        if self.lost is not None or sys.stdout is None:
            return
        try:
            print(clean_lines(str(text)))
        except UnicodeEncodeError:
            encoding = sys.stdout.encoding or "ascii"
            print(clean_lines(str(text)).encode(encoding, "backslashreplace").decode(encoding))
        except OSError as error:
            self._lose(error)

    def flush(self) -> None:
        """Write out what is buffered."""
        if self.lost is not None or sys.stdout is None:
            return
        try:
            sys.stdout.flush()
        except OSError as error:
            self._lose(error)

    def _lose(self, error):
        """Note that output is lost; the interpreter must not fail at its end once more."""
        self.lost = error
        try:
            null_device = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null_device, sys.stdout.fileno())
            os.close(null_device)
        except (OSError, ValueError, AttributeError):
            sys.stdout = None


say = Output()
