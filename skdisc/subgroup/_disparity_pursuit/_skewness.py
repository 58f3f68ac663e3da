"""Scores of numbers that may be skewed: `Welch` comparisons of the two sides of each candidate."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import special

from skdisc._stats._means import Welch, skewness_known

_FROM = 1.0  # standardized score from which skewness is looked at; below it, nothing depends on it
_SMALLEST = 1e-300  # p-values below are zero


def deviates_of_numbers(scores: Any, adjusted_scores: Any, subset: np.ndarray) -> np.ndarray:
    """Return normal deviates of the p-values of some candidates whose outcomes are numbers.

    `subset`: the candidates.
    """
    deviate, subset = adjusted_scores.z[subset], np.asarray(subset)
    large = np.flatnonzero(np.abs(deviate) > _FROM)
    if not len(large):
        return deviate
    test = compared_sides(scores, adjusted_scores, subset[large])
    p_value = test.p_value()
    with np.errstate(divide="ignore"):
        size = np.where(
            p_value > _SMALLEST,
            -special.ndtri(np.maximum(p_value, _SMALLEST) / 2),
            np.abs(test.z()),
        )
    deviate[large] = np.sign(deviate[large]) * size
    return deviate


def compared_sides(scores: Any, adjusted_scores: Any, subset: np.ndarray) -> Welch:
    """Return the scores of some candidates, adjusted for a fit, as comparisons with skewness."""
    gap = adjusted_scores.z[subset] * np.sqrt(
        np.where(adjusted_scores.is_estimable, adjusted_scores.variance, 1.0)[subset]
    )
    error = np.sqrt(
        np.where(adjusted_scores.is_estimable, adjusted_scores.variance, np.nan)[subset]
    )
    noise = scores.residuals.noise(scores.residual_outcome_of(adjusted_scores))
    skewness = skewness_of(scores, subset, noise, error)
    return replace(skewness, gap=gap, error=error)


def skewness_of(scores: Any, groups: np.ndarray, noise: np.ndarray, error: np.ndarray) -> Welch:
    """Return how skewed the scores of some candidates are, as comparisons without gaps.

    A score adds up f (y - mean) over both sides of a context, the protected part and the others;
    what each side adds has a variance and a third cumulant, sums of squares and of cubes. As in
    `Means`, the skewness of all people of a side, in any context, counts where it is larger than in
    the context. Skewness is computed from residuals times f, not times the part of f that the fit
    leaves: the terms of the many people outside a context have a sum that is nearly symmetric. With
    clusters, the number of people is divided by the factor of the variance.

    `noise`: residuals of a fit, from `Residuals.noise`. `error`: standard errors of the scores.
    Returns a Welch: with gaps of 0, errors of 1 and normal tails.
    """
    groups = np.asarray(groups, dtype=int)
    context_sums, side_sums = _sums_of_sides(scores, groups, noise)
    if scores.residuals.is_centered:  # f is 1 - p for the protected part and -p for the others
        share = context_sums[:, 0, 2] / np.maximum(context_sums[:, :, 2].sum(axis=1), _SMALLEST)
        factor = np.stack([1 - share, share], axis=1)
        context_sums[:, :, 0] *= factor**2
        context_sums[:, :, 1] *= factor**3
    context_means, side_means = (_means_of_sides(sums) for sums in (context_sums, side_sums))
    skewness = skewness_known(context_means, side_means)
    if scores.residuals.cluster is not None:
        spread = np.maximum(context_sums[:, :, 0].sum(axis=1), _SMALLEST)
        skewness = [s * np.sqrt(np.maximum(error**2 / spread, 1.0)) for s in skewness]
    (v1, v0), (n1, n0) = context_sums[:, :, 0].T, (n for _, n in context_means)
    test = Welch.of((0.0, v1 * n1, n1, skewness[0]), (0.0, v0 * n0, n0, skewness[1]))
    zeros, ones = np.zeros(len(groups)), np.ones(len(groups))
    return replace(test, gap=zeros, error=ones, df=np.full(len(groups), np.inf))


def _sums_of_sides(scores, groups, noise):
    """Return sums over both sides of each context, and over everyone, each shape (n, 2, 4).

    Sums of squares and cubes of the terms of people (of the others with the sign of outcomes), and
    of squares and fourth powers of f, which give the number of people.
    """
    c, r = scores.candidates, scores.residuals
    n_cells, part = c.members.shape[1], c.part[groups]
    context_sums, everyone = np.zeros((2, len(groups), 2, 4))
    for p in np.unique(part):
        positions = np.flatnonzero(part == p)
        f = r.root if r.is_centered else scores.d[p]
        f = np.where(c.is_part[p], f, np.abs(f))  # of the others, f is negative
        with np.errstate(over="ignore"):  # such numbers count as too skewed
            planes = (f * noise) ** 2, (f * noise) ** 3 / r.share, f**2, f**4 / r.share**2
        columns = [
            np.bincount(c.cell, np.where(is_side, plane, 0.0), n_cells)
            for is_side in (c.is_part[p], ~c.is_part[p])
            for plane in planes
        ]
        by_cell = np.stack(columns, axis=1)
        context_sums[positions] = (c.members[c.context[groups[positions]]] @ by_cell).reshape(
            -1, 2, 4
        )
        everyone[positions] = by_cell.sum(axis=0).reshape(2, 4)
    return context_sums, everyone


def _means_of_sides(sums):
    """Return the skewness of the mean and the number of people of both sides, a list of tuples."""
    squares, cubes, information, fourth = np.moveaxis(sums, -1, 0)
    n = information**2 / np.maximum(fourth, _SMALLEST)
    shows = (n > 2) & (squares > 0)
    with np.errstate(over="ignore", invalid="ignore"):
        skewness = np.where(shows, cubes / np.where(shows, squares, 1.0) ** 1.5, 0.0)
        skewness *= np.sqrt(n * np.maximum(n - 1, 0)) / np.where(shows, n - 2, 1.0)  # of a sample
    return list(zip(skewness.T, n.T, strict=True))
