"""Comparison of means: Welch's and Hall's test, and the means of many groups against the rest."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import special

FEWEST_ROWS = 30  # of a group, for the normal approximation of its mean
_EQUAL = 1e-11  # means of constants that differ by a smaller share of their size are equal
_ROUNDING = 1e-12  # squares about a mean that are a smaller share of those about a center are 0
MEANS_TEST = "Welch's and Hall's test, group against rest"
TOO_SKEWED = (
    "too skewed to compare means of {n:.0f} people: about {needed:.0f} are needed; "
    "ask about logarithms"
)
TOO_LARGE = "how skewed the numbers of {n:.0f} people are is unknown; change the unit"


@dataclass(frozen=True)
class Welch:
    r"""Difference of two means whose variances may differ, of numbers that may be skewed.

    With sample variances v and sizes n, the squared standard error is :math:`v_1/n_1 + v_0/n_0`;
    the degrees of freedom are Welch's (1947, :doi:`10.1093/biomet/34.1-2.28`).

    Where numbers are skewed to the right, a group whose mean is low by chance has a small variance,
    too, so Welch's statistic t is large too often on that side. With A the skewness of the
    difference of means, Hall's transformation (:doi:`10.1111/j.2517-6161.1992.tb01872.x`)

    .. math:: h = t + A / 6 + A t^2 / 3 + A^2 t^3 / 27

    removes that; but where both samples are alike, t is exact and h is not. So the p-value is the
    larger of both, and an interval extends at each end to the farther of both inversions.

    Neither is to be trusted where skewness may shift t by more than a standard error:
    :math:`S (2 z^2 + 1) / 6 > 1`, with z the normal quantile of the level. S adds the skewness of
    both sides, for they cancel only if both are known. So p-values are at least the smallest level
    at which the comparison can be trusted, and intervals of smaller levels are infinite.

    Two constant samples have no error, and t says nothing of them: no p-value and no interval,
    unless `with_exact_p` adds the exact p-value of a permutation test.

    Attributes
    ----------
    gap : ndarray of float
        Difference of the means.
    error : ndarray of float
        Its standard error; 0 if both samples are constant.
    df : ndarray of float
        Degrees of freedom; NaN if both samples are constant, so that there is no interval and no
        p-value either.
    skewness : ndarray of float, default=0
        A, of the difference.
    most_skewness : ndarray of float, default=0
        S, what the skewness of both sides adds up to if it does not cancel; infinite: unknown.
    exact_tail : ndarray of float, default=NaN
        One-sided p-value of two constant samples that differ, by permutation; NaN: none.

    Examples
    --------
    >>> w = Welch.of((4.0, 1.0, 3), (2.0, 1.0, 3))
    >>> print(w.gap, w.error.round(4), w.df, w.p_value().round(4))
    2.0 0.8165 4.0 0.0705

    The mean of the second is as skewed as that of 100 people with a skewness of 3, and seems small.

    >>> w = Welch.of((1.3, 1.0, 400), (1.0, 1.0, 100, 3 / 10))
    >>> print(w.p_value().round(4), np.round(w.interval(0.05), 2))
    0.0319 [0.03 0.52]
    """

    gap: np.ndarray
    error: np.ndarray
    df: np.ndarray
    skewness: float | np.ndarray = 0.0
    most_skewness: float | np.ndarray = 0.0
    exact_tail: float | np.ndarray = np.nan

    @classmethod
    def of(cls, first, second):
        """Compare two samples.

        `first`, `second`: mean, sample variance, size; and, if numbers may be skewed, the skewness
        of the mean: that of the numbers divided by the root of the number of people.
        """
        (m1, v1, n1, s1), (m0, v0, n0, s0) = (
            np.broadcast_arrays(*(sample if len(sample) == 4 else (*sample, 0.0)))
            for sample in (first, second)
        )
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            e1, e0 = v1 / n1, v0 / n0
            share1, share0 = e1 / (e1 + e0), e0 / (e1 + e0)  # squares of errors may be infinite
            df = 1 / (share1**2 / (n1 - 1) + share0**2 / (n0 - 1))
            third = s1 * share1**1.5, s0 * share0**1.5
            spreads = e1 + e0 > 0
            skewness = np.where(spreads, third[0] - third[1], 0.0)
            most = np.where(spreads, np.abs(third[0]) + np.abs(third[1]), 0.0)
            gap = m1 - m0  # NaN if both are infinite, as costs of what cannot be reached are
        return cls.bounded(gap, np.sqrt(e1 + e0), df, skewness, most)

    @classmethod
    def bounded(cls, gap, error, df, skewness, most_skewness):
        """Return a comparison; skewness that is not known or infinite is taken to be too large."""
        is_known = np.isfinite(skewness) & np.isfinite(most_skewness)
        skewness = np.where(is_known, skewness, 0.0)
        return cls(gap, error, df, skewness, np.where(is_known, most_skewness, np.inf))

    def with_exact_p(self, n, m, scale):
        r"""Return the comparison with exact p-values where both samples are constant.

        If people were divided at random into samples of these sizes, n and m, the larger values
        would be all of those of one sample in one of :math:`\binom{n + m}{n}` ways. That is the
        one-sided p-value of the permutation test, whatever the numbers are; there is no interval
        still, as samples that do not vary do not show how much the numbers of others do.

        `n`, `m`: sizes of the samples. `scale`: size of the numbers; constants that differ by a
        tiny share of it are equal.
        """
        is_equal = (self.error == 0) & (np.abs(self.gap) <= _EQUAL * scale)
        gap = np.where(is_equal, 0.0, self.gap)
        with np.errstate(invalid="ignore"):
            ways = special.gammaln(n + m + 1) - special.gammaln(n + 1) - special.gammaln(m + 1)
            tail = np.where(gap == 0, 1.0, np.exp(-np.maximum(ways, 0.0)))
        return replace(self, gap=gap, exact_tail=np.where(self.error == 0, tail, np.nan))

    def interval(self, significance):
        """Return low and high of the confidence interval, NaN where undefined.

        They are infinite where numbers are too skewed for the level.
        """
        with np.errstate(invalid="ignore"):
            t = special.stdtrit(self.df, 1 - significance / 2)
            above, below = np.maximum(t, self._t_of(t)), np.minimum(-t, self._t_of(-t))
            refused = self.is_too_skewed(significance) & ~np.isnan(t)
            low = np.where(refused, -np.inf, self.gap - above * self.error)
            high = np.where(refused, np.inf, self.gap - below * self.error)
            return low, high

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
        sides = {"two-sided": np.where(self.gap < 0, -1.0, 1.0), "greater": 1.0, "less": -1.0}
        side = sides[alternative]
        beyond = side * self.gap - threshold
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(beyond == 0, 0.0, side * beyond / self.error)
            if alternative == "two-sided":
                t = np.where(beyond < 0, 0.0, t)  # the gap lies within the threshold
                t, h = -np.abs(t), -np.abs(self._hall(t))
            else:
                t, h = -side * t, -side * self._hall(t)
            tail = np.maximum(special.stdtr(self.df, t), special.stdtr(self.df, h))
            tail = np.maximum(tail, special.ndtr(-self._largest_z()))
            tail = np.where(
                np.isnan(self.exact_tail), tail, np.where(beyond > 0, self.exact_tail, 1.0)
            )
        return np.minimum(1.0, 2 * tail) if alternative == "two-sided" else tail

    def z(self):
        """Return the statistic whose tail is the p-value: the smaller of t and h in size."""
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(self.gap == 0, 0.0, self.gap / self.error)
            size = np.minimum(np.abs(t), np.abs(self._hall(t)))
            exact = -special.ndtri(np.minimum(self.exact_tail, 0.5))
            size = np.where(np.isnan(self.exact_tail), size, exact)
            return np.sign(t) * np.minimum(size, self._largest_z())

    def is_too_skewed(self, significance):
        """Return where numbers are too skewed to be compared at a level."""
        z = special.ndtri(1 - np.asarray(significance) / 2)
        return np.asarray(self.most_skewness) * (2 * z**2 + 1) / 6 > 1

    def _largest_z(self):
        """Return the quantile of the smallest level at which the comparison can be trusted."""
        with np.errstate(divide="ignore"):
            return np.sqrt(np.maximum((6 / np.asarray(self.most_skewness) - 1) / 2, 0))

    def _hall(self, t):
        """Return Hall's transformation of the statistic."""
        a = np.asarray(self.skewness)
        with np.errstate(invalid="ignore"):  # two constants differ by infinitely many errors
            return np.where(a == 0, t, t + a / 6 + a * t**2 / 3 + a**2 * t**3 / 27)

    def _t_of(self, h):
        """Return the statistic with a transformation: h is ((1 + a t / 3)^3 - 1) / a + a / 6."""
        a = np.asarray(self.skewness)
        x = a * (h - a / 6)
        with np.errstate(divide="ignore", invalid="ignore"):  # small x would be lost in 1 + x
            root = np.where(np.abs(x) < 0.5, np.expm1(np.log1p(x) / 3), np.cbrt(1 + x) - 1)
            return np.where(a == 0, h, 3 / a * root)


