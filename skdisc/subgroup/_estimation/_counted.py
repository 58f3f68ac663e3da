"""Rows with their confusion cells, and the rates whose divergence is measured."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from skdisc import _stats
from skdisc._stats._rates import N_CELLS, RATES, WITHOUT_LABELS, hits_and_trials


def check_metrics(metric, has_decisions, has_labels):
    """Return the names of the rates.

    Parameters
    ----------
    metric : str or sequence of str
        Names of `RATES`, or "all" for every rate that can be computed.
    has_decisions, has_labels : bool
        Whether decisions of a model are available; whether labels are.

    Raises
    ------
    ValueError
        If a name is unknown, or a rate needs labels or decisions that are not available.
    """
    has_both = has_decisions and has_labels
    if isinstance(metric, str) and metric == "all":
        return list(RATES) if has_both else list(WITHOUT_LABELS)
    metrics = [metric] if isinstance(metric, str) else list(metric)
    unknown = [m for m in metrics if m not in RATES]
    if unknown or not metrics:
        raise ValueError(
            f"metric must be among {', '.join(RATES)} or 'all'; got {(unknown or metrics)!r}."
        )
    impossible = [m for m in metrics if m not in WITHOUT_LABELS and not has_both]
    if impossible:
        decisions = "decisions: pass model= or estimator="
        lacking = "y, the labels" if has_decisions else decisions
        raise ValueError(
            f"metric={impossible[0]!r} compares decisions with labels and needs {lacking}."
        )
    return list(dict.fromkeys(metrics))


@dataclass(frozen=True)
class Decided:
    """Rows with their confusion cells.

    Attributes
    ----------
    X : DataFrame of shape (n_rows, n_columns)
    cell : ndarray of int, shape (n_rows,)
        TN, FP, FN or TP; TN or TP if there are no labels besides the decisions.
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
        """Number of rows per cell, shape (4,)."""
        return np.bincount(self.cell, minlength=N_CELLS)

    def count(self, groups):
        """Return the number of rows per cell of each `Subgroup`, shape (n_groups, 4)."""
        counts = [np.bincount(self.cell[g.mask(self.X)], minlength=N_CELLS) for g in groups]
        return np.array(counts, dtype=np.int64).reshape(-1, N_CELLS)

    def at(self, mask):
        """Return the rows selected by a mask."""
        return Decided(self.X[mask].reset_index(drop=True), self.cell[mask], self.metrics)

    def overall(self, significance):
        """Return the overall rates with their Wilson intervals."""
        x, n = np.array([hits_and_trials(self.total, m) for m in self.metrics]).T
        low, high = _stats.wilson(x, n, significance)
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = x / n
        columns = {"name": self.metrics, "estimate": rate, "ci_low": low, "ci_high": high, "n": n}
        return pd.DataFrame(columns)
