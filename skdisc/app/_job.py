"""The process of one audit: the command line, which ends when the app does."""

import os
import sys
import threading


def _end_with_the_app():
    """Wait until standard input ends, which the app holds open; then end this process."""
    while os.read(0, 1):  # a buffered read would hold a lock that the end of this process waits for
        pass
    os._exit(4)


def main() -> int:
    """Run the command of the arguments and return its exit code."""
    from skdisc.__main__ import main as command

    threading.Thread(target=_end_with_the_app, daemon=True).start()
    return command()


if __name__ == "__main__":
    sys.exit(main())
