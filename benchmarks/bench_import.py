"""How much longer does ``import skdisc`` take than ``import sklearn, pandas``?

Every import runs in a process of its own; the two take turns, and the medians are compared.

Run: python benchmarks/bench_import.py [--repeats 9]
"""

import argparse
import os
import statistics
import subprocess
import sys

TARGET = 0.3  # seconds
BASE, OURS = "import sklearn, pandas", "import skdisc"
CHILD = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"


def seconds(statement):
    # Compiled files are kept, as on any user's machine.
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", CHILD.format(statement)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    return float(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    repeats = parser.parse_args().repeats
    for statement in (BASE, OURS):  # fill the disk cache
        seconds(statement)
    pairs = [(seconds(BASE), seconds(OURS)) for _ in range(repeats)]
    base, ours = (statistics.median(times) for times in zip(*pairs, strict=True))
    print(f"{BASE:24} {base:6.3f} s   (median of {repeats})")
    print(f"{OURS:24} {ours:6.3f} s   ratio {ours / base:.2f}")
    verdict = "met" if ours - base <= TARGET else "missed"
    print(f"difference               {ours - base:+6.3f} s   target at most {TARGET} s: {verdict}")


if __name__ == "__main__":
    main()
