"""Conjunctions of items as sets of cells: rows of a cell satisfy the same items."""

import numpy as np
import pandas as pd
from scipy import sparse

from skdisc._space._codes import PAD
from skdisc._space._items import Items
from skdisc._utils._frequency import count, people_in
from skdisc._utils._run_clock import go_on
from skdisc.subgroup._lattice._lattice import Lattice

_MASKS = 2**24  # numbers of cells of conjunctions that are found at once
_SEED = 5  # of the random numbers by which equal sets of rows are recognized


def sets_of_cells(
    items: Items,
    allowed: np.ndarray,
    least: float,
    most: int,
    frequency: np.ndarray | None,
) -> tuple[np.ndarray, sparse.csr_matrix, np.ndarray]:
    """Return conjunctions of allowed items with at least `least` people, as sets of cells.

    The first has no item. Among conjunctions with the same rows, the shortest is kept.

    Parameters
    ----------
    least : float
        Smallest number of people.
    most : int
        Most items of a conjunction.
    frequency : ndarray of int64, shape (n_rows,), or None
        Number of people of each row; None: 1.

    Returns
    -------
    conjunctions : ndarray of int, shape (n_conjunctions, n_items_at_most)
        Item numbers, padded by PAD.
    members : sparse array of float, shape (n_conjunctions, n_cells)
        1 for the cells of each.
    cell : ndarray of int, shape (n_rows,)
        The cell of each row.
    """
    item_numbers = items.distinct(np.flatnonzero(allowed))
    masks = items.masks(item_numbers)
    is_frequent = np.array(
        [most > 0 and people_in(mask, frequency) >= least for mask in masks], dtype=bool
    )
    item_numbers, masks = item_numbers[is_frequent], masks[is_frequent]
    cell, first = _cells(masks)
    masks, people = masks[:, first], count(cell, len(first), frequency)
    conjunctions = np.full((1, 1), PAD)
    if len(item_numbers):
        lattice = Lattice(masks, items.feature[item_numbers], frequency=people)
        mined = lattice.mine(least, most, before_block=_in_time).items
        conjunctions = np.vstack([np.full((1, mined.shape[1]), PAD), mined])
    keys, n_cells, first_by_key = random_keys(len(first)), len(first), {}
    positions, indices, sizes = [], [], []
    size = max(1, _MASKS // max(n_cells, 1))
    for start in range(0, len(conjunctions), size):
        go_on(f"listing the people of {len(conjunctions):,} sets of conditions")
        rows = np.ones((len(conjunctions[start : start + size]), n_cells), dtype=bool)
        for column in conjunctions[start : start + size].T:
            rows[column != PAD] &= masks[column[column != PAD]]
        number, inside = np.nonzero(rows)
        ends = np.cumsum(np.count_nonzero(rows, axis=1))
        sums = np.append(np.uint64(0), np.cumsum(keys[inside], dtype=np.uint64))  # modulo 2**64
        set_keys = np.diff(sums[ends], prepend=np.uint64(0))
        is_new = [
            first_by_key.setdefault(key, k) == k for k, key in enumerate(set_keys.tolist(), start)
        ]
        is_new = np.array(is_new, dtype=bool)
        positions.append(start + np.flatnonzero(is_new))
        indices.append(inside[is_new[number]].astype(np.int32))
        sizes.append(np.diff(ends, prepend=0)[is_new])
    positions, sizes = np.concatenate(positions), np.concatenate(sizes)
    indices, ends = np.concatenate(indices), np.append(0, np.cumsum(sizes))
    members = sparse.csr_matrix((np.ones(len(indices)), indices, ends), (len(positions), n_cells))
    return np.append(item_numbers, PAD)[conjunctions[positions]], members, cell


def _in_time(n):
    """Return that all of n candidates may be counted, while there is time."""
    go_on("counting groups")
    return n


def _cells(masks):
    """Return the cell of each row, by the conditions it satisfies, and the first row of each."""
    key = np.zeros(masks.shape[1], dtype=np.uint64)
    for mask, item_key in zip(masks, random_keys(len(masks)), strict=True):
        key[mask] += item_key
    number = pd.factorize(key)[0]
    return number, np.unique(number, return_index=True)[1]


def random_keys(n: int) -> np.ndarray:
    """Return random numbers by whose sums sets are recognized."""
    return np.random.default_rng(_SEED).integers(2**62, size=n, dtype=np.uint64)
