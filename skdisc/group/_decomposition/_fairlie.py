"""Fairlie's decomposition of a gap of rates, its factors averaged over all orders."""

from itertools import combinations
from math import factorial

import numpy as np
from scipy.special import expit

from skdisc.group._decomposition._gap_parts import GapDesign, GapParts, gap_of
from skdisc.group._decomposition._regressions import logistic
from skdisc.group._pairwise._estimates import Estimate

EXACT = 8  # factors up to which all orders are averaged
_N_ORDERS = 64  # random orders, each with its reverse, of more factors


def fairlie_parts(d: GapDesign, y: np.ndarray, kind: str, rng: np.random.Generator) -> GapParts:
    r"""Decompose a gap of rates by a logistic regression.

    Explained is the difference of the mean predictions :math:`F(x \beta^*)`. For its factors,
    people of both groups are matched by the ranks of their predictions, and the values of one
    factor after another are exchanged; a factor's part is averaged over all orders (its Shapley
    value).

    `y`: 0 and 1. `kind`: coefficients, as for linear parts.
    """
    fair = d.fits(y, logistic, kind)[2]
    p = expit(d.D @ fair.values)
    group_slope, reference_slope = (
        ((p * (1 - p))[side][:, None] * d.D[side]).mean(axis=0) for side in (d.inside, ~d.inside)
    )
    influence = d.spread(p, p) + fair.along(group_slope - reference_slope)
    explained = p[d.inside].mean() - p[~d.inside].mean()
    gap = gap_of(d, y)
    unexplained = Estimate.of_influence(gap.value - explained, d.spread(y, y) - influence)
    total = {"gap": gap, "explained": Estimate.of_influence(explained, influence)}
    return GapParts(total | {"unexplained": unexplained}, _factors(d, fair, rng))


def _factors(d, fair, rng):
    """Return the part of each factor."""
    sides = [d.D[d.inside], d.D[~d.inside]]
    weight, *positions = _matched(*(side @ fair.values for side in sides))
    Z = [side[i] for side, i in zip(sides, positions, strict=True)]
    names = [(n, t) for n, t in d.by_factor(intercept=False) if t.any()]

    def value(chosen):
        """Return the predictions with the factors chosen of the group, and their gradients."""
        is_chosen = np.isin(d.factor, chosen)
        x = np.where(is_chosen, *Z)
        p = expit(x @ fair.values)
        return p, (weight * p * (1 - p)) @ x

    numbers = [int(d.factor[t][0]) for _, t in names]
    shares, slopes = _averaged(numbers, value, rng)
    p, parts = expit(d.D @ fair.values), {}
    steepness = np.mean(p * (1 - p))  # by which a factor's mean of a sample moves predictions
    for (name, terms), share, slope in zip(names, shares, slopes, strict=True):
        contribution = steepness * (d.D[:, terms] @ fair.values[terms])
        influence = d.spread(contribution, contribution) + fair.along(slope)
        parts["explained", name] = Estimate.of_influence(weight @ share, influence)
    return parts


def _matched(group, reference):
    """Match the people of both groups by rank; return weights and positions of the pairs."""
    n, m = len(group), len(reference)
    ends = np.union1d(np.arange(1, n + 1) * m, np.arange(1, m + 1) * n)
    starts = np.append(0, ends[:-1])
    orders = np.argsort(group, kind="stable"), np.argsort(reference, kind="stable")
    return (ends - starts) / (n * m), orders[0][starts // m], orders[1][starts // n]


def _averaged(numbers, value, rng):
    """Return the mean change of predictions, and of gradients, that each factor makes."""
    cache, k = {}, len(numbers)

    def cached(chosen):
        key = frozenset(chosen)
        if key not in cache:
            cache[key] = value(list(key))
        return cache[key]

    weights = {}  # of (factor, those exchanged before it)
    if k <= EXACT:
        for i in numbers:
            rest = [j for j in numbers if j != i]
            for size in range(k):
                share = factorial(size) * factorial(k - size - 1) / factorial(k)
                weights |= {(i, frozenset(s)): share for s in combinations(rest, size)}
    else:
        for _ in range(_N_ORDERS):
            order = rng.permutation(numbers).tolist()
            for sequence in (order, order[::-1]):
                for place, i in enumerate(sequence):
                    key = i, frozenset(sequence[:place])
                    weights[key] = weights.get(key, 0) + 1 / (2 * _N_ORDERS)
    shares, slopes = dict.fromkeys(numbers, 0.0), dict.fromkeys(numbers, 0.0)
    for (i, before), share in weights.items():
        (p, g), (q, h) = cached(before), cached(before | {i})
        shares[i], slopes[i] = shares[i] + share * (q - p), slopes[i] + share * (h - g)
    return list(shares.values()), list(slopes.values())
