"""Streams of decisions under a monitor: false alarms at all times, and the delay of true ones.

    python benchmarks/monitor_streams.py [--streams 2000] [--people 100000] [--sizes 1 50 5000]

prints the share of streams with an alarm where rates are equal, by batch size, rate and world, and
the median number of people until an alarm where they differ, over the number that a single
two-sided test needs for a power of .8. The e-values are those of `DisparityMonitor`.
"""

import argparse

import numpy as np
from scipy.special import logsumexp
from scipy.stats import norm

from skdisc.monitoring import _e_values as e

GAPS = np.array([-0.2, -0.1, -0.05, -0.025, 0.025, 0.05, 0.1, 0.2])
SIZES = (1, 50, 5000)
PLANTED = (
    *((0.3, 0.05), (0.3, 0.1), (0.5, 0.1), (0.1, 0.05), (0.5, 0.03), (0.05, 0.03)),
    *((0.5, 0.2), (0.2, 0.1), (0.02, 0.02), (0.9, 0.05), (0.5, 0.02), (0.02, 0.01)),
)


def alarms(rng, n_streams, size, rates, shares, gap=0.0):
    """Return the people until the alarm of each stream, infinite without one.

    Parameters
    ----------
    rng : numpy.random.Generator
    n_streams, size : int
    rates, shares : ndarray of float, shape (n_batches,)
        The mean of both rates, and the share of the first group, in each batch.
    gap : float, default=0.0
    """
    memory, log_e = np.zeros((2, n_streams)), np.zeros((n_streams, len(GAPS)))
    waiting, first = np.zeros((n_streams, 2, 2), dtype=np.int64), np.full(n_streams, np.inf)
    for t, (rate, share) in enumerate(zip(rates, shares, strict=True), 1):
        n = rng.binomial(size, share, n_streams)
        n = np.stack([n, size - n], axis=1)
        waiting += np.stack([n, rng.binomial(n, [rate + gap / 2, rate - gap / 2])], axis=2)
        done = np.flatnonzero(e.is_complete(waiting[:, :, 0]) & np.isinf(first))
        if not len(done):
            continue
        for people, favorable, at in blocks(rng, waiting, memory, done):
            predicted = e.predicted_rates(*memory[:, at])
            log_e[at] += e.log_e_of_block(people, favorable, predicted, GAPS)
            memory[:, at] += [people.sum(axis=1), favorable.sum(axis=1)]
            memory[:, at] = e.remembered(*memory[:, at])
        waiting[done] = 0
        hit = logsumexp(log_e[done], axis=1) - np.log(len(GAPS)) >= np.log(20)
        first[done[hit]] = t * size
    return first


def blocks(rng, waiting, memory, done):
    """Yield blocks of streams, the first one of a stream in parts."""
    new = done[memory[0, done] == 0]
    for i in new:
        for people, favorable in e.parts_of_first(*waiting[i].T, rng):
            yield people[None], favorable[None], np.array([i])
    old = np.setdiff1d(done, new)
    if len(old):
        yield waiting[old, :, 0], waiting[old, :, 1], old


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--streams", type=int, default=2000)
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="of batches")
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    print("alarms where rates are equal")
    for size in given.sizes:
        n_batches = given.people // size
        course = np.sin(np.linspace(0, 20, n_batches))
        mix = np.clip(0.3 + 0.25 * np.cos(np.linspace(0, 33, n_batches)), 0.02, 0.98)
        worlds = {f"rate {r}": (np.full(n_batches, r), 0.3) for r in (0.02, 0.1, 0.5)}
        worlds["rates drift, mix changes"] = 0.4 + 0.3 * course, mix
        for name, (rates, share) in worlds.items():
            shares = np.broadcast_to(share, n_batches)
            n = np.isfinite(alarms(rng, given.streams, size, rates, shares)).sum()
            print(f"  batches of {size}, {name}: {n}/{given.streams} = {n / given.streams:.4f}")
    print("median delay over n of the fixed test with power .8; power at its n for power .95")
    for rate, gap in PLANTED:
        for share in (0.5, 0.2):
            ends, parts = (rate + gap / 2, rate - gap / 2), (share, 1 - share)
            variance = sum(p * (1 - p) / s for p, s in zip(ends, parts, strict=True)) / gap**2
            n80, n95 = ((norm.ppf(0.975) + norm.ppf(p)) ** 2 * variance for p in (0.8, 0.95))
            for size in given.sizes:
                if size > n80 / 3 or (size == 1 and n80 > 5000):
                    continue
                n_batches = int(2 * n80 / size)
                course = np.full(n_batches, rate), np.full(n_batches, share)
                first = alarms(rng, min(given.streams, 1000), size, *course, gap)
                delay, power = np.median(first) / n80, np.mean(first <= n95)
                about = f"rate {rate}, gap {gap}, share {share}, batches of {size}"
                print(f"  {about}, n {n80:.0f}: {delay:.2f}; {power:.2f}")


if __name__ == "__main__":
    main()
