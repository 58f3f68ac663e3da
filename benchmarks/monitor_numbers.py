"""Streams of pay under a monitor of numbers: false alarms at all times, and what skew does.

    python -m benchmarks.monitor_numbers [--streams 500] [--people 10000] [--size 50]

prints, for laws of skewed pay with a few managers, the share of streams with an alarm where means
are equal, and the share in which a confidence sequence ever misses the gap; where there is a gap,
the share of streams with an alarm, the median number of people until it, and the share in which a
gap of 5 % of the mean is ever excluded. Bets and sequences are those of `DisparityMonitor`, for
numbers between bounds. Beside them stands what was not chosen: the asymptotic confidence sequence
of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (arXiv 2103.06476), which needs no bounds, from
30 and from 100 people of each side on.
"""

import argparse

import numpy as np

from skdisc.monitoring import _e_values as e
from skdisc.monitoring._confidence_sequences import difference_sequence, squared_errors

BOUNDS = (0.0, 20_000.0)
LEVEL = 0.05
GAP = 0.05  # of the mean, that which matters
_BEST_AT = 500  # people, at which the asymptotic sequence is narrowest
_FEWEST = (30, 100)


def pay(rng, n, managers=0.02, spread=0.5):
    """Pay of a month: lognormal, of which a share of managers has about four times as much."""
    x = 3300 * np.exp(rng.normal(0, 0.35, n))
    is_manager = rng.random(n) < managers
    x[is_manager] = 12_000 * np.exp(rng.normal(0, spread, is_manager.sum()))
    return x


def alike(rng, t, n):
    return pay(rng, n[0]), pay(rng, n[1])


def bonus(rng, t, n):
    """Most get nothing, a few much: both groups alike."""
    return tuple(np.where(rng.random(k) < 0.03, pay(rng, k), 0.0) for k in n)


def rising(rng, t, n):
    return tuple((1 + t / 400) * pay(rng, k) for k in n)


def other_spread(rng, t, n):
    """The same mean within the bounds: one group all alike, of the other one in fifty has much."""
    return np.full(n[0], 3400.0), np.where(rng.random(n[1]) < 0.02, 18_000.0, 3400 - 14_600 / 49)


WORLDS = (  # law, share of the first group, size of batches
    ("alike, half women", alike, 0.5, None),
    ("alike, a twentieth women", alike, 0.05, None),
    ("alike, a twentieth women, batches of 1,000", alike, 0.05, 1000),
    ("a bonus for 3 %, a twentieth women", bonus, 0.05, None),
    ("pay rises by a half", rising, 0.3, None),
    ("equal means, other spread, a tenth in the first", other_spread, 0.1, None),
    ("equal means, other spread, a tenth in the second", other_spread, 0.9, None),
)


def stream(rng, law, share, size, n_batches, gap=0.0):
    """Return the people until each event of a stream, infinite without one."""
    low, width = BOUNDS[0], BOUNDS[1] - BOUNDS[0]
    waiting, sums, log_e = [[], []], np.zeros(3), np.zeros(2)
    seen, raw = np.zeros((2, 3)), np.zeros((2, 3))
    names = ("alarm", "missed", "excluded", *(f"asymptotic from {n}" for n in _FEWEST))
    first = dict.fromkeys(names, np.inf)
    truth = 0.0 if gap == 0 else None
    for t in range(n_batches):
        n = rng.binomial(size, share)
        values = law(rng, t, (n, size - n))
        values = (values[0] * (1 - gap), values[1])
        for side, x in enumerate(values):
            placed = (np.clip(x, *BOUNDS) - low) / width
            seen[side, 2] += squared_errors(placed, *seen[side, :2], rng)
            seen[side, :2] += [len(placed), placed.sum()]
            raw[side] += [len(x), x.sum(), (x**2).sum()]
            waiting[side].extend(placed.tolist())
        people = (t + 1) * size
        events = {}
        if e.is_complete([len(side) for side in waiting]):
            differences = e.paired(tuple(map(np.asarray, waiting)), rng)
            more, sums = e.log_e_of_pairs(differences, sums)
            log_e, waiting = log_e + more, [[], []]
            events["alarm"] = np.logaddexp.reduce(log_e) - np.log(2) >= -np.log(LEVEL)
        if t % 4 == 3:
            ends = difference_sequence(*seen.T[:, None], LEVEL)
            lowest, highest = (width * ends[f"ci_{end}"][0] for end in ("low", "high"))
            mean = low + width * seen[:, 1].sum() / seen[:, 0].sum()
            if truth is not None:
                events["missed"] = not lowest <= truth <= highest
            events["excluded"] = max(-lowest, highest) < GAP * mean
        for fewest in _FEWEST:
            if raw[:, 0].min() >= fewest:
                events[f"asymptotic from {fewest}"] = asymptotic(raw)
        for name, is_so in events.items():
            if is_so and np.isinf(first[name]):
                first[name] = people
    return first


def asymptotic(sums):
    """Return whether an asymptotic confidence sequence excludes that two means are equal."""
    n, mean = sums[:, 0], sums[:, 1] / sums[:, 0]
    variance = (sums[:, 2] / n - mean**2) / (n - 1)
    at_best = -2 * np.log(LEVEL) + np.log(-2 * np.log(LEVEL)) + 1
    rho = at_best / _BEST_AT
    reach = (1 + 1 / (n.sum() * rho)) * np.log((n.sum() * rho + 1) / LEVEL**2)
    return abs(mean[0] - mean[1]) > np.sqrt(reach * variance.sum())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--people", type=int, default=10_000)
    parser.add_argument("--size", type=int, default=50, help="of batches")
    given = parser.parse_args()

    def streams(law, share, size, gap=0.0):
        rng = np.random.default_rng(0)
        n_batches = given.people // size
        several = [stream(rng, law, share, size, n_batches, gap) for _ in range(given.streams)]
        return {name: np.array([one[name] for one in several]) for name in several[0]}

    for name, law, share, size in WORLDS:
        first = streams(law, share, size or given.size)
        shares = {what: float(np.isfinite(at).mean()) for what, at in first.items()}
        shares.pop("excluded")
        print(name, {what: round(value, 4) for what, value in shares.items()}, flush=True)
    for gap in (GAP, 2 * GAP):
        first = streams(alike, 0.5, given.size, gap)
        print(
            f"a gap of {100 * gap:g} %: alarm in {np.isfinite(first['alarm']).mean():.3f}, median",
            f"{np.median(first['alarm']):.0f} people (asymptotic:",
            f"{np.median(first['asymptotic from 30']):.0f}), ever excluded in",
            f"{np.isfinite(first['excluded']).mean():.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
