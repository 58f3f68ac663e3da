"""Attack what public documents about simulated tables print, and count what the attackers get.

    python -m benchmarks.disclosure [--tables 1000] [--internal]

Tables have 200 to 5,000 people and four columns of two to six values, often rare ones. The
attackers know all columns of all people, and the sums of all groups that any number of public
documents about the table may print. They ask for the outcomes of sets of 1 to 9 people: by exact
linear algebra (modulo a prime), and by whole-number programs. Sets that these pin are counted apart
where they are in no printed group of which all or none have the outcome.
tests/auditing/test_disclosure.py runs the same attacks, and doc/privacy.md has the figures.

With --internal the sums are those of one internal document about the first two columns, with all
groups in contexts of up to two conditions: single groups first, then findings (|z| above 3.5), then
the others.
"""

import argparse
import time

import numpy as np
import pandas as pd
from scipy.optimize import Bounds, LinearConstraint, milp

from skdisc._stats._printed_sums import MOST, PrintedSums
from skdisc.auditing._disclosure import PublicChoice
from skdisc.auditing._internal import MOST as MOST_IN_ALL
from skdisc.auditing._internal import MOST_OF_SINGLE, joined_values
from skdisc.auditing._public import merged

PRIME = 2**31 - 1


def follow(sums, goals):
    """Return which goals are linear combinations of sums: the exact attacker.

    It computes modulo a prime, where whatever follows in fractions follows, too, unless a
    denominator is a multiple of the prime.
    """
    rows, goals = np.array(sums, dtype=np.int64), np.array(goals, dtype=np.int64)
    for i in range(len(rows)):
        filled = np.flatnonzero(rows[i])
        if not len(filled):
            continue
        at = filled[0]
        rows[i] = rows[i] * pow(int(rows[i, at]), -1, PRIME) % PRIME
        for others in (rows[i + 1 :], goals):
            others[:] = (others - others[:, [at]] * rows[i]) % PRIME
    return ~goals.astype(bool).any(axis=1)


def ends(sums, favorable, people, goal):
    """Return the least and greatest sum of a set, in whole people: the second attacker."""
    known = LinearConstraint(sums, sums @ favorable, sums @ favorable)
    how = {"constraints": known, "integrality": np.ones(len(people)), "bounds": Bounds(0, people)}
    return round(milp(goal, **how).fun), round(-milp(-goal, **how).fun)


def table(seed):
    """Return columns of two to six values, often rare ones, and outcomes that depend on them."""
    draw = np.random.default_rng(seed)
    n = int(np.exp(draw.uniform(np.log(200), np.log(5000))))
    sizes = [*draw.integers(2, 7, 3), draw.integers(2, 5)]
    X = {
        name: draw.choice(k, n, p=draw.dirichlet(np.ones(k) * draw.choice([0.5, 1, 3])))
        for name, k in zip("pqct", sizes, strict=True)
    }
    eta = draw.normal(-0.3, 1) + sum(
        draw.normal(0, 0.6, k)[X[c]] for c, k in zip(X, sizes, strict=True)
    )
    X = pd.DataFrame({name: np.char.add(name, code.astype(str)) for name, code in X.items()})
    return X, (draw.random(n) < 1 / (1 + np.exp(-eta))).astype(int)


def known_sums(choice, among=None):
    """Return the cells of all sums that public documents about a table may print."""
    rows = choice._rows, choice._chosen
    chosen = [r for r, stays in zip(*rows, strict=True) if stays]
    if among is not None:
        chosen = [r for r, stays in zip(chosen, choice._chosen_by_all, strict=True) if stays]
    sides = [side for row in chosen for side in choice._sides(row)]
    everyone = np.ones(len(choice._sums[0].first), dtype=bool)
    return np.unique(np.array([everyone, *sides]), axis=0).astype(int)


def attacked(X, favorable, seed, most=MOST, programs=4, room=True):
    """Return how often the attackers succeed, who know all columns and all printed sums.

    With `room` False, the choice is that of columns alone; whole numbers then tell more.
    """
    outcomes = [favorable] if room else []
    choice = PublicChoice({c: merged(X[c], 20) for c in X}, 10, most=most, outcomes=outcomes)
    sums, cell = known_sums(choice), choice._sums[0]._cell
    depth = np.array([len(row[2]) for row in choice._rows])
    found = _attacks(X, favorable, seed, sums, cell, programs=programs)
    return found | _kept(depth, choice._chosen)


