"""Residuals of outcomes and memberships whose expectations a test knows."""

import numpy as np

from skdisc.subgroup._disparity_pursuit._adjustment import Residuals


def known_residuals(y, expected, is_part, shares, cluster=None):
    """Return what is left of y and of the parts beside known expectations, without weights."""
    one = np.ones(len(y))
    return Residuals(y - expected, is_part - shares, one, one, None, y, cluster)
