"""Are direct runs as fast as with another version of the package? CPU seconds, in turn.

Each fit runs in a process of its own, once with each checkout and then again; the least CPU time of
each is compared. With --fits, each process fits so often, and later fits find everything loaded.
The table is that of growing_table.py, with 10 columns; searches that ask a model ask one that costs
almost nothing. Settings which change what is computed are made equal: by default groups are now
compared with their context (`versus="context"`), findings that say the same are dropped
(`distinct=True`), and FACTS chooses on one half of the people (`learn_on=0.5`). The second line of
such a detector has defaults.

Run: python benchmarks/bench_before.py OLD NEW [--rows 10000 100000] [--repeats 3] [--fits 1]
     (two checkouts of the repository)
"""

import argparse
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from time import process_time

from skdisc import Limits

EQUAL = {"versus": "everyone", "distinct": False, "learn_on": None}
DETECTORS = {
    "GroupDisparity": "group",
    "DivExplorer": "subgroup",
    "SliceLine": "subgroup",
    "SliceFinder": "subgroup",
    "DiscriminatoryRules": "subgroup",
    "DiscriminationPatterns": "subgroup",
    "Themis": "individual",
    "KOSEI": "individual",
    "FACTS": "subgroup",
}
PROTECTED = ["sex", "race"]
ASKS = {"Themis", "KOSEI", "FACTS"}
EXTRA = {
    "Themis": {"limits": Limits(tests=2000)},
    "KOSEI": {"limits": Limits(tests=2000)},
    "FACTS": {"min_support": 0.1, "features": ["workclass", "marital-status", "education-num"]},
}


class Lender:
    """A cheap model that uses sex."""

    def predict(self, X):
        points = X["education-num"].to_numpy(dtype=float) - 9
        return (points + 2 * (X["sex"].astype(str) == "Male").to_numpy() > 0).astype(int)

    def predict_proba(self, X):
        import numpy as np

        return np.eye(2)[self.predict(X)]


def measure(name, n_rows, is_equal, n_fits):
    """Return the least CPU seconds of some fits by the package that is imported here."""
    import importlib

    import numpy as np
    from growing_table import made

    from skdisc import BlackBox

    found = getattr(importlib.import_module(f"skdisc.{DETECTORS[name]}"), name)
    known = inspect.signature(found).parameters
    settings = {k: v for k, v in EQUAL.items() if is_equal and k in known}
    X, y, decisions = made(Path(os.environ["SKDISC_DATA"]), n_rows, 10)
    Lender.classes_ = np.array([0, 1])
    model = Lender() if name in ASKS else BlackBox(decisions=decisions)
    least = float("inf")
    for _ in range(n_fits):
        detector = found(protected=PROTECTED, random_state=0, **settings, **EXTRA.get(name, {}))
        start = process_time()
        detector.fit(X, y, model)
        least = min(least, process_time() - start)
    return least


def seconds(checkout, *what):
    """Return what `measure` returns in a fresh process that imports a checkout."""
    command = [sys.executable, __file__, "--one", json.dumps(what)]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return float(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", nargs="*", type=Path)
    parser.add_argument("--rows", nargs="+", type=int, default=[10_000, 100_000])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--fits", type=int, default=1)
    parser.add_argument("--detectors", nargs="+", choices=DETECTORS, default=list(DETECTORS))
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(measure(*json.loads(options.one)))
        return
    old, new = options.checkouts
    print("| detector | rows | before | now, equal settings | ratio | now, defaults |")
    print("|---|---|---|---|---|---|", flush=True)
    for n_rows in options.rows:
        for name in options.detectors:
            runs = [
                [
                    seconds(old, name, n_rows, False, options.fits),
                    seconds(new, name, n_rows, True, options.fits),
                    seconds(new, name, n_rows, False, options.fits),
                ]
                for _ in range(options.repeats)
            ]
            before, equal, usual = (min(column) for column in zip(*runs, strict=True))
            line = f"{before:.3f} | {equal:.3f} | {equal / before:.2f} | {usual:.3f}"
            print(f"| {name} | {n_rows:,} | {line} |", flush=True)


if __name__ == "__main__":
    main()
