"""The process of one audit: the command line, which ends when the app does.

It is started before it is needed, as the imports take seconds, and waits for its arguments: a JSON
list, the first line of standard input.
"""

import json
import math
import os
import sys
import threading
from contextlib import nullcontext
from pathlib import Path
from queue import SimpleQueue


def _read(lines):
    """Put the first line of standard input into a queue; end this process with the input.

    The app holds it open as long as it lives.
    """
    line = b""
    while byte := os.read(0, 1):  # a buffered read would hold a lock that the end waits for
        line += byte
        if byte == b"\n":
            lines.put(line)
    os._exit(4)


def main() -> int:
    """Run the command of the arguments and return its exit code.

    Of a file that is counted part by part, it is noted how often it has been read.
    """
    lines = SimpleQueue()
    threading.Thread(target=_read, args=(lines,), daemon=True).start()
    from skdisc.__main__ import main as command
    from skdisc._registry import all_detectors
    from skdisc._utils._tables._encoding import telling
    from skdisc.app._looking import ShareDone, size_of

    all_detectors()  # what is imported for it takes longest
    arguments, progress = json.loads(lines.get())
    sys.argv = ["skdisc", *arguments]
    context = nullcontext()
    if "--by-parts" in arguments and Path(arguments[1]).is_file():
        context = telling(ShareDone(progress, size_of(arguments[1]), math.inf))
    with context:
        return command()


if __name__ == "__main__":
    sys.exit(main())
