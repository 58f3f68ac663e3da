"""What outcomes hide about their variance where all of a group agree."""

from collections.abc import Iterable

import numpy as np


def variance_in_agreement(n: float, factor: np.ndarray, shown: np.ndarray) -> float:
    """Return the variance of a weighted sum of outcomes of 0 or 1 that all agree, beyond the shown.

    Of 20 people who were all refused, another might have been accepted. The chance of the outcome
    that none of n people has is taken to be 2 / (n + 4), the middle of the interval of Agresti and
    Coull (1998, *Approximate is better than "exact" for interval estimation of binomial
    proportions*).

    Parameters
    ----------
    n : float
        People, or whom their weights amount to.
    factor : ndarray of float, shape (n_rows,)
        By which each outcome counts in the sum.
    shown : ndarray of float, shape (n_rows,)
        The same times the residual: the root of the variance that each row shows.
    """
    chance = 2 / (n + 4)
    return max(chance * (1 - chance) * float(factor @ factor) - float(shown @ shown), 0.0)


def hidden_variance(
    outcome: np.ndarray, sides: Iterable[np.ndarray], factor: np.ndarray, shown: np.ndarray
) -> float:
    """Return what `variance_in_agreement` adds over sides, masks, whose outcomes all agree.

    0 for numbers. Shapes: `outcome`, `factor` and `shown` (n_rows,).
    """
    hidden = 0.0
    if not np.isin(outcome, (0, 1)).all():
        return hidden
    for side in sides:
        squares = (factor[side] ** 2).sum()
        if squares > 0 and np.ptp(outcome[side]) == 0:
            n = np.abs(factor[side]).sum() ** 2 / squares  # Kish
            hidden += variance_in_agreement(n, factor[side], shown[side])
    return hidden
