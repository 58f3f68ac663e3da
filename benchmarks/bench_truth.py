"""Are the exact effects of made data exact? Against a million people who are drawn.

Claim: in every setting the oracle effect of two subgroups, and the part due to bias, lie within 3
standard errors of a Monte Carlo in which people, their proxies and their noise are drawn and
nothing is integrated out.

Run: python benchmarks/bench_truth.py [--rows 1000000]
"""

import argparse

import numpy as np
from scipy.special import expit

from skdisc import Predicate
from skdisc.datasets import make_discrimination

SETTINGS = [
    {"n_numeric": 2, "correlation": 0.3, "aleatoric": 0.8},
    {"bias_in": "proxy", "aleatoric": 0.4},
    {"bias_in": "both", "overlap": "add", "granularity": 1},
    {"outcome": "continuous", "correlation": 0.2, "aleatoric": 1.0},
    {"outcome": "probability", "aleatoric": 1.5},
    {"threshold": True, "base_rate": 0.3, "aleatoric": 0.5},
    {"outcome": "categorical", "n_classes": 4},
]
MOST, BLOCK = 3, 200_000


def drawn(truth, group, n, rng):
    """Return means, and variances of them, of the outcome with and without bias."""
    law, sums, squares = truth.law, np.zeros(2), np.zeros(2)
    for size in np.diff([*range(0, n, BLOCK), n]):
        people = truth.sample(int(size), group, random_state=rng)
        person = law.person(people)
        noise = person[1] * rng.standard_normal(size)
        for k, fair in enumerate((False, True)):
            y = observed(law, law.logit(people, person, fair=fair) + noise)
            sums[k] += y.sum()
            squares[k] += y @ y
    mean = sums / n
    return mean, (squares / n - mean**2) / n


def observed(law, logit):
    """Return the outcome at a logit with its noise; what is still by chance at its expectation."""
    if law.outcome == "continuous":
        return logit
    if law.step is not None:
        return (logit >= law.step).astype(float)
    return expit(logit - (0.0 if law.cuts is None else law.cuts[-1]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    n, rng = parser.parse_args().rows, np.random.default_rng(0)
    worst = 0.0
    for seed, setting in enumerate(SETTINGS):
        made = make_discrimination(3, null_fraction=0.0, random_state=seed, **setting)
        a, b = made.truth.subgroups[:2]
        for first, second in ((a, b), (a, Predicate.equals("Attr1_T", 0))):
            means, variances = zip(
                *(drawn(made.truth, group, n, rng) for group in (first, second)), strict=True
            )
            gap, error = means[0] - means[1], np.sqrt(variances[0] + variances[1])
            found = made.truth.effect(first, second)
            z = (gap[0] - found.effect) / np.hypot(error[0], found.standard_error)
            # the two means share their people: the sum of their errors is an upper bound
            due = (gap[0] - gap[1] - found.due_to_bias) / np.hypot(
                error.sum(), found.standard_error_due_to_bias
            )
            worst = max(worst, abs(z), abs(due))
            print(f"{setting}\n  effect {found.effect:+.5f}  z {z:+.2f}   due to bias z {due:+.2f}")
    print(f"largest |z| {worst:.2f}   target {MOST}: {'met' if worst <= MOST else 'missed'}")


if __name__ == "__main__":
    main()
