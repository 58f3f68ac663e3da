"""Is an interaction of legitimate columns taken for discrimination?

    python benchmarks/interactions.py [--detector NAME] [--runs 200] [--people 1500]

draws people whose outcomes depend on whether two legitimate columns agree, more or less, and not on
sex or race. In half of the worlds, women live where the columns agree. It prints of how many data
sets a disparity was found (``nuisance="boosting"``), and how many the level of .05 allows.
"""

import argparse

import numpy as np
import pandas as pd

from skdisc.group import EffectDecomposition
from skdisc.subgroup import DisparityPursuit, MultiaccuracyAudit

DETECTORS = {d.__name__: d for d in (DisparityPursuit, EffectDecomposition, MultiaccuracyAudit)}
STRENGTHS = (0.05, 0.1, 0.2, 0.3)


def drawn(rng, n, strength, goes_with_sex):
    """Return people and outcomes; the columns agree for a half."""
    town, work = rng.choice(["u", "v"], n), rng.choice(["u", "v"], n)
    agree = 2 * (town == work) - 1
    woman = rng.random(n) < 0.5 + (0.3 * agree if goes_with_sex else 0)
    table = {"sex": np.where(woman, "F", "M"), "race": rng.choice(["a", "b", "c"], n)}
    table |= {"town": town, "work": work, "points": rng.normal(size=n).round(2)}
    return pd.DataFrame(table), (rng.random(n) < 0.5 + strength * agree).astype(int)


def is_found(kind, seed, n, strength, goes_with_sex):
    """Return whether a detector finds a disparity."""
    X, y = drawn(np.random.default_rng(seed), n, strength, goes_with_sex)
    result = kind(protected=["sex", "race"], random_state=seed).fit(X, y).result_
    return result.verdict == "disparity found"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--detector", choices=DETECTORS, default="DisparityPursuit")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--people", type=int, default=1500)
    given = parser.parse_args()
    kind = DETECTORS[given.detector]
    most = 0.05 + 2 * np.sqrt(0.05 * 0.95 / given.runs)
    print(f"allowed: {most * given.runs:.1f} of {given.runs}")
    for goes_with_sex in (True, False):
        for strength in STRENGTHS:
            world = strength, goes_with_sex
            found = sum(is_found(kind, seed, given.people, *world) for seed in range(given.runs))
            where = "where women live" if goes_with_sex else "elsewhere"
            print(f"interaction of {strength}, {where}: found in {found}", flush=True)


if __name__ == "__main__":
    main()
