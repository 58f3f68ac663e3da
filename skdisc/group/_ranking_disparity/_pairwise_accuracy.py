"""Pairwise accuracy: how often relevant people are placed above others who are not relevant."""

from collections.abc import Sequence

import numpy as np

from skdisc.group._pairwise._estimates import Estimate
from skdisc.group._ranking_disparity._exposure_gap import MANY_LISTS, Side


def pairwise_accuracy(
    sides: Sequence[Side], relevant: Sequence[np.ndarray]
) -> dict[str, Estimate] | None:
    r"""Return the pairwise accuracy of a group and its reference (Beutel and others 2019).

    It is the share of correctly ordered pairs, :math:`P(s_i > s_j \mid y_i = 1, y_j = 0)`, over
    relevant people i of one side and all people j of the same list who are not relevant; ties count
    one half. Errors are those of DeLong, DeLong and Clarke-Pearson (1988); with 20 lists or more,
    lists are what is drawn.

    `sides`: one for each list. `relevant`: who is relevant, in the order of each list. Returns a
    dict of Estimate: group, reference, gap. None if a side has no pairs.
    """
    lists = list(zip(sides, relevant, strict=True))
    parts = [_of_list(side, is_relevant) for side, is_relevant in lists]
    pairs = np.sum([n for _, n, _ in parts], axis=0)
    if pairs.min() == 0:
        return None
    accuracy = np.sum([right for right, _, _ in parts], axis=0) / pairs
    n_lists, many = len(parts), len(parts) >= MANY_LISTS
    influences = []
    factors = _unbiased(lists)
    for (_, _, (right, possible)), factor in zip(parts, factors, strict=True):
        of_people = (right - accuracy[:, None] * possible) / pairs[:, None]
        # Each pair is counted from both of its ends, so the sum over people counts it twice.
        influences.append(of_people.sum(axis=1, keepdims=True) / 2 if many else of_people * factor)
    influence = np.hstack(influences)
    if many:
        influence *= np.sqrt(n_lists / (n_lists - 1))
    df = n_lists - 1 if many else np.inf
    return {
        "group": Estimate.of_influence(accuracy[0], influence[0], df),
        "reference": Estimate.of_influence(accuracy[1], influence[1], df),
        "gap": Estimate.of_influence(accuracy[0] - accuracy[1], influence[0] - influence[1], df),
    }


def _unbiased(lists):
    """Return, by list, the factor of each person that makes sums of squares unbiased."""
    kinds = [[s.group & r, s.reference & r, ~r] for s, r in lists]
    sizes = np.sum([[kind.sum() for kind in masks] for masks in kinds], axis=0)
    factor = np.sqrt(sizes / np.maximum(sizes - 1, 1))
    return [np.select(masks, factor, 0.0) for masks in kinds]


def _of_list(side, relevant):
    """Return, of both sides, pairs in order and pairs; and both for each person, shape (2, n)."""
    start, end = side.ranked.start, side.ranked.end
    members = np.stack([side.group & relevant, side.reference & relevant])
    irrelevant = ~relevant
    n_irrelevant = np.append(0, np.cumsum(irrelevant))
    below = irrelevant.sum() - (n_irrelevant[start] + n_irrelevant[end]) / 2
    ahead = np.hstack([np.zeros((2, 1)), np.cumsum(members, axis=1)])
    above = (ahead[:, start] + ahead[:, end]) / 2
    sizes = members.sum(axis=1)
    right = members * below + irrelevant * above
    possible = members * irrelevant.sum() + irrelevant * sizes[:, None]
    return (members * below).sum(axis=1), sizes * irrelevant.sum(), (right, possible)
