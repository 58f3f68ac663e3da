"""How do detectors that count grow with rows and columns?

Table: Adult drawn with replacement, its 14 columns, then noise (three of four categorical with 3 to
7 values, one of four integers of 1,000 values); protected sex and race; decisions given; defaults
unless said. Each fit runs in a forked child: CPU seconds / peak memory in GB, table included. A fit
that needs more CPU than --limit is stopped, and is printed as such.

Run: python benchmarks/growth_counts.py [DATA] [--sizes 10000x30 100000x30] [--limit 600]
     [--only BiasScan]   (lines whose name begins so)
"""

import argparse
import os
import resource
from pathlib import Path

from growing_table import made

from skdisc._blackbox._blackbox import BlackBox
from skdisc._space._feature_space import FeatureSpace
from skdisc.group import GroupDisparity
from skdisc.subgroup import (
    BiasScan,
    DiscriminationPatterns,
    DiscriminatoryRules,
    DivExplorer,
    SliceFinder,
    SliceLine,
)

PROTECTED = ["sex", "race"]
DETECTORS = {
    "GroupDisparity": GroupDisparity,
    "DivExplorer": DivExplorer,
    "SliceLine": SliceLine,
    "SliceFinder": SliceFinder,
    "DiscriminatoryRules": DiscriminatoryRules,
    "DiscriminationPatterns": DiscriminationPatterns,
    "BiasScan, everyone, no null scans": lambda **k: everyone(n_bootstrap=0, **k),
    "BiasScan, everyone": lambda **k: everyone(**k),
    "BiasScan, no null scans": lambda **k: BiasScan(n_bootstrap=0, **k),
    "BiasScan": BiasScan,
}


def everyone(**settings):
    return BiasScan(versus="everyone", **settings)


def fits(X, y, decisions):
    """Return the work of each line of the table, by name."""
    work = {"FeatureSpace": lambda: FeatureSpace.from_frame(X).encode(X)}
    for name, make in DETECTORS.items():
        work[name] = lambda make=make: make(protected=PROTECTED, random_state=0).fit(
            X, y, BlackBox(decisions=decisions)
        )
    return work


def measured(work, limit):
    """Run the work in a forked child; return its CPU seconds and peak memory as text."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        try:
            work()
        except BaseException as error:  # the child must not go on as a second parent
            print(repr(error), flush=True)
            os._exit(1)
        os._exit(0)
    _, status, used = os.wait4(child, 0)
    seconds = used.ru_utime + used.ru_stime
    how = "" if status == 0 else "failed after " if os.WIFEXITED(status) else "stopped after "
    return f"{how}{seconds:.2f} / {used.ru_maxrss / 2**20:.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="?", default=os.environ.get("SKDISC_DATA", "data"))
    parser.add_argument("--sizes", nargs="+", default=["10000x30", "100000x30"])
    parser.add_argument("--limit", type=int, default=600, help="CPU seconds of each fit")
    parser.add_argument("--only", default="", help="beginning of the names of lines")
    options = parser.parse_args()
    for size in options.sizes:
        X, y, decisions = made(Path(options.data), *map(int, size.split("x")))
        for name, work in fits(X, y, decisions).items():
            if not name.startswith(options.only):
                continue
            print(f"| {name} | {size} | {measured(work, options.limit)} |", flush=True)


if __name__ == "__main__":
    main()
