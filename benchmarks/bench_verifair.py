"""Is VeriFair faster than drawing and checking one person at a time, with the same verdict?

Ours is the whole `VeriFair.fit`, with a sampler that returns a DataFrame. The published loop draws
a person at a time by rejection and checks after each: it calls the same sampler, in NumPy, with
n = 1, or is written in plain Python, model included, which is the faster way to draw one person.
All use the same specification (demographic parity with slack 0.15), bound and probability of error.
The population is that of FairSquare's Bayesian network: capital gain, age and hours depend on sex.
Times are of the process (CPU), medians of the repeats.

Run: python benchmarks/bench_verifair.py [--repeats 3]
"""

import argparse
import math
import random
from statistics import median
from time import process_time

import numpy as np
import pandas as pd
from compared import compared

from skdisc import FeatureSpace, Rule
from skdisc.group import VeriFair

SLACK, DELTA = 0.15, 1e-10
RULES = {
    "unfair": ([0.9, 0.02, 0.25, 0.0002, 0.03], 5.3),
    "nearly unfair": ([0.12, 0.02, 0.25, 0.0002, 0.02], 4.2),
    "fair": ([0.0, 0.03, 0.25, 0.0, 0.0], 3.3),
}

LIMITS = {
    "sex": [0, 1],
    "age": (-100.0, 200.0),
    "education": (-20.0, 40.0),
    "gain": (-20_000.0, 30_000.0),
    "hours": (-100.0, 200.0),
}


def sample(n, rng):
    """Draw n people: sex, age, education, gain, hours."""
    male = rng.random(n) < 0.67
    return np.column_stack(
        [
            male,
            rng.normal(np.where(male, 39.4, 36.9), 13.4),
            rng.normal(10.1, 2.6, n),
            rng.normal(np.where(male, 1300, 570), np.where(male, 2500, 1900)),
            rng.normal(np.where(male, 42.4, 38.0), 12.0),
        ]
    )


def decided(n, a, b):
    """Return the verdict on the counts a and b of n draws each, None if there is none yet."""
    e = math.sqrt((0.6 * math.log(math.log(n, 1.1) + 1) + 5 / 9 * math.log(48 / DELTA)) / n)
    mean_a, mean_b = a / n, b / n
    if mean_b <= e:
        return None
    value = mean_a / mean_b - (1 - SLACK)
    error = e / mean_b + e * (e + mean_a) / (mean_b * (mean_b - e))
    return value > 0 if abs(value) > error else None


def loop(outcome):
    """Return whether the rule is fair to women, and the number of draws: the published loop."""
    n, a, b, verdict = 0, 0, 0, None
    while verdict is None:
        n, a, b = n + 1, a + outcome(0), b + outcome(1)
        verdict = decided(n, a, b)
    return verdict, 2 * n


def one_at_a_time(weights, threshold, seed):
    rng, weights = np.random.default_rng(seed), np.array(weights)

    def outcome(sex):
        while True:
            person = sample(1, rng)
            if person[0, 0] == sex:
                return int((person @ weights > threshold)[0])

    return loop(outcome)


def plain_python(weights, threshold, seed):
    rng = random.Random(seed)

    def outcome(sex):
        while True:
            male = rng.random() < 0.67
            person = (
                male,
                rng.gauss(39.4 if male else 36.9, 13.4),
                rng.gauss(10.1, 2.6),
                rng.gauss(1300 if male else 570, 2500 if male else 1900),
                rng.gauss(42.4 if male else 38.0, 12.0),
            )
            if male == sex:
                return sum(w * v for w, v in zip(weights, person, strict=True)) > threshold

    return loop(outcome)


def people(n, rng):
    """Return n people as a table, the sampler of `VeriFair`."""
    return pd.DataFrame(sample(n, rng), columns=list(LIMITS)).astype({"sex": int})


def fit(weights, threshold, seed):
    """Return the same of `VeriFair.fit`; a certificate of each orientation."""
    space = FeatureSpace.from_domains(LIMITS, protected="sex")
    detector = VeriFair(
        sampler=people,
        slack=SLACK,
        rule=Rule(significance=DELTA),
        random_state=seed,
        max_draws=10**7,
    )
    result = detector.fit(
        space, model=lambda X: (X.to_numpy(dtype=float) @ np.array(weights) > threshold).astype(int)
    ).result_
    certificate = result.tables["certificates"].iloc[0]  # women against men
    return certificate["verdict"] == "fair", 2 * certificate["n_draws"]


def seconds(function, *args):
    start = process_time()
    value = function(*args)
    return process_time() - start, *value


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    for name, rule in RULES.items():
        times, draws, verdicts = {}, {}, set()
        for function in (fit, one_at_a_time, plain_python):
            runs = [seconds(function, *rule, seed) for seed in range(options.repeats)]
            times[function] = median(run[0] for run in runs)
            draws[function] = int(median(run[2] for run in runs))
            verdicts |= {bool(run[1]) for run in runs}
        assert len(verdicts) == 1, "different verdicts"
        mine, peer, plain = times[fit], times[one_at_a_time], times[plain_python]
        print(f"{name}: ours {draws[fit]:,} draws, the loop {draws[one_at_a_time]:,}", flush=True)
        compared(f"VeriFair, {name}; the published loop, a sampler in NumPy", peer, mine, 20)
        compared(f"VeriFair, {name}; the loop in plain Python", plain, mine, 1)


if __name__ == "__main__":
    main()
