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

    Parameters
    ----------
    sides : sequence of Side
        One for each list.
    relevant : sequence of ndarray of bool
        Who is relevant, in the order of each list.

    Returns
    -------
    dict of Estimate
        group, reference, gap. None if a side has no pairs.
    """
    given = list(zip(sides, relevant, strict=True))
    parts = [_of_list(*each) for each in given]
    pairs = np.sum([n for _, n, _ in parts], axis=0)
    if pairs.min() == 0:
        return None
    accuracy = np.sum([right for right, _, _ in parts], axis=0) / pairs
    n_lists, many = len(parts), len(parts) >= MANY_LISTS
    influences = []
    factors = _unbiased(given)
    for (_, _, (right, possible)), factor in zip(parts, factors, strict=True):
        own = (right - accuracy[:, None] * possible) / pairs[:, None]
        own = own if many else own * factor
        influences.append(own.sum(axis=1, keepdims=True) / 2 if many else own)
    influence = np.hstack(influences)  # a list's pairs were counted from both of their ends
    if many:
        influence *= np.sqrt(n_lists / (n_lists - 1))
    df = n_lists - 1 if many else np.inf
    found = {
        name: Estimate.of_influence(value, own, df)
        for name, value, own in zip(("group", "reference"), accuracy, influence, strict=True)
    }
    gap = Estimate.of_influence(accuracy[0] - accuracy[1], influence[0] - influence[1], df)
    return found | {"gap": gap}


def _unbiased(given):
    """Return what makes sums of squares unbiased, for each person of each list."""
    kinds = [[s.group & r, s.reference & r, ~r] for s, r in given]
    sizes = np.sum([[kind.sum() for kind in each] for each in kinds], axis=0)
    factor = np.sqrt(sizes / np.maximum(sizes - 1, 1))
    return [np.select(each, factor, 0.0) for each in kinds]


def _of_list(side, relevant):
    """Return for both sides: pairs in order, pairs, and both of each person, shape (2, n)."""
    start, end = side.ranked.start, side.ranked.end
    members = np.stack([side.group & relevant, side.reference & relevant])
    others = ~relevant
    upto = np.append(0, np.cumsum(others))
    below = others.sum() - (upto[start] + upto[end]) / 2
    ahead = np.hstack([np.zeros((2, 1)), np.cumsum(members, axis=1)])
    above = (ahead[:, start] + ahead[:, end]) / 2
    sizes = members.sum(axis=1)
    right = members * below + others * above
    possible = members * others.sum() + others * sizes[:, None]
    return (members * below).sum(axis=1), sizes * others.sum(), (right, possible)
