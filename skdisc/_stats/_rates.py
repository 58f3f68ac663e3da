"""Confusion cells, the rates defined on them, and the comparison of many groups by rates."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import special

from skdisc import _stats
from skdisc._stats._proportions import SMALL_COUNT, names_of_tests

TN, FP, FN, TP = range(4)  # cell = 2 * (label favorable) + (decision favorable)
N_CELLS = 4

# By name: the confusion cells that count as events, and those that count as non-events.
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
WITHOUT_LABELS = ("selection_rate",)  # the rates of decisions alone
AGAINST_REST = ", group against rest"  # appended to the name of a test


def hits_and_trials(counts, measure):
    """Return the numerator and the denominator of a rate, as `RATES` defines it by cells.

    Every rate is a ratio of sums of the four cells, so that rows are counted once for all rates.

    `counts`, of shape (..., 4): rows per confusion cell. `measure`: a name of `RATES`.
    """
    yes, no = (counts[..., list(cells)].sum(axis=-1) for cells in RATES[measure])
    return yes, yes + no


def rate_values(cell, measure):
    """Return 1 for rows with the event of a rate, 0 for its other trials, NaN for other rows.

    Other rows are NaN, not 0, so that the mean over a group, without NaN, is the rate of `RATES`.

    `cell`: TN, FP, FN or TP. `measure`: a name of `RATES`.
    """
    yes, no = RATES[measure]
    table = np.full(N_CELLS, np.nan)
    table[list(yes)], table[list(no)] = 1.0, 0.0
    return table[cell]


@dataclass(frozen=True)
class GroupTally:
    """Hits and trials of groups and of all rows, arrays that broadcast against each other.

    `x` and `n`: events and trials of the rate in each group. `x_all` and `n_all`: the same over all
    rows.
    """

    x: np.ndarray
    n: np.ndarray
    x_all: np.ndarray
    n_all: np.ndarray

    @classmethod
    def joined(cls, tallies):
        """Return the comparisons of several tallies of some groups each, one after the other."""
        sides = [np.broadcast_arrays(t.x, t.n, t.x_all, t.n_all) for t in tallies]
        return cls(*map(np.concatenate, zip(*sides, strict=True)))

    @property
    def effect(self):
        """Rate of each group minus the overall rate; NaN where undefined."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.x / self.n - self.x_all / self.n_all

    @property
    def sides(self):
        """Events and trials of each group, and of its rest: what tests and intervals count."""
        return self.x, self.n, self.x_all - self.x, self.n_all - self.n

    @property
    def table(self):
        """Events and trials of each group, and of its rest, for the test."""
        return self.sides

    @property
    def rates(self):
        """Rate of each group, and of its rest; NaN where undefined."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.x / self.n, (self.x_all - self.x) / (self.n_all - self.n)

    @property
    def gap(self):
        """Rate of each group minus the rate of the rest; NaN where undefined."""
        rate, rest = self.rates
        return rate - rest

    @property
    def error(self):
        """Standard error of the gap, by the posterior variances of both rates.

        They are positive where no or all trials are events, and the sample variance is 0.
        """
        x1, n1, x0, n0 = self.sides
        return np.sqrt(posterior(x1, n1)[1] + posterior(x0, n0)[1])

    @property
    def enough(self):
        """Whether at least five events and non-events are expected in group and rest."""
        x1, n1, x0, n0 = self.table
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = (x1 + x0) / (n1 + n0)
            return np.minimum(n1, n0) * np.minimum(rate, 1 - rate) >= SMALL_COUNT

    def z(self):
        """Return the statistic of the score test of each group against the rest."""
        return _stats.score_test(*self.table)[0]

    def contrast(self, level):
        """Compare the rate of each group with the rate of the rest.

        `level`: one minus the confidence level of the intervals, which agree with the p-values
        about 0. Returns a DataFrame: one row per group: its rate (outcome), the effect (rate minus
        that of the rest) with its interval, p-value and test, the number of trials, and the rate of
        the rest.
        """
        p_value = self.p_value()
        low, high = _stats.score_interval(*self.sides, level, p_value)
        rate, rest = self.rates
        columns = {"outcome": rate, "effect": rate - rest, "ci_low": low, "ci_high": high}
        columns |= {"p_value": p_value, "test": self.test(), "trials": self.n}
        return pd.DataFrame(columns | {"outcome_rest": rest})

    def p_beyond(self, least):
        """Return the two-sided p-value of a gap of at most `least` in either direction."""
        side = np.where(self.gap < 0, -1, 1)
        return np.minimum(1.0, 2 * special.ndtr(-side * _stats.score_z(*self.sides, side * least)))

    def interval(self, level):
        """Return low and high of Newcombe's interval of each gap; NaN where undefined.

        `level`: one minus the confidence level.
        """
        return _stats.newcombe(*self.sides, level)

    def min_detectable_gap(self, level):
        """Return the smallest difference from the rest that the test detects with power .8."""
        _, n1, _, n0 = self.sides
        smoothed = (self.x_all + 1) / (self.n_all + 2)  # a rate of 0 or 1 has no variance
        return _stats.min_detectable_gap(n1, n0, smoothed, level)

    def posterior(self):
        """Return mean and variance of the rate of each group under a Beta(1, 1) prior."""
        return posterior(*self.sides[:2])

    @cached_property
    def _tested(self):
        """P-values of each group against the rest, and whether they are mid-p values."""
        return _stats.proportions_test(*self.table)

    def p_value(self):
        """Return the p-value of each group against the rest (`proportions_test`)."""
        return self._tested[0]

    def test(self):
        """Return the name of the test behind each p-value."""
        return names_of_tests(self._tested[1], AGAINST_REST)

    def compare(self, significance):
        r"""Compare the rate of each group with the overall rate, and test it against the rest.

        Returns
        -------
        DataFrame
            One row per group: its rate (outcome); the effect (the divergence, rate minus overall
            rate) with its interval, p-value and test; the number of trials, the rate of the rest,
            and the posterior t. With w the group's share of all trials, the effect is (1 - w)
            times the difference between group and rest, and its interval is that multiple of
            Newcombe's.

        Notes
        -----
        The posterior t is DivExplorer's, with a Beta(1, 1) prior on the rates,
        :math:`t = |m_I - m| / \sqrt{v_I + v}`. It treats the group and all rows as independent,
        which they are not, and is given for comparison only.
        """
        x1, n1, x0, n0 = self.sides
        low, high = _stats.newcombe(x1, n1, x0, n0, significance)
        rate, rest = self.rates
        with np.errstate(divide="ignore", invalid="ignore"):
            share_rest = (self.n_all - self.n) / self.n_all
        (mean, variance), (mean_all, variance_all) = posterior(x1, n1), posterior(x1 + x0, n1 + n0)
        t = np.abs(mean - mean_all) / np.sqrt(variance + variance_all)
        return pd.DataFrame(
            {
                "outcome": rate,
                "effect": self.effect,
                "ci_low": share_rest * low,
                "ci_high": share_rest * high,
                "p_value": self.p_value(),
                "test": self.test(),
                "trials": self.n,
                "outcome_rest": rest,
                "t": np.where(self.n == 0, np.nan, t),
            }
        )


def posterior(x, n):
    """Return mean and variance of a rate under a Beta(1, 1) prior.

    The posterior is Beta(x + 1, n - x + 1), as in DivExplorer (Pastor, de Alfaro and Baralis 2021).
    Its variance is positive even where none or all of the trials are events.
    """
    a, b = x + 1.0, n - x + 1.0
    return a / (a + b), a * b / ((a + b) ** 2 * (a + b + 1))


def check_metrics(metric, has_decisions, has_labels):
    """Return the names of the rates.

    `metric`: names of `RATES`, or "all" for every rate that can be computed. `has_decisions` and
    `has_labels`: whether decisions of a model are available; whether labels are. Raises ValueError
    if a name is unknown, or a rate needs labels or decisions that are not available.
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
    # A name given twice would be tested, and corrected for, twice.
    return list(dict.fromkeys(metrics))