def too_skewed(first, second, significance):
    r"""Return why means cannot be compared at a level, an array of str; "" where they can.

    The rule is that of `Welch`: :math:`S (2 z^2 + 1) / 6 > 1`. The skewness s of a mean of n people
    falls with :math:`\sqrt n`, so :math:`n (s (2 z^2 + 1) / 6)^2` people would be needed.

    Returns an ndarray of object: for the side that adds more skewness, how many people it has and
    would need.
    """
    refused = np.atleast_1d(Welch.of(first, second).is_too_skewed(significance))
    reasons = np.full(refused.shape, "", dtype=object)
    (_, v1, n1, s1), (_, v0, n0, s0) = (
        np.broadcast_arrays(*map(np.atleast_1d, sample)) for sample in (first, second)
    )
    z = special.ndtri(1 - np.asarray(significance) / 2)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        is_first = np.abs(s1) * (v1 / n1) ** 1.5 >= np.abs(s0) * (v0 / n0) ** 1.5
        n, skewness = np.where(is_first, n1, n0), np.where(is_first, s1, s0)
        needed = n * (skewness * (2 * z**2 + 1) / 6) ** 2
    for place in zip(*np.nonzero(refused), strict=True):
        words = TOO_SKEWED if np.isfinite(needed[place]) else TOO_LARGE
        reasons[place] = words.format(n=n[place], needed=_two_digits(needed[place]))
    return reasons


