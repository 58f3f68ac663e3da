"""The rates whose divergence is measured, and their statistics for many groups at once."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from skdisc import _stats

TN, FP, FN, TP = range(4)  # cell = 2 * label favourable + decision favourable
N_CELLS = 4

RATES = {
    "selection_rate": ((TP, FP), (TN, FN)),
    "base_rate": ((TP, FN), (TN, FP)),
    "true_positive_rate": ((TP,), (FN,)),
    "false_positive_rate": ((FP,), (TN,)),
    "true_negative_rate": ((TN,), (FP,)),
    "false_negative_rate": ((FN,), (TP,)),
    "positive_predictive_value": ((TP,), (FP,)),
    "negative_predictive_value": ((TN,), (FN,)),
    "false_discovery_rate": ((FP,), (TP,)),
    "false_omission_rate": ((FN,), (TN,)),
    "accuracy": ((TP, TN), (FP, FN)),
    "error_rate": ((FP, FN), (TP, TN)),
}
WITHOUT_LABELS = ("selection_rate",)
SCORE_TEST, EXACT_TEST = "two-proportion score test, group against rest", "mid-p exact test, group against rest"


def hits_and_trials(counts, measure):
    """Return how often the rate's event happened, and how often it could have.

    Parameters
    ----------
    counts : ndarray of int, shape (..., 4)
        Rows per cell.
    measure : str
        A name of `RATES`.
    """
    yes, no = (counts[..., list(cells)].sum(axis=-1) for cells in RATES[measure])
    return yes, yes + no


def compare(counts, total, measure, significance):
    """Compare the rate of each group with everyone's, and test it against the rest.

    Parameters
    ----------
    counts : ndarray of int, shape (n_groups, 4)
    total : ndarray of int, shape (4,)
        Rows per cell of everyone.
    measure : str
    significance : float

    Returns
    -------
    DataFrame
        One row per group: rate (outcome), effect = rate minus everyone's rate (divergence) with
        its interval, p-value and the test behind it; rows, trials, rate of the rest, and the
        posterior t. With w the group's share of all trials, the effect is (1 - w) times the
        difference between group and rest, and its interval is that multiple of Newcombe's.

    Notes
    -----
    The posterior t is that of DivExplorer: rates with a Beta(1, 1) prior,
    :math:`t = |m_I - m| / \\sqrt{v_I + v}`; it treats group and everyone as independent, which
    they are not, and is given for comparison only.
    """
    x, n = hits_and_trials(counts, measure)
    x_all, n_all = hits_and_trials(total, measure)
    x_rest, n_rest = x_all - x, n_all - n
    with np.errstate(divide="ignore", invalid="ignore"):
        rate, rate_rest = x / n, x_rest / n_rest
        effect = rate - x_all / n_all
        share_rest = n_rest / n_all
    low, high = _stats.newcombe(x, n, x_rest, n_rest, significance)
    _, p_value = _stats.score_test(x, n, x_rest, n_rest)
    exact = _small(x, n, x_rest, n_rest)
    p_value = np.array(p_value, dtype=float)
    if exact.any():
        p_value[exact] = _stats.fisher(x[exact], n[exact], x_rest[exact], n_rest[exact], mid=True)
    mean, variance = _posterior(x, n)
    mean_all, variance_all = _posterior(x_all, n_all)
    return pd.DataFrame(
        {
            "outcome": rate,
            "effect": effect,
            "ci_low": share_rest * low,
            "ci_high": share_rest * high,
            "p_value": np.where((n == 0) | (n_rest == 0), np.nan, p_value),
            "test": np.where(exact, EXACT_TEST, SCORE_TEST).astype(object),
            "support": counts.sum(axis=-1),
            "trials": n,
            "outcome_rest": rate_rest,
            "t": np.where(n == 0, np.nan, np.abs(mean - mean_all) / np.sqrt(variance + variance_all)),
            "measure": measure,
        }
    )


def _posterior(x, n):
    """Return mean and variance of a rate under a Beta(1, 1) prior."""
    a, b = x + 1.0, n - x + 1.0
    return a / (a + b), a * b / ((a + b) ** 2 * (a + b + 1))


def _small(x, n, x_rest, n_rest):
    """Say where an expected count below 5 makes the normal approximation poor."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = (x + x_rest) / (n + n_rest)
    smallest = np.minimum(n, n_rest) * np.minimum(rate, 1 - rate)
    return (smallest < 5) & (n > 0) & (n_rest > 0)


@dataclass(frozen=True)
class Decided:
    """Rows with their kind of outcome.

    Attributes
    ----------
    X : DataFrame of shape (n_rows, n_columns)
    cell : ndarray of int, shape (n_rows,)
        TN, FP, FN or TP. Where there are no labels apart from the decisions, TN or TP.
    metrics : list of str
        Names of the rates to measure.
    """

    X: pd.DataFrame
    cell: np.ndarray
    metrics: list

    def __len__(self):
        return len(self.cell)

    @cached_property
    def total(self):
        """Rows per cell of everyone, shape (4,)."""
        return np.bincount(self.cell, minlength=N_CELLS)

    def count(self, mask):
        """Return the rows per cell of a group, shape (4,)."""
        return np.bincount(self.cell[mask], minlength=N_CELLS)

    def at(self, mask):
        """Return some of the rows."""
        return Decided(self.X[mask].reset_index(drop=True), self.cell[mask], self.metrics)

    def overall(self, significance):
        """Return everyone's rates with their Wilson intervals."""
        x, n = np.array([hits_and_trials(self.total, m) for m in self.metrics]).T
        low, high = _stats.wilson(x, n, significance)
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = x / n
        return pd.DataFrame({"name": self.metrics, "estimate": rate, "ci_low": low, "ci_high": high, "n": n})


def single_groups(items, rows, significance, correction):
    """Compare every single protected item with the rest of the people, for every rate.

    Returns
    -------
    DataFrame
        Columns of `compare`, the group, p-values corrected over this table, and the smallest
        gap between group and rest that its size could have shown (two-sided, power 0.8).
    """
    at = np.flatnonzero(items.protected)
    parts = []
    for measure in rows.metrics:
        counts = np.array([rows.count(items.masks[i]) for i in at]).reshape(-1, N_CELLS)
        table = compare(counts, rows.total, measure, significance)
        x_all, n_all = hits_and_trials(rows.total, measure)
        smoothed = (x_all + 1) / (n_all + 2)  # a rate of exactly 0 or 1 would seem to need no data
        n = table["trials"].to_numpy()
        gap = _stats.min_detectable_gap(n, n_all - n, smoothed, significance)
        table["min_detectable_gap"] = gap
        table.insert(0, "group", pd.Series([str(items.predicates[i]) for i in at], dtype=object))
        parts.append(table)
    groups = pd.concat(parts, ignore_index=True)
    groups["p_adjusted"] = _stats.adjust(groups["p_value"].to_numpy(dtype=float), correction)
    return groups


def excluded_groups(groups, min_rows):
    """List the single protected groups that were not searched or have no rate, and why."""
    rows = []
    for group, measure, support, trials in groups[["group", "measure", "support", "trials"]].itertuples(index=False):
        if support < min_rows:
            rows.append((group, measure, int(support), f"fewer rows than min_support asks for ({min_rows})"))
        elif trials == 0:
            rows.append((group, measure, int(support), "rate undefined: no row of the group can show it"))
    return pd.DataFrame(rows, columns=["subject", "measure", "n", "reason"])
