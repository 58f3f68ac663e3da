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
