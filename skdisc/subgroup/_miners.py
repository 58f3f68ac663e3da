"""Frequent itemsets from our lattice, or from mlxtend's FP-growth."""

import warnings

import numpy as np
import pandas as pd

from skdisc._kinds import TN, TP
from skdisc._optional import require
from skdisc.subgroup._lattice import Lattice, Patterns


def mine(miner, items, cell, n_cells, min_rows, max_predicates, before):
    """Return the conjunctions that enough people satisfy, with their rows per cell.

    Parameters
    ----------
    miner : {"bitset", "fpgrowth"}
        Equal results; "fpgrowth" needs the extra ``rules``.
    items : Items
    cell : ndarray of int, shape (n_rows,)
    n_cells, min_rows : int
    max_predicates : int or None
    before : callable
        ``before(n)`` is told of n candidates and returns how many may be counted.

    Returns
    -------
    Patterns
    """
    frequent = np.flatnonzero(items.counts(cell, n_cells).sum(axis=1) >= min_rows)
    masks = items.masks(frequent)
    if miner == "fpgrowth":
        found = _grow(
            masks, items.feature[frequent], cell, n_cells, min_rows, max_predicates, before
        )
    else:
        lattice = Lattice(masks, items.feature[frequent], cell, n_cells)
        found = lattice.mine(min_rows, max_predicates, before_block=before)
    return Patterns(np.append(frequent, -1)[found.items], found.counts)


def _grow(masks, feature, cell, n_cells, min_rows, max_predicates, before):
    with warnings.catch_warnings():  # its import changes the filters for everyone
        patterns = require("mlxtend.frequent_patterns", extra="rules", purpose="miner='fpgrowth'")
        support = max(min_rows - 0.5, 0.5) / max(masks.shape[1], 1)
        frame = pd.DataFrame(masks.T)
        sets = patterns.fpgrowth(frame, min_support=support, max_len=max_predicates)["itemsets"]
    sets = [sorted(s) for s in sets if len(set(feature[list(s)])) == len(s)]
    found = sorted(sets, key=lambda s: (len(s), s))
    found = found[: before(len(found))]
    items = np.full((len(found), max(map(len, found), default=1)), -1)
    counts = np.zeros((len(found), n_cells), dtype=np.int64)
    for i, numbers in enumerate(found):
        items[i, : len(numbers)] = numbers
        counts[i] = np.bincount(cell[masks[numbers].all(axis=0)], minlength=n_cells)
    return Patterns(items, counts)


def rules_among(patterns, protected):
    """Return the patterns with a protected item, and what is left of each without such items.

    Parameters
    ----------
    patterns : Patterns
    protected : ndarray of bool, shape (n_items,)

    Returns
    -------
    at, context : ndarray of int
        Positions among the patterns; -1 is everyone.
    """
    inside = np.append(protected, False)[patterns.items]
    at = np.flatnonzero(inside.any(axis=1))
    last = len(protected)
    rest = np.where(inside | (patterns.items < 0), last, patterns.items)[at]
    rest = np.sort(rest, axis=1)
    place = {tuple(row): i for i, row in enumerate(patterns.items.tolist())}
    place[(-1,) * rest.shape[1]] = -1
    rest = np.where(rest == last, -1, rest).tolist()
    context = np.array([place.get(tuple(row), -2) for row in rest], dtype=np.int64)
    known = context > -2  # where a budget ended the search, some contexts were not counted
    return at[known], context[known]


def frame_of_itemsets(patterns, items, total, min_rows):
    """Return patterns, alone and with a decision, in the format of mlxtend.

    Parameters
    ----------
    patterns : Patterns
    items : Items
    total : ndarray of int, shape (4,)
        Rows per cell of everyone.
    min_rows : int
        Itemsets of fewer rows are left out.

    Returns
    -------
    DataFrame
    """
    names = [str(p) for p in items.predicates]
    sets = [frozenset(names[i] for i in row if i >= 0) for row in patterns.items.tolist()]
    with_everyone = [*sets, frozenset()], np.vstack([patterns.counts, total])
    blocks = [(sets, patterns.counts.sum(axis=1))]
    for cell, decision in ((TN, "unfavourable"), (TP, "favourable")):
        blocks.append(([s | {decision} for s in with_everyone[0]], with_everyone[1][:, cell]))
    frame = pd.concat([pd.DataFrame({"support": n, "itemsets": s}) for s, n in blocks])
    frame = frame[frame["support"] >= min_rows].reset_index(drop=True)
    return frame.assign(support=frame["support"] / total.sum())
