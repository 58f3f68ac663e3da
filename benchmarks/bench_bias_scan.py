"""Is BiasScan faster than AIF360's scan, at an equal or higher score?

On Adult and COMPAS, with Bernoulli's score and the same penalty, at 10 and at 50 restarts, in each
direction. Both search locally, so that scores depend on the seed, which is fixed in theirs: ours
are the medians of five seeds, and must be at least as high.

Both get the same frame of binned columns, the same labels, and the same probabilities, those of a
logistic regression on the same columns. Ours is the whole `fit`, without the bootstrap, which
AIF360 does not have; the probabilities are looked up, not computed. Theirs is the function alone.
Its ``num_iters`` are our restarts. Times are of the process (CPU).

With --scale: 665,800 rows of ACS income, ours alone, with the peak of memory. With --null: how
often scans of data without bias find something.

Run: python benchmarks/bench_bias_scan.py [DATA] [--scale] [--null 200]   (needs aif360)
"""

import argparse
import os
import resource
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import numpy as np
import pandas as pd
from compared import compared
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from skdisc.subgroup import BiasScan

PENALTY, AIMS = 0.5, {10: 30, 50: 80}  # by restarts
ADULT_BINS = {
    "age": [0, 28, 37, 47, 200],
    "capital-gain": [-1, 0, 10**6],
    "capital-loss": [-1, 0, 10**6],
    "hours-per-week": [0, 39, 40, 45, 200],
}


class LookedUp:
    """Probabilities computed beforehand, in the order of the rows."""

    classes_ = np.array([0, 1])

    def __init__(self, p):
        self.p = p

    def predict_proba(self, X):
        p = self.p[X["row"]]
        return np.column_stack([1 - p, p])


def adult(folder):
    table = pd.read_csv(folder / "adult.csv.gz").drop(columns=["split", "fnlwgt", "education-num"])
    table = table[~(table == "?").any(axis=1)].reset_index(drop=True)
    y = (table.pop("income") == ">50K").astype(int)
    for name, edges in ADULT_BINS.items():
        table[name] = pd.cut(table[name], edges).astype(str)
    return table, y


def compas(folder):
    table = pd.read_csv(folder / "compas_discretized.csv.gz").astype(str)
    return table.drop(columns=["class", "predicted"]), table["class"].astype(int)


def fitted(X, y, columns=None):
    """Return probabilities of a model that sees some of the columns only."""
    columns = list(X.columns if columns is None else columns)
    encoder = OneHotEncoder(handle_unknown="ignore")
    model = make_pipeline(encoder, LogisticRegression(max_iter=500))
    return model.fit(X[columns], y).predict_proba(X[columns])[:, 1]


def ours(X, y, p, direction, n_restarts, seed=0):
    scan = BiasScan(
        features=list(X.columns),
        direction=direction,
        penalty=PENALTY,
        n_restarts=n_restarts,
        n_resamples=0,
        min_support=0,
        pos_label=1,
        k=1,
        random_state=seed,
    )
    result = scan.fit(X.assign(row=np.arange(len(X))), y, LookedUp(p)).result_
    return float(result.findings.table["score"][0])


def theirs(X, y, p, direction, n_restarts):
    from aif360.sklearn.detectors import bias_scan

    _, score = bias_scan(
        X,
        pd.Series(y),
        pd.Series(p),
        pos_label=1,
        overpredicted=direction == "lower",
        scoring="Bernoulli",
        num_iters=n_restarts,
        penalty=PENALTY,
        mode="binary",
    )
    return float(score)


def seconds(function, *args):
    start = process_time()
    value = function(*args)
    return process_time() - start, value


def compare(name, X, y, p, repeats, restarts):
    print(f"{name}: {len(X):,} rows, {X.shape[1]} columns, penalty {PENALTY}")
    for n_restarts in restarts:
        for direction in ("lower", "higher"):
            args = (X, y, p, direction, n_restarts)
            runs = [seconds(ours, *args, seed) for seed in range(5)]
            time, score = map(median, zip(*runs, strict=True))
            peer_time, peer = min(seconds(theirs, *args) for _ in range(repeats))
            assert score >= peer - 1e-3, f"ours finds {score}, theirs {peer}"
            what = f"BiasScan, {name}, {direction}, {n_restarts} restarts; AIF360"
            compared(what, peer_time, time, AIMS.get(n_restarts))


def scale(folder, n_resamples):
    """Time ours on the largest table."""
    table = pd.read_csv(folder / "acs_income.csv.gz").drop(columns="split")
    y = table.pop("PINCP")
    for model, what in ((None, "the mean"), (fitted(table, y, ["SCHL", "OCCP"]), "a model")):
        scan = BiasScan(
            features=list(table.columns), n_resamples=n_resamples, pos_label=1, random_state=0
        )
        X = table.assign(row=np.arange(len(table)))
        start, cpu = perf_counter(), process_time()
        result = scan.fit(X, y, None if model is None else LookedUp(model)).result_
        took = perf_counter() - start, process_time() - cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"ACS income: {len(X):,} rows against {what}, 10 restarts, both directions, "
            f"{n_resamples} null: {took[0]:.1f} s ({took[1]:.1f} s CPU), {peak:.1f} GB at most"
        )
        print(f"  first: {result[0].subject}")


def null(n_seeds, level=0.05):
    """Say how often a scan of data without bias finds something."""
    for model, what in ((None, "the mean"), (Constant(), "a model")):
        found = 0
        for seed in range(n_seeds):
            rng = np.random.default_rng(seed)
            X = pd.DataFrame({c: rng.choice(list("abcd"), 300) for c in "uv"})
            y = (rng.random(300) < 0.6).astype(int)
            scan = BiasScan(n_resamples=19, n_restarts=3, random_state=seed, pos_label=1)
            found += scan.fit(X, y, model).result_.n_found > 0
        most = level + 2 * np.sqrt(level * (1 - level) / n_seeds)
        verdict = "met" if found / n_seeds <= most else "missed"
        print(
            f"null data against {what}: {found} of {n_seeds} scans find something at level "
            f"{level}; at most {most:.3f}: {verdict}"
        )


class Constant:
    """A model that gives everyone the same probability."""

    classes_ = np.array([0, 1])

    def predict_proba(self, X):
        return np.tile([0.4, 0.6], (len(X), 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    parser.add_argument("data", nargs="?", default=os.environ.get("SKDISC_DATA", beside))
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--rows", type=int, help="use the first rows only; default: all")
    parser.add_argument("--restarts", type=int, nargs="+", default=[10, 50])
    parser.add_argument("--scale", action="store_true")
    parser.add_argument("--bootstrap", type=int, default=0)
    parser.add_argument("--null", type=int, default=0, metavar="SEEDS")
    options = parser.parse_args()
    if options.null:
        null(options.null)
        return
    folder = Path(options.data)
    if options.scale:
        scale(folder, options.bootstrap)
        return
    X, y = (part[: options.rows] for part in compas(folder))
    compare("COMPAS", X, y, fitted(X, y, ["#prior"]), options.repeats, options.restarts)
    X, y = (part[: options.rows] for part in adult(folder))
    compare("Adult", X, y, fitted(X, y), options.repeats, options.restarts)


if __name__ == "__main__":
    main()