def attacked_internal(X, favorable, seed):
    """Return the same for an internal document about the first two columns."""
    protected = list(X)[:2]
    columns = {}
    for name in X:
        joined = joined_values(X[name], 10, n_bins=10) if name in protected else None
        columns[name] = (X[name] if joined is None else joined).to_numpy(str)
    choice = PublicChoice(columns, 10)
    sums = PrintedSums([columns[name] for name in choice._names], 10, most=MOST_IN_ALL)
    rows = [row[2:] for depth in range(3) for row in choice._candidates(depth)]
    rows = [row for row in rows if choice._names[row[0]] in protected]
    asked = np.array([choice._sides(row) for row in rows], dtype=bool)
    asked = asked.reshape(len(rows), 2, len(sums.first))
    n, x = (asked @ values for values in (sums.people, np.bincount(sums._cell, favorable)))
    rate = x.sum(axis=1) / n.sum(axis=1)
    error = np.sqrt(rate * (1 - rate) * (1 / n).sum(axis=1))
    z = np.abs(x[:, 0] / n[:, 0] - x[:, 1] / n[:, 1]) / np.maximum(error, 1e-9)
    depth = np.array([len(row[2]) for row in rows])
    state = np.where(depth == 0, 0, np.where(z > 3.5, 1, 2))
    order = np.lexsort([-n.min(axis=1), np.where(state == 1, -z, depth), state])
    chosen = sums.choose(asked[order], np.where(depth[order] == 0, MOST_OF_SINGLE, MOST_IN_ALL))
    everyone = np.ones((1, len(sums.first)), dtype=bool)
    printed = np.concatenate([everyone, asked[order][chosen].reshape(-1, len(sums.first))])
    printed = np.unique(printed, axis=0).astype(int)
    return _attacks(X, favorable, seed, printed, sums._cell) | _kept(depth[order], chosen)


def _attacks(X, favorable, seed, sums, cell, programs=4):
    """Attack sums over cells of joined values, with all columns as they were."""
    raw = PrintedSums([X[c].to_numpy(str) for c in X], 10)
    sums = sums[:, cell[raw.first]]
    draw, small = np.random.default_rng(seed), raw.small.toarray().astype(int)
    goals = small[draw.permutation(len(small))[:20]]
    found = {"sets": len(goals), "linear": int(follow(sums, goals).sum())}
    found |= {"programs": 0, "pinned": 0, "pinned_between": 0, "pinned_elsewhere": 0}
    if len(raw.first) <= 120:
        outcomes = np.bincount(raw._cell, favorable, len(raw.first))
        total = sums @ outcomes
        alike = sums[(total == 0) | (total == sums @ raw.people)]
        for goal in goals[:programs]:
            least, largest = ends(sums, outcomes, raw.people, goal)
            is_pinned = least == largest
            found["programs"] += 1
            found["pinned"] += is_pinned
            found["pinned_between"] += is_pinned and 0 < least < raw.people @ goal
            is_inside = alike[:, goal > 0].any(axis=0).all()
            found["pinned_elsewhere"] += is_pinned and not is_inside
    return found


def _kept(depth, chosen):
    """Return how many groups were asked for, and how many are printed."""
    found = {}
    for name, own in (("single", depth == 0), ("in_context", depth > 0)):
        found |= {name: int(chosen[own].sum()), f"{name}_asked": int(own.sum())}
    return found


def main():
    """Print the totals of all tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--first", type=int, default=1000, help="seed of the first table")
    parser.add_argument("--internal", action="store_true", help="of internal documents")
    arguments = parser.parse_args()
    attack = attacked_internal if arguments.internal else attacked
    total, started = {}, time.process_time()
    for seed in range(arguments.first, arguments.first + arguments.tables):
        for name, n in attack(*table(seed), seed).items():
            total[name] = total.get(name, 0) + n
        if (seed - arguments.first) % 100 == 99:
            print(seed, total, flush=True)
    for name, n in total.items():
        print(f"{name:<20} {n:>9,}")
    print(f"{'CPU seconds':<20} {time.process_time() - started:>9,.0f}")


if __name__ == "__main__":
    main()
