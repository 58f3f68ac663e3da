"""The subsets that ascents start from."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from skdisc._space._codes import UNBOUND

_ORDERS = 20
_FEW = 10  # a random start keeps at least this many rows, or a fifth of them if that is fewer
_PER_PAIR = 3  # pairs of values of one pair of attributes
_PAIR_CELLS = 50_000  # cells that pairs of values are chosen on


@dataclass(frozen=True)
class Starts:
    """The subsets that ascents start from, and the order in which attributes are visited.

    Attributes
    ----------
    sets : list of ndarray of bool, shape (n_starts, size)
        Per attribute.
    turns : ndarray of int
        The attributes in the order in which all ascents visit them, over and over.
    bound : ndarray of int, shape (n_starts,)
        The attribute that must keep a condition, or UNBOUND.
    """

    sets: list
    turns: np.ndarray
    bound: np.ndarray

    @classmethod
    def draw(cls, cells, rules, n_starts, rng):
        """Start once (once per required attribute) from all rows, else from random subsets."""
        m = len(cells.attributes)
        sets = [np.ones((n_starts, a.size), dtype=bool) for a in cells.attributes]
        turns = np.concatenate([rng.permutation(m) for _ in range(_ORDERS)])
        bound = np.full(n_starts, UNBOUND)
        least = max(min(_FEW, cells.n.sum() / 5), rules.min_rows)
        for i in range(n_starts):
            if rules.required:
                bound[i] = rules.required[i % len(rules.required)]
            keep, inside, used = (
                rng.random(),
                np.ones(len(cells.n), dtype=bool),
                bound[i] != UNBOUND,
            )
            order = rng.permutation(m) if i >= max(1, len(rules.required)) else ()
            for j in order:
                attribute = cells.attributes[j]
                chosen = rng.random(attribute.size) < keep
                if attribute.ranges is not None:
                    chosen = attribute.ranges[rng.integers(len(attribute.ranges))]
                narrower = inside & chosen[cells.codes[j]]
                full = chosen.all() or j == bound[i] or used >= rules.max_conditions
                if not full and narrower @ cells.n >= least:
                    sets[j][i], inside, used = chosen, narrower, used + 1
        return cls(sets, turns, bound)

    def only(self, which):
        """Return some of the starts."""
        return Starts([s[which] for s in self.sets], self.turns, self.bound[which])

    def joined(self, other):
        """Return these starts and others, with these turns."""
        sets = [np.concatenate(pair) for pair in zip(self.sets, other.sets, strict=True)]
        return Starts(sets, self.turns, np.concatenate([self.bound, other.bound]))

    def filled(self, n, other):
        """Return n starts, these and the first of others, over and over."""
        at = np.arange(n - len(self.bound)) % len(other.bound)
        return self.joined(other.only(at))

    def from_pairs(self, scan, a, n, most=10**6):
        """Return at most n starts, from pairs of values of two attributes, best scores first.

        Parameters
        ----------
        scan : Scan
        a : ndarray of float, shape (n_cells,)
            What was observed, as in `Scan.run`.
        n : int
        most : int
            Number of attributes above which not all pairs of them are tried.

        Returns
        -------
        Starts
        """
        pairs = _best_pairs(scan, a, n, most)
        attributes = scan.cells.attributes
        sets = [np.ones((len(pairs), x.size), dtype=bool) for x in attributes]
        bound = np.full(len(pairs), UNBOUND)
        for i, (_, *ends) in enumerate(pairs):
            for j, value in ends:
                sets[j][i] = np.arange(attributes[j].size) == value
            if scan.rules.required:
                bound[i] = next(j for j, _ in ends if j in scan.rules.required)
        return Starts(sets, self.turns, bound)


def _best_pairs(scan, a, n, most):
    """Return the n best pairs of values, each with its score, (j, value) and (k, value).

    With more than `most` attributes, one of both is required, or both have the best single values.
    """
    cells, rules, score = scan.cells, scan.rules, scan.score
    if rules.max_conditions < 2 or n < 1:
        return []
    some = slice(None, None, 1 + (len(cells.n) - 1) // _PAIR_CELLS)
    given = cells.codes[:, some], scan.bins[some], scan.h[some], a[some], cells.n[some]
    table = _ValueScores(score, *given[1:], rules.min_rows / max(cells.n.sum(), 1.0))
    sizes, chosen, pairs = [x.size for x in cells.attributes], range(len(cells.codes)), []
    if len(chosen) > most and not rules.required:
        best = [
            table.scores(codes, size).max() for codes, size in zip(given[0], sizes, strict=True)
        ]
        chosen = np.sort(np.argsort(best)[-most:]).tolist()
    for j, k in combinations(chosen, 2):
        if rules.required and j not in rules.required and k not in rules.required:
            continue
        values = table.scores(given[0][j] * sizes[k] + given[0][k], sizes[j] * sizes[k])
        for at in np.argsort(-values, kind="stable")[:_PER_PAIR]:
            if values[at] > 0:
                pairs.append((float(values[at]), (j, at // sizes[k]), (k, at % sizes[k])))
    return sorted(pairs, key=lambda pair: -pair[0])[:n]


class _ValueScores:
    """The scores of the values of a column of codes."""

    def __init__(self, score, bins, h, a, people, least):
        self.score, self.bins, self.h, self.a, self.people = score, bins, h, a, people
        self.least = max(least * people.sum(), 1e-9)

    def scores(self, key, size):
        """Return the score of each value, 0 where there are too few people."""
        n_bins = self.score.n_bins
        own = key * n_bins + self.bins if n_bins > 1 else key
        h = np.bincount(own, self.h, size * n_bins).reshape(size, -1)
        values = self.score.on_grid(np.bincount(key, self.a, size), h).max(axis=1)
        values[np.bincount(key, self.people, size) < self.least] = 0.0
        return values
