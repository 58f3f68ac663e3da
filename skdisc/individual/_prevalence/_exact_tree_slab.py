"""The exact set of discriminatory inputs of an additive model: a slab between two margins."""

import math

import numpy as np
from scipy import signal

_CELLS = 2**16  # values that a sum of parts may take before they are rounded to a grid
_PAIRS = 2**23  # of values of a sum and a part; of more, both are rounded before they are added


def slab_share(constant, parts, space):
    """Return bounds on the share of inputs whose margin changes sign, and the ends of the slab.

    The distribution of the sum of parts over all unprotected columns is a convolution, column by
    column. Where it has too many values, they are rounded to a grid, and the bounds take account of
    the rounding.

    Parameters
    ----------
    constant : float
    parts : list of ndarray of float, one per column
        The margin is the constant plus one part per column, by code.
    space : FeatureSpace

    Returns
    -------
    low, high : float
        Equal, up to floating-point error, if nothing was rounded.
    ends : tuple of two floats
        The inputs whose sum of parts lies in (ends[0], ends[1]] are discriminatory.
    """
    protected_parts = [parts[j] for j in space.p_index]
    codes = space.combos()
    protected = sum(p[codes[:, i]] for i, p in enumerate(protected_parts)) + constant
    ends = -protected.max(), -protected.min()
    sums, shares, rounding = np.zeros(1), np.ones(1), 0.0
    for part in (parts[j] for j in space.np_index):
        share = np.full(len(part), 1 / len(part))
        if len(sums) * len(part) > _PAIRS:
            width = math.ulp(1.0) + (np.ptp(sums) + np.ptp(part)) / _CELLS
            a, b = _on_grid(sums, shares, width), _on_grid(part, share, width)
            # The Fourier transform leaves rounding of either sign where a share is 0.
            shares = np.maximum(signal.fftconvolve(a, b), 0)
            sums = sums.min() + part.min() + width * np.arange(len(shares))
            rounding += width
            continue
        sums = np.add.outer(sums, part).ravel()
        shares = np.multiply.outer(shares, share).ravel()
        if len(sums) > _CELLS:
            low, width = sums.min(), math.ulp(1.0) + np.ptp(sums) / _CELLS
            shares = _on_grid(sums, shares, width)
            sums, rounding = low + width * np.arange(len(shares)), rounding + width / 2
    surely = (sums > ends[0] + rounding) & (sums <= ends[1] - rounding)
    maybe = (sums > ends[0] - rounding) & (sums <= ends[1] + rounding)
    return float(shares[surely].sum()), min(float(shares[maybe].sum()), 1.0), ends


def _on_grid(values, shares, width):
    """Return the share of each cell of a grid that starts at the smallest value."""
    return np.bincount(np.rint((values - values.min()) / width).astype(np.int64), shares)


def in_slab(parts, ends, codes, space):
    """Return a boolean mask of the rows of codes that lie in the slab of `slab_share`."""
    total = sum(parts[j][codes[:, j]] for j in space.np_index)
    return (total > ends[0]) & (total <= ends[1])
