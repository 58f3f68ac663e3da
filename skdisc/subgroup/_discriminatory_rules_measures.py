"""Measures of discriminatory rules, their intervals and their test."""

import numpy as np
import pandas as pd
from scipy.special import ndtri

from skdisc._stats._score_intervals import critical_as
from skdisc.subgroup._estimation._decisions import effective_counts

MEASURES = ("elift", "slift", "olift")


def rule_measures(x1, n1, x, n, significance, share=None, p_value=None):
    """Return the measures of rules A, B -> C with intervals.

    With the confidences :math:`p_1` of A, B -> C, :math:`p` of B -> C and :math:`p_2` of
    not A, B -> C: elift is :math:`p_1 / p`, slift :math:`p_1 / p_2`, olift
    :math:`p_1 (1 - p_2) / (p_2 (1 - p_1))`. The interval of the logarithm of slift has the
    variance :math:`1/x_1 - 1/n_1 + 1/x_2 - 1/n_2`, that of olift the sum of the reciprocals of
    all four cells; where a cell is 0, 1/2 is added to each. With w = n1 / n, elift is
    :math:`s / (w s + 1 - w)` of slift s, and so are the ends of its interval. All three are 1
    if :math:`p_1 = p_2`. With the p-value of a test of this hypothesis, the critical values are
    changed so that an interval contains 1 exactly if the p-value is at least `significance`.

    Parameters
    ----------
    x1, n1 : ndarray of int
        Number of rows that satisfy A, B and C, and of rows that satisfy A and B.
    x, n : ndarray of int
        Number of rows that satisfy B and C, and of rows that satisfy B.
    share : ndarray of float, optional
        The share w if rows have weights; the numbers of rows are then effective ones.
    p_value : ndarray of float, optional
        Two-sided; None: the intervals are those of the normal distribution.

    Returns
    -------
    DataFrame
        Each measure with ``_low`` and ``_high``; NaN where undefined.
    """
    x1, n1, x, n = (np.asarray(a, dtype=float) for a in (x1, n1, x, n))
    x2, n2 = _less(x, x1), _less(n, n1)
    cells = np.array([x1, _less(n1, x1), x2, _less(n2, x2)])
    corrected = cells + 0.5 * (cells == 0).any(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        p1, p2, w = x1 / n1, x2 / n2, n1 / n if share is None else share
        slift, olift = p1 / p2, x1 * (n2 - x2) / (x2 * (n1 - x1))
        all1, all2 = corrected[0] + corrected[1], corrected[2] + corrected[3]
        log_slift = np.log(corrected[0] / all1 * all2 / corrected[2])
        slift_variance = 1 / corrected[0] - 1 / all1 + 1 / corrected[2] - 1 / all2
        log_olift = np.log(corrected[0] * corrected[3] / (corrected[1] * corrected[2]))
        slift_ends = _ends(slift, log_slift, np.sqrt(slift_variance), significance, p_value)
        olift_error = np.sqrt((1 / corrected).sum(axis=0))
        olift_ends = _ends(olift, log_olift, olift_error, significance, p_value)
        elift_ends = [1 / (w + (1 - w) / s) for s in slift_ends]
        p = x / n if share is None else w * p1 + np.where(w < 1, (1 - w) * p2, 0.0)
        values = {"elift": (p1 / p, *elift_ends)}
    values |= {"slift": (slift, *slift_ends), "olift": (olift, *olift_ends)}
    columns = {f"{m}{e}": v for m in MEASURES for e, v in zip(ENDS, values[m], strict=True)}
    return pd.DataFrame(columns)


def _less(a, b):
    """Return a - b, with 0 in place of rounding errors."""
    return np.where(a - b > 1e-9 * a, a - b, 0.0)


ENDS = ("", "_low", "_high")


def _ends(value, center, error, significance, p_value):
    critical = -ndtri(significance / 2)
    if p_value is not None:
        critical = critical_as(p_value, np.abs(center) / error, critical)
    low, high = np.exp(center - critical * error), np.exp(center + critical * error)
    if p_value is not None:  # exact also where rounding decides
        holds = np.asarray(p_value) >= significance
        low = np.where(holds, np.minimum(low, 1), low)
        high = np.where(holds, np.maximum(high, 1), high)
    ends = np.where(value == 0, 0, low), np.where(np.isinf(value), np.inf, high)
    return [np.where(np.isnan(value), np.nan, e) for e in ends]


def rule_table(measure, sums, context_sums, level, p_value=None):
    """Return the measures of rules from the sums over A, B and over B.

    Parameters
    ----------
    measure : str
        The measure whose difference from 1 is the effect.
    sums, context_sums : ndarray
        As in `RowDecisions`.
    level, p_value
        As in `rule_measures`.

    Returns
    -------
    DataFrame
        The columns of `rule_measures`; outcome, the confidences of A, B -> C and of B -> C; and the
        effect with its interval.
    """
    x1, n1, x2, n2 = effective_counts(sums, context_sums)
    denied, allowed = sums[:, :2].T
    size, context_size = denied + allowed, context_sums[:, :2].sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = None if (sums[:, 2] == sums[:, 4]).all() else size / context_size
        table = rule_measures(x1, n1, x1 + x2, n1 + n2, level, share, p_value)
        table["outcome"] = allowed / size
        table["confidence"] = denied / size
        table["confidence_context"] = context_sums[:, 0] / context_size
    for end, name in zip(ENDS, ("effect", "ci_low", "ci_high"), strict=True):
        table[name] = table[f"{measure}{end}"] - 1
    return table


def ranked(detector, table, size, is_found):
    """Return the positions of rules in order, those found first.

    `detector`: with ``measure``, ``direction`` and ``order``. `table`: from `rule_table`, with
    strength, length and support. `size`: how far the measure is from 1 in the direction.
    """
    key, length = size, np.zeros(len(table))
    if detector.order == "evidence":
        key, length = table["strength"].to_numpy(), table["length"].to_numpy()
    elif detector.order == "bound":
        with np.errstate(divide="ignore"):
            low, high = np.log(table[[f"{detector.measure}{e}" for e in ENDS[1:]]].to_numpy()).T
        nearer = {"higher": low, "lower": -high, "both": np.maximum(low, -high)}
        key = np.where(is_found, nearer[detector.direction], size)
    key = np.where(np.isnan(key), -np.inf, key).round(9)
    return np.lexsort((-table["support"].to_numpy(), length, -key, ~is_found))
