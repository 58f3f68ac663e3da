"""The scan: ascent over sets of values, one attribute at a time, for many starts at once."""

from functools import partial
from itertools import cycle
from typing import NamedTuple

import numpy as np

from skdisc._space._codes import UNBOUND
from skdisc.subgroup._bias_scan._joined import packed, unpacked

_CELLS_AT_ONCE = 2_000_000
_CELLS_IN_CACHE = 10_000
_KICKS = 2  # largest number of times that the best end is perturbed
_BETTER = 1e-6  # a step must raise the score by more than this


class Scan:
    """The ascent of one score over the subsets of a table.

    Each step replaces one attribute's set of values by the best one given the others. For a fixed
    t the best set holds the values whose :math:`F_v(t)` exceeds the penalty; each value does so
    on an interval of t, so between the sorted ends of these intervals the set does not change,
    and the best of these at most 2V - 1 sets, each at its own best t, is the best of all
    :math:`2^V - 1` (penalized fast subset scanning, Speakman, Somanchi, McFowland and Neill 2016).

    Parameters
    ----------
    cells : Cells
    score : Score
    bins : ndarray of int, shape (n_cells,)
        Bin of each cell's expectation.
    h : ndarray of float, shape (n_cells,)
        Weight of each cell in the score.
    rules : ScanRules
    """

    def __init__(self, cells, score, bins, h, rules):
        self.cells, self.score, self.bins, self.h, self.rules = cells, score, bins, h, rules
        # People, weights and bins of cells; not the people where these are the weights, and no bins
        # where there is one.
        people = None if np.array_equal(h, cells.n) else cells.n
        self.summed = people, h, bins if score.n_bins > 1 else None
        self.n_tested = 0

    def run(self, a, starts, go_on=lambda n: True, n_kicks=_KICKS, memory=None):
        """Ascend from each start on each data set.

        Parameters
        ----------
        a : ndarray of float, shape (n_data, n_cells)
            Sum of the observed outcomes of each cell, for each data set.
        starts : Starts, or list of Starts
            One for all data sets, or one for each, with as many starts.
        go_on : callable
            ``go_on(n)`` gets the number of subsets scored, and returns False to end the search.
        memory : dict, optional
            The steps of earlier runs on the same data, which are not computed again; new ones are
            added. Only for data sets that are all equal.

        Returns
        -------
        sets : list of ndarray of bool, shape (n_data, n_starts, size)
            Per attribute.
        total : ndarray of float, shape (n_data, n_starts)
            Score less penalty; -inf if the rules allow no subset, or the search was ended.
        """
        n_data, numbers = len(a), self.numbers(a)
        data_starts = starts if isinstance(starts, list) else [starts] * n_data
        n_starts, turns = len(data_starts[0].bound), data_starts[0].turns
        data = np.repeat(np.arange(n_data), n_starts)
        must_keep = np.concatenate([s.bound for s in data_starts])
        sets = [np.concatenate(s) for s in zip(*(s.sets for s in data_starts), strict=True)]
        is_converged = np.zeros((len(data), len(sets)), dtype=bool)
        ascend = partial(self._ascend, turns=turns, go_on=go_on, memory=memory)
        total = ascend(numbers, data, sets, must_keep, is_converged)
        # Only the best run of each data set is perturbed.
        best_runs = n_starts * np.arange(n_data) + total.reshape(n_data, n_starts).argmax(axis=1)
        for _ in range(n_kicks):
            best_runs = self._kick(numbers, data, best_runs, sets, must_keep, total, ascend)
        shape = (n_data, n_starts)
        return [s.reshape(*shape, -1) for s in sets], total.reshape(shape)

    def numbers(self, a):
        """Return the numbers of cells that runs add up, given their outcomes."""
        people, h, bins = self.summed
        packed_cells = packed(a, h) if people is None else None
        if packed_cells is None:
            return _CellNumbers(np.ascontiguousarray(a), people, h, bins)
        return _CellNumbers(packed_cells, None, None, bins)

    def _kick(self, numbers, data, run, sets, bound, total, ascend):
        """Drop each condition of the subsets of some runs in turn, and ascend again.

        The attributes of the other conditions are visited first. Better subsets replace the old
        ones; the runs that have one are returned.
        """
        has_condition = [~s[run].all(axis=1) & np.isfinite(total[run]) for s in sets]
        drop, position = np.nonzero(np.array(has_condition).reshape(len(sets), len(run)))
        row = run[position]
        drop, row = (x[drop != bound[row]] for x in (drop, row))
        perturbed = [s[row] for s in sets]
        for j, s in enumerate(perturbed):
            s[drop == j] = True
        is_converged = np.array([s.all(axis=1) for s in perturbed], dtype=bool)
        is_converged = is_converged.reshape(len(sets), len(row)).T
        # Without other conditions, all are visited.
        is_converged &= ~is_converged.all(axis=1, keepdims=True)
        new_total = ascend(numbers, data[row], perturbed, bound[row], is_converged)
        better = np.flatnonzero(new_total > total[row] + _BETTER)
        better = better[np.argsort(new_total[better], kind="stable")]  # the best is assigned last
        total[row[better]] = new_total[better]
        for before, after in zip(sets, perturbed, strict=True):
            before[row[better]] = after[better]
        return np.unique(row[better])

    def _ascend(self, numbers, data, sets, bound, is_converged, turns, go_on, memory):
        """Ascend from these sets, in place, and return the score less penalty of each run."""
        total = np.full(len(data), -np.inf)
        size = max(1, _CELLS_AT_ONCE // max(len(self.cells.n), 1))
        for first in range(0, len(total), size):
            batch = slice(first, first + size)
            batch_sets = [s[batch] for s in sets]
            part = _Runs(
                self, numbers, data[batch], batch_sets, bound[batch], is_converged[batch], memory
            )
            _ascend([part], turns, go_on)
            total[batch] = part.total
        return total

    def best_sets(self, attribute, a, h, n, bound, closed):
        """Return the best set of values of one attribute, given sums over each of its values.

        Parameters
        ----------
        attribute : ScanAttribute
        a, n : ndarray of float, shape (n_runs, size)
        h : ndarray of float, shape (n_runs, size, n_bins)
        bound, closed : ndarray of bool, shape (n_runs,)
            Whether the attribute must have a condition; whether it must have none.

        Returns
        -------
        sets : ndarray of bool, shape (n_runs, size)
        value : ndarray of float, shape (n_runs,)
            Score less the penalty of this set; -inf if the rules allow none.
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
        """Return sets that include the best one, shape (n_runs, n_sets, size)."""
        size, rows = attribute.size, len(a)
        all_values = np.ones((1, size), dtype=bool)
        if attribute.ranges is not None:
            fixed = np.concatenate([all_values, attribute.ranges])
            return np.broadcast_to(fixed, (rows, *fixed.shape))
        low, high = self.score.interval(a, h, self.rules.penalty)
        ends = np.sort(np.concatenate([low, high], axis=1), axis=1)
        middle = (ends[:, :-1] + ends[:, 1:])[..., None] / 2
        between = (low[:, None] < middle) & (middle < high[:, None])
        fixed = all_values
        if some_bound:  # the best proper subset may lack a single value, or have a single one
            one = np.eye(size, dtype=bool)
            fixed = np.concatenate([all_values, one, ~one] if size > 2 else [all_values, one])
        return np.concatenate([np.broadcast_to(fixed, (rows, *fixed.shape)), between], axis=1)


def best_totals(scans, a, starts):
    """Return the best score less penalty from the starts of each of several tables.

    The tables have the same attributes, expectations and rules. Their runs ascend in step, so that
    the best sets of all are found at once.

    Parameters
    ----------
    scans : list of Scan
    a : list of ndarray of float, shape (n_cells,)
    starts : list of Starts
        With the same turns.

    Returns
    -------
    ndarray of float, shape (n_tables,)
    """
    parts = []
    for scan, sums, table_starts in zip(scans, a, starts, strict=True):
        sets, n = [s.copy() for s in table_starts.sets], len(table_starts.bound)
        is_converged = np.zeros((n, len(sets)), dtype=bool)
        parts.append(
            _Runs(
                scan,
                scan.numbers(sums[None]),
                np.zeros(n, np.intp),
                sets,
                table_starts.bound,
                is_converged,
                memory={},
            )
        )
    _ascend(parts, starts[0].turns)
    return np.array([part.total.max() for part in parts])


def _ascend(parts, turns, go_on=lambda n: True):
    """Choose the values of one attribute after the other, until no run of any part changes."""
    bound = np.unique(np.concatenate([part.bound for part in parts]))
    for j in bound[bound != UNBOUND]:
        _choose(j, parts, [np.flatnonzero(part.bound == j) for part in parts])
    for j in cycle(turns.tolist()):
        runs = [np.flatnonzero(~part.is_converged[:, j]) for part in parts]
        if any(map(len, runs)):
            before = parts[0].scan.n_tested
            _choose(j, parts, runs)
            if not go_on(parts[0].scan.n_tested - before):
                return
        elif all(part.is_converged.all() for part in parts):
            return


def _choose(j, parts, runs):
    """Choose the best values of one attribute in some runs of each part."""
    pairs = [(part, *part.recall(j, some)) for part, some in zip(parts, runs, strict=True)]
    active = [(part, part_runs) for part, part_runs, _ in pairs if len(part_runs)]
    if not active:
        return
    inputs = [part.inputs(j, part_runs) for part, part_runs in active]
    scan, columns = parts[0].scan, [np.concatenate(c) for c in zip(*inputs, strict=True)]
    chosen, value = scan.best_sets(scan.cells.attributes[j], *columns[:5])
    ends = np.cumsum([len(part_runs) for _, part_runs in active])[:-1]
    updates = (np.split(x, ends) for x in (chosen, value - columns[5]))
    for (part, part_runs), *best in zip(active, *updates, strict=True):
        part.remember(j, part_runs, *best)
        part.update(j, part_runs, *best)
    for part, _, repeated in pairs:
        part.recall(j, repeated)


class _CellNumbers(NamedTuple):
    """What is added up over cells: outcomes, people, the h of a score, and the bins to do so by.

    If h is None, `a` has both outcomes and h, `packed`. People of None are h, bins of None are one.
    """

    a: np.ndarray
    n: np.ndarray | None
    h: np.ndarray | None
    bins: np.ndarray | None

    def sums(self, key, n_keys, n_bins):
        """Return sums of a, h and n by key, of shape (n_keys,) or (n_keys, n_bins)."""
        bin_key = key if self.bins is None else key * n_bins + self.bins
        if self.h is None:
            a, h = unpacked(np.bincount(bin_key, self.a, n_keys * n_bins).reshape(-1, n_bins))
            return a.sum(axis=-1), h, h.sum(axis=-1)
        h = np.bincount(bin_key, self.h, n_keys * n_bins).reshape(-1, n_bins)
        n = h.sum(axis=-1) if self.n is None else np.bincount(key, self.n, n_keys)
        return np.bincount(key, self.a, n_keys), h, n

    def of(self, position, cell):
        """Return the numbers of some cells, of which `position` is that in all data sets."""
        of_cells = (None if x is None else x.take(cell) for x in self[1:])
        return _CellNumbers(self.a.take(position), *of_cells)

    def at(self, cell):
        """Return the numbers of some cells of one data set."""
        return self.of(cell, cell)


class _OpenCells(NamedTuple):
    """Cells of one run, with their numbers; positions of None: all."""

    positions: np.ndarray | None
    numbers: _CellNumbers

    def codes(self, codes):
        """Return the codes of these cells."""
        return codes if self.positions is None else codes.take(self.positions)


class _RunState:
    """What a run that is alone keeps as long as its sets stay.

    Attributes
    ----------
    near : ndarray of int
        Cells that violate one condition or none.
    violates : ndarray of bool
        Which of them violate one.
    numbers : _CellNumbers
        Of all cells.
    inside : _OpenCells
        Those that violate none.
    tables : dict
        Sums over the cells inside, by the id of the `CountedTogether`.
    """

    def __init__(self, violated, numbers):
        self.near = np.flatnonzero(violated <= 1)
        self.violates = violated[self.near].astype(bool)
        self.numbers, self.tables = numbers, {}
        self.inside = self.open(~self.violates)

    def open(self, which):
        """Return some of the cells nearby, in sorted order."""
        positions = self.near[which]
        if len(positions) == self.numbers.a.shape[-1]:
            return _OpenCells(None, self.numbers)
        return _OpenCells(positions, self.numbers.at(positions))

    def sums(self, joined, axis, n_bins):
        """Return sums over the cells inside by each value of one of some `CountedTogether`."""
        if id(joined) not in self.tables:
            numbers = self.inside.numbers
            key = self.inside.codes(joined.codes)
            if numbers.bins is not None:
                key = key + numbers.bins * joined.size
            table = np.bincount(key, numbers.a, joined.size * n_bins).reshape(n_bins, -1)
            self.tables[id(joined)] = table
        a, h = unpacked(joined.of(axis, self.tables[id(joined)]))
        return a.sum(axis=-1), h, h.sum(axis=-1)


class _Runs:
    """Several ascents that proceed in parallel."""

    def __init__(self, scan, numbers, data, sets, bound, is_converged, memory):
        self.scan, self.numbers, self.data, self.memory = scan, numbers, data, memory
        self.sets, self.bound, self.is_converged = sets, bound, is_converged
        self.total = np.full(len(data), -np.inf)
        self.violated = np.zeros((len(data), len(scan.cells.n)), dtype=np.int16)
        self.costs = np.zeros(is_converged.shape)
        self.has_condition = np.zeros(is_converged.shape, dtype=bool)
        self.states = {}  # of runs alone
        self.texts = {}  # of all sets of a run
        self.ends = np.cumsum([0, *(x.size for x in scan.cells.attributes)]).tolist()
        for j, chosen in enumerate(sets):
            start = chosen.copy()
            chosen[:] = True
            self._set(j, np.arange(len(data)), start)

    def recall(self, j, runs):
        """Take the steps that are remembered.

        Returns
        -------
        new, repeated : ndarray of int
            The other runs: one of each state, and those that are in the state of one of these.
        """
        if self.memory is None or not len(runs):
            return runs, runs[:0]
        new, remembered = {}, []
        repeated = []
        for run in runs:
            key = self._state(j, run)
            if key in self.memory:
                remembered.append((run, *self.memory[key]))
            elif key in new:
                repeated.append(run)
            else:
                new[key] = run
        if remembered:
            self.update(j, *map(np.array, zip(*remembered, strict=True)))
        return np.array(list(new.values()), dtype=np.intp), np.array(repeated, dtype=np.intp)

    def remember(self, j, runs, chosen, total):
        """Keep the best sets of an attribute, and the score less penalty."""
        if self.memory is not None:
            for run, *best in zip(runs, chosen, total, strict=True):
                self.memory[self._state(j, run)] = best

    def _state(self, j, run):
        """Return what the best set of an attribute depends on."""
        if run not in self.texts:
            self.texts[run] = b"".join(s[run].tobytes() for s in self.sets)
        text, (start, stop) = self.texts[run], self.ends[j : j + 2]
        return j, self.bound[run], text[:start], text[stop:]

    def inputs(self, j, runs):
        """Return the inputs of `Scan.best_sets` for an attribute, and the cost of the others."""
        rules, costs, has_condition = self.scan.rules, self.costs[runs], self.has_condition[runs]
        costs[:, j], has_condition[:, j] = 0.0, False
        bound = self.bound[runs]
        free = (bound != UNBOUND) & (bound != j) & ~has_condition[np.arange(len(runs)), bound]
        bound = bound == j
        closed = (has_condition.sum(axis=1) >= rules.max_conditions) & ~bound
        return *self._sums(j, runs), bound, closed, np.where(free, np.inf, costs.sum(axis=1))

    def update(self, j, runs, chosen, total):
        """Take these values where they raise the score less penalty, `total`."""
        better = total > self.total[runs] + _BETTER
        self.is_converged[runs[better & np.isfinite(self.total[runs])]] = False
        self.is_converged[runs, j] = True
        improved = runs[better]
        self.total[improved] = total[better]
        self._set(j, improved, chosen[better])

    def _parts(self, runs):
        """Split runs into parts whose cells fit into the processor's cache."""
        size = max(1, _CELLS_IN_CACHE // self.violated.shape[1])
        return (runs[i : i + size] for i in range(0, len(runs), size))

    def _set(self, j, runs, chosen):
        """Set the values of one attribute; update violations per cell, penalties and conditions."""
        shift = np.subtract(self.sets[j][runs], chosen, dtype=self.violated.dtype)
        for part in self._parts(np.flatnonzero(shift.any(axis=1))):
            self.violated[runs[part]] += np.take(shift[part], self.scan.cells.codes[j], axis=1)
            for run in runs[part]:
                self.states.pop(run, None)
                self.texts.pop(run, None)
        self.sets[j][runs] = chosen
        self.costs[runs, j] = self.scan.cells.attributes[j].cost(chosen, self.scan.rules.penalty)
        self.has_condition[runs, j] = ~chosen.all(axis=1)

    def _sums(self, j, runs):
        """Return sums over the cells that satisfy all other conditions, by run, value and bin."""
        scan, n_bins, sums = self.scan, self.scan.score.n_bins, []
        codes, size = scan.cells.codes[j], scan.cells.attributes[j].size
        for part in self._parts(runs):
            if len(part) == 1:
                a, h, n = self._sums_alone(j, part[0])
            else:
                violates = np.take(~self.sets[j][part], codes, axis=1)
                run, cell = np.divmod(np.flatnonzero(self.violated[part] == violates), len(codes))
                numbers = self.numbers.of(self.data[part][run] * len(codes) + cell, cell)
                key = run * size + codes.take(cell)
                a, h, n = numbers.sums(key, len(part) * size, n_bins)
            shape = len(part), size
            sums.append((a.reshape(shape), h.reshape(*shape, n_bins), n.reshape(shape)))
        return map(np.concatenate, zip(*sums, strict=True))

    def _sums_alone(self, j, run):
        scan, n_bins = self.scan, self.scan.score.n_bins
        if run not in self.states:
            numbers = self.numbers._replace(a=self.numbers.a[self.data[run]])
            self.states[run] = _RunState(self.violated[run], numbers)
        state, cells = self.states[run], self.states[run].inside
        codes, size = scan.cells.codes[j], scan.cells.attributes[j].size
        if self.has_condition[run, j]:
            violates_attribute = ~self.sets[j][run][codes.take(state.near)]
            cells = state.open(state.violates == violates_attribute)
        elif self.numbers.h is None:
            joined, axis = scan.cells.joined[j]
            # Tables of many combinations are for many cells.
            if joined.size * n_bins <= len(cells.numbers.a):
                return state.sums(joined, axis, n_bins)
        return cells.numbers.sums(cells.codes(codes), size, n_bins)
