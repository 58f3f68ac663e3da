"""Reweighting of DiNardo, Fortin and Lemieux: the reference with the columns of the group."""

import numpy as np

from skdisc.group._decomposition._gap_parts import GapParts
from skdisc.group._pairwise._estimates import Estimate


def reweighted_parts(
    y: np.ndarray, inside: np.ndarray, share: np.ndarray, terms: np.ndarray | None
) -> tuple:
    r"""Decompose a gap of means by weights :math:`\pi(x) / (1 - \pi(x))` of the reference.

    Explained is the weighted mean of the reference minus its mean, unexplained the mean of the
    group minus the weighted mean. Where a logistic regression on `terms` has learned the weights,
    errors count that it has: each person's score of the regression moves its coefficients, and
    these the weighted mean. Otherwise errors take the weights as known, which is conservative.

    `share`: the probability of the group given the columns, out of fold. `terms`, of shape (n_rows,
    n_terms): columns of the logistic regression behind `share`; None: another classifier. Returns
    `n_effective`: number of equally weighted people that the reference is worth.
    """
    weight = np.where(inside, 0.0, share / (1 - share))
    weight /= weight.sum()
    means = y[inside].mean(), y[~inside].mean(), weight @ y
    group_influence = np.where(inside, (y - means[0]) / inside.sum(), 0.0)
    reference_influence = np.where(inside, 0.0, (y - means[1]) / (~inside).sum())
    weighted_influence = weight * (y - means[2])
    if terms is not None:
        columns = np.column_stack([np.ones(len(y)), terms])
        information = (columns * (share * (1 - share))[:, None]).T @ columns
        slope = np.linalg.lstsq(information, columns.T @ weighted_influence, rcond=None)[0]
        weighted_influence = weighted_influence + (inside - share) * (columns @ slope)
    total = {
        "gap": Estimate.of_influence(means[0] - means[1], group_influence - reference_influence),
        "explained": Estimate.of_influence(
            means[2] - means[1], weighted_influence - reference_influence
        ),
        "unexplained": Estimate.of_influence(
            means[0] - means[2], group_influence - weighted_influence
        ),
    }
    return GapParts(total), float(1 / (weight**2).sum())
