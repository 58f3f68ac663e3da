"""The four kinds of outcome, decision beside label, and the rates that are made of them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from skdisc import _stats

TN, FP, FN, TP = range(4)  # cell = 2 * label favourable + decision favourable
N_CELLS = 4

# By name: the kinds that count as a hit, and those that could have been one.
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


SCORE_TEST = "two-proportion score test, group against rest"


EXACT_TEST = "mid-p exact test, group against rest"


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
