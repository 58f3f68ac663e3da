"""Frequent itemsets from the lattice, or from mlxtend's FP-growth."""

import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd

from skdisc._space._codes import PAD
from skdisc._space._items import Items
from skdisc._stats._rates import N_CELLS, TN, TP
from skdisc._utils._optional import require
from skdisc.subgroup._lattice._conjunctions import Patterns


def mine(miner, items, decisions, least, max_predicates, before, distinct):
    """Return the conjunctions that enough rows satisfy.

    Parameters
    ----------
    miner : {"bitset", "fpgrowth"}
        The results are equal; "fpgrowth" requires the extra ``rules``.
    items : Items
    decisions : RowDecisions
    least : float
    max_predicates : int or None
    before : callable
        ``before(n)`` gets the number of candidates and returns how many of them may be counted.
    distinct : bool
        Whether items of all rows, and of the same rows as an earlier item, are left out.

    Returns
    -------
    Patterns

    Raises
    ------
    ValueError
        If rows have weights or clusters and the miner is "fpgrowth".
    ImportError
        If the miner is "fpgrowth" and mlxtend is not installed.
    """
    if miner == "bitset":
        return decisions.rows.mine(items, least, max_predicates, None, before, distinct)
    for name in ("weight", "cluster"):
        if getattr(decisions.rows, name) is not None:
            what = {"weight": "weights", "cluster": "groups"}[name]
            raise ValueError(f"miner='fpgrowth' counts rows, without {what}. Use miner='bitset'.")
    cell = np.where(decisions.favored, TP, TN)
    frequent = np.flatnonzero(items.counts(cell, N_CELLS).sum(axis=1) >= least)
    walked, shown = items.walk(frequent, distinct)
    masks, feature = items.masks(walked), items.feature[walked]
    found = _grow(masks, feature, cell, least, max_predicates, before)
    return found.numbered(shown)


def _grow(masks, feature, cell, min_rows, max_predicates, before):
    with warnings.catch_warnings():  # its import changes the global filters
        patterns = require("mlxtend.frequent_patterns", extra="rules", purpose="miner='fpgrowth'")
        support = max(min_rows - 0.5, 0.5) / max(masks.shape[1], 1)
        frame = pd.DataFrame(masks.T)
        sets = patterns.fpgrowth(frame, min_support=support, max_len=max_predicates)["itemsets"]
    sets = [sorted(s) for s in sets if len(set(feature[list(s)])) == len(s)]
    found = sorted(sets, key=lambda s: (len(s), s))
    found = found[: before(len(found))]
    items = np.full((len(found), max(map(len, found), default=1)), PAD)
    counts = np.zeros((len(found), N_CELLS), dtype=np.int64)
    for i, numbers in enumerate(found):
        items[i, : len(numbers)] = numbers
        counts[i] = np.bincount(cell[masks[numbers].all(axis=0)], minlength=N_CELLS)
    return Patterns(items, counts)


def rules_among(patterns, protected):
    """Return the patterns with a protected item, and the context of each: its other items.

    Parameters
    ----------
    patterns : Patterns
    protected : ndarray of bool, shape (n_items,)

    Returns
    -------
    at, context : ndarray of int
        Positions among the patterns; the empty context is EVERYONE.
    """
    inside = np.append(protected, False)[patterns.items]
    context, known = patterns.find(np.where(inside, PAD, patterns.items))
    at = np.flatnonzero(known & inside.any(axis=1))  # a budget may have ended before a context
    return at, context[at]


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

    Parameters
    ----------
    mined : MinedRules

    Returns
    -------
    DataFrame
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
