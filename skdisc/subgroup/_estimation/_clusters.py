"""Clusters of rows: how much they inflate the variance of contrasts."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import special

from skdisc._space._codes import PAD
from skdisc._space._items import Items
from skdisc._stats import DesignMeans
from skdisc._stats._effective_tally import EffectiveTally
from skdisc._stats._means import Means
from skdisc._stats._rates import GroupTally

TAIL = 0.9995  # quantile at which t, with the degrees of freedom of clusters, is set against z


def inflation(rows: Any, masks: Iterable, contexts: Iterable) -> np.ndarray | None:
    """Return by how much clusters inflate the variance of contrasts.

    The variance between clusters (CR2, `DesignMeans`) divided by the variance of independent rows,
    at least 1, times :math:`(t / z)^2` for the uncertainty of the former (Korn and Graubard 1998).

    `masks` and `contexts`: the rows of each group, and of its context. Returns an ndarray of float
    of shape (n_measures, n_groups): infinite where a side has fewer than two clusters; None if the
    rows have no clusters.
    """
    if rows.cluster is None:
        return None
    factors = [
        [_inflation(values, rows, mask, context) for values in rows.values]
        for mask, context in zip(masks, contexts, strict=True)
    ]
    return np.array(factors, dtype=float).reshape(-1, len(rows.names)).T


def _inflation(values, rows, mask, context):
    has_value = np.flatnonzero(context & ~np.isnan(values))
    y, one, weight = values[has_value], mask[has_value], rows.weights[has_value]
    cluster = np.unique(rows.cluster[has_value], return_inverse=True)[1]
    clustered_means, independent_means = (
        DesignMeans.of(y, weight, one, ~one, c) for c in (cluster, None)
    )
    variance, n = clustered_means.variance[:, 0], clustered_means.n_clusters[:, 0]
    if n.min() < 2:
        return np.inf
    independent = independent_means.variance.sum()
    if not independent > 0:  # constant outcomes
        ratio = (independent_means.kish / clustered_means.kish).max()
    else:
        ratio = (variance.sum() - 2 * clustered_means.covariance[0]) / independent
    shares = variance / variance.max() if variance.max() > 0 else 1 / n
    df = shares.sum() ** 2 / (shares**2 / (n - 1)).sum()
    return max(1.0, ratio) * (special.stdtrit(df, TAIL) / special.ndtri(TAIL)) ** 2


def members_of(items: Items, patterns: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the rows of each conjunction of items, padded by PAD, as a bool mask."""
    used = np.unique(patterns[patterns != PAD])
    masks = items.masks(used)
    for pattern in patterns:
        yield masks[np.searchsorted(used, pattern[pattern != PAD])].all(axis=0)


def clustered(tally: GroupTally | Means, factor: np.ndarray | None) -> GroupTally | Means:
    """Return a comparison of groups whose variances are inflated, or itself for None."""
    if factor is None:
        return tally
    if isinstance(tally, Means):
        return replace(tally, inflation=factor)
    _, size, _, size_rest = (np.asarray(a) / factor for a in tally.sides)
    is_alone = np.isinf(factor)  # a side of one cluster says nothing, however many people it has
    cells = tuple(np.where(is_alone, 0, a) / factor for a in tally.table)
    sums = np.broadcast_arrays(tally.x, tally.n, tally.x_all, tally.n_all)
    return EffectiveTally(*sums, size, size_rest, cells)


def item_tallies(rows: Any, items: Items, item_numbers: np.ndarray) -> list:
    """Return the comparisons of the rows of some items with all others, by measure."""
    factors = [None] * len(rows.names)
    if rows.cluster is not None:
        everyone = [np.ones(len(rows), dtype=bool)] * len(item_numbers)
        factors = inflation(rows, items.masks(item_numbers), everyone)
    tallies = [rows.tally(j, s[:, item_numbers]) for j, s in enumerate(rows.item_sums(items))]
    return [clustered(*pair) for pair in zip(tallies, factors, strict=True)]
