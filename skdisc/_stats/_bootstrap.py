"""The bootstrap of tables of counts: no row is touched."""

import numpy as np


def resample(table, n_resamples, rng):
    """Draw tables (n_strata, n, 2, 2), each group keeping its number of rows."""
    z, n = table.shape[:2]
    flat = np.moveaxis(table, 1, 0).reshape(n, z * 4)
    size = flat.sum(axis=1)
    share = flat / np.where(size > 0, size, 1)[:, None]
    share[size == 0] = 1 / (z * 4)
    whole = np.round(size).astype(np.int64)
    drawn = rng.multinomial(whole, share, size=(n_resamples, n)).astype(float)
    drawn *= (size / np.where(whole > 0, whole, 1))[:, None]
    return np.moveaxis(drawn.reshape(n_resamples, n, z, 2, 2), 1, 2)


def percentiles(value, significance):
    """Return the percentile interval of replicates, undefined ones left out."""
    value = np.sort(value[~np.isnan(value)])
    if not value.size:
        return np.nan, np.nan
    k = max(1, int((value.size + 1) * significance / 2 + 1e-9))
    return value[k - 1], value[-k]


def bootstrap(statistic, groups, *, n_resamples=999, significance=0.05, rng):
    r"""Percentile bootstrap interval, resampled within groups (:doi:`10.1017/CBO9780511802843`).

    The k-th smallest and largest of B replicates, :math:`k = \lfloor (B+1)\alpha/2 \rfloor \ge 1`.

    >>> y = np.array([1, 0, 0, 1, 0, 1, 1, 1])
    >>> bootstrap(lambda i: y[i].mean(), [0] * 4 + [1] * 4, rng=np.random.default_rng(0))
    (0.25, 1.0, 999)

    Parameters
    ----------
    statistic : callable; row positions (n,) -> float; position i holds a row of the group of row i
    groups : array-like of shape (n,); every group keeps its size
    n_resamples : int, default=999; replicates drawn, of which NaN are left out
    significance : float, default=0.05
    rng : numpy.random.Generator; the same state gives the same interval

    Returns
    -------
    low, high : float, in the unit of the statistic; NaN when no replicate is defined
    n_valid : int, the number B of replicates that are not NaN
    """
    codes, size = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)[1:]
    members = np.argsort(codes, kind="stable")
    first, size = (np.cumsum(size) - size)[codes], size[codes]
    with np.errstate(divide="ignore", invalid="ignore"):
        values = [statistic(members[first + rng.integers(size)]) for _ in range(n_resamples)]
    values = np.sort(values)[: np.count_nonzero(~np.isnan(values))]  # NaN sorts last
    k = max(1, int((values.size + 1) * significance / 2 + 1e-9))
    low, high = (values[k - 1], values[-k]) if values.size else (np.nan, np.nan)
    return float(low), float(high), values.size
