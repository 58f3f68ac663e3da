"""Conjunctions of items with their counts, as a lattice returns them."""

from dataclasses import dataclass

import numpy as np

from skdisc._space._codes import EVERYONE, PAD
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

    def numbered(self, numbers: np.ndarray) -> "Patterns":
        """Return the patterns with other numbers for their items, in order again."""
        return in_order(np.append(numbers, PAD)[self.items], self.counts, self.sums)

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
    last = np.iinfo(items.dtype).max
    items = np.sort(np.where(items == PAD, last, items), axis=1)
    items = np.where(items == last, PAD, items)
    order = np.lexsort((*items.T[::-1], (items != PAD).sum(axis=1)))
    return Patterns(items[order], counts[order], None if sums is None else sums[order])


def _keys(*tables):
    """Return a 64-bit key of each conjunction in tables of item numbers; 0 for no item."""
    m = multipliers(int(max(t.max(initial=0) for t in tables)) + 1)
    with np.errstate(over="ignore"):
        return [np.where(t != PAD, m[t], np.uint64(0)).sum(axis=1, dtype=np.uint64) for t in tables]
