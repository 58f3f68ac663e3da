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
            keep = rng.random()
            inside = np.ones(len(cells.n), dtype=bool)
            used = bound[i] != UNBOUND
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

    def joined(self, starts):
        """Return these starts and others, with these turns."""
        sets = [np.concatenate(pair) for pair in zip(self.sets, starts.sets, strict=True)]
        return Starts(sets, self.turns, np.concatenate([self.bound, starts.bound]))

    def filled(self, n, reserve):
        """Return n starts: these, then those of the reserve, over and over."""
        positions = np.arange(n - len(self.bound)) % len(reserve.bound)
        return self.joined(reserve.only(positions))

    def from_pairs(self, scans, a, n, most):
        """Return at most n starts of each scan and data set, from the best pairs of values.

        Parameters
        ----------
        scans : list of Scan
            The scans of one table and target, in one or both directions.
        a : ndarray of float, shape (n_data, n_cells)
            Sum of the observed outcomes of each cell, whatever the direction.
        n : int
        most : int
            Number of attributes above which not all pairs of them are tried.

        Returns
        -------
        list of list of Starts
            By scan and data set; best scores first.
        """
        pairs = _best_pairs(scans, a, n, most)
        return [[self._of_pairs(scans[0], best) for best in by_data] for by_data in pairs]

    def _of_pairs(self, scan, pairs):
        """Return the starts from some pairs of values."""
        attributes = scan.cells.attributes
        sets = [np.ones((len(pairs), x.size), dtype=bool) for x in attributes]
        bound = np.full(len(pairs), UNBOUND)
        for i, (_, *ends) in enumerate(pairs):
            for j, value in ends:
                sets[j][i] = np.arange(attributes[j].size) == value
            if scan.rules.required:
                bound[i] = next(j for j, _ in ends if j in scan.rules.required)
        return Starts(sets, self.turns, bound)


def _best_pairs(scans, a, n, most):
    """Return the n best pairs of values, by scan and data set.

    Each is a score, (j, value) and (k, value). With more than `most` attributes, one of both is
    required, or both have the best single values.
    """
    cells, rules = scans[0].cells, scans[0].rules
    pairs = [[[] for _ in a] for _ in scans]
    if rules.max_conditions < 2 or n < 1:
        return pairs
    table = _ValueScores(scans, a, rules.min_rows / max(cells.n.sum(), 1.0))
    sizes, m = [x.size for x in cells.attributes], len(cells.codes)
    chosen = np.ones((len(scans), len(a), m), dtype=bool)
    if m > most and not rules.required:
        columns = zip(table.codes, sizes, strict=True)
        best = np.stack([np.max(table.scores(*column), axis=-1) for column in columns], axis=-1)
        np.put_along_axis(chosen, np.argsort(best, axis=-1)[..., :-most], False, axis=-1)
    for j, k in combinations(range(m), 2):
        if rules.required and j not in rules.required and k not in rules.required:
            continue
        is_scored = chosen[..., j] & chosen[..., k]
        key, size = table.codes[j] * sizes[k] + table.codes[k], sizes[j] * sizes[k]
        for scan_pairs, values, scan_is_scored in zip(
            pairs, table.scores(key, size, is_scored), is_scored, strict=True
        ):
            first = np.argsort(-values, axis=1, kind="stable")[:, :_PER_PAIR]
            for data, row, order in zip(np.flatnonzero(scan_is_scored), values, first, strict=True):
                scan_pairs[data] += [
                    (float(row[code]), (j, code // sizes[k]), (k, code % sizes[k]))
                    for code in order[row[order] > 0]
                ]
    return [
        [sorted(data_pairs, key=lambda pair: -pair[0])[:n] for data_pairs in scan_pairs]
        for scan_pairs in pairs
    ]


class _ValueScores:
    """The scores of the values of a column of codes, in the cells that pairs are chosen on.

    What does not depend on the data set and the direction is added up once.
    """

    def __init__(self, scans, a, least):
        scan = scans[0]
        cell_sample = slice(None, None, 1 + (len(scan.cells.n) - 1) // _PAIR_CELLS)
        self._scores = [scan.score for scan in scans]
        self.codes = [codes[cell_sample] for codes in scan.cells.codes]
        self._a = a[:, cell_sample]
        self._bins = scan.bins[cell_sample]
        self._h = scan.h[cell_sample]
        self._people = scan.cells.n[cell_sample]
        self._is_counted = scan.summed[0] is None and scan.summed[2] is None
        self._least = max(least * self._people.sum(), 1e-9)

    def scores(self, key, size, is_scored=None):
        """Return the score of each value, 0 where there are too few people.

        Parameters
        ----------
        key : ndarray of int, shape (n_cells,)
        size : int
            Number of values.
        is_scored : ndarray of bool, shape (n_scans, n_data), optional
            The data sets to score; None: all.

        Returns
        -------
        list of ndarray of float, shape (n_scored, size)
            By scan.
        """
        n_bins = self._scores[0].n_bins
        if is_scored is None:
            is_scored = np.ones((len(self._scores), len(self._a)), dtype=bool)
        used = np.flatnonzero(is_scored.any(axis=0))
        if not len(used):
            return [np.empty((0, size)) for _ in is_scored]
        people = h = np.bincount(key, self._people, size)
        if not self._is_counted:
            bin_key = key * n_bins + self._bins if n_bins > 1 else key
            h = np.bincount(bin_key, self._h, size * n_bins)
        a = np.array([np.bincount(key, self._a[i], size) for i in used])
        out = []
        for score, selected in zip(self._scores, is_scored[:, used], strict=True):
            values = score.on_grid(score.sign * a[selected], h.reshape(size, -1)).max(axis=-1)
            values[:, people < self._least] = 0.0
            out.append(values)
        return out
