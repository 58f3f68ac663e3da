"""Trees that draw the columns of each split: what they learn of interactions, and how they err.

    python benchmarks/interacting_columns.py [--runs 5]

learns chances of worlds that are known, out of fold, with the trees that detectors learn, and with
the same trees that may use all columns at each split. It prints the mean squared error about the
chances, and the share of their pattern that is learned (the slope of predictions on chances).
"""

import argparse

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from skdisc._blackbox._training import SMALL_TREES
from skdisc._expectations._out_of_fold import LARGE_TREES

SIZES = {1500: {}, 20_000: LARGE_TREES}
FOLDS = 5


def worlds(rng, n):
    """Yield names, columns, how many of them are categories, and chances."""
    town, work = rng.integers(0, 2, (2, n))
    points, x, other = rng.normal(size=n).round(2), rng.normal(size=(n, 4)), rng.integers(0, 3, n)
    agree, table = 2 * (town == work) - 1, np.c_[town, work, points]
    yield "two columns agree, strength .1", table, 2, 0.5 + 0.1 * agree
    yield "two columns agree, strength .2", table, 2, 0.5 + 0.2 * agree
    a, b = rng.integers(0, 5, (2, n))
    effect = np.random.default_rng(1).normal(size=(5, 5))
    effect = effect - effect.mean(axis=0) - effect.mean(axis=1)[:, None] + effect.mean()
    yield "an interaction of five by five", np.c_[a, b, x], 2, 0.5 + 0.12 * effect[a, b]
    yield "smooth", x, 0, 0.5 + 0.35 * np.tanh(x[:, 0] + 0.5 * x[:, 1] * x[:, 2])
    yield "a main effect", x, 0, 0.5 + 0.3 * np.tanh(x[:, 0])
    jump = np.where(other == 0, np.where(points > 0, 0.9, 0.3), 0.5)
    yield "points count in one town", np.c_[other, points], 1, jump
    yield "nothing", x, 0, np.full(n, 0.5)


def errors(X, n_categories, chance, settings, rng):
    """Return the mean squared error about the chances, and the share of the pattern learned."""
    y, fold = (rng.random(len(X)) < chance).astype(float), rng.integers(0, FOLDS, len(X))
    is_category = [j < n_categories for j in range(X.shape[1])]
    found = np.zeros(len(X))
    for k in range(FOLDS):
        trees = HistGradientBoostingRegressor(**settings, categorical_features=is_category)
        found[fold == k] = trees.fit(X[fold != k], y[fold != k]).predict(X[fold == k])
    away = chance - chance.mean()
    slope = (away @ found) / (away @ away) if away.any() else np.nan
    return np.mean((found - chance) ** 2), slope


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    for n, size in SIZES.items():
        learners = SMALL_TREES | size, SMALL_TREES | size | {"max_features": 1.0}
        found = {}
        for seed in range(runs):
            for name, *given in worlds(np.random.default_rng(seed), n):
                own = [errors(*given, s, np.random.default_rng(seed)) for s in learners]
                found[name] = found.get(name, 0) + np.array(own) / runs
        for name, ((drawn, part), (all_of, part_of_all)) in found.items():
            print(
                f"n = {n}, {name}: mean squared error {drawn:.5f}, of all columns {all_of:.5f}, "
                f"ratio {drawn / all_of:.2f}; learned {part:.2f}, of all columns {part_of_all:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
