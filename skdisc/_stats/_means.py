"""Means of numbers in many groups at once, each compared with the rest of the people."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special, stats

WELCH_TEST = "Welch's test, group against rest"


@dataclass(frozen=True)
class Means:
    r"""Sums over groups, from which means and their tests come; weighted ones, too.

    With weights w and numbers o, ``sums`` holds per group :math:`\sum w`, :math:`\sum w (o - c)`,
    :math:`\sum w (o - c)^2` and :math:`\sum w^2`. Weights count as importance: the effective
    number of rows is :math:`(\sum w)^2 / \sum w^2` (Kish 1965), which is n where all are equal.

    Attributes
    ----------
    sums : ndarray of float, shape (4, n_groups)
    total : ndarray of float, shape (4,)
        The same over everyone.
    centre : float
        c, near the mean of all, so that no digits are lost.
    """

    sums: np.ndarray
    total: np.ndarray
    centre: float = 0.0

    @property
    def n(self):
        """Rows, or sum of weights, of each group."""
        return self.sums[0]

    @property
    def n_all(self):
        """Rows, or sum of weights, of everyone."""
        return self.total[0]

    @property
    def rest(self):
        """The sums over everyone else."""
        return np.maximum(self.total[:, None] - self.sums, [[0], [-np.inf], [0], [0]])

    @property
    def effect(self):
        """Mean of each group minus everyone's; NaN for an empty group."""
        return mean_and_error(self.sums)[0] - mean_and_error(self.total)[0]

    def cohens_d(self):
        r"""Return :math:`\sqrt 2 (m_S - m_R) / \sqrt{v_S + v_R}`, group S against the rest R."""
        own, other = (_mean_variance_size(s) for s in (self.sums, self.rest))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.sqrt(2) * (own[0] - other[0]) / np.sqrt(own[1] + other[1])

    def p_value(self, alternative="two-sided"):
        """Test each group's mean against the rest's; NaN where fewer than two rows are left."""
        gap, error, df = self._welch()
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(gap == 0, 0.0, gap / error)
        df = np.where(error == 0, np.inf, df)  # constant on both sides
        p_value = stats.t.sf(t, df) if alternative == "greater" else 2 * stats.t.sf(np.abs(t), df)
        return np.where(np.isnan(error), np.nan, p_value)

    def min_detectable_gap(self, level, power=0.8):
        """Return the smallest difference from the rest that the test shows with this power."""
        _, variance, _ = _mean_variance_size(self.total)
        sizes = (_mean_variance_size(s)[2] for s in (self.sums, self.rest))
        with np.errstate(divide="ignore", invalid="ignore"):
            error = np.sqrt(np.where(variance > 0, variance, np.nan) * sum(1 / n for n in sizes))
        return (special.ndtri(power) - special.ndtri(level / 2)) * error

    def compare(self, significance):
        """Compare the mean of each group with everyone's, and test it against the rest.

        Returns
        -------
        DataFrame
            The columns of `Tally.compare`.
        """
        gap, error, df = self._welch()
        half = stats.t.isf(significance / 2, np.where(error == 0, np.inf, df)) * error
        mean, own_error, _ = mean_and_error(self.sums)
        mean_all, error_all, _ = mean_and_error(self.total)
        share_rest = self.rest[0] / self.n_all
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.abs(mean - mean_all) / np.hypot(own_error, error_all)
        return pd.DataFrame(
            {
                "outcome": mean + self.centre,
                "effect": mean - mean_all,
                "ci_low": share_rest * (gap - half),
                "ci_high": share_rest * (gap + half),
                "p_value": self.p_value(),
                "test": pd.Series([WELCH_TEST] * self.sums.shape[1], dtype=object),
                "trials": self.n,
                "outcome_rest": mean - gap + self.centre,
                "t": t,
            }
        )

    def _welch(self):
        """Return the difference from the rest, its standard error and degrees of freedom."""
        (m1, e1, n1), (m0, e0, n0) = mean_and_error(self.sums), mean_and_error(self.rest)
        error = np.hypot(e1, e0)
        with np.errstate(divide="ignore", invalid="ignore"):
            df = error**4 / (e1**4 / (n1 - 1) + e0**4 / (n0 - 1))
        return m1 - m0, error, df


def mean_and_error(sums):
    """Return mean, standard error and effective number of rows; NaN where undefined."""
    mean, variance, n = _mean_variance_size(sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        return mean, np.sqrt(variance / n), n


def _mean_variance_size(sums):
    weight, first, second, squares = sums
    with np.errstate(divide="ignore", invalid="ignore"):
        mean, n = first / weight, weight**2 / squares
        variance = np.maximum(second / weight - mean**2, 0) * n / (n - 1)
    return mean, np.where(n > 1, variance, np.nan), n
