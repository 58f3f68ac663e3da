"""The scan: ascent over sets of values, one attribute at a time, for many starts at once."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

_CELLS_AT_ONCE = 2_000_000
_BETTER = 1e-6  # a step must raise the score by more than this
_FEW = 10  # a random start does not narrow down to fewer rows than this


@dataclass(frozen=True)
class Attribute:
    """One attribute of the scan.

    Attributes
    ----------
    size : int
        Number of its values.
    ranges : ndarray of bool, shape (n_sets, size), or None
        The sets of values to choose from where only some make sense; None: any set.
    """

    size: int
    ranges: np.ndarray | None = None

    def cost(self, sets, penalty):
        """Return the penalty of sets of values, a bool array of shape (..., size)."""
        full = sets.all(axis=-1)
        n = 1 if self.ranges is not None else sets.sum(axis=-1)
        return np.where(full, 0.0, penalty * n)


@dataclass(frozen=True)
class Cells:
    """Rows that agree in all values and in the bin of their expectation, counted together.

    Attributes
    ----------
    codes : ndarray of intp, shape (n_attributes, n_cells)
    attributes : list of Attribute
    n : ndarray of float, shape (n_cells,)
        Rows.
    """

    codes: np.ndarray
    attributes: list
    n: np.ndarray


@dataclass(frozen=True)
class Rules:
    """What a subset must be like.

    Attributes
    ----------
    penalty : float
        Price of each value of a condition.
    min_rows : float
    max_conditions : int
    required : tuple of int
        Attributes one of which must have a condition; none: no such rule.
    """

    penalty: float
    min_rows: float
    max_conditions: int
    required: tuple


@dataclass(frozen=True)
class Starts:
    """Where ascents begin, and in which order they visit the attributes.

    Attributes
    ----------
    sets : list of ndarray of bool, shape (n_starts, size)
        Per attribute.
    order : ndarray of float, shape (n_starts, n_attributes)
        Lowest first.
    bound : ndarray of int, shape (n_starts,)
        The attribute that must keep a condition; -1 for none.
    """

    sets: list
    order: np.ndarray
    bound: np.ndarray

    @classmethod
    def draw(cls, cells, rules, n_starts, rng):
        """Start once (once per required attribute) from everyone, else from random subsets."""
        m = len(cells.attributes)
        sets = [np.ones((n_starts, a.size), dtype=bool) for a in cells.attributes]
        order = rng.random((n_starts, m))
        bound = np.full(n_starts, -1)
        for i in range(n_starts):
            if rules.required:
                bound[i] = rules.required[i % len(rules.required)]
                order[i, bound[i]] = -1.0
            keep, inside, used = rng.random(), np.ones(len(cells.n), dtype=bool), bound[i] >= 0
            turns = rng.permutation(m) if i >= max(1, len(rules.required)) else ()
            for j in turns:
                attribute = cells.attributes[j]
                chosen = rng.random(attribute.size) < keep
                if attribute.ranges is not None:
                    chosen = attribute.ranges[rng.integers(len(attribute.ranges))]
                narrower = inside & chosen[cells.codes[j]]
                full = chosen.all() or j == bound[i] or used >= rules.max_conditions
                if not full and narrower @ cells.n >= max(_FEW, rules.min_rows):
                    sets[j][i], inside, used = chosen, narrower, used + 1
        return cls(sets, order, bound)


class Scan:
    """The ascent of one score over the subsets of a table.

    Each step replaces one attribute's set of values by the best one given the others. For a fixed
    t the best set holds the values whose :math:`F_v(t)` exceeds the penalty; each value does so
    on an interval of t, so between the sorted ends of these intervals the set does not change,
    and the best of these at most 2V - 1 sets, each at its own best t, is the best of all
    :math:`2^V - 1`.

    Parameters
    ----------
    cells : Cells
    score : Score
    bins : ndarray of int, shape (n_cells,)
        Bin of each cell's expectation.
    h : ndarray of float, shape (n_cells,)
        Weight of each cell in the score.
    rules : Rules
    """

    def __init__(self, cells, score, bins, h, rules):
        self.cells, self.score, self.bins, self.h, self.rules = cells, score, bins, h, rules
        self.n_tested = 0

    def run(self, a, starts, go_on=lambda n: True):
        """Ascend from every start on every data set.

        Parameters
        ----------
        a : ndarray of float, shape (n_data, n_cells)
            What was observed in each cell, once per data set.
        starts : Starts
        go_on : callable
            Gets the number of subsets about to be scored; False ends the search.

        Returns
        -------
        sets : list of ndarray of bool, shape (n_data, n_starts, size)
            Per attribute.
        total : ndarray of float, shape (n_data, n_starts)
            Score less penalty; -inf where the rules leave no subset, or the search was ended.
        """
        n_data, n_starts = len(a), len(starts.order)
        sets = [np.tile(s, (n_data, 1)) for s in starts.sets]
        total = np.full(n_data * n_starts, -np.inf)
        size = max(1, _CELLS_AT_ONCE // max(len(self.cells.n), 1))
        for first in range(0, len(total), size):
            at = np.arange(first, min(first + size, len(total)))
            part = _Runs(self, a, at // n_starts, at % n_starts, starts)
            while part.step(go_on):
                pass
            total[at] = part.total
            for mine, found in zip(sets, part.sets, strict=True):
                mine[at] = found
        shape = (n_data, n_starts)
        return [s.reshape(*shape, -1) for s in sets], total.reshape(shape)

    def best_sets(self, attribute, a, h, n, bound, closed):
        """Return the best set of values of one attribute, given sums over each of its values.

        Parameters
        ----------
        attribute : Attribute
        a, n : ndarray of float, shape (n_runs, size)
        h : ndarray of float, shape (n_runs, size, n_bins)
        bound, closed : ndarray of bool, shape (n_runs,)
            Whether the attribute must have a condition; whether it must have none.

        Returns
        -------
        sets : ndarray of bool, shape (n_runs, size)
        value : ndarray of float, shape (n_runs,)
            Score less the penalty of this set; -inf where the rules allow none.
        """
        sets = self._candidates(attribute, a, h, bound.any())
        floats = sets.astype(float)
        total_n = np.matmul(floats, n[..., None])[..., 0]
        full = sets.all(axis=-1)
        allowed = sets.any(axis=-1) & np.where(full, ~bound[:, None], ~closed[:, None])
        allowed &= total_n >= self.rules.min_rows
        self.n_tested += int(allowed.sum())
        cost = attribute.cost(sets, self.rules.penalty) - 1e-9 * full  # no condition wins a tie
        a_sets, h_sets = np.matmul(floats, a[..., None])[..., 0], np.matmul(floats, h)
        grid = self.score.on_grid(a_sets, h_sets)
        close = self.score.may_win(grid, cost, allowed)
        value = np.full(a_sets.shape, -np.inf)
        value[close] = self.score.peak(a_sets[close], h_sets[close], grid[close])[1] - cost[close]
        best = value.argmax(axis=1)
        rows = np.arange(len(best))
        return sets[rows, best], value[rows, best] - 1e-9 * full[rows, best]

    def _candidates(self, attribute, a, h, some_bound):
        """Return the sets among which the best one is, shape (n_runs, n_sets, size)."""
        size, rows = attribute.size, len(a)
        everything = np.ones((1, size), dtype=bool)
        if attribute.ranges is not None:
            fixed = np.concatenate([everything, attribute.ranges])
            return np.broadcast_to(fixed, (rows, *fixed.shape))
        low, high = self.score.interval(a, h, self.rules.penalty)
        ends = np.sort(np.concatenate([low, high], axis=1), axis=1)
        middle = (ends[:, :-1] + ends[:, 1:])[..., None] / 2
        between = (low[:, None] < middle) & (middle < high[:, None])
        fixed = everything
        if some_bound:  # the best proper subset may lack just one value, or hold just one
            one = np.eye(size, dtype=bool)
            fixed = np.concatenate([everything, one, ~one] if size > 2 else [everything, one])
        return np.concatenate([np.broadcast_to(fixed, (rows, *fixed.shape)), between], axis=1)


class _Runs:
    """Some ascents, in step with each other."""

    def __init__(self, scan, a, data, start, starts):
        self.scan, self.a, self.data = scan, a, data
        self.bound, self.order = starts.bound[start], starts.order[start]
        self.sets = [s[start] for s in starts.sets]
        self.visited = np.zeros(self.order.shape, dtype=bool)
        self.total = np.full(len(start), -np.inf)
        cells = scan.cells
        self.violated = np.zeros((len(start), len(cells.n)), dtype=np.uint16)
        for codes, chosen in zip(cells.codes, self.sets, strict=True):
            if not chosen.all():
                self.violated += ~chosen[:, codes]

    @cached_property
    def _flat(self):
        return np.ascontiguousarray(self.a).ravel()

    def step(self, go_on):
        """Let every unfinished ascent choose one attribute's values anew; False when all ended."""
        runs = np.flatnonzero(~self.visited.all(axis=1))
        if not len(runs):
            return False
        waiting = np.where(self.visited[runs], np.inf, self.order[runs])
        pick = waiting.argmin(axis=1)
        before = self.scan.n_tested
        for j in np.unique(pick):
            self._choose(j, runs[pick == j])
        return go_on(self.scan.n_tested - before)

    def _choose(self, j, runs):
        scan, attribute = self.scan, self.scan.cells.attributes[j]
        codes, rules = scan.cells.codes[j], scan.rules
        own = ~self.sets[j][runs][:, codes]
        costs = np.zeros(len(runs))
        used = np.zeros(len(runs), dtype=int)
        for i, other in enumerate(scan.cells.attributes):
            if i != j:
                chosen = self.sets[i][runs]
                costs += other.cost(chosen, rules.penalty)
                used += ~chosen.all(axis=1)
        bound = self.bound[runs] == j
        closed = (used >= rules.max_conditions) & ~bound
        sums = self._sums(runs, self.violated[runs] == own, codes, attribute.size)
        chosen, value = scan.best_sets(attribute, *sums, bound, closed)
        total = np.where(self._is_free(runs) & ~bound, -np.inf, value - costs)
        better = total > self.total[runs] + _BETTER
        self.visited[runs[better]] = False
        self.visited[runs, j] = True
        up = runs[better]
        self.total[up] = total[better]
        self.violated[up] += (~chosen[better])[:, codes]
        self.violated[up] -= own[better]
        self.sets[j][up] = chosen[better]

    def _is_free(self, runs):
        """Say which runs have no condition yet on the attribute that must have one."""
        free = np.zeros(len(runs), dtype=bool)
        for j in np.unique(self.bound[runs]):
            if j >= 0:
                free |= (self.bound[runs] == j) & self.sets[j][runs].all(axis=1)
        return free

    def _sums(self, runs, inside, codes, size):
        """Sum over the rows inside, by run and value (and bin)."""
        scan, n_bins = self.scan, self.scan.score.n_bins
        n_cells = len(codes)
        at = np.flatnonzero(inside)
        run, cell = np.divmod(at, n_cells)
        key = run * size + codes[cell]
        shape = (len(runs), size)

        def add(weights, key=key, n=len(runs) * size):
            return np.bincount(key, weights, minlength=n)

        a = add(self._flat[self.data[runs][run] * n_cells + cell]).reshape(shape)
        n = add(scan.cells.n[cell]).reshape(shape)
        if n_bins == 1:
            h = add(scan.h[cell])
        else:
            h = add(scan.h[cell], key * n_bins + scan.bins[cell], len(runs) * size * n_bins)
        return a, h.reshape(*shape, n_bins), n
