"""How much smaller the gap of one model is than that of another one, on the same people.

The largest gap between groups is a maximum, at whose ties and near 0 bootstrap and normal errors
fail: where gaps are .05 and -.05 they claim a gain in .13 to .23 of data sets at a level of .05.
The gap between two groups that are fixed beforehand is linear in the rates, and has no such points.
So the present model is held to one pair of groups, and the alternative to all of them: it gains
only if it gains in each (intersection-union).
"""

from itertools import permutations, product

import numpy as np


def all_pairs(k):
    """Return all ordered pairs of k groups, an array of shape (n_pairs, 2)."""
    return np.array(list(permutations(range(k), 2))).reshape(-1, 2)


def contrasts_of(pairs, k):
    """Return the weights of the rates of k groups that make the gap of each pair.

    `pairs`, of shape (n_pairs, 2): the groups whose rates are added and subtracted. Shapes:
    `contrasts` (n_pairs, k).
    """
    return np.eye(k)[pairs[:, 0]] - np.eye(k)[pairs[:, 1]]


def gains(
    present, alternative, group, present_contrasts, alternative_contrasts, *, is_ratio=False, more=1
):
    """Return the gap of the present model less that of the alternative, and its error.

    Two people are added to each group, one with the event by each model alone, so that no error is
    0. With ``is_ratio`` gaps are differences of logarithms of rates.

    `present` and `alternative`: whether there is the event, by both models. `more`: how often the
    two people are added: one of n parts has its share of them. Shapes: `present_contrasts`
    (n_pairs, n_groups), `alternative_contrasts` (n_other_pairs, n_groups), `gain` and `error`
    (n_pairs, n_other_pairs).
    """
    w, v = present_contrasts, alternative_contrasts
    a, b, joint, n = (
        np.bincount(group, values, minlength=w.shape[1])
        for values in (present, alternative, present & alternative, np.ones(len(group)))
    )
    n = n + 2 * more
    a, b, joint = (a + more) / n, (b + more) / n, joint / n
    variance_a, variance_b, covariance = a * (1 - a) / n, b * (1 - b) / n, (joint - a * b) / n
    if is_ratio:  # of logarithms, by the delta method
        variance_a, variance_b, covariance = (
            variance_a / a**2,
            variance_b / b**2,
            covariance / a / b,
        )
        a, b = np.log(a), np.log(b)
    gain = (w @ a)[:, None] - v @ b
    variance = (w**2 @ variance_a)[:, None] + v**2 @ variance_b - 2 * (w * covariance) @ v.T
    return gain, np.sqrt(np.maximum(variance, 1e-300))


def extreme_sums(gains, variances):
    """Return the sums over all choices of one pair in each part that can be extreme.

    The mean over parts of the largest gap is the largest mean over all assignments of pairs to
    parts, of which there are (k (k - 1)) to the power of the number of parts. Of sums of gains and
    of variances, only those count here that no other one exceeds in both: a test, or a bound, of
    all assignments is decided by these.

    `gains` and `variances`: of each part.
    """
    extremes = []
    for sign, side in product((1, -1), repeat=2):
        sums = np.zeros((1, 2))
        for part in zip(gains, variances, strict=True):
            added = _outermost(np.column_stack(part) * (sign, side))
            sums = _outermost((sums[:, None] + added).reshape(-1, 2))
        extremes.append(sums * (sign, side))
    gain, variance = np.concatenate(extremes).T
    return gain, np.sqrt(variance)


def _outermost(points):
    """Return the points to whose left none is as high."""
    points = points[np.lexsort((-points[:, 1], points[:, 0]))]
    highest = np.maximum.accumulate(points[:, 1])
    return points[np.r_[True, points[1:, 1] > highest[:-1]]]
