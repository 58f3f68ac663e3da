"""The percentile bootstrap, of rows and of tables of counts."""

from collections.abc import Callable, Sequence

import numpy as np


def percentiles(values, significance):
    r"""Return the percentile interval of bootstrap replicates.

    The k-th smallest and largest of B replicates, :math:`k = \lfloor (B+1)\alpha/2 \rfloor \ge 1`
    (Davison and Hinkley 1997, section 5.3, :doi:`10.1017/CBO9780511802843`).

    Parameters
    ----------
    values : ndarray of float, shape (n_resamples,); NaN is left out and not counted in B
    significance : float

    Returns
    -------
    low, high : float, in the unit of the statistic; NaN if no replicate is defined
    """
    values = np.sort(values)[: np.count_nonzero(~np.isnan(values))]  # NaN sorts last
    if not values.size:
        return np.nan, np.nan
    k = max(1, int((values.size + 1) * significance / 2 + 1e-9))
    return values[k - 1], values[-k]


def widened(low, high, estimate):
    """Return intervals with the estimate inside.

    Replicates of a statistic that chance moves in one direction, such as the largest of several
    differences or mutual information, can all lie beyond the estimate. The end is moved to the
    estimate, because a wider interval covers no less.

    >>> widened(np.array([0.2, np.nan]), np.array([0.5, np.nan]), np.array([0.1, 1.0]))
    (array([0.1, nan]), array([0.5, nan]))
    """
    return np.minimum(low, estimate), np.maximum(high, estimate)


def bootstrap(
    statistic: Callable,
    groups: Sequence,
    *,
    n_resamples: int = 999,
    significance: float = 0.05,
    rng: np.random.Generator,
) -> tuple[float, float, int]:
    """Percentile bootstrap interval of a statistic, resampled within groups.

    The statistic compares groups, so each of them is a sample of its own, whose size is not
    random (Davison and Hinkley 1997, chapter 3, :doi:`10.1017/CBO9780511802843`).

    >>> y = np.array([1, 0, 0, 1, 0, 1, 1, 1])
    >>> bootstrap(lambda i: y[i].mean(), [0] * 4 + [1] * 4, rng=np.random.default_rng(0))
    (0.25, 1.0, 999)

    Parameters
    ----------
    statistic : callable; row positions (n,) -> float; position i holds a row of the group of row i
    groups : array-like of shape (n,); each group keeps its size
    n_resamples : int, default=999; number of replicates, of which NaN are left out
    significance : float, default=0.05
    rng : numpy.random.Generator; the same state gives the same interval

    Returns
    -------
    low, high : float, in the unit of the statistic; NaN if no replicate is defined
    n_valid : int, the number B of replicates that are not NaN
    """
    draw = resampler(groups, rng)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.array([statistic(draw()) for _ in range(n_resamples)], dtype=float)
    low, high = percentiles(values, significance)
    return float(low), float(high), int(np.count_nonzero(~np.isnan(values)))


def resampler(groups, rng, places=None):
    """Return a function that draws row positions with replacement within groups.

    See `bootstrap` for why groups keep their sizes.

    Parameters
    ----------
    groups : array-like of shape (n,)
    rng : numpy.random.Generator
    places : ndarray of int, shape (m,); the rows whose groups are drawn from; None: all

    Returns
    -------
    draw : callable, () -> ndarray of int, shape (m,); position i holds a row of the group of row
        ``places[i]``
    """
    codes, size = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)[1:]
    # With the rows sorted by group, a draw is one vector of integers, each below the size of its
    # group, and needs no loop over groups.
    members = np.argsort(codes, kind="stable")
    codes = codes if places is None else codes[places]
    first, size = (np.cumsum(size) - size)[codes], size[codes]
    return lambda: members[first + rng.integers(size)]


def cluster_resampler(cluster, rng, share=1.0):
    """Return a function that draws whole clusters with replacement.

    Outcomes within a cluster depend on each other. Only the clusters are independent, so they are
    what is resampled (Field and Welsh 2007, *Bootstrapping clustered data*).

    >>> draw = cluster_resampler(["a", "a", "b"], np.random.default_rng(0))
    >>> draw()
    array([2, 2])

    Parameters
    ----------
    cluster : array-like of shape (n,)
    rng : numpy.random.Generator
    share : float, default=1; number of clusters drawn, as a share of all, at least one

    Returns
    -------
    draw : callable, () -> ndarray of int; the positions of the rows of the clusters drawn
    """
    code, size = np.unique(np.asarray(cluster), return_inverse=True, return_counts=True)[1:]
    members = np.split(np.argsort(code, kind="stable"), np.cumsum(size)[:-1])
    n = max(1, round(share * len(members)))
    return lambda: np.concatenate([members[i] for i in rng.integers(len(members), size=n)])


def resample_counts(table, n_resamples, rng):
    """Draw tables of counts: the bootstrap of the rows behind them, by multinomial draws.

    If n rows are drawn with replacement, the numbers in the cells are multinomial, with the shares
    of the cells as probabilities. So no rows need to be drawn, and counts of any size cost the
    same.

    Parameters
    ----------
    table : ndarray of float, shape (n_strata, n_groups, 2, 2); each group keeps its sum
    n_resamples : int
    rng : numpy.random.Generator

    Returns
    -------
    tables : ndarray of float, shape (n_resamples, n_strata, n_groups, 2, 2)
    """
    z, n = table.shape[:2]
    flat = np.moveaxis(table, 1, 0).reshape(n, z * 4)
    size = flat.sum(axis=1)
    share = flat / np.where(size > 0, size, 1)[:, None]
    share[size == 0] = 1 / (z * 4)  # any probabilities will do: of an empty group, none is drawn
    # Sums of weights are no whole numbers: that many rows are drawn, and scaled to the sum.
    whole = np.round(size).astype(np.int64)
    drawn = rng.multinomial(whole, share, size=(n_resamples, n)).astype(float)
    drawn *= (size / np.where(whole > 0, whole, 1))[:, None]
    return np.moveaxis(drawn.reshape(n_resamples, n, z, 2, 2), 1, 2)
