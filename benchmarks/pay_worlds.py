"""How often is an audit of pay wrong?

Claim: where pay has grades, a tenure that is not linear, part-time work, a long tail and a few
managers, and women are paid as men are, an audit of pay per hour says "disparity found" in at most
.05 of the data sets (+ 2 standard errors): of all questions where the women are as the men
("alike"), and at equal columns where they are in lower grades and shorter in their jobs ("apart").
Where women of one grade have a gap of exactly the one that matters, "no disparity found" at equal
columns is as rare ("limit").

Run: python benchmarks/pay_worlds.py [--seeds 20] [--first 0] [--out rows.csv]
     python benchmarks/pay_worlds.py --table rows.csv
"""

import argparse
import csv
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd

from skdisc import Audit

GRADES = np.array(["G1", "G2", "G3", "G4", "manager"])
SHARES = {"male": [0.25, 0.34, 0.25, 0.14, 0.02], "female": [0.40, 0.34, 0.17, 0.08, 0.01]}
LEVELS = np.array([16.0, 20.0, 26.0, 34.0, 60.0])
SPREADS = np.array([0.08, 0.08, 0.10, 0.12, 0.4])
SHARE = 0.05  # the gap that matters
CELLS = [
    *(("alike", n, "difference") for n in (300, 1_000)),
    *(("apart", n, "difference") for n in (300, 1_000, 5_000, 20_000)),
    *(("limit", n, "difference") for n in (1_000, 5_000, 20_000)),
    ("apart", 1_000, "log"),
    ("limit", 5_000, "log"),
]
QUESTIONS = ("marginal", "contextual", "conditional")


def people(world, n, scale, seed):
    """Return the columns of people, and their pay per hour."""
    rng = np.random.default_rng([seed, n, len(world)])
    sex = rng.choice(["female", "male"], n)
    grade, is_apart = np.zeros(n, dtype=int), world != "alike"
    for name in ("female", "male"):
        shares = SHARES[name if is_apart else "male"]
        grade[sex == name] = rng.choice(len(GRADES), (sex == name).sum(), p=shares)
    tenure = rng.gamma(2, 5, n) * np.where(is_apart & (sex == "female"), 0.8, 1.0)
    tenure = np.minimum(np.round(tenure), 40)
    part_time = rng.random(n) < np.where(sex == "female", 0.5, 0.1)
    hours = np.where(part_time, rng.choice([16, 20, 24, 30], n), 40)
    log = np.log(LEVELS)[grade] + 0.15 * (1 - np.exp(-tenure / 8)) - 0.02 * (tenure > 30)
    spread = SPREADS[grade]
    pay = np.exp(log + spread * rng.normal(size=n) - spread**2 / 2)
    X = pd.DataFrame({"sex": sex, "grade": GRADES[grade], "tenure": tenure})
    if world == "limit":
        is_group = (sex == "female") & (X["grade"] == "G2").to_numpy()
        # Of differences, the gap that matters is a share of the mean of all.
        pay = pay / (1 + SHARE) ** is_group if scale == "log" else with_gap(pay, is_group)
    monthly = pay * hours * 52 / 12
    return X, pd.Series(monthly / hours, name="pay per hour")


def with_gap(pay, is_group):
    """Return pay of which a group has less by `SHARE` of the mean of all, which that lowers."""
    gap = SHARE * pay.mean() / (1 + SHARE * is_group.mean())
    return pay - gap * is_group


def one(world, n, scale, seed):
    """Return the verdicts of an audit, by question."""
    X, pay = people(world, n, scale, seed)
    start = process_time()
    audit = Audit(protected="sex", output="value", outcome_scale=scale)
    rows = audit.fit(X, pay).report_.document["verdicts"]
    verdicts = {row["null"]: row["verdict"] for row in rows}
    about = {"world": world, "n": n, "scale": scale, "seed": seed}
    return about | {q: verdicts[q] for q in QUESTIONS} | {"seconds": process_time() - start}


def table(path):
    """Return how often the audits of a file found something, or said that there is nothing."""
    rows = pd.read_csv(path)
    lines = []
    for (world, n, scale), own in rows.groupby(["world", "n", "scale"], sort=False):
        found = own[list(QUESTIONS)] == "disparity found"
        nothing = own["conditional"] == "no disparity found"
        some = found.any(axis=1) if world == "alike" else found["conditional"]
        lines.append(
            {
                "world": world,
                "n": n,
                "scale": scale,
                "found": f"{some.sum()} of {len(own)}",
                "no disparity found": f"{nothing.sum()} of {len(own)}",
            }
        )
    return pd.DataFrame(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("pay_worlds.csv"))
    parser.add_argument("--table", type=Path)
    options = parser.parse_args()
    if options.table is not None:
        print(table(options.table).to_string(index=False))
        return
    with options.out.open("a", newline="") as file:
        for seed in range(options.first, options.first + options.seeds):
            for cell in CELLS:
                row = one(*cell, seed)
                writer = csv.DictWriter(file, row)
                if not file.tell():
                    writer.writeheader()
                writer.writerow(row)
                file.flush()
    print(table(options.out).to_string(index=False))


if __name__ == "__main__":
    main()
