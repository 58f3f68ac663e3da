"""How detectors that need rows grow with their number: CPU seconds and peak memory.

The table is Adult (``adult`` of the data folder) drawn with replacement, its 14 columns and 16 of
noise: three of four nominal with 3 to 7 values, one of four of 1,000 integers. Each detector runs
in a process of its own with its default settings; reading the table is not counted in seconds, but
its memory is. `CounterfactualFairness` has four columns and a causal model that is fitted here.

Run: python benchmarks/bench_rows.py [--rows 10000 100000 1000000] [--detectors FlipTest LIMI ...]
"""

import argparse
import multiprocessing
import resource
from time import process_time

import numpy as np
import pandas as pd

from skdisc.causal import StructuralCausalModel
from skdisc.datasets import fetch_adult
from skdisc.individual import LIMI, CounterfactualFairness, FlipTest

WIDTH, FEWEST, KINDS = 30, 3, 5
EDGES = [
    ("sex", "education-num"),
    ("age", "education-num"),
    ("sex", "hours-per-week"),
    ("age", "hours-per-week"),
    ("education-num", "hours-per-week"),
]


def table(n, seed=0):
    """Return n rows of 30 columns, and whether income exceeds 50,000."""
    rng = np.random.default_rng(seed)
    adult = fetch_adult()
    at = rng.integers(len(adult.data), size=n)
    X = adult.data.iloc[at, :14].reset_index(drop=True)
    for name in X.select_dtypes(exclude="number"):
        X[name] = X[name].astype(object).fillna("?").astype("category")
    for j in range(X.shape[1], WIDTH):
        size = FEWEST + j % KINDS
        names = [f"v{i}" for i in range(size)]
        nominal = pd.Categorical.from_codes(rng.integers(size, size=n), names)
        X[f"noise{j}"] = nominal if j % 4 else rng.integers(1000, size=n)
    return X, (np.asarray(adult.target)[at] == adult.target.max()).astype(int)


class Lender:
    """A cheap model that uses sex."""

    classes_ = np.array([0, 1])

    def predict_proba(self, X):
        points = X["education-num"] - 12 + 0.05 * (X["age"] - 40)
        points = points.to_numpy(dtype=float) + 0.8 * (X["sex"].astype(str) == "Male").to_numpy()
        share = 1 / (1 + np.exp(-points))
        return np.column_stack([1 - share, share])

    def predict(self, X):
        return (self.predict_proba(X)[:, 1] > 0.5).astype(int)


def flip_test(X, y):
    return FlipTest(protected=["sex", "race"], random_state=0, pos_label=1).fit(X, y)


def limi(X, y):
    return LIMI(protected="sex", max_tests=2000, random_state=0).fit(X, y, Lender())


def counterfactual_fairness(X, y):
    X = X[["age", "education-num", "hours-per-week", "sex"]].copy()
    scm = StructuralCausalModel(EDGES)
    detector = CounterfactualFairness(protected="sex", counterfactuals=scm, random_state=0)
    return detector.fit(X, y, Lender())


DETECTORS = {
    "FlipTest": flip_test,
    "LIMI": limi,
    "CounterfactualFairness": counterfactual_fairness,
}


def measured(name, n, answer):
    """Send CPU seconds and peak gigabytes of one detector."""
    X, y = table(n)
    start = process_time()
    DETECTORS[name](X, y)
    seconds = process_time() - start
    answer.send((seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20))


def in_a_process(name, n):
    """Return what `measured` sends from a fresh process."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=measured, args=(name, n, there))
    child.start()
    there.close()
    found = here.recv()
    child.join()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", nargs="+", type=int, default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--detectors", nargs="+", default=list(DETECTORS), choices=list(DETECTORS))
    given = parser.parse_args()
    print("| detector |", " | ".join(f"{n:,}" for n in given.rows), "|")
    print("|---" * (1 + len(given.rows)) + "|")
    for name in given.detectors:
        found = [in_a_process(name, n) for n in given.rows]
        cells = " | ".join(f"{seconds:.1f} / {peak:.2f}" for seconds, peak in found)
        print(f"| {name} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
