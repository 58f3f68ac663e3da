"""Streams of decisions under a monitor: false alarms at all times, and the delay of true ones.

    python benchmarks/monitor_streams.py [--streams 2000] [--people 100000] [--sizes 1 50 5000]

prints the share of streams with an alarm where rates are equal, by batch size, rate and world, and
the median number of people until an alarm where they differ, over the number that a single
chi-squared test needs for a power of .8, and the power at its number for .95, as it is and in whole
batches. The e-values are those of `DisparityMonitor`. `--limit` prints what bets can reach at most,
where gaps are small and people arrive one by one: Brownian motion.
"""

import argparse

import numpy as np
from scipy.special import logsumexp
from scipy.stats import norm

from skdisc.monitoring import DisparityMonitor
from skdisc.monitoring import _e_values as e

BETS = DisparityMonitor().gaps
SIZES = (1, 50, 5000)
PLANTED = (
    *((0.3, 0.05), (0.3, 0.1), (0.5, 0.1), (0.1, 0.05), (0.5, 0.03), (0.05, 0.03)),
    *((0.5, 0.2), (0.2, 0.1), (0.02, 0.02), (0.9, 0.05), (0.5, 0.02), (0.02, 0.01)),
)


def alarms(rng, n_streams, size, gaps, rates, shares, gap=0.0):
    """Return the people until the alarm of each stream, infinite without one.

    Parameters
    ----------
    rng : numpy.random.Generator
    n_streams, size : int
    gaps : ndarray of float
        What is bet on.
    rates, shares : ndarray of float, shape (n_batches,)
        The mean of both rates, and the share of the first group, in each batch.
    gap : float, default=0.0
    """
    memory, log_e = np.zeros((2, n_streams)), np.zeros((n_streams, len(gaps)))
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
            log_e[at] += e.log_e_of_block(people, favorable, predicted, gaps)
            memory[:, at] += [people.sum(axis=1), favorable.sum(axis=1)]
            memory[:, at] = e.remembered(*memory[:, at])
        waiting[done] = 0
        hit = logsumexp(log_e[done], axis=1) - np.log(len(gaps)) >= np.log(20)
        first[done[hit]] = t * size
    return first


def fixed_n(rates, shares, power):
    """Return the people that a chi-squared test of two rates at level .05 needs (Fleiss)."""
    pooled = np.dot(shares, rates)
    equal = pooled * (1 - pooled) * sum(1 / s for s in shares)
    apart = sum(p * (1 - p) / s for p, s in zip(rates, shares, strict=True))
    half = norm.ppf(0.975) * np.sqrt(equal) + norm.ppf(power) * np.sqrt(apart)
    return (half / (rates[0] - rates[1])) ** 2


def in_the_limit(rng, bets, gap, n_streams=3000, n_steps=52):
    """Return power and delay of bets on some gaps under Brownian motion."""
    n80, n95 = ((norm.ppf(0.975) + norm.ppf(p)) ** 2 for p in (0.8, 0.95))
    step = 1.6 * n95 / n_steps  # in units in which the gap is 1
    time = np.arange(1, n_steps + 1) * step
    course = rng.normal(step, np.sqrt(step), (n_streams, n_steps)).cumsum(axis=1)
    ratio = np.concatenate([bets, np.negative(bets)])[:, None, None] / gap
    log_wealth = logsumexp(ratio * course - ratio**2 * time / 2, axis=0) - np.log(len(ratio))
    hit = log_wealth >= np.log(20)
    first = np.where(hit.any(axis=1), time[hit.argmax(axis=1)], np.inf)
    return np.mean(first <= n95), np.median(first) / n80


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
    parser.add_argument("--limit", action="store_true")
    parser.add_argument("--bets", type=float, nargs="+", default=BETS, help="sizes of gaps")
    given = parser.parse_args()
    gaps = np.concatenate([np.negative(given.bets), given.bets])
    rng = np.random.default_rng(0)
    if given.limit:
        for bets in (
            BETS,
            [0.022, 0.045, 0.09, 0.16, 0.2],
            [0.028, 0.065, 0.15],
            [0.025, 0.04, 0.065, 0.105, 0.17],
            [0.1],
        ):
            reached = [in_the_limit(rng, bets, gap) for gap in np.geomspace(0.02, 0.2, 10)]
            print(f"bets on {list(map(float, bets))}, gaps .02 to .2: power, then delay")
            print(
                *(np.round(values, 2).tolist() for values in zip(*reached, strict=True)), sep="\n"
            )
        return
    print("alarms where rates are equal")
    for size in given.sizes:
        n_batches = given.people // size
        course = np.sin(np.linspace(0, 20, n_batches))
        mix = np.clip(0.3 + 0.25 * np.cos(np.linspace(0, 33, n_batches)), 0.02, 0.98)
        worlds = {f"rate {r}": (np.full(n_batches, r), 0.3) for r in (0.02, 0.1, 0.5)}
        worlds["rates drift, mix changes"] = 0.4 + 0.3 * course, mix
        for name, (rates, share) in worlds.items():
            shares = np.broadcast_to(share, n_batches)
            n = np.isfinite(alarms(rng, given.streams, size, gaps, rates, shares)).sum()
            print(f"  batches of {size}, {name}: {n}/{given.streams} = {n / given.streams:.4f}")
    print("median delay over n of the fixed test; power at its n for .95 (in whole batches)")
    for rate, gap in PLANTED:
        for share in (0.5, 0.2):
            ends, parts = (rate + gap / 2, rate - gap / 2), (share, 1 - share)
            n80, n95 = (fixed_n(ends, parts, power) for power in (0.8, 0.95))
            for size in given.sizes:
                if size > n80 / 3 or (size == 1 and n80 > 5000):
                    continue
                n_batches = int(2.2 * n80 / size)
                course = np.full(n_batches, rate), np.full(n_batches, share)
                first = alarms(rng, min(given.streams, 1000), size, gaps, *course, gap)
                delay = np.median(first) / n80
                power, whole = (np.mean(first <= n) for n in (n95, np.ceil(n95 / size) * size))
                about = f"rate {rate}, gap {gap}, share {share}, batches of {size}"
                print(f"  {about}, n {n80:.0f}: {delay:.2f}; {power:.2f} ({whole:.2f})")


if __name__ == "__main__":
    main()
