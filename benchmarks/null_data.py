"""Do the detectors keep their level where there is nothing to find?

Claim: on people whose decisions have nothing to do with anything, the share of audits with any
finding after correction is at most the level, 0.05, plus two standard errors, for every detector of
groups and subgroups. Detectors that ask a model are given one that looks at columns which are
independent of the protected ones.

Run: python benchmarks/null_data.py [--seeds 200] [--rows 500] [DETECTOR ...]
"""

import argparse
import inspect
import warnings
from math import sqrt
from time import process_time

import numpy as np
import pandas as pd

from skdisc import all_detectors
from skdisc.exceptions import SkdiscWarning

LEVEL = 0.05


def null_people(seed, n=500):
    """Draw people of independent columns, and decisions that are the toss of a coin."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], n),
            "race": rng.choice(list("abc"), n, p=[0.6, 0.3, 0.1]),
            "town": rng.choice(list("uvw"), n),
            "points": rng.normal(size=n).round(1),
        }
    )
    return X, rng.integers(0, 2, n)


def fair_model(X):
    """Decide by columns that are independent of the protected ones."""
    return np.where((X["points"] > 0) ^ (X["town"] == "u"), 1, 0)


def share_found(detector, seeds, n=500, **settings):
    """Return the share of seeds for which a detector finds anything in null data."""
    known = inspect.signature(detector).parameters
    own = {"protected": ["sex", "race"], "significance": LEVEL, **settings}
    own = {name: value for name, value in own.items() if name in known}
    found = 0
    for seed in seeds:
        X, y = null_people(seed, n)
        model = fair_model if detector._asks else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SkdiscWarning)
            found += detector(random_state=seed, **own).fit(X, y, model).result_.n_found > 0
    return found / len(seeds)


def most(n_seeds, n_errors=2):
    """Return the level plus some standard errors."""
    return LEVEL + n_errors * sqrt(LEVEL * (1 - LEVEL) / n_seeds)


def detectors():
    """Return the detectors of groups and subgroups by name."""
    return {n: d for n, d in all_detectors().items() if d.card.finds in ("group", "subgroup")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="DETECTOR", help="default: all")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--rows", type=int, default=500)
    options = parser.parse_args()
    limit = most(options.seeds)
    print(f"{options.seeds} seeds, {options.rows} rows; at most {limit:.3f}")
    for name, detector in detectors().items():
        if options.names and name not in options.names:
            continue
        start = process_time()
        share = share_found(detector, range(options.seeds), options.rows)
        seconds = (process_time() - start) / options.seeds
        verdict = "met" if share <= limit else "missed"
        print(f"{name:24} {share:.3f}  {verdict:6}  {seconds:.3f} s each", flush=True)


if __name__ == "__main__":
    main()
