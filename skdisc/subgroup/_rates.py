"""The rates whose divergence is measured, and their statistics for many groups at once."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from skdisc import _stats
from skdisc._kinds import N_CELLS, RATES

WITHOUT_LABELS = ("selection_rate",)
SCORE_TEST = "two-proportion score test, group against rest"
EXACT_TEST = "mid-p exact test, group against rest"


def check_metrics(metric, has_decisions, has_labels):
    """Return the names of the rates, refusing those that cannot be computed here.

    Parameters
    ----------
    metric : str or sequence of str
        Names of `RATES`, or "all" that can be computed.
    has_decisions, has_labels : bool
        Whether there are decisions of a model; whether there are labels.
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


@dataclass(frozen=True)
class Tally:
    """Hits and trials of groups and of everyone, arrays that broadcast against each other.

    Attributes
    ----------
    x, n : ndarray of int
        How often the rate's event happened in each group, and how often it could have.
    x_all, n_all : ndarray of int
        The same for everyone.
    """

    x: np.ndarray
    n: np.ndarray
    x_all: np.ndarray
    n_all: np.ndarray

    @classmethod
    def of(cls, counts, total, measures):
        """Count for every measure (first axis) and every group (second axis)."""
        x, n = np.stack([hits_and_trials(counts, m) for m in measures], axis=1)
        x_all, n_all = np.array([hits_and_trials(total, m) for m in measures]).T[..., None]
        return cls(x, n, x_all, n_all)

    def at(self, measure, group):
        """Return the tally of these pairs of measure and group, given by position."""
        everyone = self.x_all[measure, 0], self.n_all[measure, 0]
        return Tally(self.x[measure, group], self.n[measure, group], *everyone)

    @property
    def effect(self):
        """Rate of each group minus everyone's; NaN where undefined."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.x / self.n - self.x_all / self.n_all

    @cached_property
    def _is_small(self):
        """Where an expected count below 5 makes the normal approximation poor."""
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = self.x_all / self.n_all
        n_rest = self.n_all - self.n
        smallest = np.minimum(self.n, n_rest) * np.minimum(rate, 1 - rate)
        return (smallest > 0) & (smallest < 5)  # at a rate of 0 or 1 there is nothing to test

    def p_value(self):
        """Test each group against the rest: the score test, or mid-p where counts are small."""
        x_rest, n_rest = self.x_all - self.x, self.n_all - self.n
        p_value = np.array(_stats.score_test(self.x, self.n, x_rest, n_rest)[1], dtype=float)
        small = self._is_small
        if small.any():
            counts = (a[small] for a in (self.x, self.n, x_rest, n_rest))
            p_value[small] = _stats.fisher(*counts, mid=True)
        return p_value

    def test(self):
        """Return the name of the test behind each p-value."""
        return np.where(self._is_small, EXACT_TEST, SCORE_TEST).astype(object)

    def compare(self, significance):
        r"""Compare the rate of each group with everyone's, and test it against the rest.

        Parameters
        ----------
        significance : float

        Returns
        -------
        DataFrame
            One row per group: its rate (outcome), the effect (rate minus everyone's rate, the
            divergence) with its interval, p-value and the test behind it; trials, rate of the
            rest, posterior t. With w the group's share of all trials, the effect is (1 - w) times
            the difference between group and rest, and its interval is that multiple of Newcombe's.

        Notes
        -----
        The posterior t is that of DivExplorer: rates with a Beta(1, 1) prior,
        :math:`t = |m_I - m| / \sqrt{v_I + v}`; it treats group and everyone as independent, which
        they are not, and is given for comparison only.
        """
        x_rest, n_rest = self.x_all - self.x, self.n_all - self.n
        low, high = _stats.newcombe(self.x, self.n, x_rest, n_rest, significance)
        with np.errstate(divide="ignore", invalid="ignore"):
            outcome, outcome_rest = self.x / self.n, x_rest / n_rest
            share_rest = n_rest / self.n_all
        mean, variance = posterior(self.x, self.n)
        mean_all, variance_all = posterior(self.x_all, self.n_all)
        t = np.abs(mean - mean_all) / np.sqrt(variance + variance_all)
        return pd.DataFrame(
            {
                "outcome": outcome,
                "effect": self.effect,
                "ci_low": share_rest * low,
                "ci_high": share_rest * high,
                "p_value": self.p_value(),
                "test": self.test(),
                "trials": self.n,
                "outcome_rest": outcome_rest,
                "t": np.where(self.n == 0, np.nan, t),
            }
        )


def posterior(x, n):
    """Return mean and variance of a rate under a Beta(1, 1) prior."""
    a, b = x + 1.0, n - x + 1.0
    return a / (a + b), a * b / ((a + b) ** 2 * (a + b + 1))


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

    def count(self, groups):
        """Return the rows per cell of each `Subgroup`, shape (n_groups, 4)."""
        counts = [np.bincount(self.cell[g.mask(self.X)], minlength=N_CELLS) for g in groups]
        return np.array(counts, dtype=np.int64).reshape(-1, N_CELLS)

    def at(self, mask):
        """Return some of the rows."""
        return Decided(self.X[mask].reset_index(drop=True), self.cell[mask], self.metrics)

    def overall(self, significance):
        """Return everyone's rates with their Wilson intervals."""
        x, n = np.array([hits_and_trials(self.total, m) for m in self.metrics]).T
        low, high = _stats.wilson(x, n, significance)
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = x / n
        columns = {"name": self.metrics, "estimate": rate, "ci_low": low, "ci_high": high, "n": n}
        return pd.DataFrame(columns)
