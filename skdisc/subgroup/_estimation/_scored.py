"""Rows with numbers, errors or outcomes, whose means are compared between groups."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import stats

from skdisc import _stats
from skdisc._stats._means import Means, mean_and_error
from skdisc._stats._rates import GroupTally

_FEW = 16


@dataclass(frozen=True)
class Scored:
    """Rows with one number per measure.

    Attributes
    ----------
    X : DataFrame of shape (n_rows, n_columns)
    values : ndarray of float, shape (n_measures, n_rows)
        NaN where a row has none.
    names : list of str
        Of the measures.
    weight : ndarray of float, shape (n_rows,), or None
    """

    X: pd.DataFrame
    values: np.ndarray
    names: list
    weight: np.ndarray | None = None

    @classmethod
    def ordered(cls, X, values, names, weight=None):
        """Sort the rows by their numbers: sums then do not depend on the order of the rows."""
        rows = cls(X, values, names, weight)
        if all(rows.is_binary(j) for j in range(len(names))):
            return rows
        order = np.lexsort([*values, np.ones(len(X)) if weight is None else weight])
        return rows.at(order)

    def __len__(self):
        return len(self.X)

    def at(self, which):
        """Return some of the rows, by mask or position."""
        weight = None if self.weight is None else self.weight[which]
        X = self.X.iloc[which if which.dtype != bool else np.flatnonzero(which)]
        return Scored(X.reset_index(drop=True), self.values[:, which], self.names, weight)

    def is_binary(self, j):
        """Whether the numbers of a measure are 0, 1 or missing, and no row counts more or less."""
        return self._binary[j]

    @cached_property
    def _binary(self):
        return self._zero_one & (self.weight is None)

    @cached_property
    def _zero_one(self):
        plain = np.isnan(self.values) | (self.values == 0) | (self.values == 1)
        return plain.all(axis=1)

    @cached_property
    def weights(self):
        """The weight of each row, 1 where none is given."""
        return np.ones(len(self)) if self.weight is None else self.weight

    def columns(self, j):
        """Return what `Means` adds up, an array of shape (4, n_rows), and the center."""
        known = ~np.isnan(self.values[j])
        weight = self.weights * known
        value = np.where(known, self.values[j], 0.0)
        center = 0.0
        if not self._zero_one[j] and weight.sum() > 0:
            center = float(weight @ value / weight.sum())
        moved = (value - center) * known
        return np.stack([weight, weight * moved, weight * moved**2, weight**2]), center

    def total(self, j):
        """Return what `Means` adds up over everyone, an array of shape (4,), and the center."""
        if not self.is_binary(j):
            columns, center = self.columns(j)
            return columns.sum(axis=1), center
        n, x = np.sum(~np.isnan(self.values[j])), np.sum(self.values[j] == 1)
        return np.array([n, x, x, n], dtype=float), 0.0

    def by_item(self, j, items):
        """Return what `Means` adds up over each item, an array of shape (4, n_items)."""
        if not self.is_binary(j):
            return items.sums(self.columns(j)[0]).T
        cell = np.where(np.isnan(self.values[j]), 2, self.values[j] == 1).astype(np.int64)
        no, x, _ = items.counts(cell, 3).T.astype(float)
        return np.stack([no + x, x, x, no + x])

    def tally(self, j, sums, total, center):
        """Return the comparison that fits the measure: of proportions, or of means.

        Parameters
        ----------
        j : int
        sums : ndarray of float, shape (4, n_groups)
        total : ndarray of float, shape (4,)
        center : float
        """
        if not self.is_binary(j):
            return Means(sums, total, center)
        x, n, x_all, n_all = np.rint([*sums[[1, 0]], *total[[1, 0], None] + 0 * sums[0]])
        return GroupTally(*(a.astype(np.int64) for a in (x, n, x_all, n_all)))

    def compare(self, j, masks, significance):
        """Compare groups, given as an iterable of bool masks, by a measure.

        Returns
        -------
        DataFrame
            The columns of `GroupTally.compare`, ``support`` and ``measure``.
        """
        masks = list(masks)
        total, center = self.total(j)
        if self.is_binary(j):
            hit, known = self.values[j] == 1, ~np.isnan(self.values[j])
            n, x = ([np.count_nonzero(m & a) for m in masks] for a in (known, hit))
            sums = np.array([n, x, x, n], dtype=float)
        else:
            columns = self.columns(j)[0]
            sums = np.array([columns[:, m].sum(axis=1) for m in masks]).reshape(-1, 4).T
        table = self.tally(j, sums, total, center).compare(significance)
        table.insert(6, "support", np.array([np.count_nonzero(m) for m in masks], dtype=np.int64))
        table["measure"] = pd.Series([self.names[j]] * len(masks), dtype=object)
        return table

    def overall(self, significance):
        """Return everyone's means with their intervals."""
        rows = []
        for j, name in enumerate(self.names):
            total, center = self.total(j)
            if self.is_binary(j):
                low, high = map(float, _stats.wilson(total[1], total[0], significance))
                mean = total[1] / total[0] if total[0] else np.nan
            else:
                mean, error, n = mean_and_error(total)
                half = stats.t.isf(significance / 2, n - 1) * error
                low, high, mean = (float(v) + center for v in (mean - half, mean + half, mean))
            rows.append((name, mean, low, high, int(np.sum(~np.isnan(self.values[j])))))
        return pd.DataFrame(rows, columns=["name", "estimate", "ci_low", "ci_high", "n"])


