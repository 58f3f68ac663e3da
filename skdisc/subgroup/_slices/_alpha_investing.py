"""The order of slices, subsumption, and alpha-investing along the order."""

import numpy as np

from skdisc import _stats

_NOTHING = 1e-250  # wealth


def order_of(length, size, effect_size):
    """Return positions in the paper's order: fewer conditions, larger size, larger effect size."""
    return np.lexsort((-np.round(effect_size, 12), -size, length))


def subsumed(candidates, accepted):
    """Return which slices are inside an accepted slice with fewer conditions, a bool array.

    `candidates`: SliceCandidates.
    """
    inside = np.zeros(len(accepted), dtype=bool)
    child, parent = candidates.child, candidates.parent
    for length in range(2, int(candidates.length.max(initial=1)) + 1):
        has_length = candidates.length[child] == length
        above = parent[has_length]
        inside[child[has_length][accepted[above] | inside[above]]] = True
    return inside


def invest(p_value, large, candidates, wealth, reward):
    """Test slices in sequence by alpha-investing (Foster and Stine 2008).

    Neither the order, fewer conditions and larger size first, nor the choice of tests depends on
    the errors. With wealth W a test costs c = W / 10, at level :math:`c / (1 + c)`; a rejection
    costs nothing and earns the reward. Slices inside a problematic slice are not tested.

    Parameters
    ----------
    large : ndarray of bool, shape (n,)
        Whether the effect is large enough for a problematic slice.
    candidates : SliceCandidates
    wealth, reward : float
        The wealth to invest, and the reward of a rejection: the level.

    Returns
    -------
    problematic : ndarray of bool, shape (n,)
    p_adjusted : ndarray of float, shape (n,)
        p * reward / level of the test, at most 1; at most the reward if rejected, NaN if not
        tested.
    wealth : float
        The wealth left.
    """
    parents = {}
    for c, p in zip(candidates.child.tolist(), candidates.parent.tolist(), strict=True):
        parents.setdefault(c, []).append(p)
    problematic, adjusted = np.zeros(len(p_value), dtype=bool), np.full(len(p_value), np.nan)
    inside = problematic.copy()
    for i in order_of(candidates.length, candidates.sums[0], np.zeros(len(p_value))).tolist():
        inside[i] = any(problematic[p] or inside[p] for p in parents.get(i, []))
        if inside[i] or np.isnan(p_value[i]) or wealth < _NOTHING:
            continue
        level = wealth / (10 + wealth)
        adjusted[i] = min(1.0, p_value[i] * reward / level)
        rejected = p_value[i] <= level
        problematic[i] = rejected and large[i]
        wealth = wealth + reward if rejected else wealth * 0.9
    return problematic, adjusted, wealth


def decide(lots, effect_size, correction, significance):
    """Fill in which slices of each lot are problematic, and the corrected p-values."""
    if correction == "alpha-investing":
        wealth = significance
        for lot in lots:
            large = lot.phi >= effect_size
            lot.problematic, lot.p_adjusted, wealth = invest(
                lot.p_value, large, lot.slices, wealth, significance
            )
        return
    p_adjusted = _stats.adjust(np.concatenate([lot.p_value for lot in lots]), correction)
    ends = np.cumsum([len(lot.slices) for lot in lots])
    for lot, p in zip(lots, np.split(np.atleast_1d(p_adjusted), ends[:-1]), strict=True):
        accepted = (lot.phi >= effect_size) & (p <= significance)
        lot.problematic, lot.p_adjusted = accepted & ~subsumed(lot.slices, accepted), p
