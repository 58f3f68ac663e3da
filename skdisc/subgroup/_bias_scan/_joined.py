"""Columns of codes that are counted together, and two whole numbers that are added up as one."""

from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

_COMBINATIONS = 64  # of values of columns that are counted together
_HALF = 2.0**26  # below it, a sum is exact as the lower or upper half of a float


@dataclass(frozen=True)
class CountedTogether:
    """Some columns of codes as one, of the combinations of their values.

    Attributes
    ----------
    columns : tuple of ndarray of intp, shape (n_cells,)
    sizes : tuple of int
        Number of values of each.
    """

    columns: tuple
    sizes: tuple

    @property
    def size(self):
        """Number of combinations."""
        return prod(self.sizes)

    @cached_property
    def codes(self):
        """The combination of each cell."""
        codes, *other_columns = self.columns
        for size, column in zip(self.sizes[1:], other_columns, strict=True):
            codes = codes * size + column
        return codes

    def of(self, axis, sums):
        """Return the sums over each value of one column, given those over each combination.

        Parameters
        ----------
        axis : int
            The number of the column.
        sums : ndarray of float, shape (n_bins, size)

        Returns
        -------
        ndarray of float, shape (size of the column, n_bins)
        """
        sums = sums.reshape(len(sums), prod(self.sizes[:axis]), self.sizes[axis], -1)
        return sums.sum(axis=(1, 3)).T


def joined(columns, sizes, apart=()):
    """Return, for each column, the `CountedTogether` that it is one of, and its number there.

    Large columns come first, and each is joined to the first ones that leave room for it.

    >>> columns = [np.array([0, 1]), np.array([2, 0])]
    >>> for found, axis in joined(columns, [2, 3]):
    ...     print(found.codes, axis)
    [4 1] 1
    [4 1] 0

    Parameters
    ----------
    columns : sequence of ndarray of intp, shape (n_cells,)
    sizes : list of int
        Number of values of each column.
    apart : collection of int
        Numbers of columns that are joined to each other only.
    """
    groups = []
    for j in sorted(range(len(sizes)), key=lambda j: -sizes[j]):
        for group in groups:
            size = sizes[j] * prod(sizes[i] for i in group)
            if size <= _COMBINATIONS and (group[0] in apart) == (j in apart):
                group.append(j)
                break
        else:
            groups.append([j])
    out = [None] * len(sizes)
    for group in groups:
        parts = CountedTogether(tuple(columns[j] for j in group), tuple(sizes[j] for j in group))
        for axis, j in enumerate(group):
            out[j] = parts, axis
    return out


def packed(a, h):
    """Return one number for each pair of a and h, whose sums are `unpacked`.

    None if these are not whole numbers, or their sums too large.

    Parameters
    ----------
    a : ndarray of float, shape (..., n_cells)
    h : ndarray of float, shape (n_cells,)
        At least 0.
    """
    if h.sum() >= _HALF or np.abs(a).sum(axis=-1).max(initial=0.0) >= _HALF:
        return None
    if (h != np.rint(h)).any() or (a != np.rint(a)).any():
        return None
    return a * _HALF + h


def unpacked(sums):
    """Return the sums of a and h."""
    a = np.floor(sums / _HALF)
    return a, sums - a * _HALF
