"""Two kinds of rows under audit, of one form: counted by kind of outcome, or added up."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from skdisc._stats._means import Means, mean_and_error
from skdisc._stats._rates import (
    N_CELLS,
    RATES,
    WITHOUT_LABELS,
    GroupTally,
    posterior,
    rate_values,
)
from skdisc.subgroup._estimation import _confirmation, _scored, _single_groups
from skdisc.subgroup._estimation._counted import Decided, check_metrics
from skdisc.subgroup._estimation._scored import Scored
from skdisc.subgroup._lattice._lattice import Lattice, Patterns


@dataclass(frozen=True)
class Counted:
    """Rows whose rates come from counts: no weights, no other numbers."""

    rows: object  # Decided

    def __len__(self):
        return len(self.rows)

    @property
    def names(self):
        """Names of the measures."""
        return self.rows.metrics

    @property
    def weight(self):
        """No weights."""
        return None

    @property
    def people(self):
        """The people."""
        return self.rows.X

    @property
    def guide(self):
        """What the bins of a tree tell apart, by row: the first measure."""
        return rate_values(self.rows.cell, self.names[0])

    def at(self, mask):
        """Return some of the rows."""
        return Counted(self.rows.at(mask))

    def sizes(self, items):
        """Return the rows of every item."""
        return items.counts(self.rows.cell, N_CELLS).sum(axis=1)

    def size(self):
        """Return the number of rows."""
        return len(self.rows)

    def lattice(self, items, frequent):
        """Return the lattice of these items."""
        return Lattice(items.masks(frequent), items.feature[frequent], self.rows.cell, N_CELLS)

    def effects(self, patterns):
        """Return the comparison of every pattern by every measure."""
        return _Tallied(GroupTally.of(patterns.counts, self.rows.total, self.names), self.names)

    def support(self, patterns):
        """Return the rows of every pattern, and its size, which is the same."""
        rows = patterns.counts.sum(axis=1)
        return rows, rows

    def overall(self, significance):
        """Return everyone's rates with intervals."""
        return self.rows.overall(significance)

    def measure_again(self, findings, significance, correction):
        """Measure findings on these rows."""
        return _confirmation.measure_again(findings, self.rows, significance, correction)

    def single_groups(self, items, significance, correction, n_tests):
        """Compare single protected values."""
        counts = items.counts(self.rows.cell, N_CELLS)
        settings = significance, correction, n_tests
        return _single_groups.single_groups(items, counts, self.rows, *settings)


@dataclass(frozen=True)
class _Tallied:
    tally: GroupTally
    names: list

    @property
    def effect(self):
        return self.tally.effect

    @property
    def trials(self):
        return self.tally.n, self.tally.n_all

    def p_value(self):
        """Test each rate and its complement, such as accuracy and error rate, but once."""
        kinds = [frozenset(map(frozenset, RATES[name])) for name in self.names]
        first = [kinds.index(kind) for kind in kinds]
        own = np.unique(first)
        t = self.tally
        p_value = GroupTally(t.x[own], t.n[own], t.x_all[own], t.n_all[own]).p_value()
        return p_value[np.searchsorted(own, first)]

    def posterior(self):
        return posterior(self.tally.x, self.tally.n)

    def compare(self, measure, group, significance):
        return self.tally.at(measure, group).compare(significance)


@dataclass(frozen=True)
class Summed:
    """Rows whose means come from sums: with weights, or numbers that are no rates."""

    rows: object  # Scored

    def __len__(self):
        return len(self.rows)

    @property
    def names(self):
        """Names of the measures."""
        return self.rows.names

    @property
    def weight(self):
        """Weights of the rows, or None."""
        return self.rows.weight

    @property
    def people(self):
        """The people."""
        return self.rows.X

    @property
    def guide(self):
        """What the bins of a tree tell apart, by row: the first measure."""
        return self.rows.values[0]

    def at(self, mask):
        """Return some of the rows."""
        return Summed(self.rows.at(mask))

    def _columns(self):
        parts = [self.rows.columns(j)[0] for j in range(len(self.names))]
        return np.concatenate([self.rows.weights[None], np.ones((1, len(self))), *parts])

    def sizes(self, items):
        """Return the size of every item, in weights."""
        return items.sums(self.rows.weights[None])[:, 0]

    def size(self):
        """Return the sum of the weights."""
        return self.rows.weights.sum()

    def lattice(self, items, frequent):
        """Return the lattice of these items; what it adds up is in `sums`."""
        masks, columns = items.masks(frequent), self._columns()
        return Lattice(masks, items.feature[frequent], values=columns)

    def effects(self, patterns):
        """Return the comparison of every pattern by every measure."""
        sums = patterns.sums[:, 2:].T
        tallies = [
            self.rows.tally(j, sums[4 * j : 4 * j + 4], *self.rows.total(j))
            for j in range(len(self.names))
        ]
        return _Several(tallies, sums, [self.rows.total(j) for j in range(len(self.names))], self)

    def support(self, patterns):
        """Return the rows of every pattern, and its size in weights."""
        size, rows = patterns.sums[:, :2].T
        return np.rint(rows).astype(np.int64), size

    def overall(self, significance):
        """Return everyone's means with intervals."""
        return self.rows.overall(significance)

    def measure_again(self, findings, significance, correction):
        """Measure findings on these rows."""
        return _scored.measure_again(findings, self.rows, significance, correction)

    def single_groups(self, items, significance, correction, n_tests):
        """Compare single protected values."""
        return _scored.single_groups(items, self.rows, significance, correction, n_tests)


