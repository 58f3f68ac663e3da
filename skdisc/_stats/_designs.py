"""Means and their variances in designs with weights and clusters: Taylor linearization, CR2."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from skdisc._stats._means import away_from, skewness_known


@dataclass(frozen=True)
class DesignMeans:
    r"""Weighted means of two disjoint groups of rows, with variances between clusters.

    A weighted mean is a ratio of sums, whose linearized residuals are :math:`e_i = w_i (y_i - \bar
    y) / \sum w`. Their sums over clusters, each divided by :math:`\sqrt{1 - h}` with h the share
    of the cluster in the weight of the group (CR2, :doi:`10.1080/07350015.2016.1247004`), have
    squares that add up to the variance. With equal weights and without clusters it is
    :math:`s^2 / n`.

    Attributes
    ----------
    mean, variance : ndarray of float, shape (2, n_strata)
        For the first group and the second; NaN where a group is empty.
    center : ndarray of float, shape (2, n_strata)
        What residuals are taken from: the means, or the mean of both groups.
    covariance : ndarray of float, shape (n_strata,)
        Between both means, as clusters may hold rows of both groups.
    kish : ndarray of float, shape (2, n_strata)
        :math:`1 / \sum h^2`, the effective number of rows if outcomes within clusters are equal.
    n_clusters : ndarray of float, shape (2, n_strata)
        Effective number of clusters, :math:`(\sum h^2)^2 / \sum h^4`, one more than the degrees of
        freedom of the variance (Satterthwaite).
    third : ndarray of float, shape (2, n_strata)
        Third cumulants of both means: the sums of cubes over clusters, each divided by
        :math:`(1 - h) (1 - 2 h)`, which makes them unbiased where weights are equal.
    """

    mean: np.ndarray
    center: np.ndarray
    variance: np.ndarray
    covariance: np.ndarray
    kish: np.ndarray
    n_clusters: np.ndarray
    third: np.ndarray

    @classmethod
    def of(cls, y, weight, first, second, cluster=None, stratum=None, n_strata=1, equal=False):
        """Compute the means of two groups.

        >>> y, first = np.array([1.0, 2.0, 3.0, 5.0, 9.0]), np.array([True] * 3 + [False] * 2)
        >>> d = DesignMeans.of(y, np.ones(5), first, ~first)
        >>> print(d.mean.ravel(), d.variance.ravel().round(3))  # variances 1 and 8
        [2. 7.] [0.333 4.   ]

        Parameters
        ----------
        y, weight : ndarray of float, shape (n,)
        first, second : ndarray of bool, shape (n,); the rows of each group, no row in both
        cluster : ndarray of int, shape (n,), default=None; None: each row is a cluster
        stratum : ndarray of int, shape (n,), default=None; means are taken within strata
        n_strata : int, default=1
        equal : bool, default=False
            Whether residuals are those from the mean of both groups, which holds if means are
            equal, as in a score test.

        Returns
        -------
        DesignMeans
        """
        stratum = np.zeros(len(y), dtype=np.int64) if stratum is None else stratum
        cluster = np.arange(len(y)) if cluster is None else cluster
        in_either = first | second
        key, unit = np.unique(
            stratum[in_either] * (cluster.max(initial=0) + 1) + cluster[in_either],
            return_inverse=True,
        )
        of_unit = key // (cluster.max(initial=0) + 1)

        def by_stratum(values, index):
            return np.bincount(index, values, minlength=n_strata)[:n_strata]

        means, centers, sums, shares, cubes = [], [], [], [], []
        with np.errstate(divide="ignore", invalid="ignore"):
            all_of = by_stratum(weight[in_either], stratum[in_either])
            common = by_stratum((weight * y)[in_either], stratum[in_either]) / all_of
            for member in (first, second):
                w = (weight * member)[in_either]
                total = by_stratum(w, stratum[in_either])
                mean = by_stratum(w * y[in_either], stratum[in_either]) / total
                centers.append(common if equal else mean)
                away = away_from(y[in_either], centers[-1][stratum[in_either]])
                residual = np.where(w > 0, w * away, 0)
                share = np.bincount(unit, w, minlength=len(key)) / total[of_unit]
                cluster_sums = np.bincount(unit, residual, minlength=len(key)) / total[of_unit]
                sums.append(
                    np.where(share > 0, cluster_sums / np.sqrt(np.maximum(1 - share, 0)), 0)
                )
                freedom = (1 - share) * np.maximum(1 - 2 * share, 1 / 3)  # 1/3: of three rows
                with np.errstate(over="ignore"):  # such numbers count as too skewed
                    cube = np.where(share > 0, cluster_sums**3 / freedom, 0)
                cubes.append(by_stratum(cube, of_unit))
                means.append(mean)
                shares.append(share)
            pairs = (0, 0), (1, 1), (0, 1)
            products = [by_stratum(sums[i] * sums[j], of_unit) for i, j in pairs]
            squares = [by_stratum(np.nan_to_num(h) ** 2, of_unit) for h in shares]
            fourth = [by_stratum(np.nan_to_num(h) ** 4, of_unit) for h in shares]
            kish = 1 / np.array(squares)
            counts = np.nan_to_num(np.array(squares) ** 2 / np.array(fourth))
        variance = np.where(np.isnan(means), np.nan, products[:2])
        return cls(
            np.array(means), np.array(centers), variance, products[2], kish, counts, np.array(cubes)
        )

    @property
    def shared(self):
        """The factor of both variances that makes their sum the variance of the difference."""
        total = self.variance.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(total > 0, np.maximum(1 - 2 * self.covariance / total, 0.0), 1.0)

    def sizes(self):
        r"""Return effective numbers of rows for shares, shape (2, n_strata).

        :math:`c (1 - c) / V`, c the center: an unweighted sample of this size has the variance V.
        Where a share is 0 or 1, `kish`. The degrees of freedom of the difference shrink them by
        :math:`(z / t)^2` (Korn and Graubard 1998).
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            size = self.center * (1 - self.center) / (self.variance * self.shared)
            constant = (self.center <= 0) | (self.center >= 1)
            size = np.where(constant, self.kish, size)
            parts = np.where(self.n_clusters > 1, self.variance**2 / (self.n_clusters - 1), 0)
            df = self.variance.sum(axis=0) ** 2 / parts.sum(axis=0)
            df = np.where(df > 0, df, self.n_clusters.sum(axis=0) - 2)
            df = np.maximum(df, 1)
            return size * (special.ndtri(0.975) / special.stdtrit(df, 0.975)) ** 2

    def moments(self):
        """Return mean, variance, size and skewness of the mean, each of shape (2, n_strata).

        The size is `n_clusters`, and variance over size the variance of the mean. Clusters that
        hold rows of both groups, whose means then differ less, leave the third cumulants of both
        as they are: the skewness of the difference is at most the larger for it.
        """
        variance = self.variance * self.shared
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            skewness_of_means = np.where(variance > 0, self.third / variance**1.5, 0.0)
        sides = [(s, n) for s, n in zip(skewness_of_means, self.kish, strict=True)]
        skewness = np.array(skewness_known(sides, sides))
        return self.mean, variance * self.n_clusters, self.n_clusters, skewness


