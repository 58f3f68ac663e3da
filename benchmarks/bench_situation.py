"""Speed of situation testing: the loan data at all k at once, and a million people.

The loan data are the authors' (``cst/LoanApplication_v2.csv.gz`` in the folder of SKDISC_DATA),
for which their code takes 26.4 s at k = 15. CPU seconds are printed beside wall seconds, for other
work on the machine lengthens both.

Run: python benchmarks/bench_situation.py [--rows 1000000] [--repeats 5] [--jobs 1]
"""

import argparse
import os
import resource
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pandas as pd
from compared import alone, compared

from skdisc.causal import StructuralCausalModel
from skdisc.individual import CounterfactualSituationTesting, SituationTesting


def best(function, repeats):
    """Return the least wall and CPU seconds of several runs."""
    times = []
    for _ in range(repeats):
        wall, cpu = perf_counter(), process_time()
        function()
        times.append((perf_counter() - wall, process_time() - cpu))
    return [min(t) for t in zip(*times, strict=True)]


def loans(repeats, jobs):
    folder = Path(os.environ.get("SKDISC_DATA", "."))
    data = pd.read_csv(folder / "cst" / "LoanApplication_v2.csv.gz")
    X = data[["AnnualSalary", "AccountBalance", "Gender"]]
    detector = SituationTesting(
        protected="Gender", n_neighbors=[15, 30, 50, 100], pos_label=1, n_jobs=jobs
    )
    _, cpu = best(lambda: detector.fit(X, data["LoanApproval"]), repeats)
    what = "SituationTesting, loans, k = 15, 30, 50, 100; the authors' code for k = 15 (26.4 s)"
    compared(what, 26.4, cpu, 26.4 / 0.11)


def many(n, seed=0):
    """Return people with three numbers and one category, some of which follow from sex."""
    rng = np.random.default_rng(seed)
    sex = np.where(rng.random(n) < 0.3, "F", "M")
    less = (sex == "F") * 0.5
    X = pd.DataFrame({"sex": sex, "a": rng.normal(0, 1, n) - less, "b": rng.normal(0, 1, n)})
    X["c"] = 0.5 * X["a"] + rng.normal(0, 1, n)
    X["own_home"] = rng.choice(["yes", "no"], n)
    return X, (X["a"] + X["c"] + rng.normal(0, 0.5, n) > 0).astype(int)


def million(n, jobs):
    X, y = many(n)
    scm = StructuralCausalModel([("sex", "a"), ("a", "c"), "b", "own_home"])
    settings = {"protected": "sex", "group": "F", "n_neighbors": 30, "pos_label": 1, "n_jobs": jobs}
    wall, cpu = perf_counter(), process_time()
    plain = SituationTesting(**settings).fit(X, y).result_
    between = perf_counter() - wall
    causal = CounterfactualSituationTesting(counterfactuals=scm, **settings).fit(X, y).result_
    wall, cpu = perf_counter() - wall, process_time() - cpu
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(f"{wall:.1f} s, of which SituationTesting {between:.1f} s")
    what = f"SituationTesting and CounterfactualSituationTesting, {n:,} people, k = 30"
    alone(what, cpu, memory, (40, 2))
    print(f"{plain.n_found:,} and {causal.n_found:,} of {plain.n_tested:,} people have a case")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    loans(args.repeats, args.jobs)
    million(args.rows, args.jobs)


if __name__ == "__main__":
    main()