def _two_digits(number):
    """Return a number rounded up to two significant digits."""
    if not np.isfinite(number):
        return number
    unit = 10.0 ** max(np.floor(np.log10(max(number, 1))) - 1, 0)
    return np.ceil(number / unit) * unit


@dataclass(frozen=True)
class Means:
    r"""Sums over groups, from which means and their tests are computed, optionally weighted.

    With weights w and values o, ``sums`` holds the `moment_columns` added up over each group. The
    variance of a mean m is the linearized one,
    :math:`\sum w^2 (o - m)^2 / (\sum w)^2 \cdot k / (k - 1)` with :math:`k = (\sum w)^2 / \sum w^2`
    (Kish 1965), with :math:`(\sum w^2)^2 / \sum w^4 - 1` degrees of freedom: with equal weights
    the variance of Welch's test. Its third cumulant is
    :math:`\sum w^3 (o - m)^3 / (\sum w)^3 \cdot k^2 / ((k - 1) (k - 2))`.

    A sample of 30 shows a third of the skewness that its numbers have. So larger samples count
    where they are more skewed: all people of the protected part of the group, in any context; all
    others for the rest; and the mean of both, weighted by people, for either. Skewness is measured
    in what people contribute to a mean, :math:`w (o - m)`. With clusters, the effective number of
    people is smaller by the factor of the variance, and means are as skewed as for this number.

    Attributes
    ----------
    sums : ndarray of float, shape (5, n_groups) or (11, n_groups)
    total : ndarray of float, shape (5,) or (11,), or with one column per group
        The same sums over all rows, or over the context of each group.
    center : float
        c, close to the overall mean, so that no digits are lost.
    inflation : float or ndarray of float, shape (n_groups,), default=1
        Factor of the variance of differences from the rest, of rows in clusters.
    sides : tuple of two ndarray of float, shape (5, n_groups) or (11, n_groups), default=None
        The sums over all people of the side of each group, and over all others; None: of the group
        and its rest.
    """

    sums: np.ndarray
    total: np.ndarray
    center: float = 0.0
    inflation: float | np.ndarray = 1.0
    sides: tuple | None = None

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
        return rest_of(self.sums, total)

    @property
    def effect(self):
        """Mean of each group minus the overall mean; NaN for an empty group."""
        return mean_and_error(self.sums)[0] - mean_and_error(self.total)[0]

    @property
    def gap(self):
        """Mean of each group minus the mean of the rest; NaN for an empty side."""
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
        """Return the gap of each group by its standard error, as its test sees it."""
        return self._against_rest().z()

    def contrast(self, level):
        """Compare the mean of each group with the mean of the rest.

        `level`: one minus the confidence level of the intervals. Returns a DataFrame: the columns
        of `GroupTally.contrast`.
        """
        w = self._against_rest()
        mean, (low, high) = mean_and_error(self.sums)[0], w.interval(level)
        tests = pd.Series(self._tests(level), dtype=object)
        columns = {"outcome": mean + self.center, "effect": w.gap, "ci_low": low, "ci_high": high}
        columns |= {"p_value": w.p_value(), "test": tests, "trials": self.n}
        return pd.DataFrame({**columns, "outcome_rest": mean - w.gap + self.center})

    def p_beyond(self, least):
        """Return the two-sided p-value of a gap of at most `least` in either direction."""
        w = self._against_rest()
        beyond = [w.p_value(a, least) for a in ("greater", "less")]
        return np.minimum(1.0, 2 * np.where(w.gap < 0, beyond[1], beyond[0]))

    def interval(self, level):
        """Return low and high of the interval of each gap, at one minus the confidence level."""
        return self._against_rest().interval(level)

    def posterior(self):
        """Return the mean of each group and its variance."""
        mean, error, _ = mean_and_error(self.sums)
        return mean, error**2

    def cohens_d(self):
        r"""Return :math:`\sqrt 2 (m_S - m_R) / \sqrt{v_S + v_R}`, group S against the rest R."""
        group, rest = (_mean_variance_size(s) for s in (self.sums, self.rest))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.sqrt(2) * (group[0] - rest[0]) / np.sqrt(group[1] + rest[1])

    def p_value(self, alternative="two-sided"):
        """Return the p-value of each group against the rest; NaN if fewer than two rows are left.

        `alternative`: one of "two-sided", "greater", "less".
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

        Returns a DataFrame: the columns of `GroupTally.compare`.
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
                "test": pd.Series(self._tests(significance), dtype=object),
                "trials": self.n,
                "outcome_rest": mean - against_rest.gap + self.center,
                "t": t,
            }
        )

    def too_skewed(self, level):
        """Return why each mean cannot be compared at a level, "" where it can."""
        return too_skewed(*self._samples(), level)

    def _tests(self, level):
        """Return the name of the test of each group, or why there is none."""
        reason = self.too_skewed(level)
        return np.where(reason == "", MEANS_TEST, reason)

    def _against_rest(self):
        """Compare groups with the rest; of constants that differ, by permutation.

        Constants that are equal, such as the wage of a grade, have no gap, and no error.
        """
        group, rest = self._samples()
        w = Welch.of(group, rest)
        with np.errstate(invalid="ignore"):
            error = w.error * np.sqrt(self.inflation)
            sizes = (side[2] / self.inflation for side in (group, rest))
        scale = np.abs(self.center) + np.abs(group[0]) + np.abs(rest[0])
        w = replace(w, error=error).with_exact_p(*sizes, scale)
        return replace(w, df=np.where((error == 0) & (w.gap == 0), np.inf, w.df))

    def _samples(self):
        """Return mean, variance, size and skewness of the mean, of each group and of its rest."""
        group_and_rest = self.sums, self.rest
        sides = group_and_rest if self.sides is None else self.sides
        skewness = skewness_known(
            *([skewness_of_means(s) for s in pair] for pair in (group_and_rest, sides))
        )
        with np.errstate(invalid="ignore", over="ignore"):
            fewer = np.sqrt(self.inflation)
            return [
                (*_linearized(s), skewness_of_side * fewer)
                for s, skewness_of_side in zip(group_and_rest, skewness, strict=True)
            ]


def moment_columns(weight, value, is_weighted):
    """Return what `Means` adds up, an array of shape (n_sums, n_rows).

    With weights w and centered values x: :math:`w, w x, w x^2, w^2, w x^3`; with weights that
    differ :math:`w, w x, w x^2, w^2, w^2 x, w^2 x^2, w^4` and :math:`w^3 x^k` for k from 0 to 3.
    Sums of powers of x add up over disjoint groups, as sums of powers of x - m, with m the mean of
    a group, do not; those follow by expanding :math:`w^2 (x - m)^2` and :math:`w^3 (x - m)^3`.
    """
    w, x = weight, value
    columns = [w, w * x, w * x**2, w**2]
    with np.errstate(over="ignore"):  # such numbers count as too skewed
        if not is_weighted:
            return np.stack([*columns, w * x**3])
        columns += [w**2 * x, w**2 * x**2, w**4]
        return np.stack([*columns, *(w**3 * x**k for k in range(4))])


_SIGNED = {5: (1, 4), 11: (1, 4, 8, 10)}  # sums that may be negative


def rest_of(sums, total):
    """Return the sums over the rest of each group: the totals minus the sums of the group.

    Rounding may leave a little less than 0 of a sum of squares, which is raised to 0, so that no
    variance is negative.
    """
    has_sign = np.isin(np.arange(len(sums)), _SIGNED[len(sums)])[:, None]
    with np.errstate(invalid="ignore"):
        return np.maximum(total - sums, np.where(has_sign, -np.inf, 0))


def skewness_of_means(sums):
    r"""Return the skewness of the mean of each group, and its effective number of people (Kish).

    The third cumulant of a mean over its variance to the power 3/2, both as in `Means`. With equal
    weights the cumulant is :math:`k_3 / n^2`, with Fisher's unbiased k-statistic
    :math:`k_3 = n \sum (x - m)^3 / ((n - 1) (n - 2))`. The result is 0 where at most two people, or
    constant numbers, show nothing.
    """
    mean, variance, n = _mean_variance_size(sums)
    weight = sums[0]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # The sums hold powers of x about one center for all groups; cubes about the mean of each
        # group follow by expanding (x - m)^3.
        if len(sums) == 5:
            cubes = sums[4] - 3 * mean * sums[2] + 3 * mean**2 * sums[1] - mean**3 * weight
            variance = variance / n
        else:
            cubes = sums[10] - 3 * mean * sums[9] + 3 * mean**2 * sums[8] - mean**3 * sums[7]
            variance = _variance_of_mean(sums, mean, n)
        third = cubes / weight**3 * n**2 / ((n - 1) * (n - 2))
        shows = (n > 2) & (variance > 0)
        return np.where(shows, third / np.where(shows, variance, 1.0) ** 1.5, 0.0), n


def skewness_known(samples, sides):
    """Return the skewness of the means of a group and of its rest, as larger samples show it.

    A sample of few people hides most of the skewness of its numbers: a group of 30 shows a third.
    So the skewness that more people have is taken where it is larger. Means of n people are
    as skewed as the numbers, divided by the root of n.

    `samples` and `sides`: `samples`: the group and its rest. `sides`: all people of the side of
    each. Returns a list of two ndarray of float: for the group and for its rest: the largest in
    size of the skewness of the sample, of its side, and of both sides together, each for a mean of
    as many people as the sample has.
    """
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        numbers = [np.where(n > 0, s * np.sqrt(n), 0.0) for s, n in sides]
        people = [np.nan_to_num(n) for _, n in sides]
        together = sum(g * n for g, n in zip(numbers, people, strict=True)) / sum(people)
        skewness = []
        for (largest, n), side in zip(samples, numbers, strict=True):
            # The largest in size: too much skewness makes intervals wider, too little lets them
            # miss the mean too often.
            for candidate in (side / np.sqrt(n), together / np.sqrt(n)):
                largest = np.where(np.abs(candidate) > np.abs(largest), candidate, largest)
            skewness.append(largest)
    return skewness


def mean_and_error(sums):
    """Return mean, standard error and effective number of rows; NaN where undefined.

    The linearized variance of a weighted mean, as in `Means` (Kish 1965).
    """
    mean, variance, n = _linearized(sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        return mean, np.sqrt(variance / n), n


def _linearized(sums):
    """Return mean, variance of the mean times a size, and that size: degrees of freedom plus 1."""
    mean, variance, n = _mean_variance_size(sums)
    if len(sums) == 5:
        return mean, variance, n
    squares, fourth = sums[3], sums[6]
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.maximum(squares**2 / fourth, 1 + 1e-9)
        return mean, _variance_of_mean(sums, mean, n) * size, size


def _variance_of_mean(sums, mean, n):
    """Return the linearized variance of weighted means; NaN where undefined."""
    weight, squares, first, second = sums[0], sums[3], sums[4], sums[5]
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = (
            _without_rounding(second - 2 * mean * first + mean**2 * squares, second) / weight**2
        )
        return np.where(n > 1, spread * n / (n - 1), np.nan)


def _mean_variance_size(sums):
    """Return mean, sample variance and effective number of rows; NaN where undefined."""
    weight, first, second, squares = sums[:4]
    with np.errstate(divide="ignore", invalid="ignore"):
        mean, n = first / weight, weight**2 / squares
        square = second / weight
        variance = _without_rounding(square - mean**2, square) * n / (n - 1)
    return mean, np.where(n > 1, variance, np.nan), n


def away_from(y, mean):
    """Return distances of numbers from a mean, and 0 where they are rounding errors of the mean.

    The mean of equal numbers may differ from each of them by rounding.
    """
    away = y - mean
    return np.where(np.abs(away) <= _ROUNDING * np.abs(y), 0.0, away)


def _without_rounding(spread, square):
    """Return squares about a mean, and 0 where they are rounding errors of squares about a center.

    Equal numbers far from the center would otherwise have a tiny variance and any skewness.
    """
    return np.where(spread <= _ROUNDING * square, 0.0, spread)
