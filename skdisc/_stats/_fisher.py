"""Fisher's exact test of many tables at once: hypergeometric tails, summed term by term."""

import numpy as np
from scipy import stats


def distinct(tables):
    """Return the first position of each distinct column of integers, and the inverse."""
    key = np.zeros(tables.shape[1], dtype=np.int64)
    for row in tables:
        key = np.unique(key * (row.max(initial=0) + 1) + row, return_inverse=True)[1]
    return np.unique(key, return_index=True, return_inverse=True)[1:]


def fisher_p_values(x1, n1, x0, n0, alternative, mid):
    """Return the p-values of tables of integers without empty groups."""
    total, drawn = n1 + n0, x1 + x0
    upper = x1 > (drawn + 1) * (n1 + 1) // (total + 2)  # above the mode
    mirrored = {"less": False, "greater": True, "two-sided": upper}[alternative]
    # x1 is mirrored into the lower tail
    x1, drawn = np.where(mirrored, (n1 - x1, total - drawn), (x1, drawn))
    p_value, tied = _at_most(x1, n1, n0, drawn), _mass(x1, n1, n0, drawn)
    if alternative == "two-sided":
        log_mass = stats.hypergeom(total, n1, drawn).logpmf
        tail, ties = _upper_tail(log_mass, x1, np.minimum(n1, drawn))
        p_value += _at_most(n1 - tail, n1, n0, total - drawn)
        tied = tied * (1 + ties)
    return np.clip(p_value - tied / 2 if mid else p_value, 0.0, 1.0)


def _mass(x1, n1, n0, drawn):
    """Return hypergeometric probabilities from accurate binomial ones (Loader 2000)."""
    p, mass = drawn / (n1 + n0), stats.binom.pmf
    return mass(x1, n1, p) * mass(drawn - x1, n0, p) / mass(drawn, n1 + n0, p)


def _at_most(x1, n1, n0, drawn):
    """Return the probability of x1 or less: a sum of terms in the direction away from the mode."""
    above = x1 > (drawn + 1) * (n1 + 1) // (n1 + n0 + 2)
    t, k = np.where(above, (n1 - x1 - 1, n1 + n0 - drawn), (x1, drawn))
    term = _mass(t, n1, n0, k)
    tail = term.copy()
    while np.any(term > 1e-17 * tail):
        term = term * (t / (n1 - t + 1)) * ((n0 - k + t) / (k - t + 1))
        tail, t = tail + term, t - 1
    return np.where(above, 1 - tail, tail)


def _upper_tail(log_mass, x1, last, slack=1e-7):
    """Return the start of the upper tail no more probable than x1 (<= mode), and the ties of x1."""
    own, low, high = log_mass(x1), x1 + 1, last + 1
    while np.any(low < high):  # bisection: once below that of x1, probabilities stay so
        middle = (low + high) // 2
        inside = log_mass(middle) <= own + slack
        low, high = np.where(inside, low, middle + 1), np.where(inside, middle, high)
    return low, (log_mass(low) >= own - slack) + 1.0 * (log_mass(x1 - 1) >= own - slack)
