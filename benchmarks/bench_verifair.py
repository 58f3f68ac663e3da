"""Is VeriFair faster than drawing and checking one person at a time, with the same verdict?

Claim: for the populations and models below, `Verification.run` takes at most 1/200 of the time of
the published loop, which draws a person at a time by rejection and checks after each.

Both call the same sampler and the same model, the loop with n = 1; both use the same bound, the
same specification (demographic parity with slack 0.15) and the same probability of error. The
population is that of FairSquare's Bayesian network: capital gain, age and hours depend on sex.
A second loop, in plain Python without NumPy, with the model written into it, is given for
comparison. Times are of the process (CPU), medians of the repeats; ours is the mean of 20 runs.

Run: python benchmarks/bench_verifair.py [--repeats 3]
"""

import argparse
import math
import random
from statistics import median
from time import process_time

import numpy as np

from skdisc.group._verifair_concentration import DrawTally, Verification
from skdisc.group._verifair_specification import UNDECIDED, Mean, ready_made

TARGET, SLACK, DELTA, RUNS = 200, 0.15, 1e-10, 20
RULES = {
    "unfair": ([0.9, 0.02, 0.25, 0.0002, 0.03], 5.3),
    "nearly unfair": ([0.12, 0.02, 0.25, 0.0002, 0.02], 4.2),
    "fair": ([0.0, 0.03, 0.25, 0.0, 0.0], 3.3),
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


def in_batches(weights, threshold, seed):
    """Return the same of ours, the mean of several runs in one orientation."""
    weights, n_draws = np.array(weights), 0
    for run in range(RUNS):
        rng = np.random.default_rng(RUNS * seed + run)

        def draws(sex, rng=rng):
            def draw(n):
                parts, left = [], n
                while left:
                    people = sample(int(1.1 * left / (0.67 if sex else 0.33)) + 10, rng)
                    parts.append(people[people[:, 0] == sex][:left])
                    left -= len(parts[-1])
                return np.concatenate(parts) @ weights > threshold

            return draw

        spec = ready_made("demographic_parity", SLACK)
        tallies = {Mean("a"): DrawTally(draws(0)), Mean("b"): DrawTally(draws(1))}
        check = Verification(spec, tallies, DELTA, swaps=(False,))
        check.run(400, 1.25, 10**7, lambda n: n)
        assert check.certificates[0].verdict != UNDECIDED
        n_draws += check.n_draws
    return check.certificates[0].verdict == "fair", n_draws // RUNS


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
        for function in (in_batches, one_at_a_time, plain_python):
            runs = [seconds(function, *rule, seed) for seed in range(options.repeats)]
            times[function] = median(run[0] for run in runs)
            draws[function] = int(median(run[2] for run in runs))
            verdicts |= {bool(run[1]) for run in runs}
        assert len(verdicts) == 1, "different verdicts"
        mine, peer, plain = times[in_batches] / RUNS, times[one_at_a_time], times[plain_python]
        print(
            f"{name}: ours {1000 * mine:.2f} ms ({draws[in_batches]:,} draws)   loop {peer:.2f} s "
            f"({draws[one_at_a_time]:,} draws)   ratio {peer / mine:.0f}   target {TARGET}: "
            f"{'met' if peer / mine >= TARGET else 'missed'}   (plain Python: {plain / mine:.0f})",
            flush=True,
        )


if __name__ == "__main__":
    main()
