"""The exact set of discriminatory inputs of an additive model: a slab between two margins."""

import math

import numpy as np

_CELLS = 2**16  # values that a sum of parts may take before they are rounded to a grid


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
    given = [parts[j] for j in space.p_index]
    codes = space.combos()
    protected = sum(p[codes[:, i]] for i, p in enumerate(given)) + constant
    ends = -protected.max(), -protected.min()
    sums, shares, rounding = np.zeros(1), np.ones(1), 0.0
    for j in space.np_index:
        sums = np.add.outer(sums, parts[j]).ravel()
        shares = np.repeat(shares / len(parts[j]), len(parts[j]))
        if len(sums) > _CELLS:
            low, width = sums.min(), math.ulp(1.0) + np.ptp(sums) / _CELLS
            cell = np.rint((sums - low) / width).astype(np.int64)
            shares = np.bincount(cell, shares)
            sums, rounding = low + width * np.arange(len(shares)), rounding + width / 2
    surely = (sums > ends[0] + rounding) & (sums <= ends[1] - rounding)
    maybe = (sums > ends[0] - rounding) & (sums <= ends[1] + rounding)
    return float(shares[surely].sum()), min(float(shares[maybe].sum()), 1.0), ends


def in_slab(parts, ends, codes, space):
    """Return a boolean mask of the rows of codes that lie in the slab of `slab_share`."""
    total = sum(parts[j][codes[:, j]] for j in space.np_index)
    return (total > ends[0]) & (total <= ends[1])
