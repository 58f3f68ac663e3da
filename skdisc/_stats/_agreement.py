"""What outcomes hide about their variance where all of a group agree."""

from collections.abc import Iterable

import numpy as np

from skdisc._stats._effective_tally import kish_size


def hidden_variance(
    outcome: np.ndarray,
    sides: Iterable[np.ndarray],
    factor: np.ndarray,
    shown: np.ndarray,
    weight: np.ndarray | None = None,
    people: np.ndarray | float = 1.0,
    cluster: np.ndarray | None = None,
) -> float:
    """Return the variance of a weighted sum of outcomes that those of sides which agree hide.

    Of 20 people who were all refused, another might have been accepted. The chance of the outcome
    that none of n people has is taken to be 2 / (n + 4), the middle of the interval of Agresti and
    Coull (1998, *Approximate is better than "exact" for interval estimation of binomial
    proportions*). 0 for numbers.

    Parameters
    ----------
    outcome : ndarray of float, shape (n_rows,)
    sides : iterable of ndarray of bool, shape (n_rows,)
    factor : ndarray of float, shape (n_rows,)
        By which each outcome counts in the sum.
    shown : ndarray of float, shape (n_rows,)
        The same times the residual: the root of the variance that each row shows.
    weight : ndarray of float, shape (n_rows,), optional
        Of the rows; None: the sizes of their factors.
    people : ndarray of float, shape (n_rows,), or float
        Number of people of each row.
    cluster : ndarray of int, shape (n_rows,), optional
        Numbers from 0. If all of a side agree, nothing shows how much those of a cluster depend on
        one another, so each cluster counts as one person, whose outcomes come together.
    """
    hidden = 0.0
    if not np.isin(outcome, (0, 1)).all():
        return hidden
    weight = np.abs(factor) if weight is None else weight
    people = np.broadcast_to(people, weight.shape)
    for side in sides:
        if weight[side].any() and np.ptp(outcome[side]) == 0:
            of_units, n_people = [values[side] for values in (weight, factor, shown)], people[side]
            if cluster is not None:
                of_units = [np.bincount(cluster[side], values) for values in of_units]
                n_people = 1.0
            weight_of_unit, factor_of_unit, shown_of_unit = of_units
            chance = 2 / (kish_size(weight_of_unit, n_people) + 4)
            most = chance * (1 - chance) * (factor_of_unit**2).sum()
            hidden += max(float(most - (shown_of_unit**2).sum()), 0.0)
    return hidden
