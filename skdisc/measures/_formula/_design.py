"""Weights and clusters, and the rows behind tables of counts for variances that know them."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from skdisc._stats import DesignMeans, design_chi2, resampler
from skdisc._utils._sample_weight import check_weights, known_clusters
from skdisc.measures._formula._contrast import distribution_gap

WEIGHTS = ("probability", "frequency")


def design_weights(sample_weight, weights, n):
    """Return the weights of rows as they enter measures; None if there are none.

    Probability weights are `scaled`. Raises ValueError if `weights` is unknown, or frequencies are
    not whole numbers.
    """
    if weights not in WEIGHTS:
        raise ValueError(f"weights must be one of {WEIGHTS}, got {weights!r}")
    if sample_weight is None:
        return None
    weight = check_weights(sample_weight, n)
    if weights == "probability":
        return scaled(weight)
    if np.any(weight % 1):
        raise ValueError(
            f'weights="frequency" counts rows, so sample_weight must be whole numbers; got '
            f'{float(weight[weight % 1 > 0][0])!r}. Use weights="probability".'
        )
    return weight


def scaled(weight):
    """Return probability weights with a mean of 1; None if there are none, or all equal."""
    if weight is None or not len(weight) or weight.min() == weight.max():
        return None
    return weight / weight.mean()


def cluster_codes(groups, n):
    """Return the number of the cluster of each of n rows; ValueError if one is missing."""
    return pd.factorize(known_clusters(groups, n))[0].astype(np.int64)


@dataclass(frozen=True)
class PairDesign:
    """The rows of groups and of their references.

    Attributes
    ----------
    rows : GroupedDecisions
        With decisions that are classes.
    one, other : ndarray of bool, shape (n_comparisons, n_cells); disjoint
    """

    rows: object
    one: np.ndarray
    other: np.ndarray

    def sizes(self, hits, trials, by_stratum=False):
        """Return the effective numbers of rows of group and reference behind a rate.

        They are the smaller ones of the variances with and without the assumption of equal rates:
        with few events the second is too small where the first is not.

        `hits` and `trials`, of shape (2, 2): 0/1 tables by decision and label.
        """
        sizes = np.inf
        for equal in (False, True) if self.other.any() else (False,):
            means = self._means(hits, trials > 0, by_stratum, equal)
            sizes = np.minimum(sizes, np.stack([d.sizes() for d in means], axis=-1))
        return sizes if by_stratum else sizes[:, 0]

    def moments(self, value, trials):
        """Return means, variances, sizes and skewness of means, each of group and reference."""
        moments = [d.moments() for d in self._means(value, trials > 0, False)]
        return [np.stack(part, axis=-1)[:, 0] for part in zip(*moments, strict=True)]

    def _means(self, value, trials, by_stratum, equal=False):
        rows = self.rows
        true = 0 if rows.true is None else rows.true.astype(np.int64)
        code = rows.pred.astype(np.int64) * 2 + true
        y, counts = value.astype(float).ravel()[code], trials.ravel()[code]
        weight = np.ones(len(y)) if rows.weight is None else rows.weight
        strata = {}
        if by_stratum and rows.stratum is not None:
            strata = {"stratum": rows.stratum, "n_strata": rows.counts.shape[0]}
        for group, reference in zip(self.one, self.other, strict=True):
            members = group[rows.cell] & counts, reference[rows.cell] & counts
            yield DesignMeans.of(y, weight, *members, rows.cluster, equal=equal, **strata)


@dataclass(frozen=True)
class OmnibusDesign:
    """The rows of all groups of a grouping, of the shape of `GroupValues` with clusters."""

    value: np.ndarray
    weight: np.ndarray
    group: np.ndarray
    n_groups: int
    cluster: np.ndarray | None

    def chi2(self):
        """Return the statistic of equal means and its degrees of freedom (`design_chi2`)."""
        return design_chi2(self.value, self.weight, self.group, self.n_groups, self.cluster)


def weight_resampler(rows, rng):
    """Return a function that draws a bootstrap sample of clusters, or of rows within groups.

    Parameters
    ----------
    rows : GroupedDecisions
    rng : numpy.random.Generator

    Returns
    -------
    draw : callable, () -> ndarray of float, shape (n,)
        The weight of each row times the number of its draws.
    """
    n = len(rows.cell)
    weight = np.ones(n) if rows.weight is None else rows.weight
    if rows.cluster is None:
        draw = resampler(rows.cell, rng)
        return lambda: weight * np.bincount(draw(), minlength=n)
    names, cluster = np.unique(rows.cluster, return_inverse=True)

    def draw_clusters():
        drawn = rng.integers(len(names), size=len(names))
        return weight * np.bincount(drawn, minlength=len(names))[cluster]

    return draw_clusters


def resampled_areas(curve, rows, comparison, n_resamples, rng):
    """Return the area between the curve of a `Contrast` and the curve of each bootstrap sample.

    `rows`: GroupedDecisions. `comparison`: ComparedGroups.
    """
    values, gap = curve
    sides = [np.flatnonzero(m[rows.cell]) for m in (comparison.one, comparison.other)]
    levels = [np.searchsorted(values, rows.pred[side]) for side in sides]
    draw, areas = weight_resampler(rows, rng), np.empty(n_resamples)
    for b in range(n_resamples):
        weight = draw()
        group, reference = (
            np.bincount(level, weight[side], minlength=len(values))
            for level, side in zip(levels, sides, strict=True)
        )
        resampled_gap = distribution_gap(
            group, group + reference if comparison.overlap else reference
        )
        areas[b] = np.abs(resampled_gap - gap)[:-1] @ np.diff(values)
    return areas