def design_chi2(y, weight, group, n_groups, cluster=None):
    r"""Test of equal means of several groups: the robust score test (Boos 1992).

    With residuals :math:`r_i = w_i (y_i - \bar y)` and their sums :math:`u_{kg}` over cluster k and
    group g, the statistic is :math:`s' \Sigma^+ s` with the scores :math:`s_g = \sum_k u_{kg}` and
    their covariance :math:`\Sigma = \frac{K}{K-1} \sum_k v_k v_k'` between the K clusters. There
    :math:`v_k = u_k - (W_g / W)_g \sum_g u_{kg}`, with W the sums of weights, as each cluster
    moves the estimate of the overall mean. For two groups the statistic is the square of a z.

    D. D. Boos: On generalized score tests. The American Statistician 46, 1992.

    >>> y = np.array([1.0, 1.0, 0.0, 1.0, 0.0, 0.0])
    >>> statistic, df = design_chi2(y, np.ones(6), np.array([0, 0, 0, 1, 1, 1]), 2)
    >>> print(round(float(statistic), 3), df)
    0.556 1

    Parameters
    ----------
    y, weight : ndarray of float, shape (n,)
    group : ndarray of int, shape (n,)
    n_groups : int
    cluster : ndarray of int, shape (n,), default=None; None: each row is a cluster

    Returns
    -------
    statistic : float, distributed as chi-squared if means are equal
    df : int
    """
    cluster = np.arange(len(y)) if cluster is None else np.unique(cluster, return_inverse=True)[1]
    n_clusters = int(cluster.max(initial=-1)) + 1
    residual = weight * (y - np.average(y, weights=weight))
    flat = np.bincount(cluster * n_groups + group, residual, minlength=n_clusters * n_groups)
    sums = flat.reshape(n_clusters, n_groups)
    share = np.bincount(group, weight, minlength=n_groups) / weight.sum()
    centered = sums - sums.sum(axis=1, keepdims=True) * share
    spread = centered.T @ centered * (n_clusters / max(n_clusters - 1, 1))
    score = sums.sum(axis=0)  # adds up to 0, as the rows of the spread do: hence the pseudoinverse
    inverse = np.linalg.pinv(spread, rcond=1e-9, hermitian=True)
    return float(score @ inverse @ score), np.count_nonzero(share) - 1