def few_cells(columns):
    """Sort rows into cells of equal columns, where there are few distinct ones.

    Parameters
    ----------
    columns : ndarray of float, shape (n_columns, n_rows)

    Returns
    -------
    cell : ndarray of int, shape (n_rows,); None if there are more than a few
    table : ndarray of float, shape (n_cells, n_columns); None if there are more than a few
        What each row of a cell has.
    """
    if not columns.shape[1]:
        return None, None
    cell = np.zeros(columns.shape[1], dtype=np.int64)
    for column in columns:
        codes, values = pd.factorize(column)
        cell, distinct = pd.factorize(cell * len(values) + codes)
        if len(distinct) > _FEW:
            return None, None
    first = np.zeros(cell.max(initial=-1) + 1, dtype=np.int64)
    first[cell[::-1]] = np.arange(len(cell))[::-1]
    table = columns[:, first].T
    order = np.lexsort(table.T)
    return np.argsort(order)[cell], table[order]


def single_groups(items, rows, significance, correction, n_tests):
    """Compare every single protected item with the rest of the people, by every measure.

    Parameters
    ----------
    items : Items
    rows : Scored
    significance : float
    correction : str
    n_tests : int
        Number of tests that p-values and gaps are corrected for, if it is more than those here.

    Returns
    -------
    DataFrame
        As of `_single.single_groups`.
    """
    at, parts = np.flatnonzero(items.protected), []
    support = items.counts(np.zeros(len(rows), dtype=np.int64), 1)[at, 0]
    gaps, tallies = [], []
    for j, name in enumerate(rows.names):
        tally = rows.tally(j, rows.by_item(j, items)[:, at], *rows.total(j))
        part = tally.compare(significance)
        part.insert(0, "group", pd.Series([str(items.predicates[i]) for i in at], dtype=object))
        part.insert(7, "support", support)
        part["measure"] = pd.Series([name] * len(at), dtype=object)
        parts.append(part)
        tallies.append(tally)
    table = pd.concat(parts, ignore_index=True)
    p_value = table["p_value"].to_numpy()
    n_tests = max(n_tests, int(np.sum(~np.isnan(p_value))), 1)
    level = significance if correction == "none" else significance / n_tests
    for tally in tallies:
        if isinstance(tally, GroupTally):
            rate = (tally.x_all + 1) / (tally.n_all + 2)
            gap = _stats.min_detectable_gap(tally.n, tally.n_all - tally.n, rate, level)
        else:
            gap = tally.min_detectable_gap(level)
        gaps.append(gap)
    table["min_detectable_gap"] = np.concatenate(gaps)
    table["p_adjusted"] = _stats.adjust(p_value, correction, n_tests)
    return table


def measure_again(findings, rows, significance, correction):
    """Measure findings on other rows; the p-values are corrected over these findings.

    Parameters
    ----------
    findings : GroupFindings
    rows : Scored
    significance : float
    correction : str

    Returns
    -------
    DataFrame
        The columns of `Scored.compare`, ``p_adjusted`` and ``effect_at_fit``.
    """
    measures, parts = findings.table["measure"].to_numpy(), []
    for j, name in enumerate(rows.names):
        own = np.flatnonzero(measures == name)
        masks = (findings.subgroups[i].mask(rows.X) for i in own)
        parts.append(rows.compare(j, masks, significance).set_axis(own))
    table = pd.concat(parts).sort_index()
    table["p_adjusted"] = _stats.adjust(table["p_value"].to_numpy(), correction)
    table["effect_at_fit"] = findings.table["effect"].to_numpy()
    return table
