"""How does what detectors cost grow with rows and columns?

Table: Adult drawn with replacement, its 14 columns, then noise (three of four categorical with 3 to
7 values, one of four integers of 1,000 values). Decisions are given, or a rule that costs almost
nothing is audited. Defaults unless the name of the line says otherwise; searches make 2,000 tests;
sex and race are protected, in `ONE` sex alone. Each fit runs in a forked child: CPU seconds / peak
memory in GB, table included. A fit that needs more CPU than --limit is stopped, and printed so.

Run: python benchmarks/growth.py [DATA] [--sizes 10000x30 100000x30 1000000x30] [--limit 900]
     [--only BiasScan FACTS]   (lines whose names begin so)
"""

import argparse
import os
import resource
from pathlib import Path

import numpy as np
from growing_table import made

from skdisc import Limits, group, individual, subgroup
from skdisc._blackbox._blackbox import BlackBox
from skdisc._space._feature_space import FeatureSpace
from skdisc.causal import StructuralCausalModel

ONE = {"VeriFair", "FACTS", "SituationTesting", "CounterfactualSituationTesting"}
FOUR = ["age", "education-num", "hours-per-week", "sex"]
SIX = ["sex", "race", "workclass", "marital-status", "education-num", "hours-per-week"]
EDGES = [(cause, effect) for cause in ("sex", "age") for effect in FOUR[1:3]]
EVERYONE, FEW = {"versus": "everyone"}, {"limits": Limits(tests=2000)}
DETECTORS = {  # name: settings, columns (None: all), whether a model is asked
    "GroupDisparity": ({}, None, False),
    "VeriFair": ({}, None, True),
    "DivExplorer": ({}, None, False),
    "SliceLine": ({}, None, False),
    "SliceFinder": ({}, None, False),
    "DiscriminatoryRules": ({}, None, False),
    "DiscriminationPatterns": ({}, None, False),
    "BiasScan, everyone, no null scans": ({**EVERYONE, "n_resamples": 0}, None, False),
    "BiasScan, everyone": (EVERYONE, None, False),
    "BiasScan, no null scans": ({"n_resamples": 0}, None, False),
    "BiasScan": ({}, None, False),
    "DisparityPursuit": ({}, None, False),
    "FACTS, 6 columns": ({"features": SIX}, None, True),
    "FACTS": ({}, None, True),
    "SituationTesting, 4 columns": ({}, FOUR, False),
    "CounterfactualSituationTesting, 4 columns": ({}, FOUR, False),
    "SituationTesting": ({}, None, False),
    "CounterfactualSituationTesting": ({}, None, False),
    "CounterfactualFairness, 4 columns": ({}, FOUR, True),
    "FlipTest": ({}, None, False),
    "Themis": (FEW, None, True),
    "KOSEI": (FEW, None, True),
    "Aequitas": (FEW, None, True),
    "ExpGA": (FEW, None, True),
    "SG": (FEW, None, True),
    "LIMI": (FEW, None, True),
    "BoundarySearch": (FEW, None, True),
}


class Rule:
    """A cheap model that uses sex."""

    classes_ = np.array([0, 1])

    def predict_proba(self, X):
        points = X["education-num"] - 12 + 0.05 * (X["age"] - 40)
        points = points.to_numpy(dtype=float) + 0.8 * (X["sex"] == "Male").to_numpy()
        share = 1 / (1 + np.exp(-points))
        return np.column_stack([1 - share, share])

    def predict(self, X):
        return (self.predict_proba(X)[:, 1] > 0.5).astype(int)


def fit(line, X, y, decisions):
    """Fit the detector of a line."""
    name = line.split(",")[0]
    if name == "FeatureSpace":
        return FeatureSpace.from_frame(X).encode(X)
    settings, columns, asks = DETECTORS[line]
    room = next(r for r in (group, individual, subgroup) if name in r.__all__)
    X = X if columns is None else X[columns]
    protected = [c for c in ("sex", "race") if c in X and (c == "sex" or name not in ONE)]
    if name == "CounterfactualFairness":
        settings = {"counterfactuals": StructuralCausalModel(EDGES)}
    detector = getattr(room, name)(protected=protected, random_state=0, pos_label=1, **settings)
    return detector.fit(X, y, Rule() if asks else BlackBox(decisions=decisions))


def measured(line, table, limit):
    """Fit in a forked child; return its CPU seconds and peak memory as text."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        try:
            fit(line, *table)
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
    parser.add_argument("--limit", type=int, default=900, help="CPU seconds of each fit")
    parser.add_argument("--only", nargs="+", default=[""], help="beginnings of names of lines")
    options = parser.parse_args()
    for size in options.sizes:
        table = made(Path(options.data), *map(int, size.split("x")))
        for line in ("FeatureSpace, learn and encode", *DETECTORS):
            if line.startswith(tuple(options.only)):
                print(f"| {line} | {size} | {measured(line, table, options.limit)} |", flush=True)


if __name__ == "__main__":
    main()
