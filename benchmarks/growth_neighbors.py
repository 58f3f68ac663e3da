"""How do situation tests and FACTS grow with the table?

Claims: `SituationTesting` of Adult whole (48,842 rows, 14 columns, defaults, sex protected) takes
at most 30 s of CPU, with the neighbors of brute force; `FACTS` with all columns at 10^6 rows and
30 columns takes at most 4 GB, and queries each distinct row once.

The table is Adult bootstrapped, 14 columns, and columns of noise: 3 of 4 categorical with 3 to 7
values, 1 of 4 integers of 1,000 values. Decisions are given, but for FACTS, whose model is a rule
that costs about as much as a small tree. Each line is a process of its own: seconds of CPU of
`fit`, and the peak of the memory of the process, the table included.

Run: python benchmarks/growth_neighbors.py [--rows 10000 100000 1000000] [--brute]
"""

import argparse
import multiprocessing
import resource
from time import process_time

import numpy as np
import pandas as pd

from skdisc._neighbors import _nearest
from skdisc.datasets import fetch_adult
from skdisc.individual import CounterfactualSituationTesting, SituationTesting
from skdisc.subgroup import FACTS

SECONDS, GIGABYTES = 30, 4


def table(n, n_columns=30, seed=0):
    """Return n rows of Adult with columns of noise, and decisions."""
    data, rng = fetch_adult(), np.random.default_rng(seed)
    rows, more = rng.integers(0, len(data.data), n), {}
    for j in range(n_columns - data.data.shape[1]):
        if j % 4 == 3:
            more[f"noise {j}"] = rng.integers(0, 1000, n)
        else:
            values = list("abcdefg"[: 3 + j % 5])
            codes = rng.integers(0, len(values), n)
            more[f"noise {j}"] = pd.Categorical.from_codes(codes, values)
    X = data.data.iloc[rows].reset_index(drop=True)
    return pd.concat([X, pd.DataFrame(more)], axis=1), np.asarray(data.target == data.favorable)[
        rows
    ]


class Rule:
    """A model that counts the rows it is queried about."""

    n_asked = 0

    def __call__(self, X):
        self.n_asked += len(X)
        score = X["education-num"].to_numpy() + X["hours-per-week"].to_numpy() / 10
        score = score + 2 * (X["age"].to_numpy() > 35) + 9 * (X["capital-gain"].to_numpy() > 5000)
        return (score + 3 * (X["marital-status"] == "Married-civ-spouse").to_numpy() > 17) * 1


def situation(X, y, kind=SituationTesting, **settings):
    result = kind(protected="sex", **settings).fit(X, y).result_
    (gap,) = result.tables["gaps"]["gap"]
    return f"{result.n_samples:,} rows compared, mean gap {gap:.4f}"


def recourse(X, y):
    model = Rule()
    detector = FACTS(protected="sex", min_support=0.1, random_state=0).fit(X, model=model)
    pairs = detector.recourse_["sex"].mining["valid pairs"]
    return f"{pairs:,} pairs, {model.n_asked:,} rows queried"


def whole(X, y, algorithm=None):
    """Run the situation test of Adult, with another algorithm if one is given."""
    if algorithm is not None:
        _nearest.NearestSearch._choose = lambda self, nominal: algorithm
    return situation(X, y, max_rows=None)


TASKS = {
    "SituationTesting": situation,
    "CounterfactualSituationTesting": lambda X, y: situation(X, y, CounterfactualSituationTesting),
    "FACTS .1, all columns": recourse,
    "Adult": whole,
    "Adult, brute force": lambda X, y: whole(X, y, "brute"),
}


def measured(task, n, results):
    """Run a task in this process, and send seconds, gigabytes and what it found."""
    if n is None:
        data = fetch_adult()
        X, y = data.data, data.target == data.favorable
    else:
        X, y = table(n)
    start = process_time()
    said = TASKS[task](X, y)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    results.put((process_time() - start, peak, said))


def run(task, n):
    """Print one line, and return seconds and gigabytes."""
    context = multiprocessing.get_context("spawn")
    results = context.SimpleQueue()
    child = context.Process(target=measured, args=(task, n, results))
    child.start()
    child.join()
    if child.exitcode:
        raise SystemExit(f"{task} with {n} rows ended with {child.exitcode}")
    seconds, peak, said = results.get()
    size = "14 columns" if n is None else f"{n:,} x 30"
    print(f"{task:32s}{size:>16s}{seconds:9.1f} s CPU{peak:7.2f} GB  {said}", flush=True)
    return seconds, peak


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--brute", action="store_true", help="run brute force on Adult (15 min)")
    options = parser.parse_args()
    seconds, _ = run("Adult", None)
    print(f"target {SECONDS} s: {'met' if seconds <= SECONDS else 'missed'}")
    if options.brute:
        run("Adult, brute force", None)
    for task in list(TASKS)[:3]:
        peaks = [run(task, n)[1] for n in options.rows]
    print(f"target {GIGABYTES} GB: {'met' if max(peaks, default=0) <= GIGABYTES else 'missed'}")


if __name__ == "__main__":
    main()