@dataclass(frozen=True)
class _Several:
    tallies: list
    sums: np.ndarray
    totals: list
    outcomes: Summed

    @property
    def effect(self):
        return np.array([np.ravel(t.effect) for t in self.tallies])

    @property
    def trials(self):
        n = np.array([self.sums[4 * j] for j in range(len(self.tallies))])
        return n, np.array([[total[0]] for total, _ in self.totals])

    def p_value(self):
        return np.array([np.ravel(t.p_value()) for t in self.tallies])

    def posterior(self):
        pairs = [
            mean_and_error(t.sums)[:2] if isinstance(t, Means) else posterior(t.x, t.n)
            for t in self.tallies
        ]
        binary = [not isinstance(t, Means) for t in self.tallies]
        variance = [v if b else v**2 for (_, v), b in zip(pairs, binary, strict=True)]
        return np.array([m for m, _ in pairs]), np.array(variance)

    def compare(self, measure, group, significance):
        parts, rows = [], self.outcomes.rows
        for j in range(len(self.tallies)):
            own = np.flatnonzero(measure == j)
            tally = rows.tally(j, self.sums[4 * j : 4 * j + 4, group[own]], *self.totals[j])
            parts.append(tally.compare(significance).set_axis(own))
        return pd.concat(parts).sort_index()


def rows_of(task, metric):
    """Return the rows under audit with their outcomes; none of them if the budget forbids.

    Parameters
    ----------
    task : Task
    metric : str, callable, or sequence of them
        Names of `RATES`, "all", or callables that take labels and decisions.
    """
    kinds = [metric] if isinstance(metric, str) or callable(metric) else list(metric)
    own = [kind for kind in kinds if callable(kind)]
    names = [kind for kind in kinds if not callable(kind)]
    has_model, has_labels = task.queries is not None, task.y is not None
    if names or not own:
        names = check_metrics(names[0] if names == ["all"] else names, has_model, has_labels)
    if has_model and not task.budget.opens(len(task.X)):
        return Counted(Decided(task.X.iloc[:0], np.empty(0, dtype=np.int64), names))
    decided = task.decisions() > 0.5
    with_labels = any(m not in WITHOUT_LABELS for m in names)
    wanted = task.favourable_labels() if with_labels else decided
    cell = 2 * wanted + decided
    if not own and task.weight is None:
        return Counted(Decided(task.X, cell, names))
    labels = task.favourable_labels() if has_labels else None
    values = [rate_values(cell, m) for m in names]
    values += [_numbers(f, labels, decided if has_model else None, len(cell)) for f in own]
    names = [*names, *(f.__name__ for f in own)]
    return Summed(Scored.ordered(task.X, np.array(values), names, task.weight))


def least_of(share, total):
    """Return the smallest size that is a share of a total, at least 1."""
    return np.maximum(1, np.ceil(share * np.asarray(total) - 1e-9))


def mine(rows, items, least, max_len, protected_only, spend):
    """Return the patterns of items of at least some size, all or those with a protected item."""
    frequent = np.flatnonzero(rows.sizes(items) >= least)
    roots = np.flatnonzero(items.protected[frequent]) if protected_only else None
    heaviest = 1.0 if rows.weight is None else max(1.0, rows.weight.max(initial=1.0))
    fewest = max(1, int(np.ceil(least / heaviest)))
    found = rows.lattice(items, frequent)
    found = found.mine(fewest, max_len, roots=roots, before_block=spend)
    if rows.weight is not None:
        large = found.sums[:, 0] >= least
        found = Patterns(found.items[large], found.counts[large], found.sums[large])
    return replace(found, items=np.append(frequent, -1)[found.items])


def _numbers(function, labels, decided, n):
    values = np.asarray(function(labels, decided), dtype=float)
    if values.shape != (n,) or np.isinf(values).any():
        raise ValueError(
            f"metric={function.__name__} must return one number per row, {n} of them, NaN where "
            f"there is none; got the shape {values.shape}"
            + (" with infinite values." if np.isinf(values).any() else ".")
        )
    return values
