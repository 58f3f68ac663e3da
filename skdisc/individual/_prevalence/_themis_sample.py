"""Uniform draws with the outcomes of all their variants, and the scores computed from them."""

import numpy as np

from skdisc import _stats
from skdisc._utils._hashing import Growing
from skdisc.individual._search._loop import Ledger

_AT_ONCE, _REPEATED = 50_000, 5_000


class Sample:
    """Uniform draws with the outcomes of all their variants.

    Parameters
    ----------
    sets : list of tuple of int
        Sets of protected attributes, by position.

    Attributes
    ----------
    n, n_hits, n_blocks : int
        Number of draws, where repeated inputs count again, of those with a case, and of blocks.
    tallies : list of ComboTally
        One for each set of protected attributes.
    """

    def __init__(self, prober, task, sets):
        self.prober, self.task, self.ledger = prober, task, Ledger(prober)
        small = np.int8 if task.queries.output == "decision" else float
        self._outcomes = Growing(small, prober.n_combos)
        self.tallies = [ComboTally(prober.shape, attributes) for attributes in sets]
        self.n = self.n_hits = self.n_blocks = 0
        self.changes, self.chance = np.zeros(0, dtype=bool), [None] * len(sets)

    def repeat(self, sets):
        """Query a random model about one variant of each input, as often as inputs have variants.

        This tells how often outcomes change by chance: ``changes`` by input, and ``chance``, a
        tally for each set of attributes.
        """
        prober, task = self.prober, self.task
        n = int(min(self.n, _REPEATED, task.budget.queries_left // prober.n_combos))
        codes, combo = task.space.sample(n, task.rng), task.rng.integers(prober.n_combos, size=n)
        codes[:, task.space.p_index] = prober.combos[combo]
        rows = task.space.decode(codes)
        outcomes = [task.queries.ask(rows) for _ in range(prober.n_combos)]
        outcomes = np.column_stack(outcomes) if n else np.empty((0, prober.n_combos))
        self.changes = np.ptp(outcomes, axis=1) > prober.min_gap
        self.chance = [ComboTally(prober.shape, attributes) for attributes in sets]
        for tally in self.chance:
            tally.add(outcomes, combo, prober.min_gap)

    def draw(self, n):
        """Draw `n` more inputs, fewer if a budget ends, and query the model about new ones."""
        self.n_blocks += 1
        for start in range(0, n, _AT_ONCE):
            self._draw(min(n - start, _AT_ONCE))
            if self.task.budget.stopped_by is not None:
                break

    def _draw(self, n):
        """Draw a batch."""
        task, prober = self.task, self.prober
        codes = task.space.sample(n, task.rng)
        combos = task.rng.integers(prober.n_combos, size=n)
        ids, first = self.ledger.visited.add(task.space.key(codes, task.space.np_index))
        new = np.flatnonzero(first)
        codes = codes[new[: task.budget.allow(len(new), prober.n_combos)]]
        outcomes = prober.outcomes(codes)
        if len(outcomes) < len(new):
            keep = slice(0, new[len(outcomes)])
            codes, ids, combos = codes[: len(outcomes)], ids[keep], combos[keep]
        hit = prober.is_case(outcomes)
        self.ledger.record(codes, outcomes, hit)
        self._outcomes.extend(outcomes)
        drawn = self._outcomes.rows[ids]
        for tally in self.tallies:
            tally.add(drawn, combos, prober.min_gap)
        self.n += len(ids)
        self.n_hits += int(self.ledger.hit[ids].sum())
        task.budget.tests += len(codes)
        task.budget.found += int(hit.sum())

    def groups(self, attributes):
        """Return the assignments of some protected attributes as text, in the order of groups."""
        space = self.task.space
        columns = [space.columns[space.p_index[a]] for a in attributes]
        grid = np.indices([len(c.probes) for c in columns]).reshape(len(columns), -1).T
        texts = [[f"{c.name}={c.text(code)}" for code in c.probes] for c in columns]
        return [", ".join(t[i] for t, i in zip(texts, row, strict=True)) for row in grid]


class ComboTally:
    """Sums over draws from which the scores of one set of protected attributes are computed.

    A group is an assignment of the set; the other protected attributes keep the values drawn.

    `shape`: number of values of each protected attribute. `attributes`: positions among the
    protected attributes.
    """

    def __init__(self, shape, attributes):
        other_axes = [j for j in range(len(shape)) if j not in attributes]
        combo = np.arange(np.prod(shape)).reshape(shape).transpose(*other_axes, *attributes)
        self._combo = combo.reshape(-1, int(np.prod([shape[a] for a in attributes])))
        self._row_of = np.empty(combo.size, dtype=np.intp)
        self._row_of[self._combo] = np.arange(len(self._combo))[:, None]
        self.n = self.hits = 0
        self.total, self.apart, self.squares = np.zeros((3, self._combo.shape[1]))

    def add(self, outcomes, combos, min_gap):
        """Add draws.

        `combos`: the combination of each draw. `min_gap`: gap between outcomes that must be
        exceeded. Shapes: `outcomes` (n, n_combos).
        """
        if len(self._combo) == 1:
            by_group = outcomes.T[self._combo[0]]
        else:
            by_group = outcomes[np.arange(len(outcomes)), self._combo[self._row_of[combos]].T]
        self.n += len(outcomes)
        self.hits += int(np.sum(by_group.max(axis=0) - by_group.min(axis=0) > min_gap))
        deviation = by_group - by_group.mean(axis=0)
        self.total += by_group.sum(axis=1)
        self.apart += deviation.sum(axis=1)
        self.squares += np.einsum("ij,ij->i", deviation, deviation)

    def causal_score(self, level, chance=None, n_distinct=None):
        """Return the share of draws with a gap, and its interval.

        For a random model, what exceeds the share of `chance`, the tally of repeated queries; the
        interval then counts `n_distinct` draws, as equal inputs are queried once.
        """
        if chance is not None:
            if not chance.n:
                return np.nan, np.nan, np.nan
            scale = min(n_distinct / self.n, 1.0)
            ends = _stats.newcombe(self.hits * scale, self.n * scale, chance.hits, chance.n, level)
            ends = np.maximum(ends, 0)
            return max(self.hits / self.n - chance.hits / chance.n, 0.0), *map(float, ends)
        low, high = _stats.clopper_pearson(self.hits, self.n, level)
        return self.hits / self.n, float(low), float(high)

    def group_score(self, level):
        r"""Return the largest minus the smallest mean outcome of a group, with its interval.

        Let :math:`c_{ig}` be the outcome of draw i in group g minus the mean outcome of draw i over
        the groups, a number of range :math:`R = 2 - 2 / G`. With probability :math:`1 - \alpha`
        the means :math:`E c_g` of all G groups lie within
        :math:`\sqrt{2 v_g \ln(3 G / \alpha) / n} + 3 R \ln(3 G / \alpha) / n` of the sample means
        (Audibert, Munos and Szepesvári 2009, :doi:`10.1016/j.tcs.2009.01.016`). The interval
        follows from these bounds, and is valid for any number of groups, even equal ones.
        """
        n, n_groups = self.n, len(self.total)
        mean, log = self.apart / n, np.log(3 * n_groups / level)
        variance = np.maximum(self.squares / n - mean**2, 0)
        half = np.sqrt(2 * variance * log / n) + 6 * (1 - 1 / n_groups) * log / n
        low = (mean - half).max() - (mean + half).min()
        high = (mean + half).max() - (mean - half).min()
        return float(np.ptp(mean)), float(max(low, 0.0)), float(min(high, 1.0))
