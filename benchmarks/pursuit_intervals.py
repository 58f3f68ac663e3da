"""DisparityPursuit: do its intervals contain effects that are known, and are effects too small?

    python benchmarks/pursuit_intervals.py [--runs 500] [--people 2000] [--nuisance auto]

draws people of six worlds in which women are treated worse, fits, and audits as many new people.
For each world it prints how often women were found, and, of the effect at equal columns and of the
change for women (the effect on the treated), the truth, the mean estimate, and the share of
intervals of .95 that contain the truth. The last world confounds by an interaction, which main
effects cannot see: with ``--nuisance additive`` its effect is too small.
"""

import argparse

import numpy as np
import pandas as pd
from scipy.special import expit

from skdisc.subgroup import DisparityPursuit

LIMITS = {"effect": "ci", "change": "change"}  # of each column, the stem of the names of its limits


def three_towns(rng, n):
    """A column of three values that both go with."""
    town = rng.integers(0, 3, n)
    return {"town": town}, 0.3 + 0.15 * town, 0.45 + 0.1 * town, np.full(n, -0.1)


def sixty_towns(rng, n):
    """A column of 60 values with rates of any kind, which the share of women follows."""
    town = rng.integers(0, 60, n)
    rate = np.random.default_rng(60).uniform(0.2, 0.8, 60)[town]
    return {"town": town}, 0.25 + 0.5 * rate, rate, np.full(n, -0.1)


def smooth(rng, n):
    """Numbers that both depend on smoothly."""
    x, z = rng.normal(size=(2, n))
    share, rate = expit(x + z / 2), 0.15 + 0.7 * expit(x - z / 2)
    return {"x": x, "z": z}, share, rate, np.full(n, -0.1)


def smaller_for_some(rng, n):
    """A third of the favorable outcomes is taken away: more where there are many."""
    town = rng.integers(0, 3, n)
    rate = 0.15 + 0.15 * town
    return {"town": town}, 0.25 + 0.2 * town, rate, -rate / 3


def clear(rng, n):
    """Numbers that both depend on, and twice the effect."""
    columns, share, rate, effect = smooth(rng, n)
    return columns, share, np.clip(rate + 0.1, 0, 1), 2 * effect


def interaction(rng, n):
    """An interaction of two columns that both depend on, without main effects."""
    town, work = rng.integers(0, 2, (2, n))
    same = (town == work).astype(float)
    return {"town": town, "work": work}, 0.35 + 0.3 * same, 0.4 + 0.2 * same, np.full(n, -0.1)


WORLDS = (three_towns, sixty_towns, smooth, smaller_for_some, clear, interaction)


def drawn(world, rng, n):
    """Return people, outcomes, and the true effects on them: at equal columns, and on women."""
    columns, share, rate, effect = world(rng, n)
    woman = rng.random(n) < share
    rate = rate + np.where(woman, effect, 0)
    outcome = (rng.random(n) < rate).astype(int)
    table = {"sex": np.where(woman, "F", "M")}
    for name, values in columns.items():
        table[name] = values if values.dtype.kind == "f" else np.char.add("v", values.astype(str))
    spread = share * (1 - share)
    truth = {
        "effect": np.average(effect, weights=spread),
        "change": np.average(effect, weights=share),
    }
    return pd.DataFrame(table), outcome, truth


def measured(world, seed, n, nuisance):
    """Return estimates and limits on new people, or None where women were not found."""
    rng = np.random.default_rng(seed)
    X, y, _ = drawn(world, rng, n)
    detector = DisparityPursuit(protected="sex", nuisance=nuisance, random_state=0).fit(X, y)
    X, y, _ = drawn(world, rng, n)
    found = detector.audit(X, y).to_frame()
    found = found[found["subject"].str.contains("sex") & ~found["subject"].str.contains(" and ")]
    return None if found.empty else found.iloc[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--people", type=int, default=2000)
    parser.add_argument("--nuisance", default="boosting", choices=["additive", "boosting"])
    given = parser.parse_args()
    for world in WORLDS:
        truth = drawn(world, np.random.default_rng(2**20), 1_000_000)[2]
        rows = [measured(world, s, given.people, given.nuisance) for s in range(given.runs)]
        rows = pd.DataFrame([row for row in rows if row is not None])
        print(f"{world.__name__}, n = {given.people}, {given.nuisance}", end=": ")
        print(f"found {len(rows)} of {given.runs}")
        for kind, stem in LIMITS.items():
            low, high = rows[f"{stem}_low"].astype(float), rows[f"{stem}_high"].astype(float)
            inside = ((low <= truth[kind]) & (truth[kind] <= high)).mean()
            mean = rows[kind].astype(float).mean()
            print(f"  {kind} {truth[kind]:.4f}: mean {mean:.4f}, {inside:.3f} covered", flush=True)


if __name__ == "__main__":
    main()
