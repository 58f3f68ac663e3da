"""Measures of discriminatory rules, their intervals and their test."""

import numpy as np
import pandas as pd
from scipy.special import ndtri

from skdisc import _stats
from skdisc._stats._proportions import names_of_tests
from skdisc._stats._rates import AGAINST_REST

MEASURES = ("elift", "slift", "olift")


def rule_measures(x1, n1, x, n, significance, share=None):
    r"""Return the measures of rules A, B -> C with intervals and p-values.

    With the confidences :math:`p_1` of A, B -> C, :math:`p` of B -> C and :math:`p_2` of
    not A, B -> C: elift is :math:`p_1 / p`, slift :math:`p_1 / p_2`, olift
    :math:`p_1 (1 - p_2) / (p_2 (1 - p_1))`. The interval of the logarithm of slift has the
    variance :math:`1/x_1 - 1/n_1 + 1/x_2 - 1/n_2`, that of olift the sum of the reciprocals of
    all four cells; where a cell is 0, 1/2 is added to each. With w = n1 / n, elift is
    :math:`s / (w s + 1 - w)` of slift s, and so are the ends of its interval. All three are 1
    if :math:`p_1 = p_2`, the hypothesis that is tested.

    Parameters
    ----------
    x1, n1 : ndarray of int
        Number of rows that satisfy A, B and C, and of rows that satisfy A and B.
    x, n : ndarray of int
        Number of rows that satisfy B and C, and of rows that satisfy B.
    significance : float
    share : ndarray of float, optional
        The share w if rows have weights; the numbers of rows are then effective ones.

    Returns
    -------
    DataFrame
        Each measure with ``_low`` and ``_high``; p_value, test. NaN where undefined.
    """
    x1, n1, x, n = (np.asarray(a, dtype=float) for a in (x1, n1, x, n))
    x2, n2 = _less(x, x1), _less(n, n1)
    cells = np.array([x1, _less(n1, x1), x2, _less(n2, x2)])
    added = cells + 0.5 * (cells == 0).any(axis=0)
    z = -ndtri(significance / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        p1, p2, w = x1 / n1, x2 / n2, n1 / n if share is None else share
        slift, olift = p1 / p2, x1 * (n2 - x2) / (x2 * (n1 - x1))
        all1, all2 = added[0] + added[1], added[2] + added[3]
        share = np.log(added[0] / all1 * all2 / added[2])
        of_slift = 1 / added[0] - 1 / all1 + 1 / added[2] - 1 / all2
        odds = np.log(added[0] * added[3] / (added[1] * added[2]))
        slift_ends = _ends(slift, share, z * np.sqrt(of_slift))
        olift_ends = _ends(olift, odds, z * np.sqrt((1 / added).sum(axis=0)))
        elift_ends = [1 / (w + (1 - w) / s) for s in slift_ends]
        p = x / n if share is None else w * p1 + np.where(w < 1, (1 - w) * p2, 0.0)
        values = {"elift": (p1 / p, *elift_ends)}
    values |= {"slift": (slift, *slift_ends), "olift": (olift, *olift_ends)}
    columns = {f"{m}{e}": v for m in MEASURES for e, v in zip(ENDS, values[m], strict=True)}
    p_value, is_exact = _stats.proportions_test(x1, n1, x2, n2)
    test = names_of_tests(is_exact, AGAINST_REST)
    return pd.DataFrame({**columns, "p_value": p_value, "test": test})


def _less(a, b):
    """Return a - b, with 0 in place of rounding errors."""
    return np.where(a - b > 1e-9 * a, a - b, 0.0)


ENDS = ("", "_low", "_high")


def _ends(value, center, half):
    low, high = np.exp(center - half), np.exp(center + half)
    ends = np.where(value == 0, 0, low), np.where(np.isinf(value), np.inf, high)
    return [np.where(np.isnan(value), np.nan, e) for e in ends]
