"""Comparison of means: Welch's test, and the means of many groups, each against the rest."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special

from skdisc._stats._equivalence import compared_size, equivalence_of_means, power_quantile

FEWEST_ROWS = 30  # of a group, for the normal approximation of its mean
WELCH_TEST = "Welch's test, group against rest"


@dataclass(frozen=True)
class Welch:
    r"""Difference of two means whose variances may differ (Welch 1947).

    With sample variances v and sizes n, the squared standard error is :math:`v_1/n_1 + v_0/n_0`;
    the degrees of freedom are those of :doi:`10.1093/biomet/34.1-2.28`.

    Attributes
    ----------
    gap : ndarray of float
        Difference of the means.
    error : ndarray of float
        Its standard error; 0 if both samples are constant.
    df : ndarray of float
        Degrees of freedom; NaN if both samples are constant, so that there is no interval and no
        p-value either. A caller for whom two constants are conclusive replaces it.

    Examples
    --------
    >>> w = Welch.of((4.0, 1.0, 3), (2.0, 1.0, 3))
    >>> print(w.gap, w.error.round(4), w.df, w.p_value().round(4))
    2.0 0.8165 4.0 0.0705
    """

    gap: np.ndarray
    error: np.ndarray
    df: np.ndarray

    @classmethod
    def of(cls, one, other):
        """Compare two samples, each a tuple (mean, sample variance, size) of arrays or floats."""
        (m1, v1, n1), (m0, v0, n0) = (np.broadcast_arrays(*sample) for sample in (one, other))
        with np.errstate(divide="ignore", invalid="ignore"):
            e1, e0 = v1 / n1, v0 / n0
            df = (e1 + e0) ** 2 / (e1**2 / (n1 - 1) + e0**2 / (n0 - 1))
            return cls(m1 - m0, np.sqrt(e1 + e0), df)

    def interval(self, significance):
        """Return low and high of the confidence interval, NaN where undefined."""
        with np.errstate(invalid="ignore"):
            half = special.stdtrit(self.df, 1 - significance / 2) * self.error
            return self.gap - half, self.gap + half

    def p_value(self, alternative="two-sided", threshold=0.0):
        """Return the p-value of a difference beyond a threshold.

        Parameters
        ----------
        alternative : {"two-sided", "greater", "less"}, default="two-sided"
        threshold : float, default=0, in the unit of the means; "less" tests for a difference below
            minus this value

        Returns
        -------
        p_value : ndarray of float, NaN where undefined
        """
        gap = {"two-sided": np.abs, "greater": np.positive, "less": np.negative}[alternative]
        beyond = gap(self.gap) - threshold
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(beyond == 0, 0.0, beyond / self.error)
            tail = special.stdtr(self.df, -t)
        return np.minimum(1.0, 2 * tail) if alternative == "two-sided" else tail


@dataclass(frozen=True)
class Means:
    r"""Sums over groups, from which means and their tests are computed, optionally weighted.

    With weights w and values o, ``sums`` holds per group :math:`\sum w`, :math:`\sum w (o - c)`,
    :math:`\sum w (o - c)^2` and :math:`\sum w^2`; with weights that differ also
    :math:`\sum w^2 (o - c)`, :math:`\sum w^2 (o - c)^2` and :math:`\sum w^4`. The variance of a
    mean m is then the linearized one,
    :math:`\sum w^2 (o - m)^2 / (\sum w)^2 \cdot k / (k - 1)` with :math:`k = (\sum w)^2 / \sum w^2`
    (Kish 1965), with :math:`(\sum w^2)^2 / \sum w^4 - 1` degrees of freedom: with equal weights
    that of Welch's test.

    Attributes
    ----------
    sums : ndarray of float, shape (4, n_groups) or (7, n_groups)
    total : ndarray of float, shape (4,) or (7,), or with one column per group
        The same sums over all rows, or over the context of each group.
    center : float
        c, close to the overall mean, so that no digits are lost.
    inflation : float or ndarray of float, shape (n_groups,), default=1
        Factor of the variance of differences from the rest, of rows in clusters.
    """

    sums: np.ndarray
    total: np.ndarray
    center: float = 0.0
    inflation: float | np.ndarray = 1.0

    @property
    def n(self):
        """Rows, or sum of weights, of each group."""
        return self.sums[0]

    @property
    def n_all(self):
        """Number of all rows, or the sum of their weights."""
        return self.total[0]

    @property
    def rest(self):
        """The sums over the rest of each group."""
        total = self.total if self.total.ndim > 1 else self.total[:, None]
        has_sign = np.isin(np.arange(len(total)), (1, 4))[:, None]
        return np.maximum(total - self.sums, np.where(has_sign, -np.inf, 0))

    @property
    def effect(self):
        """Mean of each group minus the overall mean; NaN for an empty group."""
        return mean_and_error(self.sums)[0] - mean_and_error(self.total)[0]

    @property
    def gap(self):
        """Mean of each group minus that of the rest; NaN for an empty side."""
        return self._against_rest().gap

    @property
    def error(self):
        """Standard error of the gap of each group."""
        return self._against_rest().error

    @property
    def enough(self):
        """Whether group and rest have at least 30 rows, by their effective numbers."""
        sizes = (_mean_variance_size(s)[2] for s in (self.sums, self.rest))
        with np.errstate(invalid="ignore"):
            return np.minimum(*sizes) / self.inflation >= FEWEST_ROWS

    def z(self):
        """Return the gap of each group divided by its standard error."""
        w = self._against_rest()
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(w.gap == 0, 0.0, w.gap / w.error)

    def contrast(self, level):
        """Compare the mean of each group with that of the rest.

        Parameters
        ----------
        level : float or ndarray of float, shape (n_groups,)
            One minus the confidence level of the intervals.

        Returns
        -------
        DataFrame
            The columns of `GroupTally.contrast`.
        """
        w = self._against_rest()
        mean, (low, high) = mean_and_error(self.sums)[0], w.interval(level)
        tests = pd.Series([WELCH_TEST] * self.sums.shape[1], dtype=object)
        columns = {"outcome": mean + self.center, "effect": w.gap, "ci_low": low, "ci_high": high}
        columns |= {"p_value": w.p_value(), "test": tests, "trials": self.n}
        return pd.DataFrame({**columns, "outcome_rest": mean - w.gap + self.center})

    def p_beyond(self, least):
        """Return the two-sided p-value of a gap of at most `least` in either direction."""
        w = self._against_rest()
        side = np.where(w.gap < 0, -1, 1)
        return np.minimum(1.0, 2 * Welch(side * w.gap, w.error, w.df).p_value("greater", least))

    def equivalence(self, overall, relevant_gap, relevant_ratio, significance):
        """Return what the data exclude about the gap of each group and its rest.

        Parameters
        ----------
        overall : Means
            Of all rows as one group, whose variance tells how many people a group needs.
        relevant_gap : float
        relevant_ratio : ignored
        significance : float

        Returns
        -------
        DataFrame
            ``n``, ``n_compared``, ``needed`` (as of `GroupTally.equivalence`), and the fields of
            `Equivalence`.
        """
        w, both = self._against_rest(), (self.sums, self.rest)
        n, n_rest = (_mean_variance_size(sums)[2] / self.inflation for sums in both)
        variance = float(_mean_variance_size(overall.sums)[1][0])
        needed = power_quantile(significance) ** 2 * variance / relevant_gap**2
        bounds = equivalence_of_means(w.gap, w.error, w.df, relevant_gap, significance)
        sizes = {"n": n, "n_compared": compared_size(n, n_rest), "needed": needed}
        return pd.DataFrame({**sizes, **vars(bounds)})

    def posterior(self):
        """Return the mean of each group and its variance."""
        mean, error, _ = mean_and_error(self.sums)
        return mean, error**2

    def cohens_d(self):
        r"""Return :math:`\sqrt 2 (m_S - m_R) / \sqrt{v_S + v_R}`, group S against the rest R."""
        own, other = (_mean_variance_size(s) for s in (self.sums, self.rest))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.sqrt(2) * (own[0] - other[0]) / np.sqrt(own[1] + other[1])

    def p_value(self, alternative="two-sided"):
        """Return the p-value of each group against the rest; NaN if fewer than two rows are left.

        Parameters
        ----------
        alternative : {"two-sided", "greater", "less"}, default="two-sided"
        """
        return self._against_rest().p_value(alternative)

    def min_detectable_gap(self, level, power=0.8):
        """Return the smallest difference from the rest that the test detects with this power."""
        _, variance, _ = _mean_variance_size(self.total)
        sizes = (_mean_variance_size(s)[2] for s in (self.sums, self.rest))
        with np.errstate(divide="ignore", invalid="ignore"):
            error = np.sqrt(
                np.where(variance > 0, variance, np.nan)
                * self.inflation
                * sum(1 / n for n in sizes)
            )
        return (special.ndtri(power) - special.ndtri(level / 2)) * error

    def compare(self, significance):
        """Compare the mean of each group with the overall mean, and test it against the rest.

        Returns
        -------
        DataFrame
            The columns of `GroupTally.compare`.
        """
        against_rest = self._against_rest()
        low, high = against_rest.interval(significance)
        mean, own_error, _ = mean_and_error(self.sums)
        mean_all, error_all, _ = mean_and_error(self.total)
        share_rest = self.rest[0] / self.n_all
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.abs(mean - mean_all) / np.hypot(own_error, error_all)
        return pd.DataFrame(
            {
                "outcome": mean + self.center,
                "effect": mean - mean_all,
                "ci_low": share_rest * low,
                "ci_high": share_rest * high,
                "p_value": against_rest.p_value(),
                "test": pd.Series([WELCH_TEST] * self.sums.shape[1], dtype=object),
                "trials": self.n,
                "outcome_rest": mean - against_rest.gap + self.center,
                "t": t,
            }
        )

    def _against_rest(self):
        """Compare groups with the rest; the difference of two constants has no error."""
        w = Welch.of(_linearized(self.sums), _linearized(self.rest))
        df = np.where(w.error == 0, np.inf, w.df)
        with np.errstate(invalid="ignore"):
            return Welch(w.gap, w.error * np.sqrt(self.inflation), df)


def mean_and_error(sums):
    """Return mean, standard error and effective number of rows; NaN where undefined."""
    mean, variance, n = _linearized(sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        return mean, np.sqrt(variance / n), n


def _linearized(sums):
    """Return mean, variance of the mean times a size, and that size: degrees of freedom plus 1."""
    mean, variance, n = _mean_variance_size(sums)
    if len(sums) == 4:
        return mean, variance, n
    weight, _, _, squares, first, second, fourth = sums
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.maximum(second - 2 * mean * first + mean**2 * squares, 0) / weight**2
        size = np.maximum(squares**2 / fourth, 1 + 1e-9)
        return mean, np.where(n > 1, spread * n / (n - 1) * size, np.nan), size


def _mean_variance_size(sums):
    """Return mean, sample variance and effective number of rows; NaN where undefined."""
    weight, first, second, squares = sums[:4]
    with np.errstate(divide="ignore", invalid="ignore"):
        mean, n = first / weight, weight**2 / squares
        variance = np.maximum(second / weight - mean**2, 0) * n / (n - 1)
    return mean, np.where(n > 1, variance, np.nan), n
