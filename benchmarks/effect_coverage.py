"""EffectDecomposition: how often its intervals contain effects that are known.

    python benchmarks/effect_coverage.py [--runs 500] [--people 2000] [--learner linear]

draws people of four worlds, fits, and prints of the gap and each effect the truth, the share of
intervals of .95 that contain it, and the share with a p-value below .05. The gap is a difference of
means of independent people: its share says how lucky the draws were.
"""

import argparse

import numpy as np
import pandas as pd
from scipy.special import expit

from skdisc.group import EffectDecomposition

PARTS = ["total", "direct", "indirect", "spurious"]


class Binary:
    """A confounder and a mediator of two values; rates are sums, with an interaction."""

    def confounder(self, rng, n):
        return (rng.random(n) < 0.4).astype(float)

    def share(self, z):
        return 0.3 + 0.3 * z

    def mediators(self, rng, x, z):
        return [(rng.random(len(z)) < 0.3 + 0.4 * x + 0.2 * z).astype(float)]

    def rate(self, x, z, w):
        return 0.2 + 0.1 * z + 0.3 * w[0] - 0.15 * x + 0.1 * x * w[0]


class Fair(Binary):
    """The same, where the group makes no difference to anything."""

    def share(self, z):
        return 0.4

    def mediators(self, rng, x, z):
        return super().mediators(rng, 0, z)

    def rate(self, x, z, w):
        return super().rate(0, z, w)


class Numbers:
    """Numbers, a logistic outcome, and an effect of the group that depends on a mediator."""

    def __init__(self, direct):
        self.direct = direct

    def confounder(self, rng, n):
        return rng.normal(size=n)

    def share(self, z):
        return expit(0.8 * z - 0.4)

    def mediators(self, rng, x, z):
        first = rng.normal(size=len(z)) + 0.6 * x + 0.4 * z
        return [first, (rng.random(len(z)) < expit(0.5 * z - 0.5 + 0.8 * x)).astype(float)]

    def rate(self, x, z, w):
        own = self.direct * x * (0.3 * w[0] - 0.5)
        return expit(0.5 * z - 0.5 + 0.6 * w[0] + 0.5 * w[1] + own)


def drawn(world, rng, n):
    """Return confounder, group and mediators of n people."""
    z = world.confounder(rng, n)
    x = (rng.random(n) < world.share(z)).astype(float)
    return z, x, world.mediators(rng, x, z)


def truth(world, n=2_000_000):
    """Return the gap and its parts, by people in two worlds."""
    rng = np.random.default_rng(2**20)
    z, x, w = drawn(world, rng, n)
    rest, one = x == 0, np.ones(n)
    group, reference = (world.rate(x, z, w)[x == value].mean() for value in (1, 0))
    changed = world.rate(one, z, w)[rest].mean()
    moved = world.rate(one, z, world.mediators(rng, one, z))[rest].mean()
    return np.array([group - reference, changed - reference, changed - moved, moved - group])


def fitted(world, seed, n, learner):
    """Return the effects of one data set."""
    rng = np.random.default_rng(seed)
    z, x, w = drawn(world, rng, n)
    y = (rng.random(n) < world.rate(x, z, w)).astype(int)
    X = pd.DataFrame({"sex": np.where(x == 1, "F", "M"), "z": z})
    for j, column in enumerate(w):
        X[f"w{j}"] = column
    detector = EffectDecomposition(
        protected="sex", confounders=["z"], reference="M", nuisance=learner, classifier=learner
    )
    table = detector.set_params(random_state=0).fit(X, y).result_.tables["effects"]
    return table[table["direction"] == "reference to group"].set_index("part").loc[PARTS]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--people", type=int, default=2000)
    parser.add_argument("--learner", default="linear", choices=["auto", "linear", "boosting"])
    given = parser.parse_args()
    worlds = {"binary": Binary(), "nothing differs": Fair()}
    worlds |= {"numbers": Numbers(True), "no direct effect": Numbers(False)}
    for name, world in worlds.items():
        true, inside, found = truth(world), np.zeros(4), np.zeros(4)
        for seed in range(given.runs):
            own = fitted(world, seed, given.people, given.learner)
            inside += (own["ci_low"] <= true) & (true <= own["ci_high"])
            found += own["p_value"] < 0.05
        print(f"{name}, n = {given.people}, {given.learner}, {given.runs} runs")
        for j, part in enumerate(PARTS):
            shares = inside.iloc[j] / given.runs, found.iloc[j] / given.runs
            print(f"  {part} {true[j]:.4f}: {shares[0]:.3f} covered, {shares[1]:.3f} found")


if __name__ == "__main__":
    main()
