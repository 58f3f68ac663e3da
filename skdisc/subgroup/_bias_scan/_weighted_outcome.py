"""The statistics of a scan of weighted rows."""

import numpy as np
from scipy import special

from skdisc import _stats
from skdisc._stats._effective_tally import kish_size

NORMAL_TEST = "score test, observed against expected"


def weighed(outcome, inside, target, significance):
    """Compare the observed outcomes of a group with the expected ones; see `Outcome.measure`.

    Tests and intervals use the effective number of rows, (sum of weights)^2 / (sum of their
    squares).
    """
    parts = outcome.weight, outcome.y[target], outcome.mu[target], outcome.variance[target]
    parts = [part[inside] for part in parts]
    w, y, mu, variance = (part[np.lexsort(parts)] for part in parts)
    size, n = w.sum(), len(w)
    rest = 1 - size / outcome.size if outcome.is_mean else 1.0  # the mean depends on the members
    observed, expected = (w @ y / size, w @ mu / size) if n else (np.nan, np.nan)
    spread = np.sqrt(max(w**2 @ variance * rest, 0.0))
    z = (observed - expected) * size / spread if spread else np.nan
    low = high = np.nan
    if n and n < len(outcome) and outcome.is_share:
        n_effective = kish_size(w)
        low, high = _stats.wilson(observed * n_effective, n_effective, significance)
        low, high = low - expected, high - expected
        if outcome.is_mean:
            rest_weight, y_rest = outcome.weight[~inside], outcome.y[target][~inside]
            share = rest_weight @ y_rest / rest_weight.sum()
            n_effective_rest = kish_size(rest_weight)
            ends = _stats.newcombe(
                observed * n_effective,
                n_effective,
                share * n_effective_rest,
                n_effective_rest,
                significance,
            )
            low, high = (rest * e for e in ends)
    elif n > 1:
        gap = y - mu
        error = np.sqrt(w**2 @ (gap - w @ gap / size) ** 2 * max(rest, 0.0)) / size
        half = -special.ndtri(significance / 2) * error
        low, high = observed - expected - half, observed - expected + half
    p_value = 2 * special.ndtr(-abs(z))
    return measured(outcome.sense, n, observed, expected, (low, high), p_value, NORMAL_TEST)


def measured(sense, n, observed, expected, interval, p_value, test):
    """Return what is known of a group of n people; see `Outcome.measure`.

    `interval`: of observed minus expected.
    """
    low, high = map(float, interval)
    ends = (low, high) if sense > 0 else (-high, -low)
    return {
        "outcome": observed,
        "effect": sense * (observed - expected),
        "ci_low": ends[0],
        "ci_high": ends[1],
        "p_value": float(p_value),
        "test": test,
        "support": n,
        "observed": observed,
        "expected": expected,
    }


def weighed_overall(outcome, target, significance):
    """Return observed mean, ends of its interval, expected mean, and number of rows."""
    w, y, mu = outcome.weight, outcome.y[target], outcome.mu[target]
    mean, size = w @ y / w.sum(), kish_size(w)
    if outcome.is_share:
        low, high = map(float, _stats.wilson(mean * size, size, significance))
    else:
        error = np.sqrt(w**2 @ (y - mean) ** 2) / w.sum()
        half = -special.ndtri(significance / 2) * error
        low, high = mean - half, mean + half
    return mean, low, high, w @ mu / w.sum(), len(outcome)


def weighed_null(outcome, cell, order, n_cells, n, rng):
    """Draw outcomes in which the expectations hold, row by row, and add them up by cell.

    Parameters
    ----------
    outcome : Outcome
    cell : ndarray of int, shape (n_rows,)
    order : ndarray of int, shape (n_rows,)
        The rows that `cell` refers to.
    n_cells, n : int
        Number of cells, and of draws.
    rng : Generator

    Returns
    -------
    ndarray of float, shape (n_targets, n, n_cells)
    """
    w, mu = outcome.weight[order], outcome.mu[:, order]
    a, h = (part[:, order] for part in outcome.parts())
    out = np.empty((len(mu), n, n_cells))
    shares = mu.cumsum(axis=0) / (mu.sum(axis=0) if len(mu) > 1 else 1.0)
    for i in range(n):
        if outcome.is_mean:
            drawn = (a / w)[:, rng.permutation(len(w))] * w
        elif outcome.is_share:
            u = rng.random(len(w))
            drawn = w * np.diff((u < shares).astype(float), axis=0, prepend=0.0)
        elif outcome.kind == "rate":
            drawn = w * rng.poisson(mu)
        else:
            drawn = rng.normal(0, np.sqrt(h * w))
        out[:, i] = [np.bincount(cell, row, minlength=n_cells) for row in drawn]
    return out
