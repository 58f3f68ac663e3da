"""How much longer does ``import skdisc`` take than ``import sklearn, pandas``?

Each repeat is a process of its own that imports the two one after the other, so both are timed
under the same load; the medians are printed.

Run: python benchmarks/bench_import.py [--repeats 9]
"""

import argparse
import os
import statistics
import subprocess
import sys

from compared import alone

TARGET = 0.3  # seconds
CHILD = """
from time import perf_counter
start = perf_counter()
import sklearn, pandas
between = perf_counter()
import skdisc
print(between - start, perf_counter() - between)
"""


def seconds():
    """Return the time of ``import sklearn, pandas`` and what ``import skdisc`` adds to it."""
    # Compiled files are kept, as on any user's machine.
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", CHILD]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    return [float(time) for time in done.stdout.split()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    repeats = parser.parse_args().repeats
    seconds()  # fill the disk cache
    times = zip(*(seconds() for _ in range(repeats)), strict=True)
    base, added = map(statistics.median, times)
    print(f"import sklearn, pandas   {base:6.3f} s   (medians of {repeats} processes)")
    print(f"with import skdisc       {base + added:6.3f} s   ratio {(base + added) / base:.2f}")
    alone("import skdisc, beyond sklearn and pandas", added, None, (TARGET, None))


if __name__ == "__main__":
    main()
