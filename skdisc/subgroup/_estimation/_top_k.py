"""Which of many tested groups to show."""

import numpy as np


def redundant(patterns, effect, threshold):
    """Say which groups have nearly the effect of one with a condition less.

    Parameters
    ----------
    patterns : Patterns
    effect : ndarray of float, shape (n_measures, n_patterns)
    threshold : float or None
        The difference of effects that counts as none; None: no group is redundant.

    Returns
    -------
    ndarray of bool, shape (n_measures, n_patterns)
    """
    found = np.zeros(effect.shape, dtype=bool)
    if threshold is not None:
        child, parent, _ = patterns.parents()
        with_everyone = np.pad(effect, ((0, 0), (0, 1)))  # parent -1 is everyone: no effect
        with np.errstate(invalid="ignore"):  # infinite beside infinite
            same = np.abs(effect[:, child] - with_everyone[:, parent]) <= threshold
        measure, edge = np.nonzero(same)
        found[measure, child[edge]] = True
    return found


def in_direction(effect, direction):
    """Say which effects are defined, and "lower" or "higher" than 0; "both" takes either."""
    sign = {"lower": -1, "higher": 1, "both": 0}[direction]
    return ~np.isnan(effect) if sign == 0 else sign * effect > 0


def first_k(k, effect, support, significant, worth):
    """Choose k findings: significant ones first, then by size of effect, then by support.

    Parameters
    ----------
    k : int
    effect : ndarray of float, shape (n_measures, n_patterns)
    support : ndarray of int, shape (n_patterns,)
    significant, worth : ndarray of bool, shape (n_measures, n_patterns)
        Those not worth showing are never chosen.

    Returns
    -------
    measure, pattern : ndarray of int
        Of the chosen, in order.
    """
    size = np.where(worth, np.abs(effect) + 2 * significant, -np.inf).ravel()
    n = min(k, np.count_nonzero(worth))
    last = np.partition(size, len(size) - n)[len(size) - n] if n else np.inf
    at = np.flatnonzero(size >= last)
    measure, group = np.divmod(at, effect.shape[1])
    order = np.lexsort((group, -support[group], -size[at]))[:n]
    return measure[order], group[order]


def hidden_note(n, redundancy):
    """Say that some groups found are redundant."""
    return (
        f"Found and not shown: {n} of the groups. A larger group, with a condition less, differs "
        f"from each by no more than {redundancy:g}."
    )
