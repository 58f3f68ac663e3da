"""Rules among frequent itemsets, and the itemsets as a frame of mlxtend."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from skdisc._space._codes import PAD
from skdisc._space._items import Items


def rules_among(patterns, protected):
    """Return the patterns with a protected item, and the context of each: its other items.

    Returns `positions` and `context`: positions among the patterns; the empty context is EVERYONE.
    """
    inside = np.append(protected, False)[patterns.items]
    context, has_context = patterns.find(np.where(inside, PAD, patterns.items))
    # A budget may have ended before a context.
    positions = np.flatnonzero(has_context & inside.any(axis=1))
    return positions, context[positions]


@dataclass(frozen=True)
class MinedRules:
    """The frequent itemsets of fit.

    Parameters
    ----------
    patterns : ndarray of int, shape (n_patterns, max_len)
        Item numbers.
    sums : ndarray, shape (n_patterns, 5)
        As in `RowDecisions`.
    items : Items
        Without rows.
    total : ndarray, shape (4,)
        The sums over all rows.
    least : float
        Smallest size of an itemset.
    """

    patterns: np.ndarray
    sums: np.ndarray
    items: Items
    total: np.ndarray
    least: float


def frame_of_itemsets(mined):
    """Return patterns, alone and with a decision, in the format of mlxtend.

    `mined`: MinedRules.
    """
    sums, names = mined.sums, [str(p) for p in mined.items.predicates]
    sets = [frozenset(names[i] for i in row if i != PAD) for row in mined.patterns.tolist()]
    with_everyone = [*sets, frozenset()], np.vstack([sums, mined.total])
    blocks = [(sets, sums[:, :2].sum(axis=1))]
    for column, decision in enumerate(("unfavorable", "favorable")):
        blocks.append(([s | {decision} for s in with_everyone[0]], with_everyone[1][:, column]))
    frame = pd.concat([pd.DataFrame({"support": n, "itemsets": s}) for s, n in blocks])
    frame = frame[frame["support"] >= mined.least].reset_index(drop=True)
    return frame.assign(support=frame["support"] / mined.total[:2].sum())
