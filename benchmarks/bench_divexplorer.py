"""Is DivExplorer faster than the released divexplorer package, with the same patterns?

On Adult (45,222 rows without '?'), at supports of 0.05 and 0.01, without a limit on the length of
patterns, beside the package's ``get_pattern_divergence``: with NumPy and with the extra ``speed``
(numba), for the false positive rate alone and for all twelve rates at once.

Both get the same frame of binned columns and the same decisions, those of a random forest on rows
it was not trained on, and compare each group with everyone. Ours is the whole `fit`: checking the
input, learning the space, mining, intervals, two kinds of tests and the correction for the number
of tests. Theirs is the mining with divergence and t. Before anything is timed, both must give the
same patterns, counts, divergences and t, for every rate. Times are seconds of CPU, since other work
may share the machine.

Run: python benchmarks/bench_divexplorer.py [DATA] [--repeats 5]   (needs skdisc[bench])
"""

import argparse
import os
import statistics
from itertools import product
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
from compared import compared
from divexplorer import DivergenceExplorer
from sklearn.model_selection import cross_val_predict

from skdisc import BlackBox
from skdisc._blackbox._default_models import default_model
from skdisc._stats._rates import N_CELLS, RATES
from skdisc.subgroup import DivExplorer
from skdisc.subgroup._lattice import _kernels

AIMS = {("NumPy", 1): 20, ("numba", 1): 50, ("NumPy", 12): 15, ("numba", 12): 30}  # by rates
ADULT_BINS = {
    "age": [0, 28, 37, 47, 200],
    "capital-gain": [-1, 0, 10**6],
    "capital-loss": [-1, 0, 10**6],
    "hours-per-week": [0, 39, 40, 45, 200],
}


def adult(folder, n_rows=None):
    """Return Adult in categories, its labels (1: above 50K), and a forest's decisions."""
    table = pd.read_csv(folder / "adult.csv.gz").drop(columns=["split", "fnlwgt", "education-num"])
    table = table[~(table == "?").any(axis=1)][:n_rows].reset_index(drop=True)
    y = (table.pop("income") == ">50K").astype(int)
    decisions = cross_val_predict(default_model("forest", random_state=0), table, y, cv=3)
    for name, edges in ADULT_BINS.items():
        table[name] = pd.cut(table[name], edges).astype(str)
    return table, y, decisions


def ours(X, y, decisions, metrics, support, k=10):
    detector = DivExplorer(
        metric=metrics,
        min_support=support,
        max_predicates=None,
        must_include=None,
        pos_label=1,
        k=k,
        versus="everyone",
        distinct=False,
    )
    return detector.fit(X, y, BlackBox(decisions=decisions)).result_


def theirs(X, y, decisions, metrics, support):
    outcome = np.full((len(metrics), N_CELLS), np.nan)  # of each kind of row: 1, 0, or neither
    for values, (yes, no) in zip(outcome, (RATES[m] for m in metrics), strict=True):
        values[list(yes)], values[list(no)] = 1.0, 0.0
    outcomes = dict(zip(metrics, outcome[:, 2 * y.to_numpy() + decisions], strict=True))
    explorer = DivergenceExplorer(X.assign(**outcomes))
    return explorer.get_pattern_divergence(min_support=support, boolean_outcomes=metrics)


def check_equal(mine, peer, metrics, n_rows):
    """Refuse to go on unless both hold the same patterns with the same numbers."""
    names = [
        frozenset(f"{p.column}={p.values[0]}" for p in group.predicates)
        for group in mine.findings.subgroups
    ]
    table = mine.findings.table.assign(itemset=names).set_index("itemset")
    peer = peer[peer["length"] > 0].set_index("itemset")
    for metric in metrics:
        own, other = table[table["measure"] == metric], peer[~peer[metric].isna()]
        assert set(own.index) == set(other.index), "different patterns"  # those with a rate
        other = other.loc[own.index]
        assert np.array_equal(own["support"], np.rint(other["support"] * n_rows))
        np.testing.assert_allclose(own["effect"], other[f"{metric}_div"].astype(float), atol=1e-12)
        np.testing.assert_allclose(own["t"], other[f"{metric}_t"].astype(float), atol=1e-9)
    return len(peer)


def seconds(function, *args):
    start = process_time()
    function(*args)
    return process_time() - start


def with_kernels(kernels, *rows):
    """Return the time of one fit with these kernels, or with NumPy's where they are None."""
    own, _kernels.compiled = _kernels.compiled, lambda: kernels
    try:
        return seconds(ours, *rows)
    finally:
        _kernels.compiled = own


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    parser.add_argument("data", nargs="?", default=os.environ.get("SKDISC_DATA", beside))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--rows", type=int, help="use the first rows only; default: all")
    parser.add_argument("--supports", type=float, nargs="+", default=[0.05, 0.01])
    parser.add_argument("--dtype", choices=("category", "str"), default="category")
    options = parser.parse_args()
    X, y, decisions = adult(Path(options.data), options.rows)
    X = X.astype(options.dtype)
    print(f"Adult: {len(X):,} rows, {X.shape[1]} columns as {options.dtype}")
    kernels = {"NumPy": None, "numba": _kernels.compiled()}
    _kernels._WORTH = 0  # loaded already
    if kernels["numba"] is None:
        del kernels["numba"]
        print("numba is not installed")
    for support, metrics in product(options.supports, (["false_positive_rate"], list(RATES))):
        rows = X, y, decisions, metrics, support
        # All groups of twelve rates at once, 630,000 with their numbers, would take 20 GB.
        for several in [metrics] if support >= 0.05 else [[m] for m in metrics]:
            asked = X, y, decisions, several, support
            n = check_equal(ours(*asked, k=10**9), theirs(*asked), several, len(X))
        runs = []
        for _ in range(options.repeats):  # in turns, so that all meet the same load
            own = [with_kernels(k, *rows) for k in kernels.values()]
            runs.append((seconds(theirs, *rows), *own))
        peer, *own = map(statistics.median, zip(*runs, strict=True))
        print(f"support {support}, {len(metrics)} rates: {n:,} equal patterns")
        for name, time in zip(kernels, own, strict=True):
            what = f"Adult, support {support}, {len(metrics)} rates, {name}"
            compared(f"DivExplorer, {what}; divexplorer", peer, time, AIMS[name, len(metrics)])


if __name__ == "__main__":
    main()
