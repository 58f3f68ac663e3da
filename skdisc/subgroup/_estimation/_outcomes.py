"""Rows under audit behind one interface: `Counted` and `Summed`.

`Counted` has rates from confusion counts, `Summed` weighted means. For each measure they have
*sums*, an array of shape (n_sums, n_groups), which `tally` turns into the comparison of the groups
with the rest of the rows: confusion counts in `Counted`, in `Summed` the sums of `Means`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import stats

from skdisc import _stats
from skdisc._results._findings import ESTIMATES
from skdisc._space._items import Items
from skdisc._stats._effective_tally import EffectiveTally, effective_size
from skdisc._stats._means import Means, mean_and_error, moment_columns, rest_of
from skdisc._stats._rates import (
    N_CELLS,
    RATES,
    GroupTally,
    hits_and_trials,
    rate_values,
)
from skdisc._utils._frequency import count, taken
from skdisc.subgroup._estimation._outcome_rows import OutcomeRows
from skdisc.subgroup._lattice._conjunctions import Patterns
from skdisc.subgroup._lattice._lattice import Lattice


@dataclass(frozen=True)
class Counted(OutcomeRows):
    """Rows with their confusion cells: rates from counts.

    Attributes
    ----------
    X : DataFrame of shape (n_rows, n_columns)
    cell : ndarray of int, shape (n_rows,)
        TN, FP, FN or TP; TN or TP if there are no labels besides the decisions.
    names : list of str
        Names of the rates to measure.
    frequency : ndarray of int64, shape (n_rows,), or None
        Number of equal people of each row; None: 1.

    Examples
    --------
    >>> X = pd.DataFrame({"sex": ["F", "F", "M", "M"]})
    >>> cell = np.array([0, 3, 3, 3])  # one negative, three positives
    >>> rows = Counted(X, cell, ["selection_rate"])
    >>> sums = rows.group_sums(0, [X["sex"] == "F", X["sex"] == "M"])
    >>> sums  # cells by groups
    array([[1, 0],
           [0, 0],
           [0, 0],
           [1, 2]])
    >>> rows.tally(0, sums).effect  # from the overall rate of 0.75
    array([-0.25,  0.25])
    """

    X: pd.DataFrame
    cell: np.ndarray
    names: list
    frequency: np.ndarray | None = None

    @cached_property
    def total(self) -> np.ndarray:
        """Number of people per cell, shape (4,)."""
        return count(self.cell, N_CELLS, self.frequency)

    def outcome(self, j: int) -> np.ndarray:
        """Return the outcome of each row by a measure, NaN where the row does not enter it."""
        return rate_values(self.cell, self.names[j])

    @cached_property
    def test_of(self) -> list[int]:
        """For each rate, the first one with the same test: a rate and its complement share it."""
        kinds = [frozenset(map(frozenset, RATES[name])) for name in self.names]
        return [kinds.index(kind) for kind in kinds]

    def at(self, which: np.ndarray) -> "Counted":
        """Return the rows selected by a mask or by positions."""
        frequency = taken(self.frequency, which)
        return Counted(self._X_at(which), self.cell[which], self.names, frequency)

    def tally(self, j: int, sums: np.ndarray, of_context: np.ndarray | None = None) -> GroupTally:
        """Return the comparison of groups with the rest by a rate, a `GroupTally`.

        The rest of all rows, or of the contexts whose sums are given.
        """
        name, total = self.names[j], self.total if of_context is None else of_context.T
        return GroupTally(*hits_and_trials(sums.T, name), *hits_and_trials(total, name))

    def effective(self, j: int, sums: np.ndarray) -> np.ndarray:
        """Return the number of people behind sums, shape (n_groups,)."""
        return hits_and_trials(sums.T, self.names[j])[1].astype(float)

    def total_sums(self, j: int) -> np.ndarray:
        """Return the sums over all rows, shape (4,)."""
        return self.total

    def item_support(self, items: Items) -> np.ndarray:
        """Return the number of people of each item."""
        return self._item_counts(items).sum(axis=1)

    def item_sums(self, items: Items) -> list[np.ndarray]:
        """Return the sums over each item, by measure."""
        return [self._item_counts(items).T] * len(self.names)

    def _item_counts(self, items):
        """Return the number of people of each item by cell; of the last items they are kept."""
        if self._counted_items.get("items") is not items:
            counts = items.counts(self.cell, N_CELLS, self.frequency)
            self._counted_items.update(items=items, counts=counts)
        return self._counted_items["counts"]

    @cached_property
    def _counted_items(self):
        return {}

    def support(self, patterns: Patterns) -> tuple[np.ndarray, np.ndarray]:
        """Return the number of rows of each pattern, and its size, which is the same."""
        rows = patterns.counts.sum(axis=1)
        return rows, rows

    def overall(self, significance: float) -> pd.DataFrame:
        """Return the overall rates with their Wilson intervals."""
        x, n = np.array([hits_and_trials(self.total, m) for m in self.names]).T
        low, high = _stats.wilson(x, n, significance)
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = x / n
        columns = {"name": self.names, "estimate": rate, "ci_low": low, "ci_high": high, "n": n}
        return pd.DataFrame(columns)

    def _lattice(self, masks, feature):
        return Lattice(masks, feature, self.cell, N_CELLS, frequency=self.frequency)

    def pattern_sums(self, patterns: Patterns) -> list[np.ndarray]:
        """Return the sums over each pattern mined from these rows, by measure."""
        return [patterns.counts.T] * len(self.names)

    def group_sums(self, j: int, masks: Sequence) -> np.ndarray:
        """Return the sums over the rows of each bool mask, shape (4, n_groups)."""
        counts = [count(self.cell[m], N_CELLS, taken(self.frequency, m)) for m in masks]
        return np.array(counts, dtype=np.int64).reshape(-1, N_CELLS).T


@dataclass(frozen=True)
class Summed(OutcomeRows):
    """Rows with one number per measure: weighted means from sums.

    Attributes
    ----------
    X : DataFrame of shape (n_rows, n_columns)
    values : ndarray of float, shape (n_measures, n_rows)
        NaN where a row has none.
    names : list of str
        Names of the measures.
    weight : ndarray of float, shape (n_rows,), or None
    cluster : ndarray of shape (n_rows,), or None
        The cluster of each row.
    frequency : ndarray of int64, shape (n_rows,), or None
        Number of equal people of each row; None: 1.

    Examples
    --------
    >>> X = pd.DataFrame({"sex": ["F", "F", "M", "M"]})
    >>> rows = Summed(X, np.array([[1000.0, 1200.0, 1600.0, np.nan]]), ["pay"])
    >>> sums = rows.group_sums(0, [X["sex"] == "F"])
    >>> rows.tally(0, sums).effect.round(1)  # 1100 against 1266.7, the mean of those with a number
    array([-166.7])
    """

    X: pd.DataFrame
    values: np.ndarray
    names: list
    weight: np.ndarray | None = None
    cluster: np.ndarray | None = None
    frequency: np.ndarray | None = None

    @classmethod
    def ordered(
        cls,
        X: pd.DataFrame,
        values: np.ndarray,
        names: list,
        weight: np.ndarray | None = None,
        cluster: np.ndarray | None = None,
        frequency: np.ndarray | None = None,
    ) -> "Summed":
        """Sort the rows by their numbers: sums then do not depend on the order of the rows."""
        rows = cls(X, values, names, weight, cluster, frequency)
        if all(rows.is_binary(j) for j in range(len(names))):
            return rows
        further = [column for column in (weight, frequency) if column is not None]
        order = np.lexsort([*values, *further])
        return rows.at(order)

    def outcome(self, j: int) -> np.ndarray:
        """Return the outcome of each row by a measure, NaN where the row does not enter it."""
        return self.values[j]

    def at(self, which: np.ndarray) -> "Summed":
        """Return the rows selected by a mask or by positions."""
        columns = (taken(c, which) for c in (self.weight, self.cluster, self.frequency))
        return Summed(self._X_at(which), self.values[:, which], self.names, *columns)

    def is_binary(self, j: int) -> bool:
        """Return whether the numbers of a measure are 0, 1 or missing, and rows have no weights."""
        return self.weight is None and self._zero_one[j]

    @property
    def has_numbers(self) -> bool:
        """Whether means of numbers are compared, which may be skewed."""
        return not self._zero_one.all()

    @cached_property
    def _zero_one(self):
        plain = np.isnan(self.values) | (self.values == 0) | (self.values == 1)
        return plain.all(axis=1)

    @cached_property
    def weights(self) -> np.ndarray:
        """The weight of each row, 1 where none is given."""
        return np.ones(len(self)) if self.weight is None else self.weight

    def columns(self, j: int) -> tuple[np.ndarray, float]:
        """Return what `Means` adds up, an array of shape (n_sums, n_rows), and the center."""
        has_value = ~np.isnan(self.values[j])
        weight = self.weights * has_value
        value = np.where(has_value, self.values[j], 0.0)
        center = 0.0  # without one, variances of large numbers would be lost to rounding
        if not self._zero_one[j] and weight.sum() > 0:
            people = weight if self.frequency is None else weight * self.frequency
            center = float(people @ value / people.sum())
        centered = (value - center) * has_value
        return moment_columns(weight, centered, self.weight is not None), center

    def added(self, j: int) -> np.ndarray:
        """Return the sums of `Means` over the people of each row, shape (n_sums, n_rows)."""
        columns = self.columns(j)[0]
        return columns if self.frequency is None else columns * self.frequency

    @property
    def n_sums(self) -> int:
        """Number of the sums of `Means`."""
        return 5 if self.weight is None else 11

    @cached_property
    def totals(self) -> list[tuple[np.ndarray, float]]:
        """By measure, the sums over all rows, an array of shape (n_sums,), and the center."""
        return [self._total(j) for j in range(len(self.names))]

    def _total(self, j):
        if self.is_binary(j):
            return self.group_sums(j, [np.ones(len(self), dtype=bool)])[:, 0], 0.0
        return self.added(j).sum(axis=1), self.columns(j)[1]

    def effective(self, j: int, sums: np.ndarray) -> np.ndarray:
        """Return the effective number of people behind sums, shape (n_groups,).

        Kish's (sum of weights)^2 / (sum of squared weights), rows 0 and 3 of the sums of `Means`.
        Differences of sums may be below 0 by rounding.
        """
        weight, squares = np.maximum(sums[0], 0.0), np.maximum(sums[3], 0.0)
        return np.where(squares > 1e-12, weight**2 / np.maximum(squares, 1e-12), 0.0)

    def total_sums(self, j: int) -> np.ndarray:
        """Return the sums over all rows, shape (n_sums,)."""
        return self.totals[j][0]

    def tally(
        self,
        j: int,
        sums: np.ndarray,
        of_context: np.ndarray | None = None,
        of_side: np.ndarray | None = None,
    ) -> GroupTally | EffectiveTally | Means:
        """Return the comparison of groups with the rest: of proportions, or of means.

        Parameters
        ----------
        j : int
        sums : ndarray of float, shape (n_sums, n_groups)
        of_context : ndarray of float, shape (n_sums, n_groups), optional
            The sums over the contexts that the rest belongs to; None: all rows.
        of_side : ndarray of float, shape (n_sums, n_groups), optional
            The sums over all people of the protected part of each group, whose numbers tell how
            skewed those of the group are; None: over the group.

        Returns
        -------
        GroupTally, EffectiveTally or Means
        """
        everyone, center = self.totals[j]
        total = everyone if of_context is None else of_context
        if not self._zero_one[j]:
            sides = None if of_side is None else (of_side, rest_of(of_side, everyone[:, None]))
            return Means(sums, total, center, sides=sides)
        if self.weight is not None:
            return EffectiveTally.of_sums(sums, total)
        counts = *sums[[1, 0]], *total[[1, 0]]
        return GroupTally(*(np.rint(a).astype(np.int64) for a in counts))

    def item_sums(self, items: Items) -> list[np.ndarray]:
        """Return the sums over each item, by measure."""
        return [self._item_sums(j, items) for j in range(len(self.names))]

    def _item_sums(self, j, items):
        if not self.is_binary(j):
            return items.sums(self.added(j)).T
        value = self.values[j]
        cell = np.where(np.isnan(value), 2, value == 1).astype(np.int64)
        n_no, n_yes, _ = items.counts(cell, 3, self.frequency).T.astype(float)
        return np.stack([n_no + n_yes, n_yes, n_yes, n_no + n_yes, n_yes])

    def support(self, patterns: Patterns) -> tuple[np.ndarray, np.ndarray]:
        """Return the number of rows of each pattern, and its size in weights."""
        size, rows = patterns.sums[:, :2].T
        return np.rint(rows).astype(np.int64), size

    def overall(self, significance: float) -> pd.DataFrame:
        """Return the overall means with their intervals."""
        rows = []
        for j, name in enumerate(self.names):
            total, center = self.totals[j]
            if self._zero_one[j]:
                mean = total[1] / total[0] if total[0] else np.nan
                n = total[0] if self.weight is None else effective_size(total)
                low, high = map(float, _stats.wilson(np.nan_to_num(mean) * n, n, significance))
            else:
                mean, error, n = mean_and_error(total)
                half = stats.t.isf(significance / 2, n - 1) * error
                low, high, mean = (float(v) + center for v in (mean - half, mean + half, mean))
            rows.append((name, mean, low, high, self.people_in([~np.isnan(self.values[j])])[0]))
        return pd.DataFrame(rows, columns=ESTIMATES)

    def _lattice(self, masks, feature):
        """Return a lattice that adds up weights and rows, and the sums of each measure."""
        parts = [self.columns(j)[0] for j in range(len(self.names))]
        columns = np.concatenate([self.weights[None], np.ones((1, len(self))), *parts])
        return Lattice(masks, feature, values=columns, frequency=self.frequency)

    def pattern_sums(self, patterns: Patterns) -> list[np.ndarray]:
        """Return the sums over each pattern mined from these rows, by measure."""
        return list(patterns.sums[:, 2:].T.reshape(len(self.names), self.n_sums, -1))

    def group_sums(self, j: int, masks: Sequence) -> np.ndarray:
        """Return the sums over the rows of each bool mask, shape (n_sums, n_groups)."""
        if self.is_binary(j):  # counts are faster than sums
            has_value, yes = ~np.isnan(self.values[j]), self.values[j] == 1
            counts = [self.people_in((has_value & m, yes & m)) for m in masks]
            return np.array(counts, dtype=float).reshape(-1, 2)[:, [0, 1, 1, 0, 1]].T
        columns = self.added(j)
        return np.array([columns[:, m].sum(axis=1) for m in masks]).reshape(-1, self.n_sums).T
