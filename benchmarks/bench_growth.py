"""How does what detectors cost grow with rows and columns?

Table: Adult drawn with replacement, its 14 columns, then noise (three of four categorical with 3 to
7 values, one of four integers of 1,000 values). Decisions are given, or a rule that costs almost
nothing is audited. Defaults unless the name of the line says otherwise; searches make 2,000 tests;
sex and race are protected, in `ONE` sex alone. Each fit runs in a forked child: CPU seconds, and
peak memory, table included. A fit that needs more CPU than --limit is stopped, and printed so. Up
to 10,000 rows, the second of two fits counts, when everything is loaded.

Run: python benchmarks/bench_growth.py [DATA] [--sizes 1000x14 adult 10000x30 100000x30 1000000x30]
     [--limit 900] [--only BiasScan FACTS]   (lines whose names begin so)
"""

import argparse
import os
import resource
import sys
from pathlib import Path
from time import process_time

import numpy as np
from compared import alone
from growing_table import made
from sklearn.tree import DecisionTreeClassifier

from skdisc import Audit, Limits, group, individual, monitoring, subgroup
from skdisc._blackbox._blackbox import BlackBox
from skdisc._space._feature_space import FeatureSpace
from skdisc.causal import StructuralCausalModel

ONE = {"VeriFair", "FACTS", "SituationTesting", "CounterfactualSituationTesting", "Audit, sex"}
FOUR = ["age", "education-num", "hours-per-week", "sex"]
SIX = ["sex", "race", "workclass", "marital-status", "education-num", "hours-per-week"]
EDGES = [(cause, effect) for cause in ("sex", "age") for effect in FOUR[1:3]]
EVERYONE, FEW = {"versus": "everyone"}, {"limits": Limits(tests=2000)}
DETECTORS = {  # name: settings, columns (None: all), whether a model is asked
    "GroupDisparity": ({}, None, False),
    "VeriFair": ({}, None, True),
    "ProxyDisparity, the proxy native-country": ({"place": "native-country"}, None, False),
    "RankingDisparity": ({}, None, True),
    "OaxacaBlinder": ({}, None, False),
    "EffectDecomposition": ({}, None, False),
    "OutcomeTest": ({}, None, False),
    "ThresholdTest, workclass": ({"place": "workclass"}, None, False),
    "RiskAdjustedRegression": ({}, None, False),
    "DisparityMonitor": ({}, None, False),
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
    "GerrymanderingAudit": ({}, None, False),
    "MultiaccuracyAudit": ({}, None, True),
    "MulticalibrationAudit": ({}, None, True),
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
    "ADF": (FEW, None, True),
    "EIDIG": (FEW, None, True),
    "ExactTree, 3 numbers and sex": ({}, FOUR, True),
    "Audit, sex": ({}, None, False),
    "Audit": ({}, None, False),
}
AIMS = {  # seconds and gigabytes; None: no aim
    ("GroupDisparity", 1000): (0.02, None),
    ("DivExplorer", 1000): (0.02, None),
    ("SituationTesting", 1000): (0.3, None),
    ("DisparityPursuit", 10**5): (12, 0.6),
    ("DisparityPursuit", 10**6): (120, 4),
    ("FACTS", 10**6): (60, None),
    ("BiasScan", 10**6): (120, None),
    ("Audit, sex", 48_842): (8, None),
    ("Audit, sex", 10**5): (25, None),
    ("Audit, sex", 10**6): (120, 4),
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
    X = X if columns is None else X[columns]
    is_one = name in ONE or line in ONE
    protected = [c for c in ("sex", "race") if c in X and (c == "sex" or not is_one)]
    if name == "CounterfactualFairness":
        settings = {"counterfactuals": StructuralCausalModel(EDGES)}
    about = {"protected": protected, "random_state": 0, "pos_label": 1}
    if name == "Audit":
        return Audit(**about).fit(X, y)
    model = Rule() if asks else BlackBox(decisions=decisions)
    if name == "ExactTree":
        X = X.assign(sex=(X["sex"] == "Male").astype(int))
        model = DecisionTreeClassifier(max_leaf_nodes=50, random_state=0).fit(X, y)
    room = next(r for r in (group, individual, subgroup, monitoring) if name in r.__all__)
    return getattr(room, name)(**about, **settings).fit(X, y, model)


def measured(line, table, limit):
    """Fit in a forked child; return its CPU seconds, its peak memory in GB, and what went wrong."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        try:
            for _ in range(2 if len(table[0]) <= 10**4 else 1):
                start = process_time()
                fit(line, *table)
                seconds = process_time() - start
            os.write(into, repr(seconds).encode())
        except BaseException as error:  # the child must not go on as a second parent
            print(repr(error), flush=True)
            os._exit(1)
        os._exit(0)
    os.close(into)
    _, status, used = os.wait4(child, 0)
    with os.fdopen(out) as answer:
        seconds = float(answer.read() or used.ru_utime + used.ru_stime)
    wrong = "" if status == 0 else "failed" if os.WIFEXITED(status) else "stopped"
    return seconds, used.ru_maxrss / 2**20, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="?", default=os.environ.get("SKDISC_DATA", "data"))
    sizes = ["1000x14", "adult", "10000x30", "100000x30", "1000000x30"]
    parser.add_argument("--sizes", nargs="+", default=sizes)
    parser.add_argument("--limit", type=int, default=900, help="CPU seconds of each fit")
    parser.add_argument("--only", nargs="+", default=[""], help="beginnings of names of lines")
    options = parser.parse_args()
    failed, cells = [], {}
    for size in options.sizes:
        table = made(Path(options.data), *(map(int, size.split("x")) if size != "adult" else ()))
        n_rows, n_columns = table[0].shape
        lines = ("FeatureSpace, learn and encode", *DETECTORS)
        for line in lines if size != "adult" else ["Audit, sex", "Audit"]:
            if not line.startswith(tuple(options.only)):
                continue
            seconds, gigabytes, wrong = measured(line, table, options.limit)
            failed += [line] * (wrong == "failed")
            cells[line, size] = f"{wrong} {seconds:.3g} / {gigabytes:.2f}".strip()
            print(f"{line}, {size}: {cells[line, size]}", flush=True)
            if (line, n_rows) in AIMS and not wrong:
                alone(f"{line}, {n_rows:,} x {n_columns}", seconds, gigabytes, AIMS[line, n_rows])
    print(f"\n| CPU seconds / GB | {' | '.join(options.sizes)} |")
    print("|" + "---|" * (1 + len(options.sizes)))
    for line in dict.fromkeys(line for line, _ in cells):
        print(f"| {line} | {' | '.join(cells.get((line, size), '') for size in options.sizes)} |")
    return ", ".join(failed) or None


if __name__ == "__main__":
    sys.exit(main())
