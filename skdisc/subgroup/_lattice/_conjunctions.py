"""Conjunctions of items with their counts, as a lattice returns them."""

from dataclasses import dataclass

import numpy as np

from skdisc._space._codes import EVERYONE, PAD
from skdisc._utils._frequency import taken
from skdisc._utils._hashing import multipliers


@dataclass(frozen=True)
class Patterns:
    """Conjunctions of items with their counts, shorter ones first.

    Attributes
    ----------
    items : ndarray of int, shape (n_patterns, max_len)
        Item numbers in increasing order, padded by PAD.
    counts : ndarray of int64, shape (n_patterns, n_cells)
    sums : ndarray of float, shape (n_patterns, n_values)
        Sums of the lattice's values over the rows of each.

    Examples
    --------
    >>> found = Patterns(np.array([[0, -1], [2, -1], [0, 2]]), np.array([[50], [40], [30]]))
    >>> positions, is_present = found.find(np.array([[2, 0], [1, 2]]))  # in any order
    >>> is_present.tolist(), found.counts[positions[0]].tolist()
    ([True, False], [30])
    """

    items: np.ndarray
    counts: np.ndarray
    sums: np.ndarray | None = None

    def __len__(self):
        return len(self.items)

    @property
    def length(self) -> np.ndarray:
        """Number of items of each pattern."""
        return (self.items != PAD).sum(axis=1)

    def at(self, which: np.ndarray) -> "Patterns":
        """Return some of the patterns, given by a mask or in order."""
        return Patterns(self.items[which], self.counts[which], taken(self.sums, which))

    def find(self, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Find conjunctions among the patterns.

        Parameters
        ----------
        items : ndarray of int, shape (n, max_len)
            Item numbers in any order, padded by PAD anywhere.

        Returns
        -------
        positions : ndarray of int, shape (n,)
            EVERYONE for the conjunction without items.
        is_present : ndarray of bool, shape (n,)
            Whether they are among the patterns; elsewhere their positions are arbitrary.
        """
        keys, target_keys = _keys(self.items, items)
        keys = np.append(keys, np.uint64(0))  # EVERYONE is last
        order = np.argsort(keys)
        positions = order[np.minimum(np.searchsorted(keys[order], target_keys), len(self))]
        return np.where(positions == len(self), EVERYONE, positions), keys[positions] == target_keys

    def parents(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the edges from each pattern to the patterns without one of its items.

        Returns
        -------
        child, parent, item : ndarray of int, shape (n_edges,)
            The parent of a single item is EVERYONE. Other parents that are not among the patterns
            are left out.
        """
        child, position = np.nonzero(self.items != PAD)
        item, rest = self.items[child, position], self.items[child]
        rest[np.arange(len(child)), position] = PAD
        parent, is_present = self.find(rest)
        return child[is_present], parent[is_present], item[is_present]


def in_order(items, counts, sums):
    """Return patterns with increasing items, sorted by length, then by items."""
    is_item = items != PAD
    if ((items[:, 1:] <= items[:, :-1]) & is_item[:, 1:]).any() or (
        is_item[:, 1:] & ~is_item[:, :-1]
    ).any():
        last = np.iinfo(items.dtype).max
        items = np.sort(np.where(is_item, items, last), axis=1)
        items = np.where(items == last, PAD, items)
    order = np.lexsort((*_as_few_numbers(items)[::-1], is_item.sum(axis=1)))
    return Patterns(items, counts, sums).at(order)


def _as_few_numbers(items):
    """Return numbers that put rows of items in the same order, most significant first.

    Each holds as many columns as fit in 63 bits: sorting by few numbers is faster.
    """
    bits = int(items.max(initial=0) + 1).bit_length()
    numbers, width = [], 63 // bits
    for start in range(0, items.shape[1], width):
        number = np.zeros(len(items), dtype=np.int64)
        for column in items[:, start : start + width].T:
            number = (number << bits) | (column + 1)  # PAD is -1
        numbers.append(number)
    return numbers


def _keys(*tables):
    """Return a 64-bit key of each conjunction in tables of item numbers; 0 for no item."""
    m = multipliers(int(max(t.max(initial=0) for t in tables)) + 1)
    with np.errstate(over="ignore"):
        return [np.where(t != PAD, m[t], np.uint64(0)).sum(axis=1, dtype=np.uint64) for t in tables]
